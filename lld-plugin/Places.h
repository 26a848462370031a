// Where a derivative was asked for, in the user's terms.
#ifndef ADJOIN_LLDPLUGIN_PLACES_H
#define ADJOIN_LLDPLUGIN_PLACES_H

#include "ad/Diagnostic.h"
#include "llvm/IR/InstrTypes.h"

namespace adjoin {

/// The place of the marker call \p Call: the innermost line that is not inside
/// one of Adjoin's own headers.
SourcePlace placeOf(const llvm::CallBase &Call);

/// "at main.cpp:20:16", or "in 'main'" when there is no line.
std::string requestedAt(const SourcePlace &Where);

} // namespace adjoin

#endif
