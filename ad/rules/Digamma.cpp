// The digamma function as straight-line IR: reflection, recurrence and the
// asymptotic series (Abramowitz and Stegun, 6.3.7, 6.3.5, 6.3.18).
#include "ad/rules/Digamma.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace adjoin;

namespace {

/// B(2k) / (2k), k = 1, 2, …, as quotients.
struct Quotient {
  StringLiteral Over, Under;
};
constexpr Quotient Series[] = {
    {"1", "12"},         {"-1", "120"},      {"1", "252"},
    {"-1", "240"},       {"1", "132"},       {"-691", "32760"},
    {"1", "12"},         {"-3617", "8160"},  {"43867", "14364"},
    {"-174611", "6600"}, {"854513", "3036"}, {"-236364091", "65520"},
    {"8553103", "156"}};

struct Accuracy {
  unsigned Shift; ///< the argument is raised by this much
  unsigned Terms; ///< of the series
};

/// The first term left out is below half a unit in the last place at 0.5.
Accuracy accuracyFor(unsigned Precision) {
  if (Precision <= 24)
    return {6, 4};
  if (Precision <= 53)
    return {10, 8};
  if (Precision <= 64)
    return {14, 9};
  return {28, 13};
}

} // namespace

Function *adjoin::digammaFunction(Module &M, Type *T) {
  std::string Suffix;
  raw_string_ostream(Suffix) << *T;
  std::string Name = "adjoin.digamma." + Suffix;
  if (Function *F = M.getFunction(Name))
    return F;
  Function *F = Function::Create(FunctionType::get(T, {T}, /*isVarArg=*/false),
                                 GlobalValue::InternalLinkage, Name, M);
  F->setDoesNotAccessMemory();
  F->setDoesNotThrow();
  F->addFnAttr(Attribute::WillReturn);
  F->addFnAttr(Attribute::NoFree);
  F->addFnAttr(Attribute::NoSync);
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "", F));
  auto Number = [&](StringRef Digits) { return ConstantFP::get(T, Digits); };
  Accuracy A = accuracyFor(APFloat::semanticsPrecision(T->getFltSemantics()));

  // Below 1/2: psi(x) = psi(1 - x) - pi / tan(pi x).
  Value *X = F->getArg(0);
  X->setName("x");
  Value *Reflect = B.CreateFCmpOLT(X, Number("0.5"), "reflect");
  Value *Z = B.CreateSelect(Reflect, B.CreateFSub(Number("1"), X), X, "z");

  // psi(z) = psi(z + n) - sum of 1 / (z + k).
  Value *Sum = nullptr;
  for (unsigned K = 0; K != A.Shift; ++K) {
    Value *Term = B.CreateFDiv(
        Number("1"), K == 0 ? Z : B.CreateFAdd(Z, Number(std::to_string(K))));
    Sum = Sum ? B.CreateFAdd(Sum, Term) : Term;
  }
  Value *W = B.CreateFAdd(Z, Number(std::to_string(A.Shift)), "w");

  // psi(w) ~ log w - 1/(2w) - sum of B(2k) / (2k w^(2k)).
  Value *Inverse = B.CreateFDiv(Number("1"), W);
  Value *Square = B.CreateFMul(Inverse, Inverse);
  Value *Tail = nullptr;
  for (unsigned K = A.Terms; K-- != 0;) {
    Value *C = B.CreateFDiv(Number(Series[K].Over), Number(Series[K].Under));
    Tail = Tail ? B.CreateFAdd(B.CreateFMul(Tail, Square), C) : C;
  }
  Tail = B.CreateFMul(Tail, Square);
  Value *Log = B.CreateUnaryIntrinsic(Intrinsic::log, W);
  Value *Psi = B.CreateFSub(
      B.CreateFSub(B.CreateFSub(Log, B.CreateFMul(Number("0.5"), Inverse)),
                   Tail),
      Sum);

  // tan has the period pi: only the fraction of x matters.
  Value *Fraction = B.CreateFSub(X, B.CreateUnaryIntrinsic(Intrinsic::rint, X));
  Value *Pi = Number("3.14159265358979323846264338327950288");
  Value *Tangent =
      B.CreateUnaryIntrinsic(Intrinsic::tan, B.CreateFMul(Pi, Fraction));
  Value *Mirror = B.CreateFSub(Psi, B.CreateFDiv(Pi, Tangent));
  B.CreateRet(B.CreateSelect(Reflect, Mirror, Psi));
  return F;
}
