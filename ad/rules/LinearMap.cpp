// Linear maps of single operations: a partial times what comes in.
#include "ad/rules/ParsedRow.h"
#include "ad/rules/Ranges.h"
#include "ad/rules/RowEmitter.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace adjoin;

FastMathFlags adjoin::derivativeFlags(const Instruction &Primal) {
  FastMathFlags Flags;
  if (const auto *FP = dyn_cast<FPMathOperator>(&Primal))
    Flags = FP->getFastMathFlags();
  // A primal without infinities can have an infinite partial.
  Flags.setNoNaNs(false);
  Flags.setNoInfs(false);
  return Flags;
}

Value *adjoin::addTangents(IRBuilder<> &B, Value *L, Value *R,
                           FastMathFlags FMF) {
  if (!L || !R)
    return L ? L : R;
  IRBuilder<>::FastMathFlagGuard Guard(B);
  FMF.setNoNaNs(false);
  FMF.setNoInfs(false);
  B.setFastMathFlags(FMF);
  return B.CreateFAdd(L, R);
}

LinearMap::LinearMap(const ScalarRule &Rule, const Instruction &Primal,
                     ArrayRef<Value *> Operands, Value *Out, unsigned Width,
                     bool StrongZero)
    : Row(parsedRow(Rule)), Primal(Primal), ResultType(Primal.getType()),
      Operands(Operands), Outs{Out}, Width(Width), StrongZero(StrongZero) {}

LinearMap::LinearMap(const MultiRule &Rule, unsigned Result,
                     const Instruction &Primal, ArrayRef<Value *> Operands,
                     ArrayRef<Value *> Outs, unsigned Width, bool StrongZero)
    : Row(parsedRow(Rule, Result)), Primal(Primal),
      ResultType(Primal.getOperand(0)->getType()), Operands(Operands),
      Outs(Outs), Width(Width), StrongZero(StrongZero) {}

bool LinearMap::isZero(unsigned I) const {
  return !Row.Partial[I] || Row.Partial[I]->is("0");
}

PartialNeeds LinearMap::needs(unsigned I) const {
  PartialNeeds Needs;
  if (isZero(I))
    return Needs;
  for (const RowNode &N : Row.Partial[I]->nodes()) {
    if (N.K == RowNode::Param)
      Needs.Operands |= 1U << N.Index;
    if (N.K == RowNode::Out)
      Needs.Outs |= 1U << N.Index;
  }
  Needs.Out = (Needs.Outs & 1) != 0;
  return Needs;
}

namespace {

/// The builder's floating-point mode while derivative operations of one primal
/// operation are written.
class ModeGuard {
public:
  ModeGuard(IRBuilder<> &B, const Instruction &Primal)
      : Flags(B), B(B), Constrained(B.getIsFPConstrained()),
        Except(B.getDefaultConstrainedExcept()),
        Rounding(B.getDefaultConstrainedRounding()) {
    B.setFastMathFlags(derivativeFlags(Primal));
    const auto *CFP = dyn_cast<ConstrainedFPIntrinsic>(&Primal);
    bool Strict =
        CFP ||
        (B.GetInsertBlock()->getParent() &&
         B.GetInsertBlock()->getParent()->hasFnAttribute(Attribute::StrictFP));
    B.setIsFPConstrained(Strict);
    if (!Strict)
      return;
    // The flags that derivative operations raise are nobody's business.
    B.setDefaultConstrainedExcept(fp::ebIgnore);
    std::optional<RoundingMode> Mode;
    if (CFP)
      Mode = CFP->getRoundingMode();
    B.setDefaultConstrainedRounding(Mode.value_or(RoundingMode::Dynamic));
  }
  ~ModeGuard() {
    B.setIsFPConstrained(Constrained);
    B.setDefaultConstrainedExcept(Except);
    B.setDefaultConstrainedRounding(Rounding);
  }

private:
  IRBuilder<>::FastMathFlagGuard Flags;
  IRBuilder<> &B;
  bool Constrained;
  fp::ExceptionBehavior Except;
  RoundingMode Rounding;
};

} // namespace

static bool isUnit(const RowFormula &F, const RowNode &N) {
  if (N.K == RowNode::Neg)
    return isUnit(F, F.child(N, 0));
  return N.K == RowNode::Number && (N.Text == "0" || N.Text == "1");
}

namespace {

/// Emits partial times incoming.
class Application {
public:
  Application(IRBuilder<> &B, RowEmitter &Emit, const RowFormula &F,
              Value *Incoming, unsigned Width)
      : B(B), Emit(Emit), F(F), Incoming(Incoming), Width(Width) {}

  Value *run(const RowNode &N) {
    // A choice between constants chooses what comes in, without a product.
    if (N.K == RowNode::Choose &&
        (isUnit(F, F.child(N, 1)) || isUnit(F, F.child(N, 2)))) {
      Value *Condition = Emit.truth(F, F.child(N, 0));
      if (std::optional<bool> Known = constantTruth(Condition))
        return run(F.child(N, *Known ? 1 : 2));
      Value *L = run(F.child(N, 1)), *R = run(F.child(N, 2));
      if (Condition->getType()->isVectorTy() ||
          !Incoming->getType()->isVectorTy())
        Condition = tile(B, Condition, Width);
      return B.CreateSelect(Condition, L, R);
    }
    Value *Partial = Emit.real(F, N);
    if (isNumber(Partial, 0))
      return Constant::getNullValue(Incoming->getType());
    if (isNumber(Partial, 1))
      return Incoming;
    if (isNumber(Partial, -1))
      return B.CreateFNeg(Incoming);
    return B.CreateFMul(Incoming, tile(B, Partial, Width));
  }

private:
  IRBuilder<> &B;
  RowEmitter &Emit;
  const RowFormula &F;
  Value *Incoming;
  unsigned Width;
};

} // namespace

Value *LinearMap::apply(IRBuilder<> &B, unsigned I, Value *Incoming) const {
  if (isZero(I))
    return Constant::getNullValue(Incoming->getType());
  ModeGuard Mode(B, Primal);
  const RowFormula &F = *Row.Partial[I];
  RowEmitter Emit(B, ResultType, Row.Params, Operands, Outs);
  Value *Result = Application(B, Emit, F, Incoming, Width).run(F.root());
  if (!StrongZero || !Row.Singular[I] || Result == Incoming ||
      isa<Constant>(Result) ||
      provablyFalse(*Row.Singular[I], Row.Singular[I]->root(), Operands,
                    Primal.getDataLayout()))
    return Result;
  Value *Zero = Constant::getNullValue(Incoming->getType());
  return B.CreateSelect(B.CreateFCmpOEQ(Incoming, Zero), Zero, Result);
}

/// Changes the precision of a tangent, keeping its lanes.
static Value *convert(IRBuilder<> &B, Value *V, Type *Primal) {
  return B.CreateFPCast(V,
                        V->getType()->getWithNewType(Primal->getScalarType()));
}

Value *LinearMap::push(IRBuilder<> &B, unsigned I, Value *Incoming) const {
  Type *From = Primal.getOperand(I)->getType();
  if (From != ResultType) {
    ModeGuard Mode(B, Primal);
    Incoming = convert(B, Incoming, ResultType);
  }
  return apply(B, I, Incoming);
}

Value *LinearMap::pull(IRBuilder<> &B, unsigned I, Value *Incoming) const {
  Value *Result = apply(B, I, Incoming);
  Type *To = Primal.getOperand(I)->getType();
  if (To != ResultType) {
    ModeGuard Mode(B, Primal);
    Result = convert(B, Result, To);
  }
  return Result;
}
