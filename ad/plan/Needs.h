// Needs: what the transpose of an instruction reads of the primal sweep.
#ifndef ADJOIN_AD_PLAN_NEEDS_H
#define ADJOIN_AD_PLAN_NEEDS_H

#include "ad/plan/Subject.h"

namespace adjoin {

/// A value of the primal sweep.
struct Need {
  enum Kind : uint8_t {
    Primal, ///< the value itself
    Shadow, ///< its shadow pointers, null where constant
    Extra,  ///< what aug makes for the instruction V beside its results
    Edge,   ///< the number of the edge by which the block V was entered
  };
  const llvm::Value *V = nullptr;
  Kind K = Primal;

  bool operator==(const Need &O) const { return V == O.V && K == O.K; }
};

/// The type of a need in a record.
llvm::Type *typeOf(const ReverseSubject &S, const Need &N);

/// Calls \p F with each need of the transpose of \p I, and why it is one.
void forEachNeed(const ReverseSubject &S, const llvm::Instruction &I,
                 llvm::function_ref<void(const Need &, llvm::StringRef Why)> F);

/// The bytes of an allocation when they are constant (and few).
std::optional<uint64_t> fixedSize(const ReverseSubject &S,
                                  const llvm::CallBase &CB, const CallClass &C);

/// A store of pointers puts back what the caller can see: true when the memory
/// that \p Ptr points into may outlive the call.
bool outlivesCall(const llvm::Value *Ptr);

} // namespace adjoin

namespace llvm {
template <> struct DenseMapInfo<adjoin::Need> {
  using Ptr = DenseMapInfo<const Value *>;
  static adjoin::Need getEmptyKey() {
    return {Ptr::getEmptyKey(), adjoin::Need::Primal};
  }
  static adjoin::Need getTombstoneKey() {
    return {Ptr::getTombstoneKey(), adjoin::Need::Primal};
  }
  static unsigned getHashValue(const adjoin::Need &N) {
    return Ptr::getHashValue(N.V) * 4 + N.K;
  }
  static bool isEqual(const adjoin::Need &A, const adjoin::Need &B) {
    return A == B;
  }
};
} // namespace llvm

#endif
