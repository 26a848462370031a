// Forward mode: calls. Derived callees, dispatch of indirect calls, custom
// rules, intrinsics.
#include "ad/forward/ForwardEmitter.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

CallBase *ForwardEmitter::replaceCall(const CallBase &I, FunctionCallee Fn,
                                      ArrayRef<Value *> Args) {
  auto *Old = cast<CallBase>(primal(&I));
  SmallVector<OperandBundleDef, 1> Bundles;
  Old->getOperandBundlesAsDefs(Bundles);
  CallBase *New;
  B.SetInsertPoint(Old);
  B.SetCurrentDebugLocation(Old->getDebugLoc());
  if (auto *Invoke = dyn_cast<InvokeInst>(Old))
    New = B.CreateInvoke(Fn, Invoke->getNormalDest(), Invoke->getUnwindDest(),
                         Args, Bundles);
  else
    New = B.CreateCall(Fn, Args, Bundles);
  if (auto *F = dyn_cast<Function>(Fn.getCallee()))
    New->setCallingConv(F->getCallingConv());
  return New;
}

void ForwardEmitter::takeResults(const CallBase &I, CallBase &New,
                                 bool WithShadow) {
  auto *Old = cast<CallBase>(primal(&I));
  if (auto *Invoke = dyn_cast<InvokeInst>(&New))
    B.SetInsertPoint(Invoke->getNormalDest(),
                     Invoke->getNormalDest()->getFirstInsertionPt());
  else
    B.SetInsertPoint(New.getParent(), std::next(New.getIterator()));
  Value *Result = &New;
  if (WithShadow)
    Result = B.CreateExtractValue(&New, 0, I.getName());
  if (!I.getType()->isVoidTy())
    Old->replaceAllUsesWith(Result);
  VMap[&I] = Result;
  if (WithShadow)
    setShadow(&I, B.CreateExtractValue(&New, 1, I.getName() + ".t"));
  else if (isActive(&I) && !I.getType()->isVoidTy())
    setShadow(&I, constShadow(&I));
  Old->eraseFromParent();
}

SmallVector<Value *, 8>
ForwardEmitter::derivedArguments(const CallBase &I,
                                 ArrayRef<ShadowState> States) {
  SmallVector<Value *, 8> Args;
  const Function *Callee = I.getCalledFunction();
  if (Callee && Callee->arg_size() < States.size())
    Callee = nullptr;
  for (unsigned K = 0; K != States.size(); ++K) {
    Value *Arg = I.getArgOperand(K);
    Args.push_back(primal(Arg));
    if (States[K] != ShadowState::Const)
      Args.push_back(shadow(Arg, Callee ? Callee->getArg(K) : nullptr));
  }
  return Args;
}

Request ForwardEmitter::calleeRequest(const CallBase &I, Function &Callee) {
  Request Q;
  Q.Primal = &Callee;
  Q.M = Mode::Forward;
  Q.Width = W;
  Q.Args = Facts.argumentStates(I);
  Q.ReturnActive = !I.getType()->isVoidTy() && isActive(&I);
  Q.StrongZero = R.StrongZero;
  Q.Sparse = R.Sparse;
  return Q;
}

Error ForwardEmitter::visitDerived(CallBase &I) {
  Function *Callee = I.getCalledFunction();
  if (Callee->isVarArg())
    return diagnose(I, Twine("cannot differentiate call of ") +
                           quotedName(*Callee) +
                           ": it takes a variable number of arguments");
  if (I.isMustTailCall())
    cast<CallInst>(primal(&I))->setTailCallKind(CallInst::TCK_None);
  Request Q = calleeRequest(I, *Callee);
  Expected<Derivative> Derived = D.forward(Q);
  if (!Derived)
    return withNote(Derived.takeError(),
                    Twine("needed for the derivative of ") +
                        quotedName(*Callee) + " called at " +
                        SourcePlace::of(I).str());
  placeBefore(I);
  SmallVector<Value *, 8> Args = derivedArguments(I, Q.Args);
  // Whether the callee needs the context is not known while it is being
  // emitted (recursion): the own one is passed, it costs nothing.
  Args.push_back(Target.getArg(Target.arg_size() - 1));
  UsesContext |= Derived->NeedsContext || R.Sparse;
  CallBase *New = replaceCall(I, Derived->Fn, Args);
  for (unsigned K = 0, To = 0; K != Q.Args.size(); ++K) {
    // byval and alignment are part of the call.
    unsigned Count = Q.Args[K] == ShadowState::Const ? 1 : 2;
    for (unsigned J = 0; J != Count; ++J, ++To)
      if (Derived->Fn->hasParamAttribute(To, Attribute::ByVal))
        New->addParamAttrs(
            To, AttrBuilder(I.getContext(),
                            Derived->Fn->getAttributes().getParamAttrs(To)));
  }
  takeResults(I, *New, Q.ReturnActive);
  return Error::success();
}

