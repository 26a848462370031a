// Formulas of the row language as IR.
#ifndef ADJOIN_AD_RULES_ROWEMITTER_H
#define ADJOIN_AD_RULES_ROWEMITTER_H

#include "ad/rules/RowLanguage.h"
#include "llvm/IR/IRBuilder.h"

namespace adjoin {

/// Emits the value of a formula at the builder's insertion point, simplified
/// where operands are constant. \p T is the floating-point type (or fixed
/// vector) in which it is computed; operand and result values are those that
/// the letters of \p Params and out0, out1 stand for.
class RowEmitter {
public:
  RowEmitter(llvm::IRBuilder<> &B, llvm::Type *T, llvm::StringRef Params,
             llvm::ArrayRef<llvm::Value *> Operands,
             llvm::ArrayRef<llvm::Value *> Outs)
      : B(B), T(T), Params(Params), Operands(Operands), Outs(Outs) {}

  llvm::Value *real(const RowFormula &F, const RowNode &N);
  /// A condition: i1, or a vector of i1.
  llvm::Value *truth(const RowFormula &F, const RowNode &N);

private:
  llvm::Value *integer(const RowFormula &F, const RowNode &N);
  llvm::Value *call(const RowFormula &F, const RowNode &N);
  llvm::Value *callLibm(llvm::StringRef Name,
                        llvm::ArrayRef<llvm::Value *> Arguments);
  llvm::Value *power(llvm::Value *Base, llvm::Value *Exponent);
  llvm::Value *callIntrinsic(llvm::Intrinsic::ID ID,
                             llvm::ArrayRef<llvm::Type *> Types,
                             llvm::ArrayRef<llvm::Value *> Arguments);

  llvm::IRBuilder<> &B;
  llvm::Type *T;
  llvm::StringRef Params;
  llvm::ArrayRef<llvm::Value *> Operands, Outs;
};

/// Arithmetic that leaves out factors of one, zero sums and chosen branches.
llvm::Value *multiply(llvm::IRBuilder<> &B, llvm::Value *L, llvm::Value *R);
/// \p V is the same floating-point number in each element, \p X.
bool isNumber(const llvm::Value *V, double X);
/// The condition \p C is the same constant in each element.
std::optional<bool> constantTruth(const llvm::Value *C);

} // namespace adjoin

#endif
