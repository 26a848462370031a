// Transposed instructions: memory and calls.
#include "ad/reverse/Adjoint.h"
#include "ad/reverse/ArenaObjects.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace adjoin;

Value *AdjointEmitter::guarded(const Value *Ptr, unsigned K, uint64_t Size,
                               function_ref<Value *(Value *, Value *)> F) {
  Value *Shadow = shadowLane(Ptr, K);
  if (S.state(Ptr) == ShadowState::Known)
    return F(Shadow, Shadow);
  if (S.R.Sparse) {
    // Only what was stored in aug has a sparse shadow: adjoints of other
    // constant memory go nowhere.
    SmallVector<Value *, 5> Args{context(), primal(Ptr), Shadow,
                                 B.getInt64(Size), B.getInt64(K)};
    Value *From = B.CreateCall(D.runtime("adjoin_rt_shadow_read"), Args);
    Value *To = B.CreateCall(D.runtime("adjoin_rt_shadow_clear"), Args);
    return F(From, To);
  }
  BasicBlock *Head = B.GetInsertBlock();
  BasicBlock *Then = BasicBlock::Create(B.getContext(), "shadowed", &Target);
  BasicBlock *Tail = BasicBlock::Create(B.getContext(), "", &Target);
  B.CreateCondBr(B.CreateIsNotNull(Shadow), Then, Tail);
  B.SetInsertPoint(Then);
  Value *Result = F(Shadow, Shadow);
  Then = B.GetInsertBlock();
  B.CreateBr(Tail);
  B.SetInsertPoint(Tail);
  if (!Result)
    return nullptr;
  PHINode *Phi = B.CreatePHI(Result->getType(), 2);
  Phi->addIncoming(Result, Then);
  Phi->addIncoming(Constant::getNullValue(Result->getType()), Head);
  return Phi;
}

/// Calls \p F with the address and type of each float (or vector of floats) in
/// \p T at \p Address, and its path.
static void
forEachFloat(IRBuilder<> &B, const DataLayout &DL, Type *T, Value *Address,
             Align A, SmallVectorImpl<unsigned> &Path,
             function_ref<void(Type *, Value *, Align, ArrayRef<unsigned>)> F) {
  if (T->isFPOrFPVectorTy()) {
    F(T, Address, A, Path);
    return;
  }
  if (!T->isAggregateType())
    return;
  auto *Struct = dyn_cast<StructType>(T);
  uint64_t N = Struct ? Struct->getNumElements() : T->getArrayNumElements();
  for (unsigned I = 0; I != N; ++I) {
    Type *M = Struct ? Struct->getElementType(I) : T->getArrayElementType();
    uint64_t Offset =
        Struct ? DL.getStructLayout(Struct)->getElementOffset(I).getFixedValue()
               : I * DL.getTypeAllocSize(M).getFixedValue();
    Path.push_back(I);
    forEachFloat(B, DL, M,
                 Offset ? B.CreateConstGEP1_64(B.getInt8Ty(), Address, Offset)
                        : Address,
                 commonAlignment(A, Offset), Path, F);
    Path.pop_back();
  }
}

void AdjointEmitter::transposeLoad(const LoadInst &I) {
  Value *Adjoint = take(&I);
  const Value *Ptr = I.getPointerOperand();
  if (!S.mayHaveShadow(Ptr))
    return;
  Type *Form = formType(&I);
  uint64_t Size = DL.getTypeStoreSize(I.getType()).getFixedValue();
  for (unsigned K = 0; K != W; ++K)
    guarded(Ptr, K, Size, [&](Value *, Value *Shadow) -> Value * {
      Value *Lane = laneOf(B, Adjoint, K, Form, W);
      SmallVector<unsigned, 4> Path;
      forEachFloat(B, DL, Form, Shadow, I.getAlign(), Path,
                   [&](Type *T, Value *At, Align A, ArrayRef<unsigned> Member) {
                     Value *Part = Member.empty()
                                       ? Lane
                                       : B.CreateExtractValue(Lane, Member);
                     Value *Old = B.CreateAlignedLoad(T, At, A);
                     B.CreateAlignedStore(B.CreateFAdd(Old, Part), At, A);
                   });
      return nullptr;
    });
}

