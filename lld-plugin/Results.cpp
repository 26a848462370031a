// Results of markers as bytes.
#include "Results.h"
#include "Conversions.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"

using namespace llvm;
using namespace adjoin;

namespace {

struct Scalar {
  Type *T;
  uint64_t Begin, End;
};

} // namespace

/// The scalars of \p T as it lies in memory.
static void scalarsOf(Type *T, uint64_t At, const DataLayout &DL,
                      SmallVectorImpl<Scalar> &To) {
  if (auto *S = dyn_cast<StructType>(T)) {
    const StructLayout *Layout = DL.getStructLayout(S);
    for (auto [I, Member] : enumerate(S->elements()))
      scalarsOf(Member, At + Layout->getElementOffset(I), DL, To);
  } else if (auto *A = dyn_cast<ArrayType>(T)) {
    // Bytes are only moved.
    if (A->getElementType()->isIntegerTy(8)) {
      To.push_back({A, At, At + A->getNumElements()});
      return;
    }
    uint64_t Size = DL.getTypeAllocSize(A->getElementType());
    for (uint64_t I = 0; I != A->getNumElements(); ++I)
      scalarsOf(A->getElementType(), At + I * Size, DL, To);
  } else if (auto *V = dyn_cast<FixedVectorType>(T)) {
    uint64_t Size = DL.getTypeStoreSize(V->getElementType());
    for (unsigned I = 0; I != V->getNumElements(); ++I)
      scalarsOf(V->getElementType(), At + I * Size, DL, To);
  } else {
    To.push_back({T, At, At + DL.getTypeStoreSize(T)});
  }
}

/// A struct of small floats that arrives in one register: its alignment is that
/// of its members.
static bool isPackedStruct(Type *T, const DataLayout &DL) {
  return isa<FixedVectorType>(T) && DL.getTypeStoreSize(T) <= 8;
}

static Align alignmentOf(Type *T, const DataLayout &DL) {
  Align Most;
  if (auto *S = dyn_cast<StructType>(T)) {
    for (Type *Member : S->elements())
      Most = std::max(Most, alignmentOf(Member, DL));
    return Most;
  }
  if (auto *A = dyn_cast<ArrayType>(T))
    return alignmentOf(A->getElementType(), DL);
  if (isPackedStruct(T, DL))
    return DL.getABITypeAlign(cast<VectorType>(T)->getElementType());
  return DL.getABITypeAlign(T);
}

/// Lays out a value that is held in registers: its scalars follow each other
/// with natural alignment.
void Results::place(Instance &I, Type *T, SmallVectorImpl<unsigned> &Path) {
  auto Inner = [&](unsigned Index, Type *Member) {
    Path.push_back(Index);
    place(I, Member, Path);
    Path.pop_back();
  };
  if (auto *S = dyn_cast<StructType>(T)) {
    for (auto [Index, Member] : enumerate(S->elements()))
      Inner(Index, Member);
    return;
  }
  if (auto *A = dyn_cast<ArrayType>(T)) {
    for (unsigned Index = 0; Index != A->getNumElements(); ++Index)
      Inner(Index, A->getElementType());
    return;
  }
  End = alignTo(End, alignmentOf(T, DL));
  I.Leaves.push_back({T, End, {Path.begin(), Path.end()}});
  End +=
      isPackedStruct(T, DL) ? DL.getTypeStoreSize(T) : DL.getTypeAllocSize(T);
}

void Results::add(Type *T, unsigned Count, bool InMemory) {
  Align A = InMemory ? DL.getABITypeAlign(T) : alignmentOf(T, DL);
  Alignment = std::max(Alignment, A);
  for (unsigned K = 0; K != Count; ++K) {
    End = alignTo(End, A);
    Instance I{T, End, InMemory, {}};
    if (InMemory) {
      End += DL.getTypeAllocSize(T);
    } else {
      SmallVector<unsigned, 4> Path;
      place(I, T, Path);
      End = alignTo(End, A);
    }
    Instances.push_back(std::move(I));
  }
}

std::string Results::describe() const {
  std::string Text;
  for (size_t I = 0; I != Instances.size();) {
    size_t Same = I;
    while (Same != Instances.size() && Instances[Same].T == Instances[I].T)
      ++Same;
    Text += (Text.empty() ? "" : ", ");
    if (Same - I > 1)
      Text += std::to_string(Same - I) + " times ";
    Text += typeName(Instances[I].T);
    I = Same;
  }
  return Text.empty() ? "nothing" : Text;
}

std::string Results::misfit(Type *Declared) const {
  SmallVector<Scalar, 8> Have, Want;
  for (const Instance &I : Instances) {
    if (I.InMemory)
      scalarsOf(I.T, I.Offset, DL, Have);
    for (const Leaf &L : I.Leaves)
      scalarsOf(L.T, L.Offset, DL, Have);
  }
  scalarsOf(Declared, 0, DL, Want);
  uint64_t WantEnd = 0;
  for (const Scalar &W : Want)
    WantEnd = std::max(WantEnd, W.End);
  std::string Sentence = "the marker is declared to return " +
                         typeName(Declared) + ", the results are " + describe();
  if (WantEnd > size())
    return Sentence;
  auto IsByteArray = [](const Scalar &S) { return S.T->isArrayTy(); };
  for (const Scalar &H : Have)
    if (H.Begin < WantEnd && WantEnd < H.End && !IsByteArray(H))
      return Sentence;
  for (const Scalar &W : Want) {
    if (W.T->isIntegerTy() || IsByteArray(W))
      continue;
    for (const Scalar &H : Have) {
      if (IsByteArray(H) || H.End <= W.Begin || W.End <= H.Begin)
        continue;
      bool Same = H.T == W.T && H.Begin == W.Begin;
      // Two floats in a double register, or one and padding.
      bool Inside = W.Begin <= H.Begin && H.End <= W.End &&
                    H.End - H.Begin < W.End - W.Begin;
      bool Pointers = H.T->isPointerTy() || W.T->isPointerTy();
      if (!Same && (Pointers || !Inside))
        return Sentence;
    }
  }
  return "";
}

void Results::store(IRBuilder<> &B, Value *Memory,
                    ArrayRef<Value *> Values) const {
  auto At = [&](uint64_t Offset) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Memory, Offset);
  };
  for (auto [I, V] : zip(Instances, Values)) {
    if (I.InMemory) {
      B.CreateMemCpy(At(I.Offset), Align(1), V, Align(1),
                     DL.getTypeAllocSize(I.T));
      continue;
    }
    for (const Leaf &L : I.Leaves) {
      Value *Part = L.Path.empty() ? V : B.CreateExtractValue(V, L.Path);
      B.CreateAlignedStore(Part, At(L.Offset), Align(1));
    }
  }
}
