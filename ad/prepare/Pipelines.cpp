// LLVM's own pass pipelines, run on single functions.
#include "ad/prepare/Pipelines.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/BreakCriticalEdges.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;
using namespace adjoin;

namespace {

/// Merges all returns into one block. Unlike LLVM's UnifyFunctionExitNodes it
/// leaves unreachable blocks alone: each stays next to the call that does not
/// return. A return behind a musttail call cannot move.
struct OneReturnPass : PassInfoMixin<OneReturnPass> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    bool Changed = EliminateUnreachableBlocks(F);
    SmallVector<ReturnInst *, 4> Returns;
    for (BasicBlock &BB : F)
      if (auto *R = dyn_cast<ReturnInst>(BB.getTerminator()))
        if (!BB.getTerminatingMustTailCall() &&
            !BB.getTerminatingDeoptimizeCall())
          Returns.push_back(R);
    if (Returns.size() > 1) {
      merge(F, Returns);
      Changed = true;
    }
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }

  static bool isRequired() { return true; }

private:
  static void merge(Function &F, ArrayRef<ReturnInst *> Returns) {
    LLVMContext &Ctx = F.getContext();
    BasicBlock *Exit = BasicBlock::Create(Ctx, "return", &F);
    PHINode *Result = nullptr;
    if (!F.getReturnType()->isVoidTy())
      Result =
          PHINode::Create(F.getReturnType(), Returns.size(), "result", Exit);
    ReturnInst *Only = ReturnInst::Create(Ctx, Result, Exit);
    Only->setDebugLoc(Returns.back()->getDebugLoc());
    for (ReturnInst *R : Returns) {
      BasicBlock *BB = R->getParent();
      if (Result)
        Result->addIncoming(R->getReturnValue(), BB);
      BranchInst *Jump = BranchInst::Create(Exit, BB);
      Jump->setDebugLoc(R->getDebugLoc());
      R->eraseFromParent();
    }
  }
};

} // namespace

Pipelines::Pipelines(PassBuilder &PB, ModuleAnalysisManager &MAM, Module &M)
    : FAM(MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager()),
      Simplify(PB.buildFunctionSimplificationPipeline(
          OptimizationLevel::O2, ThinOrFullLTOPhase::None)),
      Optimise(PB.buildFunctionSimplificationPipeline(
          OptimizationLevel::O3, ThinOrFullLTOPhase::None)) {
  Resolve.addPass(SROAPass(SROAOptions::ModifyCFG));
  Resolve.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Resolve.addPass(InstCombinePass());
  Resolve.addPass(SimplifyCFGPass());
  Resolve.addPass(SROAPass(SROAOptions::ModifyCFG));
  Resolve.addPass(InstCombinePass());

  Canonicalise.addPass(OneReturnPass());
  Canonicalise.addPass(LoopSimplifyPass());
  // Splitting an edge that leaves a loop would put a use outside of it, so
  // LCSSA comes last; it adds phis only.
  Canonicalise.addPass(BreakCriticalEdgesPass());
  Canonicalise.addPass(LCSSAPass());
}

void Pipelines::resolve(Function &F) { Resolve.run(F, FAM); }
void Pipelines::simplify(Function &F) { Simplify.run(F, FAM); }
void Pipelines::optimise(Function &F) { Optimise.run(F, FAM); }
void Pipelines::canonicalise(Function &F) { Canonicalise.run(F, FAM); }

void Pipelines::invalidate(Function &F) {
  FAM.invalidate(F, PreservedAnalyses::none());
}
