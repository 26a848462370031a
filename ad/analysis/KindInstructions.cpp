// What instructions that move bytes, access memory or make pointers say about
// kinds.
#include "ad/analysis/KindBuilder.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include <numeric>

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace adjoin;

//===-- Memory ------------------------------------------------------------===//

void KindBuilder::visitLoadInst(LoadInst &I) {
  Handle H = pointee(I.getPointerOperand());
  if (I.getType()->isFPOrFPVectorTy())
    seed(&I, KindGraph::FloatTyped);
  if (CellId C = cell(&I); C != None)
    G.access(H, C, 0, G.size(C));
  else if (I.getType()->isIntOrIntVectorTy() && !I.getType()->isScalableTy())
    G.seed(H, sizeOf(I.getType()), KindSet::Int);
  // Only integers have ranges.
  if (I.getMetadata(LLVMContext::MD_range))
    seed(&I, KindSet::Int);
}

void KindBuilder::visitStoreInst(StoreInst &I) {
  Handle H = pointee(I.getPointerOperand());
  const Value *V = I.getValueOperand();
  Type *T = V->getType();
  if (!hasBytes(T)) {
    if (T->isIntOrIntVectorTy() && !T->isScalableTy())
      G.seed(H, sizeOf(T), KindSet::Int);
    return;
  }
  if (T->isFPOrFPVectorTy())
    G.seed(H, sizeOf(T), KindGraph::FloatTyped);
  if (CellId C = cell(V); C != None)
    G.access(H, C, 0, G.size(C));
  else if (T->isPtrOrPtrVectorTy())
    G.seed(H, sizeOf(T), KindSet::Ptr);
}

void KindBuilder::visitAllocaInst(AllocaInst &I) {
  seedInt(I.getArraySize());
  pointee(&I);
}

void KindBuilder::visitAtomicRMWInst(AtomicRMWInst &I) {
  Handle H = pointee(I.getPointerOperand());
  CellId C = cell(&I);
  if (C == None)
    return;
  G.access(H, C, 0, G.size(C));
  move(&I, I.getValOperand());
  if (I.getOperation() == AtomicRMWInst::Xchg)
    return;
  if (I.isFloatingPointOperation())
    seed(&I, KindSet::ofFloat(I.getType()->getScalarType()));
  else
    seed(&I, KindSet::Int);
}

void KindBuilder::visitAtomicCmpXchgInst(AtomicCmpXchgInst &I) {
  Handle H = pointee(I.getPointerOperand());
  CellId C = cell(&I);
  Type *T = I.getNewValOperand()->getType();
  if (C == None || !hasBytes(T))
    return;
  G.access(H, C, 0, sizeOf(T));
  moveBytes(&I, 0, I.getNewValOperand(), 0, sizeOf(T));
  moveBytes(&I, 0, I.getCompareOperand(), 0, sizeOf(T));
}

//===-- Pointers ----------------------------------------------------------===//

static uint64_t magnitude(const APInt &A) {
  APInt Abs = A.abs();
  return Abs.getActiveBits() > 63 ? uint64_t(1) << 62 : Abs.getZExtValue();
}

void KindBuilder::multipleOf(const Value *V, Stride &S, unsigned Depth,
                             SmallPtrSetImpl<const Value *> &Phis) {
  auto Include = [&](uint64_t N) { S.Gcd = std::gcd(S.Gcd, N); };
  const APInt *C;
  if (match(V, m_APInt(C)))
    return Include(magnitude(*C));
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth == 0)
    return Include(1);
  Value *A;
  Value *B;
  switch (I->getOpcode()) {
  case Instruction::Sub:
    if (match(I->getOperand(0), m_PtrToInt(m_Value(A))) &&
        match(I->getOperand(1), m_PtrToInt(m_Value(B))) && cell(A) != None &&
        cell(B) != None) {
      S.Differences.emplace_back(cell(A), cell(B));
      return;
    }
    [[fallthrough]];
  case Instruction::Add:
    multipleOf(I->getOperand(0), S, Depth - 1, Phis);
    multipleOf(I->getOperand(1), S, Depth - 1, Phis);
    return;
  case Instruction::Mul: {
    uint64_t Product = 1;
    for (const Use &Op : I->operands()) {
      Stride Factor;
      multipleOf(Op, Factor, Depth - 1, Phis);
      if (Factor.Differences.empty() && Factor.Gcd < (1U << 30) &&
          Product < (1U << 30))
        Product *= Factor.Gcd;
    }
    return Include(Product);
  }
  case Instruction::Shl:
    if (match(I->getOperand(1), m_APInt(C)) && C->ult(62)) {
      Stride Base;
      multipleOf(I->getOperand(0), Base, Depth - 1, Phis);
      uint64_t Gcd = Base.Differences.empty() ? Base.Gcd : 1;
      return Include(Gcd < (1U << 30) && C->ult(30)
                         ? Gcd << C->getZExtValue()
                         : uint64_t(1) << C->getZExtValue());
    }
    return Include(1);
  case Instruction::And:
    if (match(I->getOperand(1), m_APInt(C)) && !C->isZero())
      return Include(uint64_t(1) << std::min(62U, C->countr_zero()));
    return Include(1);
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::Freeze:
    return multipleOf(I->getOperand(0), S, Depth - 1, Phis);
  case Instruction::Select:
    multipleOf(I->getOperand(1), S, Depth - 1, Phis);
    multipleOf(I->getOperand(2), S, Depth - 1, Phis);
    return;
  case Instruction::PHI:
    // What a cycle adds is counted at its other operands.
    if (!Phis.insert(I).second)
      return;
    for (const Use &Op : I->operands())
      multipleOf(Op, S, Depth - 1, Phis);
    return;
  default:
    return Include(1);
  }
}

