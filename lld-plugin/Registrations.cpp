// Reading registrations: tables of addresses, found by name.
#include "Registrations.h"
#include "Conversions.h"
#include "Names.h"
#include "ad/rules/ScalarRules.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace adjoin;

/// "f@model.c:12" carries the place behind the at sign.
static SourcePlace placeOf(const GlobalVariable &G) {
  SourcePlace P;
  P.Function = G.getName().str();
  auto [Name, Place] = G.getName().split('@');
  auto [File, Line] = Place.rsplit(':');
  if (!Line.getAsInteger(10, P.Line))
    P.File = File.str();
  return P;
}

namespace {

/// One registration while it is read. Each function returns false after it has
/// reported what is wrong.
class Table {
public:
  Table(GlobalVariable &G, const SourcePlace &Where, Report &Out)
      : G(G), DL(G.getDataLayout()), Where(Where), Out(Out) {}

  bool fail(const Twine &Text) {
    Out.error(Where, Text);
    return false;
  }
  unsigned size() const {
    return DL.getTypeAllocSize(G.getValueType()) / DL.getPointerSize();
  }
  bool hasEntries(unsigned Count, StringRef What) {
    if (size() == Count)
      return true;
    return fail("this registration has " + Twine(size()) +
                (size() == 1 ? " entry" : " entries") + ", it takes " + What);
  }
  Constant *entry(unsigned I) {
    Constant *C = ConstantFoldLoadFromConst(
        G.getInitializer(), PointerType::getUnqual(G.getContext()),
        APInt(64, uint64_t(I) * DL.getPointerSize()), DL);
    if (!C)
      return nullptr;
    Value *V = C->stripPointerCastsAndAliases();
    return dyn_cast<Constant>(V);
  }
  Function *function(unsigned I) {
    auto *F = dyn_cast_or_null<Function>(entry(I));
    if (!F)
      fail("entry " + Twine(I + 1) +
           " of this registration is not the address of a function");
    return F;
  }
  std::optional<uint64_t> number(unsigned I) {
    Constant *C = entry(I);
    if (C && C->isNullValue())
      return 0;
    if (auto *E = dyn_cast_or_null<ConstantExpr>(C))
      if (E->getOpcode() == Instruction::IntToPtr)
        if (auto *N = dyn_cast<ConstantInt>(E->getOperand(0)))
          return N->getZExtValue();
    fail("entry " + Twine(I + 1) + " of this registration is not a number");
    return std::nullopt;
  }
  std::optional<StringRef> text(unsigned I) {
    StringRef Text;
    Constant *C = entry(I);
    if (C && getConstantStringInfo(C, Text))
      return Text;
    fail("entry " + Twine(I + 1) + " of this registration is not a string");
    return std::nullopt;
  }

private:
  GlobalVariable &G;
  const DataLayout &DL;
  const SourcePlace &Where;
  Report &Out;
};

} // namespace

/// The parameters of a custom rule: those of \p F, each one for which \p Follow
/// says so followed by its shadow.
static SmallVector<Type *, 8> ruleParameters(const Function &F, bool Floats) {
  SmallVector<Type *, 8> Types;
  for (Type *T : F.getFunctionType()->params()) {
    Types.push_back(T);
    if (T->isPointerTy() || (Floats && holdsFloat(T)))
      Types.push_back(T);
  }
  return Types;
}

/// Structs by value have many shapes: only signatures of scalars are checked.
static bool isPlain(const Function &F) {
  for (unsigned I = 0; I != F.arg_size(); ++I)
    if (F.hasParamAttribute(I, Attribute::StructRet) ||
        F.hasParamAttribute(I, Attribute::ByVal) ||
        F.getFunctionType()->getParamType(I)->isVectorTy())
      return false;
  return true;
}

