// Comparing derivatives with independent numbers.
#include "Check.h"
#include "Allocations.h"
#include "Differences.h"
#include "World.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace adjoin::test;

namespace {

/// One compiled case with its memory.
class Runner {
public:
  Runner(const Case &C, const Variant &V, Direction D)
      : C(C), P(C, V, D), W(C, P.layout()) {
    for (const std::string &Text : P.complaints())
      Startup += Text + "\n";
    for (const std::string &Text : P.diagnostics())
      Startup += "refused: " + Text + "\n";
    X = W.point();
    Unit = C.Unit;
    for (const Leaf &Place : W.inputs())
      Unit = std::max(Unit, unitOf(Place.Kind));
    for (const Leaf &Place : W.outputs())
      Unit = std::max(Unit, unitOf(Place.Kind));
    Unit = std::max(Unit, unitOf(CellKind::F64));
  }

  bool runs() const { return Startup.empty() && P.runs(); }

  /// The primal at \p At; leaves its results in the world.
  void primal(const std::vector<double> &At) {
    resetAllocations();
    W.reset(At);
    P.Primal(W.arguments(), W.result());
  }

  /// One column of the Jacobian from differences.
  std::vector<Estimate> column(unsigned I) {
    double First = C.Step * std::max(std::fabs(X[I]), 0.125);
    unsigned Levels = 7;
    if (Unit > 1e-12) { // coarse numbers want large steps
      First *= 4;
      Levels = 4;
    }
    return differences(
        [&](double &Step) {
          std::vector<double> At = X;
          At[I] += Step;
          if (W.inputs()[I].Kind == CellKind::F32)
            At[I] = static_cast<float>(At[I]);
          Step = At[I] - X[I];
          primal(At);
          return W.values();
        },
        First, Levels, Unit);
  }

  const Case &C;
  Program P;
  World W;
  std::vector<double> X;
  double Unit;
  std::string Startup;
};

/// Reproducible numbers in [0.5, 1.5), of either sign.
class Numbers {
public:
  double next() {
    State = State * 6364136223846793005ULL + 1442695040888963407ULL;
    double U = static_cast<double>(State >> 11) / 9007199254740992.0 + 0.5;
    return (State >> 10) & 1 ? U : -U;
  }

private:
  uint64_t State = 20240229;
};

} // namespace

static std::string number(double V) {
  std::string S;
  raw_string_ostream(S) << format("%.15g", V);
  return S;
}

/// A sentence when \p Got is not the derivative that \p Want estimates.
static std::string compare(double Got, const Estimate &Want, double Unit,
                           double Size) {
  double Scale = std::max({std::fabs(Want.Value), std::fabs(Got), Size});
  double Tolerance = 16 * Want.Error + 64 * Unit * Scale + 1e-14;
  bool Vague = !(Want.Error <= std::max(1e-6, 4096 * Unit) * (Scale + 1e-3) +
                                   1024 * Unit * Want.Size);
  if (!Vague && std::fabs(Got - Want.Value) <= Tolerance)
    return "";
  std::string S = "expected " + number(Want.Value) + " (error " +
                  number(Want.Error) + "), got " + number(Got);
  if (Vague)
    S += "; the differences do not converge";
  return S + "\n";
}

/// Primal values, memory and allocations after a derivative call.
static std::string comparePrimal(Runner &R, Direction D,
                                 const std::vector<double> &Values,
                                 const std::vector<int64_t> &Integers,
                                 size_t Live) {
  std::string Text = R.W.damage();
  std::vector<double> Now = R.W.values();
  for (size_t I = 0; I != Values.size(); ++I) {
    double Scale = std::max(std::fabs(Values[I]), std::fabs(Now[I]));
    if (!(std::fabs(Values[I] - Now[I]) <= 16 * R.Unit * Scale) &&
        !(std::isnan(Values[I]) && std::isnan(Now[I])) && Values[I] != Now[I])
      Text += "primal value of " + R.W.outputs()[I].Name + " is " +
              number(Now[I]) + " in the derivative, " + number(Values[I]) +
              " in the primal\n";
  }
  if (R.W.integers() != Integers)
    Text += "integers in memory differ from the primal's\n";
  Text += allocationErrors();
  size_t Allowed = D == Direction::Forward ? (1 + R.C.Width) * Live : Live;
  if (R.C.CountAllocations && liveAllocations() > Allowed)
    Text += std::to_string(liveAllocations()) +
            " blocks are still allocated, the primal leaves " +
            std::to_string(Live) + "\n";
  return Text;
}

