// LLVM's own pass pipelines, as the differentiator runs them on single
// functions.
#ifndef ADJOIN_AD_PREPARE_PIPELINES_H
#define ADJOIN_AD_PREPARE_PIPELINES_H

#include "llvm/Passes/PassBuilder.h"

namespace adjoin {

/// Function pipelines over a module whose analyses \p MAM holds. Never runs a
/// module pass.
class Pipelines {
public:
  Pipelines(llvm::PassBuilder &PB, llvm::ModuleAnalysisManager &MAM,
            llvm::Module &M);

  /// SROA, early CSE, instcombine and CFG clean-up, no loop is touched: enough
  /// to see the constants that a marker call takes.
  void resolve(llvm::Function &F);
  /// The O2 function simplification pipeline: for working copies.
  void simplify(llvm::Function &F);
  /// The O3 function simplification pipeline: for what was emitted.
  void optimise(llvm::Function &F);
  /// One return, LoopSimplify, critical edges split (not those of indirectbr,
  /// callbr and to EH pads), LCSSA: the form in which a
  /// working copy is frozen.
  void canonicalise(llvm::Function &F);

  llvm::FunctionAnalysisManager &analyses() { return FAM; }
  /// Forget what is known about \p F after it was changed by hand.
  void invalidate(llvm::Function &F);

private:
  llvm::FunctionAnalysisManager &FAM;
  llvm::FunctionPassManager Resolve, Simplify, Optimise, Canonicalise;
};

} // namespace adjoin

#endif
