// Forward mode: shadow memory. Loads, stores, copies, allocations.
#include "ad/forward/ForwardEmitter.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace adjoin;

Value *ForwardEmitter::context() {
  UsesContext = true;
  return Target.getArg(Target.arg_size() - 1);
}

Value *ForwardEmitter::zeros(uint64_t Size) {
  // One constant for the module, as large as the largest access.
  Module &M = D.module();
  uint64_t Rounded = std::max<uint64_t>(64, PowerOf2Ceil(Size));
  std::string Name = ("adjoin.zeros." + Twine(Rounded)).str();
  if (GlobalVariable *G = M.getNamedGlobal(Name))
    return G;
  auto *T = ArrayType::get(Type::getInt8Ty(M.getContext()), Rounded);
  auto *G = new GlobalVariable(M, T, true, GlobalValue::PrivateLinkage,
                               ConstantAggregateZero::get(T), Name);
  G->setAlignment(Align(64));
  return G;
}

Value *ForwardEmitter::sink(uint64_t Size) {
  if (Sink && SinkSize >= Size)
    return Sink;
  SinkSize = std::max<uint64_t>(64, PowerOf2Ceil(Size));
  BasicBlock &Entry = Target.getEntryBlock();
  IRBuilder<> AtEntry(&Entry, Entry.begin());
  AtEntry.SetCurrentDebugLocation(DebugLoc());
  Sink = AtEntry.CreateAlloca(ArrayType::get(AtEntry.getInt8Ty(), SinkSize),
                              nullptr, "sink");
  Sink->setAlignment(Align(64));
  return Sink;
}

Value *ForwardEmitter::isConstAt(const Value *Ptr, unsigned K) {
  if (state(Ptr) == ShadowState::Const)
    return B.getTrue();
  if (state(Ptr) == ShadowState::Known)
    return B.getFalse();
  Value *S = laneOf(B, shadow(Ptr), K, Ptr->getType(), W);
  return B.CreateICmpEQ(S, primal(Ptr), "isconst");
}

/// Calls the runtime for the address of shadow memory, for each element of a
/// vector of pointers.
Value *ForwardEmitter::runtimeAddress(StringRef Name, Value *P, Value *Q,
                                      uint64_t Size, unsigned K) {
  auto One = [&](Value *P1, Value *Q1) -> Value * {
    return B.CreateCall(D.runtime(Name),
                        {context(), P1, Q1, B.getInt64(Size), B.getInt64(K)});
  };
  auto *Vector = dyn_cast<FixedVectorType>(P->getType());
  if (!Vector)
    return One(P, Q);
  Value *Result = PoisonValue::get(Vector);
  for (uint64_t E = 0; E != Vector->getNumElements(); ++E)
    Result = B.CreateInsertElement(
        Result, One(B.CreateExtractElement(P, E), B.CreateExtractElement(Q, E)),
        E);
  return Result;
}

/// \p Address, once for each pointer that \p Ptr is.
static Value *splatLike(IRBuilder<> &B, Value *Address, const Value *Ptr) {
  if (auto *Vector = dyn_cast<FixedVectorType>(Ptr->getType()))
    return B.CreateVectorSplat(Vector->getNumElements(), Address);
  return Address;
}

Value *ForwardEmitter::readAddress(const Value *Ptr, unsigned K, uint64_t Size,
                                   bool SelfIfConst) {
  Value *Q = laneOf(B, shadow(Ptr), K, Ptr->getType(), W);
  if (state(Ptr) == ShadowState::Known)
    return Q;
  if (R.Sparse)
    return runtimeAddress(SelfIfConst ? "adjoin_rt_shadow_read_pointer"
                                      : "adjoin_rt_shadow_read",
                          primal(Ptr), Q, Size, K);
  if (SelfIfConst)
    return Q;
  Value *Zeros = splatLike(B, zeros(Size), Ptr);
  if (state(Ptr) == ShadowState::Const)
    return Zeros;
  return B.CreateSelect(isConstAt(Ptr, K), Zeros, Q);
}

