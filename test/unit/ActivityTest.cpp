// Activity: which values of a function may have a derivative.
#include "ad/analysis/Activity.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace adjoin;

namespace {

constexpr ShadowState Const = ShadowState::Const;
constexpr ShadowState Maybe = ShadowState::Maybe;
constexpr ShadowState Known = ShadowState::Known;

/// The activity of @f of a module, for given states of its arguments.
class Activity {
public:
  Activity(const char *IR, std::initializer_list<ShadowState> Args,
           bool Sparse = false) {
    SMDiagnostic E;
    M = parseAssemblyString(
        std::string("target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:"
                    "64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n"
                    "target triple = \"x86_64-unknown-linux-gnu\"\n") +
            IR,
        E, C);
    if (!M) {
      E.print("test", errs());
      abort();
    }
    F = M->getFunction("f");
    SmallVector<Function *> Copies;
    for (Function &G : *M)
      if (!G.isDeclaration())
        Copies.push_back(&G);
    Kinds = std::make_unique<KindAnalysis>(*M);
    Kinds->add(Copies);
    R.Primal = F;
    R.Args.assign(Args);
    R.Sparse = Sparse;
    A = std::make_unique<ActivityAnalysis>(*F, R, *Kinds, Rules);
  }

  const Value *at(StringRef Name) {
    for (Argument &Arg : F->args())
      if (Arg.getName() == Name)
        return &Arg;
    for (Instruction &I : instructions(*F))
      if (I.getName() == Name)
        return &I;
    ADD_FAILURE() << "no value " << Name.str();
    return F;
  }
  ShadowState operator[](StringRef Name) { return A->state(at(Name)); }
  bool inert(StringRef Name) { return A->isInert(at(Name)); }
  /// The call of \p Callee touches active data.
  bool touches(StringRef Callee) {
    for (Instruction &I : instructions(*F))
      if (auto *CB = dyn_cast<CallBase>(&I))
        if (CB->getCalledFunction() &&
            CB->getCalledFunction()->getName() == Callee)
          return A->mayTouchActive(*CB);
    ADD_FAILURE() << "no call of " << Callee.str();
    return false;
  }
  bool needsSparse() { return A->storesActiveToConst(); }

  LLVMContext C;
  std::unique_ptr<Module> M;
  Function *F = nullptr;
  RuleBook Rules;
  Request R;
  std::unique_ptr<KindAnalysis> Kinds;
  std::unique_ptr<ActivityAnalysis> A;
};

TEST(Activity, Floats) {
  Activity A(R"(
    define double @f(double %x, double %y) {
      %a = fmul double %x, 2.0
      %b = fadd double %y, 1.0
      %c = fadd double %a, %b
      %i = fptosi double %a to i64
      %d = sitofp i64 %i to double
      %p = fcmp olt double %a, 0.0
      %e = select i1 %p, double %a, double 1.0
      ret double %c
    })",
             {Known, Const});
  EXPECT_EQ(A["a"], Known);
  EXPECT_EQ(A["b"], Const);
  EXPECT_EQ(A["c"], Known);
  EXPECT_EQ(A["i"], Const);
  EXPECT_EQ(A["d"], Const);
  EXPECT_EQ(A["e"], Known);
}

TEST(Activity, PointersAndWhatIsLoaded) {
  Activity A(R"(
    define double @f(ptr %p, ptr %q, i1 %c, i64 %n) {
      %x = load double, ptr %p
      %y = load double, ptr %q
      %p8 = getelementptr i8, ptr %p, i64 8
      %s = load ptr, ptr %p8
      %z = load double, ptr %s
      %both = select i1 %c, ptr %p, ptr %q
      %one = select i1 %c, ptr %p, ptr null
      %p16 = getelementptr i8, ptr %p, i64 16
      %i = load i64, ptr %p16
      %j = add i64 %i, %n
      %s1 = fadd double %x, %y
      %s2 = fadd double %s1, %z
      ret double %s2
    })",
             {Known, Const, Const, Const});
  EXPECT_EQ(A["x"], Known);
  EXPECT_EQ(A["y"], Const);
  EXPECT_EQ(A["p8"], Known);
  EXPECT_EQ(A["s"], Maybe);
  EXPECT_EQ(A["z"], Known);
  EXPECT_EQ(A["both"], Maybe);
  EXPECT_EQ(A["one"], Known);
  EXPECT_EQ(A["i"], Const);
}

