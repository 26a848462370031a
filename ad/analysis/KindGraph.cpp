// Union-find over cells of bytes and regions of memory.
#include "ad/analysis/KindGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;
using namespace adjoin;

/// Offsets wrap: IR may compute any address.
static int64_t addWrapping(int64_t A, int64_t B) {
  return static_cast<int64_t>(static_cast<uint64_t>(A) +
                              static_cast<uint64_t>(B));
}

static int64_t wrapInto(int64_t Offset, uint64_t Stride) {
  auto S = static_cast<int64_t>(Stride);
  int64_t M = Offset % S;
  return M < 0 ? M + S : M;
}

/// Offsets of an unfolded region stay where sums of them cannot overflow; real
/// objects are far smaller.
static int64_t bounded(int64_t Offset) {
  constexpr int64_t Limit = int64_t(1) << 40;
  return Offset > -Limit && Offset < Limit ? Offset : wrapInto(Offset, Limit);
}

KindGraph::Handle KindGraph::Handle::plus(int64_t Bytes) const {
  return {Region, addWrapping(Offset, Bytes)};
}

//===-- Cells -------------------------------------------------------------===//

KindGraph::CellId KindGraph::makeCell(uint64_t Size) {
  assert(Size > 0 && Size <= MaxCell && "no such cell");
  auto Id = static_cast<CellId>(Cells.size());
  Cell C;
  C.Parent = Id;
  C.Size = static_cast<uint32_t>(Size);
  Cells.push_back(C);
  return Id;
}

KindGraph::CellId KindGraph::find(CellId C) const {
  while (Cells[C].Parent != C) {
    Cells[C].Parent = Cells[Cells[C].Parent].Parent;
    C = Cells[C].Parent;
  }
  return C;
}

KindGraph::CellId KindGraph::leafAt(CellId C, uint64_t &Off) const {
  C = find(C);
  while (Cells[C].Left != None) {
    CellId L = Cells[C].Left;
    if (Off < Cells[L].Size) {
      C = find(L);
    } else {
      Off -= Cells[L].Size;
      C = find(Cells[C].Right);
    }
  }
  return C;
}

void KindGraph::split(CellId Leaf, uint64_t At) {
  CellId L = makeCell(At);
  CellId R = makeCell(Cells[Leaf].Size - At);
  Cell &C = Cells[Leaf];
  for (CellId Half : {L, R}) {
    Cells[Half].Kinds = C.Kinds;
    Cells[Half].Callers = C.Callers;
    Cells[Half].Global = C.Global;
    Cells[Half].Settled = isSettled(Leaf);
    Cells[Half].To = C.To;
  }
  C.Left = L;
  C.Right = R;
}

KindGraph::CellId KindGraph::isolate(CellId C, uint64_t Off, uint64_t N) {
  CellId Leaf = leafAt(C, Off);
  if (Off > 0) {
    split(Leaf, Off);
    Leaf = Cells[Leaf].Right;
  }
  if (Cells[Leaf].Size > N) {
    split(Leaf, N);
    Leaf = Cells[Leaf].Left;
  }
  return Leaf;
}

void KindGraph::join(CellId A, CellId B) {
  if (A == B)
    return;
  assert(Cells[A].Size == Cells[B].Size && Cells[A].Left == None &&
         Cells[B].Left == None && "joins equal leaves only");
  // The older one stays, so that the result does not depend on the history of
  // ranks. Path halving alone keeps the trees flat.
  if (B < A)
    std::swap(A, B);
  Cell &Keep = Cells[A];
  Cell &Gone = Cells[B];
  Gone.Parent = A;
  // What the union adds to either is news to what is copied from it.
  if ((isSettled(A) || isSettled(B)) &&
      (Keep.Kinds != Gone.Kinds || Keep.Callers != Gone.Callers))
    SettledChanged = true;
  Keep.Settled = isSettled(A) || isSettled(B);
  Keep.Kinds |= Gone.Kinds;
  Keep.Callers |= Gone.Callers;
  if (!Keep.To)
    Keep.To = Gone.To;
  else if (Gone.To)
    Pending.emplace_back(Keep.To, Gone.To);
  if (Keep.Global != Gone.Global) {
    Keep.Global = false;
    leafGlobal(A);
  }
}

