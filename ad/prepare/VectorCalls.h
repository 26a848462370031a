// Calls between functions that are compiled for different processors.
#ifndef ADJOIN_AD_PREPARE_VECTORCALLS_H
#define ADJOIN_AD_PREPARE_VECTORCALLS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"

namespace adjoin {

/// How a vector is passed depends on the registers of the processor that a
/// function is compiled for (-march, target_feature), and the lanes of a
/// derivative are vectors. Where \p F calls a function that \p IsOurs accepts,
/// with a vector in its type and other target attributes than F's, the call
/// goes through a function with the callee's attributes that takes arguments
/// and result in memory. \p Made holds those functions, by callee.
/// Returns true when F was changed.
bool passVectorsInMemory(
    llvm::Function &F, llvm::function_ref<bool(const llvm::Function &)> IsOurs,
    llvm::DenseMap<llvm::Function *, llvm::Function *> &Made);

} // namespace adjoin

#endif
