// Indirect calls in reverse mode: a pair of functions per signature that
// compare the primal address with the address-taken functions of the program
// and call their augmented primals and reverse sweeps.
#include "ad/Differentiator.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

Expected<ReversePair> Differentiator::reverseDispatcher(
    FunctionType *FT, ArrayRef<ShadowState> States, bool ReturnActive,
    std::optional<uint64_t> Slot, const Request &R, Request &Key) {
  Function *&Signature = Signatures[FT];
  if (!Signature)
    Signature = Function::Create(FT, GlobalValue::ExternalLinkage,
                                 "adjoin.signature", M);
  Key = Request();
  Key.Primal = Signature;
  Key.M = Mode::Reverse;
  Key.Width = R.Width;
  Key.Args.assign(States.begin(), States.end());
  Key.ReturnActive = ReturnActive;
  Key.StrongZero = R.StrongZero;
  Key.Sparse = R.Sparse;
  for (const ReverseDispatchEntry &E : ReverseDispatchers)
    if (E.Type == FT && E.Key == Key && E.Slot == Slot)
      return E.Pair;

  PointerType *Ptr = PointerType::getUnqual(M.getContext());
  FunctionType *Aug = augmentedType(Key), *Rev = reverseType(Key);
  SmallVector<Type *, 16> AugParams{Ptr}, RevParams{Ptr};
  AugParams.append(Aug->param_begin(), Aug->param_end());
  AugParams.insert(AugParams.end() - 1, Ptr); // message
  RevParams.append(Rev->param_begin(), Rev->param_end());
  ReverseDispatchEntry E{FT, Key, Slot, {}};
  E.Pair.Aug =
      newFunction(FunctionType::get(Aug->getReturnType(), AugParams, false),
                  "adjoin.dispatch.aug");
  E.Pair.Rev =
      newFunction(FunctionType::get(Rev->getReturnType(), RevParams, false),
                  "adjoin.dispatch.rev");
  ReverseDispatchers.push_back(E);
  fillReverseDispatcher(E);
  return E.Pair;
}

static void returnCall(IRBuilder<> &B, CallInst *Call) {
  if (Call->getType()->isVoidTy())
    B.CreateRetVoid();
  else
    B.CreateRet(Call);
}

void Differentiator::fillReverseDispatcher(const ReverseDispatchEntry &E) {
  // All candidates come first: a dispatcher without a body says to those that
  // call it that nothing is known of its arguments.
  struct Choice {
    Function *Candidate;
    ReversePair Pair;
    std::string Reason;
  };
  SmallVector<Choice, 8> Choices;
  for (Function *Candidate : Targets.candidates(E.Type, E.Slot)) {
    Request R = E.Key;
    R.Primal = bodyOf(*Candidate);
    Choice C{Candidate, {}, {}};
    Expected<ReversePair> Pair = [&]() -> Expected<ReversePair> {
      ++Depth; // part of the request that asked for the dispatcher
      llvm::scope_exit Restore([&] { --Depth; });
      return reverse(R);
    }();
    if (Pair)
      C.Pair = *Pair;
    else
      // Only the call that really goes there ends, with the reason.
      handleAllErrors(Pair.takeError(), [&](const Diagnostic &D) {
        if (C.Reason.empty())
          C.Reason = D.Where.str() + ": " + D.Message;
      });
    Choices.push_back(std::move(C));
  }

  LLVMContext &Context = M.getContext();
  for (bool Sweep : {false, true}) {
    Function &F = Sweep ? *E.Pair.Rev : *E.Pair.Aug;
    IRBuilder<> B(BasicBlock::Create(Context, "", &F));
    SmallVector<Value *, 8> Args;
    for (unsigned I = 1, N = F.arg_size(); I != N; ++I)
      if (Sweep || I != N - 2) // the message
        Args.push_back(F.getArg(I));
    for (const Choice &C : Choices) {
      BasicBlock *Then = BasicBlock::Create(Context, "", &F);
      BasicBlock *Else = BasicBlock::Create(Context, "", &F);
      B.CreateCondBr(B.CreateICmpEQ(F.getArg(0), C.Candidate), Then, Else);
      B.SetInsertPoint(Then);
      if (C.Pair.Aug) {
        returnCall(B, B.CreateCall(Sweep ? C.Pair.Rev : C.Pair.Aug, Args));
      } else {
        if (!Sweep)
          B.CreateCall(
              runtime("adjoin_rt_abort"),
              {B.CreateGlobalString(C.Reason, "adjoin.message", 0, &M)});
        B.CreateUnreachable();
      }
      B.SetInsertPoint(Else);
    }
    if (!Sweep)
      B.CreateCall(runtime("adjoin_rt_abort"), {F.getArg(F.arg_size() - 2)});
    B.CreateUnreachable();
  }
}
