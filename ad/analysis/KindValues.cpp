// Cells of SSA values, constants and globals.
#include "ad/analysis/KindBuilder.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace adjoin;

bool KindBuilder::hasBytes(const Type *T) const {
  if (auto *I = dyn_cast<IntegerType>(T))
    return I->getBitWidth() % 8 == 0 && I->getBitWidth() <= 8 * 16;
  if (T->isFloatingPointTy() || T->isPointerTy())
    return true;
  if (auto *V = dyn_cast<FixedVectorType>(T)) {
    if (!hasBytes(V->getElementType()))
      return false;
  } else if (!T->isStructTy() && !T->isArrayTy()) {
    return false;
  }
  auto *Mutable = const_cast<Type *>(T);
  if (!T->isSized() || T->isScalableTy())
    return false;
  uint64_t Size = DL.getTypeStoreSize(Mutable);
  return Size > 0 && Size <= KindGraph::MaxCell;
}

uint64_t KindBuilder::sizeOf(const Type *T) const {
  return DL.getTypeStoreSize(const_cast<Type *>(T));
}

KindBuilder::CellId KindBuilder::makeCellFor(const Type *T) {
  if (!hasBytes(T))
    return None;
  CellId C = G.makeCell(sizeOf(T));
  if (T->isPtrOrPtrVectorTy())
    G.seed(C, KindSet::Ptr);
  return C;
}

KindBuilder::CellId KindBuilder::cell(const Value *V) {
  // Each use of a constant has its own cell: equal constants are not moved to
  // each other.
  if (auto *C = dyn_cast<Constant>(V))
    return constantCell(C);
  if (auto It = Cells.find(V); It != Cells.end())
    return It->second;
  CellId C = makeCellFor(V->getType());
  Cells[V] = C;
  return C;
}

KindBuilder::CellId KindBuilder::known(const Value *V) const {
  auto It = Cells.find(V);
  return It == Cells.end() ? None : It->second;
}

/// Bits of a constant say nothing about kinds, except that addresses in it are
/// pointers: only a constant with addresses gets a cell.
static bool holdsAddress(const Constant *C) {
  SmallVector<const Constant *, 8> Work{C};
  while (!Work.empty()) {
    const Constant *Top = Work.pop_back_val();
    if (isa<GlobalValue>(Top) || isa<ConstantExpr>(Top))
      return true;
    if (isa<ConstantAggregate>(Top))
      for (const Use &Op : Top->operands())
        Work.push_back(cast<Constant>(&Op));
  }
  return false;
}

KindBuilder::CellId KindBuilder::constantCell(const Constant *C) {
  if (!hasBytes(C->getType()))
    return None;
  if (!holdsAddress(C))
    return C->getType()->isPtrOrPtrVectorTy() ? makeCellFor(C->getType())
                                              : None;
  // Follow the chain of casts and offsets down to the global.
  APInt Offset(64, 0);
  const Constant *Base = C;
  SmallVector<const GEPOperator *, 4> Indexed;
  while (true) {
    if (auto *GEP = dyn_cast<GEPOperator>(Base)) {
      APInt Step(DL.getIndexTypeSizeInBits(GEP->getType()), 0);
      if (GEP->accumulateConstantOffset(DL, Step))
        Offset += Step.sextOrTrunc(64);
      Base = cast<Constant>(GEP->getPointerOperand());
    } else if (auto *CE = dyn_cast<ConstantExpr>(Base)) {
      // Of a sum or difference the first operand with an address counts.
      const Constant *Next = nullptr;
      for (const Use &Op : CE->operands())
        if (!Next && holdsAddress(cast<Constant>(&Op)))
          Next = cast<Constant>(&Op);
      if (!Next)
        break;
      // end - start is an integer.
      if (CE->getOpcode() == Instruction::Sub &&
          holdsAddress(cast<Constant>(CE->getOperand(1))))
        return None;
      Base = Next;
    } else if (auto *A = dyn_cast<GlobalAlias>(Base)) {
      Base = A->getAliasee();
    } else {
      break;
    }
  }
  CellId Cell = makeCellFor(C->getType());
  if (auto *GV = dyn_cast<GlobalVariable>(Base)) {
    G.seed(Cell, KindSet::Ptr);
    G.point(Cell, globalPlace(*GV).plus(Offset.getSExtValue()));
  } else if (auto *F = dyn_cast<Function>(Base)) {
    G.seed(Cell, KindSet::Ptr);
    G.point(Cell, functionPlace(*F));
  } else if (isa<ConstantAggregate>(Base) && Base == C) {
    Type *T = C->getType();
    for (unsigned I = 0, E = C->getNumOperands(); I != E; ++I) {
      auto *Element = cast<Constant>(C->getOperand(I));
      if (!holdsAddress(Element))
        continue;
      // Aggregates as operands are small; the nesting is that of their type.
      CellId Inner = constantCell(Element);
      uint64_t At = T->isVectorTy() ? I * sizeOf(Element->getType())
                                    : aggregateOffset(T, I);
      if (Inner != None)
        G.unify(Cell, At, Inner, 0, G.size(Inner));
    }
  }
  return Cell;
}

