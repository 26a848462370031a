// Source places of marker calls.
#include "Places.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"

using namespace llvm;
using namespace adjoin;

static bool isOwnHeader(StringRef File) {
  return File.ends_with("adjoin/adjoin.hpp") ||
         File.contains("adjoin/detail/") || File.ends_with("adjoin.h");
}

SourcePlace adjoin::placeOf(const CallBase &Call) {
  SourcePlace P = SourcePlace::of(Call);
  for (const DILocation *L = Call.getDebugLoc(); L; L = L->getInlinedAt()) {
    if (L->getLine() == 0 || isOwnHeader(L->getFilename()))
      continue;
    P.File = L->getFilename().str();
    P.Line = L->getLine();
    P.Column = L->getColumn();
    break;
  }
  return P;
}

std::string adjoin::requestedAt(const SourcePlace &Where) {
  return (Where.Line ? "at " : "in ") + Where.str();
}
