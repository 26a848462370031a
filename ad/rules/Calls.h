// What a call of a function without IR is: the table of known functions.
#ifndef ADJOIN_AD_RULES_CALLS_H
#define ADJOIN_AD_RULES_CALLS_H

#include "ad/rules/RuleBook.h"
#include "ad/rules/ScalarRules.h"
#include "llvm/IR/InstrTypes.h"

namespace adjoin {

/// How a call is differentiated.
struct CallClass {
  enum Kind {
    Inactive,   ///< carries no derivative; run as in the primal
    Scalar,     ///< a row of the scalar table (Rule is set)
    Allocate,   ///< returns fresh memory (malloc, calloc, new, __rust_alloc, …)
    Reallocate, ///< realloc, reallocarray, __rust_realloc
    Free,       ///< gives memory back
    Transfer,   ///< memcpy, memmove, mempcpy, bcopy, strcpy …: dst, src, n
    Fill,       ///< memset, bzero
    Multi,      ///< several results: sincos, frexp, modf, remquo, lgamma_r
    Custom,     ///< a user's registered rule
    Derive,     ///< has a body: derive the callee
    Indirect,   ///< called through a pointer
    Assembly,   ///< inline assembly
    Intrinsic,  ///< an llvm.* that is not in the scalar table
    NoReturn,   ///< never returns (abort, __cxa_throw, panics): run as in the
                ///< primal
    Unknown,    ///< no IR and no rule
  } K = Unknown;
  const ScalarRule *Rule = nullptr;   ///< Scalar
  const CustomRule *User = nullptr;   ///< Custom
  const MultiRule *Several = nullptr; ///< Multi
  /// Allocate: arguments that multiply to the size in bytes (calloc has two);
  /// Reallocate: to the new size; Transfer and Fill: to the byte count. Operand
  /// numbers, or -1; both -1 where the call does not say the size (strdup).
  int SizeArg = -1, SizeArg2 = -1;
  /// Reallocate and Free: the operand that is the old pointer. Allocate: the
  /// operand through which the new pointer is stored (posix_memalign), -1 where
  /// it is returned. Transfer and Fill: the destination.
  int PointerArg = -1;
  /// Transfer: the source. Fill: the byte; -1 where the bytes come from outside
  /// the program (fread, read) and carry no derivative, or are zero.
  int SourceArg = -1;
  bool ZeroedMemory = false; ///< Allocate: the memory is zero at first
};

/// Classifies the call \p CB. User registrations win over built-in ones,
/// built-in ones over bodies.
CallClass classifyCall(const llvm::CallBase &CB, const RuleBook &Rules);

/// What is known of \p F by itself: Unknown or Derive where nothing is
/// registered or built in.
CallClass classifyFunction(const llvm::Function &F, const RuleBook &Rules);

/// The built-in table of functions by name: Unknown where \p F is not in it.
CallClass knownFunction(const llvm::Function &F);

/// The size in bytes that the call says, as i64: SizeArg times SizeArg2, with
/// \p Primal giving the value of an operand in the function being written.
llvm::Value *
bytesOf(llvm::IRBuilder<> &B, const llvm::CallBase &CB, const CallClass &C,
        llvm::function_ref<llvm::Value *(const llvm::Value *)> Primal);

} // namespace adjoin

#endif
