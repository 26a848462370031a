// What the user reads, in the linker's own format.
#include "Report.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace adjoin;

namespace {

/// "model.c:41:12: adjoin: sentence", and notes on further lines. The linker
/// puts "ld.lld: error: " before it.
class Sentence : public DiagnosticInfo {
public:
  Sentence(DiagnosticSeverity Severity, std::string Text)
      : DiagnosticInfo(kind(), Severity), Text(std::move(Text)) {}
  void print(DiagnosticPrinter &P) const override { P << Text; }

private:
  static int kind() {
    static const int Kind = getNextAvailablePluginDiagnosticKind();
    return Kind;
  }
  std::string Text;
};

} // namespace

Report::Report(Module &M, const Options &O, StringRef Notes)
    : M(M), NotePrefix(Notes) {
  for (const std::string &Mistake : O.Mistakes) {
    Failed = true;
    M.getContext().diagnose(Sentence(DS_Error, "adjoin: " + Mistake));
  }
  if (!O.Report)
    return;
  if (*O.Report == "-") {
    Out = &errs();
    return;
  }
  std::error_code Problem;
  File = std::make_unique<raw_fd_ostream>(*O.Report, Problem);
  if (Problem) {
    File.reset();
    Failed = true;
    M.getContext().diagnose(
        Sentence(DS_Error, "adjoin: cannot write the report to '" + *O.Report +
                               "': " + Problem.message()));
    return;
  }
  Out = File.get();
}

Report::~Report() = default;

void Report::print(bool IsError, const SourcePlace &Where, StringRef Message,
                   ArrayRef<std::string> Notes) {
  std::string Text = (Where.str() + ": adjoin: " + Message).str();
  if (!Said.insert(Text).second)
    return;
  for (const std::string &Note : Notes)
    Text += "\n" + NotePrefix + "note: " + Note;
  M.getContext().diagnose(
      Sentence(IsError ? DS_Error : DS_Warning, std::move(Text)));
}

void Report::error(Error E) {
  Failed |= static_cast<bool>(E);
  handleAllErrors(
      std::move(E),
      [&](const Diagnostic &D) { print(true, D.Where, D.Message, D.Notes); },
      [&](const ErrorInfoBase &Other) {
        SourcePlace Nowhere;
        Nowhere.Function = M.getName().str();
        print(true, Nowhere, Other.message(), {});
      });
}

void Report::error(const SourcePlace &Where, const Twine &Message) {
  Failed = true;
  print(true, Where, Message.str(), {});
}

void Report::warning(const SourcePlace &Where, const Twine &Message) {
  print(false, Where, Message.str(), {});
}

void Report::remark(const CallBase &At, const Twine &Message) {
  OptimizationRemark R("adjoin", "Differentiated", At.getDebugLoc(),
                       At.getParent());
  R << Message.str();
  M.getContext().diagnose(R);
}

void Report::line(const Twine &Text) {
  if (Out)
    *Out << Text << "\n";
}
