// Activity: which values of one working copy may have a derivative, given the
// states of its arguments.
#ifndef ADJOIN_AD_ANALYSIS_ACTIVITY_H
#define ADJOIN_AD_ANALYSIS_ACTIVITY_H

#include "ad/Request.h"
#include "ad/analysis/Kinds.h"
#include "ad/analysis/LocalObjects.h"
#include "ad/rules/Calls.h"
#include "llvm/ADT/DenseMap.h"

namespace adjoin {

/// An optimistic forward data flow over one frozen copy. The states only grow,
/// from "not reached" over Const and Known to Maybe (pointers, and integers
/// that carry the bits of active floats or of pointers).
///
/// An object that the function makes itself is inert when nothing active is
/// ever stored in it: then a pointer to it is Const, as is what is loaded from
/// it, and it needs no shadow. Inertness is assumed first and refuted by the
/// data flow, which then starts anew.
class ActivityAnalysis {
public:
  ActivityAnalysis(const llvm::Function &Copy, const Request &R,
                   const KindAnalysis &Kinds, const RuleBook &Rules);

  /// The state of \p V; Const for constants and for code never reached.
  ShadowState state(const llvm::Value *V) const;
  /// The memory at \p Ptr never holds active data, not even in a request with
  /// sparse shadows: constants, and inert objects of this function.
  bool isInert(const llvm::Value *Ptr) const;
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

  void print(llvm::raw_ostream &OS) const;

private:
  /// Const and Known values join to Maybe for pointers; Unreached is neutral.
  enum class Flow : uint8_t { Unreached, Const, Known, Maybe };
  /// What is stored in a local object.
  struct Content {
    bool Integers = false; ///< that is all it ever holds, whoever writes it
    bool Inert = true;     ///< nothing active
    bool Unknown = false;  ///< others may store into it
    bool Active = false;   ///< floats, or bits, with a derivative
    Flow Pointers = Flow::Unreached;
  };

  void solve();
  bool flowThrough();
  bool lookInto(unsigned Object);
  void store(Content &C, const llvm::Value *V) const;
  void copyFrom(Content &C, const llvm::Value *Source) const;
  void called(Content &C, unsigned Object, const llvm::CallBase &CB) const;
  static Flow join(Flow A, Flow B, const llvm::Type *T);
  Flow flow(const llvm::Value *V) const;
  Flow transfer(const llvm::Instruction &I) const;
  Flow transferCall(const llvm::CallBase &CB) const;
  Flow joinOperands(const llvm::Instruction &I) const;
  Flow loaded(const llvm::Value *Ptr, const llvm::Value *Result) const;
  Flow made(const llvm::Instruction &I) const;
  /// The state of a result with that type and kinds when it may be active.
  Flow activeResult(const llvm::Value *Result) const;
  bool carriesBits(const llvm::Value *V) const;
  const CallClass &classOf(const llvm::CallBase &CB) const;

  const llvm::Function &Copy;
  const Request &R;
  const KindAnalysis &Kinds;
  const RuleBook &Rules;
  llvm::DenseMap<const llvm::CallBase *, CallClass> Classes;
  std::unique_ptr<LocalObjects> Locals;
  llvm::DenseMap<const llvm::Instruction *, unsigned> NumberOf; ///< of objects
  llvm::SmallVector<Content, 0> Contents;                       ///< by number
  llvm::SmallVector<const llvm::BasicBlock *, 0> Blocks;
  llvm::DenseMap<const llvm::Value *, Flow> States;
};

} // namespace adjoin

#endif
