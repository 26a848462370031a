// From parsed arguments to a request: the state of each parameter, what is done
// with the return value, and the results of the marker.
#include "Asked.h"
#include "Conversions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace adjoin;

namespace {

class Reader {
public:
  Reader(const ResolvedMarker &Marker, Function &Target, Function &Copy,
         const KindAnalysis &Kinds)
      : Marker(Marker), Target(Target), Copy(Copy), Kinds(Kinds),
        A(std::make_unique<Asked>(Target.getDataLayout())) {}
  Expected<std::unique_ptr<Asked>> run(ParsedMarker Parsed, bool StrongZero);

private:
  Error fail(const Twine &Text) {
    return make_error<Diagnostic>(Marker.Where, Text.str());
  }
  std::string name(const ParsedArgument &P) const {
    return "argument " + std::to_string(P.Value - Marker.FunctionOperand + 1);
  }
  Error argument(const ParsedArgument &P, unsigned Param);
  Error returned();
  Error results();
  KindSet returnedKinds() const;

  const ResolvedMarker &Marker;
  Function &Target;
  Function &Copy;
  const KindAnalysis &Kinds;
  std::unique_ptr<Asked> A;
};

} // namespace

/// A register that carries floats that its type does not show.
static bool isPacked(Type *T, KindSet K) {
  if (T->isIntegerTy())
    return K.mayBeFloat();
  return T->isDoubleTy() && K.mayBe(KindSet::F32) && !K.mayBe(KindSet::F64);
}

Error Reader::argument(const ParsedArgument &P, unsigned Param) {
  Type *T = Target.getFunctionType()->getParamType(Param);
  KindSet K = Kinds.summary(Copy.getArg(Param));
  bool ByVal = Target.hasParamAttribute(Param, Attribute::ByVal);
  ShadowState State = ShadowState::Known;
  if (!P.Tagged && isPacked(T, K))
    return fail(name(P) + ", " + typeName(T) +
                ", carries packed floats: put a tag before it");
  switch (P.A) {
  case ParsedArgument::Const:
    State = ShadowState::Const;
    break;
  case ParsedArgument::Out:
    if (T->isIntegerTy() && !K.mayBeFloat())
      return fail(name(P) + " is an integer: it has no adjoint");
    break;
  case ParsedArgument::Dup:
  case ParsedArgument::Strided:
    if (ByVal && !A->Parsed.Forward)
      return fail(name(P) + " is a struct passed by value in memory: in "
                            "reverse mode its adjoint would be lost with the "
                            "copy, pass a pointer to it");
    if (T->isIntegerTy() && !K.mayBeFloat() && !K.mayBePtr())
      State = ShadowState::Const;
    else if (T->isIntegerTy() && K.mayBeFloat() && !A->Parsed.Forward)
      return fail(name(P) + ", " + typeName(T) +
                  ", carries floats: in reverse mode they have an adjoint that "
                  "is returned, not a shadow");
    else if (A->Parsed.RuntimeActivity && !ByVal && !holdsFloat(T))
      State = ShadowState::Maybe;
    break;
  }
  A->R.Args[Param] = State;
  return Error::success();
}

KindSet Reader::returnedKinds() const {
  KindSet All;
  for (Instruction &I : instructions(Copy))
    if (auto *Return = dyn_cast<ReturnInst>(&I))
      if (Value *V = Return->getReturnValue())
        All = All | Kinds.summary(V);
  return All;
}

