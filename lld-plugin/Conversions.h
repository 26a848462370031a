// How an argument of a marker call becomes a parameter of the function.
#ifndef ADJOIN_LLDPLUGIN_CONVERSIONS_H
#define ADJOIN_LLDPLUGIN_CONVERSIONS_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"

namespace adjoin {

/// How well a value can be a parameter.
enum class Fit : uint8_t {
  No,
  Loose, ///< a pointer as an integer of its size, or the other way round
  Good,  ///< the same type, as promoted by C's varargs, or a number that fits
};

/// Whether argument \p Operand of \p Call can be a value of type \p To.
Fit fit(const llvm::CallBase &Call, unsigned Operand, llvm::Type *To,
        const llvm::ConstantInt *Number);

/// Emits the conversion that fit() allows.
llvm::Value *convert(llvm::IRBuilder<> &B, llvm::Value *V, llvm::Type *To);

/// A value of type \p T consists of floats, pointers in part or altogether.
bool holdsFloat(const llvm::Type *T);
bool holdsPointer(const llvm::Type *T);

/// "double", "i64", for a diagnostic.
std::string typeName(const llvm::Type *T);

} // namespace adjoin

#endif
