// Interim
#include "ad/Differentiator.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Plugins/PassPlugin.h"
using namespace llvm;
using namespace adjoin;
namespace {
static bool isTag(Value *V, StringRef &N) {
  if (auto *L = dyn_cast<LoadInst>(V))
    V = L->getPointerOperand();
  if (auto *G = dyn_cast<GlobalVariable>(V))
    if (G->getName().contains("adjoin_")) {
      N = G->getName();
      return true;
    }
  return false;
}
static void run(Module &M, PassBuilder &PB, ModuleAnalysisManager &MAM) {
  SmallVector<CallInst *, 8> Calls;
  for (auto &F : M)
    for (auto &I : instructions(F))
      if (auto *C = dyn_cast<CallInst>(&I))
        if (auto *K = C->getCalledFunction())
          if (K->isDeclaration() &&
              (K->getName().contains("__adjoin_fwddiff") ||
               K->getName().contains("__adjoin_autodiff")))
            Calls.push_back(C);
  if (Calls.empty())
    return;
  Pipelines P(PB, MAM, M);
  RuleBook RB;
  Differentiator D(M, RB, P);
  SmallVector<Function *, 4> Bodies;
  LLVMContext &C = M.getContext();
  const DataLayout &DL = M.getDataLayout();
  for (auto *Call : Calls) {
    bool Rev = Call->getCalledFunction()->getName().contains("autodiff");
    unsigned A = 0;
    Value *Sret = nullptr;
    if (Call->paramHasAttr(0, Attribute::StructRet)) {
      Sret = Call->getArgOperand(0);
      A = 1;
    }
    auto *F = cast<Function>(Call->getArgOperand(A++)->stripPointerCasts());
    Request R;
    R.Primal = F;
    R.M = Rev ? Mode::Reverse : Mode::Forward;
    bool PR = false;
    StringRef T;
    SmallVector<Value *, 8> Args;
    IRBuilder<> B(Call);
    while (A < Call->arg_size() && isTag(Call->getArgOperand(A), T)) {
      if (T == "adjoin_width") {
        R.Width = cast<ConstantInt>(Call->getArgOperand(A + 1))->getZExtValue();
        A += 2;
      } else if (T == "adjoin_primal_return") {
        PR = true;
        A++;
      } else
        break;
    }
    unsigned Prm = 0;
    while (A < Call->arg_size()) {
      StringRef Tag;
      bool H = isTag(Call->getArgOperand(A), Tag);
      if (H)
        A++;
      Value *V = Call->getArgOperand(A++);
      Type *PT = F->getFunctionType()->getParamType(Prm++);
      if (V->getType() != PT && PT->isFloatTy())
        V = B.CreateFPTrunc(V, PT);
      Args.push_back(V);
      if (!H)
        Tag = PT->isIntegerTy()                  ? "adjoin_const"
              : (Rev && PT->isFloatingPointTy()) ? "adjoin_out"
                                                 : "adjoin_dup";
      if (Tag == "adjoin_const") {
        R.Args.push_back(ShadowState::Const);
        continue;
      }
      R.Args.push_back(ShadowState::Known);
      if (Tag == "adjoin_out")
        continue;
      SmallVector<Value *, 4> Ls;
      for (unsigned k = 0; k < R.Width; k++) {
        Value *S = Call->getArgOperand(A++);
        if (S->getType() != PT && PT->isFloatTy())
          S = B.CreateFPTrunc(S, PT);
        Ls.push_back(S);
      }
      Args.push_back(packLanes(B, Ls, PT));
    }
    Type *RT = F->getReturnType();
    R.ReturnActive = RT->isFPOrFPVectorTy() || (RT->isAggregateType() && !Rev);
    auto Fail = [&](Error E) {
      std::string S = toString(std::move(E));
      C.emitError(S);
      Call->replaceAllUsesWith(PoisonValue::get(Call->getType()));
      Call->eraseFromParent();
    };
    Function *Body;
    SmallVector<Value *, 4> Res;
    auto *FB = Function::Create(FunctionType::get(Type::getVoidTy(C), false),
                                GlobalValue::InternalLinkage, "x", M);
    (void)FB;
    FB->eraseFromParent();
    Value *Ctx;
    {
      IRBuilder<> E(
          &*Call->getFunction()->getEntryBlock().getFirstInsertionPt());
      Ctx = E.CreateAlloca(ArrayType::get(E.getInt64Ty(), 32));
    }
    if (!Rev) {
      auto X = D.forward(R);
      if (!X) {
        Fail(X.takeError());
        continue;
      }
      B.CreateCall(D.runtime("adjoin_rt_init"), {Ctx, B.getInt64(R.Width)});
      Args.push_back(Ctx);
      Body = X->Fn;
      auto *N = B.CreateCall(Body, Args);
      for (unsigned k = 0; k < Args.size(); k++)
        if (Body->hasParamAttribute(k, Attribute::ByVal))
          N->addParamAttrs(
              k, AttrBuilder(C, Body->getAttributes().getParamAttrs(k)));
      B.CreateCall(D.runtime("adjoin_rt_finish"), {Ctx});
      if (R.ReturnActive) {
        if (PR)
          Res.push_back(B.CreateExtractValue(N, 0));
        Res.push_back(B.CreateExtractValue(N, 1));
      } else if (PR && !RT->isVoidTy())
        Res.push_back(N);
    } else {
      auto X = D.reverse(R);
      if (!X) {
        Fail(X.takeError());
        continue;
      }
      B.CreateCall(D.runtime("adjoin_rt_init"), {Ctx, B.getInt64(R.Width)});
      auto A2 = Args;
      A2.push_back(Ctx);
      auto *N = B.CreateCall(X->Aug, A2);
      if (PR && !RT->isVoidTy())
        Res.push_back(N);
      if (R.ReturnActive)
        Args.push_back(splatLanes(B, ConstantFP::get(RT, 1.0), R.Width));
      Args.push_back(Ctx);
      auto *V = B.CreateCall(X->Rev, Args);
      B.CreateCall(D.runtime("adjoin_rt_finish"), {Ctx});
      if (auto *ST = dyn_cast<StructType>(V->getType()))
        for (unsigned k = 0; k < ST->getNumElements(); k++)
          Res.push_back(B.CreateExtractValue(V, k));
    }
    Type *Out = Sret ? nullptr : Call->getType();
    if (Sret || !Out->isVoidTy()) {
      IRBuilder<> E(
          &*Call->getFunction()->getEntryBlock().getFirstInsertionPt());
      Value *Mem = Sret ? Sret : E.CreateAlloca(Out);
      uint64_t Off = 0;
      std::function<void(Value *)> St = [&](Value *V) {
        Type *VT = V->getType();
        if (auto *S = dyn_cast<StructType>(VT)) {
          for (unsigned k = 0; k < S->getNumElements(); k++)
            St(B.CreateExtractValue(V, k));
          return;
        }
        if (auto *S = dyn_cast<ArrayType>(VT)) {
          for (unsigned k = 0; k < S->getNumElements(); k++)
            St(B.CreateExtractValue(V, k));
          return;
        }
        if (auto *VV = dyn_cast<FixedVectorType>(VT)) {
          for (unsigned k = 0; k < VV->getNumElements(); k++)
            St(B.CreateExtractElement(V, (uint64_t)k));
          return;
        }
        Off = alignTo(Off, DL.getABITypeAlign(VT));
        B.CreateAlignedStore(V, B.CreateConstGEP1_64(B.getInt8Ty(), Mem, Off),
                             Align(1));
        Off += DL.getTypeAllocSize(VT);
      };
      for (auto *V : Res)
        St(V);
      if (!Sret)
        Call->replaceAllUsesWith(B.CreateLoad(Out, Mem));
    }
    P.invalidate(*Call->getFunction());
    Call->eraseFromParent();
  }
  D.optimise({});
  D.finish();
  for (auto &F : make_early_inc_range(M))
    if (F.getName().contains("__adjoin_") && F.use_empty())
      F.eraseFromParent();
  for (auto &F : M)
    for (auto &I : make_early_inc_range(instructions(F)))
      if (isa<LoadInst>(I) && I.use_empty())
        I.eraseFromParent();
  for (auto &G : make_early_inc_range(M.globals()))
    if (G.getName().contains("adjoin_") && G.use_empty() && G.isDeclaration())
      G.eraseFromParent();
}
struct IPass : PassInfoMixin<IPass> {
  PassBuilder &PB;
  IPass(PassBuilder &PB) : PB(PB) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    ::run(M, PB, MAM);
    return PreservedAnalyses::none();
  }
};
} // namespace
extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "adjoin", "0", [](PassBuilder &PB) {
            PB.registerFullLinkTimeOptimizationEarlyEPCallback(
                [&PB](ModulePassManager &MPM, OptimizationLevel) {
                  MPM.addPass(IPass(PB));
                });
            PB.registerPipelineParsingCallback(
                [&PB](StringRef N, ModulePassManager &MPM,
                      ArrayRef<PassBuilder::PipelineElement>) {
                  if (N != "adjoin")
                    return false;
                  MPM.addPass(IPass(PB));
                  return true;
                });
          }};
}
