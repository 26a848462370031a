// Forward mode: calls with several results (sincos, frexp, modf, …).
#include "ad/forward/ForwardEmitter.h"
#include "ad/shadow/Lanes.h"

using namespace llvm;
using namespace adjoin;

Error ForwardEmitter::visitMulti(CallBase &I, const CallClass &C) {
  const MultiRule &Rule = *C.Several;
  bool Active = false, Writes = R.Sparse;
  SmallVector<Value *, 4> Operands;
  for (Value *Arg : I.args()) {
    Operands.push_back(primal(Arg));
    Active |= Arg->getType()->isFPOrFPVectorTy() && isActive(Arg);
    Writes |= Arg->getType()->isPointerTy() && isActive(Arg);
  }
  if (!Active && !Writes)
    return Error::success();
  placeAfter(I);
  Type *T = I.getArgOperand(0)->getType();
  auto *Struct = dyn_cast<StructType>(I.getType());

  auto TangentOf = [&](unsigned K) -> Value * {
    // Results that were stored are read back where a partial needs them.
    SmallVector<Value *, 2> Outs(Rule.Results.size(), nullptr);
    LinearMap Asked(Rule, K, I, Operands, Outs, W, R.StrongZero);
    unsigned Needed = 0;
    for (unsigned Op = 0; Op != I.arg_size(); ++Op)
      if (isActive(I.getArgOperand(Op)))
        Needed |= Asked.needs(Op).Outs;
    for (auto [Index, Result] : enumerate(Rule.Results)) {
      if ((Needed & (1U << Index)) == 0)
        continue;
      int Pointer = MultiRule::pointerOperand(Result);
      if (Pointer >= 0)
        Outs[Index] =
            B.CreateLoad(Result.Float ? T : B.getInt32Ty(), Operands[Pointer]);
      else if (Struct)
        Outs[Index] =
            B.CreateExtractValue(primal(&I), MultiRule::field(Result));
      else
        Outs[Index] = primal(&I);
    }
    LinearMap Map(Rule, K, I, Operands, Outs, W, R.StrongZero);
    Value *Sum = nullptr;
    for (unsigned Op = 0; Op != I.arg_size(); ++Op)
      if (isActive(I.getArgOperand(Op)) && !Map.isZero(Op))
        Sum = addTangents(B, Sum, Map.push(B, Op, shadow(I.getArgOperand(Op))),
                          derivativeFlags(I));
    return Sum ? Sum : Constant::getNullValue(shadowType(T, W));
  };

  Value *Returned = nullptr;
  if (isActive(&I))
    Returned = Struct ? inertShadow(primal(&I), Struct, false)
                      : Constant::getNullValue(shadowType(I.getType(), W));
  for (auto [K, Result] : enumerate(Rule.Results)) {
    if (!Result.Float)
      continue; // an integer has no shadow
    int Pointer = MultiRule::pointerOperand(Result);
    if (Pointer < 0) {
      if (Returned)
        Returned = Struct ? B.CreateInsertValue(Returned, TangentOf(K),
                                                MultiRule::field(Result))
                          : TangentOf(K);
      continue;
    }
    const Value *Address = I.getArgOperand(Pointer);
    if (state(Address) == ShadowState::Const && !R.Sparse)
      continue;
    Value *Tangent = TangentOf(K);
    uint64_t Size = DL.getTypeStoreSize(T).getFixedValue();
    for (unsigned Lane = 0; Lane != W; ++Lane)
      if (Value *To = writeAddress(Address, Lane, Size, Active))
        B.CreateStore(laneOf(B, Tangent, Lane, T, W), To);
  }
  if (Returned)
    setShadow(&I, Returned);
  return Error::success();
}
