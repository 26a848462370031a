// Forward mode: tangents and shadow pointers of values in registers.
#include "ad/forward/ForwardEmitter.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace adjoin;

void ForwardEmitter::setShadow(const Value *V, Value *S) {
  assert(S->getType() == shadowType(V->getType(), W) && "shadow of wrong type");
  Shadows[V] = S;
}

Value *ForwardEmitter::inertShadow(Value *Primal, Type *T, bool IntsAreFloats) {
  if (T->isFPOrFPVectorTy() || (IntsAreFloats && T->isIntOrIntVectorTy()))
    return Constant::getNullValue(shadowType(T, W));
  if (!T->isAggregateType()) {
    if (T->isTokenTy() || T->isMetadataTy() || T->isLabelTy())
      return Primal;
    return splatLanes(B, Primal, W);
  }
  Value *Result = PoisonValue::get(shadowType(T, W));
  unsigned Count = isa<StructType>(T) ? cast<StructType>(T)->getNumElements()
                                      : cast<ArrayType>(T)->getNumElements();
  for (unsigned I = 0; I != Count; ++I) {
    Value *Member = B.CreateExtractValue(Primal, I);
    Result = B.CreateInsertValue(
        Result, inertShadow(Member, Member->getType(), IntsAreFloats), I);
  }
  return Result;
}

Value *ForwardEmitter::constShadow(const Value *V, const Value *Becomes) {
  // Kinds decide what the bytes of an integer are: as a float it has tangent
  // zero, else it is mirrored.
  bool IntsAreFloats = false;
  if (!V->getType()->isPtrOrPtrVectorTy() && !V->getType()->isFPOrFPVectorTy())
    IntsAreFloats = D.kinds().summary(V).mayBeFloat() ||
                    (Becomes && D.kinds().summary(Becomes).mayBeFloat());
  return inertShadow(primal(V), V->getType(), IntsAreFloats);
}

Value *ForwardEmitter::shadow(const Value *V, const Value *Becomes) {
  if (isa<UndefValue>(V)) // poison included: tangent zero, pointers constant
    return Constant::getNullValue(shadowType(V->getType(), W));
  if (!isActive(V))
    return constShadow(V, Becomes);
  if (Value *S = Shadows.lookup(V))
    return S;
  // Constant aggregates and expressions whose parts have shadows do not exist:
  // globals are constant at entry (design.md, "Memory without a shadow").
  return constShadow(V, Becomes);
}

Error ForwardEmitter::visitScalar(Instruction &I, const ScalarRule &Rule) {
  placeAfter(I);
  SmallVector<Value *, 4> Operands;
  unsigned Count =
      isa<CallBase>(I) ? cast<CallBase>(I).arg_size() : I.getNumOperands();
  for (unsigned K = 0; K != Count; ++K) {
    Value *Op = I.getOperand(K);
    Operands.push_back(isa<MetadataAsValue>(Op) ? Op : primal(Op));
  }
  FastMathFlags FMF;
  if (auto *FP = dyn_cast<FPMathOperator>(&I))
    FMF = FP->getFastMathFlags();
  FMF.setNoNaNs(false);
  FMF.setNoInfs(false);
  LinearMap Map(Rule, I, Operands, primal(&I), W, R.StrongZero);
  Value *Sum = nullptr;
  for (unsigned K = 0; K != Rule.Operands; ++K) {
    if (!isActive(I.getOperand(K)) || Map.isZero(K))
      continue;
    Value *Part = Map.push(B, K, shadow(I.getOperand(K)));
    Sum = Sum ? addTangents(B, Sum, Part, FMF) : Part;
  }
  setShadow(&I, Sum ? Sum : Constant::getNullValue(shadowType(I.getType(), W)));
  return Error::success();
}

