// Checks of a case: tangents against differences, adjoints against tangents.
#ifndef ADJOIN_TEST_HARNESS_CHECK_H
#define ADJOIN_TEST_HARNESS_CHECK_H

#include "Case.h"
#include "Program.h"

namespace adjoin::test {

/// What one check found.
struct Findings {
  /// One sentence a line about what is wrong; empty when all is well.
  std::string Text;
  unsigned Entries = 0; ///< derivative entries compared
  unsigned Wrong = 0;   ///< those that disagree
};

/// Every entry of the Jacobian, column by column, by forward mode in the
/// case's width, against differences of the primal; and that the primal values
/// and memory are those of the primal, that memory around the buffers is
/// untouched, and that what was allocated was freed.
Findings checkForward(const Case &C, const Variant &V);

/// x̄ = Jᵀȳ by reverse mode (a result has seed 1, the buffers random seeds)
/// against the Jacobian: ⟨ȳ, J e_i⟩ for each input i. J comes from differences,
/// or, with \p FromForward, from forward mode.
Findings checkReverse(const Case &C, const Variant &V, bool FromForward);

/// The checks over all variants, which also may not differ among each other:
/// for a test to compare with "".
std::string forward(const Case &C);
std::string reverse(const Case &C);

/// The diagnostics that the derivative of a case gives, one a line, without
/// the notes.
std::string forwardDiagnostics(const Case &C);
std::string reverseDiagnostics(const Case &C);

} // namespace adjoin::test

#endif
