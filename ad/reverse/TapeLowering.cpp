// Records that the same function pushes and pops become stack objects.
#include "ad/reverse/TapeLowering.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace adjoin;

/// Stack objects take this many bytes of a frame, all together.
static constexpr uint64_t FrameLimit = 1 << 15;

namespace {

/// The tape of one context, seen from one function.
class Tape {
public:
  Tape(Function &F, Value *Context, const TapeCalls &Calls)
      : F(F), Context(Context), Calls(Calls) {}
  bool lower();

private:
  enum Effect { None, Push, Pop, Unknown };
  /// The pushes that are open at a point, innermost last; none when it depends
  /// on the path.
  using State = std::optional<SmallVector<CallBase *, 8>>;

  Effect effectOf(const Instruction &I) const;
  bool isPlain() const;
  void findRelevant();
  void run(const BasicBlock &BB, State &S, bool Record);
  void escape(const State &S) {
    if (S)
      Escaped.insert(S->begin(), S->end());
  }

  Function &F;
  Value *Context;
  const TapeCalls &Calls;
  /// Blocks from which control reaches something that depends on the tape.
  SmallPtrSet<const BasicBlock *, 16> Relevant;
  DenseMap<const BasicBlock *, State> In;
  DenseSet<CallBase *> Escaped;
  MapVector<CallBase *, SmallVector<CallBase *, 2>> PopsOf;
};

} // namespace

Tape::Effect Tape::effectOf(const Instruction &I) const {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || !is_contained(Call->args(), Context))
    return None;
  const Function *Callee = Call->getCalledFunction();
  if (Callee && Callee == Calls.Push)
    return Push;
  if (Callee && Callee == Calls.Pop)
    return Pop;
  if (Callee && (Calls.Neutral.contains(Callee) || Callee->isIntrinsic()))
    return None;
  return Unknown;
}

/// The context is used as an argument of calls only.
bool Tape::isPlain() const {
  return all_of(Context->users(), [&](const User *U) {
    const auto *Call = dyn_cast<CallBase>(U);
    return Call && Call->getCalledOperand() != Context;
  });
}

void Tape::findRelevant() {
  SmallVector<const BasicBlock *, 16> Work;
  auto Add = [&](const BasicBlock *BB) {
    if (Relevant.insert(BB).second)
      Work.push_back(BB);
  };
  // The caller of an augmented primal finds its records on the tape.
  bool Outlives = !isa<AllocaInst>(Context);
  for (const BasicBlock &BB : F)
    if ((Outlives && isa<ReturnInst>(BB.getTerminator())) ||
        any_of(BB, [&](const Instruction &I) {
          Effect E = effectOf(I);
          return E == Pop || E == Unknown;
        }))
      Add(&BB);
  while (!Work.empty())
    for (const BasicBlock *Pred : predecessors(Work.pop_back_val()))
      Add(Pred);
}

/// Takes \p S from the start of \p BB to its end.
void Tape::run(const BasicBlock &BB, State &S, bool Record) {
  for (const Instruction &I : BB) {
    auto *Call = const_cast<CallBase *>(dyn_cast<CallBase>(&I));
    switch (effectOf(I)) {
    case None:
      break;
    case Push:
      if (S && is_contained(*S, Call)) {
        escape(S);
        S.reset();
      }
      if (S)
        S->push_back(Call);
      else
        Escaped.insert(Call);
      break;
    case Pop:
      // A pop of what was open at entry belongs to the caller.
      if (!S || S->empty())
        break;
      if (Record)
        PopsOf[S->back()].push_back(Call);
      S->pop_back();
      break;
    case Unknown:
      escape(S);
      S.reset();
      break;
    }
  }
  if (isa<ReturnInst>(BB.getTerminator()) && !isa<AllocaInst>(Context))
    escape(S);
}

bool Tape::lower() {
  if (!isPlain())
    return false;
  findRelevant();
  BasicBlock *Entry = &F.getEntryBlock();
  In[Entry] = State(std::in_place);
  SmallSetVector<BasicBlock *, 16> Work;
  Work.insert(Entry);
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    State Out = In.find(BB)->second;
    run(*BB, Out, /*Record=*/false);
    for (BasicBlock *Next : successors(BB)) {
      if (!Relevant.contains(Next))
        continue;
      auto [At, New] = In.try_emplace(Next, Out);
      if (New) {
        Work.insert(Next);
      } else if (At->second != Out) {
        escape(At->second);
        escape(Out);
        if (At->second) {
          At->second.reset();
          Work.insert(Next);
        }
      }
    }
  }
  for (BasicBlock &BB : F)
    if (auto At = In.find(&BB); At != In.end()) {
      State S = At->second;
      run(BB, S, /*Record=*/true);
    }

  uint64_t Frame = 0;
  bool Changed = false;
  for (auto &[Open, Pops] : PopsOf) {
    auto *Size = dyn_cast<ConstantInt>(Open->getArgOperand(1));
    if (Escaped.contains(Open) || !Size || !isa<CallInst>(Open) ||
        Size->getValue().ugt(FrameLimit - Frame) ||
        any_of(Pops, [&](const CallBase *Pop) {
          return !isa<CallInst>(Pop) || Pop->getArgOperand(1) != Size;
        }))
      continue;
    Frame += Size->getZExtValue();
    auto *Record = new AllocaInst(
        ArrayType::get(Type::getInt8Ty(F.getContext()), Size->getZExtValue()),
        F.getDataLayout().getAllocaAddrSpace(), nullptr, Align(16), "record",
        Entry->getFirstInsertionPt());
    Open->replaceAllUsesWith(Record);
    Open->eraseFromParent();
    for (CallBase *Pop : Pops) {
      Pop->replaceAllUsesWith(Record);
      Pop->eraseFromParent();
    }
    Changed = true;
  }
  return Changed;
}

bool adjoin::lowerTape(Function &F, const TapeCalls &Calls) {
  SmallSetVector<Value *, 2> Contexts;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (Call->getCalledFunction() && Call->getCalledFunction() == Calls.Push)
        Contexts.insert(Call->getArgOperand(0));
  bool Changed = false;
  for (Value *Context : Contexts)
    Changed |= Tape(F, Context, Calls).lower();
  if (!Changed)
    return false;
  // "tail" promises that the callee does not touch the caller's stack.
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && !Call->isMustTailCall())
      Call->setTailCallKind(CallInst::TCK_None);
  return true;
}
