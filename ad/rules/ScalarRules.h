// Scalar rules: each operation's derivative as a linear map, one row each.
#ifndef ADJOIN_AD_RULES_SCALARRULES_H
#define ADJOIN_AD_RULES_SCALARRULES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instruction.h"
#include <array>

namespace adjoin {

struct ParsedRow;

/// One row: an operation out = op(x, y, z) and the partial derivative with
/// respect to each operand, as text in the row language (ad/rules/README.md).
/// The rows are in ad/rules/ScalarTable.cpp.
struct ScalarRule {
  using Formulas = std::array<llvm::StringRef, 3>;

  llvm::StringRef Name; ///< the C name where there is one: "sin", "fmax"
  /// One letter for each operand, by which the formulas call it. n is an
  /// integer, w a float of another precision, every other letter a float of
  /// the result's type.
  llvm::StringRef Params;
  Formulas Partial;
  /// The points where partial i is singular or undefined although the operation
  /// itself is finite, as a condition; empty: nowhere. There a zero incoming
  /// tangent or adjoint stays zero.
  Formulas Singular;
  /// For tests: the condition under which the operation is finite and real, and
  /// differences near the point say something.
  llvm::StringRef Domain;
  /// For tests: the operation itself, where no libm in use may have it.
  llvm::StringRef Definition;
  /// Number of operands that the row speaks of. The partial with respect to an
  /// integer one is "0".
  unsigned Operands;

  constexpr ScalarRule(llvm::StringRef Name, llvm::StringRef Params,
                       Formulas Partial, Formulas Singular = {},
                       llvm::StringRef Domain = "",
                       llvm::StringRef Definition = "")
      : Name(Name), Params(Params), Partial(Partial), Singular(Singular),
        Domain(Domain), Definition(Definition), Operands(Params.size()) {}
};

/// All rows, in table order.
llvm::ArrayRef<ScalarRule> scalarRules();

/// The row for an instruction (fadd, fneg, fptrunc, …), an intrinsic or a call
/// of a libm function in any precision (sin, sinf, sinl, f128 forms); null when
/// there is none.
const ScalarRule *scalarRuleFor(const llvm::Instruction &I);
/// The row for calls of \p F; null when there is none.
const ScalarRule *scalarRuleFor(const llvm::Function &F);
/// The row of that name, for function_like registrations: the name of a row, of
/// a libm function in double precision, or of an intrinsic without "llvm.".
const ScalarRule *scalarRuleNamed(llvm::StringRef Name);
/// The row \p Name fits a function of this type.
bool fits(const ScalarRule &Rule, const llvm::FunctionType &T);

/// What a libm function of any precision is called in double precision:
/// "sinf" with \p T float, "__sinl_finite" with \p T x86_fp80 are "sin".
/// Empty when the name does not belong to the type.
llvm::StringRef libmBaseName(llvm::StringRef Name, const llvm::Type *T);

/// An operation with several results (sincos, frexp, modf): call rules whose
/// float results each have a row of their own.
struct MultiRule {
  struct Result {
    /// Where the result goes: the number of the pointer operand through which
    /// it is stored, or Returned; with several fields in the returned struct
    /// the field's number is added.
    static constexpr int Returned = -8;
    int Place = Returned;
    bool Float = true; ///< an integer result has no derivative
    ScalarRule::Formulas Partial = {};
  };
  llvm::StringRef Name;
  /// As in ScalarRule; p is a pointer through which a result is stored.
  llvm::StringRef Params;
  /// Results in the order by which formulas name them out0, out1.
  std::array<Result, 2> Results;

  /// The result is stored through this operand; -1 when it is returned.
  static int pointerOperand(const Result &R) {
    return R.Place >= 0 ? R.Place : -1;
  }
  /// The result is this member of the returned struct.
  static unsigned field(const Result &R) { return R.Place - Result::Returned; }
};

llvm::ArrayRef<MultiRule> multiRules();
const MultiRule *multiRuleFor(const llvm::Function &F);

/// What a partial needs of the primal.
struct PartialNeeds {
  unsigned Operands = 0; ///< bit i: the value of operand i
  bool Out = false;      ///< the result
  unsigned Outs = 0;     ///< operations with several results: bit i: result i
};

/// Emits pieces of linear maps of one instruction. The values in Operands (all
/// arguments, the integer ones included) and Out are those of the function
/// that is being written.
class LinearMap {
public:
  LinearMap(const ScalarRule &Rule, const llvm::Instruction &Primal,
            llvm::ArrayRef<llvm::Value *> Operands, llvm::Value *Out,
            unsigned Width, bool StrongZero);
  /// The map from operands to float result \p Result of a call with several
  /// results. \p Outs are the values of all results, the integer ones included
  /// (null where needs() says that they are not wanted).
  LinearMap(const MultiRule &Rule, unsigned Result,
            const llvm::Instruction &Primal,
            llvm::ArrayRef<llvm::Value *> Operands,
            llvm::ArrayRef<llvm::Value *> Outs, unsigned Width,
            bool StrongZero);

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
  llvm::Value *apply(llvm::IRBuilder<> &B, unsigned I,
                     llvm::Value *Incoming) const;

  const ParsedRow &Row;
  const llvm::Instruction &Primal;
  llvm::Type *ResultType;
  llvm::SmallVector<llvm::Value *, 4> Operands;
  llvm::SmallVector<llvm::Value *, 2> Outs;
  unsigned Width;
  bool StrongZero;
};

/// The flags that derivative operations take from the primal operation.
llvm::FastMathFlags derivativeFlags(const llvm::Instruction &Primal);

/// Adds two tangents or adjoints; null stands for zero.
llvm::Value *addTangents(llvm::IRBuilder<> &B, llvm::Value *L, llvm::Value *R,
                         llvm::FastMathFlags FMF);

} // namespace adjoin

#endif
