// Calls of <math.h> in one form.
#include "ad/prepare/MathCalls.h"
#include "ad/rules/ScalarRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace adjoin;

/// The functions of <math.h> that compute from their arguments alone. lgamma
/// is not one of them: it writes signgam.
static bool isMathName(StringRef Name) {
  static const StringLiteral Names[] = {
      "acos",   "acosh",    "acospi",    "asin",      "asinh",   "asinpi",
      "atan",   "atan2",    "atan2pi",   "atanh",     "atanpi",  "cbrt",
      "ceil",   "copysign", "cos",       "cosh",      "cospi",   "drem",
      "erf",    "erfc",     "exp",       "exp10",     "exp2",    "expm1",
      "fabs",   "fdim",     "floor",     "fma",       "fmax",    "fmaximum",
      "fmin",   "fminimum", "fmod",      "frexp",     "hypot",   "ilogb",
      "j0",     "j1",       "jn",        "ldexp",     "llrint",  "llround",
      "log",    "log10",    "log1p",     "log2",      "logb",    "lrint",
      "lround", "modf",     "nearbyint", "nextafter", "pow",     "remainder",
      "remquo", "rint",     "round",     "roundeven", "scalbln", "scalbn",
      "sin",    "sincos",   "sinh",      "sinpi",     "sqrt",    "tan",
      "tanh",   "tanpi",    "tgamma",    "trunc",     "y0",      "y1",
      "yn"};
  auto Holds = [](StringRef N) {
    return std::binary_search(std::begin(Names), std::end(Names), N);
  };
  if (Holds(Name))
    return true;
  if (Name.consume_back("f128") || Name.consume_back("f") ||
      Name.consume_back("l"))
    return Holds(Name);
  return false;
}

/// The intrinsic that computes what the libm function \p Name does on \p T.
static Intrinsic::ID intrinsicFor(StringRef Name, const Type *T) {
  return StringSwitch<Intrinsic::ID>(libmBaseName(Name, T))
      .Case("acos", Intrinsic::acos)
      .Case("asin", Intrinsic::asin)
      .Case("atan", Intrinsic::atan)
      .Case("atan2", Intrinsic::atan2)
      .Case("ceil", Intrinsic::ceil)
      .Case("copysign", Intrinsic::copysign)
      .Case("cos", Intrinsic::cos)
      .Case("cosh", Intrinsic::cosh)
      .Case("exp", Intrinsic::exp)
      .Case("exp10", Intrinsic::exp10)
      .Case("exp2", Intrinsic::exp2)
      .Case("fabs", Intrinsic::fabs)
      .Case("floor", Intrinsic::floor)
      .Case("fma", Intrinsic::fma)
      .Case("fmax", Intrinsic::maxnum)
      .Case("fmin", Intrinsic::minnum)
      .Case("log", Intrinsic::log)
      .Case("log10", Intrinsic::log10)
      .Case("log2", Intrinsic::log2)
      .Case("nearbyint", Intrinsic::nearbyint)
      .Case("pow", Intrinsic::pow)
      .Case("rint", Intrinsic::rint)
      .Case("round", Intrinsic::round)
      .Case("roundeven", Intrinsic::roundeven)
      .Case("sin", Intrinsic::sin)
      .Case("sinh", Intrinsic::sinh)
      .Case("sqrt", Intrinsic::sqrt)
      .Case("tan", Intrinsic::tan)
      .Case("tanh", Intrinsic::tanh)
      .Case("trunc", Intrinsic::trunc)
      .Default(Intrinsic::not_intrinsic);
}

/// Replaces \p Call by the intrinsic, if there is one.
static bool replaceByIntrinsic(CallBase &Call) {
  Type *T = Call.getType();
  if (!T->isFloatingPointTy())
    return false;
  Intrinsic::ID ID = intrinsicFor(Call.getCalledFunction()->getName(), T);
  if (ID == Intrinsic::not_intrinsic || !isa<CallInst>(Call) ||
      any_of(Call.args(), [&](Value *V) { return V->getType() != T; }))
    return false;
  IRBuilder<> B(&Call);
  SmallVector<Value *, 3> Arguments(Call.args());
  CallInst *New = B.CreateIntrinsic(ID, {T}, Arguments);
  New->copyFastMathFlags(&Call);
  New->takeName(&Call);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
  return true;
}

bool adjoin::purifyMathCalls(Function &F) {
  if (F.hasFnAttribute(Attribute::StrictFP))
    return false;
  bool Changed = false;
  for (BasicBlock &BB : F)
    for (Instruction &I : make_early_inc_range(BB)) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || Call->isStrictFP() || Call->hasOperandBundles())
        continue;
      const Function *Callee = Call->getCalledFunction();
      if (!Callee || !Callee->isDeclaration() || Callee->isIntrinsic() ||
          Callee->isVarArg() || !isMathName(Callee->getName()))
        continue;
      bool Floats = false, Pointers = false, Others = false;
      auto Count = [&](Type *T) {
        if (T->isFloatingPointTy())
          Floats = true;
        else if (T->isPointerTy())
          Pointers = true;
        else if (!T->isIntegerTy() && !T->isVoidTy())
          Others = true;
      };
      Count(Callee->getReturnType());
      for (Type *T : Callee->getFunctionType()->params())
        Count(T);
      if (!Floats || Others)
        continue;
      Changed = true;
      if (replaceByIntrinsic(*Call))
        continue;
      Call->setMetadata(LLVMContext::MD_tbaa, nullptr);
      Call->setMemoryEffects(Pointers
                                 ? MemoryEffects::argMemOnly(ModRefInfo::Mod)
                                 : MemoryEffects::none());
      Call->setDoesNotThrow();
      Call->addFnAttr(Attribute::WillReturn);
    }
  return Changed;
}
