// The one place that speaks to the user: errors, warnings, remarks and the
// report of what was differentiated.
#ifndef ADJOIN_LLDPLUGIN_REPORT_H
#define ADJOIN_LLDPLUGIN_REPORT_H

#include "Options.h"
#include "ad/Diagnostic.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include <memory>

namespace adjoin {

class Report {
public:
  /// \p Notes is what stands before a note: LLD prints a note as part of the
  /// error's own text, in its own format.
  Report(llvm::Module &M, const Options &O, llvm::StringRef Notes);
  ~Report();

  /// Prints every diagnostic in \p E, once for each place and sentence.
  void error(llvm::Error E);
  void error(const SourcePlace &Where, const llvm::Twine &Message);
  void warning(const SourcePlace &Where, const llvm::Twine &Message);
  /// -Rpass=adjoin, at the call that asked.
  void remark(const llvm::CallBase &At, const llvm::Twine &Message);
  bool failed() const { return Failed; }

  /// A line of -adjoin-report; nothing is computed for it when not asked for.
  bool wantsReport() const { return Out != nullptr; }
  void line(const llvm::Twine &Text);

private:
  void print(bool IsError, const SourcePlace &Where, llvm::StringRef Message,
             llvm::ArrayRef<std::string> Notes);

  llvm::Module &M;
  std::string NotePrefix;
  llvm::StringSet<> Said;
  std::unique_ptr<llvm::raw_ostream> File;
  llvm::raw_ostream *Out = nullptr;
  bool Failed = false;
};

} // namespace adjoin

#endif
