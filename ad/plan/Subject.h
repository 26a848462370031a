// The subject of a reverse derivative: what is known about one function before
// anything is planned or emitted.
#ifndef ADJOIN_AD_PLAN_SUBJECT_H
#define ADJOIN_AD_PLAN_SUBJECT_H

#include "ad/Differentiator.h"
#include "ad/analysis/Activity.h"
#include "ad/rules/Calls.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/IntrinsicInst.h"

namespace adjoin {

/// What the adjoint of a value looks like in each lane.
struct AdjointForm {
  /// The value's type, with integers that carry the bytes of floats replaced by
  /// those floats (same layout in memory, same indices of members).
  llvm::Type *T = nullptr;
  bool Floats = false;  ///< there are float bytes
  bool Unclear = false; ///< there are float bytes of which the kind is unclear
};

/// What a call site is to the reverse sweep.
struct CallSite {
  CallClass Class;
  /// False: run as in the primal, no transpose.
  bool Active = false;
  Request Q;        ///< Derive
  ReversePair Pair; ///< Derive
  /// Derive: the parameters that Pair.Rev reads, as far as it is known when
  /// the call is planned.
  llvm::SmallVector<bool, 8> Reads;
};

class ReverseSubject {
public:
  ReverseSubject(Differentiator &D, const Request &R, llvm::Function &Copy);

  /// Active data may be stored in memory without a shadow, and the request was
  /// not made for that: it has to be made again with Sparse.
  bool needsSparse() const { return !R.Sparse && Facts.storesActiveToConst(); }
  /// Classifies all calls and derives the callees. Reports every mistake.
  llvm::Error analyse();

  Differentiator &D;
  const Request &R;
  llvm::Function &Copy;
  const llvm::DataLayout &DL;
  const unsigned W;
  ActivityAnalysis Facts;

  // Flow.
  /// Blocks reachable from the entry, in reverse post-order.
  llvm::ArrayRef<llvm::BasicBlock *> blocks() const { return Order; }
  bool isReversed(const llvm::BasicBlock *BB) const {
    return Reversed.contains(BB);
  }
  /// Reached by unwinding only.
  bool isUnwinding(const llvm::BasicBlock *BB) const {
    return !Normal.contains(BB);
  }
  /// The distinct reversed predecessors of a reversed block, in program order.
  llvm::ArrayRef<llvm::BasicBlock *>
  predecessors(const llvm::BasicBlock *BB) const;
  /// The blocks that return: one, but for calls that must be tail calls; none
  /// when the function never returns.
  llvm::ArrayRef<llvm::BasicBlock *> exits() const { return Exits; }

  // Values.
  ShadowState state(const llvm::Value *V) const { return Facts.state(V); }
  bool isActive(const llvm::Value *V) const {
    return state(V) != ShadowState::Const;
  }
  /// What \p Ptr points to may have a shadow: one of its own, or a sparse one.
  bool mayHaveShadow(const llvm::Value *Ptr) const {
    return isActive(Ptr) || R.Sparse;
  }
  /// Accesses look into the call's sparse shadow where there is no other.
  bool isSparse(const llvm::Value *Ptr) const {
    return R.Sparse && state(Ptr) != ShadowState::Known;
  }
  /// An active struct that is passed by value in memory: aug copies it, with
  /// shadows of its own, to an arena object.
  bool isCopied(const llvm::Argument &A) const {
    return A.hasByValAttr() && isActive(&A);
  }
  /// Active, with float bytes: it has an adjoint accumulator.
  bool hasAdjoint(const llvm::Value *V) const {
    return isActive(V) && form(V).Floats;
  }
  /// Active, with pointer bytes: it has a shadow in aug.
  bool hasShadow(const llvm::Value *V) const;
  AdjointForm form(const llvm::Value *V) const;
  /// The form of the bytes that an access of the value \p V at \p Ptr touches.
  AdjointForm memoryForm(const llvm::Value *Ptr, const llvm::Value *V) const;

  /// Nothing but arms of selects depends on \p I (comparisons apart): where it
  /// was not selected its adjoint is zero, and its value, which a branch may
  /// have guarded in the source, need not be finite.
  bool isOnlySelected(const llvm::Instruction &I) const {
    return OnlySelected.contains(&I);
  }
  /// The store writes pointer bytes, whose shadow aug writes beside them.
  bool storesPointers(const llvm::StoreInst &I) const;

  /// The call site of a call in a reversed block; null in other blocks.
  const CallSite *site(const llvm::CallBase &CB) const {
    auto It = Sites.find(&CB);
    return It == Sites.end() ? nullptr : &It->second;
  }

private:
  void findFlow();
  void findSelected();
  llvm::Error classify(llvm::CallBase &CB, CallSite &Site);
  llvm::Error derive(llvm::CallBase &CB, CallSite &Site);
  llvm::Error dispatch(llvm::CallBase &CB, CallSite &Site);
  llvm::Error structural(llvm::IntrinsicInst &I, CallSite &Site);
  llvm::Error custom(llvm::CallBase &CB, CallSite &Site);
  void take(CallSite &Site, const ReversePair &Pair);
  AdjointForm formOf(llvm::Type *T, uint64_t Offset,
                     const KindRanges &Kinds) const;

  llvm::SmallVector<llvm::BasicBlock *, 0> Order;
  llvm::DenseSet<const llvm::BasicBlock *> Normal, Reversed;
  llvm::DenseMap<const llvm::BasicBlock *,
                 llvm::SmallVector<llvm::BasicBlock *, 4>>
      Preds;
  llvm::SmallVector<llvm::BasicBlock *, 1> Exits;
  llvm::DenseMap<const llvm::CallBase *, CallSite> Sites;
  llvm::DenseSet<const llvm::Instruction *> OnlySelected;
  mutable llvm::DenseMap<const llvm::Value *, AdjointForm> Forms;
};

} // namespace adjoin

#endif
