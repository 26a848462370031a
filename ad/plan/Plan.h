// The plan of one reverse derivative: where each primal value that the reverse
// sweep needs comes from, and why. Decided before anything is emitted.
#ifndef ADJOIN_AD_PLAN_PLAN_H
#define ADJOIN_AD_PLAN_PLAN_H

#include "ad/plan/Needs.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DerivedTypes.h"

namespace adjoin {

/// A value kept in the record of the block that uses it.
struct Slot {
  Need N;
  llvm::Type *T = nullptr;
  const llvm::Instruction *For = nullptr; ///< the first that needs it
  std::string Why;
};

/// What aug pushes at the end of one block and rev pops at its start.
struct BlockPlan {
  llvm::SmallVector<Slot, 4> Slots;
  /// The reversed predecessors; the number of the edge taken is kept (field
  /// EdgeField) when there are several.
  llvm::SmallVector<llvm::BasicBlock *, 4> Predecessors;
  /// The record: one field per slot, then the edge. Null: nothing is kept.
  llvm::StructType *Record = nullptr;
  unsigned EdgeField = 0;
  bool keepsEdge() const { return Predecessors.size() > 1; }
};

class Plan {
public:
  /// Everything that is not an argument or a constant is kept.
  static Plan keepAll(const ReverseSubject &S);

  const BlockPlan &block(const llvm::BasicBlock *BB) const {
    return Blocks.find(BB)->second;
  }
  /// The number of the slot of \p N in the record of \p BB; none when the plan
  /// has no such slot.
  std::optional<unsigned> slot(const llvm::BasicBlock *BB, const Need &N) const;
  /// Available in rev without a slot: constants, arguments and their shadows.
  static bool isFree(const Need &N);

  void print(llvm::raw_ostream &OS) const;

private:
  const llvm::Function *Fn = nullptr;
  llvm::MapVector<const llvm::BasicBlock *, BlockPlan> Blocks;
  llvm::DenseMap<std::pair<const llvm::BasicBlock *, Need>, unsigned> Where;
  llvm::DataLayout DL;
};

} // namespace adjoin

#endif
