// Local objects: the stack and heap objects that one function makes, and all
// that is done with pointers to them.
#ifndef ADJOIN_AD_ANALYSIS_LOCALOBJECTS_H
#define ADJOIN_AD_ANALYSIS_LOCALOBJECTS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

namespace adjoin {

/// True for null, undef and poison: never the address of an access.
bool isNoAddress(const llvm::Value *V);

/// An alloca or a fresh allocation.
struct LocalObject {
  const llvm::Instruction *Maker = nullptr;
  /// Its address is kept, returned, or computed with where it is not followed.
  bool Escapes = false;
  /// Stores, atomic operations and calls that have a pointer to it as operand
  /// (loads never change it). Stores of the pointer itself are escapes.
  llvm::SmallVector<const llvm::Instruction *, 8> Users;
};

class LocalObjects {
public:
  /// \p IsAllocation tells calls that return fresh memory.
  LocalObjects(const llvm::Function &F,
               llvm::function_ref<bool(const llvm::CallBase &)> IsAllocation);

  llvm::ArrayRef<LocalObject> all() const { return Objects; }
  /// The objects that \p Ptr may point into, by number.
  llvm::ArrayRef<unsigned> objectsOf(const llvm::Value *Ptr) const;
  /// \p Ptr points into one of objectsOf, or is no address at all.
  bool isComplete(const llvm::Value *Ptr) const;

private:
  void follow(unsigned Object);
  void findIncomplete();

  struct Pointer {
    llvm::SmallVector<unsigned, 2> Objects;
    bool Complete = true;
  };
  llvm::SmallVector<LocalObject, 0> Objects;
  llvm::DenseMap<const llvm::Value *, Pointer> Pointers;
  llvm::SmallVector<const llvm::Instruction *, 0> Derived; ///< keys, in order
};

} // namespace adjoin

#endif
