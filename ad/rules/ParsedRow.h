// Rows of the scalar table after parsing; parsed once, when first used.
#ifndef ADJOIN_AD_RULES_PARSEDROW_H
#define ADJOIN_AD_RULES_PARSEDROW_H

#include "ad/rules/RowLanguage.h"
#include "ad/rules/ScalarRules.h"

namespace adjoin {

struct ParsedRow {
  llvm::StringRef Name, Params;
  std::array<std::optional<RowFormula>, 3> Partial, Singular;
};

const ParsedRow &parsedRow(const ScalarRule &Rule);
const ParsedRow &parsedRow(const MultiRule &Rule, unsigned Result);

/// Letters of Params.
inline bool isIntegerParam(char Letter) { return Letter == 'n'; }
inline bool isPointerParam(char Letter) { return Letter == 'p'; }
inline bool isOtherFloatParam(char Letter) { return Letter == 'w'; }

} // namespace adjoin

#endif
