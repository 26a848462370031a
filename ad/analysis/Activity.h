// Activity: which values of one working copy may have a derivative, given the
// states of its arguments.
#ifndef ADJOIN_AD_ANALYSIS_ACTIVITY_H
#define ADJOIN_AD_ANALYSIS_ACTIVITY_H

#include "ad/Request.h"
#include "ad/analysis/Kinds.h"
#include "ad/rules/Calls.h"
#include "llvm/ADT/DenseMap.h"

namespace adjoin {

/// An optimistic forward data flow over one frozen copy; the states only grow,
/// from "not reached" over Const and Known to Maybe (pointers, and integers
/// that carry the bits of active floats or of pointers).
class ActivityAnalysis {
public:
  ActivityAnalysis(const llvm::Function &Copy, const Request &R,
                   const KindAnalysis &Kinds, const RuleBook &Rules);

  /// The state of \p V; Const for constants and for code never reached.
  ShadowState state(const llvm::Value *V) const;
  /// The call may read or write data with a derivative: it has to be
  /// differentiated. Otherwise it runs as in the primal.
  bool mayTouchActive(const llvm::CallBase &CB) const;
  /// Some store or copy may put active data into memory without a shadow.
  bool storesActiveToConst() const;
  /// The states that a derived callee of \p CB is keyed by, one per argument.
  llvm::SmallVector<ShadowState, 8>
  argumentStates(const llvm::CallBase &CB) const;

  /// \p V, an integer, is turned into a float's bits further on.
  static bool becomesFloat(const llvm::Value *V);

private:
  /// Const and Known values join to Maybe for pointers; Unreached is neutral.
  enum class Flow : uint8_t { Unreached, Const, Known, Maybe };
  Flow flow(const llvm::Value *V) const;
  Flow transfer(const llvm::Instruction &I) const;
  Flow transferCall(const llvm::CallBase &CB) const;
  Flow joinOperands(const llvm::Instruction &I) const;
  Flow loaded(const llvm::Value *Ptr, const llvm::Value *Result) const;
  /// The state of a result with that type and kinds when it may be active.
  Flow activeResult(const llvm::Value *Result) const;
  bool carriesBits(const llvm::Value *V) const;

  const llvm::Function &Copy;
  const Request &R;
  const KindAnalysis &Kinds;
  const RuleBook &Rules;
  llvm::DenseMap<const llvm::Value *, Flow> States;
};

} // namespace adjoin

#endif
