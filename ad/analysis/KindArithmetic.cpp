// What integer and floating-point arithmetic, and comparisons, say about kinds.
#include "ad/analysis/KindBuilder.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace adjoin;

//===-- Bits of addresses and of floats -----------------------------------===//

/// An integer that is (part of, or made from) the address of something: what is
/// computed from it says nothing about the pointer.
static bool isAddressBits(const Value *V, unsigned Depth = 4) {
  if (isa<PtrToIntOperator>(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth == 0)
    return false;
  if (isa<PtrToAddrInst>(I))
    return true;
  if (isa<TruncInst, ZExtInst, FreezeInst>(I))
    return isAddressBits(I->getOperand(0), Depth - 1);
  switch (I->getOpcode()) {
  case Instruction::Add:
  case Instruction::Or:
  case Instruction::And:
  case Instruction::Xor:
    return isAddressBits(I->getOperand(0), Depth - 1) ||
           isAddressBits(I->getOperand(1), Depth - 1);
  case Instruction::Sub:
    return isAddressBits(I->getOperand(0), Depth - 1) !=
           isAddressBits(I->getOperand(1), Depth - 1);
  default:
    return false;
  }
}

/// An integer made of the bits of a float: integer operations read them, which
/// does not make the float an integer.
static bool isFloatBits(const Value *V) {
  auto *B = dyn_cast<BitCastInst>(V);
  return B && B->getSrcTy()->isFPOrFPVectorTy() &&
         B->getDestTy()->isIntOrIntVectorTy();
}

void KindBuilder::seedInt(const Value *V) {
  if (isa<Constant>(V) || isAddressBits(V) || isFloatBits(V))
    return;
  seed(V, KindSet::Int);
}

//===-- Arithmetic --------------------------------------------------------===//

void KindBuilder::visitUnaryOperator(UnaryOperator &I) {
  seedByType(I.getOperand(0));
  seedByType(&I);
}

void KindBuilder::visitBinaryOperator(BinaryOperator &I) {
  if (!I.getType()->isFPOrFPVectorTy()) {
    integerOperation(I);
    return;
  }
  for (const Use &Op : I.operands())
    seedByType(Op);
  seedByType(&I);
}

/// Byte \p B of \p V is known to be zero.
static bool byteIsZero(const Value *V, unsigned B, unsigned Depth = 6) {
  const APInt *C;
  if (match(V, m_APInt(C)))
    return C->extractBits(8, B * 8).isZero();
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth == 0)
    return false;
  switch (I->getOpcode()) {
  case Instruction::ZExt: {
    unsigned Bits = I->getOperand(0)->getType()->getScalarSizeInBits();
    return B * 8 >= Bits ||
           (Bits % 8 == 0 && byteIsZero(I->getOperand(0), B, Depth - 1));
  }
  case Instruction::Trunc:
  case Instruction::Freeze:
    return byteIsZero(I->getOperand(0), B, Depth - 1);
  case Instruction::Shl:
    if (!match(I->getOperand(1), m_APInt(C)) || C->urem(8) != 0)
      return false;
    if (C->uge(B * 8 + 8))
      return true;
    return byteIsZero(I->getOperand(0), B - C->getZExtValue() / 8, Depth - 1);
  case Instruction::LShr: {
    if (!match(I->getOperand(1), m_APInt(C)) || C->urem(8) != 0)
      return false;
    unsigned Bytes = I->getType()->getScalarSizeInBits() / 8;
    uint64_t From = B + C->getZExtValue() / 8;
    return From >= Bytes || byteIsZero(I->getOperand(0), From, Depth - 1);
  }
  case Instruction::And:
    return byteIsZero(I->getOperand(0), B, Depth - 1) ||
           byteIsZero(I->getOperand(1), B, Depth - 1);
  case Instruction::Or:
  case Instruction::Xor:
    return byteIsZero(I->getOperand(0), B, Depth - 1) &&
           byteIsZero(I->getOperand(1), B, Depth - 1);
  case Instruction::Select:
    return byteIsZero(I->getOperand(1), B, Depth - 1) &&
           byteIsZero(I->getOperand(2), B, Depth - 1);
  default:
    return false;
  }
}

/// moveBytes in each lane of a vector; a scalar is one lane.
void KindBuilder::moveInLanes(const Value *To, uint64_t ToByte,
                              const Value *From, uint64_t FromByte,
                              uint64_t N) {
  uint64_t Lanes = 1;
  if (auto *V = dyn_cast<FixedVectorType>(To->getType()))
    Lanes = V->getNumElements();
  uint64_t ToSize = sizeOf(To->getType()->getScalarType());
  uint64_t FromSize = sizeOf(From->getType()->getScalarType());
  for (uint64_t L = 0; L != Lanes; ++L)
    moveBytes(To, L * ToSize + ToByte, From, L * FromSize + FromByte, N);
}

