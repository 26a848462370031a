// The differentiator as a whole: what optimise() leaves of derived code, and
// that finish() leaves nothing else.
#include "ad/Differentiator.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace adjoin;

namespace {

struct Link {
  LLVMContext Ctx;
  std::unique_ptr<Module> M;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PassBuilder PB;
  RuleBook Rules;
  std::unique_ptr<Pipelines> Pipes;
  std::unique_ptr<Differentiator> D;

  explicit Link(StringRef IR) {
    SMDiagnostic Error;
    M = parseAssemblyString(IR, Error, Ctx);
    if (!M) {
      Error.print("test", errs());
      abort();
    }
    PB.registerModuleAnalyses(MAM);
    PB.registerCGSCCAnalyses(CGAM);
    PB.registerFunctionAnalyses(FAM);
    PB.registerLoopAnalyses(LAM);
    PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
    Pipes = std::make_unique<Pipelines>(PB, MAM, *M);
    D = std::make_unique<Differentiator>(*M, Rules, *Pipes);
  }

  /// The forward derivative of a function of floats: all arguments active.
  Expected<Derivative> forward(StringRef Name) {
    Request R;
    R.Primal = M->getFunction(Name);
    R.Args.assign(R.Primal->arg_size(), ShadowState::Known);
    R.ReturnActive = true;
    return D->forward(R);
  }

  /// A function of the program that calls the derivative.
  Function *body(Derivative Of) {
    Function *F = Function::Create(Of.Fn->getFunctionType(),
                                   GlobalValue::ExternalLinkage, "body", *M);
    IRBuilder<> B(BasicBlock::Create(Ctx, "", F));
    SmallVector<Value *, 4> Args;
    for (Argument &A : F->args())
      Args.push_back(&A);
    CallInst *Call = B.CreateCall(Of.Fn, Args);
    if (F->getReturnType()->isVoidTy())
      B.CreateRetVoid();
    else
      B.CreateRet(Call);
    return F;
  }

  /// The gradient of a function of floats, as a request's body: both sweeps.
  Function *gradient(StringRef Name) {
    Request R;
    R.Primal = M->getFunction(Name);
    R.M = Mode::Reverse;
    R.Args.assign(R.Primal->arg_size(), ShadowState::Known);
    R.ReturnActive = true;
    ReversePair Pair = cantFail(D->reverse(R));
    Function *F = Function::Create(
        FunctionType::get(Pair.Rev->getReturnType(),
                          R.Primal->getFunctionType()->params(), false),
        GlobalValue::ExternalLinkage, "body", *M);
    IRBuilder<> B(BasicBlock::Create(Ctx, "", F));
    Value *Context = B.CreateAlloca(B.getInt64Ty(), B.getInt64(16));
    SmallVector<Value *, 4> Args;
    for (Argument &A : F->args())
      Args.push_back(&A);
    B.CreateCall(D->runtime("adjoin_rt_init"), {Context, B.getInt64(1)});
    SmallVector<Value *, 4> Up(Args), Down(Args);
    Up.push_back(Context);
    B.CreateCall(Pair.Aug, Up);
    Down.push_back(ConstantFP::get(B.getDoubleTy(), 1.0));
    Down.push_back(Context);
    Value *Adjoints = B.CreateCall(Pair.Rev, Down);
    B.CreateCall(D->runtime("adjoin_rt_finish"), {Context});
    B.CreateRet(Adjoints);
    return F;
  }

