// The augmented primal: shadow memory and calls.
#include "ad/plan/Bytes.h"
#include "ad/plan/Intrinsics.h"
#include "ad/reverse/ArenaObjects.h"
#include "ad/reverse/Augment.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace adjoin;

void AugmentEmitter::visitLoad(LoadInst &I) {
  if (!S.hasShadow(&I))
    return;
  placeAfter(I);
  Type *T = I.getType();
  const Value *Ptr = I.getPointerOperand();
  uint64_t Size = DL.getTypeStoreSize(T).getFixedValue();
  SmallVector<Value *, 4> Lanes;
  for (unsigned K = 0; K != W; ++K) {
    // The shadow of constant memory is that memory: what is read there are the
    // pointers themselves, constant too.
    Value *Address = laneOf(B, shadow(Ptr), K, Ptr->getType(), W);
    if (S.isSparse(Ptr))
      Address = B.CreateCall(
          D.runtime("adjoin_rt_shadow_read_pointer"),
          {context(), primal(Ptr), Address, B.getInt64(Size), B.getInt64(K)});
    Value *Loaded =
        B.CreateAlignedLoad(T, Address, I.getAlign(), I.getName() + ".s");
    Lanes.push_back(normalisedShadow(B, Loaded, primal(&I)));
  }
  setShadow(&I, packLanes(B, Lanes, T));
}

Value *AugmentEmitter::sink(uint64_t Size) {
  if (Sink && SinkSize >= Size)
    return Sink;
  SinkSize = std::max<uint64_t>(64, PowerOf2Ceil(Size));
  IRBuilder<> AtEntry(&Target.getEntryBlock(), Target.getEntryBlock().begin());
  Sink = AtEntry.CreateAlloca(ArrayType::get(B.getInt8Ty(), SinkSize), nullptr,
                              "sink");
  Sink->setAlignment(Align(64));
  return Sink;
}

void AugmentEmitter::visitStore(StoreInst &I) {
  const Value *Ptr = I.getPointerOperand();
  const Value *V = I.getValueOperand();
  if (!S.mayHaveShadow(Ptr))
    return;
  bool Pointers = S.storesPointers(I);
  bool Sparse = S.isSparse(Ptr);
  // Where active floats are stored there has to be a sparse shadow, or the
  // loads before it would not find their adjoints.
  if (!Pointers && !(Sparse && S.hasAdjoint(V)))
    return;
  placeAfter(I);
  Type *T = V->getType();
  uint64_t Size = DL.getTypeStoreSize(T).getFixedValue();
  SmallVector<Value *, 4> Old;
  for (unsigned K = 0; K != W; ++K) {
    Value *Address = laneOf(B, shadow(Ptr), K, Ptr->getType(), W);
    if (Sparse)
      Address = B.CreateCall(
          D.runtime(S.isActive(V) ? "adjoin_rt_shadow_write"
                                  : "adjoin_rt_shadow_clear"),
          {context(), primal(Ptr), Address, B.getInt64(Size), B.getInt64(K)});
    else if (S.state(Ptr) == ShadowState::Maybe)
      Address = B.CreateSelect(B.CreateICmpEQ(Address, primal(Ptr)), sink(Size),
                               Address);
    if (!Pointers)
      continue;
    Old.push_back(B.CreateAlignedLoad(T, Address, I.getAlign(), "old"));
    storePointers(B, laneOf(B, shadow(V), K, T, W), Address, I.getAlign(), DL);
  }
  if (Pointers)
    Extras[&I] = packLanes(B, Old, T);
}

Value *AugmentEmitter::freshShadows(Value *Size, Value *Memory, Type *T) {
  SmallVector<Value *, 4> Lanes;
  Value *Stride = arenaStride(B, Size);
  for (unsigned K = 0; K != W; ++K)
    Lanes.push_back(
        K == 0 ? Memory
               : B.CreatePtrAdd(Memory, B.CreateMul(Stride, B.getInt64(K))));
  Value *Total = B.CreateMul(Stride, B.getInt64(W));
  B.CreateMemSet(Memory, B.getInt8(0), Total, Align(16));
  return packLanes(B, Lanes, T);
}

