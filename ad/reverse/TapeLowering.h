// Records that the same function pushes and pops become stack objects.
#ifndef ADJOIN_AD_REVERSE_TAPELOWERING_H
#define ADJOIN_AD_REVERSE_TAPELOWERING_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"

namespace adjoin {

/// The functions of the runtime that the tape's calls are recognised by.
struct TapeCalls {
  const llvm::Function *Push = nullptr;
  const llvm::Function *Pop = nullptr;
  /// Functions that take a context and leave its tape as it was.
  llvm::DenseSet<const llvm::Function *> Neutral;
};

/// Where a push of fixed size in \p F (usually a request's body, with both
/// sweeps inlined) is undone by pops of the same function on all paths, makes
/// the record a stack object, which SROA then turns into registers. Follows the
/// sequence of open pushes along all paths; where paths with different
/// sequences meet, or a callee may push or pop, nothing that is open then is
/// touched. Returns whether anything changed.
bool lowerTape(llvm::Function &F, const TapeCalls &Calls);

} // namespace adjoin

#endif
