// From resolved markers to code: one body for each request, and calls of it in
// place of the marker calls.
#ifndef ADJOIN_LLDPLUGIN_LOWERING_H
#define ADJOIN_LLDPLUGIN_LOWERING_H

#include "Asked.h"
#include "llvm/ADT/StringMap.h"

namespace adjoin {

class Lowering {
public:
  Lowering(llvm::Module &M, Differentiator &D, const Options &O, Report &Out)
      : M(M), D(D), O(O), Out(Out) {}

  /// Replaces every marker call. Those in functions that a derivative reaches
  /// come before that derivative: inner derivatives first.
  void run(llvm::ArrayRef<ResolvedMarker> Markers);
  /// Erases what was made on the way and nobody uses; after
  /// Differentiator::finish.
  void finish();

private:
  void lower(unsigned Index);
  void lowerInner(llvm::Function &Target);
  llvm::Expected<llvm::Function *> bodyFor(const ResolvedMarker &Marker);
  llvm::Function *bindFunctions(const ResolvedMarker &Marker,
                                const ParsedMarker &Parsed);
  llvm::Expected<llvm::Function *> differentiable(const ResolvedMarker &Marker,
                                                  const ParsedMarker &Parsed);
  void replace(const ResolvedMarker &Marker, llvm::Function &Body);
  /// Optimises the bodies made since the last time.
  void flush();
  void tell(const ResolvedMarker &Marker, const Asked &A);
  void printIR(const ResolvedMarker &Marker, llvm::Function &Body);

  llvm::Module &M;
  Differentiator &D;
  const Options &O;
  Report &Out;
  llvm::ArrayRef<ResolvedMarker> Markers;
  /// Markers by the function that they stand in.
  llvm::DenseMap<const llvm::Function *, llvm::SmallVector<unsigned, 2>> In;
  llvm::SmallVector<bool, 0> Begun;
  llvm::StringMap<llvm::Function *> Bodies;
  llvm::DenseSet<const llvm::Function *> Visited; ///< by lowerInner
  /// Callers of functions that have a rule.
  llvm::DenseMap<llvm::Function *, llvm::Function *> Thunks;
  llvm::SmallVector<llvm::Function *, 0> Made, Pending;
};

} // namespace adjoin

#endif
