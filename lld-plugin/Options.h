// The plugin's options: -mllvm -adjoin-… and the environment variable
// ADJOIN_OPTIONS (interface.md, section 7).
#ifndef ADJOIN_LLDPLUGIN_OPTIONS_H
#define ADJOIN_LLDPLUGIN_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace adjoin {

struct Options {
  /// Where the report goes: a file, or "-" for standard error.
  std::optional<std::string> Report;
  bool PrintPlan = false;
  bool PrintIR = false;
  bool StrongZero = true;
  bool Verify = false;
  unsigned BlasInt = 0; ///< 32, 64, or 0: what the program shows
  /// What could not be understood, a sentence each.
  std::vector<std::string> Mistakes;

  /// Takes one option by its spelling: "-adjoin-report=FILE".
  void set(llvm::StringRef Word);

  /// The options of this process: those of the environment, then those that
  /// LLVM's command line parser saw.
  static Options ofProcess();
};

} // namespace adjoin

#endif
