// The names that the plugin knows: tables of markers, tags and registrations.
#include "Names.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Function.h"

using namespace llvm;
using namespace adjoin;

static constexpr StringLiteral Prefix[] = {"adjoin_", "enzyme_"};

bool adjoin::isReserved(StringRef Symbol) {
  return Symbol.contains("adjoin_") || Symbol.contains("enzyme_");
}

std::optional<MarkerName> adjoin::markerOf(const Function &F) {
  if (!F.isDeclaration() || F.isIntrinsic())
    return std::nullopt;
  static constexpr std::pair<StringLiteral, MarkerKind> Kinds[] = {
      {"autodiff", MarkerKind::Autodiff},
      {"fwddiff", MarkerKind::Fwddiff},
      {"augmentfwd", MarkerKind::Augmentfwd},
      {"reverse", MarkerKind::Reverse},
  };
  for (Family Of : {Family::Adjoin, Family::Enzyme}) {
    size_t At =
        F.getName().find(("__" + Prefix[static_cast<unsigned>(Of)]).str());
    if (At == StringRef::npos)
      continue;
    StringRef Rest = F.getName().substr(At + 2 + Prefix[0].size());
    for (auto &[Name, Kind] : Kinds)
      if (Rest.starts_with(Name))
        return MarkerName{Kind, Of};
    return MarkerName{MarkerKind::Unknown, Of};
  }
  return std::nullopt;
}

static constexpr std::pair<StringLiteral, Tag> Tags[] = {
    {"const", Tag::Const},
    {"dup", Tag::Dup},
    {"dupnoneed", Tag::DupNoNeed},
    {"dupv", Tag::DupV},
    {"dupnoneedv", Tag::DupNoNeedV},
    {"out", Tag::Out},
    {"width", Tag::Width},
    {"primal_return", Tag::PrimalReturn},
    {"const_return", Tag::ConstReturn},
    {"active_return", Tag::ActiveReturn},
    {"dup_return", Tag::DupReturn},
    {"noret", Tag::NoRet},
    {"tape", Tag::Tape},
    {"allocated", Tag::Allocated},
    {"runtime_activity", Tag::RuntimeActivity},
};

std::optional<TagName> adjoin::tagOf(const GlobalVariable &G) {
  StringRef Symbol = G.getName();
  if (!isReserved(Symbol))
    return std::nullopt;
  // In a namespace the name is mangled.
  std::string Plain = demangle(Symbol);
  StringRef Name = Plain;
  if (size_t Scope = Name.rfind("::"); Scope != StringRef::npos)
    Name = Name.substr(Scope + 2);
  for (Family Of : {Family::Adjoin, Family::Enzyme}) {
    if (!Name.starts_with(Prefix[static_cast<unsigned>(Of)]))
      continue;
    StringRef Rest = Name.substr(Prefix[0].size());
    for (auto &[Spelling, T] : Tags)
      if (Rest == Spelling)
        return TagName{T, Of};
    if (G.isDeclaration() && G.getValueType()->isIntegerTy(32))
      return TagName{Tag::Unknown, Of};
  }
  return std::nullopt;
}

std::string adjoin::spelling(TagName T) {
  std::string Name = Prefix[static_cast<unsigned>(T.Of)].str();
  for (auto &[Spelling, Known] : Tags)
    if (Known == T.T)
      return Name + Spelling.str();
  return Name + "?";
}

std::optional<RegistrationKind> adjoin::registrationNamed(StringRef Symbol) {
  if (Symbol.contains("adjoin_anchor_"))
    return RegistrationKind::Anchor;
  size_t At = Symbol.find("__adjoin_");
  if (At == StringRef::npos)
    At = Symbol.find("__enzyme_");
  if (At == StringRef::npos)
    return std::nullopt;
  static constexpr std::pair<StringLiteral, RegistrationKind> Kinds[] = {
      {"register_gradient", RegistrationKind::Gradient},
      {"register_derivative", RegistrationKind::Derivative},
      {"function_like", RegistrationKind::FunctionLike},
      {"inactivefn", RegistrationKind::Inactive},
      {"allocation_like", RegistrationKind::AllocationLike},
      {"inactive_global", RegistrationKind::InactiveGlobal},
      {"nofree", RegistrationKind::NoFree},
  };
  StringRef Rest = Symbol.substr(At + 9);
  for (auto &[Name, Kind] : Kinds)
    if (Rest.starts_with(Name))
      return Kind;
  return RegistrationKind::Unknown;
}