void KindGraph::unifyStep(CellId A, uint64_t OffA, CellId B, uint64_t OffB,
                          uint64_t N) {
  while (N > 0) {
    CellId LeafA = isolate(A, OffA, N);
    uint64_t Done = Cells[LeafA].Size;
    CellId LeafB = isolate(B, OffB, Done);
    if (Cells[LeafB].Size < Done) {
      Done = Cells[LeafB].Size;
      LeafA = isolate(A, OffA, Done);
    }
    // Splitting one may have split the other, when they share leaves.
    uint64_t InB = OffB;
    LeafB = leafAt(B, InB);
    LeafA = find(LeafA);
    if (InB != 0 || Cells[LeafB].Size != Done || Cells[LeafA].Left != None)
      continue;
    join(LeafA, LeafB);
    OffA += Done;
    OffB += Done;
    N -= Done;
  }
}

void KindGraph::unify(CellId A, uint64_t OffA, CellId B, uint64_t OffB,
                      uint64_t N) {
  unifyStep(A, OffA, B, OffB, N);
  drain();
}

void KindGraph::unify(CellId A, CellId B) {
  if (A == None || B == None)
    return;
  unify(A, 0, B, 0, std::min(Cells[A].Size, Cells[B].Size));
}

bool KindGraph::seed(CellId C, uint64_t Off, uint64_t N, KindSet Kinds) {
  bool Changed = false;
  while (N > 0) {
    uint64_t In = Off;
    CellId Leaf = leafAt(C, In);
    // A seed of what is known already must not split.
    if ((Cells[Leaf].Kinds | Kinds.bits()) == Cells[Leaf].Kinds) {
      uint64_t Rest = std::min<uint64_t>(Cells[Leaf].Size - In, N);
      Off += Rest;
      N -= Rest;
      continue;
    }
    Leaf = isolate(C, Off, N);
    Cells[Leaf].Kinds |= Kinds.bits();
    SettledChanged |= isSettled(Leaf);
    Off += Cells[Leaf].Size;
    N -= Cells[Leaf].Size;
    Changed = true;
  }
  return Changed;
}

bool KindGraph::seedFromCallers(CellId C, uint64_t Off, uint64_t N,
                                uint16_t Kinds) {
  bool Changed = false;
  while (N > 0) {
    uint64_t In = Off;
    CellId Leaf = leafAt(C, In);
    uint64_t Done = std::min<uint64_t>(Cells[Leaf].Size - In, N);
    uint16_t Known = Cells[Leaf].Kinds | Cells[Leaf].Callers;
    if ((Known | Kinds) != Known) {
      Leaf = isolate(C, Off, N);
      Cells[Leaf].Callers |= Kinds;
      SettledChanged |= isSettled(Leaf);
      Done = Cells[Leaf].Size;
      Changed = true;
    }
    Off += Done;
    N -= Done;
  }
  return Changed;
}

KindGraph::Handle KindGraph::pointee(CellId C, uint64_t Off, uint64_t N) {
  Handle To;
  for (uint64_t At = Off; At < Off + N && !To;) {
    uint64_t In = At;
    CellId Leaf = leafAt(C, In);
    To = Cells[Leaf].To;
    At += Cells[Leaf].Size - In;
  }
  if (!To)
    To = {makeRegion(), 0};
  point(C, Off, N, To);
  return resolve(To);
}

void KindGraph::point(CellId C, uint64_t Off, uint64_t N, Handle To) {
  while (N > 0) {
    uint64_t In = Off;
    CellId Leaf = leafAt(C, In);
    if (Cells[Leaf].To) {
      Pending.emplace_back(Cells[Leaf].To, To);
    } else {
      Leaf = isolate(C, Off, N);
      Cells[Leaf].To = To;
      if (Cells[Leaf].Global)
        PendingGlobals.push_back(To.Region);
      In = 0;
    }
    uint64_t Done = std::min<uint64_t>(Cells[Leaf].Size - In, N);
    Off += Done;
    N -= Done;
  }
  drain();
}

