// Transposed intrinsics: reductions, permutations, masked accesses.
#include "ad/plan/Intrinsics.h"
#include "ad/reverse/Adjoint.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace adjoin;

void AdjointEmitter::transposeReduction(const IntrinsicInst &I, Structure S) {
  Value *Adjoint = convert(take(&I), formType(&I), I.getType());
  bool Start = S != Structure::Extreme;
  const Value *Vector = I.getArgOperand(Start ? 1 : 0);
  auto *T = cast<FixedVectorType>(Vector->getType());
  unsigned N = T->getNumElements();
  // The partials with respect to the elements, and to the start value.
  SmallVector<Value *, 8> Partials(N, nullptr);
  Value *StartPartial = nullptr;
  if (S == Structure::Product) {
    Value *V = primal(Vector), *Before = primal(I.getArgOperand(0));
    SmallVector<Value *, 8> Elements;
    for (unsigned K = 0; K != N; ++K)
      Elements.push_back(B.CreateExtractElement(V, K));
    // Products of all that come before and after each factor.
    for (unsigned K = 0; K != N; ++K) {
      Partials[K] = Before;
      Before = B.CreateFMul(Before, Elements[K]);
    }
    Value *After = ConstantFP::get(I.getType(), 1.0);
    for (unsigned K = N; K-- != 0;) {
      Partials[K] = B.CreateFMul(Partials[K], After);
      After = B.CreateFMul(After, Elements[K]);
    }
    StartPartial = After;
  } else if (S == Structure::Extreme) {
    // The first of those elements that are the result.
    Value *V = primal(Vector), *Out = primal(&I);
    Value *Found = B.getFalse();
    for (unsigned K = 0; K != N; ++K) {
      Value *Is = B.CreateFCmpOEQ(B.CreateExtractElement(V, K), Out);
      Value *First = B.CreateAnd(Is, B.CreateNot(Found));
      Partials[K] = B.CreateUIToFP(First, I.getType());
      Found = B.CreateOr(Found, Is);
    }
  }
  if (this->S.hasAdjoint(Vector)) {
    Value *ToVector =
        eachLane(Adjoint, I.getType(), T, [&](Value *Lane) -> Value * {
          Value *Result = PoisonValue::get(T);
          for (unsigned K = 0; K != N; ++K)
            Result = B.CreateInsertElement(
                Result, Partials[K] ? B.CreateFMul(Lane, Partials[K]) : Lane,
                K);
          return Result;
        });
    give(Vector, convert(ToVector, T, formType(Vector)));
  }
  if (!Start || !this->S.hasAdjoint(I.getArgOperand(0)))
    return;
  const Value *First = I.getArgOperand(0);
  Value *ToStart =
      !StartPartial
          ? Adjoint
          : eachLane(Adjoint, I.getType(), I.getType(), [&](Value *Lane) {
              return B.CreateFMul(Lane, StartPartial);
            });
  give(First, convert(ToStart, I.getType(), formType(First)));
}

void AdjointEmitter::transposePermutation(const IntrinsicInst &I) {
  Value *Adjoint = take(&I);
  SmallVector<int, 16> From = permutation(I);
  auto *Struct = dyn_cast<StructType>(I.getType());
  int Base = 0;
  for (const Value *Op : I.args()) {
    auto *T = dyn_cast<FixedVectorType>(Op->getType());
    if (!T)
      break; // the constants come last
    int N = static_cast<int>(T->getNumElements());
    if (S.hasAdjoint(Op)) {
      Value *Part =
          eachLane(Adjoint, formType(&I), T, [&](Value *Lane) -> Value * {
            Lane = convertLane(Lane, I.getType());
            Value *Result = Constant::getNullValue(T);
            for (auto [To, Element] : enumerate(From)) {
              if (Element < Base || Element >= Base + N)
                continue;
              Value *Vector = Lane;
              unsigned At = To;
              if (Struct) {
                unsigned Each = cast<FixedVectorType>(Struct->getElementType(0))
                                    ->getNumElements();
                Vector = B.CreateExtractValue(Lane, At / Each);
                At %= Each;
              }
              Result = B.CreateInsertElement(
                  Result, B.CreateExtractElement(Vector, At),
                  static_cast<uint64_t>(Element - Base));
            }
            return Result;
          });
      give(Op, convert(Part, T, formType(Op)));
    }
    Base += N;
  }
}

