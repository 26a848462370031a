// Reverse mode: straight-line code, branches and loops.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

TEST(ReverseFlow, StraightLine) {
  EXPECT_EQ(reverse(Case(R"(
    declare double @llvm.sin.f64(double)
    declare double @exp(double)
    define double @f(double %x, double %y) {
      %a = fmul double %x, %y
      %b = call double @llvm.sin.f64(double %a)
      %c = call double @exp(double %x)
      %d = fdiv double %b, %c
      %e = fadd double %d, %x
      %g = fsub double %e, %y
      ret double %g
    })")
                        .active(1.25)
                        .active(-0.75)),
            "");
}

TEST(ReverseFlow, OperandUsedTwice) {
  EXPECT_EQ(reverse(Case(R"(
    define double @f(double %x) {
      %a = fmul double %x, %x
      %b = fmul double %a, %a
      %c = fmul double %b, %x
      ret double %c
    })")
                        .active(1.25)),
            "");
}

TEST(ReverseFlow, ConstantArgument) {
  EXPECT_EQ(reverse(Case(R"(
    define double @f(double %x, double %y) {
      %a = fmul double %x, %y
      ret double %a
    })")
                        .active(1.25)
                        .constant(3.0)),
            "");
}

TEST(ReverseFlow, FloatAndDouble) {
  EXPECT_EQ(reverse(Case(R"(
    define float @f(float %x, double %y) {
      %a = fpext float %x to double
      %b = fmul double %a, %y
      %c = fptrunc double %b to float
      %d = fmul float %c, %x
      ret float %d
    })")
                        .active(1.25)
                        .active(0.75)),
            "");
}

TEST(ReverseFlow, Select) {
  EXPECT_EQ(reverse(Case(R"(
    define double @f(double %x, double %y) {
      %c = fcmp ogt double %x, %y
      %m = select i1 %c, double %x, double %y
      %n = fmul double %m, %x
      ret double %n
    })")
                        .active(1.25)
                        .active(2.5)),
            "");
}

static const char *Branch = R"(
    define double @f(double %x, double %y) {
    entry:
      %c = fcmp ogt double %x, %y
      br i1 %c, label %then, label %else
    then:
      %a = fmul double %x, %y
      br label %end
    else:
      %b = fdiv double %x, %y
      %b2 = fmul double %b, %b
      br label %end
    end:
      %m = phi double [ %a, %then ], [ %b2, %else ]
      %n = phi double [ %y, %then ], [ %x, %else ]
      %r = fmul double %m, %n
      ret double %r
    })";

TEST(ReverseFlow, BranchTaken) {
  EXPECT_EQ(reverse(Case(Branch).active(3.0).active(2.0)), "");
}

TEST(ReverseFlow, BranchNotTaken) {
  EXPECT_EQ(reverse(Case(Branch).active(2.0).active(3.0)), "");
}

static const char *Power = R"(
    declare double @llvm.sin.f64(double)
    define double @f(double %x, i64 %n) {
    entry:
      %none = icmp sle i64 %n, 0
      br i1 %none, label %end, label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %a = phi double [ %x, %entry ], [ %b, %loop ]
      %s = call double @llvm.sin.f64(double %a)
      %b = fmul double %s, %x
      %i1 = add i64 %i, 1
      %more = icmp slt i64 %i1, %n
      br i1 %more, label %loop, label %end
    end:
      %r = phi double [ %x, %entry ], [ %b, %loop ]
      ret double %r
    })";

TEST(ReverseFlow, CountedLoop) {
  EXPECT_EQ(reverse(Case(Power).active(1.25).integer(10)), "");
}

TEST(ReverseFlow, LoopOfNoTrips) {
  EXPECT_EQ(reverse(Case(Power).active(1.25).integer(0)), "");
}

TEST(ReverseFlow, ValuesSwapRolesInALoop) {
  EXPECT_EQ(reverse(Case(R"(
    define double @f(double %x, double %y, i64 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %a = phi double [ %x, %entry ], [ %b, %loop ]
      %b = phi double [ %y, %entry ], [ %c, %loop ]
      %p = fmul double %a, %b
      %c = fadd double %p, %x
      %i1 = add i64 %i, 1
      %more = icmp slt i64 %i1, %n
      br i1 %more, label %loop, label %end
    end:
      %r = fmul double %c, %a
      ret double %r
    })")
                        .active(0.75)
                        .active(0.5)
                        .integer(6)),
            "");
}

