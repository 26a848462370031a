// Working copies: which functions are copied, in which order they are
// simplified, and when they are frozen.
#include "ad/prepare/WorkingCopies.h"
#include "ad/prepare/CopyFunction.h"
#include "ad/prepare/Inlining.h"
#include "ad/prepare/MathCalls.h"
#include "ad/prepare/PoisonLanes.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

/// Above this number of instructions a copy takes no more callees in, and...
static constexpr unsigned SizeLimit = 8000;
/// ...never more than this many times its own size, small functions apart.
static constexpr unsigned GrowthLimit = 10;
static constexpr unsigned SmallSize = 200;

/// Why \p F cannot be cloned and simplified; null when it can.
static const char *whyNotCopied(const Function &F) {
  if (F.isDeclaration())
    return "it has no IR in this link";
  if (F.hasFnAttribute(Attribute::Naked))
    return "it is a naked function";
  if (F.isPresplitCoroutine())
    return "it is a coroutine";
  if (F.hasFnAttribute(Attribute::ReturnsTwice))
    return "it returns twice";
  return nullptr;
}

WorkingCopies::WorkingCopies(Module &M, const RuleBook &Rules, Pipelines &Pipes)
    : M(M), Rules(Rules), Pipes(Pipes) {
  for (Function &F : M) {
    if (!F.isDeclaration() &&
        F.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false,
                          /*IgnoreAssumeLikeCalls=*/true,
                          /*IgnoreLLVMUsed=*/true))
      Taken.push_back(&F);
  }
  for (const GlobalValue &G : M.global_values())
    Before.insert(&G);
}

WorkingCopies::~WorkingCopies() { erase(); }

Function *WorkingCopies::originalOf(const Function &F) const {
  auto At = Originals.find(&F);
  return At == Originals.end()
             ? nullptr
             : cast_if_present<Function>(static_cast<Value *>(At->second));
}

/// True when no path from the entry of \p F leads to a return. Such a call is
/// run as in the primal, and what only it reaches (the whole of a language's
/// panic machinery) is not copied.
bool WorkingCopies::neverReturns(const Function &F) {
  if (F.doesNotReturn())
    return true;
  auto [At, New] = NeverReturns.try_emplace(&F, false);
  if (!New)
    return At->second;
  bool Never =
      none_of(depth_first(&F.getEntryBlock()), [](const BasicBlock *B) {
        return isa<ReturnInst>(B->getTerminator());
      });
  return NeverReturns[&F] = Never;
}

/// The blocks of \p F from which it can be left by a return or by unwinding
/// through its own cleanups.
static SmallPtrSet<const BasicBlock *, 16> blocksThatLeave(const Function &F) {
  SmallPtrSet<const BasicBlock *, 16> Leave;
  SmallVector<const BasicBlock *, 16> Work;
  auto Add = [&](const BasicBlock *BB) {
    if (Leave.insert(BB).second)
      Work.push_back(BB);
  };
  for (const BasicBlock &BB : F) {
    const Instruction *Last = BB.getTerminator();
    const auto *Cleanup = dyn_cast<CleanupReturnInst>(Last);
    const auto *Catch = dyn_cast<CatchSwitchInst>(Last);
    if (isa<ReturnInst, ResumeInst>(Last) ||
        (Cleanup && Cleanup->unwindsToCaller()) ||
        (Catch && Catch->unwindsToCaller()))
      Add(&BB);
  }
  while (!Work.empty())
    for (const BasicBlock *Pred : predecessors(Work.pop_back_val()))
      Add(Pred);
  return Leave;
}

/// The function that an ifunc stands for: the version for any processor, which
/// compilers call "….default", or the only one.
static Function *defaultVersion(GlobalIFunc &Choice) {
  Function *Resolver = Choice.getResolverFunction();
  if (!Resolver)
    return nullptr;
  SmallSetVector<Value *, 8> Work;
  SmallVector<Function *, 4> Versions;
  for (BasicBlock &BB : *Resolver)
    if (auto *Return = dyn_cast<ReturnInst>(BB.getTerminator()))
      Work.insert(Return->getReturnValue());
  for (size_t I = 0; I != Work.size(); ++I) {
    Value *V = Work[I]->stripPointerCastsAndAliases();
    if (auto *F = dyn_cast<Function>(V))
      Versions.push_back(F);
    else if (isa<PHINode>(V))
      Work.insert_range(cast<PHINode>(V)->incoming_values());
    else if (auto *Select = dyn_cast<SelectInst>(V))
      Work.insert_range(drop_begin(Select->operands()));
    else
      return nullptr;
  }
  for (Function *F : Versions)
    if (F->getName().contains(".default"))
      return F;
  return Versions.size() == 1 ? Versions.front() : nullptr;
}

/// The function that \p CB calls, through aliases; null when it is not known.
static Function *knownCallee(const CallBase &CB) {
  Value *Callee = CB.getCalledOperand()->stripPointerCastsAndAliases();
  if (auto *Choice = dyn_cast<GlobalIFunc>(Callee))
    Callee = defaultVersion(*Choice);
  return dyn_cast_if_present<Function>(Callee);
}

/// The original that a call in a copy should be redirected from; null when the
/// call stays as it is.
Function *WorkingCopies::calleeToCopy(const CallBase &CB) {
  Function *F = knownCallee(CB);
  if (!F || Originals.contains(F) || whyNotCopied(*F) || Rules.hasRule(*F) ||
      CB.doesNotReturn() || neverReturns(*F))
    return nullptr;
  return F;
}