void AdjointEmitter::transposeStore(const StoreInst &I) {
  const Value *Ptr = I.getPointerOperand();
  const Value *V = I.getValueOperand();
  if (!S.mayHaveShadow(Ptr))
    return;
  uint64_t Size = DL.getTypeStoreSize(V->getType()).getFixedValue();
  // The shadow pointers that were there.
  if (S.storesPointers(I) && outlivesCall(Ptr)) {
    Type *T = V->getType();
    Value *Old = need({&I, Need::Extra});
    for (unsigned K = 0; K != W; ++K)
      guarded(Ptr, K, Size, [&](Value *, Value *To) -> Value * {
        storePointers(B, laneOf(B, Old, K, T, W), To, I.getAlign(), DL);
        return nullptr;
      });
  }
  AdjointForm Form = S.memoryForm(Ptr, V);
  if (!Form.Floats)
    return;
  SmallVector<Value *, 4> Lanes;
  for (unsigned K = 0; K != W; ++K)
    Lanes.push_back(guarded(Ptr, K, Size, [&](Value *From, Value *To) {
      Value *Lane = Constant::getNullValue(Form.T);
      SmallVector<unsigned, 4> Path;
      forEachFloat(B, DL, Form.T, From, I.getAlign(), Path,
                   [&](Type *T, Value *At, Align A, ArrayRef<unsigned> Member) {
                     Value *Part = B.CreateAlignedLoad(T, At, A);
                     Lane = Member.empty()
                                ? Part
                                : B.CreateInsertValue(Lane, Part, Member);
                   });
      forEachFloat(B, DL, Form.T, To, I.getAlign(), Path,
                   [&](Type *T, Value *At, Align A, ArrayRef<unsigned>) {
                     B.CreateAlignedStore(Constant::getNullValue(T), At, A);
                   });
      return Lane;
    }));
  if (S.hasAdjoint(V))
    give(V, convert(packLanes(B, Lanes, Form.T), Form.T, formType(V)));
}

Value *AdjointEmitter::shadowRange(const Value *Ptr, unsigned K, Value *Size) {
  Value *Shadow = shadowLane(Ptr, K);
  if (!S.isSparse(Ptr))
    return Shadow;
  return B.CreateCall(D.runtime("adjoin_rt_shadow_write"),
                      {context(), primal(Ptr), Shadow, Size, B.getInt64(K)});
}

void AdjointEmitter::transposeAlloca(const AllocaInst &I) {
  if (!S.isActive(&I))
    return;
  Value *Stride = arenaStride(B, allocaSize(B, I, primal(I.getArraySize())));
  B.CreateCall(D.runtime("adjoin_rt_pop"),
               {context(), arenaSize(B, I, Stride, W)});
}

void AdjointEmitter::transposeBytes(const CallBase &I, const CallClass &C) {
  ByteLayout Layout = layoutOf(S, I, C);
  const Value *Dst = I.getArgOperand(C.PointerArg);
  if (!transposesBytes(S, I, C, Layout))
    return;
  Value *N = bytesOf(B, I, C, [&](const Value *V) { return primal(V); });
  if (savesPointers(S, I, C, Layout)) {
    Value *Stride = arenaStride(B, N);
    Value *Saved =
        B.CreateCall(D.runtime("adjoin_rt_pop"),
                     {context(), B.CreateMul(Stride, B.getInt64(W))}, "saved");
    for (unsigned K = 0; K != W; ++K) {
      Value *To = shadowRange(Dst, K, N);
      Value *From = B.CreatePtrAdd(Saved, B.CreateMul(Stride, B.getInt64(K)));
      for (const BytePiece &Piece : Layout.Pointers) {
        Value *Begin = B.getInt64(Piece.Begin);
        Value *Bytes = Piece.End == BytePiece::Whole
                           ? N
                           : B.getInt64(Piece.End - Piece.Begin);
        if (S.state(Dst) != ShadowState::Known)
          Bytes = B.CreateSelect(B.CreateIsNull(To), B.getInt64(0), Bytes);
        B.CreateMemCpy(B.CreatePtrAdd(To, Begin), MaybeAlign(),
                       B.CreatePtrAdd(From, Begin), MaybeAlign(), Bytes);
      }
    }
  }
  if (Layout.Floats.empty())
    return;
  const Value *Src = C.K == CallClass::Transfer && C.SourceArg >= 0
                         ? I.getArgOperand(C.SourceArg)
                         : nullptr;
  auto Pull = [&](Value *To, Value *From, const BytePiece &Piece, bool Down) {
    Value *Bytes =
        Piece.End == BytePiece::Whole ? N : B.getInt64(Piece.End - Piece.Begin);
    B.CreateCall(D.runtime(pullName(Piece.Kinds, Down)),
                 {To, From, B.getInt64(Piece.Begin), Bytes});
  };
  bool Overlaps = Src && S.mayHaveShadow(Src) && !isa<MemCpyInst>(I);
  for (unsigned K = 0; K != W; ++K) {
    Value *To = shadowRange(Dst, K, N);
    Value *From =
        Src ? shadowRange(Src, K, N)
            : static_cast<Value *>(Constant::getNullValue(Dst->getType()));
    // The second look may have moved what the first one found.
    if (Src && S.isSparse(Dst) && S.isSparse(Src))
      To = shadowRange(Dst, K, N);
    if (!Overlaps) {
      for (const BytePiece &Piece : Layout.Floats)
        Pull(To, From, Piece, false);
      continue;
    }
    // Shadows overlap where, and as, the primals do.
    LLVMContext &Context = B.getContext();
    BasicBlock *Downwards = BasicBlock::Create(Context, "down", &Target);
    BasicBlock *Upwards = BasicBlock::Create(Context, "up", &Target);
    BasicBlock *Tail = BasicBlock::Create(Context, "", &Target);
    B.CreateCondBr(B.CreateICmpULE(To, From), Downwards, Upwards);
    B.SetInsertPoint(Downwards);
    for (const BytePiece &Piece : reverse(Layout.Floats))
      Pull(To, From, Piece, true);
    B.CreateBr(Tail);
    B.SetInsertPoint(Upwards);
    for (const BytePiece &Piece : Layout.Floats)
      Pull(To, From, Piece, false);
    B.CreateBr(Tail);
    B.SetInsertPoint(Tail);
  }
}

