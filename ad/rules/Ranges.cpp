// What the range of a value rules out.
#include "ad/rules/Ranges.h"
#include "ad/rules/ScalarRules.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownFPClass.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace adjoin;

static constexpr unsigned DepthLimit = 6;

/// Never below zero, NaN apart.
static bool isNotNegative(const Value *V, const DataLayout &DL,
                          unsigned Depth) {
  if (computeKnownFPClass(V, DL).cannotBeOrderedLessThanZero())
    return true;
  if (Depth == DepthLimit)
    return false;
  if (isPositive(V, DL, Depth + 1))
    return true;
  const auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return false;
  Value *L, *R;
  if (match(I, m_FAdd(m_Value(L), m_Value(R))) ||
      match(I, m_FDiv(m_Value(L), m_Value(R))) ||
      match(I, m_Select(m_Value(), m_Value(L), m_Value(R))))
    return isNotNegative(L, DL, Depth + 1) && isNotNegative(R, DL, Depth + 1);
  if (match(I, m_FMul(m_Value(L), m_Value(R))))
    return L == R ||
           (isNotNegative(L, DL, Depth + 1) && isNotNegative(R, DL, Depth + 1));
  if (const ScalarRule *Rule = scalarRuleFor(*I)) {
    StringRef Name = Rule->Name;
    if (Name == "exp" || Name == "exp2" || Name == "exp10" || Name == "sqrt" ||
        Name == "fabs" || Name == "hypot" || Name == "erfc" || Name == "acos")
      return true;
    if (Name == "fma") {
      Value *X = I->getOperand(0), *Y = I->getOperand(1);
      return (X == Y || (isNotNegative(X, DL, Depth + 1) &&
                         isNotNegative(Y, DL, Depth + 1))) &&
             isNotNegative(I->getOperand(2), DL, Depth + 1);
    }
    if (Name == "fmax")
      return isNotNegative(I->getOperand(0), DL, Depth + 1) ||
             isNotNegative(I->getOperand(1), DL, Depth + 1);
  }
  return false;
}

bool adjoin::isPositive(const Value *V, const DataLayout &DL, unsigned Depth) {
  const APFloat *C;
  if (match(V, m_APFloat(C)))
    return !C->isZero() && !C->isNegative();
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth == DepthLimit)
    return false;
  Value *L, *R;
  // A positive number plus one that is not negative. A product, a quotient or
  // an exponential can underflow to zero.
  if (match(I, m_FAdd(m_Value(L), m_Value(R))))
    return (isPositive(L, DL, Depth + 1) && isNotNegative(R, DL, Depth + 1)) ||
           (isPositive(R, DL, Depth + 1) && isNotNegative(L, DL, Depth + 1));
  if (match(I, m_Select(m_Value(), m_Value(L), m_Value(R))))
    return isPositive(L, DL, Depth + 1) && isPositive(R, DL, Depth + 1);
  if (match(I, m_FPExt(m_Value(L))))
    return isPositive(L, DL, Depth + 1);
  const ScalarRule *Rule = scalarRuleFor(*I);
  if (!Rule)
    return false;
  if (Rule->Name == "cosh")
    return true;
  if (Rule->Name == "sqrt" || Rule->Name == "fabs")
    return isPositive(I->getOperand(0), DL, Depth + 1);
  if (Rule->Name == "fmax") // where one is NaN it is the other
    return isPositive(I->getOperand(0), DL, Depth + 1) &&
           isPositive(I->getOperand(1), DL, Depth + 1);
  if (Rule->Name == "fma") {
    Value *X = I->getOperand(0), *Y = I->getOperand(1);
    return (X == Y || (isNotNegative(X, DL, Depth + 1) &&
                       isNotNegative(Y, DL, Depth + 1))) &&
           isPositive(I->getOperand(2), DL, Depth + 1);
  }
  return false;
}

static bool isNeverZero(const Value *V, const DataLayout &DL) {
  return isPositive(V, DL) || computeKnownFPClass(V, DL).isKnownNeverZero();
}

/// The relation holds for no value: \p V against the number \p X.
static bool neverRelated(RowNode::Kind K, const Value *V, const APFloat &X,
                         const DataLayout &DL) {
  const APFloat *C;
  if (match(V, m_APFloat(C))) {
    APFloat::cmpResult Order = C->compare(X);
    switch (K) {
    case RowNode::Eq:
      return Order != APFloat::cmpEqual;
    case RowNode::Ne:
      return Order == APFloat::cmpEqual;
    case RowNode::Lt:
      return Order != APFloat::cmpLessThan;
    case RowNode::Le:
      return Order == APFloat::cmpGreaterThan || Order == APFloat::cmpUnordered;
    case RowNode::Gt:
      return Order != APFloat::cmpGreaterThan;
    case RowNode::Ge:
      return Order == APFloat::cmpLessThan || Order == APFloat::cmpUnordered;
    default:
      return false;
    }
  }
  if (!X.isZero())
    return false;
  switch (K) {
  case RowNode::Eq:
    return isNeverZero(V, DL);
  case RowNode::Lt:
    return isNotNegative(V, DL, 0);
  default:
    return false;
  }
}

bool adjoin::provablyFalse(const RowFormula &F, const RowNode &N,
                           ArrayRef<Value *> Operands, const DataLayout &DL) {
  switch (N.K) {
  case RowNode::And:
    return provablyFalse(F, F.child(N, 0), Operands, DL) ||
           provablyFalse(F, F.child(N, 1), Operands, DL);
  case RowNode::Or:
    return provablyFalse(F, F.child(N, 0), Operands, DL) &&
           provablyFalse(F, F.child(N, 1), Operands, DL);
  case RowNode::Eq:
  case RowNode::Ne:
  case RowNode::Lt:
  case RowNode::Le:
  case RowNode::Gt:
  case RowNode::Ge: {
    const RowNode &L = F.child(N, 0), *R = &F.child(N, 1);
    bool Negative = R->K == RowNode::Neg;
    if (Negative)
      R = &F.child(*R, 0);
    if (L.K != RowNode::Param || R->K != RowNode::Number)
      return false;
    const Value *V = Operands[L.Index];
    if (!V->getType()->isFPOrFPVectorTy())
      return false;
    APFloat X(V->getType()->getScalarType()->getFltSemantics(), R->Text);
    if (Negative)
      X.changeSign();
    return neverRelated(N.K, V, X, DL);
  }
  default:
    return false;
  }
}