/// Emits the clone of \p I once per lane, with the operands of \p Shadowed
/// replaced by that lane of their shadows, and packs the results.
Value *ForwardEmitter::perLane(Instruction &I, ArrayRef<Value *> Shadowed) {
  auto *New = cast<Instruction>(primal(&I));
  SmallVector<Value *, 4> ShadowValues;
  SmallVector<Type *, 4> Types;
  for (Value *Op : Shadowed) {
    ShadowValues.push_back(shadow(Op, &I));
    Types.push_back(Op->getType());
  }
  return mapLanes(B, ShadowValues, Types, I.getType(), W,
                  [&](ArrayRef<Value *> Lane) -> Value * {
                    Instruction *Clone = New->clone();
                    Clone->dropUnknownNonDebugMetadata();
                    for (Use &U : I.operands())
                      for (auto [Op, L] : zip_equal(Shadowed, Lane))
                        if (U.get() == Op)
                          Clone->setOperand(U.getOperandNo(), L);
                    B.Insert(Clone, I.getName() + ".t");
                    return Clone;
                  });
}

Error ForwardEmitter::visitSelect(SelectInst &I) {
  Value *Condition = primal(I.getCondition());
  Type *T = I.getType();
  Value *True = shadow(I.getTrueValue(), &I);
  Value *False = shadow(I.getFalseValue(), &I);
  if (W == 1 ||
      (T->isFPOrFPVectorTy() && !Condition->getType()->isVectorTy())) {
    setShadow(&I, B.CreateSelect(Condition, True, False));
    return Error::success();
  }
  if (T->isFPOrFPVectorTy()) {
    setShadow(&I, B.CreateSelect(tile(B, Condition, W), True, False));
    return Error::success();
  }
  setShadow(
      &I, mapLanes(B, {True, False}, {T, T}, T, W, [&](ArrayRef<Value *> Lane) {
        return B.CreateSelect(Condition, Lane[0], Lane[1]);
      }));
  return Error::success();
}

Error ForwardEmitter::visitValue(Instruction &I) {
  placeAfter(I);
  switch (I.getOpcode()) {
  case Instruction::Select:
    return visitSelect(cast<SelectInst>(I));
  case Instruction::GetElementPtr: {
    auto &GEP = cast<GetElementPtrInst>(I);
    auto *New = cast<Instruction>(primal(&I));
    Value *Base = GEP.getPointerOperand();
    setShadow(&I, mapLanes(B, {shadow(Base)}, {Base->getType()}, I.getType(), W,
                           [&](ArrayRef<Value *> Lane) -> Value * {
                             Instruction *Clone = New->clone();
                             Clone->setOperand(0, Lane[0]);
                             B.Insert(Clone, I.getName() + ".t");
                             return Clone;
                           }));
    return Error::success();
  }
  case Instruction::BitCast:
  case Instruction::AddrSpaceCast:
  case Instruction::PtrToInt:
  case Instruction::PtrToAddr:
  case Instruction::ExtractElement:
  case Instruction::Freeze:
    setShadow(&I, perLane(I, {I.getOperand(0)}));
    return Error::success();
  case Instruction::IntToPtr: {
    Type *T = I.getType();
    Value *S = perLane(I, {I.getOperand(0)});
    setShadow(&I, mapLanes(B, {S}, {T}, T, W, [&](ArrayRef<Value *> Lane) {
      return normalised(B, Lane[0], primal(&I));
    }));
    return Error::success();
  }
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
                                      shadow(I.getOperand(1), &I),
                                      cast<InsertValueInst>(I).getIndices()));
    return Error::success();
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
    setShadow(&I, perLane(I, {I.getOperand(0)}));
    return Error::success();
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return visitBits(cast<BinaryOperator>(I));
  case Instruction::VAArg:
    return diagnose(I, "cannot differentiate va_arg of an active argument");
  default:
    return diagnose(I, Twine("cannot differentiate the instruction '") +
                           I.getOpcodeName() + "' on an active value");
  }
}

/// True when every byte of \p Mask is 0x00 or 0xff.
static bool keepsWholeBytes(const APInt &Mask) {
  if (Mask.getBitWidth() % 8 != 0)
    return false;
  for (unsigned Bit = 0; Bit != Mask.getBitWidth(); Bit += 8) {
    uint64_t Byte = Mask.extractBitsAsZExtValue(8, Bit);
    if (Byte != 0 && Byte != 0xff)
      return false;
  }
  return true;
}

