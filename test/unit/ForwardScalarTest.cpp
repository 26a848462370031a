// Forward mode: floating-point instructions and control flow.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

/// A function of x and y from the instructions of its body.
static Case scalar(const std::string &Body, const std::string &Others = "") {
  return Case(Others + "\ndefine double @f(double %x, double %y) {\n" + Body +
              "\n}\n");
}

static std::string check(Case C, double X, double Y) {
  return forward(C.active(X).active(Y));
}

TEST(ForwardScalar, Arithmetic) {
  EXPECT_EQ(check(scalar(R"(
    %a = fadd double %x, %y
    %b = fsub double %a, 3.0
    %c = fmul double %b, %x
    %d = fdiv double %c, %y
    %e = fneg double %d
    ret double %e)"),
                  1.5, 0.7),
            "");
}

TEST(ForwardScalar, Remainder) {
  // frem: x - trunc(x/y)*y, so the partial for y is -trunc(x/y).
  EXPECT_EQ(check(scalar(R"(
    %a = frem double %x, %y
    ret double %a)"),
                  7.5, 2.2),
            "");
}

TEST(ForwardScalar, SameOperandTwice) {
  EXPECT_EQ(check(scalar(R"(
    %a = fmul double %x, %x
    %b = fdiv double %a, %a
    %c = fadd double %a, %b
    %d = fmul double %c, %y
    ret double %d)"),
                  1.5, 0.7),
            "");
}

TEST(ForwardScalar, ConstantResult) {
  EXPECT_EQ(check(scalar("ret double 4.0"), 1, 2), "");
}

TEST(ForwardScalar, ArgumentReturned) {
  EXPECT_EQ(check(scalar("ret double %y"), 1, 2), "");
}

TEST(ForwardScalar, UndefAndPoisonHaveNoTangent) {
  EXPECT_EQ(check(scalar(R"(
    %c = fcmp olt double %x, %y
    br i1 %c, label %a, label %b
  a:
    br label %e
  b:
    br label %e
  e:
    %p = phi double [ %x, %a ], [ undef, %b ]
    ret double %p)"),
                  1, 2),
            "");
}

TEST(ForwardScalar, SelectFollowsTheCondition) {
  Case C = scalar(R"(
    %c = fcmp olt double %x, %y
    %a = fmul double %x, 3.0
    %b = fmul double %y, %y
    %s = select i1 %c, double %a, double %b
    ret double %s)");
  EXPECT_EQ(check(C, 1, 2), "");
  EXPECT_EQ(check(C, 2, 1), "");
}

TEST(ForwardScalar, Freeze) {
  EXPECT_EQ(check(scalar(R"(
    %a = fmul double %x, %y
    %b = freeze double %a
    %c = fmul double %b, %b
    ret double %c)"),
                  1.5, 0.7),
            "");
}

TEST(ForwardScalar, Precisions) {
  EXPECT_EQ(check(scalar(R"(
    %a = fptrunc double %x to float
    %b = fptrunc double %y to float
    %c = fmul float %a, %b
    %d = fpext float %c to double
    %e = fmul double %d, %x
    ret double %e)")
                      .unit(CellKind::F32),
                  1.5, 0.75),
            "");
  EXPECT_EQ(check(scalar(R"(
    %a = fpext double %x to x86_fp80
    %b = fpext double %y to x86_fp80
    %c = fmul x86_fp80 %a, %b
    %d = fdiv x86_fp80 %c, %a
    %e = fadd x86_fp80 %d, %c
    %r = fptrunc x86_fp80 %e to double
    ret double %r)"),
                  1.5, 0.75),
            "");
}

TEST(ForwardScalar, FloatFunction) {
  EXPECT_EQ(forward(Case(R"(
    define float @f(float %x, float %y) {
      %a = fmul float %x, %y
      %b = fadd float %a, %x
      ret float %b
    })")
                        .active(1.5)
                        .active(0.75)),
            "");
}

