// Lanes: taking shadow values of width W apart and putting them together.
#ifndef ADJOIN_AD_SHADOW_LANES_H
#define ADJOIN_AD_SHADOW_LANES_H

#include "ad/Request.h"
#include "llvm/IR/IRBuilder.h"

namespace adjoin {

/// Lane \p K of \p Shadow, which has type shadowType(T, W): a value of type
/// \p T. Looks through the instructions that packLanes made.
llvm::Value *laneOf(llvm::IRBuilder<> &B, llvm::Value *Shadow, unsigned K,
                    llvm::Type *T, unsigned W);

/// The inverse: W values of type \p T as one value of type shadowType(T, W).
llvm::Value *packLanes(llvm::IRBuilder<> &B,
                       llvm::ArrayRef<llvm::Value *> Lanes, llvm::Type *T);

/// All lanes at once.
llvm::SmallVector<llvm::Value *, 4>
lanesOf(llvm::IRBuilder<> &B, llvm::Value *Shadow, llvm::Type *T, unsigned W);

/// The same value of type \p T in each of W lanes.
llvm::Value *splatLanes(llvm::IRBuilder<> &B, llvm::Value *V, unsigned W);

/// Emits Op(lane values of each shadow) for every lane and packs the results,
/// which have type \p Result.
llvm::Value *
mapLanes(llvm::IRBuilder<> &B, llvm::ArrayRef<llvm::Value *> Shadows,
         llvm::ArrayRef<llvm::Type *> Types, llvm::Type *Result, unsigned W,
         llvm::function_ref<llvm::Value *(llvm::ArrayRef<llvm::Value *>)> Op);

/// A vector that repeats the elements of \p V (a fixed vector, or a scalar as a
/// vector of one) W times; the value itself when W is 1.
llvm::Value *tile(llvm::IRBuilder<> &B, llvm::Value *V, unsigned W);

} // namespace adjoin

#endif
