// Finding marker calls, and resolving them upwards until function, tags and
// width are constants.
#include "Markers.h"
#include "Places.h"
#include "Slice.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace adjoin;

/// Bodies that are inlined upwards, all together: beyond it something is wrong.
static constexpr unsigned InlineLimit = 20000;

std::optional<MarkerName> adjoin::markerCalledBy(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return std::nullopt;
  const auto *Callee =
      dyn_cast<Function>(Call->getCalledOperand()->stripPointerCasts());
  if (!Callee || !Callee->isDeclaration())
    return std::nullopt;
  return markerOf(*Callee);
}

void adjoin::eraseCall(CallBase &Call) {
  if (!Call.getType()->isVoidTy())
    Call.replaceAllUsesWith(PoisonValue::get(Call.getType()));
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call)) {
    Invoke->getUnwindDest()->removePredecessor(Invoke->getParent());
    BranchInst::Create(Invoke->getNormalDest(), Invoke->getIterator());
  }
  Call.eraseFromParent();
}

void adjoin::replaceByTrap(CallBase &Call) {
  auto *Trap =
      Intrinsic::getOrInsertDeclaration(Call.getModule(), Intrinsic::trap);
  CallInst *New = CallInst::Create(Trap, "", Call.getIterator());
  New->setDebugLoc(Call.getDebugLoc());
  eraseCall(Call);
}

MarkerResolver::MarkerResolver(Module &M, Pipelines &Pipes, Report &Out)
    : M(M), Pipes(Pipes), Out(Out),
      Kind(M.getContext().getMDKindID("adjoin.marker")) {}

/// Gives each marker call of \p F that came in by inlining, or was there from
/// the beginning, a number of its own. \p Through says by which call.
bool MarkerResolver::number(Function &F, StringRef Through) {
  bool Any = false;
  for (Instruction &I : instructions(F)) {
    if (!markerCalledBy(I))
      continue;
    Any = true;
    SmallVector<std::string, 2> Chain;
    if (std::optional<uint64_t> Old = markerNumber(I, Kind)) {
      const Origin &From = Origins[*Old];
      if (From.Home == &F)
        continue;
      Chain = From.Chain;
      Chain.push_back(Through.str());
    }
    setMarkerNumber(I, Kind, Origins.size());
    Origins.push_back({&F, std::move(Chain)});
  }
  return Any;
}

/// Numbers functions callees first, recursion apart.
void MarkerResolver::rankFunctions() {
  struct Visit {
    Function *F;
    inst_iterator Next;
  };
  SmallVector<Visit, 0> Stack;
  unsigned Rank = 0;
  for (Function &Root : M) {
    if (Root.isDeclaration() || !Ranks.try_emplace(&Root, 0).second)
      continue;
    Stack.push_back({&Root, inst_begin(Root)});
    while (!Stack.empty()) {
      Visit &Top = Stack.back();
      if (Top.Next == inst_end(*Top.F)) {
        Ranks[Top.F] = Rank++;
        Stack.pop_back();
        continue;
      }
      auto *Call = dyn_cast<CallBase>(&*Top.Next++);
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (Callee && !Callee->isDeclaration() &&
          Ranks.try_emplace(Callee, 0).second)
        Stack.push_back({Callee, inst_begin(*Callee)});
    }
  }
}

/// The calls of \p F by name, outside of itself, by caller in module order.
static SmallVector<CallBase *, 8> callsOf(Function &F) {
  SmallPtrSet<Function *, 8> Callers;
  for (User *U : F.users())
    if (auto *Call = dyn_cast<CallBase>(U))
      if (Call->getCalledFunction() == &F && Call->getFunction() != &F)
        Callers.insert(Call->getFunction());
  SmallVector<CallBase *, 8> Calls;
  if (Callers.empty())
    return Calls;
  for (Function &Caller : *F.getParent()) {
    if (!Callers.contains(&Caller))
      continue;
    for (Instruction &I : instructions(Caller))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Call->getCalledFunction() == &F)
          Calls.push_back(Call);
  }
  return Calls;
}

bool MarkerResolver::callsItself(const Function &F) const {
  return any_of(instructions(F), [&](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    return Call && Call->getCalledFunction() == &F;
  });
}

/// Inlines \p F into its callers and returns those. Empty when it has none, or
/// when that cannot be done; then \p Problem says why.
SmallVector<Function *, 8> MarkerResolver::inlineUpwards(Function &F,
                                                         std::string &Problem) {
  SmallSetVector<Function *, 8> Callers;
  if (callsItself(F)) {
    Problem = quotedName(F) + " calls itself";
    return {};
  }
  for (CallBase *Call : callsOf(F)) {
    Function *Caller = Call->getFunction();
    std::string Through =
        quotedName(F) + " is called " + requestedAt(placeOf(*Call));
    if (++Inlined > InlineLimit) {
      Problem = "too many calls of " + quotedName(F);
      break;
    }
    InlineFunctionInfo Info;
    InlineResult Result = InlineFunction(*Call, Info);
    if (!Result.isSuccess()) {
      Problem = "a call of " + quotedName(F) +
                " cannot be inlined: " + Result.getFailureReason();
      continue;
    }
    number(*Caller, Through);
    Pipes.invalidate(*Caller);
    Callers.insert(Caller);
  }
  if (!Callers.empty())
    WasInlined.insert(&F);
  return Callers.takeVector();
}