TEST(ReverseFlow, NestedLoopsWithBreak) {
  EXPECT_EQ(reverse(Case(R"(
    define double @f(double %x, double %y) {
    entry:
      br label %outer
    outer:
      %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
      %s = phi double [ 0.0, %entry ], [ %t, %latch ]
      br label %inner
    inner:
      %j = phi i64 [ 0, %outer ], [ %j1, %next ]
      %p = phi double [ %x, %outer ], [ %q, %next ]
      %q = fmul double %p, %y
      %big = fcmp ogt double %q, 10.0
      br i1 %big, label %latch, label %next
    next:
      %j1 = add i64 %j, 1
      %more = icmp sle i64 %j1, %i
      br i1 %more, label %inner, label %latch
    latch:
      %v = phi double [ %p, %inner ], [ %q, %next ]
      %w = fmul double %v, %x
      %t = fadd double %s, %w
      %i1 = add i64 %i, 1
      %again = icmp slt i64 %i1, 7
      br i1 %again, label %outer, label %end
    end:
      ret double %t
    })")
                        .active(1.5)
                        .active(1.75)),
            "");
}

TEST(ReverseFlow, Irreducible) {
  EXPECT_EQ(reverse(Case(R"(
    define double @f(double %x, i64 %n) {
    entry:
      %c = fcmp ogt double %x, 1.0
      br i1 %c, label %a, label %b
    a:
      %i = phi i64 [ 0, %entry ], [ %k, %b ]
      %u = phi double [ %x, %entry ], [ %v1, %b ]
      %u1 = fmul double %u, %x
      %i1 = add i64 %i, 1
      br label %b
    b:
      %k = phi i64 [ 5, %entry ], [ %i1, %a ]
      %v = phi double [ 2.0, %entry ], [ %u1, %a ]
      %v1 = fadd double %v, %x
      %more = icmp slt i64 %k, %n
      br i1 %more, label %a, label %end
    end:
      ret double %v1
    })")
                        .active(1.25)
                        .integer(4)),
            "");
}

TEST(ReverseFlow, Switch) {
  static const char *IR = R"(
    define double @f(double %x, i32 %k) {
    entry:
      switch i32 %k, label %other [ i32 0, label %zero
                                    i32 1, label %one
                                    i32 2, label %one ]
    zero:
      %a = fmul double %x, %x
      br label %end
    one:
      %b = fmul double %x, 3.0
      br label %end
    other:
      br label %end
    end:
      %r = phi double [ %a, %zero ], [ %b, %one ], [ 1.0, %other ]
      %s = fmul double %r, %x
      ret double %s
    })";
  for (int K = 0; K != 4; ++K)
    EXPECT_EQ(reverse(Case(IR).active(1.25).integer(K)), "") << K;
}

TEST(ReverseFlow, PanickingBranch) {
  EXPECT_EQ(reverse(Case(R"(
    declare void @abort() noreturn
    define double @f(double %x) {
    entry:
      %c = fcmp olt double %x, 0.0
      br i1 %c, label %panic, label %fine
    panic:
      %y = fdiv double %x, 0.0
      call void @abort()
      unreachable
    fine:
      %r = fmul double %x, %x
      ret double %r
    })")
                        .active(1.25)),
            "");
}

TEST(ReverseFlow, InfinityInABranchNotTaken) {
  EXPECT_EQ(reverse(Case(R"(
    declare double @llvm.sqrt.f64(double)
    define double @f(double %x, double %y) {
    entry:
      %z = fsub double %x, %x
      %c = fcmp ogt double %z, 1.0
      br i1 %c, label %bad, label %end
    bad:
      %q = fdiv double %y, %z
      %s = call double @llvm.sqrt.f64(double %q)
      br label %end
    end:
      %r = phi double [ %s, %bad ], [ %y, %entry ]
      %t = fmul double %r, %x
      ret double %t
    })")
                        .active(1.25)
                        .active(0.5)),
            "");
}
