// What is asked: one derivative of one function, and the convention of the
// function that answers it.
#ifndef ADJOIN_AD_REQUEST_H
#define ADJOIN_AD_REQUEST_H

#include "ad/Diagnostic.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"

namespace adjoin {

enum class Mode : uint8_t { Forward, Reverse };

/// What is known about the shadow of a value. Ordered from the least to the
/// most: the join of two states for "may be active" is the maximum for floats;
/// for pointers different states join to Maybe.
enum class ShadowState : uint8_t {
  /// No derivative. A float's tangent is zero; a pointer's shadow is the
  /// pointer itself ("shadow equals primal means constant").
  Const,
  /// Pointers only: has a shadow value, which at run time may be the primal
  /// itself, and then what it points to is constant.
  Maybe,
  /// A float that may have a non-zero tangent; a pointer whose shadow is known
  /// to be a distinct object.
  Known,
};

/// One derivative. Args has one entry for each parameter of Primal:
/// - Const: the parameter has no shadow parameter in the derived function;
/// - Known (Maybe): it is followed by a shadow parameter (forward; and pointers
///   in reverse). In reverse a Known float has no shadow parameter: its adjoint
///   is returned.
struct Request {
  llvm::Function *Primal = nullptr;
  Mode M = Mode::Forward;
  unsigned Width = 1;
  llvm::SmallVector<ShadowState, 8> Args;
  /// The return value's derivative is wanted (float: tangent, or seeded
  /// adjoint; pointer: its shadow).
  bool ReturnActive = false;
  /// A zero incoming tangent or adjoint stays zero at singular points.
  bool StrongZero = true;
  /// Active data may be stored in memory without a shadow (in this request's
  /// call tree): accesses of such memory look into the call's sparse shadow.
  bool Sparse = false;
  /// Reverse: the reverse sweep follows the augmented primal at once, so memory
  /// that the function itself does not write still holds what it held.
  bool Adjacent = false;

  bool operator==(const Request &O) const;
};

/// The shadow type of a type in a width. Width 1: the type itself. Otherwise a
/// float T becomes <W x T>, a float vector <n x T> becomes <W*n x T> with lane
/// k at elements [k*n, (k+1)*n), pointers, integers and vectors of them become
/// [W x T], and aggregates the aggregate of their members' shadow types.
llvm::Type *shadowType(llvm::Type *T, unsigned Width);

/// Forward mode:  {R, shadow R} f.fwd(p1, [p1'], p2, [p2'], …, ptr ctx)
/// where pi' is there unless Args[i] is Const; the result is R alone when the
/// return is not active, void when R is void. ctx is the call's context
/// (ad/runtime/context.h); null when the derivative does not need one.
llvm::FunctionType *forwardType(const Request &R);

/// A derived function.
struct Derivative {
  llvm::Function *Fn = nullptr;
  /// It reads its context parameter: the request's body must make one.
  bool NeedsContext = false;
};

/// Reverse mode, always a pair.
///   {R, shadow R} f.aug(p1, [p1'], …, ptr ctx)
///   {adjoints}    f.rev(p1, [p1'], …, [seed], ptr ctx)
/// A parameter that is not Const is followed by its shadow unless it consists
/// of floats; the result of rev holds its adjoint unless it consists of
/// pointers: always as a struct in parameter order (void when there is none).
/// Likewise for an active return: aug returns its shadow unless it consists of
/// floats, rev takes its adjoint (the seed) unless it consists of pointers.
/// Integers may be the bytes of either. Adjoints have the shadow type; pointer
/// bytes in adjoints and float bytes in shadows have no meaning.
bool hasShadowParameter(const Request &R, unsigned Arg);
bool hasAdjointResult(const Request &R, unsigned Arg);
bool hasSeed(const Request &R);
bool returnsShadow(const Request &R);
llvm::FunctionType *augmentedType(const Request &R);
llvm::FunctionType *reverseType(const Request &R);

struct ReversePair {
  llvm::Function *Aug = nullptr;
  llvm::Function *Rev = nullptr;
};

} // namespace adjoin

#endif