//===-- Regions -----------------------------------------------------------===//

KindGraph::RegionId KindGraph::makeRegion() {
  auto Id = static_cast<RegionId>(Regions.size());
  Region R;
  R.Parent = Id;
  Regions.push_back(std::move(R));
  return Id;
}

KindGraph::Handle KindGraph::resolve(Handle H) const {
  if (!H)
    return H;
  RegionId R = H.Region;
  int64_t Offset = H.Offset;
  while (Regions[R].Parent != R) {
    const Region &Up = Regions[Regions[R].Parent];
    if (Up.Parent != Regions[R].Parent) { // halve the path
      Regions[R].Delta = addWrapping(Regions[R].Delta, Up.Delta);
      Regions[R].Parent = Up.Parent;
    }
    Offset = addWrapping(Offset, Regions[R].Delta);
    R = Regions[R].Parent;
  }
  uint64_t Stride = Regions[R].Stride;
  return {R, Stride ? wrapInto(Offset, Stride) : bounded(Offset)};
}

void KindGraph::unfoldedPieces(Region &R, int64_t Offset, uint64_t N,
                               SmallVectorImpl<Piece> &Out) {
  auto *It = partition_point(R.Entries, [&](const Entry &E) {
    return addWrapping(E.Offset, Cells[E.Cell].Size) <= Offset;
  });
  while (N > 0) {
    // Replace a split cell by its halves, so that later visits are direct.
    while (It != R.Entries.end() && It->Offset <= Offset) {
      CellId C = find(It->Cell);
      It->Cell = C;
      if (Cells[C].Left == None)
        break;
      int64_t Middle = addWrapping(It->Offset, Cells[Cells[C].Left].Size);
      It->Cell = Cells[C].Left;
      It = R.Entries.insert(It + 1, Entry{Middle, Cells[C].Right});
      if (Offset < Middle)
        --It;
    }
    if (It == R.Entries.end() || It->Offset > Offset) {
      uint64_t Gap = N;
      if (It != R.Entries.end())
        Gap = std::min<uint64_t>(Gap, It->Offset - Offset);
      It = R.Entries.insert(It, Entry{Offset, makeCell(Gap)});
      Cells[It->Cell].Global = R.Global;
    }
    uint64_t In = Offset - It->Offset;
    uint64_t Take = std::min<uint64_t>(Cells[It->Cell].Size - In, N);
    Out.push_back({It->Cell, In, Take});
    Offset = addWrapping(Offset, static_cast<int64_t>(Take));
    N -= Take;
    ++It;
  }
}

void KindGraph::pieces(RegionId Root, int64_t Offset, uint64_t N,
                       SmallVectorImpl<Piece> &Out) {
  Region &R = Regions[Root];
  if (R.Stride == 0) {
    unfoldedPieces(R, bounded(Offset), N, Out);
    return;
  }
  Offset = wrapInto(Offset, R.Stride);
  while (N > 0) {
    uint64_t Take = std::min<uint64_t>(R.Stride - Offset, N);
    unfoldedPieces(R, Offset, Take, Out);
    N -= Take;
    Offset = 0;
  }
}

void KindGraph::place(RegionId Root, int64_t Offset, CellId C) {
  SmallVector<Piece, 8> Parts;
  pieces(Root, Offset, Cells[C].Size, Parts);
  uint64_t At = 0;
  for (const Piece &P : Parts) {
    unifyStep(P.Cell, P.Offset, C, At, P.Size);
    At += P.Size;
  }
}

void KindGraph::boundEntries(RegionId Root) {
  if (Regions[Root].Entries.size() > MaxEntries)
    foldRoot(Root, 8);
}

void KindGraph::foldRoot(RegionId Root, uint64_t Stride) {
  uint64_t New = std::gcd(Regions[Root].Stride, Stride);
  if (New == Regions[Root].Stride)
    return;
  SmallVector<Entry, 2> Old = std::move(Regions[Root].Entries);
  Regions[Root].Entries.clear();
  Regions[Root].Stride = New;
  for (const Entry &E : Old)
    place(Root, E.Offset, E.Cell);
  boundEntries(Root);
}

