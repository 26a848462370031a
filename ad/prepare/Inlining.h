// Inlining into one function by LLVM's cost model, without the module passes
// of LLVM's inliner.
#ifndef ADJOIN_AD_PREPARE_INLINING_H
#define ADJOIN_AD_PREPARE_INLINING_H

#include "ad/prepare/Pipelines.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace adjoin {

/// Inlines each direct call in \p Caller whose callee \p Candidate accepts and
/// that LLVM's InlineCost finds worth it at O3, in program order. Calls that
/// came in with an inlined body wait for the next call of this function.
/// \p SizeLimit is the number of instructions above which \p Caller takes only
/// what must be inlined (always_inline). Callees are not changed. Returns
/// whether anything was inlined; analyses are then up to date.
bool inlineCalls(llvm::Function &Caller,
                 llvm::function_ref<bool(const llvm::Function &)> Candidate,
                 unsigned SizeLimit, Pipelines &Pipes);

} // namespace adjoin

#endif
