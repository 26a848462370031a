// The augmented primal: what it keeps for the reverse sweep. Records, the
// frame, arrays.
#include "ad/reverse/Augment.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace adjoin;

Value *AugmentEmitter::kept(const Need &N) {
  switch (N.K) {
  case Need::Primal:
    return primal(N.V);
  case Need::Shadow:
    return forReverse(N.V);
  case Need::Extra:
    return Extras.lookup(N.V);
  case Need::Edge: {
    const auto *BB = cast<BasicBlock>(N.V);
    PHINode *&Edge = Edges[BB];
    if (!Edge)
      Edge = PHINode::Create(typeOf(S, N), P.block(BB).Predecessors.size(),
                             "edge", cast<BasicBlock>(primal(BB))->begin());
    return Edge;
  }
  }
  llvm_unreachable("all kinds of needs");
}

AllocaInst *AugmentEmitter::frameSlot(unsigned Field) {
  AllocaInst *&A = FrameSlots[Field];
  if (!A) {
    BasicBlock &Entry = Target.getEntryBlock();
    IRBuilder<> AtEntry(&Entry, Entry.begin());
    Type *T = P.frame()->getElementType(Field);
    A = AtEntry.CreateAlloca(T, nullptr, "frame");
    AtEntry.SetInsertPoint(&Entry, std::next(A->getIterator()));
    AtEntry.CreateStore(Constant::getNullValue(T), A);
  }
  return A;
}

Value *AugmentEmitter::counter(const CountedLoop &C) {
  PHINode *&Phi = Counters[&C];
  if (!Phi)
    Phi = PHINode::Create(B.getInt64Ty(), 2, "count",
                          cast<BasicBlock>(primal(C.header()))->begin());
  return Phi;
}

void AugmentEmitter::advanceCounters() {
  for (auto [C, Phi] : Counters) {
    BasicBlock *Before = endOf(C->preheader());
    for (BasicBlock *Pred : predecessors(Phi->getParent())) {
      if (Pred == Before) {
        Phi->addIncoming(B.getInt64(0), Pred);
        continue;
      }
      IRBuilder<> AtEnd(Pred->getTerminator());
      Phi->addIncoming(AtEnd.CreateNUWAdd(Phi, AtEnd.getInt64(1)), Pred);
    }
  }
}

/// \p C's trip count, written where its preheader ends or later.
static Value *tripCount(IRBuilder<> &B, const CountedLoop &C,
                        function_ref<Value *(const Value *)> Leaf,
                        function_ref<Value *(const Loop *)> Counter) {
  Value *Last = ScevWriter(B, Leaf, Counter).write(C.Last);
  return B.CreateNUWAdd(B.CreateZExt(Last, B.getInt64Ty()), B.getInt64(1));
}

Value *AugmentEmitter::gridSize(const CountedLoop &C) {
  auto Leaf = [&](const Value *V) { return primal(V); };
  auto Counter = [&](const Loop *) -> Value * {
    llvm_unreachable("the trip counts of a grid are fixed");
  };
  Value *Size = nullptr;
  for (const CountedLoop *L = &C; L; L = L->Parent) {
    Value *Trips = tripCount(B, *L, Leaf, Counter);
    Size = Size ? B.CreateNUWMul(Trips, Size) : Trips;
  }
  return Size;
}

Value *AugmentEmitter::gridIndex(const CountedLoop &C) {
  auto Leaf = [&](const Value *V) { return primal(V); };
  auto Counter = [&](const Loop *) -> Value * {
    llvm_unreachable("the trip counts of a grid are fixed");
  };
  if (!C.Parent)
    return counter(C);
  return B.CreateNUWAdd(
      B.CreateNUWMul(gridIndex(*C.Parent), tripCount(B, C, Leaf, Counter)),
      counter(C));
}

void AugmentEmitter::pushRecord(const BasicBlock &BB) {
  const BlockPlan &Block = P.block(&BB);
  if (Block.Record) {
    const StructLayout *Layout = DL.getStructLayout(Block.Record);
    Value *Record = push(B.getInt64(Layout->getSizeInBytes()), "record");
    for (auto [Index, Kept] : enumerate(Block.Slots)) {
      Value *V = kept(Kept.N);
      assert(V && "the plan keeps a value that was not made");
      B.CreateAlignedStore(
          V, B.CreateStructGEP(Block.Record, Record, Index),
          commonAlignment(Align(16), Layout->getElementOffset(Index)));
    }
  }
  for (const Need &N : Block.Keeps) {
    Value *V = kept(N);
    assert(V && "the plan keeps a value that was not made");
    Source Where = P.source(N);
    if (Where.K == Source::Frame) {
      B.CreateStore(V, frameSlot(Where.Index));
      continue;
    }
    B.CreateStore(V, B.CreateInBoundsGEP(V->getType(), ArrayBases[Where.Index],
                                         gridIndex(*Where.In)));
  }
  for (unsigned Array : Block.Arrays) {
    const KeptArray &A = P.arrays()[Array];
    Value *Bytes = B.CreateNUWMul(
        gridSize(*A.In), B.getInt64(DL.getTypeAllocSize(A.T).getFixedValue()));
    Value *Base = push(Bytes, "array");
    ArrayBases[Array] = Base;
    B.CreateStore(Base, frameSlot(P.arrayField(Array)));
  }
}

void AugmentEmitter::pushFrame() {
  StructType *Frame = P.frame();
  if (!Frame)
    return;
  const StructLayout *Layout = DL.getStructLayout(Frame);
  Value *Kept = push(B.getInt64(Layout->getSizeInBytes()), "frame");
  for (unsigned Field = 0; Field != Frame->getNumElements(); ++Field)
    B.CreateAlignedStore(
        B.CreateLoad(Frame->getElementType(Field), frameSlot(Field)),
        B.CreateStructGEP(Frame, Kept, Field),
        commonAlignment(Align(16), Layout->getElementOffset(Field)));
}
