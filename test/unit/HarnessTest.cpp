// The harness itself: what it must notice.
#include "harness/Allocations.h"
#include "harness/Check.h"
#include "harness/ComplexStep.h"
#include "harness/Differences.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace adjoin::test;

TEST(Harness, DifferencesOfSmoothFunctions) {
  auto F = [](double &T) {
    return std::vector<double>{std::exp(1 + T), std::sin(2 + T), 3.0};
  };
  std::vector<Estimate> E = differences(F, 1.0 / 32, 7, 1.2e-16);
  EXPECT_NEAR(E[0].Value, std::exp(1.0), 1e-11);
  EXPECT_NEAR(E[1].Value, std::cos(2.0), 1e-11);
  EXPECT_LE(std::fabs(E[0].Value - std::exp(1.0)), 4 * E[0].Error);
  EXPECT_EQ(E[2].Value, 0);
  EXPECT_EQ(E[2].Error, 0);
}

TEST(Harness, DifferencesNearTheEdgeOfADomain) {
  // The larger steps leave the domain of the logarithm.
  auto F = [](double &T) { return std::vector<double>{std::log(0.01 + T)}; };
  EXPECT_NEAR(differences(F, 1.0 / 32, 9, 1.2e-16)[0].Value, 100, 1e-5);
}

TEST(Harness, DifferencesKnowWhatTheyDoNotKnow) {
  auto F = [](double &T) { return std::vector<double>{std::fabs(T)}; };
  auto Step = [](double &T) { return std::vector<double>{T > 0 ? 1.0 : 0.0}; };
  EXPECT_NEAR(differences(F, 1.0 / 32, 7, 1.2e-16)[0].Value, 0, 1e-12);
  EXPECT_GT(differences(Step, 1.0 / 32, 7, 1.2e-16)[0].Error, 1.0);
}

TEST(Harness, ComplexStepsAreExact) {
  ComplexStep X(0.7, ComplexStep::Step);
  ComplexStep Y = sin(X * X) / exp(X) + pow(X, 3.0) * tanh(X);
  double T = std::tanh(0.7);
  double Want = std::cos(0.49) * 1.4 * std::exp(-0.7) -
                std::sin(0.49) * std::exp(-0.7) + 3 * 0.49 * T +
                0.343 * (1 - T * T);
  EXPECT_NEAR(Y.derivative(), Want, 1e-15);
}

/// A custom rule stands for a derivative that is wrong.
static Case wrong(const char *Body) {
  return Case(std::string(R"(
    @__adjoin_register_derivative_g = constant [2 x ptr] [ptr @g, ptr @dg]
    declare ptr @malloc(i64)
    define double @g(double %x, ptr %p) noinline {
      %v = load double, ptr %p
      %a = fmul double %x, %v
      ret double %a
    }
    define {double, double} @dg(double %x, double %dx, ptr %p, ptr %dp) {
      %v = load double, ptr %p
      %a = fmul double %x, %v
      %dv = load double, ptr %dp
      %s = fmul double %dx, %v
      %t = fmul double %x, %dv
      %u = fadd double %s, %t
      )") + Body +
              R"(
      %r = insertvalue {double, double} poison, double %b, 0
      %w = insertvalue {double, double} %r, double %d, 1
      ret {double, double} %w
    }
    define double @f(double %x, ptr %p) {
      %a = call double @g(double %x, ptr %p)
      ret double %a
    })")
      .active(1.5)
      .buffer({2.5});
}

static bool finds(const Case &C, const char *Text) {
  return forward(C).find(Text) != std::string::npos;
}

TEST(Harness, AcceptsARightRule) {
  EXPECT_EQ(forward(wrong("%b = fadd double %a, 0.0\n"
                          "%d = fadd double %u, 0.0")),
            "");
}

TEST(Harness, NoticesAWrongTangent) {
  EXPECT_TRUE(finds(wrong("%b = fadd double %a, 0.0\n"
                          "%d = fadd double %s, 0.0"),
                    "d result / d block 0[0]: expected 1.5"));
}

TEST(Harness, NoticesAWrongPrimalValue) {
  EXPECT_TRUE(finds(wrong("%b = fadd double %a, 1.0\n"
                          "%d = fadd double %u, 0.0"),
                    "primal value of result"));
}

TEST(Harness, NoticesAWriteBesideABuffer) {
  EXPECT_TRUE(finds(wrong("%q = getelementptr double, ptr %dp, i64 1\n"
                          "store double 1.0, ptr %q\n"
                          "%b = fadd double %a, 0.0\n"
                          "%d = fadd double %u, 0.0"),
                    "memory around the shadow of block 0 was written"));
}

TEST(Harness, NoticesALeak) {
  EXPECT_TRUE(finds(wrong("%m = call ptr @malloc(i64 8)\n"
                          "store volatile double 1.0, ptr %m\n"
                          "%b = fadd double %a, 0.0\n"
                          "%d = fadd double %u, 0.0"),
                    "still allocated"));
}
