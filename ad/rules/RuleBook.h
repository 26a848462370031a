// The rule book: what users registered about functions, and what is built in.
#ifndef ADJOIN_AD_RULES_RULEBOOK_H
#define ADJOIN_AD_RULES_RULEBOOK_H

#include "ad/Request.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstrTypes.h"

namespace adjoin {

/// A custom rule: functions that the user wrote (interface.md, section 9).
struct CustomRule {
  llvm::Function *Forward = nullptr;   ///< __adjoin_register_derivative
  llvm::Function *Augmented = nullptr; ///< __adjoin_register_gradient
  llvm::Function *Gradient = nullptr;
};

/// An allocator pair.
struct AllocationRule {
  unsigned SizeArg = 0; ///< index of the parameter with the size in bytes
  /// For each parameter of Free: -1 the allocated pointer, j the j-th argument
  /// of the allocation.
  llvm::SmallVector<int, 4> FreeArgs;
  llvm::Function *Free = nullptr;
};

/// What the user registered, by function. Filled by lld-plugin, read by ad.
class RuleBook {
public:
  llvm::DenseMap<const llvm::Function *, CustomRule> Custom;
  /// f has the derivative of the scalar rule with this name ("log1p").
  llvm::DenseMap<const llvm::Function *, std::string> FunctionLike;
  llvm::DenseMap<const llvm::Function *, AllocationRule> Allocators;
  llvm::DenseMap<const llvm::Function *, const llvm::Function *> Deallocators;
  llvm::DenseSet<const llvm::Function *> Inactive;
  llvm::DenseSet<const llvm::Function *> NoFree;
  llvm::DenseSet<const llvm::GlobalVariable *> InactiveGlobals;

  /// The user registered what \p F is.
  bool isRegistered(const llvm::Function &F) const;
  /// True when calls of \p F must survive inlining of working copies because a
  /// registration or a built-in rule says what its derivative is.
  bool hasRule(const llvm::Function &F) const;
};

} // namespace adjoin

#endif
