// Transposed instructions: values in registers.
#include "ad/reverse/Adjoint.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace adjoin;

/// The partial that needs \p Needs may not be finite because \p I runs where
/// the source would not have run it: a branch that became a select.
bool AdjointEmitter::mayBeSpeculated(const Instruction &I,
                                     const PartialNeeds &Needs) const {
  if (!S.isOnlySelected(I))
    return false;
  if (isa<CallBase>(I) ? !isa<IntrinsicInst>(I) || Needs.Out
                       : I.getOpcode() == Instruction::FDiv ||
                             I.getOpcode() == Instruction::FRem)
    return true;
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
    if (Intrinsic->getIntrinsicID() != Intrinsic::fmuladd &&
        Intrinsic->getIntrinsicID() != Intrinsic::fma)
      return true;
  for (unsigned K = 0; K != I.getNumOperands(); ++K)
    if (Needs.Operands & (1u << K))
      if (auto *Op = dyn_cast<Instruction>(I.getOperand(K));
          Op && S.isOnlySelected(*Op))
        return true;
  return false;
}

void AdjointEmitter::transposeScalar(const Instruction &I,
                                     const ScalarRule &Rule) {
  Value *Adjoint = take(&I);
  auto *CB = dyn_cast<CallBase>(&I);
  unsigned Count = CB ? CB->arg_size() : I.getNumOperands();
  // What the plan does not have, no partial reads.
  SmallVector<Value *, 4> Operands;
  PartialNeeds Needs;
  auto Fill = [&](bool All) {
    Operands.clear();
    for (unsigned K = 0; K != Count; ++K) {
      Value *Op = I.getOperand(K);
      if (isa<Constant>(Op) || isa<MetadataAsValue>(Op))
        Operands.push_back(Op);
      else if (All && (Needs.Operands & (1u << K)))
        Operands.push_back(primal(Op));
      else
        Operands.push_back(PoisonValue::get(Op->getType()));
    }
  };
  Fill(false);
  {
    LinearMap Map(Rule, I, Operands, nullptr, W, S.R.StrongZero);
    for (unsigned K = 0; K != Rule.Operands; ++K)
      if (S.hasAdjoint(I.getOperand(K)) && !Map.isZero(K)) {
        PartialNeeds N = Map.needs(K);
        Needs.Operands |= N.Operands;
        Needs.Out |= N.Out;
      }
  }
  Fill(true);
  LinearMap Map(Rule, I, Operands, Needs.Out ? primal(&I) : nullptr, W,
                S.R.StrongZero);
  Adjoint = convert(Adjoint, formType(&I), I.getType());
  for (unsigned K = 0; K != Rule.Operands; ++K) {
    Value *Op = I.getOperand(K);
    if (!S.hasAdjoint(Op) || Map.isZero(K))
      continue;
    Value *Part = Map.pull(B, K, Adjoint);
    if (S.R.StrongZero && mayBeSpeculated(I, Map.needs(K))) {
      Value *Zero = Constant::getNullValue(Adjoint->getType());
      Part = B.CreateSelect(B.CreateFCmpUNE(Adjoint, Zero), Part,
                            Constant::getNullValue(Part->getType()));
    }
    give(Op, convert(Part, Op->getType(), formType(Op)));
  }
}

void AdjointEmitter::transposeSelect(const SelectInst &I) {
  Value *Adjoint = take(&I);
  Value *Condition = primal(I.getCondition());
  auto Part = [&](bool True) {
    return eachLane(Adjoint, formType(&I), I.getType(),
                    [&](Value *Lane) -> Value * {
                      Value *V = convertLane(Lane, I.getType());
                      Value *Zero = Constant::getNullValue(I.getType());
                      return True ? B.CreateSelect(Condition, V, Zero)
                                  : B.CreateSelect(Condition, Zero, V);
                    });
  };
  for (bool True : {true, false}) {
    const Value *Op = True ? I.getTrueValue() : I.getFalseValue();
    if (S.hasAdjoint(Op))
      give(Op, convert(Part(True), I.getType(), formType(Op)));
  }
}

