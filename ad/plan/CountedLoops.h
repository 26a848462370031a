// Counted loops: loops whose iterations the reverse sweep can count, so that it
// needs no record of the edges taken, and can index what is kept.
#ifndef ADJOIN_AD_PLAN_COUNTEDLOOPS_H
#define ADJOIN_AD_PLAN_COUNTEDLOOPS_H

#include "ad/plan/Subject.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"

namespace adjoin {

/// One loop that leaves to reversed code through one block, after a number of
/// iterations that is known at its entry; all loops around it are counted too.
struct CountedLoop {
  const llvm::Loop *L = nullptr;
  const CountedLoop *Parent = nullptr;
  /// The number of its last iteration, counted from zero.
  const llvm::SCEV *Last = nullptr;
  /// Last is the same in all iterations of the loops around it.
  bool Rectangular = false;

  llvm::BasicBlock *header() const { return L->getHeader(); }
  llvm::BasicBlock *latch() const { return L->getLoopLatch(); }
  llvm::BasicBlock *preheader() const { return L->getLoopPreheader(); }
  const CountedLoop *root() const {
    const CountedLoop *R = this;
    while (R->Parent)
      R = R->Parent;
    return R;
  }
  /// It and all loops around it are rectangular: its iterations in one run of
  /// the outermost can be numbered.
  bool isGrid() const {
    for (const CountedLoop *C = this; C; C = C->Parent)
      if (!C->Rectangular)
        return false;
    return true;
  }
};

class CountedLoops {
public:
  explicit CountedLoops(const ReverseSubject &S);

  /// The innermost loop around \p BB if it is counted; null in other loops and
  /// outside loops.
  const CountedLoop *around(const llvm::BasicBlock *BB) const;
  /// The counted loop with this header.
  const CountedLoop *headedBy(const llvm::BasicBlock *BB) const;
  /// The block runs at most once in a call.
  bool runsOnce(const llvm::BasicBlock *BB) const {
    return !Cyclic.contains(BB);
  }
  llvm::ScalarEvolution &evolution() const { return SE; }
  /// Counted loops, outer ones first.
  llvm::ArrayRef<std::unique_ptr<CountedLoop>> all() const { return Counted; }

  /// Calls \p F with each value that \p E is computed from; false when the
  /// expression cannot be written by ScevWriter (then F may have been called).
  bool forEachLeaf(const llvm::SCEV *E,
                   llvm::function_ref<bool(const llvm::Value *)> F) const;

private:
  void visit(const llvm::Loop &L, const CountedLoop *Parent);

  const ReverseSubject &S;
  llvm::LoopInfo &LI;
  llvm::ScalarEvolution &SE;
  std::vector<std::unique_ptr<CountedLoop>> Counted;
  llvm::DenseMap<const llvm::Loop *, const CountedLoop *> Of;
  llvm::DenseSet<const llvm::BasicBlock *> Cyclic;
};

/// Writes the value of a SCEV expression, given what its leaves and the
/// counters of the loops around are in the function that is being written.
class ScevWriter {
public:
  ScevWriter(llvm::IRBuilder<> &B,
             llvm::function_ref<llvm::Value *(const llvm::Value *)> Leaf,
             llvm::function_ref<llvm::Value *(const llvm::Loop *)> Counter)
      : B(B), Leaf(Leaf), Counter(Counter) {}
  llvm::Value *write(const llvm::SCEV *E);

private:
  llvm::IRBuilder<> &B;
  llvm::function_ref<llvm::Value *(const llvm::Value *)> Leaf;
  llvm::function_ref<llvm::Value *(const llvm::Loop *)> Counter;
};

} // namespace adjoin

#endif
