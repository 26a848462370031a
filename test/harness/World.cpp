// Filling, seeding and reading the memory of a run.
#include "World.h"
#include <cstring>
#include <limits>

using namespace adjoin::test;

static const uint64_t Guard = 64; // bytes before and after each block
static const char GuardByte = static_cast<char>(0xa5);
static const char GarbageByte = 0x7b; // as a double 4.8e287, no valid pointer

void World::Memory::make(uint64_t Bytes) {
  Size = Bytes;
  Storage = std::make_unique<char[]>(Bytes + 3 * Guard);
  auto Address = reinterpret_cast<uintptr_t>(Storage.get());
  Begin = Storage.get() + (Guard - Address % Guard) % Guard + Guard;
  memset(Begin - Guard, GuardByte, Guard);
  memset(Begin + Size, GuardByte, Guard);
}

bool World::Memory::intact() const {
  for (uint64_t I = 0; I != Guard; ++I)
    if (Begin[-static_cast<int64_t>(I) - 1] != GuardByte ||
        Begin[Size + I] != GuardByte)
      return false;
  return true;
}

World::World(const Case &C, const Layout &L) : C(C), L(L) {
  Arguments.resize(L.Size);
  Result.resize(L.ResultSize);
  for (const Block &B : C.Blocks) {
    BlockMemory M;
    uint64_t Size;
    M.Offsets = layOut(B.Cells, B.Packed, Size);
    M.Primal.make(Size);
    if (B.Active)
      for (unsigned Lane = 0; Lane != C.Width; ++Lane) {
        M.Shadow.emplace_back();
        M.Shadow.back().make(Size);
      }
    Blocks.push_back(std::move(M));
  }
  for (const Leaf &A : L.ArgumentLeaves)
    if (C.Arguments[A.Index].Active && Cell{A.Kind}.isFloat())
      Inputs.push_back(A);
  for (const Leaf &R : L.ResultLeaves)
    if (Cell{R.Kind}.isFloat())
      Outputs.push_back(R);
  for (size_t I = 0; I != C.Blocks.size(); ++I) {
    const Block &B = C.Blocks[I];
    for (size_t J = 0; B.Active && J != B.Cells.size(); ++J) {
      if (!B.Cells[J].isFloat())
        continue;
      Leaf Place = {Leaf::InBlock, static_cast<int>(I), Blocks[I].Offsets[J],
                    B.Cells[J].Kind,
                    "block " + std::to_string(I) + "[" + std::to_string(J) +
                        "]"};
      if (!B.Output)
        Inputs.push_back(Place);
      Outputs.push_back(Place);
    }
  }
}

char *World::primalPointer(int Target, int64_t Offset) const {
  return Target < 0 ? nullptr : Blocks[Target].Primal.Begin + Offset;
}

char *World::shadowPointer(unsigned Lane, int Target, int64_t Offset) const {
  if (Target < 0)
    return nullptr;
  if (C.Blocks[Target].Active)
    return Blocks[Target].Shadow[Lane].Begin + Offset;
  return Target % 2 == 0 ? nullptr : primalPointer(Target, Offset);
}

std::vector<double> World::point() const {
  std::vector<double> X;
  for (const Leaf &P : Inputs) {
    if (P.Where == Leaf::InBlock) {
      const Block &B = C.Blocks[P.Index];
      for (size_t J = 0; J != B.Cells.size(); ++J)
        if (B.Cells[J].isFloat() && Blocks[P.Index].Offsets[J] == P.Offset)
          X.push_back(B.Cells[J].Float);
      continue;
    }
    unsigned Number = 0;
    for (const Leaf &A : L.ArgumentLeaves)
      Number +=
          A.Index == P.Index && A.Offset < P.Offset && Cell{A.Kind}.isFloat();
    X.push_back(C.Arguments[P.Index].Floats[Number]);
  }
  return X;
}

void World::reset(const std::vector<double> &X) {
  std::fill(Result.begin(), Result.end(), 0);
  std::vector<unsigned> Floats(C.Arguments.size()), Ints(C.Arguments.size());
  for (const Leaf &A : L.ArgumentLeaves) {
    const Parameter &Given = C.Arguments[A.Index];
    char *P = Arguments.data() + L.Primal[A.Index] + A.Offset;
    if (A.Kind == CellKind::Ptr) {
      char *Q = primalPointer(Given.Block, Given.Offset);
      memcpy(P, &Q, sizeof(Q));
    } else if (Cell{A.Kind}.isFloat()) {
      writeFloat(A.Kind, P, Given.Floats[Floats[A.Index]++]);
    } else {
      writeInt(A.Kind, P, Given.Ints[Ints[A.Index]++]);
    }
  }
  for (size_t I = 0; I != C.Blocks.size(); ++I) {
    const Block &B = C.Blocks[I];
    memset(Blocks[I].Primal.Begin, 0, Blocks[I].Primal.Size);
    for (size_t J = 0; J != B.Cells.size(); ++J) {
      const Cell &Value = B.Cells[J];
      char *P = Blocks[I].Primal.Begin + Blocks[I].Offsets[J];
      if (Value.isFloat()) {
        writeFloat(Value.Kind, P, Value.Float);
      } else if (Value.isInt()) {
        writeInt(Value.Kind, P, Value.Int);
      } else if (Value.Kind == CellKind::Ptr) {
        char *Q = primalPointer(Value.Block, Value.Offset);
        memcpy(P, &Q, sizeof(Q));
      }
    }
  }
  for (size_t I = 0; I != Inputs.size(); ++I) {
    const Leaf &P = Inputs[I];
    char *At = P.Where == Leaf::InBlock
                   ? Blocks[P.Index].Primal.Begin + P.Offset
                   : Arguments.data() + L.Primal[P.Index] + P.Offset;
    writeFloat(P.Kind, At, X[I]);
  }
}