Value *ForwardEmitter::writeAddress(const Value *Ptr, unsigned K, uint64_t Size,
                                    bool Active) {
  ShadowState S = state(Ptr);
  Value *Q = laneOf(B, shadow(Ptr), K, Ptr->getType(), W);
  if (S == ShadowState::Known)
    return Q;
  // Whoever asks is right, also about stores that the activity analysis does
  // not know: nothing active is ever dropped.
  NeedsSparse |= Active && !R.Sparse;
  if (R.Sparse) // inactive data clears what an earlier active store left
    return runtimeAddress(Active ? "adjoin_rt_shadow_write"
                                 : "adjoin_rt_shadow_clear",
                          primal(Ptr), Q, Size, K);
  if (S == ShadowState::Const)
    return nullptr;
  return B.CreateSelect(isConstAt(Ptr, K), splatLike(B, sink(Size), Ptr), Q);
}

Value *adjoin::normalised(IRBuilder<> &B, Value *Shadow, Value *Primal) {
  Type *T = Shadow->getType();
  if (auto *Struct = dyn_cast<StructType>(T)) {
    for (unsigned I = 0; I != Struct->getNumElements(); ++I)
      if (Struct->getElementType(I)->isPtrOrPtrVectorTy() ||
          Struct->getElementType(I)->isAggregateType())
        Shadow =
            B.CreateInsertValue(Shadow,
                                normalised(B, B.CreateExtractValue(Shadow, I),
                                           B.CreateExtractValue(Primal, I)),
                                I);
    return Shadow;
  }
  if (auto *Array = dyn_cast<ArrayType>(T)) {
    if (Array->getElementType()->isPtrOrPtrVectorTy() ||
        Array->getElementType()->isAggregateType())
      for (unsigned I = 0; I != Array->getNumElements(); ++I)
        Shadow =
            B.CreateInsertValue(Shadow,
                                normalised(B, B.CreateExtractValue(Shadow, I),
                                           B.CreateExtractValue(Primal, I)),
                                I);
    return Shadow;
  }
  if (!T->isPtrOrPtrVectorTy())
    return Shadow;
  return B.CreateSelect(B.CreateICmpEQ(Shadow, Constant::getNullValue(T)),
                        Primal, Shadow);
}

Error ForwardEmitter::visitLoad(LoadInst &I) {
  if (!isActive(&I))
    return Error::success();
  placeAfter(I);
  Type *T = I.getType();
  const Value *Ptr = I.getPointerOperand();
  uint64_t Size = DL.getTypeStoreSize(T).getFixedValue();
  KindSet Kinds = D.kinds().summary(&I);
  // Bytes that may be either a float or a pointer are zero where there is no
  // shadow: a zero tangent, or null, which means constant as well.
  bool Pointers =
      T->isPtrOrPtrVectorTy() || T->isAggregateType() ||
      (T->isIntOrIntVectorTy() && Kinds.mayBePtr() && !Kinds.mayBeFloat());
  SmallVector<Value *, 4> Lanes;
  for (unsigned K = 0; K != W; ++K) {
    LoadInst *L = B.CreateAlignedLoad(T, readAddress(Ptr, K, Size, Pointers),
                                      I.getAlign(), I.getName() + ".t");
    if (I.isAtomic())
      L->setAtomic(I.getOrdering(), I.getSyncScopeID());
    Value *V = L;
    if (T->isPtrOrPtrVectorTy() || T->isAggregateType())
      V = normalised(B, V, primal(&I));
    Lanes.push_back(V);
  }
  setShadow(&I, packLanes(B, Lanes, T));
  return Error::success();
}

