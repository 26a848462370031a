// The grammar of markers: call tags, groups of arguments, and how groups fit
// the parameters of the function.
#include "Grammar.h"
#include "Conversions.h"
#include "llvm/IR/Function.h"

using namespace llvm;
using namespace adjoin;

static constexpr unsigned WidthLimit = 1024;

std::optional<unsigned> adjoin::structReturn(const Function &F) {
  for (unsigned I = 0; I != F.arg_size() && I != 2; ++I)
    if (F.hasParamAttribute(I, Attribute::StructRet))
      return I;
  return std::nullopt;
}

namespace {

/// A tag and the values up to the next one.
struct Group {
  std::optional<TagName> Head; ///< none: each value has its default
  std::string Text;
  unsigned Stride = 0;
  SmallVector<const MarkerItem *, 4> Values;
};

class Parser {
public:
  explicit Parser(const ResolvedMarker &M) : M(M), F(*M.Target), Call(*M.Call) {
    for (unsigned I = 0; I != F.arg_size(); ++I)
      if (structReturn(F) != I)
        Parameters.push_back(I);
  }
  Expected<ParsedMarker> run();

private:
  using Solution = SmallVector<ParsedArgument, 8>;

  Error fail(const Twine &Text) {
    return make_error<Diagnostic>(M.Where, Text.str());
  }
  std::string name(unsigned Operand) const {
    return "argument " + std::to_string(Operand - M.FunctionOperand + 1);
  }
  std::string parameter(unsigned P) const {
    return "parameter " + std::to_string(P + 1) + " of " + quotedName(F);
  }
  Type *typeOf(unsigned P) const {
    return F.getFunctionType()->getParamType(Parameters[P]);
  }
  bool isByVal(unsigned P) const {
    return F.hasParamAttribute(Parameters[P], Attribute::ByVal);
  }

  Error takeWidth();
  Error group();
  Error callTag(const MarkerItem &Item, size_t &Next);
  void splitEnzymeGroups();
  // The search: each returns after noting a failure, or goes on with the rest.
  void fitGroup(size_t G, Solution S);
  void fitDefault(size_t G, size_t From, Solution S);
  void fitPlain(size_t G, ParsedArgument::Activity A, Solution S);
  void fitDup(size_t G, const Solution &S);
  bool place(const MarkerItem &V, unsigned P);
  bool placeShadow(const MarkerItem &V, const MarkerItem &Of, unsigned P);
  void note(unsigned Depth, const Twine &Text) {
    if (!Failure.empty() && Depth <= Deepest)
      return;
    Deepest = Depth;
    Failure = Text.str();
  }

  const ResolvedMarker &M;
  Function &F;
  CallBase &Call;
  SmallVector<unsigned, 8> Parameters; ///< without a returned struct's address
  ParsedMarker Result;
  SmallVector<Group, 4> Groups;
  Fit Least = Fit::Good;
  unsigned Solutions = 0;
  unsigned Deepest = 0;
  std::string Failure;
};

} // namespace

Error Parser::takeWidth() {
  for (auto [I, Item] : enumerate(M.Items)) {
    if (!Item.IsTag || Item.IsTag->T != Tag::Width)
      continue;
    if (I + 1 == M.Items.size() || M.Items[I + 1].IsTag)
      return fail("'" + Item.TagText + "' has no number behind it");
    const ConstantInt *N = M.Items[I + 1].Number;
    if (!N)
      return fail("the width, " + name(M.Items[I + 1].Operand) +
                  ", is not known at link time");
    if (!N->getValue().isStrictlyPositive() || N->getValue().ugt(WidthLimit))
      return fail("the width is " + Twine(N->getSExtValue()) +
                  ", it must be between 1 and " + Twine(WidthLimit));
    Result.Width = N->getZExtValue();
  }
  return Error::success();
}