/// Integer operations that move the bits of a float or a pointer, or that are a
/// sign operation in disguise. Anything else on active bits is an error.
Error ForwardEmitter::visitBits(BinaryOperator &I) {
  Value *L = I.getOperand(0), *Rt = I.getOperand(1);
  Type *T = I.getType();
  KindSet Kinds = D.kinds().summary(&I);
  auto EachLane = [&](function_ref<Value *(Value *, Value *)> Op) {
    setShadow(&I, mapLanes(B, {shadow(L, &I), shadow(Rt, &I)}, {T, T}, T, W,
                           [&](ArrayRef<Value *> Lane) {
                             return Op(Lane[0], Lane[1]);
                           }));
    return Error::success();
  };
  const APInt *C = nullptr;
  if (auto *CI = dyn_cast<ConstantInt>(Rt))
    C = &CI->getValue();
  else if (isa<VectorType>(T))
    if (auto *CV = dyn_cast<Constant>(Rt))
      if (auto *Splat = dyn_cast_or_null<ConstantInt>(CV->getSplatValue()))
        C = &Splat->getValue();
  Value *P = primal(L);
  Constant *Sign =
      ConstantInt::get(T, APInt::getSignMask(T->getScalarSizeInBits()));
  auto OnLeft = [&](function_ref<Value *(Value *)> Op) {
    setShadow(&I,
              mapLanes(B, {shadow(L)}, {T}, T, W,
                       [&](ArrayRef<Value *> Lane) { return Op(Lane[0]); }));
    return Error::success();
  };
  switch (I.getOpcode()) {
  case Instruction::Shl:
    if (C && C->urem(8) == 0)
      return OnLeft([&](Value *S) { return B.CreateShl(S, Rt); });
    break;
  case Instruction::LShr:
  case Instruction::AShr:
    if (C && C->urem(8) == 0)
      return OnLeft([&](Value *S) {
        return I.getOpcode() == Instruction::LShr ? B.CreateLShr(S, Rt)
                                                  : B.CreateAShr(S, Rt);
      });
    break;
  case Instruction::And:
    if (C && keepsWholeBytes(*C))
      return OnLeft([&](Value *S) { return B.CreateAnd(S, Rt); });
    if (C && Kinds.mayBeFloat() && *C == ~APInt::getSignMask(C->getBitWidth()))
      // |x| in disguise: the tangent changes sign with x.
      return OnLeft(
          [&](Value *S) { return B.CreateXor(S, B.CreateAnd(P, Sign)); });
    break;
  case Instruction::Xor:
    if (C && C->isSignMask() && Kinds.mayBeFloat())
      return OnLeft([&](Value *S) { return B.CreateXor(S, Sign); });
    break;
  case Instruction::Or:
    if (C && C->isSignMask() && Kinds.mayBeFloat())
      // -|x| in disguise.
      return OnLeft([&](Value *S) {
        return B.CreateXor(S, B.CreateXor(B.CreateAnd(P, Sign), Sign));
      });
    // Parts that do not overlap put together.
    if (cast<PossiblyDisjointInst>(I).isDisjoint() ||
        isActive(L) != isActive(Rt) || !Kinds.mayBeFloat())
      return EachLane([&](Value *A, Value *Bv) { return B.CreateOr(A, Bv); });
    break;
  case Instruction::Add:
  case Instruction::Sub:
    // Address arithmetic on integers.
    if (Kinds.mayBePtr() && !Kinds.mayBeFloat()) {
      SmallVector<Value *, 2> Moving;
      if (isActive(L))
        Moving.push_back(L);
      if (isActive(Rt) && L != Rt)
        Moving.push_back(Rt);
      setShadow(&I, perLane(I, Moving));
      return Error::success();
    }
    break;
  default:
    break;
  }
  if (Kinds.mayBePtr() && !Kinds.mayBeFloat() && isActive(L) != isActive(Rt)) {
    // Tag bits of a pointer: the same operation on the shadow's bits.
    setShadow(&I, perLane(I, {isActive(L) ? L : Rt}));
    return Error::success();
  }
  if (!Kinds.mayBeFloat() && !Kinds.mayBePtr() &&
      !ActivityAnalysis::becomesFloat(&I)) {
    setShadow(&I, constShadow(&I)); // an integer: mirrored
    return Error::success();
  }
  return diagnose(I, "cannot differentiate arithmetic on the bits of an active "
                     "floating-point value");
}
