// Backward slices.
#include "Slice.h"
#include "Names.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace adjoin;

namespace {

/// A value is followed together with the number of times that it is about to be
/// dereferenced: the address of a stack object depends on nothing, what is
/// loaded from it depends on what was stored.
class Slicer {
public:
  explicit Slicer(Slice &S) : S(S) {}
  static constexpr unsigned Deepest = 4;

  void run(Value *V, unsigned Depth) {
    add(V, Depth);
    while (!Work.empty()) {
      auto [Next, Depth] = Work.pop_back_val();
      visit(Next, Depth);
    }
  }

private:
  void add(Value *V, unsigned Depth) {
    Depth = std::min(Depth, Deepest);
    if (Seen.insert({V, Depth}).second)
      Work.push_back({V, Depth});
  }

  void visit(Value *V, unsigned Depth) {
    if (auto *C = dyn_cast<Constant>(V))
      return visitConstant(*C, Depth);
    if (auto *A = dyn_cast<Argument>(V)) {
      S.Arguments.insert(A);
      return;
    }
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return;
    if (auto *Load = dyn_cast<LoadInst>(I))
      return add(Load->getPointerOperand(), Depth + 1);
    if (isa<AllocaInst>(I)) {
      if (Depth > 0)
        visitContents(*I, Depth);
      return;
    }
    if (auto *Call = dyn_cast<CallBase>(I))
      return visitCall(*Call, Depth);
    for (Value *Operand : I->operands())
      if (!isa<BasicBlock>(Operand))
        add(Operand, Depth);
  }

  void visitCall(CallBase &Call, unsigned Depth) {
    S.Calls.insert(&Call);
    for (Value *Argument : Call.args())
      add(Argument,
          Argument->getType()->isPointerTy() ? std::max(Depth, 1u) : 0);
  }

  void visitConstant(Constant &C, unsigned Depth) {
    if (auto *G = dyn_cast<GlobalVariable>(&C)) {
      if (tagOf(*G))
        S.Tags = true;
      else if (Depth > 0 && G->hasInitializer())
        add(G->getInitializer(), Depth - 1);
      return;
    }
    if (isa<GlobalValue>(C))
      return;
    for (Value *Operand : C.operands())
      if (isa<Constant>(Operand))
        add(Operand, Depth);
  }

  /// Everything that may be written to the object at \p Address.
  void visitContents(Value &Address, unsigned Depth) {
    SmallVector<Value *, 8> Aliases = {&Address};
    SmallPtrSet<Value *, 8> Followed = {&Address};
    while (!Aliases.empty()) {
      Value *At = Aliases.pop_back_val();
      for (User *U : At->users()) {
        if (auto *Store = dyn_cast<StoreInst>(U)) {
          if (Store->getPointerOperand() == At)
            add(Store->getValueOperand(), Depth - 1);
        } else if (auto *Transfer = dyn_cast<AnyMemTransferInst>(U)) {
          if (Transfer->getRawDest() == At)
            add(Transfer->getRawSource(), Depth);
        } else if (auto *Call = dyn_cast<CallBase>(U)) {
          // What has no body cannot know a tag: nobody defines them.
          Function *Callee = Call->getCalledFunction();
          if (!Callee || !Callee->isDeclaration())
            visitCall(*Call, Depth);
        } else if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst,
                       FreezeInst>(U)) {
          if (Followed.insert(U).second)
            Aliases.push_back(U);
        }
      }
    }
  }

  Slice &S;
  SmallVector<std::pair<Value *, unsigned>, 16> Work;
  DenseSet<std::pair<Value *, unsigned>> Seen;
};

} // namespace

Slice Slice::of(Value *V) {
  Slice S;
  Slicer(S).run(V, 0);
  return S;
}

Slice Slice::ofMemory(Value *V) {
  Slice S;
  for (unsigned Depth = 1; Depth <= Slicer::Deepest; ++Depth)
    Slicer(S).run(V, Depth);
  return S;
}
