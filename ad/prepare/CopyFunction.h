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
/// - guarantees no tail calls, where that is not needed to forward varargs;
/// - marks libm calls (see markMathCalls).
/// Its calls still go to the original callees.
llvm::Function *copyFunction(llvm::Function &Original);

/// Marks calls of libm functions "memory(none) nounwind willreturn" (or
/// "memory(argmem: write)" where a result is returned through a pointer):
/// clang declares them as writing errno, and then two cos(x) would not merge.
/// Calls in code that reads the floating-point environment stay as they are.
void markMathCalls(llvm::Function &F);

/// Removes lifetime markers.
void dropLifetimes(llvm::Function &F);

} // namespace adjoin

#endif
