// Reverse mode: calls that are not inlined, recursion.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

TEST(ReverseCalls, Scalar) {
  EXPECT_EQ(reverse(Case(R"(
    declare double @llvm.sin.f64(double)
    define double @g(double %x, double %y) noinline {
      %a = call double @llvm.sin.f64(double %x)
      %b = fmul double %a, %y
      ret double %b
    }
    define double @f(double %x, double %y) {
      %a = call double @g(double %x, double %y)
      %b = call double @g(double %a, double %x)
      %c = call double @g(double %b, double 3.0)
      ret double %c
    })")
                        .active(1.25)
                        .active(0.5)),
            "");
}

TEST(ReverseCalls, Memory) {
  EXPECT_EQ(reverse(Case(R"(
    define void @scale(ptr %p, double %x) noinline {
      %a = load double, ptr %p
      %b = fmul double %a, %x
      store double %b, ptr %p
      ret void
    }
    define void @f(ptr %p, double %x, i64 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %q = getelementptr double, ptr %p, i64 %i
      call void @scale(ptr %q, double %x)
      call void @scale(ptr %p, double %x)
      %i1 = add i64 %i, 1
      %more = icmp slt i64 %i1, %n
      br i1 %more, label %loop, label %end
    end:
      ret void
    })")
                        .buffer({1.5, 2.5, 3.5})
                        .active(1.25)
                        .integer(3)),
            "");
}

TEST(ReverseCalls, TheSameBufferTwice) {
  // d(x·x) is 2x through noalias parameters too.
  Case C(R"(
    define double @dot(ptr noalias %p, ptr noalias %q) noinline {
      %a = load double, ptr %p
      %b = load double, ptr %q
      %c = fmul double %a, %b
      ret double %c
    }
    define double @f(ptr %p) {
      %r = call double @dot(ptr %p, ptr %p)
      ret double %r
    })");
  EXPECT_EQ(reverse(C.buffer({1.5})), "");
}

TEST(ReverseCalls, ReturnedPointer) {
  EXPECT_EQ(reverse(Case(R"(
    define ptr @at(ptr %p, i64 %i) noinline {
      %q = getelementptr double, ptr %p, i64 %i
      ret ptr %q
    }
    define double @f(ptr %p, double %x) {
      %q = call ptr @at(ptr %p, i64 1)
      %a = load double, ptr %q
      %b = fmul double %a, %x
      store double %b, ptr %q
      ret double %b
    })")
                        .buffer({1.5, 2.5})
                        .active(0.75)),
            "");
}

TEST(ReverseCalls, OwnStackFrame) {
  EXPECT_EQ(reverse(Case(R"(
    define double @g(double %x, i64 %k) noinline {
      %buf = alloca [3 x double]
      %p = getelementptr double, ptr %buf, i64 %k
      store double 1.0, ptr %buf
      store double %x, ptr %p
      %a = load double, ptr %buf
      %b = fmul double %a, %x
      ret double %b
    }
    define double @f(double %x) {
      %a = call double @g(double %x, i64 0)
      %b = call double @g(double %a, i64 1)
      %c = fmul double %a, %b
      ret double %c
    })")
                        .active(1.25)),
            "");
}

static const char *Recursion = R"(
    declare double @llvm.sin.f64(double)
    define double @g(double %x, i64 %n) {
    entry:
      %done = icmp sle i64 %n, 0
      br i1 %done, label %end, label %again
    again:
      %m = add i64 %n, -1
      %s = call double @llvm.sin.f64(double %x)
      %u = fadd double %s, %x
      %r = call double @g(double %u, i64 %m)
      %v = fmul double %r, %s
      %w = fadd double %v, 0.5
      br label %end
    end:
      %t = phi double [ %x, %entry ], [ %w, %again ]
      ret double %t
    }
    define double @f(double %x, i64 %n) {
      %r = call double @g(double %x, i64 %n)
      ret double %r
    })";

TEST(ReverseCalls, Recursion) {
  for (int N : {0, 1, 7})
    EXPECT_EQ(reverse(Case(Recursion).active(0.75).integer(N)), "") << N;
}

TEST(ReverseCalls, DeepRecursion) {
  EXPECT_EQ(reverse(Case(Recursion).active(0.01).integer(10000)), "");
}

TEST(ReverseCalls, MutualRecursion) {
  EXPECT_EQ(reverse(Case(R"(
    define void @even(ptr %p, i64 %n, double %x) {
    entry:
      %done = icmp sle i64 %n, 0
      br i1 %done, label %end, label %again
    again:
      %m = add i64 %n, -1
      %a = load double, ptr %p
      %b = fmul double %a, %x
      store double %b, ptr %p
      call void @odd(ptr %p, i64 %m, double %b)
      br label %end
    end:
      ret void
    }
    define void @odd(ptr %p, i64 %n, double %x) {
    entry:
      %done = icmp sle i64 %n, 0
      br i1 %done, label %end, label %again
    again:
      %m = add i64 %n, -1
      %a = load double, ptr %p
      %b = fadd double %a, %x
      store double %b, ptr %p
      call void @even(ptr %p, i64 %m, double %x)
      %c = load double, ptr %p
      %d = fmul double %c, 0.5
      store double %d, ptr %p
      br label %end
    end:
      ret void
    }
    define void @f(ptr %p, double %x) {
      call void @even(ptr %p, i64 5, double %x)
      ret void
    })")
                        .buffer({0.5})
                        .active(0.75)),
            "");
}

TEST(ReverseCalls, UnknownFunction) {
  EXPECT_NE(reverseDiagnostics(Case(R"(
    declare double @mystery(double)
    define double @f(double %x) {
      %a = call double @mystery(double %x)
      ret double %a
    })")
                                   .active(1.25))
                .find("'mystery'"),
            std::string::npos);
}
