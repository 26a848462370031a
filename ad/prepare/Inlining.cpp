// Inlining into one function by LLVM's cost model.
#include "ad/prepare/Inlining.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace adjoin;

bool adjoin::inlineCalls(Function &Caller,
                         function_ref<bool(const Function &)> Candidate,
                         unsigned SizeLimit, Pipelines &Pipes) {
  FunctionAnalysisManager &FAM = Pipes.analyses();
  auto Assumptions = [&](Function &F) -> AssumptionCache & {
    return FAM.getResult<AssumptionAnalysis>(F);
  };
  auto Library = [&](Function &F) -> const TargetLibraryInfo & {
    return FAM.getResult<TargetLibraryAnalysis>(F);
  };
  auto Frequencies = [&](Function &F) -> BlockFrequencyInfo & {
    return FAM.getResult<BlockFrequencyAnalysis>(F);
  };
  const InlineParams Params = getInlineParams(/*OptLevel=*/3, 0);

  // Decide on the caller as it is, with its analyses still valid.
  SmallVector<std::pair<CallBase *, bool>, 8> Worth;
  for (BasicBlock &BB : Caller)
    for (Instruction &I : BB) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || isa<CallBrInst>(Call))
        continue;
      Function *Callee = Call->getCalledFunction();
      if (!Callee || Callee == &Caller || Callee->isDeclaration() ||
          !Candidate(*Callee))
        continue;
      InlineCost Cost =
          getInlineCost(*Call, Params, FAM.getResult<TargetIRAnalysis>(*Callee),
                        Assumptions, Library, Frequencies);
      if (Cost)
        Worth.emplace_back(Call, Cost.isAlways());
    }

  bool Changed = false;
  unsigned Size = Worth.empty() ? 0 : Caller.getInstructionCount();
  for (auto [Call, Always] : Worth) {
    Function *Callee = Call->getCalledFunction();
    unsigned CalleeSize = Callee->getInstructionCount();
    if (!Always && Size + CalleeSize > SizeLimit)
      continue;
    InlineFunctionInfo Info(Assumptions, nullptr, nullptr, nullptr,
                            /*UpdateProfile=*/false);
    if (!InlineFunction(*Call, Info, /*MergeAttributes=*/true,
                        &FAM.getResult<AAManager>(*Callee))
             .isSuccess())
      continue;
    Size += CalleeSize;
    Changed = true;
  }
  if (Changed)
    Pipes.invalidate(Caller);
  return Changed;
}
