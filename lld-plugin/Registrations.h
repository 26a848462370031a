// Registrations: what the program tells about its functions, as a rule book.
#ifndef ADJOIN_LLDPLUGIN_REGISTRATIONS_H
#define ADJOIN_LLDPLUGIN_REGISTRATIONS_H

#include "Report.h"
#include "ad/rules/RuleBook.h"

namespace adjoin {

/// Reads all registrations of \p M, reports wrong ones, and takes the tables
/// out of the module.
class Registrations {
public:
  Registrations(llvm::Module &M, Report &Out) : M(M), Out(Out) {}
  RuleBook read();
  /// Warns of registered functions that nothing calls: a compiler may have
  /// inlined them before the link.
  void warnOfUnused();

private:
  void readOne(llvm::GlobalVariable &G);
  bool readInto(llvm::GlobalVariable &G, const SourcePlace &Where);

  llvm::Module &M;
  Report &Out;
  RuleBook Rules;
  llvm::SmallVector<std::pair<llvm::Function *, SourcePlace>, 0> Registered;
};

} // namespace adjoin

#endif