Error ForwardEmitter::visitStore(StoreInst &I) {
  const Value *V = I.getValueOperand();
  const Value *Ptr = I.getPointerOperand();
  Type *T = V->getType();
  bool Active = isActive(V);
  if (!Active && state(Ptr) == ShadowState::Const &&
      (!R.Sparse || Facts.isInert(Ptr)))
    return Error::success();
  placeAfter(I);
  uint64_t Size = DL.getTypeStoreSize(T).getFixedValue();
  // The bits of a constant float may be stored as an integer: the memory tells.
  // Where it does not, zero is right for a float, and integers in shadows are
  // never used.
  bool Floats = false;
  if (!Active) {
    KindRanges Kinds = D.kinds().memory(Ptr, Size);
    uint64_t Integers = 0;
    for (const KindRange &Range : Kinds) {
      Floats |= Range.Kinds.mayBeFloat();
      if (!Range.Kinds.empty())
        Integers += Range.End - Range.Begin;
    }
    Floats |= isa<Constant>(V) && T->isIntOrIntVectorTy() && Integers < Size;
  }
  Value *S = Floats ? inertShadow(primal(V), T, true) : shadow(V);
  for (unsigned K = 0; K != W; ++K) {
    Value *Address = writeAddress(Ptr, K, Size, Active);
    if (!Address)
      continue;
    StoreInst *New =
        B.CreateAlignedStore(laneOf(B, S, K, T, W), Address, I.getAlign());
    if (I.isAtomic())
      New->setAtomic(I.getOrdering(), I.getSyncScopeID());
  }
  return Error::success();
}

Error ForwardEmitter::visitAtomic(AtomicRMWInst &I) {
  const Value *Ptr = I.getPointerOperand();
  Value *V = I.getValOperand();
  Type *T = V->getType();
  bool Touches = state(Ptr) != ShadowState::Const || R.Sparse;
  if (!Touches || (!isActive(V) && !isActive(&I) && !T->isFPOrFPVectorTy()))
    return Error::success();
  AtomicRMWInst::BinOp Op = I.getOperation();
  bool Linear = Op == AtomicRMWInst::FAdd || Op == AtomicRMWInst::FSub ||
                Op == AtomicRMWInst::Xchg;
  if (!Linear)
    return diagnose(I, "cannot differentiate this atomic operation on active "
                       "data");
  placeAfter(I);
  Value *S = shadow(V);
  uint64_t Size = DL.getTypeStoreSize(T).getFixedValue();
  SmallVector<Value *, 4> Lanes;
  for (unsigned K = 0; K != W; ++K) {
    Value *Address = writeAddress(Ptr, K, Size, isActive(V));
    Value *Lane = laneOf(B, S, K, T, W);
    if (!Address) {
      Lanes.push_back(Constant::getNullValue(T));
      continue;
    }
    Lanes.push_back(B.CreateAtomicRMW(Op, Address, Lane, I.getAlign(),
                                      I.getOrdering(), I.getSyncScopeID()));
  }
  if (isActive(&I))
    setShadow(&I, packLanes(B, Lanes, T));
  return Error::success();
}

Error ForwardEmitter::visitAlloca(AllocaInst &I) {
  if (!isActive(&I))
    return Error::success();
  placeAfter(I);
  // The shadows stand beside their primal, so that entry allocas stay entry
  // allocas; the clearing follows the last alloca of the block's head.
  auto *New = cast<AllocaInst>(primal(&I));
  SmallVector<Value *, 4> Lanes;
  TypeSize ElementSize = DL.getTypeAllocSize(New->getAllocatedType());
  if (ElementSize.isScalable())
    return diagnose(I, "cannot differentiate a scalable vector on the stack");
  for (unsigned K = 0; K != W; ++K) {
    auto *S = cast<AllocaInst>(B.Insert(New->clone(), I.getName() + ".t"));
    Lanes.push_back(S);
  }
  BasicBlock::iterator It = B.GetInsertPoint();
  while (isa<AllocaInst>(*It))
    ++It;
  B.SetInsertPoint(It->getParent(), It);
  Value *Size = B.getInt64(ElementSize.getFixedValue());
  if (New->isArrayAllocation()) {
    // The count dominates the alloca, hence this point too.
    Value *Count = B.CreateZExtOrTrunc(New->getArraySize(), B.getInt64Ty());
    Size = B.CreateMul(Size, Count);
  }
  for (Value *S : Lanes)
    B.CreateMemSet(S, B.getInt8(0), Size, New->getAlign());
  setShadow(&I, packLanes(B, Lanes, I.getType()));
  return Error::success();
}