TEST(ForwardScalar, IntegerConversionsCarryNothing) {
  EXPECT_EQ(check(scalar(R"(
    %i = fptosi double %x to i32
    %a = sitofp i32 %i to double
    %u = fptoui double %y to i64
    %b = uitofp i64 %u to double
    %c = fmul double %a, %y
    %d = fmul double %b, %x
    %e = fadd double %c, %d
    ret double %e)"),
                  3.5, 2.25),
            "");
}

TEST(ForwardScalar, Switch) {
  Case Base = Case(R"(
    define double @f(double %x, i32 %k) {
    entry:
      switch i32 %k, label %d [ i32 0, label %a
                                i32 1, label %b
                                i32 2, label %b
                                i32 7, label %c ]
    a:
      %va = fmul double %x, %x
      br label %e
    b:
      %vb = fmul double %x, 5.0
      br label %e
    c:
      br label %e
    d:
      br label %e
    e:
      %p = phi double [ %va, %a ], [ %vb, %b ], [ 1.0, %c ], [ %x, %d ]
      %q = fmul double %p, %x
      ret double %q
    })");
  for (int K : {0, 1, 2, 7, 9})
    EXPECT_EQ(forward(Case(Base).active(1.5).integer(K)), "") << K;
}

TEST(ForwardScalar, CountedLoop) {
  Case Base = Case(R"(
    define double @f(double %x, i64 %n) {
    entry:
      %z = icmp sgt i64 %n, 0
      br i1 %z, label %loop, label %exit
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %a = phi double [ %x, %entry ], [ %a1, %loop ]
      %f = uitofp i64 %i to double
      %s = fmul double %a, %x
      %a1 = fadd double %s, %f
      %i1 = add nsw i64 %i, 1
      %c = icmp slt i64 %i1, %n
      br i1 %c, label %loop, label %exit
    exit:
      %r = phi double [ 0.5, %entry ], [ %a1, %loop ]
      ret double %r
    })");
  for (int N : {0, 1, 2, 7})
    EXPECT_EQ(forward(Case(Base).active(0.9).integer(N)), "") << N;
}

TEST(ForwardScalar, PhisSwapTheirValues) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(double %x, double %y, i32 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
      %a = phi double [ %x, %entry ], [ %b, %loop ]
      %b = phi double [ %y, %entry ], [ %c, %loop ]
      %c = fmul double %a, 1.25
      %i1 = add i32 %i, 1
      %t = icmp ult i32 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      %r = fmul double %a, %b
      ret double %r
    })")
                        .active(1.5)
                        .active(0.5)
                        .integer(5)),
            "");
}

TEST(ForwardScalar, WhileLoopThatConverges) {
  // Newton's iteration for the square root, until it stands still.
  EXPECT_EQ(forward(Case(R"(
    declare double @llvm.fabs.f64(double)
    define double @f(double %x) {
    entry:
      br label %loop
    loop:
      %a = phi double [ %x, %entry ], [ %n, %loop ]
      %q = fdiv double %x, %a
      %s = fadd double %a, %q
      %n = fmul double %s, 5.0e-1
      %d = fsub double %n, %a
      %m = call double @llvm.fabs.f64(double %d)
      %c = fcmp olt double %m, 1.0e-13
      br i1 %c, label %exit, label %loop
    exit:
      ret double %n
    })")
                        .active(2.0)),
            "");
}