/// \p Rule takes \p Expected, or a returned struct's address before them.
static bool takes(const Function &Rule, ArrayRef<Type *> Expected) {
  ArrayRef<Type *> Have = Rule.getFunctionType()->params();
  if (Rule.arg_size() != 0 && Rule.hasParamAttribute(0, Attribute::StructRet))
    Have = Have.drop_front();
  return Have == Expected && !Rule.isVarArg();
}

static std::string list(ArrayRef<Type *> Types) {
  std::string Text;
  for (Type *T : Types)
    Text += (Text.empty() ? "" : ", ") + typeName(T);
  return Text.empty() ? "nothing" : Text;
}

bool Registrations::readInto(GlobalVariable &G, const SourcePlace &Where) {
  Table T(G, Where, Out);
  auto Takes = [&](const Function &F, const Function &Rule,
                   ArrayRef<Type *> Expected) {
    if (!isPlain(F) || takes(Rule, Expected))
      return true;
    return T.fail(quotedName(Rule) + " cannot be a rule of " + quotedName(F) +
                  ": it must take " + list(Expected));
  };
  auto Remember = [&](Function *F) { Registered.push_back({F, Where}); };
  switch (*registrationNamed(G.getName())) {
  case RegistrationKind::Gradient: {
    if (!T.hasEntries(3, "three: the function, its augmented form, its "
                         "gradient"))
      return false;
    Function *F = T.function(0), *Augmented = T.function(1),
             *Gradient = T.function(2);
    if (!F || !Augmented || !Gradient)
      return false;
    SmallVector<Type *, 8> Types = ruleParameters(*F, false);
    if (!Takes(*F, *Augmented, Types))
      return false;
    if (holdsFloat(F->getReturnType()))
      Types.push_back(F->getReturnType());
    Types.push_back(PointerType::getUnqual(M.getContext()));
    if (!Takes(*F, *Gradient, Types))
      return false;
    CustomRule &Rule = Rules.Custom[F];
    if (Rule.Augmented)
      return T.fail(quotedName(*F) + " has two gradients");
    Rule.Augmented = Augmented;
    Rule.Gradient = Gradient;
    Remember(F);
    return true;
  }
  case RegistrationKind::Derivative: {
    if (!T.hasEntries(2, "two: the function and its derivative"))
      return false;
    Function *F = T.function(0), *Forward = T.function(1);
    if (!F || !Forward || !Takes(*F, *Forward, ruleParameters(*F, true)))
      return false;
    CustomRule &Rule = Rules.Custom[F];
    if (Rule.Forward)
      return T.fail(quotedName(*F) + " has two derivatives");
    Rule.Forward = Forward;
    Remember(F);
    return true;
  }
  case RegistrationKind::FunctionLike: {
    if (!T.hasEntries(2, "two: the function and a name"))
      return false;
    Function *F = T.function(0);
    std::optional<StringRef> Name = T.text(1);
    if (!F || !Name)
      return false;
    const ScalarRule *Rule = scalarRuleNamed(*Name);
    if (!Rule)
      return T.fail("there is no known function '" + *Name + "'");
    if (!fits(*Rule, *F->getFunctionType()))
      return T.fail(quotedName(*F) + " does not have the type of '" + *Name +
                    "'");
    Rules.FunctionLike[F] = Name->str();
    Remember(F);
    return true;
  }
  case RegistrationKind::Inactive: {
    if (!T.hasEntries(1, "one: the function"))
      return false;
    Function *F = T.function(0);
    if (!F)
      return false;
    Rules.Inactive.insert(F);
    Remember(F);
    return true;
  }
  case RegistrationKind::AllocationLike: {
    if (!T.hasEntries(4, "four: the allocator, the number of its size "
                         "parameter, what is given back, the deallocator"))
      return false;
    Function *F = T.function(0), *Free = T.function(3);
    std::optional<uint64_t> Size = T.number(1);
    std::optional<StringRef> List = T.text(2);
    if (!F || !Free || !Size || !List)
      return false;
    AllocationRule Rule;
    Rule.Free = Free;
    Rule.SizeArg = *Size;
    if (*Size >= F->arg_size() ||
        !F->getFunctionType()->getParamType(*Size)->isIntegerTy())
      return T.fail("parameter " + Twine(*Size) + " of " + quotedName(*F) +
                    " is no size in bytes");
    if (!F->getReturnType()->isPointerTy())
      return T.fail(quotedName(*F) + " returns no pointer");
    for (StringRef Word : split(*List, ',')) {
      int Index;
      if (Word.trim().getAsInteger(10, Index) || Index < -1 ||
          Index >= static_cast<int>(F->arg_size()))
        return T.fail("'" + *List + "' does not say what " + quotedName(*Free) +
                      " takes: -1 is the pointer, from 0 on what " +
                      quotedName(*F) + " was given");
      Rule.FreeArgs.push_back(Index);
    }
    if (Rule.FreeArgs.size() != Free->arg_size())
      return T.fail(quotedName(*Free) + " takes " + Twine(Free->arg_size()) +
                    " arguments, '" + *List + "' lists " +
                    Twine(Rule.FreeArgs.size()));
    Rules.Allocators[F] = Rule;
    Rules.Deallocators[Free] = F;
    return true;
  }
  case RegistrationKind::InactiveGlobal: {
    if (!T.hasEntries(1, "one: the address of the variable"))
      return false;
    auto *Variable = dyn_cast_or_null<GlobalVariable>(T.entry(0));
    if (!Variable)
      return T.fail("this registration does not name a variable");
    Rules.InactiveGlobals.insert(Variable);
    return true;
  }
  case RegistrationKind::NoFree: {
    if (!T.hasEntries(1, "one: the function"))
      return false;
    Function *F = T.function(0);
    if (F)
      Rules.NoFree.insert(F);
    return F != nullptr;
  }
  case RegistrationKind::Anchor:
    return true;
  case RegistrationKind::Unknown:
    return T.fail("unknown registration '" +
                  G.getName().ltrim('\1').split('@').first + "'");
  }
  llvm_unreachable("a kind of registration");
}

