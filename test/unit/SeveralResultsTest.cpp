// Calls with several results, in both modes and with lanes.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

namespace {

/// A function of x and y, in both modes, one lane and four (where reverse has
/// lanes).
void both(const char *IR) {
  Case C = Case(IR).active(1.25).active(-0.75);
  EXPECT_EQ(forward(C), "");
  EXPECT_EQ(reverse(C), "");
  Case Negative = Case(IR).active(-5.5).active(3.25);
  EXPECT_EQ(forward(Negative), "");
  EXPECT_EQ(reverse(Negative), "");
  EXPECT_EQ(forward(Case(IR).active(1.25).active(-0.75).width(4)), "");
}

TEST(SeveralResults, Sincos) {
  both(R"(
    declare void @sincos(double, ptr, ptr)
    define double @f(double %x, double %y) {
      %s = alloca double
      %c = alloca double
      %z = fmul double %x, %y
      call void @sincos(double %z, ptr %s, ptr %c)
      %a = load double, ptr %s
      %b = load double, ptr %c
      %p = fmul double %a, %x
      %q = fmul double %p, %b
      ret double %q
    })");
}

TEST(SeveralResults, SincosIntrinsic) {
  both(R"(
    define double @f(double %x, double %y) {
      %z = fmul double %x, %y
      %r = call {double, double} @llvm.sincos.f64(double %z)
      %a = extractvalue {double, double} %r, 0
      %b = extractvalue {double, double} %r, 1
      %p = fmul double %a, %x
      %q = fmul double %p, %b
      ret double %q
    })");
}

TEST(SeveralResults, SincosIntoTheCallersMemory) {
  Case C = Case(R"(
    declare void @sincos(double, ptr, ptr)
    define void @f(double %x, ptr %p) {
      %q = getelementptr double, ptr %p, i64 1
      call void @sincos(double %x, ptr %p, ptr %q)
      ret void
    })")
               .active(1.25)
               .output(2);
  EXPECT_EQ(forward(C), "");
  EXPECT_EQ(reverse(C), "");
}

TEST(SeveralResults, SincosInSinglePrecision) {
  Case C = Case(R"(
    declare void @sincosf(float, ptr, ptr)
    define float @f(float %x) {
      %s = alloca float
      %c = alloca float
      call void @sincosf(float %x, ptr %s, ptr %c)
      %a = load float, ptr %s
      %b = load float, ptr %c
      %q = fmul float %a, %b
      ret float %q
    })")
               .active(1.25);
  EXPECT_EQ(forward(C), "");
  EXPECT_EQ(reverse(C), "");
}

TEST(SeveralResults, Frexp) {
  both(R"(
    declare double @frexp(double, ptr)
    define double @f(double %x, double %y) {
      %e = alloca i32
      %m = call double @frexp(double %x, ptr %e)
      %n = load i32, ptr %e
      %k = sitofp i32 %n to double
      %a = fmul double %m, %y
      %b = fmul double %k, %a
      ret double %b
    })");
}

TEST(SeveralResults, Modf) {
  both(R"(
    declare double @modf(double, ptr)
    define double @f(double %x, double %y) {
      %i = alloca double
      %z = fmul double %x, %y
      %a = call double @modf(double %z, ptr %i)
      %b = load double, ptr %i
      %c = fmul double %a, %y
      %d = fmul double %b, %x
      %e = fadd double %c, %d
      ret double %e
    })");
}

TEST(SeveralResults, Remquo) {
  both(R"(
    declare double @remquo(double, double, ptr)
    define double @f(double %x, double %y) {
      %q = alloca i32
      %r = call double @remquo(double %x, double %y, ptr %q)
      %n = load i32, ptr %q
      %k = sitofp i32 %n to double
      %a = fmul double %r, %k
      %b = fmul double %a, %y
      ret double %b
    })");
}

TEST(SeveralResults, LgammaR) {
  both(R"(
    declare double @lgamma_r(double, ptr)
    define double @f(double %x, double %y) {
      %s = alloca i32
      %z = fmul double %x, %x
      %r = call double @lgamma_r(double %z, ptr %s)
      %a = fmul double %r, %y
      ret double %a
    })");
}

} // namespace