Error ForwardEmitter::visitIndirect(CallBase &I) {
  FunctionType *FT = I.getFunctionType();
  if (FT->isVarArg())
    return diagnose(I, "cannot differentiate an indirect call with a variable "
                       "number of arguments");
  SmallVector<ShadowState, 8> States = Facts.argumentStates(I);
  bool ReturnActive = !I.getType()->isVoidTy() && isActive(&I);
  Expected<Function *> Dispatcher =
      D.dispatcher(FT, States, ReturnActive, tableSlot(I), R);
  if (!Dispatcher)
    return Dispatcher.takeError();
  placeBefore(I);
  SmallVector<Value *, 8> Args = derivedArguments(I, States);
  Args.insert(Args.begin(), primal(I.getCalledOperand()));
  Args.push_back(B.CreateGlobalString(
      "cannot differentiate the indirect call at " + SourcePlace::of(I).str() +
          " in '" + SourcePlace::of(I).Function +
          "': the function that it reaches has no derivative in this program",
      "adjoin.message", 0, &D.module()));
  Args.push_back(Target.getArg(Target.arg_size() - 1));
  UsesContext = true;
  CallBase *New = replaceCall(I, *Dispatcher, Args);
  takeResults(I, *New, ReturnActive);
  return Error::success();
}

Error ForwardEmitter::visitCustom(CallBase &I, const CallClass &C) {
  Function *Rule = C.User->Forward;
  Value *Callee = I.getCalledOperand();
  if (!Rule)
    return diagnose(I, Twine("cannot differentiate call of ") +
                           quotedName(*Callee) +
                           " in forward mode: it has a registered gradient "
                           "but no registered derivative");
  if (W != 1)
    return diagnose(I, Twine("cannot use the registered derivative of ") +
                           quotedName(*Callee) + " in vector mode");
  placeBefore(I);
  SmallVector<Value *, 8> Args;
  for (Value *Arg : I.args()) {
    Args.push_back(primal(Arg));
    Type *T = Arg->getType();
    if (T->isPointerTy())
      // The shadow of an inactive pointer is null (interface.md, section 9).
      Args.push_back(isActive(Arg) ? shadow(Arg) : Constant::getNullValue(T));
    else if (T->isFPOrFPVectorTy() || T->isAggregateType())
      Args.push_back(shadow(Arg));
  }
  FunctionType *FT = Rule->getFunctionType();
  Type *T = I.getType();
  bool Two = T->isFPOrFPVectorTy() || T->isPointerTy();
  // {value, shadow} in memory, read from the bytes that the rule returns.
  Type *Pair = Two ? static_cast<Type *>(StructType::get(T, T)) : T;
  IRBuilder<> AtEntry(&Target.getEntryBlock(), Target.getEntryBlock().begin());
  AllocaInst *Slot = nullptr;
  bool SRet = Rule->hasParamAttribute(0, Attribute::StructRet);
  uint64_t Bytes = Two ? DL.getTypeAllocSize(Pair).getFixedValue() : 0;
  if (Two) {
    uint64_t Room = Bytes;
    if (!SRet && !FT->getReturnType()->isVoidTy())
      Room = std::max<uint64_t>(
          Room, DL.getTypeAllocSize(FT->getReturnType()).getFixedValue());
    Slot = AtEntry.CreateAlloca(ArrayType::get(B.getInt8Ty(), Room));
    Slot->setAlignment(Align(16));
    if (SRet)
      Args.insert(Args.begin(), Slot);
  }
  bool Fits = FT->getNumParams() == Args.size() && !FT->isVarArg();
  for (unsigned K = 0; Fits && K != Args.size(); ++K)
    Fits = FT->getParamType(K) == Args[K]->getType();
  if (Two && !SRet)
    Fits &= !FT->getReturnType()->isVoidTy() &&
            DL.getTypeStoreSize(FT->getReturnType()).getFixedValue() >=
                DL.getTypeStoreSize(Pair).getFixedValue();
  if (!Two && T != FT->getReturnType())
    Fits = false;
  if (!Fits)
    return diagnose(I, Twine("the registered derivative ") + quotedName(*Rule) +
                           " of " + quotedName(*Callee) +
                           " does not have the signature of a derivative: "
                           "each float and pointer parameter is followed by "
                           "its tangent, and a float result comes as "
                           "{value, tangent}");
  CallBase *New = replaceCall(I, Rule, Args);
  New->setAttributes(AttributeList::get(
      I.getContext(), AttributeSet(), AttributeSet(),
      SRet ? ArrayRef<AttributeSet>(Rule->getAttributes().getParamAttrs(0))
           : ArrayRef<AttributeSet>()));
  if (!Two) {
    takeResults(I, *New, false);
    return Error::success();
  }
  if (auto *Invoke = dyn_cast<InvokeInst>(New))
    B.SetInsertPoint(Invoke->getNormalDest(),
                     Invoke->getNormalDest()->getFirstInsertionPt());
  else
    B.SetInsertPoint(New->getParent(), std::next(New->getIterator()));
  if (!SRet)
    B.CreateStore(New, Slot);
  auto *PairStruct = cast<StructType>(Pair);
  Value *First = B.CreateLoad(T, Slot);
  Value *Second = B.CreateLoad(T, B.CreateStructGEP(PairStruct, Slot, 1));
  auto *Old = cast<CallBase>(primal(&I));
  Old->replaceAllUsesWith(First);
  VMap[&I] = First;
  Old->eraseFromParent();
  if (isActive(&I))
    setShadow(&I, Second);
  return Error::success();
}