/// What a copy of bytes without a derivative leaves in shadow memory.
namespace {
struct InertBytes {
  /// Floats and integers only, or floats that cannot be told from pointers:
  /// zero, which is a zero tangent, a shadow pointer that means constant, and
  /// an integer that nobody reads.
  bool AllFloat = false;
  bool NoFloat = false; ///< pointers and integers only: mirrored
  /// Mixed of known layout: the float ranges.
  SmallVector<KindRange, 4> Floats;
};
} // namespace

/// Classifies the \p Size bytes (null: unknown) that \p Ptr and \p Other point
/// to.
static InertBytes classify(const KindAnalysis &Kinds, const Value *Ptr,
                           const Value *Other, const Value *Size) {
  InertBytes Result;
  KindSet All = Kinds.object(Ptr) | Kinds.object(Other);
  if (!Kinds.mayHoldFloats(Ptr) && !Kinds.mayHoldFloats(Other)) {
    Result.NoFloat = true;
    return Result;
  }
  if (!All.mayBePtr()) {
    Result.AllFloat = true;
    return Result;
  }
  auto *C = dyn_cast_or_null<ConstantInt>(Size);
  InertBytes Undecided;
  Undecided.AllFloat = true;
  if (!C)
    return Undecided;
  // The layouts that both ends show, merged.
  KindRanges Ranges = Kinds.memory(Ptr, C->getZExtValue());
  KindRanges More = Kinds.memory(Other, C->getZExtValue());
  Ranges.append(More.begin(), More.end());
  bool Pointers = false;
  for (const KindRange &Range : Ranges) {
    if (Range.Kinds.mayBeFloat() && Range.Kinds.mayBePtr())
      return Undecided;
    Pointers |= Range.Kinds.mayBePtr();
    if (Range.Kinds.mayBeFloat())
      Result.Floats.push_back(Range);
  }
  // Bytes that neither end knows may be floats.
  llvm::sort(Ranges, [](const KindRange &L, const KindRange &R) {
    return L.Begin < R.Begin;
  });
  uint64_t Done = 0;
  for (const KindRange &Range : Ranges) {
    if (Range.Begin > Done)
      Result.Floats.push_back({Done, Range.Begin, {}});
    Done = std::max(Done, Range.End);
  }
  if (Done < C->getZExtValue())
    Result.Floats.push_back({Done, C->getZExtValue(), {}});
  if (Result.Floats.empty())
    Result.NoFloat = true;
  else if (!Pointers)
    Result.AllFloat = true;
  if (Result.NoFloat || Result.AllFloat) {
    Result.Floats.clear();
    return Result;
  }
  llvm::sort(Result.Floats, [](const KindRange &L, const KindRange &R) {
    return L.Begin < R.Begin;
  });
  SmallVector<KindRange, 4> Merged;
  for (const KindRange &Range : Result.Floats)
    if (!Merged.empty() && Range.Begin <= Merged.back().End)
      Merged.back().End = std::max(Merged.back().End, Range.End);
    else
      Merged.push_back(Range);
  Result.Floats = std::move(Merged);
  // What one end shows as a float and the other as a pointer is neither.
  for (const KindRange &Range : Ranges)
    if (Range.Kinds.mayBePtr())
      for (const KindRange &Float : Result.Floats)
        if (Range.Begin < Float.End && Float.Begin < Range.End)
          return Undecided;
  return Result;
}

