// Every row of the scalar table, every operand: what push and pull emit is
// compiled and compared with extrapolated differences in 113-bit arithmetic, at
// ordinary and special points, in four precisions, for scalars and vectors, one
// lane and four. A new row is tested without a change here.
#include "RowReference.h"
#include "ad/Request.h"
#include "ad/rules/ParsedRow.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace adjoin;

namespace {

enum Precision { Single, Double, Extended, Quadruple };

struct Shape {
  Precision P;
  unsigned Elements; ///< of a vector, 0 for a scalar
  unsigned Width;
};

constexpr Shape Shapes[] = {{Single, 0, 1},   {Single, 0, 4}, {Single, 2, 1},
                            {Single, 2, 4},   {Double, 0, 1}, {Double, 0, 4},
                            {Double, 2, 1},   {Double, 2, 4}, {Extended, 0, 1},
                            {Quadruple, 0, 1}};

Type *typeOf(LLVMContext &C, Precision P) {
  switch (P) {
  case Single:
    return Type::getFloatTy(C);
  case Double:
    return Type::getDoubleTy(C);
  case Extended:
    return Type::getX86_FP80Ty(C);
  case Quadruple:
    return Type::getFP128Ty(C);
  }
  return nullptr;
}

unsigned bytesOf(Precision P) {
  constexpr unsigned Bytes[] = {4, 8, 16, 16};
  return Bytes[P];
}

/// Half a unit in the last place of 1; for 113 bits what differences can tell.
Quad unitOf(Precision P) {
  constexpr Quad Units[] = {0x1p-24Q, 0x1p-53Q, 0x1p-64Q, 0x1p-80Q};
  return Units[P];
}

Quad largestOf(Precision P) {
  if (P == Single)
    return std::numeric_limits<float>::max();
  if (P == Double)
    return std::numeric_limits<double>::max();
  return std::numeric_limits<long double>::max();
}

Quad smallestOf(Precision P) {
  if (P == Single)
    return std::numeric_limits<float>::min();
  if (P == Double)
    return std::numeric_limits<double>::min();
  return std::numeric_limits<long double>::min();
}

void put(char *At, Precision P, Quad X) {
  float F = static_cast<float>(X);
  double D = static_cast<double>(X);
  long double L = static_cast<long double>(X);
  switch (P) {
  case Single:
    memcpy(At, &F, sizeof F);
    break;
  case Double:
    memcpy(At, &D, sizeof D);
    break;
  case Extended:
    memcpy(At, &L, sizeof L);
    break;
  case Quadruple:
    memcpy(At, &X, sizeof X);
    break;
  }
}

Quad get(const char *At, Precision P) {
  float F;
  double D;
  long double L;
  Quad Q;
  switch (P) {
  case Single:
    memcpy(&F, At, sizeof F);
    return F;
  case Double:
    memcpy(&D, At, sizeof D);
    return D;
  case Extended:
    memcpy(&L, At, sizeof L);
    return L;
  case Quadruple:
    memcpy(&Q, At, sizeof Q);
    return Q;
  }
  return 0;
}

Quad rounded(Precision P, Quad X) {
  char Bytes[16];
  put(Bytes, P, X);
  return get(Bytes, P);
}

// Functions that this C library does not have yet, for partials that call them.
constexpr Quad Pi = 3.14159265358979323846264338327950288Q;
Quad sineOfPi(Quad X) {
  return reinterpret_cast<Quad (*)(Quad)>(quadFunction("sin"))(Pi * X);
}
Quad cosineOfPi(Quad X) {
  return reinterpret_cast<Quad (*)(Quad)>(quadFunction("cos"))(Pi * X);
}
float sinpiFloat(float X) { return static_cast<float>(sineOfPi(X)); }
float cospiFloat(float X) { return static_cast<float>(cosineOfPi(X)); }
double sinpiDouble(double X) { return static_cast<double>(sineOfPi(X)); }
double cospiDouble(double X) { return static_cast<double>(cosineOfPi(X)); }
long double sinpiLong(long double X) {
  return static_cast<long double>(sineOfPi(X));
}
long double cospiLong(long double X) {
  return static_cast<long double>(cosineOfPi(X));
}

struct Substitute {
  const char *Name;
  void *Address;
};
const Substitute Substitutes[] = {
    {"sinpif", reinterpret_cast<void *>(sinpiFloat)},
    {"cospif", reinterpret_cast<void *>(cospiFloat)},
    {"sinpi", reinterpret_cast<void *>(sinpiDouble)},
    {"cospi", reinterpret_cast<void *>(cospiDouble)},
    {"sinpil", reinterpret_cast<void *>(sinpiLong)},
    {"cospil", reinterpret_cast<void *>(cospiLong)},
    {"sinpif128", reinterpret_cast<void *>(sineOfPi)},
    {"cospif128", reinterpret_cast<void *>(cosineOfPi)}};

/// Room for one operand or one tangent.
constexpr unsigned Slot = 256;

std::unique_ptr<orc::LLJIT> makeJit() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto Jit = cantFail(orc::LLJITBuilder().create());
  orc::JITDylib &Main = Jit->getMainJITDylib();
  Main.addGenerator(
      cantFail(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          Jit->getDataLayout().getGlobalPrefix())));
  orc::SymbolMap Missing;
  for (const Substitute &S : Substitutes)
    if (!sys::DynamicLibrary::SearchForAddressOfSymbol(S.Name))
      Missing[Jit->mangleAndIntern(S.Name)] = {
          orc::ExecutorAddr::fromPtr(S.Address), JITSymbolFlags::Exported};
  cantFail(Main.define(orc::absoluteSymbols(Missing)));
  return Jit;
}