void AdjointEmitter::transposeShuffle(const ShuffleVectorInst &I) {
  Value *Adjoint = take(&I);
  Type *T = I.getType();
  ArrayRef<int> Mask = I.getShuffleMask();
  for (unsigned Side : {0, 1}) {
    const Value *Op = I.getOperand(Side);
    if (!S.hasAdjoint(Op))
      continue;
    auto *OpT = cast<FixedVectorType>(Op->getType());
    int N = OpT->getNumElements();
    // Which elements of the result come from each element of the operand; one
    // shuffle a round puts one of them each in its place.
    SmallVector<SmallVector<int, 2>, 16> From(N);
    size_t Rounds = 0;
    for (auto [To, M] : enumerate(Mask)) {
      int Element = M - static_cast<int>(Side) * N;
      if (M < 0 || Element < 0 || Element >= N)
        continue;
      From[Element].push_back(static_cast<int>(To));
      Rounds = std::max(Rounds, From[Element].size());
    }
    if (Rounds == 0)
      continue;
    Value *Sum = eachLane(Adjoint, formType(&I), OpT, [&](Value *Lane) {
      Value *V = convertLane(Lane, T);
      bool Floats = T->isFPOrFPVectorTy();
      Value *Total = nullptr;
      for (size_t Round = 0; Round != Rounds; ++Round) {
        SmallVector<int, 16> Inverse;
        for (int E = 0; E != N; ++E)
          Inverse.push_back(Round < From[E].size()
                                ? From[E][Round]
                                : static_cast<int>(Mask.size()));
        Value *Part =
            B.CreateShuffleVector(V, Constant::getNullValue(T), Inverse);
        // Integers that carry floats are moved, each at most once.
        Total = !Total ? Part
                       : (Floats ? B.CreateFAdd(Total, Part)
                                 : B.CreateOr(Total, Part));
      }
      return Total;
    });
    give(Op, convert(Sum, OpT, formType(Op)));
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

/// Integer operations that move the bytes of floats, or that are a sign
/// operation in disguise. Anything else on active bits is an error.
Error AdjointEmitter::transposeBits(const Instruction &I) {
  Type *T = I.getType();
  Value *Op = I.getOperand(0);
  auto OnOperand = [&](function_ref<Value *(Value *)> F) {
    Value *Adjoint = take(&I);
    if (S.hasAdjoint(Op))
      give(Op, convert(eachLane(Adjoint, formType(&I), Op->getType(),
                                [&](Value *Lane) {
                                  return F(convertLane(Lane, T));
                                }),
                       Op->getType(), formType(Op)));
    return Error::success();
  };
  const APInt *C = nullptr;
  if (auto *Binary = dyn_cast<BinaryOperator>(&I))
    if (auto *Right = dyn_cast<Constant>(Binary->getOperand(1)))
      if (auto *CI = dyn_cast_or_null<ConstantInt>(
              T->isVectorTy() ? Right->getSplatValue() : Right))
        C = &CI->getValue();
  switch (I.getOpcode()) {
  case Instruction::Trunc:
    return OnOperand([&](Value *A) { return B.CreateZExt(A, Op->getType()); });
  case Instruction::ZExt:
  case Instruction::SExt:
    return OnOperand([&](Value *A) { return B.CreateTrunc(A, Op->getType()); });
  case Instruction::Shl:
    if (C && C->urem(8) == 0)
      return OnOperand(
          [&](Value *A) { return B.CreateLShr(A, I.getOperand(1)); });
    break;
  case Instruction::LShr:
  case Instruction::AShr:
    if (C && C->urem(8) == 0)
      return OnOperand(
          [&](Value *A) { return B.CreateShl(A, I.getOperand(1)); });
    break;
  case Instruction::And:
    if (C && keepsWholeBytes(*C))
      return OnOperand(
          [&](Value *A) { return B.CreateAnd(A, I.getOperand(1)); });
    break;
  case Instruction::Xor:
    if (C && C->isSignMask())
      return OnOperand(
          [&](Value *A) { return B.CreateXor(A, I.getOperand(1)); });
    break;
  case Instruction::Or: {
    bool Both = S.hasAdjoint(Op) && S.hasAdjoint(I.getOperand(1));
    if (Both && !cast<PossiblyDisjointInst>(I).isDisjoint())
      break;
    Value *Adjoint = take(&I);
    for (Value *Part : I.operands())
      if (S.hasAdjoint(Part))
        give(Part, convert(Adjoint, formType(&I), formType(Part)));
    return Error::success();
  }
  default:
    break;
  }
  return diagnose(I, "cannot differentiate arithmetic on the bits of an active "
                     "floating-point value");
}

Error AdjointEmitter::transpose(const Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    transposeStore(*Store);
    return Error::success();
  }
  if (auto *Alloca = dyn_cast<AllocaInst>(&I)) {
    transposeAlloca(*Alloca);
    return Error::success();
  }
  if (auto *CB = dyn_cast<CallBase>(&I))
    return transposeCall(*CB);
  if (auto *RMW = dyn_cast<AtomicRMWInst>(&I)) {
    if (S.isActive(RMW->getPointerOperand()) &&
        (RMW->getType()->isFPOrFPVectorTy() || S.isActive(RMW) ||
         S.isActive(RMW->getValOperand())))
      return diagnose(I, "cannot differentiate an atomic operation on active "
                         "data in reverse mode");
    return Error::success();
  }
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
    if (S.isActive(Exchange->getNewValOperand()) || S.isActive(Exchange))
      return diagnose(I, "cannot differentiate an atomic compare and exchange "
                         "of active data");
    return Error::success();
  }
  if (!S.hasAdjoint(&I))
    return Error::success(); // no derivative flows through this value
  if (const ScalarRule *Rule = scalarRuleFor(I)) {
    transposeScalar(I, *Rule);
    return Error::success();
  }
  const Value *First = I.getNumOperands() ? I.getOperand(0) : nullptr;
  switch (I.getOpcode()) {
  case Instruction::Load:
    transposeLoad(cast<LoadInst>(I));
    return Error::success();
  case Instruction::Select:
    transposeSelect(cast<SelectInst>(I));
    return Error::success();
  case Instruction::Freeze:
  case Instruction::BitCast: {
    Value *Adjoint = take(&I);
    if (S.hasAdjoint(First))
      give(First, convert(Adjoint, formType(&I), formType(First)));
    return Error::success();
  }
  case Instruction::ExtractElement: {
    Value *Index = primal(I.getOperand(1));
    Value *Adjoint = take(&I);
    Type *T = First->getType();
    give(First, convert(eachLane(Adjoint, formType(&I), T,
                                 [&](Value *Lane) {
                                   return B.CreateInsertElement(
                                       Constant::getNullValue(T),
                                       convertLane(Lane, I.getType()), Index);
                                 }),
                        T, formType(First)));
    return Error::success();
  }
  case Instruction::InsertElement: {
    Value *Index = primal(I.getOperand(2));
    Value *Adjoint = convert(take(&I), formType(&I), I.getType());
    const Value *Element = I.getOperand(1);
    Type *T = I.getType(), *ET = Element->getType();
    if (S.hasAdjoint(Element))
      give(Element, convert(eachLane(Adjoint, T, ET,
                                     [&](Value *Lane) {
                                       return B.CreateExtractElement(Lane,
                                                                     Index);
                                     }),
                            ET, formType(Element)));
    if (S.hasAdjoint(First))
      give(First, convert(eachLane(Adjoint, T, T,
                                   [&](Value *Lane) {
                                     return B.CreateInsertElement(
                                         Lane, Constant::getNullValue(ET),
                                         Index);
                                   }),
                          T, formType(First)));
    return Error::success();
  }
  case Instruction::ShuffleVector:
    transposeShuffle(cast<ShuffleVectorInst>(I));
    return Error::success();
  case Instruction::ExtractValue: {
    Value *Adjoint = take(&I);
    if (!S.hasAdjoint(First))
      return Error::success();
    ArrayRef<unsigned> At = cast<ExtractValueInst>(I).getIndices();
    Type *Member = ExtractValueInst::getIndexedType(formType(First), At);
    Value *Zero = Constant::getNullValue(shadowType(formType(First), W));
    give(First,
         B.CreateInsertValue(Zero, convert(Adjoint, formType(&I), Member), At));
    return Error::success();
  }
  case Instruction::InsertValue: {
    Value *Adjoint = take(&I);
    ArrayRef<unsigned> At = cast<InsertValueInst>(I).getIndices();
    const Value *Inserted = I.getOperand(1);
    Type *Member = ExtractValueInst::getIndexedType(formType(&I), At);
    if (S.hasAdjoint(Inserted))
      give(Inserted, convert(B.CreateExtractValue(Adjoint, At), Member,
                             formType(Inserted)));
    if (S.hasAdjoint(First)) {
      Value *Rest = B.CreateInsertValue(
          Adjoint, Constant::getNullValue(shadowType(Member, W)), At);
      give(First, convert(Rest, formType(&I), formType(First)));
    }
    return Error::success();
  }
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return transposeBits(I);
  default:
    return diagnose(I, Twine("cannot differentiate the instruction '") +
                           I.getOpcodeName() +
                           "' on an active value in reverse mode");
  }
}