TEST(ForwardScalar, EarlyExits) {
  Case Base = Case(R"(
    define double @f(double %x, ptr %p, i64 %n) {
    entry:
      br label %head
    head:
      %i = phi i64 [ 0, %entry ], [ %i1, %next ]
      %a = phi double [ %x, %entry ], [ %a1, %next ]
      %c = icmp ult i64 %i, %n
      br i1 %c, label %body, label %done
    body:
      %q = getelementptr double, ptr %p, i64 %i
      %v = load double, ptr %q
      %big = fcmp ogt double %v, 1.0e+2
      br i1 %big, label %early, label %test
    test:
      %neg = fcmp olt double %v, 0.0
      br i1 %neg, label %next, label %add
    add:
      %s = fmul double %v, %a
      br label %next
    next:
      %a1 = phi double [ %a, %test ], [ %s, %add ]
      %i1 = add i64 %i, 1
      br label %head
    early:
      %e = fmul double %v, %x
      ret double %e
    done:
      ret double %a
    })");
  EXPECT_EQ(forward(Case(Base).active(0.9).buffer({1, -2, 3, 4}).integer(4)),
            "");
  EXPECT_EQ(forward(Case(Base).active(0.9).buffer({1, 200, 3, 4}).integer(4)),
            "");
  EXPECT_EQ(forward(Case(Base).active(0.9).buffer({1}).integer(0)), "");
}

TEST(ForwardScalar, NestedLoopsWithVaryingTrips) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(double %x, i64 %n) {
    entry:
      br label %outer
    outer:
      %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
      %a = phi double [ 1.0, %entry ], [ %c, %latch ]
      br label %inner
    inner:
      %j = phi i64 [ 0, %outer ], [ %j1, %more ]
      %c = phi double [ %a, %outer ], [ %d, %more ]
      %t = icmp ult i64 %j, %i
      br i1 %t, label %more, label %latch
    more:
      %e = fmul double %c, %x
      %d = fadd double %e, 1.25e-1
      %j1 = add i64 %j, 1
      br label %inner
    latch:
      %i1 = add i64 %i, 1
      %u = icmp ult i64 %i1, %n
      br i1 %u, label %outer, label %exit
    exit:
      ret double %c
    })")
                        .active(1.1)
                        .integer(5)),
            "");
}

TEST(ForwardScalar, IrreducibleFlow) {
  Case Base = Case(R"(
    define double @f(double %x, i32 %k, i32 %n) {
    entry:
      %o = and i32 %k, 1
      %c = icmp eq i32 %o, 0
      br i1 %c, label %a, label %b
    a:
      %pa = phi double [ %x, %entry ], [ %vb, %b ]
      %ia = phi i32 [ 0, %entry ], [ %ib1, %b ]
      %va = fmul double %pa, %x
      %ia1 = add i32 %ia, 1
      br label %b
    b:
      %pb = phi double [ 2.0, %entry ], [ %va, %a ]
      %ib = phi i32 [ 0, %entry ], [ %ia1, %a ]
      %vb = fadd double %pb, %x
      %ib1 = add i32 %ib, 1
      %t = icmp slt i32 %ib1, %n
      br i1 %t, label %a, label %exit
    exit:
      ret double %vb
    })");
  EXPECT_EQ(forward(Case(Base).active(1.1).integer(0).integer(6)), "");
  EXPECT_EQ(forward(Case(Base).active(1.1).integer(1).integer(6)), "");
}

TEST(ForwardScalar, IndirectBranch) {
  Case Base = Case(R"(
    @table = internal constant [2 x ptr] [ptr blockaddress(@f, %a),
                                          ptr blockaddress(@f, %b)]
    define double @f(double %x, i64 %k) {
    entry:
      %p = getelementptr [2 x ptr], ptr @table, i64 0, i64 %k
      %l = load ptr, ptr %p
      indirectbr ptr %l, [label %a, label %b]
    a:
      %va = fmul double %x, %x
      br label %e
    b:
      %vb = fmul double %x, 3.0
      br label %e
    e:
      %r = phi double [ %va, %a ], [ %vb, %b ]
      ret double %r
    })");
  EXPECT_EQ(forward(Case(Base).active(1.5).integer(0)), "");
  EXPECT_EQ(forward(Case(Base).active(1.5).integer(1)), "");
}

TEST(ForwardScalar, UnreachableBranch) {
  EXPECT_EQ(check(scalar(R"(
    %c = fcmp olt double %x, 0.0
    br i1 %c, label %bad, label %good
  bad:
    call void @abort()
    unreachable
  good:
    %r = fmul double %x, %y
    ret double %r)",
                         "declare void @abort() noreturn nounwind"),
                  1, 2),
            "");
}

