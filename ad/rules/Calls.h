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
    Inactive,  ///< carries no derivative; run as in the primal
    Scalar,    ///< a row of the scalar table (Rule is set)
    Allocate,  ///< returns fresh memory (malloc, calloc, new, __rust_alloc, …)
    Reallocate,///< realloc, reallocarray, __rust_realloc
    Free,      ///< gives memory back
    Transfer,  ///< memcpy, memmove, mempcpy, bcopy, strcpy …: dst, src, n
    Fill,      ///< memset, bzero
    Multi,     ///< several results: sincos, frexp, modf, remquo, lgamma_r
    Custom,    ///< a user's registered rule
    Derive,    ///< has a body: derive the callee
    Indirect,  ///< called through a pointer
    Assembly,  ///< inline assembly
    Intrinsic, ///< an llvm.* that is not in the scalar table
    NoReturn,  ///< never returns (abort, __cxa_throw, panics): run as in the primal
    Unknown,   ///< no IR and no rule
  } K = Unknown;
  const ScalarRule *Rule = nullptr; ///< Scalar
  const CustomRule *User = nullptr; ///< Custom
  /// Allocate: arguments that multiply to the size in bytes (calloc has two);
  /// Reallocate: the new size. Operand numbers, or -1.
  int SizeArg = -1, SizeArg2 = -1;
  /// Reallocate and Free: the operand that is the old pointer. Transfer and
  /// Fill: the destination; Source is the source, SizeArg the byte count.
  int PointerArg = -1, SourceArg = -1;
  bool ZeroedMemory = false; ///< Allocate: the memory is zero at first
};

/// Classifies the call \p CB; \p HasCopy says that the callee is a working copy
/// or a definition in the module. User registrations win over built-in ones,
/// built-in ones over bodies.
CallClass classifyCall(const llvm::CallBase &CB, const RuleBook &Rules);

} // namespace adjoin

#endif