void AugmentEmitter::visitAlloca(AllocaInst &I) {
  if (!S.isActive(&I))
    return;
  // The object and its shadows stay until the reverse sweep has passed: one
  // object of the arena, the primal first.
  placeBefore(I);
  auto *Old = cast<AllocaInst>(primal(&I));
  Value *Stride = arenaStride(B, allocaSize(B, I, primal(I.getArraySize())));
  Value *Memory = push(arenaSize(B, I, Stride, W), I.getName());
  if (I.getAlign() > Align(16)) {
    uint64_t A = I.getAlign().value();
    Memory = B.CreatePtrAdd(Memory, B.getInt64(A - 1));
    Memory = B.CreateIntrinsic(Intrinsic::ptrmask,
                               {Memory->getType(), B.getInt64Ty()},
                               {Memory, B.getInt64(~(A - 1))});
  }
  // Lifetimes may only be told of allocas.
  SmallVector<Instruction *, 4> Markers;
  for (User *U : Old->users())
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(U);
        Intrinsic && Intrinsic->isLifetimeStartOrEnd())
      Markers.push_back(Intrinsic);
  for (Instruction *Marker : Markers)
    Marker->eraseFromParent();
  Value *First = B.CreatePtrAdd(Memory, Stride, I.getName() + ".s");
  Value *Shadow = freshShadows(Stride, First, I.getType());
  Old->replaceAllUsesWith(Memory);
  VMap[&I] = Memory;
  Old->eraseFromParent();
  setShadow(&I, Shadow);
}

void AugmentEmitter::visitAllocate(CallBase &I, const CallSite &Site) {
  const CallClass &C = Site.Class;
  placeAfter(I);
  Value *Size;
  if (std::optional<uint64_t> Fixed = fixedSize(S, I, C)) {
    Size = B.getInt64(*Fixed);
  } else {
    Size = bytesOf(B, I, C, [&](const Value *V) { return primal(V); });
    if (!I.getAttributes().hasRetAttr(Attribute::NonNull))
      Size = B.CreateSelect(B.CreateIsNull(primal(&I)), B.getInt64(0), Size);
  }
  Value *Stride = arenaStride(B, Size);
  Value *Total = B.CreateMul(Stride, B.getInt64(W));
  setShadow(&I,
            freshShadows(Stride, push(Total, I.getName() + ".s"), I.getType()));
  Extras[&I] = Total;
}

/// The shadow part of a call that moves or fills bytes: the pointers.
Error AugmentEmitter::visitTransfer(CallBase &I, const CallClass &C) {
  const Value *Dst = I.getArgOperand(C.PointerArg);
  placeAfter(I);
  // A library call returns its destination (mempcpy: its end).
  if (S.hasShadow(&I))
    setShadow(&I, mapLanes(B, {shadow(Dst)}, {Dst->getType()}, I.getType(), W,
                           [&](ArrayRef<Value *> Lane) {
                             return B.CreatePtrAdd(
                                 Lane[0],
                                 B.CreatePtrDiff(B.getInt8Ty(), primal(&I),
                                                 primal(Dst)));
                           }));
  ByteLayout Layout = layoutOf(S, I, C);
  if (Layout.Unclear)
    return diagnose(I, "cannot tell the floating-point values from the "
                       "pointers in the memory that is copied here");
  if (!S.mayHaveShadow(Dst))
    return Error::success();
  const Value *Src = C.K == CallClass::Transfer && C.SourceArg >= 0
                         ? I.getArgOperand(C.SourceArg)
                         : nullptr;
  bool Sparse = S.isSparse(Dst) || (Src && S.isSparse(Src));
  if (Layout.Pointers.empty() && !Sparse)
    return Error::success();
  Value *N = bytesOf(B, I, C, [&](const Value *V) { return primal(V); });
  auto LaneOf = [&](const Value *Ptr, unsigned K) {
    return laneOf(B, shadow(Ptr), K, Ptr->getType(), W);
  };
  if (Sparse && !Layout.Pointers.empty() && !Layout.Floats.empty())
    return diagnose(I, "cannot tell the floating-point values from the "
                       "pointers in the memory that is copied here");
  bool Saves = savesPointers(S, I, C, Layout);
  Value *Stride = arenaStride(B, N);
  Value *Saved =
      Saves ? push(B.CreateMul(Stride, B.getInt64(W)), "saved") : nullptr;
  for (unsigned K = 0; K != W; ++K) {
    Value *To = LaneOf(Dst, K);
    if (S.isSparse(Dst))
      To = B.CreateCall(D.runtime("adjoin_rt_shadow_write"),
                        {context(), primal(Dst), To, N, B.getInt64(K)});
    Value *Length = N;
    if (S.state(Dst) == ShadowState::Maybe && !S.R.Sparse)
      Length =
          B.CreateSelect(B.CreateICmpEQ(To, primal(Dst)), B.getInt64(0), N);
    if (Saves)
      B.CreateMemCpy(B.CreatePtrAdd(Saved, B.CreateMul(Stride, B.getInt64(K))),
                     Align(16), To, MaybeAlign(), Length);
    if (Sparse && Src && !Layout.Pointers.empty()) {
      B.CreateCall(D.runtime("adjoin_rt_shadow_copy"),
                   {context(), primal(Dst), LaneOf(Dst, K), primal(Src),
                    LaneOf(Src, K), N, B.getInt64(K), B.getInt32(1)});
      continue;
    }
    for (const BytePiece &Piece : Layout.Pointers) {
      Value *Bytes = Length, *At = To;
      if (Piece.End != BytePiece::Whole) {
        Bytes = B.getInt64(Piece.End - Piece.Begin);
        if (S.state(Dst) == ShadowState::Maybe && !S.R.Sparse)
          Bytes = B.CreateSelect(B.CreateICmpEQ(To, primal(Dst)), B.getInt64(0),
                                 Bytes);
        At = B.CreateConstGEP1_64(B.getInt8Ty(), To, Piece.Begin);
      }
      if (!Src) {
        Value *Byte =
            C.SourceArg >= 0
                ? B.CreateZExtOrTrunc(primal(I.getArgOperand(C.SourceArg)),
                                      B.getInt8Ty())
                : B.getInt8(0);
        B.CreateMemSet(At, Byte, Bytes, MaybeAlign());
        continue;
      }
      // The shadow of constant memory is that memory.
      Value *From = LaneOf(Src, K);
      if (Piece.End != BytePiece::Whole)
        From = B.CreateConstGEP1_64(B.getInt8Ty(), From, Piece.Begin);
      B.CreateMemMove(At, MaybeAlign(), From, MaybeAlign(), Bytes);
    }
  }
  return Error::success();
}