void KindGraph::mergeNow(Handle A, Handle B) {
  A = resolve(A);
  B = resolve(B);
  if (A.Region == B.Region) {
    int64_t D = addWrapping(A.Offset, -B.Offset);
    foldRoot(A.Region, D < 0 ? -static_cast<uint64_t>(D) : D);
    return;
  }
  // The one with more cells stays; the older one among equals.
  size_t SizeA = Regions[A.Region].Entries.size();
  size_t SizeB = Regions[B.Region].Entries.size();
  if (SizeB > SizeA || (SizeA == SizeB && B.Region < A.Region))
    std::swap(A, B);
  Region &Gone = Regions[B.Region];
  SmallVector<Entry, 2> Entries = std::move(Gone.Entries);
  SmallVector<uint32_t, 0> Sigs = std::move(Gone.Signatures);
  Gone.Entries.clear();
  Gone.Signatures.clear();
  bool AllCalled = Gone.AllCalled;
  bool Global = Gone.Global != Regions[A.Region].Global;
  Gone.Parent = A.Region;
  Gone.Delta = addWrapping(A.Offset, -B.Offset);
  int64_t Delta = Gone.Delta;
  SmallVector<std::pair<int64_t, Handle>, 0> InCallers = std::move(Gone.Copies);
  Gone.Copies.clear();
  for (const auto &[At, To] : InCallers)
    Regions[A.Region].Copies.emplace_back(addWrapping(At, Delta), To);
  if (Gone.Stride)
    foldRoot(A.Region, Gone.Stride);
  for (const Entry &E : Entries)
    place(A.Region, addWrapping(E.Offset, Delta), E.Cell);
  boundEntries(A.Region);
  for (uint32_t S : Sigs)
    addSignature(A, S);
  if (AllCalled || Regions[A.Region].AllCalled)
    callAll(A);
  if (Global) {
    Regions[A.Region].Global = false;
    PendingGlobals.push_back(A.Region);
  }
}

void KindGraph::drain() {
  while (!Pending.empty() || !PendingGlobals.empty()) {
    if (Pending.empty()) {
      RegionId R = PendingGlobals.back();
      PendingGlobals.pop_back();
      spreadGlobal(R);
      continue;
    }
    auto [A, B] = Pending.back();
    Pending.pop_back();
    mergeNow(A, B);
  }
}

void KindGraph::merge(Handle A, Handle B) {
  if (!A || !B)
    return;
  Pending.emplace_back(A, B);
  drain();
}

void KindGraph::fold(Handle H, uint64_t Stride) {
  if (!H || Stride == 0)
    return;
  foldRoot(resolve(H).Region, Stride);
  drain();
}

void KindGraph::access(Handle H, CellId C, uint64_t Off, uint64_t N) {
  H = resolve(H);
  SmallVector<Piece, 8> Parts;
  pieces(H.Region, H.Offset, N, Parts);
  for (const Piece &P : Parts) {
    unifyStep(P.Cell, P.Offset, C, Off, P.Size);
    Off += P.Size;
  }
  boundEntries(H.Region);
  drain();
}

void KindGraph::copy(Handle D, Handle S, uint64_t N) {
  if (N == 0)
    return;
  if (N > MaxCell) {
    merge(D, S);
    return;
  }
  // Walk the source's cells; what it does not have yet is one new cell.
  S = resolve(S);
  SmallVector<Piece, 8> Parts;
  pieces(S.Region, S.Offset, N, Parts);
  boundEntries(S.Region);
  for (const Piece &P : Parts) {
    Handle To = resolve(D);
    SmallVector<Piece, 8> Targets;
    pieces(To.Region, To.Offset, P.Size, Targets);
    uint64_t At = P.Offset;
    for (const Piece &T : Targets) {
      unifyStep(T.Cell, T.Offset, P.Cell, At, T.Size);
      At += T.Size;
    }
    boundEntries(To.Region);
    D = D.plus(static_cast<int64_t>(P.Size));
  }
  drain();
}

