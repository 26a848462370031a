// adjoin-gradcheck FILE.{ll,bc} FUNCTION: differentiates a function with the
// plugin's pass and says which derivative entries disagree with differences.
#include "harness/Check.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace llvm;
using namespace adjoin::test;

static cl::OptionCategory Category("adjoin-gradcheck");
static cl::opt<std::string> File(cl::Positional, cl::Required,
                                 cl::desc("FILE.{ll,bc}"), cl::cat(Category));
static cl::opt<std::string> Name(cl::Positional, cl::Required,
                                 cl::desc("FUNCTION"), cl::cat(Category));
static cl::list<std::string> Set(
    "set", cl::CommaSeparated, cl::value_desc("N=WHAT"), cl::cat(Category),
    cl::desc("Argument N (from 0) is: a number; const:NUMBER; KIND:COUNT, a "
             "buffer of random values, KIND one of f32 f64 f80 i8 i32 i64, "
             "with const: in front for one without a shadow; null; or =M, "
             "the same pointer as argument M. Unset: floats are random, "
             "integers 3, pointers f64:16"));
static cl::opt<unsigned> Width("width", cl::init(1), cl::cat(Category),
                               cl::desc("Lanes of the derivative"));
static cl::opt<unsigned> Seed("seed", cl::init(1), cl::cat(Category),
                              cl::desc("Seed of the random values"));
static cl::opt<double> From("from", cl::init(0.5), cl::cat(Category),
                            cl::desc("Smallest random value"));
static cl::opt<double> To("to", cl::init(1.5), cl::cat(Category),
                          cl::desc("Largest random value"));
static cl::opt<double>
    Unit("unit", cl::init(0), cl::cat(Category),
         cl::desc("Relative rounding error of the function's arithmetic"));
static cl::opt<std::string> ModeName("mode", cl::init("forward"),
                                     cl::cat(Category),
                                     cl::desc("forward, reverse or transpose "
                                              "(reverse against forward)"));
static cl::opt<bool> AllVariants(
    "variants", cl::cat(Category),
    cl::desc("Also without TBAA and debug info, and after one more O3"));

static bool kindNamed(StringRef S, CellKind &K) {
  static const std::pair<const char *, CellKind> Kinds[] = {
      {"f32", CellKind::F32}, {"f64", CellKind::F64}, {"f80", CellKind::F80},
      {"i8", CellKind::I8},   {"i32", CellKind::I32}, {"i64", CellKind::I64}};
  for (auto [Text, Kind] : Kinds)
    if (S == Text) {
      K = Kind;
      return true;
    }
  return false;
}

namespace {
/// Makes the case from the function's type and the options.
class Builder {
public:
  Builder(Case &C, Function &F) : C(C), F(F), Random(Seed) {}
  /// False when an option does not make sense; \p Error says why.
  bool build(std::string &Error);

private:
  double random() { return std::uniform_real_distribution<>(From, To)(Random); }
  std::vector<Cell> buffer(CellKind K, unsigned Count) {
    std::vector<Cell> Cells;
    for (unsigned I = 0; I != Count; ++I)
      Cells.push_back(Cell{K, random(), static_cast<int64_t>(I % 4)});
    return Cells;
  }
  bool addPointer(StringRef What);
  bool addValue(Type *T, StringRef What);

  Case &C;
  Function &F;
  std::mt19937_64 Random;
};
} // namespace

bool Builder::addPointer(StringRef What) {
  bool Active = !What.consume_front("const:");
  if (What == "null") {
    C.nullPointer();
    return true;
  }
  if (What.consume_front("=")) {
    unsigned Other;
    if (What.getAsInteger(10, Other) || Other >= C.Arguments.size())
      return false;
    C.Arguments.push_back(C.Arguments[Other]);
    return true;
  }
  auto [Kind, Count] = What.split(':');
  CellKind K;
  unsigned N;
  if (!kindNamed(Kind, K) || Count.getAsInteger(10, N))
    return false;
  C.pointer(C.block(buffer(K, N), Active));
  return true;
}

bool Builder::addValue(Type *T, StringRef What) {
  bool Active = !What.consume_front("const:");
  double V = 0;
  if (!What.empty() && What.getAsDouble(V))
    return false;
  std::vector<std::pair<uint64_t, CellKind>> Leaves;
  if (!flatten(T, F.getDataLayout(), 0, Leaves))
    return false;
  Parameter P;
  for (auto &[Offset, Kind] : Leaves) {
    if (Cell{Kind}.isFloat())
      P.Floats.push_back(What.empty() ? random() : V);
    else
      P.Ints.push_back(What.empty() ? 3 : static_cast<int64_t>(V));
  }
  P.Active = Active && !P.Floats.empty();
  C.Arguments.push_back(P);
  return true;
}

bool Builder::build(std::string &Error) {
  std::vector<std::string> What(F.arg_size());
  unsigned First = F.arg_size() && F.hasParamAttribute(0, Attribute::StructRet);
  for (const std::string &S : Set) {
    auto [Index, Text] = StringRef(S).split('=');
    unsigned I;
    if (Index.getAsInteger(10, I) || I + First >= F.arg_size()) {
      Error = "-set=" + S + ": there is no such argument";
      return false;
    }
    What[I + First] = Text.str();
  }
  for (unsigned I = First; I < F.arg_size(); ++I) {
    Type *T = F.getArg(I)->getType();
    bool Ok = T->isPointerTy()
                  ? addPointer(What[I].empty() ? "f64:16" : What[I])
                  : addValue(T, What[I]);
    if (Ok)
      continue;
    Error = "argument " + std::to_string(I - First) + " cannot be '" + What[I] +
            "'";
    return false;
  }
  return true;
}

int main(int Argc, char **Argv) {
  cl::HideUnrelatedOptions(Category);
  cl::ParseCommandLineOptions(
      Argc, Argv, "Compares derivatives with extrapolated differences\n");
  LLVMContext Ctx;
  SMDiagnostic Parse;
  std::unique_ptr<Module> M = parseIRFile(File, Parse, Ctx);
  if (!M) {
    Parse.print(Argv[0], errs());
    return 2;
  }
  Function *F = M->getFunction(Name);
  if (!F || F->isDeclaration()) {
    errs() << "there is no function '" << Name << "' in " << File << "\n";
    return 2;
  }
  Case C = Case::fromFile(File, Name);
  C.width(Width).unit(Unit);
  C.Prune = true;
  std::string Error;
  if (!Builder(C, *F).build(Error)) {
    errs() << Error << "\n";
    return 2;
  }
  bool Good = true;
  for (const Variant &V : variants()) {
    Findings Found = ModeName == "forward"
                         ? checkForward(C, V)
                         : checkReverse(C, V, ModeName == "transpose");
    outs() << V.Name << ": " << Found.Entries << " entries, " << Found.Wrong
           << " disagree\n"
           << Found.Text;
    Good &= Found.Text.empty();
    if (!AllVariants)
      break;
  }
  return Good ? 0 : 1;
}
