// Lanes: taking shadow values of width W apart and putting them together.
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace adjoin;

/// The member at \p Index of an aggregate, seen through insertvalue.
static Value *member(IRBuilder<> &B, Value *Aggregate, unsigned Index) {
  for (Value *V = Aggregate;;) {
    if (auto *C = dyn_cast<Constant>(V))
      if (Constant *E = C->getAggregateElement(Index))
        return E;
    auto *Insert = dyn_cast<InsertValueInst>(V);
    if (!Insert || Insert->getNumIndices() != 1)
      break;
    if (Insert->getIndices()[0] == Index)
      return Insert->getInsertedValueOperand();
    V = Insert->getAggregateOperand();
  }
  return B.CreateExtractValue(Aggregate, Index);
}

static unsigned memberCount(Type *T) {
  if (auto *S = dyn_cast<StructType>(T))
    return S->getNumElements();
  return static_cast<unsigned>(cast<ArrayType>(T)->getNumElements());
}

static Type *memberType(Type *T, unsigned Index) {
  if (auto *S = dyn_cast<StructType>(T))
    return S->getElementType(Index);
  return cast<ArrayType>(T)->getElementType();
}

Value *adjoin::laneOf(IRBuilder<> &B, Value *Shadow, unsigned K, Type *T,
                      unsigned W) {
  if (W == 1)
    return Shadow;
  if (T->isFPOrFPVectorTy()) {
    auto *Vector = dyn_cast<FixedVectorType>(T);
    if (!Vector)
      return B.CreateExtractElement(Shadow, uint64_t(K));
    unsigned N = Vector->getNumElements();
    SmallVector<int, 16> Mask;
    for (unsigned I = 0; I != N; ++I)
      Mask.push_back(static_cast<int>(K * N + I));
    return B.CreateShuffleVector(Shadow, Mask);
  }
  if (!T->isAggregateType())
    return member(B, Shadow, K);
  Value *Result = PoisonValue::get(T);
  for (unsigned I = 0, E = memberCount(T); I != E; ++I)
    Result = B.CreateInsertValue(
        Result, laneOf(B, member(B, Shadow, I), K, memberType(T, I), W), I);
  return Result;
}

Value *adjoin::packLanes(IRBuilder<> &B, ArrayRef<Value *> Lanes, Type *T) {
  unsigned W = Lanes.size();
  if (W == 1)
    return Lanes[0];
  Value *Result = PoisonValue::get(shadowType(T, W));
  if (T->isFPOrFPVectorTy()) {
    auto *Vector = dyn_cast<FixedVectorType>(T);
    if (!Vector) {
      for (unsigned K = 0; K != W; ++K)
        Result = B.CreateInsertElement(Result, Lanes[K], uint64_t(K));
      return Result;
    }
    // Concatenate: widen the accumulated prefix by one lane at a time.
    unsigned N = Vector->getNumElements();
    Result = Lanes[0];
    for (unsigned K = 1; K != W; ++K) {
      SmallVector<int, 16> Widen;
      for (unsigned I = 0; I != K * N; ++I)
        Widen.push_back(I < N ? static_cast<int>(I) : PoisonMaskElem);
      Value *Next = K == 1 ? Lanes[K] : B.CreateShuffleVector(Lanes[K], Widen);
      SmallVector<int, 16> Join;
      for (unsigned I = 0; I != K * N; ++I)
        Join.push_back(static_cast<int>(I));
      for (unsigned I = 0; I != N; ++I)
        Join.push_back(static_cast<int>(K * N + I));
      Result = B.CreateShuffleVector(Result, Next, Join);
    }
    return Result;
  }
  if (!T->isAggregateType()) {
    for (unsigned K = 0; K != W; ++K)
      Result = B.CreateInsertValue(Result, Lanes[K], K);
    return Result;
  }
  for (unsigned I = 0, E = memberCount(T); I != E; ++I) {
    SmallVector<Value *, 4> Members;
    for (Value *L : Lanes)
      Members.push_back(member(B, L, I));
    Result =
        B.CreateInsertValue(Result, packLanes(B, Members, memberType(T, I)), I);
  }
  return Result;
}

SmallVector<Value *, 4> adjoin::lanesOf(IRBuilder<> &B, Value *Shadow, Type *T,
                                        unsigned W) {
  SmallVector<Value *, 4> Lanes;
  for (unsigned K = 0; K != W; ++K)
    Lanes.push_back(laneOf(B, Shadow, K, T, W));
  return Lanes;
}

Value *adjoin::splatLanes(IRBuilder<> &B, Value *V, unsigned W) {
  if (W == 1)
    return V;
  SmallVector<Value *, 4> Lanes(W, V);
  return packLanes(B, Lanes, V->getType());
}

Value *adjoin::mapLanes(IRBuilder<> &B, ArrayRef<Value *> Shadows,
                        ArrayRef<Type *> Types, Type *Result, unsigned W,
                        function_ref<Value *(ArrayRef<Value *>)> Op) {
  SmallVector<Value *, 4> Results;
  for (unsigned K = 0; K != W; ++K) {
    SmallVector<Value *, 4> Lane;
    for (auto [S, T] : zip_equal(Shadows, Types))
      Lane.push_back(laneOf(B, S, K, T, W));
    Results.push_back(Op(Lane));
  }
  return packLanes(B, Results, Result);
}

Value *adjoin::tile(IRBuilder<> &B, Value *V, unsigned W) {
  if (W == 1)
    return V;
  auto *Vector = dyn_cast<FixedVectorType>(V->getType());
  if (!Vector)
    return B.CreateVectorSplat(W, V);
  SmallVector<int, 16> Mask;
  for (unsigned K = 0; K != W; ++K)
    for (unsigned I = 0; I != Vector->getNumElements(); ++I)
      Mask.push_back(static_cast<int>(I));
  return B.CreateShuffleVector(V, Mask);
}