/// Takes a tag that speaks of the call as a whole; \p Next is the item behind.
Error Parser::callTag(const MarkerItem &Item, size_t &Next) {
  auto Use = [&](ReturnUse U) {
    Result.Return = U;
    return Error::success();
  };
  switch (Item.IsTag->T) {
  case Tag::Width:
    ++Next; // takeWidth has seen it
    return Error::success();
  case Tag::PrimalReturn:
    Result.PrimalReturn = true;
    return Error::success();
  case Tag::ConstReturn:
    return Use(ReturnUse::Const);
  case Tag::ActiveReturn:
    return Use(ReturnUse::Active);
  case Tag::DupReturn:
    return Use(ReturnUse::Dup);
  case Tag::NoRet:
    return Use(ReturnUse::None);
  case Tag::RuntimeActivity:
    Result.RuntimeActivity = true;
    return Error::success();
  case Tag::Tape:
  case Tag::Allocated:
    return fail("'" + Item.TagText + "' belongs to the split mode markers");
  case Tag::Unknown:
    return fail("unknown tag '" + Item.TagText + "'");
  case Tag::Const:
  case Tag::Dup:
  case Tag::DupNoNeed:
  case Tag::DupV:
  case Tag::DupNoNeedV:
  case Tag::Out:
    break;
  }
  llvm_unreachable("a tag of an argument");
}

static bool isArgumentTag(Tag T) {
  return T == Tag::Const || T == Tag::Dup || T == Tag::DupNoNeed ||
         T == Tag::DupV || T == Tag::DupNoNeedV || T == Tag::Out;
}

static bool isStrided(Tag T) { return T == Tag::DupV || T == Tag::DupNoNeedV; }

Error Parser::group() {
  Groups.emplace_back();
  for (size_t I = 0; I != M.Items.size();) {
    const MarkerItem &Item = M.Items[I++];
    if (!Item.IsTag) {
      Groups.back().Values.push_back(&Item);
      continue;
    }
    Groups.emplace_back();
    if (!isArgumentTag(Item.IsTag->T)) {
      if (Error E = callTag(Item, I))
        return E;
      continue;
    }
    Group &G = Groups.back();
    G.Head = Item.IsTag;
    G.Text = Item.TagText;
    if (isStrided(Item.IsTag->T)) {
      if (I == M.Items.size() || M.Items[I].IsTag)
        return fail("'" + Item.TagText + "' has no stride behind it");
      G.Stride = M.Items[I++].Operand;
      if (!Call.getArgOperand(G.Stride)->getType()->isIntegerTy())
        return fail(name(G.Stride) + ", the stride behind '" + Item.TagText +
                    "', is not an integer");
    }
    if (I == M.Items.size() || M.Items[I].IsTag)
      return fail("'" + Item.TagText + "' has no argument behind it");
  }
  return Error::success();
}

/// A tag of the enzyme family holds for one argument; what follows has its
/// default.
void Parser::splitEnzymeGroups() {
  SmallVector<Group, 4> Split;
  for (Group &G : Groups) {
    if (!G.Head || G.Head->Of != Family::Enzyme) {
      Split.push_back(std::move(G));
      continue;
    }
    size_t Length = 1;
    if (isStrided(G.Head->T))
      Length = 2;
    else if (G.Head->T == Tag::Dup || G.Head->T == Tag::DupNoNeed)
      Length = 1 + Result.Width;
    Group Rest;
    while (G.Values.size() > Length)
      Rest.Values.insert(Rest.Values.begin(), G.Values.pop_back_val());
    Split.push_back(std::move(G));
    Split.push_back(std::move(Rest));
  }
  Groups = std::move(Split);
}

/// \p V can be parameter \p P.
bool Parser::place(const MarkerItem &V, unsigned P) {
  if (P >= Parameters.size()) {
    note(V.Operand,
         name(V.Operand) + " is one too many: " + quotedName(F) + " has " +
             Twine(Parameters.size()) +
             (Parameters.size() == 1 ? " parameter" : " parameters"));
    return false;
  }
  if (fit(Call, V.Operand, typeOf(P), V.Number) >= Least)
    return true;
  note(V.Operand, name(V.Operand) + " is " +
                      typeName(Call.getArgOperand(V.Operand)->getType()) +
                      ", which cannot be " + parameter(P) + ", " +
                      typeName(typeOf(P)));
  return false;
}

