// Rows of the scalar table evaluated in 113-bit arithmetic.
#include "RowReference.h"
#include "ad/rules/ParsedRow.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace llvm;
using namespace adjoin;

void *adjoin::quadFunction(StringRef Name) {
  return dlsym(RTLD_DEFAULT, (Name + "f128").str().c_str());
}

static Quad number(StringRef Digits) {
  auto *Parse = reinterpret_cast<Quad (*)(const char *, char **)>(
      dlsym(RTLD_DEFAULT, "strtof128"));
  return Parse(Digits.str().c_str(), nullptr);
}

static std::optional<Quad> callQuad(StringRef Name, StringRef Params,
                                    ArrayRef<Quad> X) {
  void *F = quadFunction(Name);
  if (!F)
    return std::nullopt;
  auto As = [&](auto *Type) { return reinterpret_cast<decltype(Type)>(F); };
  using One = Quad (*)(Quad);
  using Two = Quad (*)(Quad, Quad);
  using Three = Quad (*)(Quad, Quad, Quad);
  using WithInteger = Quad (*)(Quad, int);
  using IntegerFirst = Quad (*)(int, Quad);
  if (Params == "xn")
    return As(WithInteger())(X[0], static_cast<int>(X[1]));
  if (Params == "nx")
    return As(IntegerFirst())(static_cast<int>(X[0]), X[1]);
  switch (X.size()) {
  case 1:
    return As(One())(X[0]);
  case 2:
    return As(Two())(X[0], X[1]);
  default:
    return As(Three())(X[0], X[1], X[2]);
  }
}

static Quad evaluate(const RowFormula &F, const RowNode &N,
                     ArrayRef<Quad> Operands) {
  auto Child = [&](unsigned I) { return evaluate(F, F.child(N, I), Operands); };
  switch (N.K) {
  case RowNode::Number:
    return number(N.Text);
  case RowNode::Param:
    return Operands[N.Index];
  case RowNode::Neg:
    return -Child(0);
  case RowNode::Add:
    return Child(0) + Child(1);
  case RowNode::Sub:
    return Child(0) - Child(1);
  case RowNode::Mul:
    return Child(0) * Child(1);
  case RowNode::Div:
    return Child(0) / Child(1);
  case RowNode::Eq:
    return Child(0) == Child(1);
  case RowNode::Ne:
    return Child(0) != Child(1);
  case RowNode::Lt:
    return Child(0) < Child(1);
  case RowNode::Le:
    return Child(0) <= Child(1);
  case RowNode::Gt:
    return Child(0) > Child(1);
  case RowNode::Ge:
    return Child(0) >= Child(1);
  case RowNode::Not:
    return Child(0) == 0;
  case RowNode::And:
    return Child(0) != 0 && Child(1) != 0;
  case RowNode::Or:
    return Child(0) != 0 || Child(1) != 0;
  case RowNode::Choose:
    return Child(0) != 0 ? Child(1) : Child(2);
  case RowNode::Call: {
    SmallVector<Quad, 3> Arguments;
    for (unsigned I = 0; I != N.Children.size(); ++I)
      Arguments.push_back(Child(I));
    return callQuad(N.Text, "", Arguments).value();
  }
  case RowNode::Out:
    break;
  }
  abort();
}

static RowFormula parsed(StringRef Text, StringRef Params) {
  std::string Error;
  std::optional<RowFormula> F = RowFormula::parse(Text, Params, Error);
  if (!F)
    abort();
  return *F;
}

std::optional<Quad> adjoin::operation(const ScalarRule &Rule,
                                      ArrayRef<Quad> Operands) {
  if (Rule.Definition.empty())
    return callQuad(Rule.Name, Rule.Params, Operands);
  RowFormula F = parsed(Rule.Definition, Rule.Params);
  return evaluate(F, F.root(), Operands);
}

bool adjoin::condition(StringRef Text, StringRef Params,
                       ArrayRef<Quad> Operands) {
  if (Text.empty())
    return false;
  RowFormula F = parsed(Text, Params);
  return evaluate(F, F.root(), Operands) != 0;
}

static bool inDomain(const ScalarRule &Rule, ArrayRef<Quad> Operands) {
  return Rule.Domain.empty() || condition(Rule.Domain, Rule.Params, Operands);
}

static constexpr Quad Epsilon = 1.93e-34Q;

namespace {
/// An estimate and its step width.
struct Estimate {
  Difference D;
  Quad Rounding; ///< the part of the error that smaller steps do not reduce
  Quad Step;
};
} // namespace

/// The operation with operand \p I moved by \p Step.
static std::optional<Quad> moved(const ScalarRule &Rule,
                                 ArrayRef<Quad> Operands, unsigned I, Quad Step,
                                 Quad &At) {
  SmallVector<Quad, 3> X(Operands);
  At = X[I] += Step;
  if (!inDomain(Rule, X))
    return std::nullopt;
  Quad F = *operation(Rule, X);
  if (!isFinite(F))
    return std::nullopt;
  return F;
}

