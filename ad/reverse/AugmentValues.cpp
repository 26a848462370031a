// The augmented primal: shadow pointers of values in registers.
#include "ad/reverse/Augment.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace adjoin;

void AugmentEmitter::setShadow(const Value *V, Value *Shadow) {
  assert(Shadow->getType() == shadowType(V->getType(), W) &&
         "shadow of wrong type");
  Shadows[V] = Shadow;
}

/// The shadow of a value of the new function without a derivative: a pointer
/// is its own shadow; other bytes have no meaning in aug.
Value *AugmentEmitter::inert(Value *Primal, Type *T) {
  if (!T->isAggregateType())
    return T->isFPOrFPVectorTy() ? Constant::getNullValue(shadowType(T, W))
                                 : splatLanes(B, Primal, W);
  Value *Result = PoisonValue::get(shadowType(T, W));
  uint64_t N =
      isa<StructType>(T) ? T->getStructNumElements() : T->getArrayNumElements();
  for (unsigned I = 0; I != N; ++I) {
    Value *Member = B.CreateExtractValue(Primal, I);
    Result = B.CreateInsertValue(Result, inert(Member, Member->getType()), I);
  }
  return Result;
}

Value *AugmentEmitter::shadow(const Value *V) {
  if (isa<UndefValue>(V))
    return Constant::getNullValue(shadowType(V->getType(), W));
  if (S.hasShadow(V))
    if (Value *Shadow = Shadows.lookup(V))
      return Shadow;
  return inert(primal(V), V->getType());
}

Value *AugmentEmitter::forReverse(const Value *V) {
  Value *Shadow = shadow(V);
  Type *T = V->getType();
  if (!T->isPointerTy() || S.state(V) == ShadowState::Known)
    return Shadow;
  return mapLanes(B, {Shadow}, {T}, T, W, [&](ArrayRef<Value *> Lane) {
    return B.CreateSelect(B.CreateICmpEQ(Lane[0], primal(V)),
                          Constant::getNullValue(T), Lane[0]);
  });
}

/// Emits the clone of \p I once per lane, with the operands of \p Shadowed
/// replaced by that lane of their shadows, and packs the results.
Value *AugmentEmitter::perLane(Instruction &I, ArrayRef<Value *> Shadowed) {
  auto *New = cast<Instruction>(primal(&I));
  SmallVector<Value *, 4> Values;
  SmallVector<Type *, 4> Types;
  for (Value *Op : Shadowed) {
    Values.push_back(shadow(Op));
    Types.push_back(Op->getType());
  }
  return mapLanes(B, Values, Types, I.getType(), W,
                  [&](ArrayRef<Value *> Lane) -> Value * {
                    Instruction *Clone = New->clone();
                    Clone->dropUnknownNonDebugMetadata();
                    for (Use &U : I.operands())
                      for (auto [Op, L] : zip_equal(Shadowed, Lane))
                        if (U.get() == Op)
                          Clone->setOperand(U.getOperandNo(), L);
                    B.Insert(Clone, I.getName() + ".s");
                    return Clone;
                  });
}

Error AugmentEmitter::visitValue(Instruction &I) {
  placeAfter(I);
  switch (I.getOpcode()) {
  case Instruction::Select: {
    Value *Condition = primal(I.getOperand(0));
    Value *True = shadow(I.getOperand(1)), *False = shadow(I.getOperand(2));
    Type *T = I.getType();
    setShadow(&I, mapLanes(B, {True, False}, {T, T}, T, W,
                           [&](ArrayRef<Value *> Lane) {
                             return B.CreateSelect(Condition, Lane[0], Lane[1]);
                           }));
    return Error::success();
  }
  case Instruction::GetElementPtr: {
    auto *New = cast<Instruction>(primal(&I));
    Value *Base = I.getOperand(0);
    setShadow(&I, mapLanes(B, {shadow(Base)}, {Base->getType()}, I.getType(), W,
                           [&](ArrayRef<Value *> Lane) -> Value * {
                             Instruction *Clone = New->clone();
                             Clone->setOperand(0, Lane[0]);
                             B.Insert(Clone, I.getName() + ".s");
                             return Clone;
                           }));
    return Error::success();
  }
  case Instruction::BitCast:
  case Instruction::AddrSpaceCast:
  case Instruction::PtrToInt:
  case Instruction::PtrToAddr:
  case Instruction::IntToPtr:
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::ExtractElement:
  case Instruction::Freeze:
    setShadow(&I, perLane(I, {I.getOperand(0)}));
    return Error::success();
  case Instruction::InsertElement:
  case Instruction::ShuffleVector:
    setShadow(&I, I.getOperand(0) == I.getOperand(1)
                      ? perLane(I, {I.getOperand(0)})
                      : perLane(I, {I.getOperand(0), I.getOperand(1)}));
    return Error::success();
  case Instruction::ExtractValue:
    setShadow(&I, B.CreateExtractValue(shadow(I.getOperand(0)),
                                       cast<ExtractValueInst>(I).getIndices()));
    return Error::success();
  case Instruction::InsertValue:
    setShadow(&I, B.CreateInsertValue(shadow(I.getOperand(0)),
                                      shadow(I.getOperand(1)),
                                      cast<InsertValueInst>(I).getIndices()));
    return Error::success();
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr: {
    // Addresses as integers: the same operation on the address of the shadow.
    SmallVector<Value *, 2> Moving;
    for (Value *Op : I.operands())
      if (S.hasShadow(Op) && !is_contained(Moving, Op))
        Moving.push_back(Op);
    if (Moving.empty())
      setShadow(&I, inert(primal(&I), I.getType()));
    else
      setShadow(&I, perLane(I, Moving));
    return Error::success();
  }
  default:
    return diagnose(I, Twine("cannot differentiate the instruction '") +
                           I.getOpcodeName() + "' on active pointers");
  }
}
