// What a value may depend on: a backward slice through registers and stack
// memory of one function.
#ifndef ADJOIN_LLDPLUGIN_SLICE_H
#define ADJOIN_LLDPLUGIN_SLICE_H

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Argument.h"
#include "llvm/IR/InstrTypes.h"

namespace adjoin {

struct Slice {
  llvm::SmallSetVector<llvm::Argument *, 4> Arguments;
  llvm::SmallSetVector<llvm::CallBase *, 4> Calls;
  bool Tags = false; ///< a tag, by value or by address

  /// Follows \p V through operands, and through memory that the function has on
  /// its stack (whatever is stored there, in any order).
  static Slice of(llvm::Value *V);
  /// The same for what is in the memory that the pointer \p V leads to,
  /// directly or through further pointers.
  static Slice ofMemory(llvm::Value *V);
};

} // namespace adjoin

#endif
