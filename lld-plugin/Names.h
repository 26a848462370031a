// The names that the plugin knows in a symbol table: markers, tags and
// registrations of both families (interface.md, sections 2 and 3).
#ifndef ADJOIN_LLDPLUGIN_NAMES_H
#define ADJOIN_LLDPLUGIN_NAMES_H

#include "llvm/IR/GlobalVariable.h"
#include <optional>

namespace adjoin {

/// The prefix of a name decides how long a tag holds.
enum class Family : uint8_t { Adjoin, Enzyme };

enum class MarkerKind : uint8_t {
  Autodiff,
  Fwddiff,
  Augmentfwd,
  Reverse,
  Unknown, ///< "__enzyme_batch": looks like a marker, is none
};

struct MarkerName {
  MarkerKind Kind;
  Family Of;
};

/// The marker that \p F is: a function that is declared, never defined, and
/// whose symbol contains a marker's name.
std::optional<MarkerName> markerOf(const llvm::Function &F);

enum class Tag : uint8_t {
  Const,
  Dup,
  DupNoNeed,
  DupV,
  DupNoNeedV,
  Out,
  Width,
  PrimalReturn,
  ConstReturn,
  ActiveReturn,
  DupReturn,
  NoRet,
  Tape,
  Allocated,
  RuntimeActivity,
  Unknown, ///< a declared int with the prefix of a family
};

struct TagName {
  Tag T;
  Family Of;
};

/// The tag that \p G is.
std::optional<TagName> tagOf(const llvm::GlobalVariable &G);

/// "adjoin_dup".
std::string spelling(TagName T);

enum class RegistrationKind : uint8_t {
  Gradient,
  Derivative,
  FunctionLike,
  Inactive,
  AllocationLike,
  InactiveGlobal,
  NoFree,
  Anchor, ///< what adjoin.h puts beside a registration
  Unknown,
};

/// The registration that a global of this name is.
std::optional<RegistrationKind> registrationNamed(llvm::StringRef Symbol);

/// The symbol belongs to the vocabulary above or looks as if it should.
bool isReserved(llvm::StringRef Symbol);

} // namespace adjoin

#endif