/// Central differences of steps H, H/2, H/4, … extrapolated (Richardson; the
/// error as Ridders has it).
static std::optional<Estimate> extrapolated(const ScalarRule &Rule,
                                            ArrayRef<Quad> Operands, unsigned I,
                                            Quad H) {
  constexpr unsigned Levels = 5;
  std::array<Quad, Levels> Row;
  Estimate Best{{0, -1}, 0, H};
  for (unsigned K = 0; K != Levels; ++K, H /= 2) {
    Quad Up, Down;
    std::optional<Quad> FUp = moved(Rule, Operands, I, H, Up);
    std::optional<Quad> FDown = moved(Rule, Operands, I, -H, Down);
    if (!FUp || !FDown || Up == Down)
      return std::nullopt;
    Quad Next = (*FUp - *FDown) / (Up - Down);
    Quad Rounding =
        8 * Epsilon * (absolute(*FUp) + absolute(*FDown)) / (Up - Down);
    Quad Factor = 1;
    for (unsigned J = 0; J <= K; ++J) {
      Quad Previous = Row[J];
      Row[J] = Next;
      if (J == K)
        break;
      Factor *= 4;
      Quad Better = Next + (Next - Previous) / (Factor - 1);
      Quad Error =
          std::max(absolute(Better - Next), absolute(Better - Previous)) +
          Rounding;
      if (Best.D.Error < 0 || Error < Best.D.Error) {
        Best.D = {Better, Error};
        Best.Rounding = Rounding;
      }
      Next = Better;
    }
  }
  return Best;
}

/// The slopes on the two sides differ, by something that does not vanish with
/// the step width.
static bool hasKink(const ScalarRule &Rule, ArrayRef<Quad> Operands, unsigned I,
                    Quad H) {
  auto Jump = [&](Quad H, Quad &Noise) -> std::optional<Quad> {
    Quad Up, Down, Here;
    std::optional<Quad> FUp = moved(Rule, Operands, I, H, Up);
    std::optional<Quad> FDown = moved(Rule, Operands, I, -H, Down);
    std::optional<Quad> F = moved(Rule, Operands, I, 0, Here);
    if (!FUp || !FDown || !F || Up == Here || Down == Here)
      return std::nullopt;
    Noise = 8 * Epsilon * (absolute(*FUp) + absolute(*FDown) + absolute(*F)) /
            absolute(H);
    return absolute((*FUp - *F) / (Up - Here) - (*F - *FDown) / (Here - Down));
  };
  Quad Noise1, Noise2;
  std::optional<Quad> Far = Jump(H, Noise1), Near = Jump(H / 16, Noise2);
  return Far && Near && *Near > *Far / 2 && *Near > 4 * Noise2;
}

/// The second derivative, from one second difference.
static Quad curvature(const ScalarRule &Rule, ArrayRef<Quad> Operands,
                      unsigned I, Quad H) {
  Quad Up, Down, Here;
  std::optional<Quad> FUp = moved(Rule, Operands, I, H, Up);
  std::optional<Quad> FDown = moved(Rule, Operands, I, -H, Down);
  std::optional<Quad> F = moved(Rule, Operands, I, 0, Here);
  if (!FUp || !FDown || !F || Up == Here || Down == Here)
    return 0;
  return ((*FUp - *F) / (Up - Here) - (*F - *FDown) / (Here - Down)) /
         (Up - Here);
}

std::optional<Difference> adjoin::difference(const ScalarRule &Rule,
                                             ArrayRef<Quad> Operands,
                                             unsigned I) {
  Quad X = absolute(Operands[I]);
  SmallVector<Estimate, 8> Estimates;
  for (Quad Scale : {X, Quad(1)}) {
    if (Scale == 0)
      continue;
    for (Quad Part : {0x1p-6Q, 0x1p-10Q, 0x1p-16Q, 0x1p-24Q})
      if (auto E = extrapolated(Rule, Operands, I, Scale * Part))
        Estimates.push_back(*E);
    if (hasKink(Rule, Operands, I, Scale * 0x1p-30Q))
      return std::nullopt;
  }
  const Estimate *Best = nullptr;
  for (const Estimate &E : Estimates)
    if (!Best || E.D.Error < Best->D.Error)
      Best = &E;
  if (!Best)
    return std::nullopt;
  // Nearer points must tell the same: else the steps jumped over something.
  bool Confirmed = false;
  for (const Estimate &E : Estimates) {
    if (E.Step >= Best->Step)
      continue;
    Quad Apart = absolute(E.D.Value - Best->D.Value);
    if (Apart > 16 * (E.Rounding + Best->D.Error) + 1e-3Q * absolute(E.D.Value))
      return std::nullopt;
    Confirmed = true;
  }
  if (!Confirmed && Best->Step > X * 0x1p-20Q)
    return std::nullopt;
  Difference D = Best->D;
  D.Curvature = curvature(Rule, Operands, I, (X == 0 ? 1 : X) * 0x1p-24Q);
  return D;
}
