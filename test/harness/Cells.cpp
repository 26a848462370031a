// Layout and conversion of typed memory.
#include "Cells.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace adjoin::test;

uint64_t adjoin::test::sizeOf(const Cell &C) {
  switch (C.Kind) {
  case CellKind::I8:
    return 1;
  case CellKind::F16:
  case CellKind::BF16:
  case CellKind::I16:
    return 2;
  case CellKind::F32:
  case CellKind::I32:
    return 4;
  case CellKind::F64:
  case CellKind::I64:
  case CellKind::Ptr:
    return 8;
  case CellKind::F80:
  case CellKind::F128:
  case CellKind::I128:
    return 16;
  case CellKind::Pad:
    return C.Int;
  }
  llvm_unreachable("no such cell");
}

uint64_t adjoin::test::alignOf(const Cell &C) {
  return C.Kind == CellKind::Pad ? 1 : sizeOf(C);
}

std::vector<uint64_t> adjoin::test::layOut(const std::vector<Cell> &Cells,
                                           bool Packed, uint64_t &Size) {
  std::vector<uint64_t> Offsets;
  uint64_t At = 0, MaxAlign = 1;
  for (const Cell &C : Cells) {
    uint64_t A = Packed ? 1 : alignOf(C);
    MaxAlign = std::max(MaxAlign, A);
    At = alignTo(At, A);
    Offsets.push_back(At);
    At += sizeOf(C);
  }
  Size = alignTo(At, MaxAlign);
  return Offsets;
}

static const fltSemantics &semantics(CellKind K) {
  switch (K) {
  case CellKind::F16:
    return APFloat::IEEEhalf();
  case CellKind::BF16:
    return APFloat::BFloat();
  case CellKind::F32:
    return APFloat::IEEEsingle();
  case CellKind::F80:
    return APFloat::x87DoubleExtended();
  case CellKind::F128:
    return APFloat::IEEEquad();
  default:
    return APFloat::IEEEdouble();
  }
}

double adjoin::test::readFloat(CellKind K, const char *P) {
  unsigned Bits = APFloat::getSizeInBits(semantics(K));
  uint64_t Words[2] = {0, 0};
  memcpy(Words, P, (Bits + 7) / 8);
  APFloat F(semantics(K), APInt(Bits, Words));
  bool Lossy;
  F.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Lossy);
  return F.convertToDouble();
}

void adjoin::test::writeFloat(CellKind K, char *P, double V) {
  APFloat F(V);
  bool Lossy;
  F.convert(semantics(K), APFloat::rmNearestTiesToEven, &Lossy);
  APInt Bits = F.bitcastToAPInt();
  memcpy(P, Bits.getRawData(), (Bits.getBitWidth() + 7) / 8);
}

int64_t adjoin::test::readInt(CellKind K, const char *P) {
  uint64_t V = 0;
  uint64_t Size = std::min<uint64_t>(8, sizeOf({K}));
  memcpy(&V, P, Size);
  return SignExtend64(V, Size * 8);
}

void adjoin::test::writeInt(CellKind K, char *P, int64_t V) {
  uint64_t Size = sizeOf({K});
  int64_t Words[2] = {V, V < 0 ? -1 : 0};
  memcpy(P, Words, Size);
}

double adjoin::test::unitOf(CellKind K) {
  return std::ldexp(1.0, -static_cast<int>(std::min(
                             53u, APFloat::semanticsPrecision(semantics(K)))));
}

bool adjoin::test::flatten(Type *T, const DataLayout &DL, uint64_t Offset,
                           std::vector<std::pair<uint64_t, CellKind>> &Out) {
  if (auto *S = dyn_cast<StructType>(T)) {
    const StructLayout *L = DL.getStructLayout(S);
    for (unsigned I = 0; I != S->getNumElements(); ++I)
      if (!flatten(S->getElementType(I), DL, Offset + L->getElementOffset(I),
                   Out))
        return false;
    return true;
  }
  if (auto *A = dyn_cast<ArrayType>(T)) {
    uint64_t Stride = DL.getTypeAllocSize(A->getElementType());
    for (uint64_t I = 0; I != A->getNumElements(); ++I)
      if (!flatten(A->getElementType(), DL, Offset + I * Stride, Out))
        return false;
    return true;
  }
  if (auto *V = dyn_cast<FixedVectorType>(T)) {
    uint64_t Bits = DL.getTypeSizeInBits(V->getElementType());
    if (Bits % 8 != 0)
      return false;
    for (unsigned I = 0; I != V->getNumElements(); ++I)
      if (!flatten(V->getElementType(), DL, Offset + I * Bits / 8, Out))
        return false;
    return true;
  }
  CellKind K;
  if (T->isHalfTy())
    K = CellKind::F16;
  else if (T->isBFloatTy())
    K = CellKind::BF16;
  else if (T->isFloatTy())
    K = CellKind::F32;
  else if (T->isDoubleTy())
    K = CellKind::F64;
  else if (T->isX86_FP80Ty())
    K = CellKind::F80;
  else if (T->isFP128Ty())
    K = CellKind::F128;
  else if (T->isPointerTy())
    K = CellKind::Ptr;
  else if (T->isIntegerTy(1) || T->isIntegerTy(8))
    K = CellKind::I8;
  else if (T->isIntegerTy(16))
    K = CellKind::I16;
  else if (T->isIntegerTy(32))
    K = CellKind::I32;
  else if (T->isIntegerTy(64))
    K = CellKind::I64;
  else if (T->isIntegerTy(128))
    K = CellKind::I128;
  else
    return false;
  Out.push_back({Offset, K});
  return true;
}