/// An argument of \p F may be a tag: some caller passes one.
bool MarkerResolver::mayCarryTag(Function &F, unsigned Arg) {
  auto [It, New] = CarriesTag.try_emplace({&F, Arg}, false);
  if (!New)
    return It->second;
  for (User *U : F.users()) {
    auto *Call = dyn_cast<CallBase>(U);
    if (!Call || Call->getCalledFunction() != &F || Arg >= Call->arg_size())
      continue;
    Value *Given = Call->getArgOperand(Arg);
    Slice From = Slice::of(Given);
    // What is behind a pointer is passed along with it.
    Slice Behind = Slice::ofMemory(Given);
    bool Carries = From.Tags || Behind.Tags;
    for (const Slice *S : {&From, &Behind})
      for (Argument *A : S->Arguments)
        Carries = Carries || mayCarryTag(*A->getParent(), A->getArgNo());
    if (Carries)
      return CarriesTag[{&F, Arg}] = true;
  }
  return false;
}

void MarkerResolver::checkUses() {
  for (Function &F : M) {
    if (!markerOf(F))
      continue;
    for (User *U : F.users()) {
      auto *Call = dyn_cast<CallBase>(U);
      if (Call && Call->getCalledOperand() == &F &&
          !is_contained(Call->args(), &F))
        continue;
      if (isa<ConstantArray>(U) && all_of(U->users(), [](const User *G) {
            return isa<GlobalVariable>(G) && G->getName().starts_with("llvm.");
          }))
        continue;
      auto *I = dyn_cast<Instruction>(U);
      Out.error(I ? SourcePlace::of(*I) : SourcePlace::of(F),
                "the address of the marker " + quotedName(F) +
                    " is taken: a marker can only be called");
      break;
    }
  }
}

void MarkerResolver::resolve() {
  checkUses();
  rankFunctions();
  std::map<unsigned, Function *> Waiting;
  for (Function &F : M)
    if (!F.isDeclaration() && number(F, ""))
      Waiting[Ranks[&F]] = &F;
  while (!Waiting.empty()) {
    Function *F = Waiting.begin()->second;
    Waiting.erase(Waiting.begin());
    States &Found = Known[F];
    Found = resolve(*F);
    if (none_of(Found, [](const State &S) { return S.K == State::Upwards; }))
      continue;
    std::string Problem;
    for (Function *Caller : inlineUpwards(*F, Problem))
      Waiting[Ranks[Caller]] = Caller;
    for (State &S : Known[F])
      if (S.K == State::Upwards && !Problem.empty()) {
        S.K = State::Failed;
        S.Why += ": " + Problem;
      }
  }
}

SmallVector<ResolvedMarker, 0>
MarkerResolver::take(function_ref<Function *()> Abort) {
  SmallVector<ResolvedMarker, 0> Result;
  for (Function &F : M) {
    auto It = Known.find(&F);
    if (It == Known.end())
      continue;
    for (State &S : It->second) {
      if (S.K == State::Resolved) {
        S.Marker.Chain = Origins[*markerNumber(*S.Marker.Call, Kind)].Chain;
        S.Marker.Call->setMetadata(Kind, nullptr);
        Result.push_back(std::move(S.Marker));
      } else {
        abandon(F, S, Abort);
      }
    }
  }
  return Result;
}

/// What is left where a marker was not resolved.
void MarkerResolver::abandon(Function &F, const State &S,
                             function_ref<Function *()> Abort) {
  CallBase &Call = *S.Marker.Call;
  bool Dead = F.hasLocalLinkage() && F.use_empty();
  bool Copied = F.hasLinkOnceODRLinkage() || F.hasWeakODRLinkage();
  if (S.K == State::Unreachable ||
      (S.K == State::Upwards &&
       (Dead || (Copied && F.use_empty() && F.isDiscardableIfUnused()))))
    return replaceByTrap(Call);
  if (S.K == State::Upwards && (WasInlined.contains(&F) || Copied)) {
    // All callers of this link have a copy of the body that is resolved.
    std::string Text = "a derivative in " + quotedName(F) +
                       " depends on its caller, which was not in the link";
    IRBuilder<> B(&Call);
    B.CreateCall(Abort(), {B.CreateGlobalString(Text, "adjoin.sentence")});
    eraseCall(Call);
    return;
  }
  Error E = make_error<Diagnostic>(S.Marker.Where, S.Why);
  for (const std::string &Note : Origins[*markerNumber(Call, Kind)].Chain)
    E = withNote(std::move(E), Note);
  Out.error(std::move(E));
  replaceByTrap(Call);
}
