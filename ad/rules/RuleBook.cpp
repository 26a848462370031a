// The rule book: which functions keep their calls in working copies.
#include "ad/rules/RuleBook.h"
#include "ad/rules/Calls.h"

using namespace adjoin;

bool RuleBook::isRegistered(const llvm::Function &F) const {
  return Custom.contains(&F) || FunctionLike.contains(&F) ||
         Allocators.contains(&F) || Deallocators.contains(&F) ||
         Inactive.contains(&F);
}

bool RuleBook::hasRule(const llvm::Function &F) const {
  // The runtime's functions have rules of the emitters.
  if (F.getName().starts_with("adjoin_rt_"))
    return true;
  switch (classifyFunction(F, *this).K) {
  case CallClass::Unknown:
  case CallClass::Derive:
    return false;
  default:
    return true;
  }
}
