// Lanes of float vectors that nobody reads, made numbers.
#include "ad/prepare/PoisonLanes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace adjoin;

static FixedVectorType *floatVector(Type *T) {
  auto *V = dyn_cast<FixedVectorType>(T);
  return V && V->getElementType()->isFloatingPointTy() ? V : nullptr;
}

static bool defineMask(ShuffleVectorInst &Shuffle) {
  auto *Source = floatVector(Shuffle.getOperand(0)->getType());
  if (!Source || !is_contained(Shuffle.getShuffleMask(), PoisonMaskElem))
    return false;
  int Size = Source->getNumElements();
  int First = isa<UndefValue>(Shuffle.getOperand(0)) ? Size : 0;
  SmallVector<int, 16> Mask(Shuffle.getShuffleMask());
  for (auto [Lane, From] : enumerate(Mask))
    if (From == PoisonMaskElem)
      From = First + static_cast<int>(Lane) % Size;
  Shuffle.setShuffleMask(Mask);
  return true;
}

/// \p C with ones for elements that are not defined; null when all are.
static Constant *defined(Constant &C, const FixedVectorType &T) {
  SmallVector<Constant *, 16> Elements;
  bool Changed = false;
  for (unsigned I = 0; I != T.getNumElements(); ++I) {
    Constant *Element = C.getAggregateElement(I);
    if (!Element)
      return nullptr;
    if (isa<UndefValue>(Element)) {
      Element = ConstantFP::get(T.getElementType(), 1.0);
      Changed = true;
    }
    Elements.push_back(Element);
  }
  return Changed ? ConstantVector::get(Elements) : nullptr;
}

bool adjoin::definePoisonLanes(Function &F) {
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    auto *Shuffle = dyn_cast<ShuffleVectorInst>(&I);
    if (Shuffle)
      Changed |= defineMask(*Shuffle);
    else if (isa<CallBase>(I) || isa<StoreInst>(I) || isa<ReturnInst>(I))
      continue; // what is passed on, is read or has no partial
    for (Use &Operand : I.operands()) {
      auto *C = dyn_cast<Constant>(Operand);
      FixedVectorType *T = C ? floatVector(C->getType()) : nullptr;
      if (!T)
        continue;
      // A source that the mask does not mention.
      if (Shuffle && isa<UndefValue>(C))
        continue;
      if (Constant *New = defined(*C, *T)) {
        Operand.set(New);
        Changed = true;
      }
    }
  }
  return Changed;
}