  std::string text() const {
    std::string S;
    raw_string_ostream(S) << *M;
    return S;
  }
};

std::multiset<std::string> calls(const Function *F) {
  std::multiset<std::string> Names;
  for (const Instruction &I : instructions(*F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      Names.insert(Call->getCalledFunction()
                       ? Call->getCalledFunction()->getName().str()
                       : "?");
  return Names;
}

/// f(x) = exp(x) / sqrt(sin(x)^3 + cos(x)^3), as clang writes it at -O0.
const char *const Quotient = R"(
  declare double @exp(double)
  declare double @sqrt(double)
  declare double @sin(double)
  declare double @cos(double)
  define double @cube(double %x) noinline optnone {
    %a = alloca double
    store double %x, ptr %a
    %1 = load double, ptr %a
    %2 = load double, ptr %a
    %3 = load double, ptr %a
    %4 = fmul double %1, %2
    %5 = fmul double %4, %3
    ret double %5
  }
  define double @f(double %x) noinline optnone {
    %a = alloca double
    store double %x, ptr %a
    %1 = load double, ptr %a
    %e = call double @exp(double %1)
    %2 = load double, ptr %a
    %s = call double @sin(double %2)
    %s3 = call double @cube(double %s)
    %3 = load double, ptr %a
    %c = call double @cos(double %3)
    %c3 = call double @cube(double %c)
    %t = fadd double %s3, %c3
    %q = call double @sqrt(double %t)
    %r = fdiv double %e, %q
    ret double %r
  })";

TEST(Differentiator, TheDerivativeOfAScalarFunctionCallsLibmOnly) {
  Link L(Quotient);
  Derivative Df = cantFail(L.forward("f"));
  Function *Body = L.body(Df);
  L.D->optimise(Body);
  L.D->finish();
  EXPECT_FALSE(verifyModule(*L.M, &errs()));
  EXPECT_EQ(calls(Body),
            (std::multiset<std::string>{"llvm.exp.f64", "llvm.sin.f64",
                                        "llvm.cos.f64", "llvm.sqrt.f64"}))
      << L.text();
  // Nothing is left but the program and the body.
  unsigned Defined = 0;
  for (Function &F : *L.M)
    Defined += !F.isDeclaration();
  EXPECT_EQ(Defined, 3U) << L.text();
}

TEST(Differentiator, AGradientWithoutLoopsNeedsNoTape) {
  Link L(Quotient);
  Function *Body = L.gradient("f");
  L.D->optimise(Body);
  L.D->finish();
  EXPECT_FALSE(verifyModule(*L.M, &errs()));
  EXPECT_EQ(calls(Body),
            (std::multiset<std::string>{"llvm.exp.f64", "llvm.sin.f64",
                                        "llvm.cos.f64", "llvm.sqrt.f64"}))
      << L.text();
  for (Instruction &I : instructions(*Body))
    EXPECT_FALSE(I.mayReadOrWriteMemory()) << L.text();
}

TEST(Differentiator, WhatNobodyCallsGoesWithoutATrace) {
  Link L(Quotient);
  std::string Was = L.text();
  cantFail(L.forward("f").takeError());
  L.D->runtime("adjoin_rt_push");
  L.D->optimise({});
  L.D->finish();
  EXPECT_EQ(L.text(), Was);
}

TEST(Differentiator, ADerivativeThatFailsGoesWithoutATraceToo) {
  Link L(R"(
    declare double @unknown(double)
    define double @g(double %x) noinline {
      %y = call double @unknown(double %x)
      ret double %y
    }
    define double @f(double %x) {
      %y = call double @g(double %x)
      ret double %y
    })");
  std::string Was = L.text();
  std::string Why = toString(L.forward("f").takeError());
  EXPECT_NE(Why.find("'unknown'"), std::string::npos) << Why;
  L.D->optimise({});
  EXPECT_FALSE(verifyModule(*L.M, &errs()));
  L.D->finish();
  EXPECT_EQ(L.text(), Was);
}

/// Why the derivative of a function in each mode is refused; empty when it is
/// not.
static std::vector<std::string> refusals(StringRef IR) {
  std::vector<std::string> Result;
  for (Mode M : {Mode::Forward, Mode::Reverse}) {
    Link L(IR);
    Request R;
    R.Primal = L.M->getFunction("f");
    R.M = M;
    R.Args.assign(R.Primal->arg_size(), ShadowState::Known);
    R.ReturnActive = true;
    Result.push_back(M == Mode::Forward
                         ? toString(L.D->forward(R).takeError())
                         : toString(L.D->reverse(R).takeError()));
  }
  return Result;
}

TEST(Differentiator, ArithmeticOnBitsThatOnlyItReadsIsRefused) {
  // Nothing but the arithmetic says what the memory holds.
  for (const char *IR : {R"(
    define double @f(ptr %p) {
      %i = load i64, ptr %p
      %m = mul i64 %i, 3
      %d = bitcast i64 %m to double
      ret double %d
    })",
                         R"(
    define double @f(ptr %p) {
      %i = load i64, ptr %p
      %half = lshr i64 %i, 1
      %s = sub i64 6910469410427058089, %half
      %d = bitcast i64 %s to double
      ret double %d
    })",
                         R"(
    define i32 @scale(i32 %i) noinline {
      %m = add i32 %i, 8388608
      ret i32 %m
    }
    define float @f(ptr %p) {
      %i = load i32, ptr %p
      %m = call i32 @scale(i32 %i)
      %d = bitcast i32 %m to float
      ret float %d
    })"})
    for (const std::string &Why : refusals(IR))
      EXPECT_NE(Why.find("arithmetic on the bits"), std::string::npos)
          << Why << IR;
}

TEST(Differentiator, BitsOfIntegersThatAreStoredTooAreConstant) {
  // A random number generator, its state beside active memory.
  for (const std::string &Why : refusals(R"(
    define double @f(ptr %p) {
      %s = load i64, ptr %p
      %a = shl i64 %s, 13
      %b = xor i64 %a, %s
      %c = lshr i64 %b, 7
      %d = xor i64 %b, %c
      store i64 %d, ptr %p
      %e = lshr i64 %d, 12
      %g = or i64 %e, 4607182418800017408
      %u = bitcast i64 %g to double
      %q = getelementptr i8, ptr %p, i64 8
      %x = load double, ptr %q
      %r = fmul double %x, %u
      ret double %r
    })"))
    EXPECT_EQ(Why, "");
}

TEST(Differentiator, RecursiveDerivativesAreKeptAndVerify) {
  Link L(R"(
    define double @power(double %x, double %n) {
      %done = fcmp olt double %n, 1.0
      br i1 %done, label %one, label %more
    one:
      ret double 1.0
    more:
      %m = fsub double %n, 1.0
      %h = call double @power(double %x, double %m)
      %p = call double @power(double %h, double %m)
      %s = fmul double %h, %p
      ret double %s
    })");
  Function *Body = L.body(cantFail(L.forward("power")));
  L.D->optimise(Body);
  L.D->finish();
  EXPECT_FALSE(verifyModule(*L.M, &errs()));
  for (Function &F : *L.M)
    EXPECT_FALSE(F.getName().ends_with(".adjoin.copy")) << L.text();
}

} // namespace