Function *WorkingCopies::copyOf(Function &Original) {
  Function *&Copy = CopyOf[&Original];
  if (!Copy) {
    Copy = copyFunction(Original);
    purifyMathCalls(*Copy, Rules);
    Originals[Copy] = &Original;
    Made.push_back(Copy);
  }
  return Copy;
}

/// Redirects the calls of \p Copy to copies. \p Now: makes those that are
/// missing at once, else only clones them, for make() to go on with.
bool WorkingCopies::redirectCalls(Function &Copy, bool Now) {
  SmallPtrSet<const BasicBlock *, 16> Leave = blocksThatLeave(Copy);
  SmallVector<std::pair<CallBase *, Function *>, 16> Calls;
  for (BasicBlock &BB : Copy)
    for (Instruction &I : BB)
      if (auto *Call = dyn_cast<CallBase>(&I)) {
        if (Function *Callee =
                Leave.contains(&BB) ? calleeToCopy(*Call) : nullptr)
          Calls.emplace_back(Call, Callee);
        else if (Function *Known = knownCallee(*Call))
          // So that a rule is found behind an alias too.
          Call->setCalledOperand(Known);
      }
  if (Now) {
    SmallVector<Function *, 16> Missing;
    for (auto [Call, Callee] : Calls)
      if (!CopyOf.count(Callee))
        Missing.push_back(Callee);
    make(Missing);
  }
  for (auto [Call, Callee] : Calls)
    Call->setCalledOperand(copyOf(*Callee));
  return !Calls.empty();
}

/// Clones \p Roots and all that they reach, then prepares the clones, callees
/// first as far as recursion allows.
void WorkingCopies::make(ArrayRef<Function *> Roots) {
  size_t First = Made.size();
  for (Function *Root : Roots)
    copyOf(*Root);
  for (size_t I = First; I != Made.size(); ++I)
    redirectCalls(*Made[I], /*Now=*/false);
  SmallVector<Function *, 0> New(drop_begin(Made, First));

  // Post-order of a depth-first walk over calls among the new copies.
  DenseSet<const Function *> Unvisited(New.begin(), New.end());
  SmallVector<Function *, 0> Order;
  struct Visit {
    Function *Copy;
    SmallVector<Function *, 8> Callees;
  };
  SmallVector<Visit, 0> Stack;
  auto Enter = [&](Function *Copy) {
    if (!Unvisited.erase(Copy))
      return;
    SmallVector<Function *, 8> Callees;
    for (Instruction &I : instructions(*Copy))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Function *Callee = Call->getCalledFunction())
          if (Unvisited.contains(Callee))
            Callees.push_back(Callee);
    std::reverse(Callees.begin(), Callees.end());
    Stack.push_back({Copy, std::move(Callees)});
  };
  for (Function *Copy : New) {
    Enter(Copy);
    while (!Stack.empty()) {
      if (Stack.back().Callees.empty()) {
        Order.push_back(Stack.pop_back_val().Copy);
        continue;
      }
      Enter(Stack.back().Callees.pop_back_val());
    }
  }
  for (Function *Copy : Order)
    prepare(*Copy);
}

/// Inlines into, simplifies and freezes one copy.
void WorkingCopies::prepare(Function &Copy) {
  Pipes.resolve(Copy);
  unsigned Limit = std::min(
      SizeLimit, GrowthLimit * std::max(SmallSize, Copy.getInstructionCount()));
  auto IsFrozen = [&](const Function &F) { return Frozen.contains(&F); };
  // Simplifying what was inlined makes indirect calls direct and arguments
  // constant; a few rounds find nearly all of that.
  for (unsigned Round = 0; Round != 4; ++Round) {
    bool Inlined = inlineCalls(Copy, IsFrozen, Limit, Pipes);
    if (Round != 0 && !Inlined)
      break;
    Pipes.simplify(Copy);
    if (purifyMathCalls(Copy, Rules))
      Pipes.invalidate(Copy);
    if (redirectCalls(Copy, /*Now=*/true))
      Pipes.invalidate(Copy);
    else if (!Inlined)
      break;
  }
  // The last round may have ended with calls that became direct just then.
  dropLifetimes(Copy);
  definePoisonLanes(Copy);
  Pipes.invalidate(Copy);
  Pipes.canonicalise(Copy);
  Frozen.insert(&Copy);
}

Expected<Function *> WorkingCopies::get(Function &Original) {
  if (Originals.contains(&Original))
    return &Original;
  if (const char *Why = whyNotCopied(Original))
    return diagnose(Original, "cannot differentiate " + quotedName(Original) +
                                  ": " + Why);
  if (!CopyOf.count(&Original)) {
    // Functions may have come and gone since the last call.
    NeverReturns.clear();
    make(&Original);
  }
  return CopyOf.lookup(&Original);
}

void WorkingCopies::erase() {
  for (Function *Copy : Made) {
    Pipes.analyses().clear(*Copy, Copy->getName());
    Copy->deleteBody();
  }
  for (Function *Copy : Made) {
    // Derived code runs a call without derivative as the primal does.
    if (Function *Original = originalOf(*Copy))
      Copy->replaceAllUsesWith(Original);
    assert(Copy->use_empty() && "a working copy is still referred to");
    Copy->eraseFromParent();
  }
  if (!Made.empty()) {
    for (Function &F : make_early_inc_range(M))
      if (F.isDeclaration() && F.use_empty() && !Before.contains(&F))
        F.eraseFromParent();
    for (GlobalVariable &G : make_early_inc_range(M.globals()))
      if (G.hasLocalLinkage() && G.use_empty() && !Before.contains(&G))
        G.eraseFromParent();
  }
  Made.clear();
  CopyOf.clear();
  Originals.clear();
  Frozen.clear();
}