TEST(ForwardScalar, ManyReturns) {
  Case C = scalar(R"(
    %c = fcmp olt double %x, %y
    br i1 %c, label %a, label %b
  a:
    ret double %x
  b:
    %d = fcmp ogt double %y, 1.0
    br i1 %d, label %e, label %g
  e:
    %v = fmul double %y, %x
    ret double %v
  g:
    ret double 3.0)");
  EXPECT_EQ(check(C, 1, 2), "");
  EXPECT_EQ(check(C, 3, 2), "");
  EXPECT_EQ(check(C, 0.9, 0.5), "");
}

TEST(ForwardScalar, SelfLoopOnEntryValueOnly) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(double %x, i32 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
      %i1 = add i32 %i, 1
      %c = icmp slt i32 %i1, %n
      br i1 %c, label %loop, label %exit
    exit:
      %k = sitofp i32 %i1 to double
      %r = fmul double %x, %k
      ret double %r
    })")
                        .active(1.5)
                        .integer(4)),
            "");
}

TEST(ForwardScalar, StructsByValue) {
  EXPECT_EQ(forward(Case(R"(
    define {double, double} @f({double, double} %p, i32 %k) {
      %a = extractvalue {double, double} %p, 0
      %b = extractvalue {double, double} %p, 1
      %c = fmul double %a, %b
      %d = fadd double %c, %a
      %r = insertvalue {double, double} poison, double %c, 0
      %s = insertvalue {double, double} %r, double %d, 1
      ret {double, double} %s
    })")
                        .active({1.5, 0.5})
                        .integer(1)),
            "");
}

TEST(ForwardScalar, NestedAggregates) {
  EXPECT_EQ(forward(Case(R"(
    %in = type {[2 x double], i32}
    define internal %in @make(double %x, double %y) noinline {
      %a = insertvalue %in zeroinitializer, double %x, 0, 0
      %b = insertvalue %in %a, double %y, 0, 1
      %c = insertvalue %in %b, i32 7, 1
      ret %in %c
    }
    define double @f(double %x, double %y) {
      %m = call %in @make(double %x, double %y)
      %a = extractvalue %in %m, 0
      %b = extractvalue [2 x double] %a, 0
      %c = extractvalue %in %m, 0, 1
      %i = extractvalue %in %m, 1
      %k = sitofp i32 %i to double
      %p = fmul double %b, %c
      %q = fmul double %p, %k
      ret double %q
    })")
                        .active(1.5)
                        .active(0.25)),
            "");
}

TEST(ForwardScalar, SignTricksOnBits) {
  // What fneg, fabs and copysign look like in some front ends' code.
  EXPECT_EQ(check(scalar(R"(
    %b = bitcast double %x to i64
    %n = xor i64 %b, -9223372036854775808
    %f = bitcast i64 %n to double
    %m = and i64 %n, 9223372036854775807
    %g = bitcast i64 %m to double
    %p = fmul double %f, %g
    %r = fmul double %p, %y
    ret double %r)"),
                  1.5, 0.7),
            "");
}

TEST(ForwardScalar, BitsMovedThroughIntegers) {
  // Two floats in one i64, taken apart again: a move, not arithmetic.
  EXPECT_EQ(forward(Case(R"(
    define float @f(float %x, float %y) {
      %a = bitcast float %x to i32
      %b = bitcast float %y to i32
      %wa = zext i32 %a to i64
      %wb = zext i32 %b to i64
      %sb = shl i64 %wb, 32
      %w = or disjoint i64 %wa, %sb
      %hi = lshr i64 %w, 32
      %h = trunc i64 %hi to i32
      %l = trunc i64 %w to i32
      %hf = bitcast i32 %h to float
      %lf = bitcast i32 %l to float
      %r = fmul float %hf, %lf
      %s = fadd float %r, %lf
      ret float %s
    })")
                        .active(1.5)
                        .active(0.75)),
            "");
}