void World::seed(unsigned Lane, const std::vector<double> &V, bool Entry) {
  for (const Leaf &A : L.ArgumentLeaves) {
    const Parameter &Given = C.Arguments[A.Index];
    char *P = Arguments.data() + L.Shadow[A.Index][Lane] + A.Offset;
    if (A.Kind == CellKind::Ptr) {
      char *Q = shadowPointer(Lane, Given.Block, Given.Offset);
      memcpy(P, &Q, sizeof(Q));
    } else {
      memset(P, 0, sizeOf({A.Kind}));
    }
  }
  const double NaN = std::numeric_limits<double>::quiet_NaN();
  for (size_t I = 0; I != C.Blocks.size(); ++I) {
    const Block &B = C.Blocks[I];
    if (!B.Active)
      continue;
    Memory &S = Blocks[I].Shadow[Lane];
    memset(S.Begin, GarbageByte, S.Size);
    for (size_t J = 0; J != B.Cells.size(); ++J) {
      const Cell &Value = B.Cells[J];
      char *P = S.Begin + Blocks[I].Offsets[J];
      if (Value.isFloat()) {
        writeFloat(Value.Kind, P, NaN);
      } else if (Value.Kind == CellKind::Ptr) {
        char *Q = shadowPointer(Lane, Value.Block, Value.Offset);
        memcpy(P, &Q, sizeof(Q));
      }
    }
  }
  const std::vector<Leaf> &Places = Entry ? Inputs : Outputs;
  for (size_t I = 0; I != Places.size(); ++I) {
    const Leaf &P = Places[I];
    if (P.Where == Leaf::InResult)
      continue;
    char *At = P.Where == Leaf::InBlock
                   ? Blocks[P.Index].Shadow[Lane].Begin + P.Offset
                   : Arguments.data() + L.Shadow[P.Index][Lane] + P.Offset;
    writeFloat(P.Kind, At, V[I]);
  }
}

const char *World::place(const Leaf &P) const {
  switch (P.Where) {
  case Leaf::InArgument:
    return Arguments.data() + L.Primal[P.Index] + P.Offset;
  case Leaf::InResult:
    return Result.data() + P.Offset;
  case Leaf::InBlock:
    return Blocks[P.Index].Primal.Begin + P.Offset;
  }
  return nullptr;
}

std::vector<double> World::values() const {
  std::vector<double> V;
  for (const Leaf &P : Outputs)
    V.push_back(readFloat(P.Kind, place(P)));
  return V;
}

std::vector<int64_t> World::integers() const {
  std::vector<int64_t> V;
  for (const Leaf &R : L.ResultLeaves)
    if (Cell{R.Kind}.isInt())
      V.push_back(readInt(R.Kind, place(R)));
  for (size_t I = 0; I != C.Blocks.size(); ++I)
    for (size_t J = 0; J != C.Blocks[I].Cells.size(); ++J)
      if (C.Blocks[I].Cells[J].isInt())
        V.push_back(readInt(C.Blocks[I].Cells[J].Kind,
                            Blocks[I].Primal.Begin + Blocks[I].Offsets[J]));
  return V;
}

std::vector<double> World::tangents(unsigned Lane) const {
  std::vector<double> V;
  for (const Leaf &P : Outputs) {
    const char *At = P.Where == Leaf::InResult
                         ? Result.data() + L.ResultShadow[Lane] + P.Offset
                         : Blocks[P.Index].Shadow[Lane].Begin + P.Offset;
    V.push_back(readFloat(P.Kind, At));
  }
  return V;
}

std::vector<double> World::adjoints(unsigned Lane) const {
  std::vector<double> V;
  for (const Leaf &P : Inputs) {
    if (P.Where == Leaf::InBlock) {
      V.push_back(
          readFloat(P.Kind, Blocks[P.Index].Shadow[Lane].Begin + P.Offset));
      continue;
    }
    for (size_t Out = 0; Out != L.Outs.size(); ++Out)
      if (L.Outs[Out] == P.Index)
        V.push_back(readFloat(P.Kind, Result.data() +
                                          L.ResultShadow[Out * C.Width + Lane] +
                                          P.Offset));
  }
  return V;
}

std::string World::damage() const {
  for (size_t I = 0; I != Blocks.size(); ++I) {
    if (!Blocks[I].Primal.intact())
      return "memory around block " + std::to_string(I) + " was written\n";
    for (const Memory &S : Blocks[I].Shadow)
      if (!S.intact())
        return "memory around the shadow of block " + std::to_string(I) +
               " was written\n";
  }
  return "";
}
