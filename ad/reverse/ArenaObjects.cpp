// Arena objects: sizes, and pointers in shadow memory.
#include "ad/reverse/ArenaObjects.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

Value *adjoin::arenaStride(IRBuilder<> &B, Value *Size) {
  return B.CreateAnd(B.CreateAdd(Size, B.getInt64(15)), B.getInt64(-16));
}

Value *adjoin::allocaSize(IRBuilder<> &B, const AllocaInst &I, Value *Count) {
  const DataLayout &DL = I.getDataLayout();
  uint64_t Element = DL.getTypeAllocSize(I.getAllocatedType()).getFixedValue();
  return B.CreateMul(B.CreateZExtOrTrunc(Count, B.getInt64Ty()),
                     B.getInt64(Element));
}

Value *adjoin::arenaSize(IRBuilder<> &B, const AllocaInst &I, Value *Stride,
                         unsigned W) {
  Value *Size = B.CreateMul(Stride, B.getInt64(W + 1));
  if (I.getAlign() > Align(16))
    Size = B.CreateAdd(Size, B.getInt64(I.getAlign().value()));
  return Size;
}

/// Calls \p F with the path of each scalar member of \p T and its offset.
static void
forEachLeaf(Type *T, const DataLayout &DL, uint64_t Offset,
            SmallVectorImpl<unsigned> &Path,
            function_ref<void(Type *, uint64_t, ArrayRef<unsigned>)> F) {
  if (auto *Struct = dyn_cast<StructType>(T)) {
    const StructLayout *Layout = DL.getStructLayout(Struct);
    for (unsigned I = 0; I != Struct->getNumElements(); ++I) {
      Path.push_back(I);
      forEachLeaf(Struct->getElementType(I), DL,
                  Offset + Layout->getElementOffset(I).getFixedValue(), Path,
                  F);
      Path.pop_back();
    }
    return;
  }
  if (auto *Array = dyn_cast<ArrayType>(T)) {
    uint64_t Size =
        DL.getTypeAllocSize(Array->getElementType()).getFixedValue();
    for (unsigned I = 0; I != Array->getNumElements(); ++I) {
      Path.push_back(I);
      forEachLeaf(Array->getElementType(), DL, Offset + I * Size, Path, F);
      Path.pop_back();
    }
    return;
  }
  F(T, Offset, Path);
}

Value *adjoin::normalisedShadow(IRBuilder<> &B, Value *Shadow, Value *Primal) {
  Type *T = Shadow->getType();
  const DataLayout &DL = B.GetInsertBlock()->getModule()->getDataLayout();
  SmallVector<unsigned, 4> Path;
  Value *Result = Shadow;
  forEachLeaf(T, DL, 0, Path, [&](Type *Leaf, uint64_t, ArrayRef<unsigned> At) {
    if (!Leaf->isPtrOrPtrVectorTy())
      return;
    Value *Q = At.empty() ? Shadow : B.CreateExtractValue(Shadow, At);
    Value *V = At.empty() ? Primal : B.CreateExtractValue(Primal, At);
    Q = B.CreateSelect(B.CreateICmpEQ(Q, Constant::getNullValue(Leaf)), V, Q);
    Result = At.empty() ? Q : B.CreateInsertValue(Result, Q, At);
  });
  return Result;
}

void adjoin::storePointers(IRBuilder<> &B, Value *Shadow, Value *Address,
                           Align A, const DataLayout &DL) {
  SmallVector<unsigned, 4> Path;
  forEachLeaf(Shadow->getType(), DL, 0, Path,
              [&](Type *Leaf, uint64_t Offset, ArrayRef<unsigned> At) {
                bool Whole = At.empty();
                if (!Leaf->isPtrOrPtrVectorTy() &&
                    !(Whole && Leaf->isIntOrIntVectorTy()))
                  return;
                B.CreateAlignedStore(
                    Whole ? Shadow : B.CreateExtractValue(Shadow, At),
                    Whole
                        ? Address
                        : B.CreateConstGEP1_64(B.getInt8Ty(), Address, Offset),
                    commonAlignment(A, Offset));
              });
}

/// The name of the runtime's function that undoes a copy of floats.
std::string adjoin::pullName(KindSet Kinds, bool Down) {
  StringRef Suffix;
  switch (Kinds.bits()) {
  case KindSet::F16:
    Suffix = "f16";
    break;
  case KindSet::BF16:
    Suffix = "bf16";
    break;
  case KindSet::F32:
    Suffix = "f32";
    break;
  case KindSet::F64:
    Suffix = "f64";
    break;
  case KindSet::F80:
    Suffix = "f80";
    break;
  case KindSet::F128:
    Suffix = "f128";
    break;
  default:
    llvm_unreachable("a piece of floats has one kind");
  }
  return ((Down ? "adjoin_rt_pull_down_" : "adjoin_rt_pull_") + Suffix).str();
}

Value *adjoin::callInMemory(IRBuilder<> &B, Function &F,
                            SmallVectorImpl<Value *> &Args, uint64_t Size) {
  BasicBlock &Entry = B.GetInsertBlock()->getParent()->getEntryBlock();
  IRBuilder<> AtEntry(&Entry, Entry.begin());
  bool SRet = F.hasParamAttribute(0, Attribute::StructRet);
  const DataLayout &DL = F.getParent()->getDataLayout();
  Type *Returned = F.getReturnType();
  if (!SRet && !Returned->isVoidTy())
    Size =
        std::max<uint64_t>(Size, DL.getTypeAllocSize(Returned).getFixedValue());
  AllocaInst *Memory = AtEntry.CreateAlloca(
      ArrayType::get(B.getInt8Ty(), std::max<uint64_t>(Size, 1)));
  Memory->setAlignment(Align(16));
  // Members that the function does not return are zero.
  B.CreateMemSet(Memory, B.getInt8(0), Size, Align(16));
  if (SRet)
    Args.insert(Args.begin(), Memory);
  CallInst *Call = B.CreateCall(&F, Args);
  Call->setCallingConv(F.getCallingConv());
  if (SRet)
    Call->addParamAttrs(
        0, AttrBuilder(F.getContext(), F.getAttributes().getParamAttrs(0)));
  else if (!Returned->isVoidTy())
    B.CreateStore(Call, Memory);
  return Memory;
}
