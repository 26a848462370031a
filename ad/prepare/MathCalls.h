// Calls of <math.h> in one form, so that equal ones merge.
#ifndef ADJOIN_AD_PREPARE_MATHCALLS_H
#define ADJOIN_AD_PREPARE_MATHCALLS_H

namespace llvm {
class Function;
} // namespace llvm

namespace adjoin {

class RuleBook;

/// Makes calls of libm functions that the program does not define pure: clang
/// declares them as writing errno, and then two cos(x) would not merge. Where
/// LLVM has an intrinsic of that name it takes the place of the call: rules
/// emit intrinsics, and the cos(x) of the primal is to merge with that in the
/// derivative of sin(x). Other calls are marked "memory(none) nounwind
/// willreturn" ("memory(argmem: write)" where a result is returned through a
/// pointer); where a call stores results and LLVM has an intrinsic that returns
/// them (sincos, frexp, modf), that and stores take its place. Functions with a
/// registration are left alone. Code that reads the floating-point environment
/// stays as it is. Returns whether anything changed; analyses are then out of
/// date.
bool purifyMathCalls(llvm::Function &F, const RuleBook &Rules);

} // namespace adjoin

#endif