Error ForwardEmitter::visitIntrinsic(IntrinsicInst &I) {
  switch (I.getIntrinsicID()) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
  case Intrinsic::masked_expandload:
  case Intrinsic::masked_compressstore:
    return visitMasked(I);
  default:
    break;
  }
  bool AnyActive = isActive(&I);
  for (Value *Arg : I.args())
    AnyActive |= !isa<MetadataAsValue>(Arg) && isActive(Arg);
  if (!AnyActive)
    return Error::success();
  switch (I.getIntrinsicID()) {
  // Linear in the vector: the same operation on the shadow, lane by lane.
  case Intrinsic::vector_reduce_fadd: {
    placeAfter(I);
    Value *Start = I.getArgOperand(0), *Vec = I.getArgOperand(1);
    SmallVector<Value *, 2> Moving{Start};
    if (Vec != Start)
      Moving.push_back(Vec);
    setShadow(&I, perLane(I, Moving));
    return Error::success();
  }
  case Intrinsic::vector_reverse:
  case Intrinsic::vector_deinterleave2:
  case Intrinsic::vector_extract:
  case Intrinsic::ptrmask:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ssa_copy:
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::ptr_annotation:
  case Intrinsic::annotation:
  case Intrinsic::preserve_array_access_index:
  case Intrinsic::preserve_struct_access_index:
    placeAfter(I);
    setShadow(&I, perLane(I, {I.getArgOperand(0)}));
    return Error::success();
  case Intrinsic::vector_insert:
  case Intrinsic::vector_interleave2: {
    placeAfter(I);
    SmallVector<Value *, 2> Moving{I.getArgOperand(0)};
    if (I.getArgOperand(1) != I.getArgOperand(0))
      Moving.push_back(I.getArgOperand(1));
    setShadow(&I, perLane(I, Moving));
    return Error::success();
  }
  case Intrinsic::vector_reduce_fmul:
  case Intrinsic::vector_reduce_fmax:
  case Intrinsic::vector_reduce_fmin:
  case Intrinsic::vector_reduce_fmaximum:
  case Intrinsic::vector_reduce_fminimum:
    return visitReduction(I);
  // One of two integers: a select, whatever their bytes are.
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::umax:
  case Intrinsic::umin: {
    placeAfter(I);
    Value *L = I.getArgOperand(0), *Rt = I.getArgOperand(1);
    Value *Left = B.CreateICmp(cast<MinMaxIntrinsic>(I).getPredicate(),
                               primal(L), primal(Rt));
    setShadow(&I, mapLanes(B, {shadow(L, &I), shadow(Rt, &I)},
                           {L->getType(), L->getType()}, L->getType(), W,
                           [&](ArrayRef<Value *> Lane) {
                             return B.CreateSelect(Left, Lane[0], Lane[1]);
                           }));
    return Error::success();
  }
  default:
    break;
  }
  // Arithmetic of integers.
  if (!isActive(&I) && I.getType()->isIntOrIntVectorTy() &&
      I.doesNotAccessMemory())
    return Error::success();
  return diagnose(I, Twine("cannot differentiate the intrinsic '") +
                         I.getCalledFunction()->getName() + "' on active data");
}