bool Parser::placeShadow(const MarkerItem &V, const MarkerItem &Of,
                         unsigned P) {
  if (fit(Call, V.Operand, typeOf(P), V.Number) >= Least)
    return true;
  note(V.Operand, name(V.Operand) + ", the shadow of " + name(Of.Operand) +
                      ", is " +
                      typeName(Call.getArgOperand(V.Operand)->getType()) +
                      ", not " + typeName(typeOf(P)));
  return false;
}

void Parser::fitGroup(size_t G, Solution S) {
  if (Solutions > 1)
    return;
  if (G == Groups.size()) {
    if (S.size() == Parameters.size()) {
      if (++Solutions == 1)
        Result.Arguments = std::move(S);
      return;
    }
    note(Call.arg_size(), "too few arguments: " + quotedName(F) + " has " +
                              Twine(Parameters.size()) +
                              " parameters, the marker gives arguments for " +
                              Twine(S.size()));
    return;
  }
  const Group &Now = Groups[G];
  if (!Now.Head)
    return fitDefault(G, 0, std::move(S));
  switch (Now.Head->T) {
  case Tag::Const:
    return fitPlain(G, ParsedArgument::Const, std::move(S));
  case Tag::Out:
    return fitPlain(G, ParsedArgument::Out, std::move(S));
  default:
    return fitDup(G, S);
  }
}

/// Untagged values: a float is dup or out, a pointer dup, an integer const.
void Parser::fitDefault(size_t G, size_t From, Solution S) {
  ArrayRef<const MarkerItem *> Values = Groups[G].Values;
  while (From != Values.size()) {
    const MarkerItem &V = *Values[From++];
    unsigned P = S.size();
    if (!place(V, P))
      return;
    ParsedArgument A;
    A.Value = V.Operand;
    bool Float = holdsFloat(typeOf(P));
    if (Float && !Result.Forward) {
      A.A = ParsedArgument::Out;
    } else if (Float || holdsPointer(typeOf(P))) {
      A.A = ParsedArgument::Dup;
      size_t Given = Values.size() - From;
      if (Given < Result.Width)
        return note(V.Operand + Given + 1,
                    Given == 0
                        ? "the shadow of " + name(V.Operand) + " is missing"
                        : name(V.Operand) + " needs " + Twine(Result.Width) +
                              " shadows, one for each lane: there are " +
                              Twine(Given));
      for (unsigned K = 0; K != Result.Width; ++K) {
        const MarkerItem &Shadow = *Values[From++];
        if (!placeShadow(Shadow, V, P))
          return;
        A.Shadows.push_back(Shadow.Operand);
      }
    }
    S.push_back(std::move(A));
  }
  fitGroup(G + 1, std::move(S));
}

/// Values without shadows.
void Parser::fitPlain(size_t G, ParsedArgument::Activity Activity, Solution S) {
  for (const MarkerItem *V : Groups[G].Values) {
    unsigned P = S.size();
    if (!place(*V, P))
      return;
    if (Activity == ParsedArgument::Out) {
      const std::string &Text = Groups[G].Text;
      if (Result.Forward)
        return note(V->Operand, "'" + Text + "' before " + name(V->Operand) +
                                    ": there are no adjoints in forward mode");
      if (typeOf(P)->isPointerTy() && !isByVal(P))
        return note(V->Operand,
                    "'" + Text + "' before " + name(V->Operand) +
                        ", which is a pointer: only values have an adjoint "
                        "that is returned, a pointer has a shadow");
      if (!holdsFloat(typeOf(P)) && !isByVal(P) &&
          !(typeOf(P)->isIntegerTy() && typeOf(P)->getIntegerBitWidth() >= 64))
        return note(V->Operand, "'" + Text + "' before " + name(V->Operand) +
                                    ", which is no floating-point value");
    }
    ParsedArgument A;
    A.A = Activity;
    A.Tagged = true;
    A.Value = V->Operand;
    S.push_back(std::move(A));
  }
  fitGroup(G + 1, std::move(S));
}