KindBuilder::Handle KindBuilder::globalPlace(const GlobalVariable &GV) {
  Handle &H = Globals[&GV];
  // Who reads the same literal shares nothing.
  bool Literal = GV.isConstant() && GV.hasDefinitiveInitializer() &&
                 !isa<ConstantAggregate>(GV.getInitializer()) &&
                 !holdsAddress(GV.getInitializer());
  if (!H || Literal) {
    H = {G.makeRegion(), 0};
    if (!Literal)
      G.makeGlobal(H);
    if (!Literal && GV.hasInitializer())
      NewGlobals.push_back(&GV);
  }
  return H;
}

void KindBuilder::initialise(const GlobalVariable &GV) {
  Handle H = globalPlace(GV);
  SmallVector<std::pair<const Constant *, int64_t>, 8> Work;
  Work.emplace_back(GV.getInitializer(), 0);
  while (!Work.empty()) {
    auto [C, Offset] = Work.pop_back_val();
    Type *T = C->getType();
    if (isa<ConstantAggregate>(C)) {
      for (unsigned I = C->getNumOperands(); I-- > 0;) {
        auto *Element = cast<Constant>(C->getOperand(I));
        uint64_t At = T->isVectorTy() ? I * sizeOf(Element->getType())
                                      : aggregateOffset(T, I);
        Work.emplace_back(Element, Offset + static_cast<int64_t>(At));
      }
      continue;
    }
    if (!isa<GlobalValue>(C) && !isa<ConstantExpr>(C))
      continue;
    CellId Cell = constantCell(C);
    if (Cell != None)
      G.access(H.plus(Offset), Cell, 0, G.size(Cell));
  }
}

uint32_t KindBuilder::makeSignature(const FunctionType *T) {
  SmallVector<CellId, 4> Params;
  for (Type *P : T->params())
    Params.push_back(makeCellFor(P));
  CellId Return = makeCellFor(T->getReturnType());
  uint32_t S = G.makeSignature(T);
  G.signature(S).Params = std::move(Params);
  G.signature(S).Return = Return;
  return S;
}

KindBuilder::Handle KindBuilder::functionPlace(const Function &F) {
  uint32_t E = entity(F);
  if (!Entities[E].Address) {
    Handle H{G.makeRegion(), 0};
    G.makeGlobal(H);
    uint32_t S = makeSignature(F.getFunctionType());
    G.signature(S).Members.push_back(E);
    G.addSignature(H, S);
    Entities[E].Address = H;
    Entities[E].Signature = S;
  }
  return Entities[E].Address;
}

KindBuilder::Handle KindBuilder::pointee(const Value *Ptr) {
  CellId C = cell(Ptr);
  if (C == None)
    return {G.makeRegion(), 0};
  return G.pointee(C);
}

KindBuilder::Handle KindBuilder::place(const Value *Ptr) const {
  int64_t Offset = 0;
  while (true) {
    if (CellId C = known(Ptr); C != None) {
      Handle H = G.pointeeOrNone(C);
      return H ? G.resolve(H.plus(Offset)) : Handle();
    }
    if (auto *GEP = dyn_cast<GEPOperator>(Ptr)) {
      APInt Step(DL.getIndexTypeSizeInBits(GEP->getType()), 0);
      if (!GEP->accumulateConstantOffset(DL, Step))
        return {};
      Offset += Step.getSExtValue();
      Ptr = GEP->getPointerOperand();
    } else if (auto *A = dyn_cast<GlobalAlias>(Ptr)) {
      Ptr = A->getAliasee();
    } else if (auto *CE = dyn_cast<ConstantExpr>(Ptr); CE && CE->isCast()) {
      Ptr = CE->getOperand(0);
    } else {
      break;
    }
  }
  if (auto *GV = dyn_cast<GlobalVariable>(Ptr))
    if (auto It = Globals.find(GV); It != Globals.end())
      return G.resolve(It->second.plus(Offset));
  return {};
}

void KindBuilder::seed(const Value *V, KindSet K) {
  if (isa<Constant>(V))
    return;
  if (CellId C = cell(V); C != None)
    G.seed(C, K);
}

/// Seeds with the kind that the scalar type says.
void KindBuilder::seedByType(const Value *V) {
  Type *T = V->getType()->getScalarType();
  if (T->isFloatingPointTy())
    seed(V, KindSet::ofFloat(T));
  else if (T->isPointerTy())
    seed(V, KindSet::Ptr);
  else if (T->isIntegerTy())
    seedInt(V);
}

void KindBuilder::move(const Value *To, const Value *From) {
  G.unify(cell(To), cell(From));
}

void KindBuilder::moveBytes(const Value *To, uint64_t ToByte, const Value *From,
                            uint64_t FromByte, uint64_t N) {
  CellId T = cell(To);
  CellId F = cell(From);
  if (T == None || F == None || N == 0)
    return;
  G.unify(T, ToByte, F, FromByte, N);
}

uint64_t KindBuilder::aggregateOffset(Type *T,
                                      ArrayRef<unsigned> Indices) const {
  uint64_t Offset = 0;
  for (unsigned I : Indices) {
    if (auto *S = dyn_cast<StructType>(T)) {
      Offset += DL.getStructLayout(S)->getElementOffset(I);
      T = S->getElementType(I);
    } else {
      T = cast<ArrayType>(T)->getElementType();
      Offset += I * DL.getTypeAllocSize(T);
    }
  }
  return Offset;
}