using Compiled = void (*)(const char *Operands, const char *Out,
                          const char *Incoming, char *Push, char *Pull);

/// The operation's type on each side: conversions change precision.
Precision operandPrecision(const ScalarRule &Rule, Precision P) {
  if (Rule.Name == "fptrunc")
    return P == Single ? Double : P == Double ? Quadruple : P;
  if (Rule.Name == "fpext")
    return P == Double ? Single : P == Extended ? Double : P;
  return P;
}

/// Writes the function that applies push and pull of every operand to what it
/// is given in memory.
void writeFunction(Module &M, const ScalarRule &Rule, Shape S, StringRef Name) {
  LLVMContext &C = M.getContext();
  IRBuilder<> B(C);
  auto Vector = [&](Type *T) -> Type * {
    return S.Elements == 0 ? T : FixedVectorType::get(T, S.Elements);
  };
  Type *T = Vector(typeOf(C, S.P));
  Type *OperandType = Vector(typeOf(C, operandPrecision(Rule, S.P)));
  SmallVector<Type *, 3> Types;
  for (char Letter : Rule.Params)
    Types.push_back(isIntegerParam(Letter)      ? B.getInt32Ty()
                    : isOtherFloatParam(Letter) ? Type::getX86_FP80Ty(C)
                                                : OperandType);
  FunctionCallee Operation = M.getOrInsertFunction(
      ("operation." + Name).str(), FunctionType::get(T, Types, false));
  // The primal is never run: it only says what the operation is.
  auto *Host = Function::Create(FunctionType::get(T, Types, false),
                                GlobalValue::InternalLinkage, "host", M);
  B.SetInsertPoint(BasicBlock::Create(C, "", Host));
  SmallVector<Value *, 3> Params;
  for (Argument &A : Host->args())
    Params.push_back(&A);
  CallInst *Primal = B.CreateCall(Operation, Params);
  B.CreateUnreachable();

  SmallVector<Type *, 5> Pointers(5, B.getPtrTy());
  auto *F = Function::Create(FunctionType::get(B.getVoidTy(), Pointers, false),
                             GlobalValue::ExternalLinkage, Name, M);
  B.SetInsertPoint(BasicBlock::Create(C, "", F));
  auto At = [&](unsigned Arg, unsigned I) {
    return B.CreateConstGEP1_32(B.getInt8Ty(), F->getArg(Arg), I * Slot);
  };
  SmallVector<Value *, 3> Operands;
  for (unsigned I = 0; I != Types.size(); ++I)
    Operands.push_back(B.CreateAlignedLoad(Types[I], At(0, I), Align(16)));
  Value *Out = B.CreateAlignedLoad(T, F->getArg(1), Align(16));
  LinearMap Map(Rule, *Primal, Operands, Out, S.Width, /*StrongZero=*/true);
  Value *Tangent = B.CreateAlignedLoad(shadowType(OperandType, S.Width),
                                       F->getArg(2), Align(16));
  Value *Adjoint =
      B.CreateAlignedLoad(shadowType(T, S.Width), At(2, 1), Align(16));
  for (unsigned I = 0; I != Types.size(); ++I) {
    if (Types[I] != OperandType)
      continue;
    B.CreateAlignedStore(Map.push(B, I, Tangent), At(3, I), Align(16));
    B.CreateAlignedStore(Map.pull(B, I, Adjoint), At(4, I), Align(16));
  }
  B.CreateRetVoid();
  Host->eraseFromParent();
}

