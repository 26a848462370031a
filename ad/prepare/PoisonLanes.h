// Lanes of float vectors that nobody reads, made numbers.
#ifndef ADJOIN_AD_PREPARE_POISONLANES_H
#define ADJOIN_AD_PREPARE_POISONLANES_H

namespace llvm {
class Function;
} // namespace llvm

namespace adjoin {

/// Gives poison and undefined elements of floating-point vectors in \p F a
/// value: in shuffle masks an element of the source, in constants one. The
/// optimiser leaves lanes that nobody reads as poison. A lane that nobody reads
/// has adjoint zero, but zero times a partial that is poison would be poison,
/// and a shuffle's transpose adds it to lanes that are read.
/// Returns whether anything changed.
bool definePoisonLanes(llvm::Function &F);

} // namespace adjoin

#endif