void AdjointEmitter::transposeDerived(const CallBase &I, const CallSite &Site) {
  Function *Rev = Site.Pair.Rev;
  SmallVector<Value *, 8> Args;
  // What the callee's sweep does not use is not kept for it.
  auto Unused = [&] { return !Site.Reads[Args.size()]; };
  if (Site.Class.K == CallClass::Indirect)
    Args.push_back(Unused() ? PoisonValue::get(I.getCalledOperand()->getType())
                            : primal(I.getCalledOperand()));
  for (unsigned K = 0; K != I.arg_size(); ++K) {
    const Value *Arg = I.getArgOperand(K);
    Args.push_back(Unused() ? PoisonValue::get(Arg->getType()) : primal(Arg));
    if (!hasShadowParameter(Site.Q, K))
      continue;
    Type *T = shadowType(Arg->getType(), W);
    if (Unused())
      Args.push_back(PoisonValue::get(T));
    else if (S.isActive(Arg))
      Args.push_back(need({Arg, Need::Shadow}));
    else
      Args.push_back(Constant::getNullValue(T));
  }
  if (hasSeed(Site.Q)) {
    Type *T = I.getType();
    Args.push_back(
        S.hasAdjoint(&I)
            ? convert(take(&I), formType(&I), T)
            : static_cast<Value *>(Constant::getNullValue(shadowType(T, W))));
  }
  Args.push_back(context());
  Value *Result = B.CreateCall(Rev, Args);
  unsigned Index = 0;
  for (unsigned K = 0; K != I.arg_size(); ++K) {
    if (!hasAdjointResult(Site.Q, K))
      continue;
    const Value *Arg = I.getArgOperand(K);
    if (S.hasAdjoint(Arg))
      give(Arg, convert(B.CreateExtractValue(Result, Index), Arg->getType(),
                        formType(Arg)));
    ++Index;
  }
}

void AdjointEmitter::transposeCustom(const CallBase &I, const CallSite &Site) {
  Function *Gradient = Site.Class.User->Gradient;
  SmallVector<Value *, 8> Args;
  SmallVector<Type *, 4> Floats;
  SmallVector<const Value *, 4> To;
  for (const Value *Arg : I.args()) {
    Args.push_back(primal(Arg));
    if (Arg->getType()->isPointerTy())
      Args.push_back(shadowLane(Arg, 0));
    else if (Arg->getType()->isFPOrFPVectorTy()) {
      Floats.push_back(Arg->getType());
      To.push_back(Arg);
    }
  }
  if (I.getType()->isFPOrFPVectorTy())
    Args.push_back(S.hasAdjoint(&I)
                       ? convert(take(&I), formType(&I), I.getType())
                       : Constant::getNullValue(I.getType()));
  Args.push_back(need({&I, Need::Extra}));
  // The adjoints come as a C struct in memory, in registers or by sret.
  StructType *Adjoints = StructType::get(B.getContext(), Floats);
  Value *Memory = callInMemory(B, *Gradient, Args,
                               DL.getTypeAllocSize(Adjoints).getFixedValue());
  for (auto [K, Arg] : enumerate(To))
    if (S.hasAdjoint(Arg))
      give(Arg, convert(B.CreateLoad(Floats[K],
                                     B.CreateStructGEP(Adjoints, Memory, K)),
                        Arg->getType(), formType(Arg)));
}

Error AdjointEmitter::transposeCall(const CallBase &I) {
  const CallSite *Site = S.site(I);
  if (!Site || !Site->Active)
    return Error::success(); // runs in aug only
  const CallClass &C = Site->Class;
  switch (C.K) {
  case CallClass::Scalar:
    transposeScalar(I, *C.Rule);
    return Error::success();
  case CallClass::Multi:
    transposeMulti(I, *C.Several);
    return Error::success();
  case CallClass::Allocate: {
    // Its shadows; the memory itself was given back, or not, by the primal.
    Value *Size;
    if (std::optional<uint64_t> Fixed = fixedSize(S, I, C))
      Size = B.CreateMul(arenaStride(B, B.getInt64(*Fixed)), B.getInt64(W));
    else
      Size = need({&I, Need::Extra});
    B.CreateCall(D.runtime("adjoin_rt_pop"), {context(), Size});
    return Error::success();
  }
  case CallClass::Transfer:
  case CallClass::Fill:
    transposeBytes(I, C);
    return Error::success();
  case CallClass::Custom:
    transposeCustom(I, *Site);
    return Error::success();
  case CallClass::Intrinsic:
    transposeIntrinsic(cast<IntrinsicInst>(I));
    return Error::success();
  case CallClass::Indirect:
  case CallClass::Derive:
    transposeDerived(I, *Site);
    return Error::success();
  default:
    return diagnose(I, "cannot differentiate this call in reverse mode");
  }
}
