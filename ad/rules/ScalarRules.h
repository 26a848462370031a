// Scalar rules: each operation's derivative as a linear map, one row each.
#ifndef ADJOIN_AD_RULES_SCALARRULES_H
#define ADJOIN_AD_RULES_SCALARRULES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instruction.h"

namespace adjoin {

/// One row: an operation out = op(x, y, z) on floats and the partial
/// derivative with respect to each operand, as text in the row language
/// (ad/rules/README.md). The rows are in ad/rules/ScalarTable.cpp.
struct ScalarRule {
  llvm::StringRef Name; ///< "fmul", "sin" (libm and intrinsic alike), …
  unsigned Operands;    ///< number of leading operands that are floats
  llvm::StringRef Partial[3];
  /// Bit i: partial i can be singular or undefined where the operation itself
  /// is finite; a zero incoming tangent or adjoint then stays zero.
  unsigned Singular = 0;
};

/// All rows, in table order.
llvm::ArrayRef<ScalarRule> scalarRules();

/// The row for an instruction (fadd, fneg, fptrunc, …), an intrinsic or a call
/// of a libm function in any precision (sin, sinf, sinl, f128 forms); null when
/// there is none.
const ScalarRule *scalarRuleFor(const llvm::Instruction &I);
/// The row of that name, for function_like registrations.
const ScalarRule *scalarRuleNamed(llvm::StringRef Name);

/// What a partial needs of the primal.
struct PartialNeeds {
  unsigned Operands = 0; ///< bit i: the value of operand i
  bool Out = false;      ///< the result
};

/// Emits pieces of linear maps of one instruction. The values in Operands (all
/// arguments, the integer ones included) and Out are those of the function
/// that is being written.
class LinearMap {
public:
  LinearMap(const ScalarRule &Rule, const llvm::Instruction &Primal,
            llvm::ArrayRef<llvm::Value *> Operands, llvm::Value *Out,
            unsigned Width, bool StrongZero);

  /// Partial i is zero everywhere.
  bool isZero(unsigned I) const;
  PartialNeeds needs(unsigned I) const;
  /// partial_i * Incoming, where Incoming is the tangent of operand i (forward,
  /// shadow type of the operand) and the result contributes to the tangent of
  /// the result.
  llvm::Value *push(llvm::IRBuilder<> &B, unsigned I,
                    llvm::Value *Incoming) const;
  /// The transpose: Incoming is the adjoint of the result (shadow type of the
  /// result); the value is what operand i's adjoint receives.
  llvm::Value *pull(llvm::IRBuilder<> &B, unsigned I,
                    llvm::Value *Incoming) const;

private:
  const ScalarRule &Rule;
  const llvm::Instruction &Primal;
  llvm::SmallVector<llvm::Value *, 4> Operands;
  llvm::Value *Out;
  unsigned Width;
  bool StrongZero;
};

/// Adds two tangents or adjoints; null stands for zero.
llvm::Value *addTangents(llvm::IRBuilder<> &B, llvm::Value *L, llvm::Value *R,
                         llvm::FastMathFlags FMF);

} // namespace adjoin

#endif
