// Conversions of marker arguments: C's varargs promotions taken back, and
// registers that languages fill differently.
#include "Conversions.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace adjoin;

Fit adjoin::fit(const CallBase &Call, unsigned Operand, Type *To,
                const ConstantInt *Number) {
  const DataLayout &DL = Call.getDataLayout();
  Type *From = Call.getArgOperand(Operand)->getType();
  if (From == To)
    return Fit::Good;
  bool Promoted = Operand >= Call.getFunctionType()->getNumParams();
  if (Promoted && From->isDoubleTy() && To->isFloatTy())
    return Fit::Good;
  if (From->isIntegerTy() && To->isIntegerTy()) {
    unsigned Bits = To->getIntegerBitWidth();
    if (Promoted && From->isIntegerTy(32) && Bits < 32)
      return Fit::Good;
    // The number 10 is an int in C, whatever is meant.
    if (Number &&
        (Number->getValue().isSignedIntN(Bits) ||
         Number->getValue().isIntN(Bits)) &&
        (Bits < Number->getBitWidth() || !Number->isNegative()))
      return Fit::Good;
    return Fit::No;
  }
  if ((From->isPointerTy() && To == DL.getIntPtrType(From)) ||
      (To->isPointerTy() && From == DL.getIntPtrType(To)))
    return Fit::Loose;
  // A pair of floats: <2 x float> for clang, a double or i64 for rustc.
  if ((From->isVectorTy() || To->isVectorTy()) && !holdsPointer(From) &&
      !holdsPointer(To) && From->isSized() && To->isSized() &&
      CastInst::isBitCastable(From, To))
    return Fit::Good;
  return Fit::No;
}

Value *adjoin::convert(IRBuilder<> &B, Value *V, Type *To) {
  Type *From = V->getType();
  if (From == To)
    return V;
  if (From->isFloatingPointTy() && To->isFloatingPointTy())
    return B.CreateFPCast(V, To);
  if (From->isIntegerTy() && To->isIntegerTy())
    return B.CreateSExtOrTrunc(V, To);
  return B.CreateBitOrPointerCast(V, To);
}

bool adjoin::holdsFloat(const Type *T) {
  if (auto *S = dyn_cast<StructType>(T))
    return any_of(S->elements(), holdsFloat);
  if (auto *A = dyn_cast<ArrayType>(T))
    return holdsFloat(A->getElementType());
  return T->isFPOrFPVectorTy();
}

bool adjoin::holdsPointer(const Type *T) {
  if (auto *S = dyn_cast<StructType>(T))
    return any_of(S->elements(), holdsPointer);
  if (auto *A = dyn_cast<ArrayType>(T))
    return holdsPointer(A->getElementType());
  return T->isPtrOrPtrVectorTy();
}

std::string adjoin::typeName(const Type *T) {
  std::string Text;
  raw_string_ostream OS(Text);
  T->print(OS, /*IsForDebug=*/false, /*NoDetails=*/true);
  return "'" + Text + "'";
}
