// The allocator that code under test sees: it counts, fills fresh memory with
// NaN, and notices what is freed twice.
#ifndef ADJOIN_TEST_HARNESS_ALLOCATIONS_H
#define ADJOIN_TEST_HARNESS_ALLOCATIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>

namespace adjoin::test {

/// Forgets, and frees, what the last run left, and counts anew.
void resetAllocations();
/// Blocks allocated and not freed since the last reset.
size_t liveAllocations();
/// What went wrong since the last reset: empty, or a sentence.
std::string allocationErrors();

/// The symbols that replace those of the process in the JIT.
llvm::ArrayRef<std::pair<llvm::StringRef, void *>> allocatorSymbols();

} // namespace adjoin::test

#endif
