// A counting allocator for code under test.
#include "Allocations.h"
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

using namespace adjoin::test;

namespace {
struct Books {
  std::map<void *, size_t> Live;
  std::set<void *> Gone;
  std::string Errors;
};
} // namespace

static Books &books() {
  static Books B;
  return B;
}

static void *take(size_t Size, size_t Align) {
  Align = std::max<size_t>(Align, 16);
  // A fresh block never lies where one was freed, so that a second free, or a
  // shadow found by a stale address, cannot go unseen.
  void *P = aligned_alloc(Align, (std::max<size_t>(Size, 1) + Align - 1) /
                                     Align * Align);
  if (!P)
    abort();
  memset(P, 0xff, Size);
  books().Live[P] = Size;
  return P;
}

static void give(void *P) {
  if (!P)
    return;
  Books &B = books();
  auto It = B.Live.find(P);
  if (It != B.Live.end()) {
    memset(P, 0xff, It->second); // whoever still reads it finds NaN
    B.Live.erase(It);
    B.Gone.insert(P); // the memory itself goes back at the reset
  } else if (B.Gone.count(P)) {
    B.Errors += "a block was freed twice\n";
  } else {
    free(P); // from a library: strdup, getline
  }
}

void adjoin::test::resetAllocations() {
  Books &B = books();
  for (auto &[P, Size] : B.Live)
    free(P);
  for (void *P : B.Gone)
    free(P);
  B = Books();
}

size_t adjoin::test::liveAllocations() { return books().Live.size(); }
std::string adjoin::test::allocationErrors() { return books().Errors; }

static void *testMalloc(size_t N) { return take(N, 16); }
static void *testCalloc(size_t N, size_t M) {
  void *P = take(N * M, 16);
  memset(P, 0, N * M);
  return P;
}
static void *testRealloc(void *Old, size_t N) {
  if (Old && !books().Live.count(Old)) {
    if (books().Gone.count(Old))
      books().Errors += "a block was reallocated after it was freed\n";
    return realloc(Old, N);
  }
  void *P = take(N, 16);
  if (Old) {
    memcpy(P, Old, std::min(N, books().Live[Old]));
    give(Old);
  }
  return P;
}
static void *testAligned(size_t Align, size_t N) { return take(N, Align); }
static int testPosixMemalign(void **Out, size_t Align, size_t N) {
  *Out = take(N, Align);
  return 0;
}
static void testFree(void *P) { give(P); }
static void testFree2(void *P, size_t) { give(P); }
static void testFree3(void *P, size_t, size_t) { give(P); }
static void *testNew(size_t N) { return take(N, 16); }
static void *testNewAligned(size_t N, size_t Align) { return take(N, Align); }
static void *testNewNothrow(size_t N, void *) { return take(N, 16); }
static void *testRustZeroed(size_t N, size_t Align) {
  void *P = take(N, Align);
  memset(P, 0, N);
  return P;
}
static void *testRustRealloc(void *Old, size_t, size_t, size_t N) {
  return testRealloc(Old, N);
}

template <typename F> static void *address(F *Fn) {
  return reinterpret_cast<void *>(Fn);
}

llvm::ArrayRef<std::pair<llvm::StringRef, void *>>
adjoin::test::allocatorSymbols() {
  static const std::pair<llvm::StringRef, void *> Symbols[] = {
      {"malloc", address(testMalloc)},
      {"calloc", address(testCalloc)},
      {"realloc", address(testRealloc)},
      {"free", address(testFree)},
      {"aligned_alloc", address(testAligned)},
      {"memalign", address(testAligned)},
      {"posix_memalign", address(testPosixMemalign)},
      {"_Znwm", address(testNew)},
      {"_Znam", address(testNew)},
      {"_ZnwmSt11align_val_t", address(testNewAligned)},
      {"_ZnamSt11align_val_t", address(testNewAligned)},
      {"_ZnwmRKSt9nothrow_t", address(testNewNothrow)},
      {"_ZnamRKSt9nothrow_t", address(testNewNothrow)},
      {"_ZdlPv", address(testFree)},
      {"_ZdaPv", address(testFree)},
      {"_ZdlPvm", address(testFree2)},
      {"_ZdaPvm", address(testFree2)},
      {"_ZdlPvSt11align_val_t", address(testFree2)},
      {"_ZdaPvSt11align_val_t", address(testFree2)},
      {"_ZdlPvmSt11align_val_t", address(testFree3)},
      {"_ZdaPvmSt11align_val_t", address(testFree3)},
      {"__rust_alloc", address(testNewAligned)},
      {"__rust_alloc_zeroed", address(testRustZeroed)},
      {"__rust_dealloc", address(testFree3)},
      {"__rust_realloc", address(testRustRealloc)},
  };
  return Symbols;
}