/// Points at which each operand is taken.
SmallVector<Quad, 24> ordinaryPoints() {
  return {0.3Q, 0.7Q, 1.7Q, 2.6Q, -0.4Q, -1.3Q, 5.2Q, 12.25Q, -7.75Q, 33.1Q};
}

SmallVector<Quad, 24> specialPoints(Precision P) {
  Quad Huge = P == Single ? 1e30Q : 1e300Q,
       Tiny = P == Single ? 1e-30Q : 1e-300Q;
  return {0.0Q,  -0.0Q,  1.0Q, -1.0Q, 0.5Q,  -0.5Q, 2.0Q, -3.0Q,
          20.0Q, -40.0Q, 1e9Q, Huge,  -Huge, Tiny,  -Tiny};
}

/// Number of operands equal to their special points, or all combinations.
using Point = SmallVector<Quad, 3>;

SmallVector<Point, 0> combinations(const ScalarRule &Rule,
                                   ArrayRef<Quad> Values) {
  SmallVector<Point, 0> Points{{}};
  for (char Letter : Rule.Params) {
    SmallVector<Point, 0> More;
    SmallVector<Quad, 24> Choices(Values);
    if (isIntegerParam(Letter))
      Choices = {0, 1, 2, 3, 5, -1, -2, -7};
    for (const Point &Prefix : Points)
      for (Quad V : Choices) {
        Point Longer(Prefix);
        Longer.push_back(V);
        More.push_back(std::move(Longer));
      }
    Points = std::move(More);
  }
  return Points;
}

std::string text(ArrayRef<Quad> Operands) {
  std::string S;
  for (Quad X : Operands) {
    char Digits[48];
    snprintf(Digits, sizeof Digits, "%.17Lg", static_cast<long double>(X));
    S += (S.empty() ? "" : ", ") + std::string(Digits);
  }
  return S;
}

class ScalarRow : public testing::TestWithParam<unsigned> {
protected:
  const ScalarRule &rule() const { return scalarRules()[GetParam()]; }
};

struct Expected {
  Point Operands;
  Quad Out;
  std::array<std::optional<Difference>, 3> Partials;
};

/// The points in the domain of the row, rounded to the precision, with what is
/// expected there.
SmallVector<Expected, 0> expectations(const ScalarRule &Rule, Precision P,
                                      ArrayRef<Quad> Values) {
  SmallVector<Expected, 0> Result;
  Precision From = operandPrecision(Rule, P);
  for (Point &X : combinations(Rule, Values)) {
    for (auto [Letter, V] : zip(Rule.Params, X))
      if (!isIntegerParam(Letter))
        V = rounded(From, V);
    if (!Rule.Domain.empty() && !condition(Rule.Domain, Rule.Params, X))
      continue;
    std::optional<Quad> Out = operation(Rule, X);
    if (!Out) {
      ADD_FAILURE() << "the row needs a definition: no " << Rule.Name.str()
                    << "f128 in the C library";
      return Result;
    }
    Expected E;
    E.Out = rounded(P, *Out);
    if (!isFinite(E.Out))
      continue;
    for (unsigned I = 0; I != Rule.Operands; ++I)
      if (Rule.Partial[I] != "0" || !isIntegerParam(Rule.Params[I]))
        E.Partials[I] = difference(Rule, X, I);
    E.Operands = std::move(X);
    Result.push_back(std::move(E));
  }
  return Result;
}