/// Runs forward mode once for each group of inputs; calls \p Column for each
/// input with the tangents of all outputs.
static std::string
jacobian(Runner &R,
         function_ref<void(unsigned, const std::vector<double> &)> Column) {
  R.primal(R.X);
  if (R.C.PrimalReturned)
    R.C.PrimalReturned();
  std::vector<double> Values = R.W.values();
  std::vector<int64_t> Integers = R.W.integers();
  size_t Live = liveAllocations();
  std::string Text = allocationErrors();
  unsigned N = R.X.size(), Width = R.C.Width;
  for (unsigned First = 0; First < std::max(N, 1u); First += Width) {
    resetAllocations();
    R.W.reset(R.X);
    for (unsigned Lane = 0; Lane != Width; ++Lane) {
      std::vector<double> V(N, 0.0);
      if (First + Lane < N)
        V[First + Lane] = 1.0;
      R.W.seed(Lane, V, true);
    }
    R.P.Derived(R.W.arguments(), R.W.result());
    Text += comparePrimal(R, Direction::Forward, Values, Integers, Live);
    for (unsigned Lane = 0; Lane != Width; ++Lane) {
      std::vector<double> T = R.W.tangents(Lane);
      if (First + Lane < N) {
        Column(First + Lane, T);
        continue;
      }
      // A lane without a seed has zero tangents, except where the function
      // left an output's shadow as it was.
      for (size_t J = 0; J != T.size(); ++J)
        if (T[J] != 0 && !std::isnan(T[J]))
          Text += "the tangent of " + R.W.outputs()[J].Name +
                  " is not zero without a seed: " + number(T[J]) + "\n";
    }
    if (!Text.empty())
      break;
  }
  return Text;
}

static Findings forwardFindings(Runner &R,
                                std::vector<std::vector<double>> *Keep) {
  Findings F;
  F.Text = R.Startup;
  if (!R.runs())
    return F;
  std::vector<std::vector<double>> Columns(R.X.size());
  F.Text += jacobian(
      R, [&](unsigned I, const std::vector<double> &T) { Columns[I] = T; });
  for (size_t I = 0; I != Columns.size() && !Columns[I].empty(); ++I) {
    std::vector<Estimate> Want = R.column(I);
    double Size = 0;
    for (const Estimate &E : Want)
      if (std::isfinite(E.Value))
        Size = std::max(Size, std::fabs(E.Value));
    for (size_t J = 0; J != Want.size(); ++J) {
      ++F.Entries;
      std::string Text = compare(Columns[I][J], Want[J], R.Unit, Size * 1e-3);
      if (Text.empty())
        continue;
      ++F.Wrong;
      F.Text += "d " + R.W.outputs()[J].Name + " / d " + R.W.inputs()[I].Name +
                ": " + Text;
    }
  }
  if (Keep)
    *Keep = Columns;
  resetAllocations();
  return F;
}

Findings adjoin::test::checkForward(const Case &C, const Variant &V) {
  Runner R(C, V, Direction::Forward);
  return forwardFindings(R, nullptr);
}