void KindGraph::seed(Handle H, uint64_t N, KindSet Kinds) {
  H = resolve(H);
  // An array of N bytes has nothing new after one stride.
  if (uint64_t Stride = Regions[H.Region].Stride)
    N = std::min(N, Stride);
  N = std::min(N, MaxCell);
  SmallVector<Piece, 8> Parts;
  pieces(H.Region, H.Offset, N, Parts);
  for (const Piece &P : Parts)
    seed(P.Cell, P.Offset, P.Size, Kinds);
  boundEntries(H.Region);
  drain();
}

void KindGraph::point(Handle H, uint64_t N, Handle To) {
  H = resolve(H);
  SmallVector<Piece, 8> Parts;
  pieces(H.Region, H.Offset, N, Parts);
  for (const Piece &P : Parts) {
    seed(P.Cell, P.Offset, P.Size, KindSet::Ptr);
    point(P.Cell, P.Offset, P.Size, To);
  }
  boundEntries(resolve(H).Region);
  drain();
}

//===-- Signatures --------------------------------------------------------===//

uint32_t KindGraph::makeSignature(const FunctionType *T) {
  auto Id = static_cast<uint32_t>(Signatures.size());
  Signature S;
  S.Type = T;
  S.Parent = Id;
  Signatures.push_back(std::move(S));
  return Id;
}

uint32_t KindGraph::findSignature(uint32_t S) const {
  while (Signatures[S].Parent != S)
    S = Signatures[S].Parent;
  return S;
}

void KindGraph::call(uint32_t Id) {
  Signature &S = signature(Id);
  if (S.Called)
    return;
  S.Called = true;
  append_range(Called, S.Members);
}

void KindGraph::joinSignatures(uint32_t A, uint32_t B) {
  A = findSignature(A);
  B = findSignature(B);
  if (A == B)
    return;
  if (B < A)
    std::swap(A, B);
  Signature &Keep = Signatures[A];
  Signature &Gone = Signatures[B];
  Gone.Parent = A;
  if (Keep.Called && !Gone.Called)
    append_range(Called, Gone.Members);
  if (Gone.Called && !Keep.Called)
    append_range(Called, Keep.Members);
  Keep.Called |= Gone.Called;
  Keep.Cloned |= Gone.Cloned;
  Keep.Open |= Gone.Open;
  append_range(Keep.Members, Gone.Members);
  for (auto [P, Q] : zip(Keep.Params, Gone.Params))
    if (P != None && Q != None)
      unifyStep(P, 0, Q, 0, Cells[P].Size);
  if (Keep.Return != None && Gone.Return != None)
    unifyStep(Keep.Return, 0, Gone.Return, 0, Cells[Keep.Return].Size);
}

void KindGraph::addSignature(Handle H, uint32_t S) {
  Region &R = Regions[resolve(H).Region];
  for (uint32_t Old : R.Signatures)
    if (Signatures[findSignature(Old)].Type ==
        Signatures[findSignature(S)].Type) {
      joinSignatures(Old, S);
      return;
    }
  R.Signatures.push_back(S);
  Signatures[findSignature(S)].Home = H;
  if (R.AllCalled)
    call(S);
}

bool KindGraph::hasSignature(Handle H, const FunctionType *T) const {
  return any_of(Regions[resolve(H).Region].Signatures, [&](uint32_t S) {
    return Signatures[findSignature(S)].Type == T;
  });
}

uint32_t KindGraph::signatureIn(Handle H, const FunctionType *T) {
  Region &R = Regions[resolve(H).Region];
  for (uint32_t S : R.Signatures)
    if (Signatures[findSignature(S)].Type == T)
      return findSignature(S);
  uint32_t S = makeSignature(T);
  Signatures[S].Home = H;
  Regions[resolve(H).Region].Signatures.push_back(S);
  return S;
}

void KindGraph::callAll(Handle H) {
  Region &R = Regions[resolve(H).Region];
  R.AllCalled = true;
  for (uint32_t S : R.Signatures)
    call(S);
}