class Checker {
public:
  Checker(const ScalarRule &Rule, Shape S, Compiled Run)
      : Rule(Rule), S(S), Run(Run), Elements(std::max(1U, S.Elements)) {}

  /// Runs the point (in a vector, beside another one) and compares.
  void check(const Expected &E, const Expected &Other, bool Ordinary) {
    Precision From = operandPrecision(Rule, S.P);
    alignas(64) char Operands[3 * Slot] = {}, Out[Slot] = {},
                                  Incoming[2 * Slot] = {}, Push[3 * Slot] = {},
                                  Pull[3 * Slot] = {};
    ArrayRef<Expected> Both[2] = {E, Other};
    // One exponent serves all elements.
    bool Shared = Rule.Params.contains('n') || Rule.Params.contains('w');
    for (unsigned K = 0; K != Elements; ++K) {
      const Expected &At = Shared ? E : Both[K % 2].front();
      for (auto [I, Letter] : enumerate(Rule.Params)) {
        char *To = Operands + I * Slot;
        if (isIntegerParam(Letter)) {
          int N = static_cast<int>(At.Operands[I]);
          memcpy(To, &N, sizeof N);
        } else if (isOtherFloatParam(Letter)) {
          put(To, Extended, At.Operands[I]);
        } else {
          put(To + K * bytesOf(From), From, At.Operands[I]);
        }
      }
      put(Out + K * bytesOf(S.P), S.P, At.Out);
    }
    for (Quad Zero : {1.0Q, 0.0Q}) {
      SmallVector<Quad, 8> Lanes;
      for (unsigned K = 0; K != S.Width * Elements; ++K)
        Lanes.push_back(Zero * (K % 3 == 2 ? 0 : 1.0Q + 0.25Q * K));
      for (auto [K, L] : enumerate(Lanes)) {
        put(Incoming + K * bytesOf(From), From, L);
        put(Incoming + Slot + K * bytesOf(S.P), S.P, L);
      }
      Run(Operands, Out, Incoming, Push, Pull);
      for (unsigned I = 0; I != Rule.Operands; ++I) {
        if (isIntegerParam(Rule.Params[I]) || isOtherFloatParam(Rule.Params[I]))
          continue;
        for (unsigned K = 0; K != Lanes.size(); ++K) {
          const Expected &At = Shared ? E : Both[(K % Elements) % 2].front();
          Quad Forward = get(Push + I * Slot + K * bytesOf(S.P), S.P);
          Quad Backward = get(Pull + I * Slot + K * bytesOf(From), From);
          compare(At, I, Lanes[K], Forward, Backward, Ordinary);
        }
      }
    }
  }

