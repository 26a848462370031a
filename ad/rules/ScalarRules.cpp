// Finding rows: which operation an instruction, an intrinsic or a libm call is.
#include "ad/rules/ParsedRow.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace adjoin;

namespace {

struct Alias {
  StringLiteral Name, Row;
};

/// Libm functions that have the row of another.
constexpr Alias LibmAliases[] = {
    {"drem", "remainder"},
    {"pow10", "exp10"},
    {"scalbn", "ldexp"},
    {"scalbln", "ldexp"},
};

/// Instructions and intrinsics, without "llvm.", that have the row of another.
constexpr Alias LlvmAliases[] = {
    {"frem", "fmod"},
    {"fmuladd", "fma"},
    {"minnum", "fmin"},
    {"maxnum", "fmax"},
    {"minimum", "fminimum"},
    {"maximum", "fmaximum"},
    {"minimumnum", "fminimum_num"},
    {"maximumnum", "fmaximum_num"},
    {"fptrunc.round", "fptrunc"},
};

/// Rows that are not functions of a C library: a function of that name is the
/// user's.
constexpr StringLiteral NotLibm[] = {
    "fneg", "fadd",    "fsub",  "fmul",         "fdiv",
    "powi", "fptrunc", "fpext", "canonicalize", "arithmetic.fence"};

/// Functions of a C library whose names ISO C does not reserve: a definition of
/// that name in the program is the user's, not the library's.
constexpr StringLiteral NotReserved[] = {"j0", "j1",   "jn",    "y0",   "y1",
                                         "yn", "drem", "pow10", "rsqrt"};

template <size_t N>
bool contains(const StringLiteral (&List)[N], StringRef Name) {
  return is_contained(List, Name);
}

const StringMap<const ScalarRule *> &rowsByName() {
  static const StringMap<const ScalarRule *> Map = [] {
    StringMap<const ScalarRule *> M;
    for (const ScalarRule &R : scalarRules())
      M[R.Name] = &R;
    return M;
  }();
  return Map;
}

const ScalarRule *rowOfLlvmName(StringRef Name) {
  for (const Alias &A : LlvmAliases)
    if (A.Name == Name)
      Name = A.Row;
  return rowsByName().lookup(Name);
}

const ScalarRule *rowOfLibmName(StringRef Name) {
  for (const Alias &A : LibmAliases)
    if (A.Name == Name)
      Name = A.Row;
  return contains(NotLibm, Name) ? nullptr : rowsByName().lookup(Name);
}

/// The scalar function of a name of the vector function ABI, "sin" of
/// "_ZGVdN4v_sin", or the name itself.
StringRef scalarName(StringRef Name) {
  StringRef Rest = Name;
  if (!Rest.consume_front("_ZGV") || Rest.size() < 3 || Rest[1] != 'N')
    return Name;
  Rest = Rest.drop_front(2).drop_while(isDigit);
  size_t End = Rest.find('_');
  // Only vector parameters, without mask.
  return End == 0 || End == StringRef::npos ||
                 Rest.take_front(End).find_first_not_of('v') != StringRef::npos
             ? Name
             : Rest.drop_front(End + 1);
}

} // namespace

StringRef adjoin::libmBaseName(StringRef Name, const Type *T) {
  bool Finite = false;
  if (Name.starts_with("__") && Name.ends_with("_finite")) {
    Name = Name.drop_front(2).drop_back(7);
    Finite = true;
  }
  auto Ends = [&](std::initializer_list<StringRef> Suffixes) -> StringRef {
    for (StringRef Suffix : Suffixes) {
      StringRef Base = Name;
      if (!Base.consume_back(Suffix) || Base.empty())
        continue;
      // lgammaf_r, but __lgamma_r_finite and __lgammaf_r_finite.
      return Base;
    }
    return "";
  };
  // The suffix of the precision is in front of "_r".
  bool Reentrant = Name.consume_back("_r");
  StringRef Base;
  switch (T->getScalarType()->getTypeID()) {
  case Type::HalfTyID:
    Base = Ends({"f16"});
    break;
  case Type::FloatTyID:
    Base = Ends({"f32", "f"});
    break;
  case Type::DoubleTyID:
    Base = Ends({"f64", "f32x"});
    if (Base.empty())
      Base = Name;
    break;
  case Type::X86_FP80TyID:
  case Type::PPC_FP128TyID:
    Base = Ends({"f64x", "l"});
    break;
  case Type::FP128TyID:
    Base = Ends({"f128", "f64x", "q", "l"});
    break;
  default:
    return "";
  }
  if (Base.empty() || (Finite && Base.starts_with("_")))
    return "";
  // The only function with "_r".
  if (Reentrant)
    return Base == "lgamma" ? StringRef("lgamma_r") : StringRef("");
  return Base;
}

bool adjoin::fits(const ScalarRule &Rule, const FunctionType &T) {
  Type *R = T.getReturnType();
  if (!R->isFPOrFPVectorTy() || T.isVarArg() ||
      T.getNumParams() < Rule.Params.size())
    return false;
  for (auto [Letter, P] : zip(Rule.Params, T.params())) {
    if (isIntegerParam(Letter)      ? !P->isIntOrIntVectorTy()
        : isOtherFloatParam(Letter) ? !P->isFPOrFPVectorTy()
                                    : P != R)
      return false;
  }
  return true;
}