Error Reader::returned() {
  const ParsedMarker &P = A->Parsed;
  Type *T = A->Value;
  bool Float = holdsFloat(T);
  if (A->Sret && !Float)
    Float = Kinds.object(Copy.getArg(*A->Sret)).mayBeFloat();
  bool Packed = false;
  if (!A->Sret && !T->isVoidTy())
    Packed = isPacked(T, returnedKinds());
  switch (P.Return) {
  case ReturnUse::Default:
    if (Packed)
      return fail(quotedName(Target) + " returns " + typeName(T) +
                  ", which carries packed floats: say adjoin_active_return or "
                  "adjoin_const_return");
    A->ActiveReturn = Float;
    break;
  case ReturnUse::Const:
    break;
  case ReturnUse::None:
    return Error::success();
  case ReturnUse::Active:
    if (!Float && !Packed)
      return fail("adjoin_active_return: " + quotedName(Target) +
                  " returns no floating-point value");
    A->ActiveReturn = true;
    break;
  case ReturnUse::Dup:
    if (!P.Forward)
      return fail("adjoin_dup_return: a returned pointer has a shadow in "
                  "forward and split mode only");
    if (!Float && !Packed && !holdsPointer(T))
      return fail("adjoin_dup_return: " + quotedName(Target) + " returns " +
                  typeName(T) + ", which has no shadow");
    A->ActiveReturn = true;
    break;
  }
  if (A->ActiveReturn && !P.Forward && !holdsFloat(T))
    return fail("the floats in what " + quotedName(Target) +
                " returns are not known by their type: say "
                "adjoin_const_return, or return them through a pointer");
  A->ReturnsValue = P.PrimalReturn && !T->isVoidTy();
  return Error::success();
}

Error Reader::results() {
  const ParsedMarker &P = A->Parsed;
  if (A->ReturnsValue)
    A->Layout.add(A->Value, 1, A->Sret.has_value());
  if (P.Forward) {
    if (A->ActiveReturn)
      A->Layout.add(A->Value, P.Width, A->Sret.has_value());
  } else {
    for (auto [Param, Argument] : enumerate(A->ByParameter)) {
      if (!Argument || Argument->A != ParsedArgument::Out)
        continue;
      if (Type *T = Target.getParamByValType(Param))
        A->Layout.add(T, P.Width, true);
      else
        A->Layout.add(Target.getFunctionType()->getParamType(Param), P.Width,
                      false);
    }
  }
  const CallBase &Call = *Marker.Call;
  if (Marker.FunctionOperand != 0) {
    A->Declared = Call.getParamStructRetType(Marker.FunctionOperand - 1);
    A->DeclaredInMemory = true;
  } else if (!Call.getType()->isVoidTy() &&
             !(A->Layout.empty() && Call.use_empty())) {
    A->Declared = Call.getType();
  }
  if (!A->Declared)
    return Error::success();
  std::string Misfit = A->Layout.misfit(A->Declared);
  return Misfit.empty() ? Error::success() : fail(Misfit);
}

Expected<std::unique_ptr<Asked>> Reader::run(ParsedMarker Parsed,
                                             bool StrongZero) {
  A->Parsed = std::move(Parsed);
  Request &R = A->R;
  R.Primal = &Target;
  R.M = A->Parsed.Forward ? Mode::Forward : Mode::Reverse;
  R.Width = A->Parsed.Width;
  R.StrongZero = StrongZero;
  // The reverse sweep of autodiff follows the augmented primal at once.
  R.Adjacent = R.M == Mode::Reverse;
  R.Args.assign(Target.arg_size(), ShadowState::Const);
  A->Sret = structReturn(Target);
  A->Value =
      A->Sret ? Target.getParamStructRetType(*A->Sret) : Target.getReturnType();
  const ParsedArgument *Next = A->Parsed.Arguments.begin();
  for (unsigned Param = 0; Param != Target.arg_size(); ++Param) {
    if (A->Sret == Param) {
      A->ByParameter.push_back(nullptr);
      continue;
    }
    A->ByParameter.push_back(Next);
    if (Error E = argument(*Next++, Param))
      return std::move(E);
  }
  if (Error E = returned())
    return std::move(E);
  if (A->Sret && A->ActiveReturn)
    R.Args[*A->Sret] = ShadowState::Known;
  R.ReturnActive = !A->Sret && A->ActiveReturn;
  if (Error E = results())
    return std::move(E);
  return std::move(A);
}

Expected<std::unique_ptr<Asked>>
adjoin::ask(const ResolvedMarker &Marker, ParsedMarker Parsed, Function &Target,
            Function &Copy, const KindAnalysis &Kinds, bool StrongZero) {
  return Reader(Marker, Target, Copy, Kinds).run(std::move(Parsed), StrongZero);
}