void Registrations::readOne(GlobalVariable &G) {
  SourcePlace Where = placeOf(G);
  if (registrationNamed(G.getName()) == RegistrationKind::Anchor)
    return;
  if (!G.hasInitializer()) {
    Out.error(Where, "this registration is declared, not defined");
    return;
  }
  readInto(G, Where);
}

RuleBook Registrations::read() {
  SmallVector<GlobalVariable *, 16> Tables;
  SmallSetVector<GlobalValue *, 16> Gone;
  for (GlobalVariable &G : M.globals())
    if (registrationNamed(G.getName())) {
      Tables.push_back(&G);
      Gone.insert(&G);
    }
  if (Tables.empty())
    return Rules;
  for (GlobalVariable *G : Tables)
    readOne(*G);
  // clang gives a static of extern "C" its C name as an alias.
  for (GlobalAlias &A : M.aliases())
    if (auto *G = A.getAliaseeObject(); G && Gone.contains(G))
      Gone.insert(&A);
  removeFromUsedLists(M, [&](Constant *C) {
    auto *G = dyn_cast<GlobalValue>(C->stripPointerCasts());
    return G && Gone.contains(G);
  });
  for (GlobalValue *G : reverse(Gone)) {
    G->replaceAllUsesWith(Constant::getNullValue(G->getType()));
    G->eraseFromParent();
  }
  // The tables' contents still count as uses of what they name.
  for (Function &F : M)
    F.removeDeadConstantUsers();
  for (GlobalVariable &G : M.globals())
    G.removeDeadConstantUsers();
  return Rules;
}

void Registrations::warnOfUnused() {
  for (auto &[F, Where] : Registered)
    if (!F->isDeclaration() && F->use_empty())
      Out.warning(Where, quotedName(*F) +
                             " is registered, and nothing in this link calls "
                             "it: it may have been inlined before (see "
                             "ADJOIN_NOINLINE)");
}
