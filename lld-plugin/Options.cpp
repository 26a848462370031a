// Options: registered with LLVM's command line parser, and read from
// ADJOIN_OPTIONS by the same names.
#include "Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Process.h"
#include <memory>

using namespace llvm;
using namespace adjoin;

namespace {

/// All options are kept as the words that were given, in order. They are
/// registered when the plugin is loaded, once: a linker may load two copies.
class Registered {
public:
  Registered() {
    if (cl::getRegisteredOptions().count("adjoin-report"))
      return;
    add("adjoin-report", "FILE", "Say what was differentiated");
    add("adjoin-print-plan", "", "Print the plan of each derivative");
    add("adjoin-print-ir", "", "Print the emitted IR of each derivative");
    add("adjoin-strong-zero", "on|off",
        "At a singular point a zero tangent or adjoint stays zero");
    add("adjoin-verify", "", "Verify the emitted IR of each derivative");
    add("adjoin-blas-int", "32|64",
        "Integer width of BLAS routines without a suffix");
  }
  std::vector<std::string> Words;

private:
  void add(StringRef Name, StringRef Value, StringRef Description) {
    Known.push_back(std::make_unique<cl::opt<std::string>>(
        Name, cl::ValueOptional, cl::value_desc(Value), cl::desc(Description),
        cl::callback([this, Name](const std::string &Given) {
          Words.push_back(
              ("-" + Name + (Given.empty() ? "" : "=" + Given)).str());
        })));
  }
  std::vector<std::unique_ptr<cl::opt<std::string>>> Known;
};

} // namespace

static Registered CommandLine;

void Options::set(StringRef Word) {
  auto Mistake = [&](const Twine &Text) { Mistakes.push_back(Text.str()); };
  StringRef Name = Word.split('=').first, Value = Word.split('=').second;
  bool HasValue = Word.contains('=');
  Name.consume_front("-");
  auto Flag = [&](bool &To) {
    if (HasValue && Value != "on" && Value != "off" && Value != "true" &&
        Value != "false")
      return Mistake("option '" + Word + "' takes on or off");
    To = Value != "off" && Value != "false";
  };
  if (Name == "adjoin-report")
    Report = HasValue && !Value.empty() ? Value.str() : "-";
  else if (Name == "adjoin-print-plan")
    Flag(PrintPlan);
  else if (Name == "adjoin-print-ir")
    Flag(PrintIR);
  else if (Name == "adjoin-strong-zero")
    Flag(StrongZero);
  else if (Name == "adjoin-verify")
    Flag(Verify);
  else if (Name != "adjoin-blas-int")
    Mistake("there is no option '" + Word + "'");
  else if (Value == "32" || Value == "64")
    BlasInt = Value == "32" ? 32 : 64;
  else
    Mistake("option '" + Word + "' takes 32 or 64");
}

Options Options::ofProcess() {
  Options O;
  if (std::optional<std::string> Text = sys::Process::GetEnv("ADJOIN_OPTIONS"))
    for (StringRef Word : split(*Text, ' '))
      if (!Word.trim().empty())
        O.set("-" + Word.trim().ltrim('-').str());
  for (const std::string &Word : CommandLine.Words)
    O.set(Word);
  return O;
}
