// The plan of one reverse derivative: where each primal value that the reverse
// sweep needs comes from, and why. Decided before anything is emitted.
#ifndef ADJOIN_AD_PLAN_PLAN_H
#define ADJOIN_AD_PLAN_PLAN_H

#include "ad/plan/CountedLoops.h"
#include "ad/plan/Needs.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/DerivedTypes.h"

namespace adjoin {

/// Where the reverse sweep finds a value.
struct Source {
  enum Kind : uint8_t {
    Free,      ///< a constant, an argument or its shadow
    Counted,   ///< an expression in the counters of the loops around (E)
    Recompute, ///< the same operation again, on values that have sources
    Reload,    ///< from memory, which still holds it
    Frame,     ///< kept once in a call: its instruction runs at most once
    Array,     ///< kept in an array, indexed by the iterations of In
    Record,    ///< kept in the record of each block that needs it
  };
  Kind K = Record;
  const llvm::SCEV *E = nullptr;
  const CountedLoop *In = nullptr;
  unsigned Index = 0; ///< Frame: field of the frame; Array: number of the array
};

/// A value that is kept.
struct Slot {
  Need N;
  llvm::Type *T = nullptr;
  const llvm::Instruction *For = nullptr; ///< the first that needs it
  std::string Why;
};

/// An array of one value, of all iterations of a grid of counted loops. Pushed
/// at the end of the preheader of the outermost one, its address is in the
/// frame.
struct KeptArray : Slot {
  const CountedLoop *In = nullptr;
};

struct BlockPlan {
  /// The needs of the block's transpose that are not free, in program order;
  /// rev makes them all before it.
  llvm::SmallVector<Need, 8> Uses;
  /// What aug pushes at the end of the block and rev pops at its start.
  llvm::SmallVector<Slot, 4> Slots;
  llvm::StructType *Record = nullptr; ///< null: nothing is pushed
  /// Values of the frame and of arrays that this block makes.
  llvm::SmallVector<Need, 4> Keeps;
  /// Arrays that are pushed at the end of this block, after the record.
  llvm::SmallVector<unsigned, 2> Arrays;
  /// The reversed predecessors.
  llvm::SmallVector<llvm::BasicBlock *, 4> Predecessors;
  /// The edge taken is a need: several predecessors, and no counter tells.
  bool NeedsEdge = false;
};

class Plan {
public:
  explicit Plan(const ReverseSubject &S);

  const BlockPlan &block(const llvm::BasicBlock *BB) const {
    return Blocks.find(BB)->second;
  }
  Source source(const Need &N) const { return Sources.lookup(N); }
  const CountedLoops &loops() const { return Loops; }

  /// The frame, pushed by aug when it returns and popped by rev when it begins:
  /// the kept values, then the addresses of the arrays. Null: nothing.
  llvm::StructType *frame() const { return Frame; }
  llvm::ArrayRef<Slot> frameSlots() const { return FrameSlots; }
  llvm::ArrayRef<KeptArray> arrays() const { return Arrays; }
  /// The field of the frame with the address of an array.
  unsigned arrayField(unsigned Array) const {
    return FrameSlots.size() + Array;
  }

  /// Available in rev without a slot: constants, arguments and their shadows.
  bool isFree(const Need &N) const;

  void print(llvm::raw_ostream &OS) const;

private:
  Source decide(const Need &N);
  Source decideNew(const Need &N);
  bool available(const Need &N) { return decide(N).K != Source::Record; }
  bool isBranchAgain(const Need &N);
  bool countable(const Need &N, const llvm::Instruction &I, Source &Result);
  bool recomputable(const Need &N, const llvm::Instruction &I);
  bool reloadable(const llvm::Instruction &I);
  /// Makes sure that N and what it is computed from are kept, for use by I.
  void demand(const Need &N, const llvm::Instruction *I, llvm::StringRef Why);
  void demandLeaves(const llvm::SCEV *E, const llvm::Instruction *I,
                    llvm::StringRef Why);
  void planBlock(llvm::BasicBlock &BB);

  const ReverseSubject &S;
  CountedLoops Loops;
  llvm::MapVector<const llvm::BasicBlock *, BlockPlan> Blocks;
  llvm::DenseMap<Need, Source> Sources;
  llvm::DenseMap<Need, unsigned> Costs;
  llvm::DenseSet<Need> Demanded;
  llvm::DenseMap<const llvm::Value *, bool> Clobbered;
  llvm::SmallVector<Slot, 4> FrameSlots;
  llvm::SmallVector<KeptArray, 4> Arrays;
  llvm::StructType *Frame = nullptr;
};

/// The branch that decides by which of its two edges a block is entered, when
/// there is one: the block's predecessors in the order of the branch's
/// successors.
struct EdgeBranch {
  const llvm::BranchInst *Branch = nullptr; ///< null: no branch decides alone
  llvm::BasicBlock *IfTrue = nullptr, *IfFalse = nullptr;
};
EdgeBranch edgeBranch(const ReverseSubject &S, const llvm::BasicBlock &BB);

/// The block at the end of which a need that is kept is stored.
const llvm::BasicBlock *definingBlock(const Need &N);
/// The needs from which rev recomputes \p N (source Recompute or Reload).
void forEachIngredient(const Need &N, llvm::function_ref<void(const Need &)> F);

} // namespace adjoin

#endif
