// What the range of a value rules out: which singular points cannot occur.
#ifndef ADJOIN_AD_RULES_RANGES_H
#define ADJOIN_AD_RULES_RANGES_H

#include "ad/rules/RowLanguage.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Value.h"

namespace adjoin {

/// The condition \p N never holds, whatever the program does.
bool provablyFalse(const RowFormula &F, const RowNode &N,
                   llvm::ArrayRef<llvm::Value *> Operands,
                   const llvm::DataLayout &DL);

/// \p V is greater than zero, or NaN, in each element.
bool isPositive(const llvm::Value *V, const llvm::DataLayout &DL,
                unsigned Depth = 0);

} // namespace adjoin

#endif