std::vector<uint32_t> KindGraph::takeCalled() { return std::move(Called); }

//===-- Queries -----------------------------------------------------------===//

void KindGraph::visit(CellId C, uint64_t Off, uint64_t N, Visitor F) const {
  for (uint64_t At = 0; At < N;) {
    uint64_t In = Off + At;
    CellId Leaf = leafAt(C, In);
    uint64_t Size = std::min<uint64_t>(Cells[Leaf].Size - In, N - At);
    F(At, At + Size, Cells[Leaf].Kinds | Cells[Leaf].Callers);
    At += Size;
  }
}

KindSet KindGraph::ownKinds(CellId C) const {
  KindSet All;
  for (uint64_t At = 0; At < Cells[C].Size;) {
    uint64_t In = At;
    const Cell &Leaf = Cells[leafAt(C, In)];
    All = All | KindSet(Leaf.Kinds);
    At += Leaf.Size - In;
  }
  return All;
}

KindGraph::Handle KindGraph::pointeeOrNone(CellId C) const {
  for (uint64_t At = 0; At < Cells[C].Size;) {
    uint64_t In = At;
    CellId Leaf = leafAt(C, In);
    if (Cells[Leaf].To)
      return resolve(Cells[Leaf].To);
    At += Cells[Leaf].Size - In;
  }
  return {};
}

void KindGraph::visitCopies(RegionId R, function_ref<void(Handle)> F) const {
  for (const auto &[At, To] : Regions[resolve({R, 0}).Region].Copies)
    F(resolve(To));
}

SmallVector<KindGraph::Handle, 4> KindGraph::withCopies(Handle H) const {
  SmallVector<Handle, 4> Result{resolve(H)};
  DenseSet<RegionId> Seen{Result[0].Region};
  for (size_t I = 0; I != Result.size(); ++I) {
    Handle From = Result[I];
    for (const auto &[At, To] : Regions[From.Region].Copies) {
      Handle Copy = resolve(To.plus(addWrapping(From.Offset, -At)));
      if (Seen.insert(Copy.Region).second)
        Result.push_back(Copy);
    }
  }
  return Result;
}

uint64_t KindGraph::stride(Handle H) const {
  return Regions[resolve(H).Region].Stride;
}

void KindGraph::visitMemory(Handle H, uint64_t N, Visitor F) const {
  H = resolve(H);
  const Region &R = Regions[H.Region];
  auto VisitPart = [&](int64_t From, uint64_t Size, uint64_t At) {
    for (const Entry &E : R.Entries) {
      int64_t End = addWrapping(E.Offset, Cells[E.Cell].Size);
      if (End <= From || E.Offset >= addWrapping(From, Size))
        continue;
      int64_t Lo = std::max(E.Offset, From);
      int64_t Hi = std::min<int64_t>(End, addWrapping(From, Size));
      visit(E.Cell, Lo - E.Offset, Hi - Lo,
            [&](uint64_t B, uint64_t En, unsigned K) {
              F(At + (Lo - From) + B, At + (Lo - From) + En, K);
            });
    }
  };
  if (R.Stride == 0) {
    VisitPart(H.Offset, N, 0);
    return;
  }
  for (uint64_t At = 0; At < N;) {
    uint64_t Take = std::min<uint64_t>(R.Stride - H.Offset, N - At);
    VisitPart(H.Offset, Take, At);
    At += Take;
    H.Offset = 0;
  }
}

void KindGraph::visitRegion(
    Handle H, function_ref<void(int64_t, uint64_t, unsigned, Handle)> F) const {
  H = resolve(H);
  for (const Entry &E : Regions[H.Region].Entries)
    for (uint64_t At = 0; At < Cells[E.Cell].Size;) {
      uint64_t In = At;
      const Cell &Leaf = Cells[leafAt(E.Cell, In)];
      F(addWrapping(E.Offset, static_cast<int64_t>(At)), Leaf.Size,
        Leaf.Kinds | Leaf.Callers, resolve(Leaf.To));
      At += Leaf.Size;
    }
}