Error ForwardEmitter::visitTransfer(CallBase &I, const CallClass &C) {
  const Value *Dst = I.getArgOperand(C.PointerArg);
  const Value *Src = I.getArgOperand(C.SourceArg);
  ShadowState To = state(Dst), From = state(Src);
  placeAfter(I);
  // A libcall returns its destination (mempcpy: its end).
  if (!I.getType()->isVoidTy() && isActive(&I)) {
    auto *P = primal(&I);
    setShadow(&I, mapLanes(B, {shadow(Dst)}, {Dst->getType()}, I.getType(), W,
                           [&](ArrayRef<Value *> Lane) {
                             Value *Offset =
                                 B.CreatePtrDiff(B.getInt8Ty(), P, primal(Dst));
                             return B.CreatePtrAdd(Lane[0], Offset);
                           }));
  }
  if (To == ShadowState::Const && Facts.isInert(Dst))
    return Error::success();
  if (C.SizeArg < 0)
    return diagnose(I, "cannot differentiate a copy of unknown length");
  Value *N =
      B.CreateZExtOrTrunc(primal(I.getArgOperand(C.SizeArg)), B.getInt64Ty());
  bool FromInert = From == ShadowState::Const && Facts.isInert(Src);
  if (R.Sparse && (To != ShadowState::Known ||
                   (From != ShadowState::Known && !FromInert))) {
    InertBytes Inert =
        classify(D.kinds(), Src, Dst, I.getArgOperand(C.SizeArg));
    for (unsigned K = 0; K != W; ++K) {
      Value *To1 = laneOf(B, shadow(Dst), K, Dst->getType(), W);
      Value *From1 = laneOf(B, shadow(Src), K, Src->getType(), W);
      auto Piece = [&](uint64_t Offset, Value *Bytes, bool Mirror) {
        Value *At = B.getInt64(Offset);
        auto Add = [&](Value *P) { return Offset ? B.CreatePtrAdd(P, At) : P; };
        B.CreateCall(D.runtime("adjoin_rt_shadow_copy"),
                     {context(), Add(primal(Dst)), Add(To1), Add(primal(Src)),
                      Add(From1), Bytes, B.getInt64(K),
                      B.getInt32(Mirror ? 1 : 0)});
      };
      if (Inert.Floats.empty()) {
        Piece(0, N, Inert.NoFloat);
        continue;
      }
      // Floats and mirrored bytes in turn; where source and destination may
      // overlap, from the end that is not read later.
      SmallVector<std::pair<KindRange, bool>, 8> Pieces; // with: mirrored
      uint64_t Done = 0;
      auto Until = [&](uint64_t Next) {
        if (Next > Done)
          Pieces.push_back({{Done, Next, {}}, true});
      };
      for (const KindRange &Range : Inert.Floats) {
        Until(Range.Begin);
        Pieces.push_back({Range, false});
        Done = Range.End;
      }
      Until(cast<ConstantInt>(I.getArgOperand(C.SizeArg))->getZExtValue());
      Value *Up = isa<MemMoveInst>(I)
                      ? B.CreateICmpULE(primal(Dst), primal(Src))
                      : nullptr;
      auto Length = [&](const KindRange &Range, bool Upwards) -> Value * {
        Value *Bytes = B.getInt64(Range.End - Range.Begin);
        if (!Up)
          return Bytes;
        return Upwards ? B.CreateSelect(Up, Bytes, B.getInt64(0))
                       : B.CreateSelect(Up, B.getInt64(0), Bytes);
      };
      for (auto [Range, Mirror] : Pieces)
        Piece(Range.Begin, Length(Range, true), Mirror);
      if (Up)
        for (auto [Range, Mirror] : reverse(Pieces))
          Piece(Range.Begin, Length(Range, false), Mirror);
    }
    return Error::success();
  }
  if (To == ShadowState::Const)
    return Error::success(); // else the request is sparse
  std::optional<InertBytes> Inert;
  if (From != ShadowState::Known)
    Inert = classify(D.kinds(), Src, Dst, I.getArgOperand(C.SizeArg));
  MaybeAlign DstAlign, SrcAlign;
  bool Overlap = true;
  if (auto *Mem = dyn_cast<MemTransferInst>(&I)) {
    DstAlign = Mem->getDestAlign();
    SrcAlign = Mem->getSourceAlign();
    Overlap = isa<MemMoveInst>(Mem);
  }
  for (unsigned K = 0; K != W; ++K) {
    Value *To1 = laneOf(B, shadow(Dst), K, Dst->getType(), W);
    Value *From1 = laneOf(B, shadow(Src), K, Src->getType(), W);
    Value *Length = N;
    if (To == ShadowState::Maybe)
      Length = B.CreateSelect(isConstAt(Dst, K), B.getInt64(0), N);
    if (!(From == ShadowState::Const && Inert->AllFloat)) {
      if (Overlap)
        B.CreateMemMove(To1, DstAlign, From1, SrcAlign, Length);
      else
        B.CreateMemCpy(To1, DstAlign, From1, SrcAlign, Length);
    }
    if (!Inert || Inert->NoFloat)
      continue;
    Value *Constant = isConstAt(Src, K);
    auto Clear = [&](Value *Address, Value *Bytes, MaybeAlign A) {
      B.CreateMemSet(Address, B.getInt8(0),
                     B.CreateSelect(Constant, Bytes, B.getInt64(0)), A);
    };
    if (Inert->AllFloat) {
      Clear(To1, Length, DstAlign);
      continue;
    }
    for (const KindRange &Range : Inert->Floats) {
      Value *Bytes = B.getInt64(Range.End - Range.Begin);
      if (To == ShadowState::Maybe)
        Bytes = B.CreateSelect(isConstAt(Dst, K), B.getInt64(0), Bytes);
      Clear(B.CreateConstGEP1_64(B.getInt8Ty(), To1, Range.Begin), Bytes,
            MaybeAlign());
    }
  }
  return Error::success();
}

