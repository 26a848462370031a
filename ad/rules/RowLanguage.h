// The row language: formulas of the scalar table as text, and their syntax
// tree. ad/rules/README.md describes it.
#ifndef ADJOIN_AD_RULES_ROWLANGUAGE_H
#define ADJOIN_AD_RULES_ROWLANGUAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace adjoin {

/// One node of a formula. Children are indices of earlier nodes.
struct RowNode {
  enum Kind : uint8_t {
    Number, ///< Text has its digits
    Param,  ///< operand Index
    Out,    ///< result Index
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Not,
    And,
    Or,
    Choose, ///< condition ? first : second
    Call,   ///< the function Text of its children
  } K = Number;
  llvm::StringRef Text;
  unsigned Index = 0;
  llvm::SmallVector<unsigned, 3> Children;
};

/// A parsed formula.
class RowFormula {
public:
  /// Parses \p Text; each letter of \p Params names an operand. The text must
  /// outlive the formula. On a mistake \p Error says which.
  static std::optional<RowFormula>
  parse(llvm::StringRef Text, llvm::StringRef Params, std::string &Error);

  const RowNode &node(unsigned I) const { return Nodes[I]; }
  const RowNode &child(const RowNode &N, unsigned I) const {
    return Nodes[N.Children[I]];
  }
  const RowNode &root() const { return Nodes.back(); }
  llvm::ArrayRef<RowNode> nodes() const { return Nodes; }
  /// The whole formula is this number.
  bool is(llvm::StringRef Digits) const {
    return root().K == RowNode::Number && root().Text == Digits;
  }

private:
  friend class RowParser;
  llvm::SmallVector<RowNode, 8> Nodes;
};

} // namespace adjoin

#endif
