// Calls of <math.h> in one form.
#include "ad/prepare/MathCalls.h"
#include "ad/rules/RuleBook.h"
#include "ad/rules/ScalarRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace adjoin;

/// The intrinsic that computes what the libm function \p Base does.
static Intrinsic::ID intrinsicFor(StringRef Base) {
  return StringSwitch<Intrinsic::ID>(Base)
      .Case("fmax", Intrinsic::maxnum)
      .Case("fmin", Intrinsic::minnum)
      .Default(Intrinsic::lookupIntrinsicID(("llvm." + Base).str()));
}

/// Replaces \p Call by the intrinsic, if there is one.
static bool replaceByIntrinsic(CallBase &Call) {
  Type *T = Call.getType();
  if (!T->isFloatingPointTy() || !isa<CallInst>(Call) ||
      any_of(Call.args(), [&](Value *V) { return V->getType() != T; }))
    return false;
  Intrinsic::ID ID =
      intrinsicFor(libmBaseName(Call.getCalledFunction()->getName(), T));
  if (ID == Intrinsic::not_intrinsic)
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

/// Replaces a call that stores some of its results (sincos, frexp, modf) by the
/// intrinsic that returns them all, and stores: they can then be values.
static bool returnAllResults(CallBase &Call, const MultiRule &Rule) {
  Type *T = Call.getArgOperand(0)->getType();
  Intrinsic::ID ID = StringSwitch<Intrinsic::ID>(Rule.Name)
                         .Case("sincos", Intrinsic::sincos)
                         .Case("frexp", Intrinsic::frexp)
                         .Case("modf", Intrinsic::modf)
                         .Default(Intrinsic::not_intrinsic);
  if (ID == Intrinsic::not_intrinsic || !isa<CallInst>(Call))
    return false;
  IRBuilder<> B(&Call);
  SmallVector<Type *, 2> Types{T};
  if (ID == Intrinsic::frexp)
    Types.push_back(B.getInt32Ty());
  CallInst *New = B.CreateIntrinsic(ID, Types, {Call.getArgOperand(0)});
  if (isa<FPMathOperator>(Call) && isa<FPMathOperator>(New))
    New->copyFastMathFlags(&Call);
  Value *Returned = nullptr;
  for (auto [K, Result] : enumerate(Rule.Results)) {
    Value *Part = B.CreateExtractValue(New, K);
    if (int Ptr = MultiRule::pointerOperand(Result); Ptr >= 0)
      B.CreateStore(Part, Call.getArgOperand(Ptr));
    else
      Returned = Part;
  }
  if (Returned)
    Call.replaceAllUsesWith(Returned);
  Call.eraseFromParent();
  return true;
}

/// A function that computes integers from its arguments alone.
static bool isInteger(StringRef Name) {
  static constexpr StringLiteral Names[] = {"ilogb", "llrint", "llround",
                                            "lrint", "lround", "llogb"};
  Name.consume_back("f128") || Name.consume_back("f") || Name.consume_back("l");
  return is_contained(Names, Name);
}

bool adjoin::purifyMathCalls(Function &F, const RuleBook &Rules) {
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
          Rules.isRegistered(*Callee))
        continue;
      const ScalarRule *Rule = scalarRuleFor(*Callee);
      const MultiRule *Several = multiRuleFor(*Callee);
      bool Integer = isInteger(Callee->getName());
      // lgamma writes signgam.
      if ((!Rule && !Several && !Integer) || (Rule && Rule->Name == "lgamma"))
        continue;
      Changed = true;
      if (Several ? returnAllResults(*Call, *Several)
                  : replaceByIntrinsic(*Call))
        continue;
      Call->setMetadata(LLVMContext::MD_tbaa, nullptr);
      Call->setMemoryEffects(Several
                                 ? MemoryEffects::argMemOnly(ModRefInfo::Mod)
                                 : MemoryEffects::none());
      Call->setDoesNotThrow();
      Call->addFnAttr(Attribute::WillReturn);
    }
  return Changed;
}
