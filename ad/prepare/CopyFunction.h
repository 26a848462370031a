// One working copy before it is simplified: a clone that LLVM's optimiser may
// treat as a plain internal function.
#ifndef ADJOIN_AD_PREPARE_COPYFUNCTION_H
#define ADJOIN_AD_PREPARE_COPYFUNCTION_H

#include "llvm/IR/Function.h"

namespace adjoin {

/// Clones \p Original as the internal function "<name>.adjoin.copy" at the end
/// of its module. The clone computes the same, but
/// - has no comdat, section, prefix data and, except for debug info, metadata;
/// - has none of the attributes of -O0 and -Os objects;
/// - keeps line numbers and drops variable records;
/// - jumps by compares where the original has an indirectbr: tables of labels
///   hold addresses of the original's blocks;
/// - guarantees no tail calls, where that is not needed to forward varargs.
/// Its calls still go to the original callees.
llvm::Function *copyFunction(llvm::Function &Original);

/// Removes lifetime markers.
void dropLifetimes(llvm::Function &F);

} // namespace adjoin

#endif
