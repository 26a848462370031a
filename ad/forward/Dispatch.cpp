// Indirect calls: a function per signature that compares the primal address
// with the address-taken functions of the program and calls their derivatives.
#include "ad/Differentiator.h"
#include "ad/forward/ForwardEmitter.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

Expected<Function *> Differentiator::dispatcher(FunctionType *FT,
                                                ArrayRef<ShadowState> States,
                                                bool ReturnActive,
                                                std::optional<uint64_t> Slot,
                                                const Request &R) {
  Request Key;
  Key.M = R.M;
  Key.Width = R.Width;
  Key.Args.assign(States.begin(), States.end());
  Key.ReturnActive = ReturnActive;
  Key.StrongZero = R.StrongZero;
  Key.Sparse = R.Sparse;
  for (const DispatchEntry &E : Dispatchers)
    if (E.Type == FT && E.Key == Key && E.Slot == Slot)
      return E.Fn;

  PointerType *Ptr = PointerType::getUnqual(M.getContext());
  SmallVector<Type *, 16> Params{Ptr};
  for (auto [T, S] : zip_equal(FT->params(), States)) {
    Params.push_back(T);
    if (S != ShadowState::Const)
      Params.push_back(shadowType(T, R.Width));
  }
  Params.push_back(Ptr); // message
  Params.push_back(Ptr); // ctx
  Type *Ret = FT->getReturnType();
  if (ReturnActive)
    Ret = StructType::get(Ret, shadowType(Ret, R.Width));
  DispatchEntry E{
      FT, Key, Slot,
      newFunction(FunctionType::get(Ret, Params, false), "adjoin.dispatch")};
  Dispatchers.push_back(E);
  fillDispatcher(E);
  return E.Fn;
}

/// A function with a body that calls \p F: what stands for a candidate without
/// one (a library function, or one with a rule) when it is differentiated.
static Function *makeThunk(Function &F) {
  Function *Thunk =
      Function::Create(F.getFunctionType(), GlobalValue::InternalLinkage,
                       F.getName() + ".adjoin.thunk", F.getParent());
  BasicBlock *BB = BasicBlock::Create(F.getContext(), "", Thunk);
  IRBuilder<> B(BB);
  SmallVector<Value *, 8> Args;
  for (Argument &A : Thunk->args())
    Args.push_back(&A);
  CallInst *Call = B.CreateCall(&F, Args);
  Call->setCallingConv(F.getCallingConv());
  if (F.getReturnType()->isVoidTy())
    B.CreateRetVoid();
  else
    B.CreateRet(Call);
  return Thunk;
}

Function *Differentiator::bodyOf(Function &Candidate) {
  if (!Candidate.isDeclaration() && !Rules.hasRule(Candidate))
    return &Candidate;
  Function *&Thunk = Thunks[&Candidate];
  if (!Thunk)
    Thunk = makeThunk(Candidate);
  return Thunk;
}

void Differentiator::fillDispatcher(const DispatchEntry &E) {
  Function &F = *E.Fn;
  LLVMContext &C = M.getContext();
  IRBuilder<> B(BasicBlock::Create(C, "", &F));
  SmallVector<Value *, 8> Args; // of the derivatives: all but f and message
  for (unsigned I = 1; I + 2 < F.arg_size(); ++I)
    Args.push_back(F.getArg(I));
  Args.push_back(F.getArg(F.arg_size() - 1));
  auto Return = [&](Value *V) {
    if (F.getReturnType()->isVoidTy())
      B.CreateRetVoid();
    else
      B.CreateRet(V);
  };

  for (Function *Candidate : Targets.candidates(E.Type, E.Slot)) {
    Function *Body = bodyOf(*Candidate);
    Request R = E.Key;
    R.Primal = Body;
    std::string Reason;
    Expected<Derivative> Derived = [&]() -> Expected<Derivative> {
      ++Depth; // part of the request that asked for the dispatcher
      llvm::scope_exit Restore([&] { --Depth; });
      return forward(R);
    }();
    BasicBlock *Then = BasicBlock::Create(C, "", &F);
    BasicBlock *Else = BasicBlock::Create(C, "", &F);
    B.CreateCondBr(B.CreateICmpEQ(F.getArg(0), Candidate), Then, Else);
    B.SetInsertPoint(Then);
    if (Derived) {
      CallInst *Call = B.CreateCall(Derived->Fn, Args);
      for (unsigned K = 0; K != Args.size(); ++K)
        if (Derived->Fn->hasParamAttribute(K, Attribute::ByVal))
          Call->addParamAttrs(
              K, AttrBuilder(C, Derived->Fn->getAttributes().getParamAttrs(K)));
      Return(Call);
    } else {
      // Only the call that really goes there ends, with the reason.
      handleAllErrors(Derived.takeError(), [&](const Diagnostic &D) {
        if (Reason.empty())
          Reason = D.Where.str() + ": " + D.Message;
      });
      B.CreateCall(runtime("adjoin_rt_abort"),
                   {B.CreateGlobalString(Reason, "adjoin.message", 0, &M)});
      B.CreateUnreachable();
    }
    B.SetInsertPoint(Else);
  }
  B.CreateCall(runtime("adjoin_rt_abort"), {F.getArg(F.arg_size() - 2)});
  B.CreateUnreachable();
}