/// Shifts by whole bytes move what is not shifted out.
bool KindBuilder::byteShift(BinaryOperator &I) {
  const APInt *C;
  if (!match(I.getOperand(1), m_APInt(C)) || C->urem(8) != 0 ||
      C->uge(C->getBitWidth()))
    return false;
  uint64_t By = C->getZExtValue() / 8;
  uint64_t N = C->getBitWidth() / 8 - By;
  if (I.getOpcode() == Instruction::Shl)
    moveInLanes(&I, By, I.getOperand(0), 0, N);
  else
    moveInLanes(&I, 0, I.getOperand(0), By, N);
  return true;
}

/// Masks of whole bytes move those that they keep; masks that clear nothing but
/// sign bits (fabs in disguise) move all bytes.
bool KindBuilder::maskBytes(BinaryOperator &I) {
  const APInt *C;
  if (!match(I.getOperand(1), m_APInt(C)))
    return false;
  unsigned Bytes = C->getBitWidth() / 8;
  auto Signs = [&](unsigned Width) {
    if (C->getBitWidth() % Width != 0)
      return false;
    for (unsigned At = 0; At != C->getBitWidth(); At += Width) {
      APInt Part = C->extractBits(Width, At);
      if (!Part.isAllOnes() && !Part.isMaxSignedValue())
        return false;
    }
    return true;
  };
  if (Signs(64) || Signs(32) || Signs(16)) {
    moveInLanes(&I, 0, I.getOperand(0), 0, Bytes);
    return true;
  }
  for (unsigned B = 0; B != Bytes; ++B) {
    APInt Part = C->extractBits(8, B * 8);
    if (!Part.isZero() && !Part.isAllOnes())
      return false;
  }
  for (unsigned B = 0; B != Bytes; ++B)
    if (C->extractBits(8, B * 8).isAllOnes())
      moveInLanes(&I, B, I.getOperand(0), B, 1);
  return true;
}

/// An or (add, xor) of values that have no byte in common puts them together.
bool KindBuilder::combineBytes(BinaryOperator &I) {
  unsigned Bytes = I.getType()->getScalarSizeInBits() / 8;
  const Value *L = I.getOperand(0);
  const Value *R = I.getOperand(1);
  SmallVector<const Value *, 16> Source;
  for (unsigned B = 0; B != Bytes; ++B) {
    if (byteIsZero(R, B))
      Source.push_back(L);
    else if (byteIsZero(L, B))
      Source.push_back(R);
    else
      return false;
  }
  for (unsigned B = 0; B != Bytes;) {
    unsigned E = B + 1;
    while (E != Bytes && Source[E] == Source[B])
      ++E;
    moveInLanes(&I, B, Source[B], B, E - B);
    B = E;
  }
  return true;
}

/// The operations that change nothing but signs: xor and or with sign bits, and
/// the or of a magnitude and a sign (copysign).
bool KindBuilder::flipSigns(BinaryOperator &I) {
  const APInt *C;
  auto IsSigns = [](const APInt &A) {
    for (unsigned Width : {64U, 32U, 16U}) {
      if (A.getBitWidth() % Width != 0)
        continue;
      bool All = true;
      for (unsigned At = 0; At != A.getBitWidth(); At += Width) {
        APInt Part = A.extractBits(Width, At);
        All &= Part.isZero() || Part.isSignMask();
      }
      if (All)
        return true;
    }
    return false;
  };
  if (match(I.getOperand(1), m_APInt(C)) && IsSigns(*C)) {
    move(&I, I.getOperand(0));
    return true;
  }
  for (unsigned Sign : {0U, 1U})
    if (match(I.getOperand(Sign), m_And(m_Value(), m_APInt(C))) &&
        IsSigns(*C)) {
      // Either a sign is put to a magnitude, or it is xored in.
      move(&I, I.getOperand(1 - Sign));
      return true;
    }
  return false;
}

/// Operations that look at the bits of what may be a float, and make an
/// integer: exponent, mantissa and sign extraction, and the integer whose order
/// is that of floats (x ^ ((x >> 63) >>> 1)).
bool KindBuilder::readsBits(BinaryOperator &I) {
  unsigned Bits = I.getType()->getScalarSizeInBits();
  if (Bits != 64 && Bits != 32 && Bits != 16)
    return false;
  const APInt *C;
  unsigned Mantissa = Bits == 64 ? 52 : Bits == 32 ? 23 : 10;
  switch (I.getOpcode()) {
  case Instruction::LShr:
  case Instruction::AShr:
    return match(I.getOperand(1), m_APInt(C)) &&
           (*C == Mantissa || *C == Bits - 1);
  case Instruction::And: {
    if (!match(I.getOperand(1), m_APInt(C)))
      return false;
    APInt Low = APInt::getLowBitsSet(Bits, Mantissa);
    APInt Exponent = APInt::getSignedMaxValue(Bits) & ~Low;
    return *C == Low || *C == Exponent || C->isSignMask() ||
           *C == (Exponent | APInt::getSignMask(Bits));
  }
  case Instruction::Xor: {
    Value *X;
    return match(&I, m_c_Xor(m_LShr(m_AShr(m_Value(X), m_SpecificInt(Bits - 1)),
                                    m_One()),
                             m_Deferred(X)));
  }
  default:
    return false;
  }
}

