// Working copies: what is copied, in which form it is frozen, and that the
// program is as it was when they are gone.
#include "ad/prepare/WorkingCopies.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace adjoin;

namespace {

/// A module with everything that a plugin would have at hand.
struct Program {
  LLVMContext Ctx;
  std::unique_ptr<Module> M;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PassBuilder PB;
  RuleBook Rules;
  std::unique_ptr<Pipelines> Pipes;
  std::unique_ptr<WorkingCopies> Copies;
  std::string Original;

  explicit Program(StringRef IR) {
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
    Original = text();
  }

  Function &fn(StringRef Name) { return *M->getFunction(Name); }
  WorkingCopies &copies() {
    if (!Copies)
      Copies = std::make_unique<WorkingCopies>(*M, Rules, *Pipes);
    return *Copies;
  }

  /// The copy of a function; checks what every copy promises.
  Function *copy(StringRef Name) {
    Expected<Function *> Copy = copies().get(fn(Name));
    if (!Copy) {
      ADD_FAILURE() << toString(Copy.takeError());
      return nullptr;
    }
    check();
    return *Copy;
  }

  void check() {
    EXPECT_FALSE(verifyModule(*M, &errs())) << text();
    for (Function *Copy : copies().all()) {
      EXPECT_TRUE(Copy->hasInternalLinkage());
      EXPECT_FALSE(Copy->hasComdat());
      EXPECT_FALSE(Copy->hasSection());
      EXPECT_FALSE(Copy->hasAddressTaken());
      EXPECT_FALSE(Copy->hasFnAttribute(Attribute::OptimizeNone));
      unsigned Returns = 0;
      for (Instruction &I : instructions(*Copy)) {
        Returns += isa<ReturnInst>(I);
        EXPECT_FALSE(isa<IndirectBrInst>(I));
        EXPECT_FALSE(isa<LifetimeIntrinsic>(I));
        EXPECT_FALSE(I.hasDbgRecords());
      }
      if (!Copy->isVarArg())
        EXPECT_LE(Returns, 1U) << Copy->getName().str();
    }
  }

  /// Erases the copies; the module must then be what it was.
  void erase() {
    copies().erase();
    EXPECT_FALSE(verifyModule(*M, &errs()));
    EXPECT_EQ(Original, text());
  }