/// A function of this name and linkage can be the C library's.
static bool mayBeLibrary(const Function &F, StringRef BaseName) {
  if (F.hasLocalLinkage())
    return false;
  return F.isDeclaration() || !contains(NotReserved, BaseName);
}

const ScalarRule *adjoin::scalarRuleFor(const Function &F) {
  StringRef Name = F.getName();
  if (F.isIntrinsic()) {
    StringRef Base = Intrinsic::getBaseName(F.getIntrinsicID());
    if (!Base.consume_front("llvm.experimental.constrained."))
      Base.consume_front("llvm.");
    const ScalarRule *Rule = rowOfLlvmName(Base);
    if (!Rule)
      return nullptr;
    // A conversion's operand has another type than its result.
    if (Rule->Name == "fptrunc" || Rule->Name == "fpext")
      return Rule;
    return fits(*Rule, *F.getFunctionType()) ? Rule : nullptr;
  }
  StringRef Scalar = scalarName(Name);
  StringRef Base = libmBaseName(Scalar, F.getReturnType());
  if (Base.empty() || !mayBeLibrary(F, Base))
    return nullptr;
  const ScalarRule *Rule = rowOfLibmName(Base);
  if (!Rule || F.arg_size() != Rule->Params.size() ||
      !fits(*Rule, *F.getFunctionType()) ||
      F.getReturnType()->isVectorTy() != (Scalar.size() != Name.size()))
    return nullptr;
  return Rule;
}

const ScalarRule *adjoin::scalarRuleFor(const Instruction &I) {
  if (const auto *CB = dyn_cast<CallBase>(&I)) {
    const Function *F = CB->getCalledFunction();
    return F && F->getFunctionType() == CB->getFunctionType()
               ? scalarRuleFor(*F)
               : nullptr;
  }
  switch (I.getOpcode()) {
  case Instruction::FNeg:
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FRem:
  case Instruction::FPTrunc:
  case Instruction::FPExt:
    return rowOfLlvmName(I.getOpcodeName());
  default:
    return nullptr;
  }
}

const ScalarRule *adjoin::scalarRuleNamed(StringRef Name) {
  Name.consume_front("llvm.");
  if (const ScalarRule *Rule = rowOfLibmName(Name))
    return Rule;
  return rowOfLlvmName(Name);
}

static bool fits(const MultiRule &Rule, const FunctionType &T) {
  if (T.isVarArg() || T.getNumParams() != Rule.Params.size())
    return false;
  Type *Float = T.getParamType(0);
  if (!Float->isFPOrFPVectorTy())
    return false;
  for (auto [Letter, P] : zip(Rule.Params, T.params()))
    if (isPointerParam(Letter) ? !P->isPointerTy() : P != Float)
      return false;
  bool Returns = any_of(Rule.Results, [](const MultiRule::Result &R) {
    return MultiRule::pointerOperand(R) < 0;
  });
  return !Returns || Rule.Name.starts_with("llvm.") ||
         T.getReturnType() == Float;
}

const MultiRule *adjoin::multiRuleFor(const Function &F) {
  if (F.arg_empty())
    return nullptr;
  StringRef Name;
  if (F.isIntrinsic()) {
    Name = Intrinsic::getBaseName(F.getIntrinsicID());
  } else {
    Name = libmBaseName(F.getName(), F.getFunctionType()->getParamType(0));
    if (Name.empty() || F.hasLocalLinkage())
      return nullptr;
  }
  for (const MultiRule &Rule : multiRules())
    if (Rule.Name == Name && ::fits(Rule, *F.getFunctionType()))
      return &Rule;
  return nullptr;
}

static std::optional<RowFormula> parse(StringRef Text, StringRef Params) {
  if (Text.empty())
    return std::nullopt;
  std::string Error;
  std::optional<RowFormula> F = RowFormula::parse(Text, Params, Error);
  if (!F) // the rows are constant and each is tested
    report_fatal_error(Twine("adjoin: row '") + Text + "': " + Error);
  return F;
}

const ParsedRow &adjoin::parsedRow(const ScalarRule &Rule) {
  static const std::vector<ParsedRow> Parsed = [] {
    std::vector<ParsedRow> All;
    for (const ScalarRule &R : scalarRules()) {
      ParsedRow P;
      P.Name = R.Name;
      P.Params = R.Params;
      for (unsigned I = 0; I != R.Operands; ++I) {
        P.Partial[I] = parse(R.Partial[I], R.Params);
        P.Singular[I] = parse(R.Singular[I], R.Params);
      }
      All.push_back(std::move(P));
    }
    return All;
  }();
  assert(&Rule >= scalarRules().begin() && &Rule < scalarRules().end());
  return Parsed[&Rule - scalarRules().begin()];
}

const ParsedRow &adjoin::parsedRow(const MultiRule &Rule, unsigned Result) {
  static const std::vector<std::array<ParsedRow, 2>> Parsed = [] {
    std::vector<std::array<ParsedRow, 2>> All;
    for (const MultiRule &R : multiRules()) {
      std::array<ParsedRow, 2> Rows;
      for (unsigned K = 0; K != 2; ++K) {
        Rows[K].Name = R.Name;
        Rows[K].Params = R.Params;
        for (unsigned I = 0; I != 3; ++I)
          Rows[K].Partial[I] = parse(R.Results[K].Partial[I], R.Params);
      }
      All.push_back(std::move(Rows));
    }
    return All;
  }();
  assert(&Rule >= multiRules().begin() && &Rule < multiRules().end());
  return Parsed[&Rule - multiRules().begin()][Result];
}
