// Resolving the marker calls of one function on a simplified copy of it: what
// function, tags and numbers they are given.
#include "Markers.h"
#include "Places.h"
#include "Slice.h"
#include "ad/prepare/CopyFunction.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace adjoin;

/// How often calls are inlined into a copy in order to see through them.
static constexpr unsigned Rounds = 16;
/// Instructions that a copy may have when calls are inlined into it.
static constexpr unsigned SizeLimit = 200000;

std::optional<uint64_t> adjoin::markerNumber(const Instruction &I,
                                             unsigned Kind) {
  const MDNode *Node = I.getMetadata(Kind);
  if (!Node)
    return std::nullopt;
  return mdconst::extract<ConstantInt>(Node->getOperand(0))->getZExtValue();
}

void adjoin::setMarkerNumber(Instruction &I, unsigned Kind, uint64_t Number) {
  Type *Int = Type::getInt64Ty(I.getContext());
  I.setMetadata(
      Kind, MDNode::get(I.getContext(), ConstantAsMetadata::get(
                                            ConstantInt::get(Int, Number))));
}

/// \p V without casts that keep what it is.
static Value *withoutCasts(Value *V) {
  for (;;) {
    if (auto *Alias = dyn_cast<GlobalAlias>(V))
      V = Alias->getAliasee();
    else if (auto *E = dyn_cast<ConstantExpr>(V); E && E->isCast())
      V = E->getOperand(0);
    else if (isa<CastInst, FreezeInst>(V))
      V = cast<Instruction>(V)->getOperand(0);
    else
      return V;
  }
}

static const GlobalVariable *tagIn(Value *V) {
  auto *G = dyn_cast<GlobalVariable>(withoutCasts(V));
  return G && tagOf(*G) ? G : nullptr;
}

/// A variable that nothing in the program writes, although it is not declared
/// constant: all that happens to it is loads.
static bool isNeverWritten(const GlobalVariable &G) {
  return G.hasLocalLinkage() && G.hasInitializer() &&
         all_of(G.users(), [](const User *U) { return isa<LoadInst>(U); });
}

/// Values of tags become constants that name the tag, and loads of variables
/// that are never written become their value.
static bool foldLoads(Function &Copy) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(Copy))) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load)
      continue;
    auto *G = dyn_cast<GlobalVariable>(withoutCasts(Load->getPointerOperand()));
    if (!G)
      continue;
    Type *T = Load->getType();
    Constant *Is = nullptr;
    if (tagOf(*G) && T->isIntegerTy())
      Is = ConstantExpr::getPtrToInt(G, T);
    else if (isNeverWritten(*G) && G->getValueType() == T)
      Is = G->getInitializer();
    if (!Is)
      continue;
    Load->replaceAllUsesWith(Is);
    Load->eraseFromParent();
    Changed = true;
  }
  return Changed;
}

namespace {

/// The copy of one function, with its marker calls made recognisable.
class ResolutionCopy {
public:
  ResolutionCopy(Function &F, unsigned Kind, Pipelines &Pipes)
      : Pipes(Pipes), Copy(copyFunction(F)) {
    for (Instruction &I : make_early_inc_range(instructions(*Copy)))
      if (std::optional<uint64_t> Number = markerNumber(I, Kind))
        standIn(cast<CallBase>(I), *Number);
    simplify();
  }
  ~ResolutionCopy() {
    Pipes.analyses().clear(*Copy, Copy->getName());
    Copy->deleteBody();
    Copy->eraseFromParent();
    for (Function *F : StandIns)
      F->eraseFromParent();
  }

  /// The calls that stand for marker \p Number: usually one; none when it is
  /// never reached.
  SmallVector<CallBase *, 2> callsOf(uint64_t Number) {
    SmallVector<CallBase *, 2> Calls;
    for (Instruction &I : instructions(*Copy))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (auto Bundle = Call->getOperandBundle("adjoin"))
          if (cast<ConstantInt>(Bundle->Inputs[0])->getZExtValue() == Number)
            Calls.push_back(Call);
    return Calls;
  }

  /// Inlines the calls that can be, and simplifies.
  bool inlineCalls(ArrayRef<CallBase *> Calls) {
    bool Changed = false;
    for (CallBase *Call : Calls) {
      Function *Callee = Call->getCalledFunction();
      if (!Callee || Callee->isDeclaration() || Callee == Copy ||
          Callee->isPresplitCoroutine() ||
          Copy->getInstructionCount() + Callee->getInstructionCount() >
              SizeLimit)
        continue;
      InlineFunctionInfo Info;
      Changed |= InlineFunction(*Call, Info).isSuccess();
    }
    if (Changed)
      simplify();
    return Changed;
  }

private:
  /// A call of a function without attributes, and a bundle with the number: it
  /// survives whatever the optimiser does, unless it is never reached.
  void standIn(CallBase &Call, uint64_t Number) {
    Function *Callee =
        Function::Create(Call.getFunctionType(), GlobalValue::ExternalLinkage,
                         "adjoin.marker", Copy->getParent());
    StandIns.push_back(Callee);
    Value *Input =
        ConstantInt::get(Type::getInt64Ty(Copy->getContext()), Number);
    CallBase *New = CallBase::Create(&Call, OperandBundleDef("adjoin", Input),
                                     Call.getIterator());
    New->setCalledFunction(Callee);
    New->setAttributes(AttributeList());
    New->setDebugLoc(Call.getDebugLoc());
    if (auto *Plain = dyn_cast<CallInst>(New))
      Plain->setTailCallKind(CallInst::TCK_None);
    Call.replaceAllUsesWith(New);
    Call.eraseFromParent();
  }