void AugmentEmitter::visitDerived(CallBase &I, const CallSite &Site) {
  placeBefore(I);
  auto *Old = cast<CallBase>(primal(&I));
  SmallVector<Value *, 8> Args;
  bool Indirect = Site.Class.K == CallClass::Indirect;
  if (Indirect)
    Args.push_back(primal(I.getCalledOperand()));
  for (unsigned K = 0; K != I.arg_size(); ++K) {
    Args.push_back(primal(I.getArgOperand(K)));
    if (hasShadowParameter(Site.Q, K))
      Args.push_back(shadow(I.getArgOperand(K)));
  }
  if (Indirect)
    Args.push_back(B.CreateGlobalString(
        "cannot differentiate the indirect call at " +
            SourcePlace::of(I).str() + " in '" + SourcePlace::of(I).Function +
            "': the function that it reaches has no derivative in this program",
        "adjoin.message", 0, &D.module()));
  Args.push_back(context());
  SmallVector<OperandBundleDef, 1> Bundles;
  Old->getOperandBundlesAsDefs(Bundles);
  CallBase *New;
  if (auto *Invoke = dyn_cast<InvokeInst>(Old)) {
    New = B.CreateInvoke(Site.Pair.Aug, Invoke->getNormalDest(),
                         Invoke->getUnwindDest(), Args, Bundles);
    B.SetInsertPoint(Invoke->getNormalDest(),
                     Invoke->getNormalDest()->getFirstInsertionPt());
  } else {
    New = B.CreateCall(Site.Pair.Aug, Args, Bundles);
  }
  Value *Result = New;
  if (returnsShadow(Site.Q)) {
    Result = B.CreateExtractValue(New, 0, I.getName());
    setShadow(&I, B.CreateExtractValue(New, 1, I.getName() + ".s"));
  }
  replace(I, New, Result);
}

void AugmentEmitter::replace(CallBase &I, Value *New, Value *Result) {
  auto *Old = cast<CallBase>(primal(&I));
  VMap[&I] = I.getType()->isVoidTy() ? New : Result;
  if (!I.getType()->isVoidTy())
    Old->replaceAllUsesWith(Result);
  // The terminator that the edges are numbered by is the call itself.
  if (I.isTerminator())
    Terminators[&I] = cast<Instruction>(New);
  Old->eraseFromParent();
}

