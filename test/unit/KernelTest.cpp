// Numeric kernels from a real compiler at several levels, to full precision
// against complex steps, in both modes where there is reverse mode.
#include "harness/ComplexStep.h"
#include "harness/Program.h"
#include "harness/World.h"
#include "kernels/Kernels.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

namespace {
struct Kernel {
  const char *Name;
  ComplexStep (*Run)(const ComplexStep *, int);
};
} // namespace

#define ROW(F) {#F, F<ComplexStep>},
static const Kernel Kernels[] = {ADJOIN_TEST_KERNELS(ROW)};

static const std::vector<double> Point = {0.9, 1.4, 0.6,  2.1, 1.1,
                                          0.3, 1.7, -0.8, 0.5};

static std::vector<double> gradient(const Kernel &K) {
  std::vector<double> G;
  for (size_t I = 0; I != Point.size(); ++I) {
    std::vector<ComplexStep> X(Point.begin(), Point.end());
    X[I] = ComplexStep(Point[I], ComplexStep::Step);
    G.push_back(K.Run(X.data(), static_cast<int>(X.size())).derivative());
  }
  return G;
}

class KernelTest
    : public ::testing::TestWithParam<std::tuple<Kernel, const char *>> {
protected:
  Case make() const {
    auto [K, Level] = GetParam();
    Case C = Case::fromFile(
        std::string(ADJOIN_TEST_BITCODE) + "/kernels-" + Level + ".bc", K.Name);
    C.buffer(Point).integer(static_cast<int64_t>(Point.size()));
    return C;
  }
};

static void expectNear(double Got, double Want, double Size, size_t I) {
  EXPECT_NEAR(Got, Want, 1e-12 * std::max(Size, std::fabs(Want)))
      << "entry " << I;
}

static double sizeOfAll(const std::vector<double> &V) {
  double Size = 0;
  for (double X : V)
    Size = std::max(Size, std::fabs(X));
  return Size;
}

TEST_P(KernelTest, Forward) {
  Case C = make().width(3);
  std::vector<double> Want = gradient(std::get<0>(GetParam()));
  for (const Variant &V : variants()) {
    Program P(C, V, Direction::Forward);
    ASSERT_TRUE(P.runs()) << (P.diagnostics().empty()
                                  ? P.complaints().front()
                                  : P.diagnostics().front());
    World W(C, P.layout());
    for (size_t First = 0; First < Point.size(); First += 3) {
      W.reset(W.point());
      for (unsigned Lane = 0; Lane != 3; ++Lane) {
        std::vector<double> Seed(Point.size(), 0.0);
        Seed[First + Lane] = 1;
        W.seed(Lane, Seed, true);
      }
      P.Derived(W.arguments(), W.result());
      for (unsigned Lane = 0; Lane != 3; ++Lane)
        expectNear(W.tangents(Lane)[0], Want[First + Lane], sizeOfAll(Want),
                   First + Lane);
    }
  }
}

TEST_P(KernelTest, Reverse) {
  Case C = make();
  std::vector<double> Want = gradient(std::get<0>(GetParam()));
  for (const Variant &V : variants()) {
    Program P(C, V, Direction::Reverse);
    ASSERT_TRUE(P.runs()) << (P.diagnostics().empty()
                                  ? P.complaints().front()
                                  : P.diagnostics().front());
    World W(C, P.layout());
    W.reset(W.point());
    W.seed(0, std::vector<double>(Point.size() + 1, 0.0), false);
    P.Derived(W.arguments(), W.result());
    std::vector<double> Got = W.adjoints(0);
    for (size_t I = 0; I != Point.size(); ++I)
      expectNear(Got[I], Want[I], sizeOfAll(Want), I);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelTest,
                         ::testing::Combine(::testing::ValuesIn(Kernels),
                                            ::testing::Values("O0", "O2",
                                                              "O3native")),
                         [](const auto &Info) {
                           return std::string(std::get<0>(Info.param).Name) +
                                  std::get<1>(Info.param);
                         });