void KindBuilder::foldBy(Handle H, const Value *Index, uint64_t Scale) {
  Stride S;
  SmallPtrSet<const Value *, 4> Phis;
  multipleOf(Index, S, 6, Phis);
  if (S.Differences.empty() || Scale != 1) {
    // Zero: the index is the constant zero.
    uint64_t Gcd = S.Differences.empty() ? S.Gcd : 1;
    G.fold(H, Gcd < (1U << 30) && Scale < (1U << 30) ? Gcd * Scale : Scale);
    return;
  }
  Folds.push_back({H, std::move(S)});
}

bool KindBuilder::foldDeferred(size_t First) {
  bool Changed = false;
  for (size_t I = First; I != Folds.size(); ++I) {
    const DeferredFold &F = Folds[I];
    uint64_t Gcd = F.S.Gcd;
    for (auto [A, B] : F.S.Differences) {
      Handle To = G.pointee(A);
      Handle From = G.pointee(B);
      // Pointers that are subtracted point into one object.
      if (To.Region != From.Region) {
        G.merge(To, From);
        To = G.resolve(To);
        From = G.resolve(From);
      }
      Gcd = std::gcd(Gcd, G.stride(To));
      Gcd = std::gcd(Gcd, static_cast<uint64_t>(To.Offset - From.Offset));
    }
    uint64_t Before = G.stride(F.H);
    G.fold(F.H, Gcd);
    Changed |= G.stride(F.H) != Before;
  }
  return Changed;
}

void KindBuilder::offsetPointer(const Value *Result, const GEPOperator &GEP) {
  Handle Base = pointee(GEP.getPointerOperand());
  CellId C = cell(Result);
  if (C == None)
    return;
  unsigned Bits = DL.getIndexTypeSizeInBits(GEP.getType());
  SmallMapVector<Value *, APInt, 4> Variable;
  APInt Constant(Bits, 0);
  if (!GEP.collectOffset(DL, Bits, Variable, Constant)) {
    G.fold(Base, 1); // scalable
    G.point(C, Base);
    return;
  }
  for (auto &[Index, Scale] : Variable) {
    seedInt(Index);
    foldBy(Base, Index, magnitude(Scale));
  }
  G.point(C, Base.plus(Constant.getSExtValue()));
}

void KindBuilder::visitGetElementPtrInst(GetElementPtrInst &I) {
  offsetPointer(&I, cast<GEPOperator>(I));
}

//===-- Moves -------------------------------------------------------------===//

void KindBuilder::visitPHINode(PHINode &I) {
  for (const Use &Op : I.incoming_values())
    move(&I, Op);
}

void KindBuilder::visitSelectInst(SelectInst &I) {
  move(&I, I.getTrueValue());
  move(&I, I.getFalseValue());
}

void KindBuilder::visitFreezeInst(FreezeInst &I) { move(&I, I.getOperand(0)); }

void KindBuilder::visitCastInst(CastInst &I) {
  const Value *From = I.getOperand(0);
  switch (I.getOpcode()) {
  case Instruction::Trunc:
  case Instruction::ZExt: {
    bool Narrow = I.getOpcode() == Instruction::Trunc;
    const Value *Small = Narrow ? static_cast<Value *>(&I) : From;
    if (hasBytes(Small->getType()) && DL.isLittleEndian()) {
      moveInLanes(&I, 0, From, 0, sizeOf(Small->getType()->getScalarType()));
      return;
    }
    // The value of a bit, a nibble.
    seed(&I, KindSet::Int);
    seedInt(From);
    return;
  }
  case Instruction::SExt:
    seedInt(From);
    seed(&I, KindSet::Int);
    return;
  case Instruction::FPTrunc:
  case Instruction::FPExt:
  case Instruction::FPToUI:
  case Instruction::FPToSI:
  case Instruction::UIToFP:
  case Instruction::SIToFP:
    seedByType(From);
    seedByType(&I);
    return;
  case Instruction::PtrToInt:
  case Instruction::PtrToAddr:
    seed(From, KindSet::Ptr);
    if (hasBytes(I.getType()))
      move(&I, From);
    return;
  case Instruction::IntToPtr:
    seed(&I, KindSet::Ptr);
    move(&I, From);
    return;
  case Instruction::BitCast:
  case Instruction::AddrSpaceCast:
    move(&I, From);
    return;
  default:
    return;
  }
}

