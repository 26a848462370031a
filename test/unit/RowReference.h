// Rows of the scalar table evaluated in 113-bit arithmetic: the reference that
// derivatives are compared with.
#ifndef ADJOIN_TEST_UNIT_ROWREFERENCE_H
#define ADJOIN_TEST_UNIT_ROWREFERENCE_H

#include "ad/rules/ScalarRules.h"
#include <optional>

namespace adjoin {

using Quad = __float128;

/// The function of the C library for 128-bit floats of that name.
void *quadFunction(llvm::StringRef Name);

/// The operation of a row: its definition, or the function of its name in the C
/// library. Nothing when there is neither.
std::optional<Quad> operation(const ScalarRule &Rule,
                              llvm::ArrayRef<Quad> Operands);

/// A condition of a row (domain, singular point); an empty one is false.
bool condition(llvm::StringRef Text, llvm::StringRef Params,
               llvm::ArrayRef<Quad> Operands);

/// A difference quotient, extrapolated, and what it may be wrong by.
struct Difference {
  Quad Value = 0;
  Quad Error = 0;
  Quad Curvature = 0; ///< the second derivative, roughly
};

/// The partial derivative of the operation with respect to operand \p I: the
/// best of several step widths whose points are all in the domain.
std::optional<Difference> difference(const ScalarRule &Rule,
                                     llvm::ArrayRef<Quad> Operands, unsigned I);

inline Quad absolute(Quad X) { return X < 0 ? -X : X; }
inline bool isFinite(Quad X) { return X - X == 0; }

} // namespace adjoin

#endif