/// Product and extreme reductions, element by element.
Error ForwardEmitter::visitReduction(IntrinsicInst &I) {
  placeAfter(I);
  bool Product = I.getIntrinsicID() == Intrinsic::vector_reduce_fmul;
  Value *Vec = I.getArgOperand(Product ? 1 : 0);
  auto *VT = dyn_cast<FixedVectorType>(Vec->getType());
  if (!VT)
    return diagnose(I, "cannot differentiate a scalable vector");
  Type *T = I.getType();
  Value *P = primal(Vec), *S = shadow(Vec);
  SmallVector<Value *, 4> LaneVectors = lanesOf(B, S, VT, W);
  auto TangentAt = [&](unsigned E) {
    SmallVector<Value *, 4> Lanes;
    for (Value *L : LaneVectors)
      Lanes.push_back(B.CreateExtractElement(L, uint64_t(E)));
    return packLanes(B, Lanes, T);
  };
  FastMathFlags FMF = I.getFastMathFlags();
  FMF.setNoNaNs(false);
  FMF.setNoInfs(false);
  IRBuilder<>::FastMathFlagGuard Guard(B);
  B.setFastMathFlags(FMF);
  if (Product) {
    // d(ab) = a db + b da, folded over the elements.
    Value *Acc = primal(I.getArgOperand(0));
    Value *Tangent = shadow(I.getArgOperand(0));
    for (unsigned E = 0; E != VT->getNumElements(); ++E) {
      Value *X = B.CreateExtractElement(P, uint64_t(E));
      Tangent = B.CreateFAdd(B.CreateFMul(Tangent, tile(B, X, W)),
                             B.CreateFMul(TangentAt(E), tile(B, Acc, W)));
      Acc = B.CreateFMul(Acc, X);
    }
    setShadow(&I, Tangent);
    return Error::success();
  }
  // The element that is returned carries the derivative; on a tie the first.
  Value *Out = primal(&I);
  Value *Tangent = TangentAt(VT->getNumElements() - 1);
  for (unsigned E = VT->getNumElements() - 1; E-- != 0;)
    Tangent = B.CreateSelect(
        B.CreateFCmpOEQ(B.CreateExtractElement(P, uint64_t(E)), Out),
        TangentAt(E), Tangent);
  setShadow(&I, Tangent);
  return Error::success();
}

Error ForwardEmitter::visitCall(CallBase &I) {
  CallClass C = classifyCall(I, D.rules());
  switch (C.K) {
  case CallClass::Inactive:
  case CallClass::NoReturn:
    return Error::success();
  case CallClass::Scalar:
    return isActive(&I) ? visitScalar(I, *C.Rule) : Error::success();
  case CallClass::Allocate:
    return visitAllocate(I, C);
  case CallClass::Reallocate:
    return visitReallocate(I, C);
  case CallClass::Free:
    return visitFree(I, C);
  case CallClass::Transfer:
    return visitTransfer(I, C);
  case CallClass::Fill:
    return visitFill(I, C);
  case CallClass::Custom:
    return visitCustom(I, C);
  case CallClass::Multi:
    return visitMulti(I, C);
  case CallClass::Intrinsic:
    return visitIntrinsic(cast<IntrinsicInst>(I));
  case CallClass::Derive:
  case CallClass::Indirect:
  case CallClass::Assembly:
  case CallClass::Unknown:
    break;
  }
  // A call that reaches no active data runs as in the primal.
  if (!Facts.mayTouchActive(I))
    return Error::success();
  switch (C.K) {
  case CallClass::Derive:
    return visitDerived(I);
  case CallClass::Indirect:
    return visitIndirect(I);
  case CallClass::Assembly:
    return diagnose(I, "cannot differentiate inline assembly on an active "
                       "path");
  default:
    break;
  }
  Error E = diagnose(I, Twine("cannot differentiate call of ") +
                            quotedName(*I.getCalledOperand()) +
                            ": it has no IR in this link and no rule");
  return E;
}
