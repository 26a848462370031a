// The grammar of markers: from a call's arguments to what is asked of each
// parameter (interface.md, sections 2 and 9).
#ifndef ADJOIN_LLDPLUGIN_GRAMMAR_H
#define ADJOIN_LLDPLUGIN_GRAMMAR_H

#include "Markers.h"

namespace adjoin {

/// What becomes of one parameter of the function.
struct ParsedArgument {
  enum Activity : uint8_t {
    Const,
    Dup,     ///< followed by one shadow for each lane
    Strided, ///< one base shadow, lane k at k * stride bytes
    Out,     ///< its adjoint is returned
  } A = Const;
  bool Tagged = false;
  unsigned Value = 0; ///< number of the argument in the marker call
  llvm::SmallVector<unsigned, 2> Shadows;
  unsigned Stride = 0; ///< number of that argument
};

/// What the user says about the function's return value.
enum class ReturnUse : uint8_t { Default, Const, Active, Dup, None };

struct ParsedMarker {
  bool Forward = true;
  unsigned Width = 1;
  bool PrimalReturn = false;
  bool RuntimeActivity = false;
  ReturnUse Return = ReturnUse::Default;
  /// One entry for each parameter of the function, but for the address of a
  /// returned struct, which no marker call gives.
  llvm::SmallVector<ParsedArgument, 8> Arguments;
};

/// Number of the parameter that is the address of the returned struct.
std::optional<unsigned> structReturn(const llvm::Function &F);

/// Parses \p M against the parameters of its function.
llvm::Expected<ParsedMarker> parse(const ResolvedMarker &M);

} // namespace adjoin

#endif
