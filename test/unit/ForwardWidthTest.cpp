// Vector forward mode: several tangents at once.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

class ForwardWidth : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Lanes, ForwardWidth, ::testing::Values(2, 3, 4, 8));

TEST_P(ForwardWidth, Scalars) {
  EXPECT_EQ(forward(Case(R"(
    declare double @llvm.sin.f64(double)
    define double @f(double %x, double %y, float %z) {
      %s = call double @llvm.sin.f64(double %x)
      %a = fmul double %s, %y
      %w = fpext float %z to double
      %b = fdiv double %a, %w
      %c = fcmp ogt double %b, 0.0
      %r = select i1 %c, double %b, double %x
      ret double %r
    })")
                        .active(1.5)
                        .active(0.7)
                        .active(2.5)
                        .width(GetParam())),
            "");
}

TEST_P(ForwardWidth, BuffersAndLoops) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(ptr %p, i64 %n, double %x) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 1, %entry ], [ %i1, %loop ]
      %s = phi double [ 0.0, %entry ], [ %s1, %loop ]
      %h = add i64 %i, -1
      %pa = getelementptr double, ptr %p, i64 %h
      %pb = getelementptr double, ptr %p, i64 %i
      %a = load double, ptr %pa
      %b = load double, ptr %pb
      %c = fmul double %a, %x
      %d = fadd double %b, %c
      store double %d, ptr %pb
      %s1 = fadd double %s, %d
      %i1 = add i64 %i, 1
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      ret double %s1
    })")
                        .buffer({1, 2, 3, 4})
                        .integer(4)
                        .active(0.5)
                        .width(GetParam())),
            "");
}

TEST_P(ForwardWidth, VectorsInThePrimal) {
  EXPECT_EQ(forward(Case(R"(
    declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)
    define double @f(<4 x double> %x, ptr %p) {
      %a = load <4 x double>, ptr %p, align 8
      %b = fmul <4 x double> %a, %x
      %c = shufflevector <4 x double> %b, <4 x double> %x, <4 x i32> <i32 3, i32 4, i32 1, i32 6>
      %d = fmul <4 x double> %c, %b
      store <4 x double> %d, ptr %p, align 8
      %e = extractelement <4 x double> %d, i64 2
      %r = call double @llvm.vector.reduce.fadd.v4f64(double %e, <4 x double> %c)
      ret double %r
    })")
                        .active({1, 2, 3, 4})
                        .buffer({0.5, 0.6, 0.7, 0.8})
                        .width(GetParam())),
            "");
}

TEST_P(ForwardWidth, RecordsListsAndAllocations) {
  Case C(R"(
    declare ptr @malloc(i64)
    declare void @free(ptr)
    define internal ptr @copy(ptr %p) noinline {
      %m = call ptr @malloc(i64 16)
      %v = load i64, ptr %p
      store i64 %v, ptr %m
      %pn = getelementptr i8, ptr %p, i64 8
      %n = load ptr, ptr %pn
      %mn = getelementptr i8, ptr %m, i64 8
      store ptr %n, ptr %mn
      ret ptr %m
    }
    define double @f(ptr %head, double %x) {
    entry:
      br label %loop
    loop:
      %p = phi ptr [ %head, %entry ], [ %n, %body ]
      %s = phi double [ %x, %entry ], [ %s1, %body ]
      %z = icmp eq ptr %p, null
      br i1 %z, label %exit, label %body
    body:
      %c = call ptr @copy(ptr %p)
      %v = load double, ptr %c
      %s1 = fmul double %s, %v
      store double %s1, ptr %p
      %pn = getelementptr i8, ptr %c, i64 8
      %n = load ptr, ptr %pn
      call void @free(ptr %c)
      br label %loop
    exit:
      ret double %s
    })");
  int A = C.block({f64(1.5), null()});
  int K = C.block({f64(3.5), to(A)}, false);
  (void)K;
  int B = C.block({f64(2.5), to(A)});
  EXPECT_EQ(
      forward(
          C.pointer(C.block({f64(0.5), to(B)})).active(0.75).width(GetParam())),
      "");
}

TEST_P(ForwardWidth, ConstantScratchAndGlobals) {
  EXPECT_EQ(forward(Case(R"(
    @g = internal global double 0.0
    define double @f(double %x, ptr %w) {
      %a = fmul double %x, %x
      store double %a, ptr %w
      store double %x, ptr @g
      %b = load double, ptr %w
      %c = load double, ptr @g
      %d = fmul double %b, %c
      ret double %d
    })")
                        .active(1.5)
                        .constBuffer({0})
                        .width(GetParam())),
            "");
}

TEST_P(ForwardWidth, StructResults) {
  EXPECT_EQ(forward(Case(R"(
    define internal {double, i64, float} @g(double %x, float %y) noinline {
      %a = fmul double %x, %x
      %s = insertvalue {double, i64, float} poison, double %a, 0
      %t = insertvalue {double, i64, float} %s, i64 3, 1
      %u = insertvalue {double, i64, float} %t, float %y, 2
      ret {double, i64, float} %u
    }
    define double @f(double %x, float %y) {
      %s = call {double, i64, float} @g(double %x, float %y)
      %a = extractvalue {double, i64, float} %s, 0
      %b = extractvalue {double, i64, float} %s, 2
      %c = fpext float %b to double
      %d = fmul double %a, %c
      ret double %d
    })")
                        .active(1.5)
                        .active(2.5)
                        .width(GetParam())),
            "");
}
