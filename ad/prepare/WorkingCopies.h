// Working copies: what is differentiated is a simplified clone, the original
// stays as it was.
#ifndef ADJOIN_AD_PREPARE_WORKINGCOPIES_H
#define ADJOIN_AD_PREPARE_WORKINGCOPIES_H

#include "ad/prepare/Pipelines.h"
#include "ad/rules/RuleBook.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/IR/ValueMap.h"

namespace adjoin {

/// Invariants of a copy that get() has returned: internal, no comdat, no
/// section, never address-taken; inlined bottom-up; canonical (one return,
/// LoopSimplify, LCSSA, no critical edges but those of callbr and to EH pads);
/// no indirectbr, no lifetime markers, no variable records; frozen: nobody
/// changes it afterwards.
///
/// A direct call in a copy whose callee has an original is a call to
/// differentiate. A direct call of any other function with a body either has a
/// rule, or never matters to the derivative: it never returns, or stands where
/// no way leads to the end of the function. It runs as in the primal.
class WorkingCopies {
public:
  WorkingCopies(llvm::Module &M, const RuleBook &Rules, Pipelines &Pipes);
  ~WorkingCopies();

  /// The copy of \p Original (a definition), made with all that it reaches by
  /// direct calls on first demand. Also accepts a copy, and returns it. Fails
  /// for a function without a body, and for one that LLVM cannot clone
  /// faithfully (naked functions, coroutines that are not yet split).
  llvm::Expected<llvm::Function *> get(llvm::Function &Original);

  /// The original of a copy; null for any other function.
  llvm::Function *originalOf(const llvm::Function &F) const;

  /// All functions with a body in the original program whose address is taken,
  /// in module order: the candidates of indirect calls. Computed from the
  /// originals before the first clone.
  llvm::ArrayRef<llvm::Function *> addressTaken() const { return Taken; }

  /// All copies made so far, in the order they were made.
  llvm::ArrayRef<llvm::Function *> all() const { return Made; }

  /// Erases all copies, and the declarations and constants that LLVM's passes
  /// made for them and that nothing uses. Calls of copies become calls of the
  /// originals.
  void erase();

private:
  llvm::Function *calleeToCopy(const llvm::CallBase &CB);
  bool neverReturns(const llvm::Function &F);
  bool redirectCalls(llvm::Function &Copy, bool Now);
  llvm::Function *copyOf(llvm::Function &Original);
  void make(llvm::ArrayRef<llvm::Function *> Roots);
  void prepare(llvm::Function &Copy);

  llvm::Module &M;
  const RuleBook &Rules;
  Pipelines &Pipes;
  llvm::SmallVector<llvm::Function *, 0> Taken;
  llvm::SmallVector<llvm::Function *, 0> Made;
  /// By original; an entry goes when somebody erases its original.
  struct Forgetful : llvm::ValueMapConfig<const llvm::Function *> {
    static constexpr bool FollowRAUW = false;
  };
  llvm::ValueMap<const llvm::Function *, llvm::Function *, Forgetful> CopyOf;
  llvm::DenseMap<const llvm::Function *, llvm::WeakVH> Originals;
  llvm::DenseSet<const llvm::Function *> Frozen;
  llvm::DenseMap<const llvm::Function *, bool> NeverReturns;
  /// What the module held before the first clone.
  llvm::DenseSet<const llvm::GlobalValue *> Before;
};

} // namespace adjoin

#endif
