// Working copies: what is differentiated is a simplified clone, the original
// stays as it was.
#ifndef ADJOIN_AD_PREPARE_WORKINGCOPIES_H
#define ADJOIN_AD_PREPARE_WORKINGCOPIES_H

#include "ad/prepare/Pipelines.h"
#include "ad/rules/RuleBook.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/ValueMap.h"

namespace adjoin {

/// Invariants of a copy that get() has returned: internal, no comdat, no
/// section, never address-taken, direct calls among reachable functions with a
/// body go to copies (so a call whose callee has an original() is a call to
/// differentiate); inlined bottom-up; canonical (LoopSimplify, LCSSA, one
/// return, no critical edges but those of indirectbr); frozen: nobody changes
/// it afterwards.
class WorkingCopies {
public:
  WorkingCopies(llvm::Module &M, const RuleBook &Rules, Pipelines &Pipes);
  ~WorkingCopies();

  /// The copy of \p Original (a definition), made with all that it reaches by
  /// direct calls on first demand. Also accepts a copy, and returns it.
  llvm::Expected<llvm::Function *> get(llvm::Function &Original);

  /// The original of a copy; null for any other function.
  llvm::Function *originalOf(const llvm::Function &F) const;

  /// All functions with a body in the original program whose address is taken,
  /// in module order: the candidates of indirect calls. Computed from the
  /// originals before the first clone.
  llvm::ArrayRef<llvm::Function *> addressTaken() const { return Taken; }

  /// All copies made so far, in the order they were made.
  llvm::ArrayRef<llvm::Function *> all() const { return Made; }

  /// Erases all copies. Nothing may refer to them any more.
  void erase();

private:
  llvm::Module &M;
  const RuleBook &Rules;
  Pipelines &Pipes;
  llvm::SmallVector<llvm::Function *, 0> Taken;
  llvm::SmallVector<llvm::Function *, 0> Made;
  llvm::DenseMap<llvm::Function *, llvm::Function *> CopyOf;
  llvm::DenseMap<const llvm::Function *, llvm::Function *> Originals;
};

} // namespace adjoin

#endif