void KindBuilder::visitExtractValueInst(ExtractValueInst &I) {
  const Value *From = I.getAggregateOperand();
  if (hasBytes(I.getType()))
    moveBytes(&I, 0, From, aggregateOffset(From->getType(), I.getIndices()),
              sizeOf(I.getType()));
}

void KindBuilder::visitInsertValueInst(InsertValueInst &I) {
  const Value *Whole = I.getAggregateOperand();
  const Value *Part = I.getInsertedValueOperand();
  CellId C = cell(&I);
  if (C == None)
    return;
  uint64_t At = aggregateOffset(I.getType(), I.getIndices());
  uint64_t Size = sizeOf(Part->getType());
  // What was in the replaced bytes does not come along.
  moveBytes(&I, 0, Whole, 0, At);
  if (At + Size < G.size(C))
    moveBytes(&I, At + Size, Whole, At + Size, G.size(C) - At - Size);
  if (hasBytes(Part->getType()))
    moveBytes(&I, At, Part, 0, Size);
  else if (Part->getType()->isIntegerTy())
    G.seed(C, At, Size, KindSet::Int);
}

void KindBuilder::visitExtractElementInst(ExtractElementInst &I) {
  seedInt(I.getIndexOperand());
  const Value *From = I.getVectorOperand();
  auto *T = dyn_cast<FixedVectorType>(From->getType());
  if (!T || !hasBytes(T))
    return;
  uint64_t Size = sizeOf(T->getElementType());
  if (auto *C = dyn_cast<ConstantInt>(I.getIndexOperand())) {
    if (C->getValue().ult(T->getNumElements()))
      moveBytes(&I, 0, From, C->getZExtValue() * Size, Size);
    return;
  }
  for (unsigned L = 0; L != T->getNumElements(); ++L)
    moveBytes(&I, 0, From, L * Size, Size);
}

void KindBuilder::visitInsertElementInst(InsertElementInst &I) {
  seedInt(I.getOperand(2));
  auto *T = dyn_cast<FixedVectorType>(I.getType());
  if (!T || !hasBytes(T))
    return;
  uint64_t Size = sizeOf(T->getElementType());
  auto *C = dyn_cast<ConstantInt>(I.getOperand(2));
  for (unsigned L = 0; L != T->getNumElements(); ++L) {
    bool Replaced = C && C->equalsInt(L);
    if (!Replaced)
      moveBytes(&I, L * Size, I.getOperand(0), L * Size, Size);
    if (!C || Replaced)
      moveBytes(&I, L * Size, I.getOperand(1), 0, Size);
  }
}

void KindBuilder::visitShuffleVectorInst(ShuffleVectorInst &I) {
  auto *T = dyn_cast<FixedVectorType>(I.getType());
  auto *From = dyn_cast<FixedVectorType>(I.getOperand(0)->getType());
  if (!T || !From || !hasBytes(T) || !hasBytes(From))
    return;
  uint64_t Size = sizeOf(T->getElementType());
  int Lanes = static_cast<int>(From->getNumElements());
  for (auto [L, Source] : enumerate(I.getShuffleMask())) {
    if (Source < 0)
      continue;
    bool First = Source < Lanes;
    moveBytes(&I, L * Size, I.getOperand(First ? 0 : 1),
              (First ? Source : Source - Lanes) * Size, Size);
  }
}

//===-- Control -----------------------------------------------------------===//

void KindBuilder::visitSwitchInst(SwitchInst &I) { seedInt(I.getCondition()); }

void KindBuilder::visitIndirectBrInst(IndirectBrInst &I) {
  seed(I.getAddress(), KindSet::Ptr);
}

/// Any landing pad may meet any exception.
KindBuilder::CellId KindBuilder::exception() {
  if (Exception == None) {
    Exception = G.makeCell(DL.getPointerSize());
    G.makeGlobal(Exception);
  }
  return Exception;
}

void KindBuilder::visitLandingPadInst(LandingPadInst &I) {
  if (CellId C = cell(&I); C != None) {
    CellId E = exception();
    G.unify(C, 0, E, 0, std::min(G.size(C), G.size(E)));
  }
}

void KindBuilder::visitResumeInst(ResumeInst &I) {
  if (CellId C = cell(I.getValue()); C != None) {
    CellId E = exception();
    G.unify(C, 0, E, 0, std::min(G.size(C), G.size(E)));
  }
}

void KindBuilder::visitReturnInst(ReturnInst &I) {
  if (const Value *V = I.getReturnValue())
    if (CellId C = cell(V); C != None)
      G.unify(C, Entities[Current].Return);
}
