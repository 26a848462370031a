// Intrinsics that are structure: reductions, permutations, masked accesses and
// pointers that pass through.
#ifndef ADJOIN_AD_PLAN_INTRINSICS_H
#define ADJOIN_AD_PLAN_INTRINSICS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IntrinsicInst.h"

namespace adjoin {

enum class Structure {
  None,    ///< not one of these
  Through, ///< the first operand, as it is
  Sum,     ///< vector.reduce.fadd
  Product, ///< vector.reduce.fmul
  Extreme, ///< vector.reduce.fmax, fmin, fmaximum, fminimum
  Permute, ///< elements of the vector operands at constant places
  Load,    ///< masked.load
  Store,   ///< masked.store
  Gather,  ///< masked.gather, masked.expandload
  Scatter, ///< masked.scatter, masked.compressstore
};

Structure structureOf(const llvm::IntrinsicInst &I);

/// Permute: for each element of the result (of a struct: of its members one
/// after the other) the element of the concatenated vector operands.
llvm::SmallVector<int, 16> permutation(const llvm::IntrinsicInst &I);

/// Masked accesses: the operands.
const llvm::Value *maskedPointer(const llvm::IntrinsicInst &I);
const llvm::Value *maskOf(const llvm::IntrinsicInst &I);
/// The value stored, or what a load gives where the mask is off (may be null).
const llvm::Value *maskedData(const llvm::IntrinsicInst &I);

} // namespace adjoin

#endif
