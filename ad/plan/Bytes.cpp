// Bytes: where floats and pointers are in memory that a call copies or fills.
#include "ad/plan/Bytes.h"
#include "ad/plan/Needs.h"
#include "llvm/IR/Constants.h"

using namespace llvm;
using namespace adjoin;

/// Adds the bytes [Begin, End) of kind \p K.
static void addPiece(ByteLayout &Layout, uint64_t Begin, uint64_t End,
                     KindSet K) {
  unsigned Floats = K.bits() & KindSet::AnyFloat;
  if (Floats == 0 && !K.mayBePtr())
    return;
  if ((Floats & (Floats - 1)) != 0 || (Floats != 0 && K.mayBePtr())) {
    Layout.Unclear = true;
    return;
  }
  auto &Pieces = Floats ? Layout.Floats : Layout.Pointers;
  KindSet Kind = Floats ? KindSet(Floats) : KindSet(KindSet::Ptr);
  if (!Pieces.empty() && Pieces.back().End == Begin &&
      Pieces.back().Kinds == Kind)
    Pieces.back().End = End;
  else
    Pieces.push_back({Begin, End, Kind});
}

ByteLayout adjoin::layoutOf(const ReverseSubject &S, const CallBase &CB,
                            const CallClass &C) {
  const KindAnalysis &Kinds = S.D.kinds();
  SmallVector<const Value *, 2> Pointers{CB.getArgOperand(C.PointerArg)};
  if (C.K == CallClass::Transfer)
    Pointers.push_back(CB.getArgOperand(C.SourceArg));
  KindSet Object;
  for (const Value *P : Pointers)
    Object = Object | Kinds.object(P);
  ByteLayout Layout;
  ByteLayout Uniform;
  // Nobody in the program says what the bytes are. What comes from a caller and
  // goes to one may be floats all the same.
  if (Object.empty() && any_of(Pointers, [&](const Value *P) {
        return S.isActive(P) && outlivesCall(P);
      })) {
    Uniform.Unclear = true;
    return Uniform;
  }
  addPiece(Uniform, 0, BytePiece::Whole, Object);
  if (!Uniform.Unclear)
    return Uniform;
  auto *N = dyn_cast<ConstantInt>(CB.getArgOperand(C.SizeArg));
  if (!N || C.SizeArg2 >= 0)
    return Uniform;
  uint64_t Size = N->getZExtValue();
  KindRanges Ranges;
  SmallVector<uint64_t, 16> Cuts;
  for (const Value *P : Pointers)
    for (const KindRange &R : Kinds.memory(P, Size)) {
      Ranges.push_back(R);
      Cuts.push_back(R.Begin);
      Cuts.push_back(std::min(R.End, Size));
    }
  llvm::sort(Cuts);
  Cuts.erase(llvm::unique(Cuts), Cuts.end());
  for (size_t I = 0; I + 1 < Cuts.size(); ++I) {
    KindSet K;
    for (const KindRange &R : Ranges)
      if (R.Begin < Cuts[I + 1] && R.End > Cuts[I])
        K = K | R.Kinds;
    addPiece(Layout, Cuts[I], Cuts[I + 1], K);
  }
  return Layout;
}

ByteLayout adjoin::layoutOfCopied(const ReverseSubject &S, const Argument &A) {
  ByteLayout Layout;
  uint64_t Size = S.DL.getTypeAllocSize(A.getParamByValType()).getFixedValue();
  for (const KindRange &R : S.D.kinds().memory(&A, Size))
    addPiece(Layout, R.Begin, std::min(R.End, Size), R.Kinds);
  return Layout;
}

bool adjoin::savesPointers(const ReverseSubject &S, const CallBase &CB,
                           const CallClass &C, const ByteLayout &Layout) {
  const Value *Dst = CB.getArgOperand(C.PointerArg);
  return !Layout.Pointers.empty() && S.mayHaveShadow(Dst) && outlivesCall(Dst);
}

bool adjoin::transposesBytes(const ReverseSubject &S, const CallBase &CB,
                             const CallClass &C, const ByteLayout &Layout) {
  return S.mayHaveShadow(CB.getArgOperand(C.PointerArg)) &&
         (!Layout.Floats.empty() || savesPointers(S, CB, C, Layout));
}