static Findings reverseFindings(Runner &R, Runner *Forward,
                                std::vector<double> *Keep) {
  Findings F;
  F.Text = R.Startup;
  if (!R.runs())
    return F;
  unsigned N = R.X.size(), M = R.W.outputs().size();
  // The Jacobian's columns.
  std::vector<std::vector<Estimate>> Columns(N);
  if (Forward) {
    if (!Forward->runs()) {
      F.Text += Forward->Startup;
      return F;
    }
    F.Text += jacobian(*Forward, [&](unsigned I, const std::vector<double> &T) {
      for (double V : T)
        Columns[I].push_back({V, 0, 0});
    });
  } else {
    for (unsigned I = 0; I != N; ++I)
      Columns[I] = R.column(I);
  }
  R.primal(R.X);
  std::vector<double> Values = R.W.values();
  std::vector<int64_t> Integers = R.W.integers();
  size_t Live = liveAllocations();

  Numbers Random;
  resetAllocations();
  R.W.reset(R.X);
  std::vector<std::vector<double>> Seeds;
  for (unsigned Lane = 0; Lane != R.C.Width; ++Lane) {
    Seeds.emplace_back();
    for (const Leaf &Place : R.W.outputs())
      Seeds.back().push_back(Place.Where == Leaf::InResult ? 1.0
                                                           : Random.next());
    R.W.seed(Lane, Seeds.back(), false);
  }
  R.P.Derived(R.W.arguments(), R.W.result());
  F.Text += comparePrimal(R, Direction::Reverse, Values, Integers, Live);
  for (unsigned Lane = 0; Lane != R.C.Width; ++Lane) {
    std::vector<double> Got = R.W.adjoints(Lane);
    if (Keep)
      Keep->insert(Keep->end(), Got.begin(), Got.end());
    for (unsigned I = 0; I != N && Columns[I].size() == M; ++I) {
      Estimate Want = {0, 0, 0};
      double Size = 0;
      for (unsigned J = 0; J != M; ++J) {
        double Term = Seeds[Lane][J] * Columns[I][J].Value;
        if (R.W.outputs()[J].Where == Leaf::InBlock &&
            R.C.Blocks[R.W.outputs()[J].Index].Output &&
            std::isnan(Columns[I][J].Value))
          continue;
        Want.Value += Term;
        Want.Error += std::fabs(Seeds[Lane][J]) * Columns[I][J].Error;
        Want.Size = std::max(Want.Size, Columns[I][J].Size);
        Size = std::max(Size, std::fabs(Term));
      }
      ++F.Entries;
      std::string Text = compare(Got[I], Want, R.Unit, Size);
      if (Text.empty())
        continue;
      ++F.Wrong;
      F.Text += "adjoint of " + R.W.inputs()[I].Name + ": " + Text;
    }
  }
  resetAllocations();
  return F;
}

Findings adjoin::test::checkReverse(const Case &C, const Variant &V,
                                    bool FromForward) {
  Runner R(C, V, Direction::Reverse);
  if (!FromForward)
    return reverseFindings(R, nullptr, nullptr);
  Runner Forward(C, V, Direction::Forward);
  return reverseFindings(R, &Forward, nullptr);
}

static std::string titled(const Variant &V, const std::string &Text) {
  return Text.empty() ? "" : std::string(V.Name) + ":\n" + Text;
}

/// Variants of one module may not differ by more than rounding.
static std::string differ(const std::vector<double> &A,
                          const std::vector<double> &B, double Unit) {
  double Size = 0;
  for (double V : A)
    Size = std::max(Size, std::fabs(V));
  for (size_t I = 0; I != std::min(A.size(), B.size()); ++I)
    if (!(std::fabs(A[I] - B[I]) <= 64 * Unit * Size + 1e-300) &&
        !(std::isnan(A[I]) && std::isnan(B[I])) && A[I] != B[I])
      return "a result differs from that of the module as given: " +
             number(B[I]) + " instead of " + number(A[I]) + "\n";
  return "";
}

std::string adjoin::test::forward(const Case &C) {
  std::string Text;
  std::vector<double> First;
  for (const Variant &V : variants()) {
    Runner R(C, V, Direction::Forward);
    std::vector<std::vector<double>> Columns;
    std::string Found = forwardFindings(R, &Columns).Text;
    std::vector<double> All;
    for (const std::vector<double> &Column : Columns)
      All.insert(All.end(), Column.begin(), Column.end());
    if (&V == &variants().front())
      First = All;
    Found += differ(First, All, R.Unit);
    Text += titled(V, Found);
  }
  return Text;
}

std::string adjoin::test::reverse(const Case &C) {
  std::string Text;
  std::vector<double> First;
  for (const Variant &V : variants()) {
    Runner R(C, V, Direction::Reverse);
    std::vector<double> All;
    std::string Found = reverseFindings(R, nullptr, &All).Text;
    if (&V == &variants().front())
      First = All;
    Found += differ(First, All, R.Unit);
    Text += titled(V, Found);
  }
  return Text;
}

static std::string diagnostics(const Case &C, Direction D) {
  Program P(C, variants().front(), D);
  std::string Text;
  for (const std::string &Line : P.diagnostics())
    Text += StringRef(Line).split('\n').first.str() + "\n";
  for (const std::string &Line : P.complaints())
    Text += Line + "\n";
  return Text;
}

std::string adjoin::test::forwardDiagnostics(const Case &C) {
  return diagnostics(C, Direction::Forward);
}

std::string adjoin::test::reverseDiagnostics(const Case &C) {
  return diagnostics(C, Direction::Reverse);
}