Error ForwardEmitter::visitFill(CallBase &I, const CallClass &C) {
  const Value *Dst = I.getArgOperand(C.PointerArg);
  ShadowState To = state(Dst);
  placeAfter(I);
  if (!I.getType()->isVoidTy() && isActive(&I))
    setShadow(&I, shadow(Dst));
  if (To == ShadowState::Const && (!R.Sparse || Facts.isInert(Dst)))
    return Error::success();
  if (C.SizeArg < 0)
    return diagnose(I, "cannot differentiate a fill of unknown length");
  Value *N = bytesOf(B, I, C, [&](const Value *V) { return primal(V); });
  Value *Byte = B.getInt8(0);
  if (C.SourceArg >= 0 && !D.kinds().object(Dst).mayBeFloat())
    Byte = B.CreateZExtOrTrunc(primal(I.getArgOperand(C.SourceArg)),
                               B.getInt8Ty());
  MaybeAlign A;
  if (auto *Mem = dyn_cast<MemSetInst>(&I))
    A = Mem->getDestAlign();
  for (unsigned K = 0; K != W; ++K) {
    Value *To1 = laneOf(B, shadow(Dst), K, Dst->getType(), W);
    if (R.Sparse && To != ShadowState::Known) {
      B.CreateCall(D.runtime("adjoin_rt_shadow_fill"),
                   {context(), primal(Dst), To1, Byte, N, B.getInt64(K)});
      continue;
    }
    Value *Length = N;
    if (To == ShadowState::Maybe)
      Length = B.CreateSelect(isConstAt(Dst, K), B.getInt64(0), N);
    B.CreateMemSet(To1, Byte, Length, A);
  }
  return Error::success();
}