TEST(Activity, SparseMemoryMayHoldActiveData) {
  const char *IR = R"(
    @table = constant [2 x double] [double 1.0, double 2.0]
    @work = global [2 x double] zeroinitializer
    define double @f(ptr %q, double %x, i64 %i) {
      %y = load double, ptr %q
      %t = getelementptr double, ptr @table, i64 0
      %z = load double, ptr @table
      %a = fmul double %x, %y
      store double %a, ptr @work
      %w = load double, ptr @work
      %b = fadd double %w, %z
      ret double %b
    })";
  Activity A(IR, {Const, Known, Const});
  EXPECT_EQ(A["y"], Const);
  EXPECT_EQ(A["w"], Const);
  EXPECT_TRUE(A.needsSparse());
  Activity S(IR, {Const, Known, Const}, true);
  EXPECT_EQ(S["y"], Known);
  EXPECT_EQ(S["w"], Known);
  EXPECT_EQ(S["z"], Const);
}

TEST(Activity, InertObjectsNeedNoShadow) {
  const char *IR = R"(
    declare ptr @malloc(i64)
    declare void @free(ptr)
    define double @f(double %x, double %k, i64 %i) {
      %a = alloca [4 x double]
      %b = alloca [4 x double]
      %m = call ptr @malloc(i64 32)
      %ai = getelementptr double, ptr %a, i64 %i
      store double %k, ptr %ai
      %bi = getelementptr double, ptr %b, i64 %i
      store double %x, ptr %bi
      store double %k, ptr %m
      %u = load double, ptr %a
      %v = load double, ptr %b
      %w = load double, ptr %m
      call void @free(ptr %m)
      %s = fadd double %u, %v
      %t = fadd double %s, %w
      ret double %t
    })";
  for (bool Sparse : {false, true}) {
    Activity A(IR, {Known, Const, Const}, Sparse);
    EXPECT_EQ(A["a"], Const);
    EXPECT_TRUE(A.inert("ai"));
    EXPECT_EQ(A["u"], Const);
    EXPECT_EQ(A["b"], Known);
    EXPECT_FALSE(A.inert("bi"));
    EXPECT_EQ(A["v"], Known);
    EXPECT_EQ(A["m"], Const);
    EXPECT_EQ(A["w"], Const);
    EXPECT_FALSE(A.needsSparse());
  }
}

TEST(Activity, AnObjectStopsBeingInertThroughAnotherName) {
  Activity A(R"(
    define double @f(double %x, double %k, i1 %c) {
      %a = alloca double
      %b = alloca double
      %p = select i1 %c, ptr %a, ptr %b
      store double %k, ptr %a
      store double %k, ptr %b
      store double %x, ptr %p
      %u = load double, ptr %a
      %v = load double, ptr %b
      %s = fadd double %u, %v
      ret double %s
    })",
             {Known, Const, Const});
  EXPECT_EQ(A["a"], Known);
  EXPECT_EQ(A["b"], Known);
  EXPECT_EQ(A["p"], Known);
  EXPECT_EQ(A["u"], Known);
  EXPECT_FALSE(A.needsSparse());
}

TEST(Activity, CopiesCarryActivity) {
  Activity A(R"(
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
    define double @f(ptr %p, ptr %q) {
      %a = alloca [2 x double]
      %b = alloca [2 x double]
      %c = alloca [2 x double]
      call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %p, i64 16, i1 false)
      call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %q, i64 16, i1 false)
      call void @llvm.memcpy.p0.p0.i64(ptr %c, ptr %a, i64 16, i1 false)
      %x = load double, ptr %c
      %y = load double, ptr %b
      %s = fadd double %x, %y
      ret double %s
    })",
             {Known, Const});
  EXPECT_EQ(A["a"], Known);
  EXPECT_EQ(A["b"], Const);
  EXPECT_EQ(A["c"], Known);
  EXPECT_EQ(A["x"], Known);
  EXPECT_EQ(A["y"], Const);
}

TEST(Activity, PointersKeptInLocalObjects) {
  Activity A(R"(
    define double @f(ptr %p, ptr %q, i64 %i, double %x) {
      %a = alloca [2 x ptr]
      %b = alloca [2 x ptr]
      %buf = alloca [8 x double]
      store ptr %p, ptr %a
      %a1 = getelementptr ptr, ptr %a, i64 1
      store ptr %buf, ptr %a1
      store ptr %p, ptr %b
      %b1 = getelementptr ptr, ptr %b, i64 1
      store ptr %q, ptr %b1
      %ai = getelementptr ptr, ptr %a, i64 %i
      %r = load ptr, ptr %ai
      %bi = getelementptr ptr, ptr %b, i64 %i
      %s = load ptr, ptr %bi
      store double %x, ptr %r
      %y = load double, ptr %s
      %z = fadd double %y, 1.0
      ret double %z
    })",
             {Known, Const, Const, Known});
  EXPECT_EQ(A["r"], Known);
  EXPECT_EQ(A["s"], Maybe);
  EXPECT_FALSE(A.needsSparse());
}

