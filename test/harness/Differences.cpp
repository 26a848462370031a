// Richardson extrapolation of central differences.
#include "Differences.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace adjoin::test;

static Estimate extrapolate(const std::vector<double> &Steps,
                            const std::vector<double> &Slopes,
                            const std::vector<double> &Noise) {
  const double Infinity = std::numeric_limits<double>::infinity();
  Estimate Best = {std::numeric_limits<double>::quiet_NaN(), Infinity};
  std::vector<double> Last; // the table's row above
  std::vector<double> LastSteps;
  for (size_t I = 0; I != Slopes.size(); ++I) {
    if (!std::isfinite(Slopes[I])) {
      Last.clear();
      LastSteps.clear();
      continue;
    }
    std::vector<double> Row = {Slopes[I]};
    LastSteps.push_back(Steps[I]);
    for (size_t J = 1; J <= Last.size(); ++J) {
      double Ratio = LastSteps[LastSteps.size() - 1 - J] / Steps[I];
      double T =
          Row[J - 1] + (Row[J - 1] - Last[J - 1]) / (Ratio * Ratio - 1.0);
      double Change =
          std::max(std::fabs(T - Row[J - 1]), std::fabs(T - Last[J - 1]));
      double Error = Change + Noise[I];
      if (Error < Best.Error)
        Best = {T, Error};
      Row.push_back(T);
    }
    Last = Row;
  }
  return Best;
}

std::vector<Estimate>
adjoin::test::differences(const std::function<std::vector<double>(double &)> &F,
                          double First, unsigned Levels, double Unit) {
  std::vector<double> Steps;
  std::vector<std::vector<double>> Slopes, Noise; // by output, then by level
  std::vector<double> Sizes;
  std::vector<char> Constant; // the output does not depend on the variable
  double Step = First;
  for (unsigned I = 0; I != Levels; ++I, Step /= 2) {
    double Up = Step, Down = -Step;
    std::vector<double> High = F(Up), Low = F(Down);
    double Width = Up - Down;
    Slopes.resize(High.size());
    Noise.resize(High.size());
    Sizes.resize(High.size());
    Constant.resize(High.size(), 1);
    Steps.push_back(Width / 2);
    for (size_t J = 0; J != High.size(); ++J) {
      Slopes[J].push_back((High[J] - Low[J]) / Width);
      double Size = std::max(std::fabs(High[J]), std::fabs(Low[J]));
      Noise[J].push_back(2 * Unit * Size / Width);
      Constant[J] = Constant[J] && High[J] == Low[J];
      Sizes[J] = std::max(Sizes[J], Size);
    }
  }
  std::vector<Estimate> Result;
  for (size_t J = 0; J != Slopes.size(); ++J) {
    Result.push_back(Constant[J] ? Estimate{0, 0}
                                 : extrapolate(Steps, Slopes[J], Noise[J]));
    Result.back().Size = Sizes[J];
  }
  return Result;
}
