// Reverse mode: indirect calls, registered gradients, structs by value, vector
// intrinsics, memory that may be constant.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

TEST(ReverseStructure, FunctionTable) {
  for (int K = 0; K != 2; ++K)
    EXPECT_EQ(reverse(Case(R"(
    define internal double @square(double %x, ptr %p) {
      %a = load double, ptr %p
      %r = fmul double %x, %a
      store double %r, ptr %p
      ret double %r
    }
    define internal double @twice(double %x, ptr %p) {
      %r = fmul double %x, 2.0
      ret double %r
    }
    @table = internal global [2 x ptr] [ptr @square, ptr @twice]
    define double @f(double %x, ptr %q, i64 %k) {
      %p = getelementptr [2 x ptr], ptr @table, i64 0, i64 %k
      %g = load ptr, ptr %p
      %a = call double %g(double %x, ptr %q)
      %b = call double %g(double %a, ptr %q)
      ret double %b
    })")
                          .active(1.25)
                          .buffer({0.75})
                          .integer(K)),
              "")
        << K;
}

TEST(ReverseStructure, RegisteredGradient) {
  // The gradient is three times too large: that it is used can be seen.
  Case C(R"(
    define double @g(double %x, ptr %p) noinline {
      %a = load double, ptr %p
      %r = fmul double %x, %a
      ret double %r
    }
    define {ptr, double} @g_aug(double %x, ptr %p, ptr %d) noinline {
      %t = call ptr @malloc(i64 8)
      %a = load double, ptr %p
      store double %a, ptr %t
      %r = fmul double %x, %a
      %s = insertvalue {ptr, double} poison, ptr %t, 0
      %u = insertvalue {ptr, double} %s, double %r, 1
      ret {ptr, double} %u
    }
    define double @g_grad(double %x, ptr %p, ptr %d, double %seed, ptr %t)
        noinline {
      %a = load double, ptr %t
      call void @free(ptr %t)
      %b = fmul double %a, %seed
      %c = fmul double %x, %seed
      %o = load double, ptr %d
      %n = fadd double %o, %c
      store double %n, ptr %d
      ret double %b
    }
    declare ptr @malloc(i64)
    declare void @free(ptr)
    @__adjoin_register_gradient_g = global [3 x ptr]
        [ptr @g, ptr @g_aug, ptr @g_grad]
    @llvm.used = appending global [1 x ptr] [ptr @__adjoin_register_gradient_g]
    define double @f(double %x, ptr %p) {
      %a = call double @g(double %x, ptr %p)
      %b = call double @g(double %a, ptr %p)
      ret double %b
    })");
  EXPECT_EQ(reverse(C.active(1.25).buffer({0.75})), "");
}

TEST(ReverseStructure, StructByValue) {
  EXPECT_EQ(reverse(Case(R"(
    %s = type {double, double, i64}
    define internal double @g(ptr byval(%s) %p, double %x) noinline {
      %a = load double, ptr %p
      %b = fmul double %a, %x
      store double %b, ptr %p
      %p1 = getelementptr %s, ptr %p, i64 0, i32 1
      %c = load double, ptr %p1
      %d = load double, ptr %p
      %e = fmul double %c, %d
      ret double %e
    }
    define double @f(ptr %p, double %x) {
      %a = call double @g(ptr byval(%s) %p, double %x)
      %b = call double @g(ptr byval(%s) %p, double %a)
      %c = load double, ptr %p
      %d = fmul double %b, %c
      ret double %d
    })")
                        .record({f64(1.5), f64(0.5), i64(3)})
                        .active(0.75)),
            "");
}

TEST(ReverseStructure, Reductions) {
  for (const char *Reduce :
       {"fadd.v4f64(double %s, <4 x double> %v)",
        "fmul.v4f64(double %s, <4 x double> %v)", "fmax.v4f64(<4 x double> %v)",
        "fmin.v4f64(<4 x double> %v)"}) {
    std::string Call = Reduce;
    std::string Name = Call.substr(0, Call.find('('));
    bool Start = Call.find("%s") != std::string::npos;
    EXPECT_EQ(reverse(Case("declare double @llvm.vector.reduce." + Name + "(" +
                           (Start ? "double, " : "") + "<4 x double>)" + R"(
    define double @f(ptr %p, double %s) {
      %v = load <4 x double>, ptr %p, align 8
      %r = call double @llvm.vector.reduce.)" +
                           Call + R"(
      %t = fmul double %r, %s
      ret double %t
    })")
                          .buffer({1.5, -0.5, 2.5, 0.75})
                          .active(1.25)),
              "")
        << Name;
  }
}

TEST(ReverseStructure, MaskedAndGathered) {
  EXPECT_EQ(reverse(Case(R"(
    declare <4 x double> @llvm.masked.load.v4f64.p0(ptr, <4 x i1>, <4 x double>)
    declare void @llvm.masked.store.v4f64.p0(<4 x double>, ptr, <4 x i1>)
    declare <4 x double> @llvm.masked.gather.v4f64.v4p0(<4 x ptr>, <4 x i1>,
                                                        <4 x double>)
    define void @f(ptr %p, ptr %q, <4 x double> %x) {
      %a = call <4 x double> @llvm.masked.load.v4f64.p0(ptr %p,
               <4 x i1> <i1 1, i1 0, i1 1, i1 1>, <4 x double> %x)
      %g = getelementptr double, ptr %p, <4 x i64> <i64 3, i64 1, i64 3, i64 0>
      %b = call <4 x double> @llvm.masked.gather.v4f64.v4p0(<4 x ptr> %g,
               <4 x i1> <i1 1, i1 1, i1 1, i1 0>, <4 x double> %x)
      %c = fmul <4 x double> %a, %b
      call void @llvm.masked.store.v4f64.p0(<4 x double> %c, ptr %q,
               <4 x i1> <i1 0, i1 1, i1 1, i1 1>)
      ret void
    })")
                        .buffer({1.5, -0.5, 2.5, 0.75})
                        .buffer({0.25, 0.5, 0.75, 1.0})
                        .active({1.25, 0.25, -1.5, 0.5})),
            "");
}

TEST(ReverseStructure, ConstantScratchMemory) {
  // Active data goes through memory without a shadow.
  EXPECT_EQ(reverse(Case(R"(
    define double @f(double %x, ptr %scratch) {
      %y = fmul double %x, %x
      store double %y, ptr %scratch
      %a = load double, ptr %scratch
      %b = fmul double %a, %x
      store double %b, ptr %scratch
      %c = load double, ptr %scratch
      %d = fmul double %c, %a
      ret double %d
    })")
                        .active(1.25)
                        .constBuffer({0.5})),
            "");
}

TEST(ReverseStructure, Lanes) {
  EXPECT_EQ(reverse(Case(R"(
    declare double @llvm.sin.f64(double)
    define double @g(ptr %p, double %x) noinline {
      %a = load double, ptr %p
      %b = fmul double %a, %x
      store double %b, ptr %p
      ret double %b
    }
    define double @f(ptr %p, double %x, i64 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %s = phi double [ %x, %entry ], [ %t, %loop ]
      %q = getelementptr double, ptr %p, i64 %i
      %r = call double @g(ptr %q, double %s)
      %t = call double @llvm.sin.f64(double %r)
      %i1 = add i64 %i, 1
      %more = icmp slt i64 %i1, %n
      br i1 %more, label %loop, label %end
    end:
      ret double %t
    })")
                        .buffer({1.5, 2.5, 3.5})
                        .active(1.25)
                        .integer(3)
                        .width(3)),
            "");
}