/// The integer becomes a pointer, possibly after more arithmetic.
static bool becomesPointer(const Value *V, unsigned Depth = 4) {
  return any_of(V->users(), [&](const User *U) {
    if (isa<IntToPtrInst>(U))
      return true;
    return Depth != 0 &&
           isa<BinaryOperator, PHINode, SelectInst, FreezeInst>(U) &&
           becomesPointer(U, Depth - 1);
  });
}

/// Sums with an address give an address in the same object, when they are used
/// as one.
bool KindBuilder::addressArithmetic(BinaryOperator &I) {
  if (!isAddressBits(&I))
    return false;
  CellId C = cell(&I);
  if (C == None)
    return true;
  bool First = isAddressBits(I.getOperand(0));
  const Value *Address = I.getOperand(First ? 0 : 1);
  const Value *Other = I.getOperand(First ? 1 : 0);
  CellId From = cell(Address);
  if (From == None || G.size(From) != DL.getPointerSize() ||
      !becomesPointer(&I)) {
    // A distance, a hash, an alignment.
    G.seed(C, KindSet::Int);
    return true;
  }
  Handle H = G.pointee(From);
  const APInt *A;
  if (I.getOpcode() == Instruction::Add && match(Other, m_APInt(A)) &&
      A->getSignificantBits() <= 48)
    H = H.plus(A->getSExtValue());
  else if (I.getOpcode() == Instruction::Add ||
           I.getOpcode() == Instruction::Sub)
    foldBy(H, Other, 1);
  // And, or, xor set and clear tag bits and align.
  G.point(C, H);
  return true;
}

void KindBuilder::integerOperation(BinaryOperator &I) {
  if (addressArithmetic(I))
    return;
  bool Bytes = hasBytes(I.getType()) && DL.isLittleEndian();
  switch (I.getOpcode()) {
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
    if (Bytes && byteShift(I))
      return;
    break;
  case Instruction::And:
    if (Bytes && maskBytes(I))
      return;
    break;
  case Instruction::Or:
  case Instruction::Add:
  case Instruction::Xor:
    if (Bytes && (flipSigns(I) || combineBytes(I)))
      return;
    break;
  default:
    break;
  }
  seed(&I, KindSet::Int);
  // What becomes a float may have been one: that its bits are computed with
  // does not make integers of the memory that it was read from. Results do.
  if (readsBits(I) || FloatBound.contains(&I))
    return;
  for (const Use &Op : I.operands())
    seedInt(Op);
}

//===-- Comparisons -------------------------------------------------------===//

void KindBuilder::visitICmpInst(ICmpInst &I) {
  const Value *L = I.getOperand(0);
  const Value *R = I.getOperand(1);
  if (L->getType()->isPtrOrPtrVectorTy()) {
    seed(L, KindSet::Ptr);
    seed(R, KindSet::Ptr);
    return;
  }
  if (auto *C = dyn_cast<Constant>(R)) {
    // Zero compares anything; so do the bounds of signs and of infinities.
    const APInt *A;
    if (match(C, m_APInt(A)) &&
        A->getSignificantBits() <= std::max(16U, A->getBitWidth() / 2) &&
        !A->isZero() && !A->isAllOnes() && !A->isSignMask() &&
        !A->isMaxSignedValue())
      seedInt(L);
    return;
  }
  if (isa<Constant>(L))
    return;
  CellId A = cell(L);
  CellId B = cell(R);
  if (A != None && B != None && A != B && !isAddressBits(L) &&
      !isAddressBits(R))
    Compares.emplace_back(A, B);
}

/// What is compared with an integer, and of which nothing else is known, is an
/// integer too.
bool KindBuilder::compareDeferred(size_t First) {
  bool Changed = false;
  for (size_t I = First; I != Compares.size(); ++I) {
    auto [A, B] = Compares[I];
    // Never where a floating-point type was seen.
    KindSet KA = G.ownKinds(A);
    KindSet KB = G.ownKinds(B);
    if (KA == KB)
      continue;
    if (KA.only(KindSet::Int) && KB.empty())
      G.seed(B, KindSet::Int);
    else if (KB.only(KindSet::Int) && KA.empty())
      G.seed(A, KindSet::Int);
    else
      continue;
    Changed = true;
  }
  return Changed;
}

void KindBuilder::visitFCmpInst(FCmpInst &I) {
  seedByType(I.getOperand(0));
  seedByType(I.getOperand(1));
}