Error ForwardEmitter::visitMasked(IntrinsicInst &I) {
  placeAfter(I);
  bool IsLoad = I.getIntrinsicID() == Intrinsic::masked_load ||
                I.getIntrinsicID() == Intrinsic::masked_gather ||
                I.getIntrinsicID() == Intrinsic::masked_expandload;
  unsigned PtrArg = IsLoad ? 0 : 1;
  const Value *Ptr = I.getArgOperand(PtrArg);
  if (IsLoad && !isActive(&I))
    return Error::success();
  if (!IsLoad && state(Ptr) == ShadowState::Const &&
      !isActive(I.getArgOperand(0)) && !R.Sparse)
    return Error::success();
  Type *Accessed = IsLoad ? I.getType() : I.getArgOperand(0)->getType();
  if (Ptr->getType()->isVectorTy())
    Accessed = Accessed->getScalarType();
  if (isa<ScalableVectorType>(Accessed))
    return diagnose(I, "cannot differentiate a masked access of a scalable "
                       "vector");
  uint64_t Size = DL.getTypeStoreSize(Accessed).getFixedValue();
  if (R.Sparse && state(Ptr) != ShadowState::Known && Size > 64)
    return diagnose(I, "cannot differentiate a masked access of more than 64 "
                       "bytes of memory that may have no shadow");
  bool Active = !IsLoad && isActive(I.getArgOperand(0));
  // The same access of the shadow, with the same mask; the pass-through of a
  // load and the value of a store are replaced by their shadows.
  const Value *Data = IsLoad ? (I.arg_size() > 2 ? I.getArgOperand(2) : nullptr)
                             : I.getArgOperand(0);
  auto *New = cast<CallInst>(primal(&I));
  SmallVector<Value *, 4> Lanes;
  Value *DataShadow = Data ? shadow(Data) : nullptr;
  for (unsigned K = 0; K != W; ++K) {
    bool Pointers = IsLoad && I.getType()->isPtrOrPtrVectorTy();
    Value *Address = IsLoad ? readAddress(Ptr, K, Size, Pointers)
                            : writeAddress(Ptr, K, Size, Active);
    if (!Address)
      continue;
    auto *Clone = cast<CallInst>(New->clone());
    Clone->setArgOperand(PtrArg, Address);
    if (Data)
      Clone->setArgOperand(IsLoad ? 2 : 0,
                           laneOf(B, DataShadow, K, Data->getType(), W));
    Clone->dropUnknownNonDebugMetadata();
    B.Insert(Clone);
    Lanes.push_back(Clone);
  }
  if (IsLoad)
    setShadow(&I, packLanes(B, Lanes, I.getType()));
  return Error::success();
}

Error ForwardEmitter::visitAllocate(CallBase &I, const CallClass &C) {
  if (!I.getType()->isPointerTy())
    return visitAllocateThrough(I, C);
  if (!isActive(&I))
    return Error::success();
  placeAfter(I);
  auto *New = cast<CallBase>(primal(&I));
  SmallVector<Value *, 8> Args(New->args());
  SmallVector<Value *, 4> Lanes;
  for (unsigned K = 0; K != W; ++K) {
    CallInst *S = B.CreateCall(New->getFunctionType(), New->getCalledOperand(),
                               Args, I.getName() + ".t");
    S->setAttributes(New->getAttributes());
    S->setCallingConv(New->getCallingConv());
    Lanes.push_back(S);
  }
  if (!C.ZeroedMemory && C.SizeArg >= 0) {
    Value *Size = B.CreateZExtOrTrunc(Args[C.SizeArg], B.getInt64Ty());
    if (C.SizeArg2 >= 0)
      Size = B.CreateMul(Size,
                         B.CreateZExtOrTrunc(Args[C.SizeArg2], B.getInt64Ty()));
    for (Value *&S : Lanes) {
      // Nothing is cleared where the allocation failed.
      Value *Length = Size;
      if (!I.getAttributes().hasRetAttr(Attribute::NonNull))
        Length = B.CreateSelect(B.CreateIsNull(S), B.getInt64(0), Size);
      B.CreateMemSet(S, B.getInt8(0), Length, MaybeAlign());
    }
  }
  setShadow(&I, packLanes(B, Lanes, I.getType()));
  return Error::success();
}

/// posix_memalign: the new memory comes back through a pointer. The shadow is
/// allocated by the same call, which stores it where the pointer's shadow is.
Error ForwardEmitter::visitAllocateThrough(CallBase &I, const CallClass &C) {
  if (C.PointerArg < 0 || C.SizeArg < 0 || !I.getType()->isIntegerTy())
    return diagnose(I, Twine("cannot differentiate the allocation by ") +
                           quotedName(*I.getCalledOperand()));
  const Value *Out = I.getArgOperand(C.PointerArg);
  if (!isActive(Out))
    return Error::success(); // the memory is constant
  placeAfter(I);
  auto *New = cast<CallBase>(primal(&I));
  for (unsigned K = 0; K != W; ++K) {
    Value *Address = writeAddress(Out, K, DL.getPointerSize(), true);
    SmallVector<Value *, 8> Args(New->args());
    Args[C.PointerArg] = Address;
    CallInst *Failed =
        B.CreateCall(New->getFunctionType(), New->getCalledOperand(), Args);
    Failed->setCallingConv(New->getCallingConv());
    // Nothing is cleared where the allocation failed.
    Value *Length = B.CreateSelect(
        B.CreateIsNull(Failed),
        B.CreateZExtOrTrunc(Args[C.SizeArg], B.getInt64Ty()), B.getInt64(0));
    B.CreateMemSet(B.CreateLoad(B.getPtrTy(), Address), B.getInt8(0), Length,
                   MaybeAlign());
  }
  return Error::success();
}

