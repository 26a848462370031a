// Diagnostics as values: places, names and notes.
#include "ad/Diagnostic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace adjoin;

char Diagnostic::ID = 0;

static std::string plainName(StringRef Name) {
  // Working copies and derived functions are named "<primal>.adjoin…".
  Name = Name.substr(0, Name.find(".adjoin"));
  std::string Demangled = demangle(Name);
  // Rust's legacy mangling ends in a hash that no user wrote.
  size_t Hash = Demangled.rfind("::h");
  if (Hash != std::string::npos && Demangled.size() - Hash == 19 &&
      StringRef(Demangled).substr(Hash + 3).find_if_not(
          [](char C) { return llvm::isHexDigit(C); }) == StringRef::npos)
    Demangled.resize(Hash);
  return Demangled;
}

std::string adjoin::quotedName(const Value &F) {
  return "'" + plainName(F.getName()) + "'";
}

SourcePlace SourcePlace::of(const llvm::Function &F) {
  SourcePlace P;
  P.Function = plainName(F.getName());
  if (const DISubprogram *SP = F.getSubprogram()) {
    P.File = SP->getFilename().str();
    P.Line = SP->getLine();
  }
  return P;
}

SourcePlace SourcePlace::of(const Instruction &I) {
  SourcePlace P = of(*I.getFunction());
  if (const DebugLoc &DL = I.getDebugLoc()) {
    if (DL.getLine() != 0) {
      P.File = DL->getFilename().str();
      P.Line = DL.getLine();
      P.Column = DL.getCol();
    }
  }
  return P;
}

std::string SourcePlace::str() const {
  if (Line == 0)
    return "'" + Function + "'";
  std::string S = File + ":" + std::to_string(Line);
  if (Column != 0)
    S += ":" + std::to_string(Column);
  return S;
}

void Diagnostic::log(raw_ostream &OS) const {
  OS << Where.str() << ": " << Message;
  for (const std::string &N : Notes)
    OS << "\nnote: " << N;
}

std::error_code Diagnostic::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Error adjoin::diagnose(const Instruction &At, const Twine &Message) {
  return make_error<Diagnostic>(SourcePlace::of(At), Message.str());
}

Error adjoin::diagnose(const llvm::Function &At, const Twine &Message) {
  return make_error<Diagnostic>(SourcePlace::of(At), Message.str());
}

Error adjoin::withNote(Error E, const Twine &Note) {
  std::string Text = Note.str();
  return handleErrors(std::move(E),
                      [&](std::unique_ptr<Diagnostic> D) -> Error {
                        D->Notes.push_back(Text);
                        return Error(std::move(D));
                      });
}