  unsigned Conclusive[3] = {};

private:
  void compare(const Expected &At, unsigned I, Quad Lane, Quad Forward,
               Quad Backward, bool Ordinary) {
    auto Where = [&] {
      return "operand " + std::to_string(I) + " of " + Rule.Name.str() + "(" +
             text(At.Operands) + "), precision " + std::to_string(S.P) +
             ", elements " + std::to_string(S.Elements) + ", width " +
             std::to_string(S.Width) + ", incoming " + text({Lane});
    };
    bool Singular = condition(Rule.Singular[I], Rule.Params, At.Operands);
    const std::optional<Difference> &Exact = At.Partials[I];
    if (Lane == 0) {
      // Nothing is promised where the partial is finite but too large for the
      // precision; at extreme points it can be.
      bool Extreme = any_of(At.Operands, [](Quad X) {
        return absolute(X) > 1000 || (X != 0 && absolute(X) < 1e-3Q);
      });
      if (!Singular && Extreme &&
          (!Exact || absolute(Exact->Value) > largestOf(S.P) / 16))
        return;
      EXPECT_TRUE(Forward == 0)
          << "zero tangent became " << text({Forward}) << " at " << Where();
      EXPECT_TRUE(Backward == 0)
          << "zero adjoint became " << text({Backward}) << " at " << Where();
      return;
    }
    // A conversion rounds one of the two.
    Quad Slack = operandPrecision(Rule, S.P) == S.P
                     ? 0
                     : absolute(Forward) * 4 * unitOf(std::min(S.P, Double));
    EXPECT_TRUE(absolute(Forward - Backward) <= Slack ||
                (Forward != Forward && Backward != Backward) ||
                Forward == Backward)
        << "push " << text({Forward}) << " but pull " << text({Backward})
        << " at " << Where();
    if (!Exact || Singular)
      return;
    Quad Value = Exact->Value, Error = Exact->Error;
    Quad X = absolute(At.Operands[I]);
    // A jump of the rounding functions at integers without fraction.
    if (Rule.Partial[I] == "0" && X > 0x1p23Q)
      return;
    // Backward stability: the result is right for operands that are wrong by
    // some units in the last place.
    Quad Scale =
        std::max({absolute(Value), absolute(At.Out) / std::max(X, 1.0Q),
                  absolute(Exact->Curvature) * X});
    // No verdict where differences do not converge (jumps), and where the
    // partial is not representable.
    if (Error > 1e-3Q * Scale + smallestOf(S.P) ||
        absolute(Value * Lane) > largestOf(S.P))
      return;
    ++Conclusive[I];
    Quad Unit = std::max(unitOf(S.P), unitOf(operandPrecision(Rule, S.P)));
    Quad Allowed = (Ordinary ? 32 : 64) * Unit * Scale * absolute(Lane) +
                   4 * Error * absolute(Lane) + 4 * smallestOf(S.P);
    EXPECT_TRUE(absolute(Forward - Value * Lane) <= Allowed)
        << "is " << text({Forward}) << ", should be " << text({Value * Lane})
        << " (off by "
        << static_cast<double>(absolute(Forward - Value * Lane) / Allowed)
        << " times what is allowed) at " << Where();
  }

  const ScalarRule &Rule;
  Shape S;
  Compiled Run;
  unsigned Elements;
};

TEST_P(ScalarRow, AgreesWithDifferences) {
  const ScalarRule &Rule = rule();
  auto Jit = makeJit();
  auto Context = std::make_unique<LLVMContext>();
  auto M = std::make_unique<Module>("rows", *Context);
  M->setTargetTriple(Jit->getTargetTriple());
  M->setDataLayout(Jit->getDataLayout());
  for (auto [K, S] : enumerate(Shapes))
    writeFunction(*M, Rule, S, "f" + std::to_string(K));
  std::string Problem;
  raw_string_ostream OS(Problem);
  ASSERT_FALSE(verifyModule(*M, &OS)) << Problem;
  cantFail(Jit->addIRModule(
      orc::ThreadSafeModule(std::move(M), std::move(Context))));
  std::optional<Precision> Last;
  SmallVector<Expected, 0> Ordinary, Special;
  for (auto [K, S] : enumerate(Shapes)) {
    if (Last != S.P) {
      Ordinary = expectations(Rule, S.P, ordinaryPoints());
      Special = expectations(Rule, S.P, specialPoints(S.P));
      Last = S.P;
    }
    auto Run = cantFail(Jit->lookup("f" + std::to_string(K))).toPtr<Compiled>();
    Checker C(Rule, S, Run);
    for (auto [J, E] : enumerate(Ordinary))
      C.check(E, Ordinary[(J + 1) % Ordinary.size()], true);
    for (unsigned I = 0; I != Rule.Operands; ++I)
      if (!isIntegerParam(Rule.Params[I]) && !isOtherFloatParam(Rule.Params[I]))
        EXPECT_GE(C.Conclusive[I], 3U)
            << "too few points of the row's domain say anything";
    for (auto [J, E] : enumerate(Special))
      C.check(E, Special[(J + 1) % Special.size()], false);
  }
}

std::string rowName(const testing::TestParamInfo<unsigned> &Info) {
  std::string Name = scalarRules()[Info.param].Name.str();
  for (char &C : Name)
    if (C == '.')
      C = '_';
  return Name;
}

INSTANTIATE_TEST_SUITE_P(
    Table, ScalarRow,
    testing::Range(0U, static_cast<unsigned>(scalarRules().size())), rowName);

} // namespace