TEST(Activity, MemoryOfIntegersHasNoShadow) {
  Activity A(R"(
    declare void @take(ptr)
    define internal void @count(ptr %n) {
      %i = load i64, ptr %n
      %j = add i64 %i, 1
      store i64 %j, ptr %n
      ret void
    }
    define double @f(double %x) {
      %n = alloca i64
      store i64 3, ptr %n
      call void @count(ptr %n)
      %i = load i64, ptr %n
      %d = sitofp i64 %i to double
      %r = fmul double %x, %d
      ret double %r
    })",
             {Known});
  EXPECT_EQ(A["n"], Const);
  EXPECT_EQ(A["i"], Const);
  EXPECT_FALSE(A.touches("count"));
}

TEST(Activity, CallsThatReachActiveFloats) {
  Activity A(R"(
    %list = type { ptr, i64 }
    define internal double @scale(double %x, ptr %k) {
      %a = load double, ptr %k
      %b = fmul double %x, %a
      ret double %b
    }
    define internal double @head(ptr %l) {
      %p = load ptr, ptr %l
      %x = load double, ptr %p
      %y = fadd double %x, 1.0
      ret double %y
    }
    define internal i64 @length(ptr %l) {
      %p = load ptr, ptr %l
      %x = load i64, ptr %p
      %y = add i64 %x, 1
      ret i64 %y
    }
    define double @f(double %x, ptr %k, ptr %l, ptr %n) {
      %a = call double @scale(double 1.0, ptr %k)
      %b = call double @head(ptr %l)
      %c = call i64 @length(ptr %n)
      %s = fadd double %a, %b
      %t = fadd double %s, %x
      ret double %t
    })",
             {Known, Const, Known, Known});
  EXPECT_FALSE(A.touches("scale"));
  EXPECT_EQ(A["a"], Const);
  EXPECT_TRUE(A.touches("head"));
  EXPECT_EQ(A["b"], Known);
  EXPECT_FALSE(A.touches("length"));
}

TEST(Activity, ObjectsPassedToCalls) {
  Activity A(R"(
    define internal void @fill(ptr %out, double %x) noinline {
      store double %x, ptr %out
      ret void
    }
    define internal double @sum(ptr %in, double %x) noinline {
      %a = load double, ptr %in
      %b = fadd double %a, %x
      ret double %b
    }
    define double @f(double %x, double %k) {
      %a = alloca double
      %b = alloca double
      %c = alloca double
      call void @fill(ptr %a, double %x)
      call void @fill(ptr %b, double %k)
      store double %k, ptr %c
      %s = call double @sum(ptr readonly captures(none) %c, double %x)
      %u = load double, ptr %a
      %v = load double, ptr %b
      %t = fadd double %u, %v
      %r = fadd double %s, %t
      ret double %r
    })",
             {Known, Const});
  EXPECT_EQ(A["a"], Known);
  EXPECT_EQ(A["u"], Known);
  EXPECT_EQ(A["b"], Const);
  EXPECT_EQ(A["v"], Const);
  EXPECT_EQ(A["c"], Const);
  EXPECT_EQ(A["s"], Known);
}

TEST(Activity, EscapedObjectsKeepTheirShadow) {
  Activity A(R"(
    define double @f(ptr %p, double %k) {
      %a = alloca double
      store double %k, ptr %a
      store ptr %a, ptr %p
      %q = load ptr, ptr %p
      %x = load double, ptr %q
      %y = fadd double %x, 1.0
      ret double %y
    })",
             {Known, Const});
  EXPECT_EQ(A["a"], Known);
  EXPECT_EQ(A["x"], Known);
}

TEST(Activity, MakersOfBuffersAreDerived) {
  Activity A(R"(
    declare ptr @malloc(i64)
    define internal ptr @make(i64 %n) noinline {
      %b = shl i64 %n, 3
      %p = call ptr @malloc(i64 %b)
      ret ptr %p
    }
    define double @f(double %x) {
      %p = call ptr @make(i64 4)
      store double %x, ptr %p
      %y = load double, ptr %p
      %z = fadd double %y, 1.0
      ret double %z
    })",
             {Known});
  EXPECT_TRUE(A.touches("make"));
  EXPECT_EQ(A["p"], Maybe);
}

TEST(Activity, VirtualCallsInCalleesSeeTheCallersObject) {
  Activity A(R"(
    @table = internal constant { [1 x ptr] } { [1 x ptr] [ptr @area] }
    define internal double @area(ptr %this) {
      %p = getelementptr i8, ptr %this, i64 8
      %r = load double, ptr %p
      %a = fmul double %r, %r
      ret double %a
    }
    define internal double @f(ptr %o) {
      %vt = load ptr, ptr %o
      %g = load ptr, ptr %vt
      %r = call double %g(ptr %o)
      ret double %r
    }
    define double @top(double %x) {
      %o = alloca [16 x i8]
      store ptr @table, ptr %o
      %p = getelementptr i8, ptr %o, i64 8
      store double %x, ptr %p
      %r = call double @f(ptr %o)
      ret double %r
    })",
             {Known});
  EXPECT_EQ(A["r"], Known);
}

} // namespace
