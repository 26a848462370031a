// What went wrong, and where: diagnostics as values. Analyses and emitters
// return them; the linker plugin is the one place that prints.
#ifndef ADJOIN_AD_DIAGNOSTIC_H
#define ADJOIN_AD_DIAGNOSTIC_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class Function;
class Instruction;
class Value;
} // namespace llvm

namespace adjoin {

/// A place in the user's source: file, line and column when the object has
/// line tables, and always the demangled name of the function.
struct SourcePlace {
  std::string File;
  unsigned Line = 0;
  unsigned Column = 0;
  std::string Function;

  static SourcePlace of(const llvm::Instruction &I);
  static SourcePlace of(const llvm::Function &F);

  /// "model.c:41:12", or "'energy'" when there is no line.
  std::string str() const;
};

/// The name that a diagnostic shows for a function: demangled (C++ and Rust),
/// without the suffixes of working copies, in single quotes.
std::string quotedName(const llvm::Value &F);

/// One error: a sentence with its place, and notes below it.
class Diagnostic : public llvm::ErrorInfo<Diagnostic> {
public:
  static char ID;
  SourcePlace Where;
  std::string Message; ///< starts in lower case, ends without a full stop
  llvm::SmallVector<std::string, 2> Notes; ///< "needed for the derivative of …"

  Diagnostic(SourcePlace Where, std::string Message)
      : Where(std::move(Where)), Message(std::move(Message)) {}
  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;
};

/// Makes the error whose place is \p At.
llvm::Error diagnose(const llvm::Instruction &At, const llvm::Twine &Message);
llvm::Error diagnose(const llvm::Function &At, const llvm::Twine &Message);

/// Adds a note to every diagnostic in \p E.
llvm::Error withNote(llvm::Error E, const llvm::Twine &Note);

} // namespace adjoin

#endif