Error ForwardEmitter::visitReallocate(CallBase &I, const CallClass &C) {
  const Value *Old = I.getArgOperand(C.PointerArg);
  if (!isActive(&I) && !isActive(Old))
    return Error::success();
  placeBefore(I);
  SmallVector<Value *, 4> WasConst;
  for (unsigned K = 0; K != W; ++K) {
    // realloc(null) allocates: then the shadow is fresh too.
    Value *Const = isConstAt(Old, K);
    WasConst.push_back(
        B.CreateAnd(Const, B.CreateIsNotNull(primal(Old)), "wasconst"));
  }
  placeAfter(I);
  auto *New = cast<CallBase>(primal(&I));
  SmallVector<Value *, 4> Lanes;
  for (unsigned K = 0; K != W; ++K) {
    SmallVector<Value *, 8> Args(New->args());
    Value *S = laneOf(B, shadow(Old), K, Old->getType(), W);
    auto Resize = [&](IRBuilder<> &At) {
      Args[C.PointerArg] = S;
      CallInst *Call =
          At.CreateCall(New->getFunctionType(), New->getCalledOperand(), Args);
      Call->setCallingConv(New->getCallingConv());
      return Call;
    };
    if (auto *Never = dyn_cast<ConstantInt>(WasConst[K]);
        Never && Never->isZero()) {
      Lanes.push_back(Resize(B));
      continue;
    }
    // Constant memory stays constant: the shadow is the new primal itself.
    BasicBlock *Head = B.GetInsertBlock();
    Instruction *Then = SplitBlockAndInsertIfThen(B.CreateNot(WasConst[K]),
                                                  B.GetInsertPoint(), false);
    IRBuilder<> InThen(Then);
    InThen.SetCurrentDebugLocation(B.getCurrentDebugLocation());
    Value *Fresh = Resize(InThen);
    BasicBlock *Tail = Then->getSuccessor(0);
    B.SetInsertPoint(Tail, Tail->begin());
    PHINode *Phi = B.CreatePHI(I.getType(), 2);
    Phi->addIncoming(Fresh, Then->getParent());
    Phi->addIncoming(New, Head);
    B.SetInsertPoint(Tail, Tail->getFirstInsertionPt());
    Lanes.push_back(Phi);
  }
  if (isActive(&I))
    setShadow(&I, packLanes(B, Lanes, I.getType()));
  return Error::success();
}

Error ForwardEmitter::visitFree(CallBase &I, const CallClass &C) {
  const Value *Ptr = I.getArgOperand(C.PointerArg);
  if (!isActive(Ptr))
    return Error::success();
  placeBefore(I);
  auto *New = cast<CallBase>(primal(&I));
  for (unsigned K = 0; K != W; ++K) {
    SmallVector<Value *, 8> Args(New->args());
    Value *S = laneOf(B, shadow(Ptr), K, Ptr->getType(), W);
    Args[C.PointerArg] = S;
    Instruction *At = New;
    if (state(Ptr) != ShadowState::Known)
      At = SplitBlockAndInsertIfThen(B.CreateICmpNE(S, primal(Ptr)),
                                     New->getIterator(), false);
    B.SetInsertPoint(At);
    CallInst *Call =
        B.CreateCall(New->getFunctionType(), New->getCalledOperand(), Args);
    Call->setAttributes(New->getAttributes());
    Call->setCallingConv(New->getCallingConv());
    B.SetInsertPoint(New);
  }
  return Error::success();
}
