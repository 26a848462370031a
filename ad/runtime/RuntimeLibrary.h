// The runtime's C functions as functions of the module that is differentiated.
#ifndef ADJOIN_AD_RUNTIME_RUNTIMELIBRARY_H
#define ADJOIN_AD_RUNTIME_RUNTIMELIBRARY_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"

namespace adjoin {

/// The bitcode of ad/runtime/*.c, made when Adjoin is built.
llvm::StringRef runtimeBitcode();

/// Copies functions of the runtime into a module as internal functions. What
/// they call of the C library (malloc, free, …) is what the program itself
/// means by that name, be it declared or defined, with any prototype.
class RuntimeLibrary {
public:
  explicit RuntimeLibrary(llvm::Module &M) : M(M) {}

  /// The function of that name in context.h.
  llvm::Function *get(llvm::StringRef Name);
  /// The same, or null when it is not in the module (nothing calls it).
  llvm::Function *lookup(llvm::StringRef Name) const {
    return ByName.lookup(Name);
  }
  /// All functions of the runtime that are in the module.
  llvm::ArrayRef<llvm::Function *> all() const { return Functions; }
  /// Erases what nothing uses.
  void eraseUnused();

private:
  void load();
  llvm::Module &M;
  llvm::StringMap<llvm::Function *> ByName;
  llvm::SmallVector<llvm::Function *, 0> Functions;
  /// Variables of the runtime, and declarations that were not there before.
  llvm::SmallVector<llvm::WeakVH, 0> Others;
};

} // namespace adjoin

#endif