  void simplify() {
    unsigned Left = 4;
    do {
      foldLoads(*Copy);
      Pipes.invalidate(*Copy);
      Pipes.resolve(*Copy);
    } while (--Left && foldLoads(*Copy));
    Pipes.invalidate(*Copy);
  }

  Pipelines &Pipes;
  Function *Copy;
  SmallVector<Function *, 4> StandIns;
};

} // namespace

/// Number of the operand that is the function: behind the address of a returned
/// struct.
static unsigned functionOperand(const CallBase &Call) {
  for (unsigned I = 0; I != Call.arg_size() && I != 2; ++I)
    if (Call.paramHasAttr(I, Attribute::StructRet))
      return I + 1;
  return 0;
}

/// Reads the call \p InCopy, which stands for \p Original. Calls that hide
/// something are added to \p Hiding.
MarkerResolver::State
MarkerResolver::evaluate(CallBase &Original, CallBase &InCopy, MarkerName Name,
                         SmallSetVector<CallBase *, 4> &Hiding) {
  State S;
  S.Marker.Call = &Original;
  S.Marker.Name = Name;
  S.Marker.Where = placeOf(Original);
  unsigned At = functionOperand(Original);
  S.Marker.FunctionOperand = At;
  if (At >= InCopy.arg_size()) {
    S.Why = "the marker is called without a function";
    return S;
  }
  Function &F = *Original.getFunction();
  // Depends on something that can be made visible, or on a parameter.
  auto Defer = [&](Value *V, const Slice &From, const Twine &Why) {
    for (CallBase *Call : From.Calls)
      Hiding.insert(Call);
    S.K = From.Arguments.empty() ? State::Failed : State::Upwards;
    S.Why = Why.str();
    return S;
  };

  Value *Target = withoutCasts(InCopy.getArgOperand(At));
  if (auto *Known = dyn_cast<Function>(Target)) {
    S.Marker.Target = Known;
  } else if (isa<GlobalIFunc>(Target)) {
    S.Why = quotedName(*Target) + " is chosen when the program starts: it "
                                  "cannot be differentiated";
    return S;
  } else if (isa<Constant>(Target)) {
    S.Why = isa<ConstantPointerNull>(Target)
                ? "the function to differentiate is a null pointer"
                : "the first argument is the address of no function";
    if (isa<GlobalVariable>(Target) && Target->hasName())
      S.Why =
          "the first argument, " + quotedName(*Target) + ", is not a function";
    return S;
  } else {
    return Defer(Target, Slice::of(Target),
                 "the function to differentiate is chosen at run time");
  }

  bool WantsNumber = false;
  for (unsigned I = At + 1; I != InCopy.arg_size(); ++I) {
    Value *V = InCopy.getArgOperand(I);
    MarkerItem Item;
    Item.Operand = I;
    if (const GlobalVariable *G = tagIn(V)) {
      Item.IsTag = tagOf(*G);
      Item.TagText = G->getName().str();
      WantsNumber =
          Item.IsTag->T == Tag::Width || Item.IsTag->T == Tag::Allocated;
      S.Marker.Items.push_back(std::move(Item));
      continue;
    }
    Item.Number = dyn_cast<ConstantInt>(V);
    if (isa<Constant>(V))
      Item.Address = dyn_cast<Function>(withoutCasts(V));
    std::string Which = "argument " + std::to_string(I - At + 1);
    if (WantsNumber && !Item.Number)
      return Defer(V, Slice::of(V),
                   Which + ", a number behind '" +
                       S.Marker.Items.back().TagText +
                       "', is not known at link time");
    WantsNumber = false;
    S.Marker.Items.push_back(std::move(Item));
    if (isa<Constant>(V) ||
        !(V->getType()->isPointerTy() || V->getType()->isIntegerTy()))
      continue;
    Slice From = Slice::of(V);
    bool MayBeTag = From.Tags;
    for (Argument *A : From.Arguments)
      MayBeTag = MayBeTag || mayCarryTag(F, A->getArgNo());
    if (MayBeTag)
      return Defer(V, From, Which + " is a tag that is not known at link time");
  }
  S.K = State::Resolved;
  return S;
}

MarkerResolver::States MarkerResolver::resolve(Function &F) {
  struct Entry {
    CallBase *Call;
    MarkerName Name;
    uint64_t Number;
  };
  SmallVector<Entry, 4> Calls;
  for (Instruction &I : instructions(F))
    if (std::optional<MarkerName> Name = markerCalledBy(I))
      Calls.push_back({cast<CallBase>(&I), *Name, *markerNumber(I, Kind)});

  ResolutionCopy Copy(F, Kind, Pipes);
  for (unsigned Round = 0;; ++Round) {
    States Result;
    SmallSetVector<CallBase *, 4> Hiding;
    for (const Entry &E : Calls) {
      State S;
      S.K = State::Unreachable;
      S.Marker.Call = E.Call;
      S.Marker.Where = placeOf(*E.Call);
      for (auto [Index, InCopy] : enumerate(Copy.callsOf(E.Number))) {
        State Now = evaluate(*E.Call, *InCopy, E.Name, Hiding);
        if (Index == 0 || Now.K != State::Resolved)
          S = std::move(Now);
        else if (S.K == State::Resolved && !S.Marker.asksTheSame(Now.Marker)) {
          S.K = State::Failed;
          S.Why = "the function or a tag of the marker is chosen at run time";
        }
      }
      Result.push_back(std::move(S));
    }
    if (Hiding.empty() || Round == Rounds ||
        !Copy.inlineCalls(Hiding.getArrayRef()))
      return Result;
  }
}