/// First all values, then all their shadows (of one lane after the other), then
/// integers without.
void Parser::fitDup(size_t G, const Solution &S) {
  const Group &Now = Groups[G];
  ArrayRef<const MarkerItem *> Values = Now.Values;
  bool Strided = isStrided(Now.Head->T);
  unsigned Lanes = Strided ? 1 : Result.Width;
  unsigned First = S.size();
  if (Values.size() < 1 + Lanes) {
    if (!place(*Values[0], First))
      return;
    unsigned Given = Values.size() - 1;
    return note(
        Values.back()->Operand + 1,
        Given == 0
            ? "the shadow of " + name(Values[0]->Operand) + " is missing"
            : name(Values[0]->Operand) + " needs " + Twine(Lanes) +
                  " shadows, one for each lane: there are " + Twine(Given));
  }
  for (unsigned Count = Values.size() / (1 + Lanes); Count != 0; --Count) {
    Solution Now2 = S;
    bool Fits = true;
    for (unsigned I = 0; Fits && I != Values.size(); ++I) {
      const MarkerItem &V = *Values[I];
      if (I < Count) {
        Fits = place(V, First + I);
        if (!Fits)
          break;
        Type *T = typeOf(First + I);
        if (Strided && !T->isPointerTy()) {
          note(V.Operand, "'" + Now.Text + "' before " + name(V.Operand) +
                              ", which is no pointer");
          Fits = false;
        } else if (!Result.Forward && holdsFloat(T)) {
          note(V.Operand,
               "'" + Now.Text + "' before " + name(V.Operand) +
                   ", a floating-point value: in reverse mode it has an "
                   "adjoint that is returned, not a shadow");
          Fits = false;
        }
        ParsedArgument A;
        A.A = Strided ? ParsedArgument::Strided : ParsedArgument::Dup;
        A.Tagged = true;
        A.Value = V.Operand;
        A.Stride = Now.Stride;
        Now2.push_back(std::move(A));
      } else if (I < Count * (1 + Lanes)) {
        unsigned Of = I % Count;
        Fits = placeShadow(V, *Values[Of], First + Of);
        Now2[First + Of].Shadows.push_back(V.Operand);
      } else {
        unsigned P = Now2.size();
        Fits = place(V, P);
        if (Fits && !typeOf(P)->isIntegerTy()) {
          note(V.Operand, "the shadow of " + name(V.Operand) + " is missing");
          Fits = false;
        }
        ParsedArgument A;
        A.Value = V.Operand;
        Now2.push_back(std::move(A));
      }
    }
    if (Fits)
      fitGroup(G + 1, std::move(Now2));
  }
}

Expected<ParsedMarker> Parser::run() {
  switch (M.Name.Kind) {
  case MarkerKind::Fwddiff:
    break;
  case MarkerKind::Autodiff:
    Result.Forward = false;
    break;
  case MarkerKind::Augmentfwd:
  case MarkerKind::Reverse:
    return fail("reverse mode in two calls is not supported yet");
  case MarkerKind::Unknown:
    return fail(quotedName(*Call.getCalledOperand()->stripPointerCasts()) +
                " is no marker: there are autodiff, fwddiff, augmentfwd and "
                "reverse");
  }
  if (F.isVarArg())
    return fail("cannot differentiate " + quotedName(F) +
                ": it takes a variable number of arguments");
  if (Error E = takeWidth())
    return std::move(E);
  if (Error E = group())
    return std::move(E);
  splitEnzymeGroups();
  for (Fit Degree : {Fit::Good, Fit::Loose}) {
    Least = Degree;
    fitGroup(0, {});
    if (Solutions != 0)
      break;
  }
  if (Solutions == 0)
    return fail(Failure);
  if (Solutions > 1) {
    // The first group in which values and shadows can be told in two ways.
    unsigned At = M.FunctionOperand + 1;
    for (const Group &G : Groups)
      if (G.Head && (G.Head->T == Tag::Dup || G.Head->T == Tag::DupNoNeed ||
                     isStrided(G.Head->T))) {
        At = G.Values.front()->Operand;
        break;
      }
    return fail("the arguments from " + name(At) +
                " on fit the parameters of " + quotedName(F) +
                " in more than one way: put a tag before each");
  }
  return std::move(Result);
}

Expected<ParsedMarker> adjoin::parse(const ResolvedMarker &M) {
  return Parser(M).run();
}
