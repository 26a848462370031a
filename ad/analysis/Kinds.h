// Kinds: what bytes mean (integer, pointer, float of which width), deduced
// over all working copies from uses, never from LLVM types alone.
#ifndef ADJOIN_AD_ANALYSIS_KINDS_H
#define ADJOIN_AD_ANALYSIS_KINDS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include <memory>

namespace adjoin {

/// A set of kinds. The empty set means that nothing is known.
class KindSet {
public:
  enum Kind : unsigned {
    Int = 1,
    Ptr = 2,
    F16 = 4,
    BF16 = 8,
    F32 = 16,
    F64 = 32,
    F80 = 64,
    F128 = 128,
    AnyFloat = F16 | BF16 | F32 | F64 | F80 | F128
  };
  KindSet() = default;
  KindSet(unsigned Bits) : Bits(Bits) {}

  bool empty() const { return Bits == 0; }
  bool mayBe(Kind K) const { return (Bits & K) != 0; }
  bool mayBeFloat() const { return (Bits & AnyFloat) != 0; }
  bool mayBePtr() const { return (Bits & Ptr) != 0; }
  bool only(Kind K) const { return Bits == static_cast<unsigned>(K); }
  KindSet operator|(KindSet O) const { return {Bits | O.Bits}; }
  bool operator==(KindSet O) const { return Bits == O.Bits; }
  unsigned bits() const { return Bits; }
  /// The kind of a floating-point scalar type.
  static KindSet ofFloat(const llvm::Type *T);
  void print(llvm::raw_ostream &OS) const;

private:
  unsigned Bits = 0;
};

/// Kinds of a piece of memory or of a value, by byte offset. Ranges are sorted,
/// disjoint, and cover what is known; a byte in no range is unknown.
struct KindRange {
  uint64_t Begin = 0; ///< bytes from the start
  uint64_t End = 0;
  KindSet Kinds;
};
using KindRanges = llvm::SmallVector<KindRange, 4>;

/// Whole-program kinds by unification of memory regions with byte offsets
/// (after Steensgaard, POPL 1996, and Lattner and Adve's data structure
/// analysis, PLDI 2007), variable indices folding a region to a stride.
class KindAnalysis {
public:
  explicit KindAnalysis(const llvm::Module &M);
  ~KindAnalysis();

  /// Adds functions (frozen working copies); facts about earlier ones may grow.
  /// \p OriginalOf gives the original of a copy (WorkingCopies::originalOf):
  /// vtables and function pointers hold the originals' addresses. Functions
  /// that are called and have no copy yet are analysed themselves, so that a
  /// copy that is added later brings little that is new.
  void add(llvm::ArrayRef<llvm::Function *> Copies,
           llvm::function_ref<const llvm::Function *(const llvm::Function &)>
               OriginalOf = nullptr);

  /// Kinds of the bytes of \p V (an integer, float, pointer or aggregate that
  /// is an SSA value), by byte of its in-memory layout. Only uses decide, so a
  /// double that is only moved may be unknown, or hold two floats: callers take
  /// the LLVM type of a floating-point value that is unknown here. Constants
  /// are unknown but for addresses.
  KindRanges value(const llvm::Value *V) const;
  /// All kinds that any byte of \p V may have.
  KindSet summary(const llvm::Value *V) const;
  /// Kinds of the \p Size bytes that start where \p Ptr points.
  KindRanges memory(const llvm::Value *Ptr, uint64_t Size) const;
  /// All kinds that any byte of the object that \p Ptr points into may have, as
  /// far as they are known: moved bytes of unknown kind add nothing.
  KindSet object(const llvm::Value *Ptr) const;
  /// The object that \p Ptr points into holds integers, and nothing else, not
  /// even bytes of unknown kind: it needs no shadow.
  bool onlyIntegers(const llvm::Value *Ptr) const;

  /// Some bytes of the object that \p Ptr points into may be floats: they are,
  /// or their kind is unknown, or nothing at all is known of the object.
  bool mayHoldFloats(const llvm::Value *Ptr) const;
  /// Bytes that are floats, or of unknown kind, can be reached from \p Ptr,
  /// also through pointers in memory, by what functions with a body do.
  bool mayReachFloats(const llvm::Value *Ptr) const;

  void print(const llvm::Function &F, llvm::raw_ostream &OS) const;

private:
  class Impl;
  std::unique_ptr<Impl> P;
};

} // namespace adjoin

#endif
