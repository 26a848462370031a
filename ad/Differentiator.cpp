// The differentiator: what it owns, how emitted functions are optimised, and
// how everything that nobody uses goes away again.
#include "ad/Differentiator.h"
#include "ad/prepare/Inlining.h"
#include "ad/prepare/MathCalls.h"
#include "ad/prepare/VectorCalls.h"
#include "ad/reverse/TapeLowering.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

/// A derived function or request body takes callees in until it has this many
/// instructions.
static constexpr unsigned DerivedSizeLimit = 12000;

Differentiator::Differentiator(Module &M, const RuleBook &Rules,
                               Pipelines &Pipes)
    : M(M), Rules(Rules), Pipes(Pipes), Targets(M), Copies(M, Rules, Pipes),
      Kinds(M), Runtime(M) {}

Differentiator::~Differentiator() { finish(); }

Function *Differentiator::runtime(StringRef Name) { return Runtime.get(Name); }

/// False for what an emitter left unfinished when it failed.
static bool isWhole(const Function &F) {
  return !F.isDeclaration() &&
         all_of(F, [](const BasicBlock &BB) { return BB.getTerminator(); });
}

/// \p Functions in an order in which callees come first, recursion apart;
/// otherwise the order is kept.
static SmallVector<Function *, 0> calleesFirst(ArrayRef<Function *> Functions) {
  DenseSet<const Function *> Unvisited(Functions.begin(), Functions.end());
  SmallVector<Function *, 0> Order;
  struct Visit {
    Function *F;
    inst_iterator Next;
  };
  SmallVector<Visit, 0> Stack;
  auto Enter = [&](Function *F) {
    if (Unvisited.erase(F))
      Stack.push_back({F, inst_begin(F)});
  };
  for (Function *Root : Functions) {
    Enter(Root);
    while (!Stack.empty()) {
      Visit &Top = Stack.back();
      if (Top.Next == inst_end(Top.F)) {
        Order.push_back(Top.F);
        Stack.pop_back();
        continue;
      }
      auto *Call = dyn_cast<CallBase>(&*Top.Next++);
      if (Function *Callee = Call ? Call->getCalledFunction() : nullptr)
        Enter(Callee);
    }
  }
  return Order;
}

void Differentiator::optimise(ArrayRef<Function *> Bodies) {
  SmallVector<Function *, 0> Work;
  for (Function *F : Fresh)
    if (isWhole(*F))
      Work.push_back(F);
  for (Function *F : Bodies)
    if (isWhole(*F))
      Work.push_back(F);

  DenseSet<const Function *> Derived(Emitted.begin(), Emitted.end());
  Derived.insert(Fresh.begin(), Fresh.end());
  // The runtime comes in last: until then its calls are easy to recognise.
  DenseSet<const Function *> Helpers;
  auto IsDerived = [&](const Function &F) { return Derived.contains(&F); };
  auto IsHelper = [&](const Function &F) { return Helpers.contains(&F); };
  for (Function *F : calleesFirst(Work)) {
    purifyMathCalls(*F, Rules);
    Pipes.invalidate(*F);
    inlineCalls(*F, IsDerived, DerivedSizeLimit, Pipes);
    Pipes.optimise(*F);
    if (inlineCalls(*F, IsDerived, DerivedSizeLimit, Pipes))
      Pipes.optimise(*F);
  }
  TapeCalls Calls;
  Calls.Push = Runtime.lookup("adjoin_rt_push");
  Calls.Pop = Runtime.lookup("adjoin_rt_pop");
  for (Function *F : Runtime.all())
    if (F != Calls.Push && F != Calls.Pop)
      Calls.Neutral.insert(F);
  for (Function *F : Work)
    if (Calls.Push && lowerTape(*F, Calls)) {
      Pipes.invalidate(*F);
      Pipes.optimise(*F);
    }
  Helpers.insert(Runtime.all().begin(), Runtime.all().end());
  for (Function *F : calleesFirst(Work))
    if (inlineCalls(*F, IsHelper, DerivedSizeLimit, Pipes))
      Pipes.optimise(*F);

  DenseMap<Function *, Function *> InMemory;
  for (Function *F : Work)
    if (passVectorsInMemory(*F, IsDerived, InMemory))
      Pipes.invalidate(*F);
  Emitted.insert(Emitted.end(), Fresh.begin(), Fresh.end());
  Fresh.clear();
  for (Function *F : Work)
    if (Function *Memory = InMemory.lookup(F))
      Emitted.push_back(Memory);
}

/// Erases those of \p Functions that only the others of them call.
static void eraseDead(ArrayRef<Function *> Functions, Pipelines &Pipes) {
  DenseSet<const Function *> Ours(Functions.begin(), Functions.end());
  DenseSet<const Function *> Live;
  SmallVector<Function *, 16> Work;
  auto Keep = [&](Function *F) {
    if (Live.insert(F).second)
      Work.push_back(F);
  };
  for (Function *F : Functions)
    for (const User *U : F->users()) {
      const auto *I = dyn_cast<Instruction>(U);
      if (!I || !Ours.contains(I->getFunction()))
        Keep(F);
    }
  while (!Work.empty())
    for (Instruction &I : instructions(*Work.pop_back_val()))
      for (Value *Operand : I.operands())
        if (auto *F = dyn_cast<Function>(Operand))
          if (Ours.contains(F))
            Keep(F);
  SmallVector<Function *, 16> Dead;
  for (Function *F : Functions)
    if (!Live.contains(F))
      Dead.push_back(F);
  for (Function *F : Dead) {
    Pipes.analyses().clear(*F, F->getName());
    F->deleteBody();
  }
  for (Function *F : Dead)
    F->eraseFromParent();
}

void Differentiator::finish() {
  Emitted.insert(Emitted.end(), Fresh.begin(), Fresh.end());
  Fresh.clear();
  eraseDead(Emitted, Pipes);
  Emitted.clear();
  Forwards.clear();
  ForwardsOf.clear();
  Dispatchers.clear();
  ReverseDispatchers.clear();
  Reverses.clear();
  for (auto [Type, Signature] : Signatures)
    Signature->eraseFromParent();
  Signatures.clear();
  Copies.erase();
  for (auto [Candidate, Thunk] : Thunks)
    if (Thunk->use_empty()) {
      Pipes.analyses().clear(*Thunk, Thunk->getName());
      Thunk->eraseFromParent();
    }
  Thunks.clear();
  for (Function *F : Runtime.all())
    Pipes.analyses().clear(*F, F->getName());
  Runtime.eraseUnused();
}
