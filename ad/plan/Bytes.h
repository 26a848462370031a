// Bytes: where floats and pointers are in memory that a call copies or fills.
#ifndef ADJOIN_AD_PLAN_BYTES_H
#define ADJOIN_AD_PLAN_BYTES_H

#include "ad/plan/Subject.h"

namespace adjoin {

/// A piece of the bytes that are copied or filled.
struct BytePiece {
  uint64_t Begin = 0;
  /// Past the end; Whole: the end is the length of the copy.
  uint64_t End = 0;
  KindSet Kinds; ///< one float kind, or Ptr
  static constexpr uint64_t Whole = ~uint64_t(0);
};

struct ByteLayout {
  llvm::SmallVector<BytePiece, 4> Floats;
  llvm::SmallVector<BytePiece, 4> Pointers;
  /// Floats cannot be told from pointers, or from floats of another width.
  bool Unclear = false;
};

/// The layout of the bytes that a Transfer or Fill writes (and reads).
ByteLayout layoutOf(const ReverseSubject &S, const llvm::CallBase &CB,
                    const CallClass &C);

/// The layout of a struct that is passed by value in memory.
ByteLayout layoutOfCopied(const ReverseSubject &S, const llvm::Argument &A);

/// aug overwrites shadow pointers there that the caller may see: the old bytes
/// are saved on the arena.
bool savesPointers(const ReverseSubject &S, const llvm::CallBase &CB,
                   const CallClass &C, const ByteLayout &Layout);

/// The transpose has something to do.
bool transposesBytes(const ReverseSubject &S, const llvm::CallBase &CB,
                     const CallClass &C, const ByteLayout &Layout);

} // namespace adjoin

#endif