void AugmentEmitter::visitCustom(CallBase &I, const CallSite &Site) {
  placeBefore(I);
  SmallVector<Value *, 8> Args;
  for (const Value *Arg : I.args()) {
    Args.push_back(primal(Arg));
    // The shadow of an inactive pointer is null (interface.md, section 9).
    if (Arg->getType()->isPointerTy())
      Args.push_back(S.isActive(Arg) ? forReverse(Arg)
                                     : Constant::getNullValue(Arg->getType()));
  }
  Type *T = I.getType();
  Type *Ptr = PointerType::getUnqual(B.getContext());
  SmallVector<Type *, 3> Members{Ptr};
  if (!T->isVoidTy())
    Members.push_back(T);
  if (T->isPointerTy())
    Members.push_back(T);
  StructType *Results = StructType::get(B.getContext(), Members);
  // A rule does not unwind into a handler of the primal.
  Instruction *Branch = nullptr;
  if (auto *Invoke = dyn_cast<InvokeInst>(primal(&I))) {
    Branch = B.CreateBr(Invoke->getNormalDest());
    Invoke->getUnwindDest()->removePredecessor(Invoke->getParent());
    B.SetInsertPoint(Branch);
  }
  Value *Memory = callInMemory(B, *Site.Class.User->Augmented, Args,
                               DL.getTypeAllocSize(Results).getFixedValue());
  auto Member = [&](unsigned K) {
    return B.CreateLoad(Members[K], B.CreateStructGEP(Results, Memory, K));
  };
  Extras[&I] = Member(0);
  Value *Result = T->isVoidTy() ? Extras[&I] : Member(1);
  if (S.hasShadow(&I))
    setShadow(&I, normalisedShadow(B, Member(2), Result));
  replace(I, Branch ? static_cast<Value *>(Branch) : Extras[&I], Result);
}

Error AugmentEmitter::visitIntrinsic(IntrinsicInst &I) {
  placeAfter(I);
  Structure Kind = structureOf(I);
  if ((Kind == Structure::Store || Kind == Structure::Scatter) &&
      S.isSparse(maskedPointer(I)) && S.hasAdjoint(maskedData(I))) {
    // Where active floats are stored there has to be a sparse shadow.
    const Value *Ptr = maskedPointer(I);
    auto *T = cast<FixedVectorType>(maskedData(I)->getType());
    bool Whole = !Ptr->getType()->isVectorTy();
    uint64_t Size =
        DL.getTypeStoreSize(Whole ? T : T->getElementType()).getFixedValue();
    for (unsigned K = 0; K != W; ++K)
      for (unsigned E = 0; E != (Whole ? 1 : T->getNumElements()); ++E) {
        Value *P = primal(Ptr);
        Value *Q = laneOf(B, shadow(Ptr), K, Ptr->getType(), W);
        if (!Whole) {
          P = B.CreateExtractElement(P, E);
          Q = B.CreateExtractElement(Q, E);
        }
        B.CreateCall(D.runtime("adjoin_rt_shadow_write"),
                     {context(), P, Q, B.getInt64(Size), B.getInt64(K)});
      }
  }
  if (!S.hasShadow(&I))
    return Error::success();
  if (structureOf(I) == Structure::Through) {
    setShadow(&I, perLane(I, {I.getArgOperand(0)}));
    return Error::success();
  }
  return diagnose(I, Twine("cannot differentiate call of ") +
                         quotedName(*I.getCalledOperand()) +
                         " on active pointers in reverse mode");
}

Error AugmentEmitter::visitCall(CallBase &I) {
  const CallSite *Site = S.site(I);
  if (Site && Site->Active) {
    const CallClass &C = Site->Class;
    switch (C.K) {
    case CallClass::Allocate:
      visitAllocate(I, *Site);
      return Error::success();
    case CallClass::Scalar:
    case CallClass::Multi:
      placeAfter(I);
      return Error::success();
    case CallClass::Transfer:
    case CallClass::Fill:
      return visitTransfer(I, C);
    case CallClass::Custom:
      visitCustom(I, *Site);
      return Error::success();
    case CallClass::Intrinsic:
      return visitIntrinsic(cast<IntrinsicInst>(I));
    case CallClass::Indirect:
    case CallClass::Derive:
      visitDerived(I, *Site);
      return Error::success();
    default:
      return diagnose(I, "cannot differentiate this call in reverse mode");
    }
  }
  // As in the primal, where it calls the original.
  auto *New = dyn_cast<CallBase>(primal(&I));
  if (New)
    if (Function *Callee = New->getCalledFunction())
      if (Function *Original = D.copies().originalOf(*Callee))
        New->setCalledFunction(Original);
  if (!New)
    return Error::success();
  placeAfter(I);
  if (S.hasShadow(&I))
    setShadow(&I, inert(primal(&I), I.getType()));
  return Error::success();
}