/// Elements that are compressed or anywhere, one after the other: two may be at
/// the same place, where the last one stored is the one that stays. Adds \p
/// Lane to them, or clears them when it is null; gives what was there.
Value *AdjointEmitter::transposeElements(const Value *Ptr, unsigned K,
                                         FixedVectorType *Form, Value *Mask,
                                         Value *Lane) {
  Type *T = Form->getElementType();
  bool Known = S.state(Ptr) == ShadowState::Known;
  Value *Shadow = S.isActive(Ptr) ? laneOf(B, need({Ptr, Need::Shadow}), K,
                                           Ptr->getType(), W)
                                  : Constant::getNullValue(Ptr->getType());
  Value *Primal = Known ? nullptr : primal(Ptr);
  Value *Rank = B.getInt64(0);
  SmallVector<std::pair<Value *, Value *>, 8> Places; // shadow, primal
  unsigned N = Form->getNumElements();
  for (unsigned E = 0; E != N; ++E) {
    if (Ptr->getType()->isVectorTy()) {
      Places.push_back({B.CreateExtractElement(Shadow, E),
                        Primal ? B.CreateExtractElement(Primal, E) : nullptr});
      continue;
    }
    Value *Place = B.CreateGEP(T, Shadow, Rank);
    if (!Known)
      Place = B.CreateSelect(B.CreateIsNull(Shadow), Shadow, Place);
    Places.push_back({Place, Primal ? B.CreateGEP(T, Primal, Rank) : nullptr});
    Rank = B.CreateAdd(
        Rank, B.CreateZExt(B.CreateExtractElement(Mask, E), B.getInt64Ty()));
  }
  Value *Result = Constant::getNullValue(Form);
  for (unsigned E = N; E-- != 0;) {
    auto [Q, P] = Places[E];
    Value *On = B.CreateExtractElement(Mask, E);
    if (!Known && !S.R.Sparse)
      On = B.CreateAnd(On,
                       B.CreateAnd(B.CreateIsNotNull(Q), B.CreateICmpNE(Q, P)));
    BasicBlock *Head = B.GetInsertBlock();
    BasicBlock *Then = BasicBlock::Create(B.getContext(), "on", &Target);
    BasicBlock *Tail = BasicBlock::Create(B.getContext(), "", &Target);
    B.CreateCondBr(On, Then, Tail);
    B.SetInsertPoint(Then);
    Value *From = Q, *To = Q;
    if (!Known && S.R.Sparse) {
      SmallVector<Value *, 5> Args{
          context(), P, Q, B.getInt64(DL.getTypeStoreSize(T).getFixedValue()),
          B.getInt64(K)};
      From = B.CreateCall(D.runtime("adjoin_rt_shadow_read"), Args);
      To = B.CreateCall(D.runtime("adjoin_rt_shadow_clear"), Args);
    }
    Value *Old = B.CreateLoad(T, From);
    B.CreateStore(Lane ? B.CreateFAdd(Old, B.CreateExtractElement(Lane, E))
                       : Constant::getNullValue(T),
                  To);
    Value *After = B.CreateInsertElement(Result, Old, E);
    B.CreateBr(Tail);
    B.SetInsertPoint(Tail);
    PHINode *Phi = B.CreatePHI(Form, 2);
    Phi->addIncoming(After, Then);
    Phi->addIncoming(Result, Head);
    Result = Phi;
  }
  return Result;
}

void AdjointEmitter::transposeMasked(const IntrinsicInst &I, Structure Access) {
  const Value *Ptr = maskedPointer(I);
  bool IsLoad = Access == Structure::Load || Access == Structure::Gather;
  const Value *Data = maskedData(I);
  const Value *V = IsLoad ? &I : Data;
  if (IsLoad ? !S.hasAdjoint(&I) : !S.mayHaveShadow(Ptr))
    return;
  auto *T = cast<FixedVectorType>(V->getType());
  auto *Form =
      cast<FixedVectorType>(IsLoad ? formType(&I) : S.memoryForm(Ptr, V).T);
  if (!Form->isFPOrFPVectorTy())
    return; // no float is stored
  Value *Mask = primal(maskOf(I));
  Value *Zero = Constant::getNullValue(Form);
  unsigned PtrArg = IsLoad ? 0 : 1;
  Align A = I.getParamAlign(PtrArg).valueOrOne();
  Value *Adjoint = IsLoad ? take(&I) : nullptr;
  uint64_t Size = DL.getTypeStoreSize(Form).getFixedValue();
  SmallVector<Value *, 4> Lanes;
  for (unsigned K = 0; K != W; ++K) {
    Value *Lane = IsLoad ? laneOf(B, Adjoint, K, Form, W) : nullptr;
    if (Access == Structure::Load || Access == Structure::Store)
      Lanes.push_back(guarded(Ptr, K, Size, [&](Value *From, Value *To) {
        Value *Old = B.CreateMaskedLoad(Form, From, A, Mask, Zero);
        B.CreateMaskedStore(IsLoad ? B.CreateFAdd(Old, Lane) : Zero, To, A,
                            Mask);
        return Old;
      }));
    else
      Lanes.push_back(transposeElements(Ptr, K, Form, Mask, Lane));
  }
  if (!IsLoad) {
    if (S.hasAdjoint(Data))
      give(Data, convert(packLanes(B, Lanes, Form), Form, formType(Data)));
    return;
  }
  if (Data && S.hasAdjoint(Data))
    give(Data, convert(eachLane(Adjoint, Form, T,
                                [&](Value *Lane) {
                                  Lane = convertLane(Lane, T);
                                  return B.CreateSelect(
                                      Mask, Constant::getNullValue(T), Lane);
                                }),
                       T, formType(Data)));
}

void AdjointEmitter::transposeIntrinsic(const IntrinsicInst &I) {
  Structure Kind = structureOf(I);
  switch (Kind) {
  case Structure::None:
    break; // the subject has refused it
  case Structure::Through:
    if (S.hasAdjoint(&I)) {
      const Value *Op = I.getArgOperand(0);
      Value *Adjoint = take(&I);
      if (S.hasAdjoint(Op))
        give(Op, convert(Adjoint, formType(&I), formType(Op)));
    }
    break;
  case Structure::Sum:
  case Structure::Product:
  case Structure::Extreme:
    if (S.hasAdjoint(&I))
      transposeReduction(I, Kind);
    break;
  case Structure::Permute:
    if (S.hasAdjoint(&I))
      transposePermutation(I);
    break;
  case Structure::Load:
  case Structure::Store:
  case Structure::Gather:
  case Structure::Scatter:
    transposeMasked(I, Kind);
    break;
  }
}
