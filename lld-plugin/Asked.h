// What one marker asks for, after its arguments were parsed and the kinds of
// the function's parameters are known.
#ifndef ADJOIN_LLDPLUGIN_ASKED_H
#define ADJOIN_LLDPLUGIN_ASKED_H

#include "Grammar.h"
#include "Results.h"
#include "ad/Differentiator.h"

namespace adjoin {

struct Asked {
  explicit Asked(const llvm::DataLayout &DL) : Layout(DL) {}

  ParsedMarker Parsed;
  Request R;
  /// The parameter that is the address of the returned struct, and its type.
  std::optional<unsigned> Sret;
  llvm::Type *Value = nullptr; ///< what the function returns, also by sret
  bool ReturnsValue = false;   ///< the marker returns it
  bool ActiveReturn = false;
  /// Entries of Parsed.Arguments, by parameter; null for the struct's address.
  llvm::SmallVector<const ParsedArgument *, 8> ByParameter;
  Results Layout;
  /// What the marker is declared to return; null when nothing.
  llvm::Type *Declared = nullptr;
  bool DeclaredInMemory = false;
};

/// What \p Marker asks for. Its function is \p Target (which may stand for the
/// one that the user named), with the frozen copy \p Copy.
llvm::Expected<std::unique_ptr<Asked>>
ask(const ResolvedMarker &Marker, ParsedMarker Parsed, llvm::Function &Target,
    llvm::Function &Copy, const KindAnalysis &Kinds, bool StrongZero);

/// Writes the body of a request: a function that takes the values of the marker
/// call (\p Passed, numbers of its arguments) and returns what it declares.
llvm::Function *writeBody(const ResolvedMarker &Marker, const Asked &A,
                          llvm::ArrayRef<unsigned> Passed, Differentiator &D,
                          const Derivative *Forward, const ReversePair *Pair);

} // namespace adjoin

#endif