  std::string text() const {
    std::string S;
    raw_string_ostream(S) << *M;
    return S;
  }
};

/// The functions that \p F calls directly, in program order.
SmallVector<std::string, 4> calls(const Function *F) {
  SmallVector<std::string, 4> Names;
  for (const Instruction &I : instructions(*F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      Names.push_back(Call->getCalledFunction()
                          ? Call->getCalledFunction()->getName().str()
                          : "?");
  return Names;
}

using Names = SmallVector<std::string, 4>;

TEST(WorkingCopies, SmallCalleesAreInlinedAndTheOriginalStays) {
  Program P(R"(
    define double @square(double %x) { 
      %y = fmul double %x, %x
      ret double %y
    }
    define double @f(double %x) { 
      %y = call double @square(double %x)
      %z = call double @square(double %y)
      ret double %z
    })");
  Function *Copy = P.copy("f");
  EXPECT_EQ(calls(Copy), Names());
  EXPECT_EQ(Copy->getName(), "f.adjoin.copy");
  EXPECT_EQ(P.copies().originalOf(*Copy), &P.fn("f"));
  EXPECT_EQ(P.copies().originalOf(P.fn("f")), nullptr);
  EXPECT_EQ(cantFail(P.copies().get(*Copy)), Copy);
  EXPECT_EQ(P.copy("f"), Copy);
  P.erase();
}

TEST(WorkingCopies, UnoptimisedObjects) {
  Program P(R"(
    define linkonce_odr double @square(double %x) #0 { 
      %a = alloca double
      store double %x, ptr %a
      %1 = load double, ptr %a
      %2 = load double, ptr %a
      %y = fmul double %1, %2
      ret double %y
    }
    define double @f(double %x) #0 { 
      %a = alloca double
      store double %x, ptr %a
      %1 = load double, ptr %a
      %y = call double @square(double %1)
      ret double %y
    }
    attributes #0 = { noinline optnone }
    )");
  Function *Copy = P.copy("f");
  EXPECT_EQ(Copy->getInstructionCount(), 2U) << P.text();
  P.erase();
}

TEST(WorkingCopies, NoInlineIsHonoured) {
  Program P(R"(
    define double @square(double %x) noinline { 
      %y = fmul double %x, %x
      ret double %y
    }
    define double @f(double %x) { 
      %y = call double @square(double %x)
      ret double %y
    })");
  EXPECT_EQ(calls(P.copy("f")), Names{"square.adjoin.copy"});
  P.erase();
}

TEST(WorkingCopies, FunctionsWithRulesStay) {
  Program P(R"(
    define double @mine(double %x) {
      %y = fmul double %x, %x
      ret double %y
    }
    define double @f(double %x) { 
      %y = call double @mine(double %x)
      ret double %y
    })");
  P.Rules.FunctionLike[&P.fn("mine")] = "log1p";
  EXPECT_EQ(calls(P.copy("f")), Names{"mine"});
  EXPECT_EQ(P.copies().all().size(), 1U);
  P.erase();
}

TEST(WorkingCopies, SelfRecursion) {
  Program P(R"(
    define double @power(double %x, i32 %n) {
      %done = icmp eq i32 %n, 0
      br i1 %done, label %one, label %more
    one:
      ret double 1.0
    more:
      %half = sdiv i32 %n, 2
      %h = call double @power(double %x, i32 %half)
      %s = fmul double %h, %h
      %odd = and i32 %n, 1
      %isodd = icmp ne i32 %odd, 0
      br i1 %isodd, label %yes, label %no
    yes:
      %t = fmul double %s, %x
      ret double %t
    no:
      ret double %s
    })");
  EXPECT_EQ(calls(P.copy("power")), Names{"power.adjoin.copy"});
  P.erase();
}

TEST(WorkingCopies, MutualRecursion) {
  Program P(R"(
    define double @even(double %x, i32 %n) noinline {
      %done = icmp eq i32 %n, 0
      br i1 %done, label %one, label %more
    one:
      ret double %x
    more:
      %m = sub i32 %n, 1
      %h = call double @odd(double %x, i32 %m)
      %s = fmul double %h, %x
      ret double %s
    }
    define double @odd(double %x, i32 %n) noinline {
      %done = icmp eq i32 %n, 0
      br i1 %done, label %one, label %more
    one:
      ret double 0.0
    more:
      %m = sub i32 %n, 1
      %h = call double @even(double %x, i32 %m)
      %s = fadd double %h, %x
      ret double %s
    })");
  EXPECT_EQ(calls(P.copy("even")), Names{"odd.adjoin.copy"});
  EXPECT_EQ(calls(P.copy("odd")), Names{"even.adjoin.copy"});
  EXPECT_EQ(P.copies().all().size(), 2U);
  P.erase();
}

TEST(WorkingCopies, ALaterCopyDoesNotChangeEarlierOnes) {
  Program P(R"(
    define double @leaf(double %x) noinline {
      %y = fmul double %x, %x
      ret double %y
    }
    define double @f(double %x) {
      %y = call double @leaf(double %x)
      ret double %y
    }
    define double @g(double %x) {
      %y = call double @f(double %x)
      ret double %y
    })");
  auto Print = [](Function *F) {
    std::string S;
    raw_string_ostream(S) << *F;
    return S;
  };
  Function *F = P.copy("f");
  std::string Was = Print(F);
  EXPECT_EQ(calls(P.copy("g")), Names{"leaf.adjoin.copy"});
  EXPECT_EQ(Print(F), Was);
  P.erase();
}

TEST(WorkingCopies, FunctionPointersThatBecomeConstantAreFollowed) {
  Program P(R"(
    define double @apply(ptr %f, double %x) {
      %y = call double %f(double %x)
      ret double %y
    }
    define double @sq(double %x) {
      %y = fmul double %x, %x
      ret double %y
    }
    define double @slow(double %x) noinline {
      %y = call double @apply(ptr @sq, double %x)
      %z = fadd double %y, %x
      ret double %z
    }
    define double @f(double %x) {
      %y = call double @apply(ptr @sq, double %x)
      %z = call double @apply(ptr @slow, double %y)
      ret double %z
    })");
  ASSERT_EQ(P.copies().addressTaken().size(), 2U);
  EXPECT_EQ(P.copies().addressTaken()[0], &P.fn("sq"));
  EXPECT_EQ(calls(P.copy("f")), Names{"slow.adjoin.copy"});
  EXPECT_EQ(calls(P.copy("slow")), Names());
  P.erase();
}

TEST(WorkingCopies, LabelsInTablesKeepTheirAddresses) {
  Program P(R"(
    @table = internal constant [3 x ptr] [ptr blockaddress(@f, %twice),
      ptr blockaddress(@f, %square), ptr blockaddress(@f, %twice)]
    define double @f(double %x, i64 %op) {
    entry:
      %slot = getelementptr ptr, ptr @table, i64 %op
      %to = load ptr, ptr %slot
      br label %jump
    jump:
      %where = phi ptr [ %to, %entry ],
        [ blockaddress(@f, %square), %twice ]
      %v = phi double [ %x, %entry ], [ %t, %twice ]
      indirectbr ptr %where, [ label %twice, label %square, label %twice ]
    twice:
      %p = phi double [ %v, %jump ], [ %v, %jump ]
      %t = fadd double %p, %p
      br label %jump
    square:
      %s = fmul double %v, %v
      ret double %s
    })");
  Function *Copy = P.copy("f");
  for (BasicBlock &BB : *Copy)
    EXPECT_FALSE(BB.hasAddressTaken());
  std::string Both = P.text();
  P.erase();

  // The copy takes the same ways as the original.
  auto Ctx = std::make_unique<LLVMContext>();
  SMDiagnostic Error;
  std::unique_ptr<Module> M = parseAssemblyString(Both, Error, *Ctx);
  ASSERT_TRUE(M);
  M->getFunction("f.adjoin.copy")->setLinkage(GlobalValue::ExternalLinkage);
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto JIT = cantFail(orc::LLJITBuilder().create());
  cantFail(JIT->addIRModule({std::move(M), std::move(Ctx)}));
  for (const char *Name : {"f", "f.adjoin.copy"}) {
    auto *F = cantFail(JIT->lookup(Name)).toPtr<double (*)(double, int64_t)>();
    EXPECT_EQ(F(3, 0), 36);
    EXPECT_EQ(F(3, 1), 9);
    EXPECT_EQ(F(3, 2), 36);
  }
}

TEST(WorkingCopies, WhatNeverReturnsIsNotCopied) {
  Program P(R"(
    declare void @exit(i32) noreturn
    define void @machinery() noinline {
      ret void
    }
    define void @panic() noinline {
      call void @machinery()
      call void @exit(i32 1)
      unreachable
    }
    define double @f(double %x) {
      %bad = fcmp olt double %x, 0.0
      br i1 %bad, label %no, label %yes
    no:
      call void @machinery()
      call void @panic()
      unreachable
    yes:
      %s = fmul double %x, %x
      ret double %s
    })");
  EXPECT_EQ(calls(P.copy("f")), (Names{"machinery", "panic"}));
  EXPECT_EQ(P.copies().all().size(), 1U);
  P.erase();
}

TEST(WorkingCopies, Invoke) {
  Program P(R"(
    declare i32 @__gxx_personality_v0(...)
    declare void @mayThrow(ptr)
    define void @drop(ptr %p) noinline {
      store double 0.0, ptr %p
      ret void
    }
    define void @work(ptr %p) {
      call void @mayThrow(ptr %p)
      ret void
    }
    define double @f(ptr %p) personality ptr @__gxx_personality_v0 {
      invoke void @work(ptr %p) to label %ok unwind label %bad
    ok:
      %x = load double, ptr %p
      ret double %x
    bad:
      %e = landingpad { ptr, i32 } cleanup
      call void @drop(ptr %p)
      resume { ptr, i32 } %e
    })");
  EXPECT_EQ(calls(P.copy("f")), (Names{"mayThrow", "drop.adjoin.copy"}));
  P.erase();
}

TEST(WorkingCopies, AliasesAndWeakDefinitionsAreBodies) {
  Program P(R"(
    @alias = alias double (double), ptr @target
    define double @target(double %x) noinline {
      %y = fmul double %x, %x
      ret double %y
    }
    define weak double @weak(double %x) noinline {
      %y = fmul double %x, %x
      ret double %y
    }
    define available_externally double @elsewhere(double %x) noinline {
      %y = fmul double %x, %x
      ret double %y
    }
    declare double @unknown(double)
    $group = comdat any
    define linkonce_odr double @grouped(double %x) noinline section "x"
        comdat($group) {
      %y = fmul double %x, %x
      ret double %y
    }
    define double @f(double %x) {
      %a = call double @alias(double %x)
      %b = call double @weak(double %a)
      %c = call double @elsewhere(double %b)
      %d = call double @unknown(double %c)
      %e = call double @grouped(double %d)
      ret double %e
    })");
  EXPECT_EQ(calls(P.copy("f")),
            (Names{"target.adjoin.copy", "weak.adjoin.copy",
                   "elsewhere.adjoin.copy", "unknown", "grouped.adjoin.copy"}));
  P.erase();
}

TEST(WorkingCopies, VersionsForProcessors) {
  Program P(R"(
    @sq.ifunc = weak_odr alias double (double), ptr @sq
    @sq = weak_odr ifunc double (double), ptr @sq.resolver
    @odd = weak_odr ifunc double (double), ptr @odd.resolver
    declare i1 @choose()
    declare ptr @anything()
    define double @sq.avx2.0(double %x) noinline {
      %y = fmul double %x, %x
      ret double %y
    }
    define double @sq.default.1(double %x) noinline {
      %y = fmul double %x, %x
      ret double %y
    }
    define ptr @sq.resolver() {
      %a = call i1 @choose()
      %b = select i1 %a, ptr @sq.avx2.0, ptr @sq.default.1
      ret ptr %b
    }
    define ptr @odd.resolver() {
      %a = call ptr @anything()
      ret ptr %a
    }
    define double @f(double %x) {
      %a = call double @sq(double %x)
      %b = call double @sq.ifunc(double %a)
      %c = call double @odd(double %b)
      ret double %c
    })");
  EXPECT_EQ(calls(P.copy("f")), (Names{"sq.default.1.adjoin.copy",
                                       "sq.default.1.adjoin.copy", "?"}));
  P.erase();
}

TEST(WorkingCopies, RulesBehindAnAlias) {
  Program P(R"(
    @other = alias double (double), ptr @mine
    define double @mine(double %x) {
      %y = fmul double %x, %x
      ret double %y
    }
    define double @f(double %x) { 
      %y = call double @other(double %x)
      ret double %y
    })");
  P.Rules.FunctionLike[&P.fn("mine")] = "log1p";
  EXPECT_EQ(calls(P.copy("f")), Names{"mine"});
  P.erase();
}

TEST(WorkingCopies, AssemblyThatJumps) {
  Program P(R"(
    define double @f(double %x) {
      callbr void asm sideeffect "", "!i,~{dirflag},~{fpsr},~{flags}"()
          to label %on [label %off]
    on:
      %y = fmul double %x, %x
      ret double %y
    off:
      ret double %x
    }
    define double @g(double %x) {
      %y = call double @f(double %x)
      ret double %y
    })");
  P.copy("g");
  P.erase();
}

TEST(WorkingCopies, FuncletPads) {
  Program P(R"(
    target triple = "x86_64-pc-windows-msvc"
    declare i32 @__CxxFrameHandler3(...)
    declare void @mayThrow()
    define double @f(double %x) personality ptr @__CxxFrameHandler3 {
      invoke void @mayThrow() to label %ok unwind label %dispatch
    dispatch:
      %cs = catchswitch within none [label %handler] unwind to caller
    handler:
      %cp = catchpad within %cs [ptr null, i32 64, ptr null]
      catchret from %cp to label %caught
    caught:
      ret double 0.0
    ok:
      ret double %x
    })");
  P.copy("f");
  P.erase();
}

TEST(WorkingCopies, CallsThroughAnotherPrototype) {
  Program P(R"(
    define double @half(double %x) noinline {
      %y = fmul double %x, 0.5
      ret double %y
    }
    define double @f(double %x) {
      %a = call double (...) @half(double %x)
      ret double %a
    })");
  EXPECT_EQ(calls(P.copy("f")), Names{"half.adjoin.copy"});
  P.erase();
}

TEST(WorkingCopies, VarargsAndTailCalls) {
  Program P(R"(
    declare void @llvm.va_start.p0(ptr)
    declare void @llvm.va_end.p0(ptr)
    define double @sum(i32 %n, ...) {
      %list = alloca [24 x i8]
      call void @llvm.va_start.p0(ptr %list)
      %x = va_arg ptr %list, double
      call void @llvm.va_end.p0(ptr %list)
      ret double %x
    }
    define double @forward(i32 %n, ...) noinline {
      %x = musttail call double (i32, ...) @sum(i32 %n, ...)
      ret double %x
    }
    define double @loop(double %x, i32 %n) noinline {
      %done = icmp eq i32 %n, 0
      br i1 %done, label %end, label %more
    end:
      ret double %x
    more:
      %y = fmul double %x, %x
      %m = sub i32 %n, 1
      %z = musttail call double @other(double %y, i32 %m)
      ret double %z
    }
    define double @other(double %x, i32 %n) noinline {
      %z = musttail call double @loop(double %x, i32 %n)
      ret double %z
    }
    define double @f(double %x) {
      %a = call double (i32, ...) @forward(i32 1, double %x)
      %b = call double @loop(double %a, i32 3)
      ret double %b
    })");
  EXPECT_EQ(calls(P.copy("f")),
            (Names{"forward.adjoin.copy", "loop.adjoin.copy"}));
  EXPECT_EQ(calls(P.copy("loop")), Names{"other.adjoin.copy"});
  P.erase();
}

TEST(WorkingCopies, EqualMathCallsMerge) {
  Program P(R"(
    declare double @cos(double)
    define double @f(double %x) {
      %a = call double @cos(double %x)
      %b = call double @cos(double %x)
      %c = fmul double %a, %b
      ret double %c
    })");
  EXPECT_EQ(calls(P.copy("f")), Names{"llvm.cos.f64"});
  P.erase();
}

TEST(WorkingCopies, MathCallsWithoutAnIntrinsicMergeToo) {
  Program P(R"(
    declare float @cbrtf(float)
    declare double @frexp(double, ptr)
    declare double @lgamma(double)
    define double @hypot(double %x, double %y) noinline {
      ret double %x
    }
    define float @f(float %x) {
      %a = call float @cbrtf(float %x)
      %b = call float @cbrtf(float %x)
      %c = fmul float %a, %b
      ret float %c
    }
    define double @g(double %x, ptr %p) {
      %a = call double @frexp(double %x, ptr %p)
      %b = call double @lgamma(double %x)
      %c = call double @lgamma(double %x)
      %d = call double @hypot(double %x, double %x)
      %e = fadd double %a, %b
      %f = fadd double %e, %c
      %g = fadd double %f, %d
      ret double %g
    })");
  EXPECT_EQ(calls(P.copy("f")), Names{"cbrtf"});
  EXPECT_EQ(calls(P.copy("g")), (Names{"llvm.frexp.f64.i32", "lgamma", "lgamma", "hypot"}));
  P.erase();
}

TEST(WorkingCopies, LoopsAreCanonical) {
  Program P(R"(
    define double @f(ptr %x, i64 %n) {
    entry:
      %some = icmp sgt i64 %n, 0
      br i1 %some, label %loop, label %end
    loop:
      %i = phi i64 [ 0, %entry ], [ %j, %loop ]
      %s = phi double [ 0.0, %entry ], [ %t, %loop ]
      %p = getelementptr double, ptr %x, i64 %i
      %v = load double, ptr %p
      %t = fadd double %s, %v
      %j = add nuw nsw i64 %i, 1
      %more = icmp slt i64 %j, %n
      br i1 %more, label %loop, label %end
    end:
      %r = phi double [ 0.0, %entry ], [ %t, %loop ]
      ret double %r
    })");
  Function *Copy = P.copy("f");
  for (BasicBlock &BB : *Copy)
    for (BasicBlock *Next : successors(&BB))
      EXPECT_TRUE(Next->hasNPredecessors(1) || succ_size(&BB) == 1);
  P.erase();
}

TEST(WorkingCopies, WhatCannotBeCopiedIsAnError) {
  Program P(R"(
    declare double @nowhere(double)
    define double @bare(double %x) naked {
      unreachable
    })");
  std::string Why = toString(P.copies().get(P.fn("nowhere")).takeError());
  EXPECT_NE(Why.find("it has no IR in this link"), std::string::npos) << Why;
  Why = toString(P.copies().get(P.fn("bare")).takeError());
  EXPECT_NE(Why.find("it is a naked function"), std::string::npos) << Why;
  P.erase();
}

TEST(WorkingCopies, DebugInfoGivesPlaces) {
  Program P(R"(
    define double @g(double %x) !dbg !5 {
      %y = fmul double %x, %x, !dbg !8
        #dbg_value(double %y, !10, !DIExpression(), !8)
      ret double %y, !dbg !8
    }
    define double @f(double %x) !dbg !6 {
      %y = call double @g(double %x), !dbg !9
      ret double %y, !dbg !9
    }
    !llvm.module.flags = !{!0}
    !llvm.dbg.cu = !{!1}
    !0 = !{i32 2, !"Debug Info Version", i32 3}
    !1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !2,
      emissionKind: FullDebug)
    !2 = !DIFile(filename: "a.c", directory: "/")
    !3 = !DISubroutineType(types: !4)
    !4 = !{}
    !5 = distinct !DISubprogram(name: "g", file: !2, line: 1, type: !3,
      unit: !1, spFlags: DISPFlagDefinition)
    !6 = distinct !DISubprogram(name: "f", file: !2, line: 5, type: !3,
      unit: !1, spFlags: DISPFlagDefinition)
    !8 = !DILocation(line: 2, column: 7, scope: !5)
    !9 = !DILocation(line: 6, column: 9, scope: !6)
    !10 = !DILocalVariable(name: "y", scope: !5, file: !2, line: 2,
      type: !11)
    !11 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
    )");
  Function *Copy = P.copy("f");
  SourcePlace Place = SourcePlace::of(*Copy->getEntryBlock().begin());
  EXPECT_EQ(Place.str(), "a.c:2:7");
  EXPECT_EQ(Place.Function, "f");
  P.erase();
}

} // namespace
