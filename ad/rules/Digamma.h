// The digamma function, which no libm has: the derivative of lgamma.
#ifndef ADJOIN_AD_RULES_DIGAMMA_H
#define ADJOIN_AD_RULES_DIGAMMA_H

#include "llvm/IR/Module.h"

namespace adjoin {

/// The internal function adjoin.digamma.<type> of the module, made on first
/// demand. \p T is a scalar of at least 32 bits. It has a body of ordinary
/// operations, so that it can be differentiated again.
llvm::Function *digammaFunction(llvm::Module &M, llvm::Type *T);

} // namespace adjoin

#endif
