// The reverse sweep: values of the primal sweep, by their sources in the plan.
#include "ad/reverse/Adjoint.h"
#include "ad/shadow/Lanes.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace adjoin;

void AdjointEmitter::popFrame() {
  StructType *Frame = P.frame();
  if (!Frame)
    return;
  const StructLayout *Layout = DL.getStructLayout(Frame);
  Value *Kept =
      B.CreateCall(D.runtime("adjoin_rt_pop"),
                   {context(), B.getInt64(Layout->getSizeInBytes())}, "frame");
  auto Read = [&](unsigned Field) {
    return B.CreateAlignedLoad(
        Frame->getElementType(Field), B.CreateStructGEP(Frame, Kept, Field),
        commonAlignment(Align(16), Layout->getElementOffset(Field)));
  };
  for (auto [Field, Slot] : enumerate(P.frameSlots()))
    Framed[Slot.N] = Read(Field);
  for (unsigned A = 0; A != P.arrays().size(); ++A)
    ArrayBases.push_back(Read(P.arrayField(A)));
}

void AdjointEmitter::popRecord(const BasicBlock &BB) {
  const BlockPlan &Block = P.block(&BB);
  Recorded.clear();
  for (unsigned Array : reverse(Block.Arrays)) {
    const KeptArray &A = P.arrays()[Array];
    Value *Bytes = B.CreateNUWMul(
        gridSize(*A.In), B.getInt64(DL.getTypeAllocSize(A.T).getFixedValue()));
    B.CreateCall(D.runtime("adjoin_rt_pop"), {context(), Bytes});
  }
  if (!Block.Record)
    return;
  const StructLayout *Layout = DL.getStructLayout(Block.Record);
  Value *Record =
      B.CreateCall(D.runtime("adjoin_rt_pop"),
                   {context(), B.getInt64(Layout->getSizeInBytes())}, "record");
  for (auto [Index, Kept] : enumerate(Block.Slots))
    Recorded[Kept.N] = B.CreateAlignedLoad(
        Kept.T, B.CreateStructGEP(Block.Record, Record, Index),
        commonAlignment(Align(16), Layout->getElementOffset(Index)),
        Kept.N.V->getName());
}

AllocaInst *AdjointEmitter::counter(const CountedLoop &C) {
  AllocaInst *&A = Counters[&C];
  if (!A) {
    IRBuilder<> AtEntry(Entry, Entry->begin());
    A = AtEntry.CreateAlloca(B.getInt64Ty(), nullptr, "counter");
  }
  return A;
}

Value *AdjointEmitter::write(const SCEV *E) {
  auto Leaf = [&](const Value *V) { return materialise({V, Need::Primal}); };
  auto Counter = [&](const Loop *L) -> Value * {
    return B.CreateLoad(B.getInt64Ty(),
                        counter(*P.loops().headedBy(L->getHeader())));
  };
  return ScevWriter(B, Leaf, Counter).write(E);
}

Value *AdjointEmitter::last(const CountedLoop &C) {
  return B.CreateZExt(write(C.Last), B.getInt64Ty());
}

Value *AdjointEmitter::gridSize(const CountedLoop &C) {
  Value *Size = nullptr;
  for (const CountedLoop *L = &C; L; L = L->Parent) {
    Value *Trips = B.CreateNUWAdd(last(*L), B.getInt64(1));
    Size = Size ? B.CreateNUWMul(Trips, Size) : Trips;
  }
  return Size;
}

Value *AdjointEmitter::gridIndex(const CountedLoop &C) {
  Value *Count = B.CreateLoad(B.getInt64Ty(), counter(C));
  if (!C.Parent)
    return Count;
  Value *Trips = B.CreateNUWAdd(last(C), B.getInt64(1));
  return B.CreateNUWAdd(B.CreateNUWMul(gridIndex(*C.Parent), Trips), Count);
}

void AdjointEmitter::enterLoops(const BasicBlock &From, const BasicBlock &To) {
  SmallVector<const CountedLoop *, 4> Entered;
  for (const CountedLoop *C = P.loops().around(&From);
       C && !C->L->contains(&To); C = C->Parent)
    Entered.push_back(C);
  if (Entered.empty())
    return;
  // What is made on this edge does not hold on others.
  DenseMap<Need, Value *> Before = Recorded;
  for (const CountedLoop *C : reverse(Entered))
    B.CreateStore(last(*C), counter(*C));
  Recorded = std::move(Before);
}

Value *AdjointEmitter::recompute(const Need &N) {
  if (N.K == Need::Edge) {
    const auto &BB = *cast<BasicBlock>(N.V);
    EdgeBranch Edge = edgeBranch(S, BB);
    auto Number = [&](BasicBlock *Pred) {
      const auto &Preds = P.block(&BB).Predecessors;
      return ConstantInt::get(typeOf(S, N), find(Preds, Pred) - Preds.begin());
    };
    return B.CreateSelect(
        materialise({Edge.Branch->getCondition(), Need::Primal}),
        Number(Edge.IfTrue), Number(Edge.IfFalse), "edge");
  }
  const auto &I = *cast<Instruction>(N.V);
  auto Again = [&]() {
    Instruction *Clone = I.clone();
    Clone->dropUnknownNonDebugMetadata();
    // It runs on the same values, but where the optimiser can know less.
    Clone->dropPoisonGeneratingFlags();
    return Clone;
  };
  if (N.K == Need::Primal) {
    Instruction *Clone = Again();
    for (Use &U : Clone->operands())
      if (!isa<BasicBlock>(U.get()))
        U.set(materialise({U.get(), Need::Primal}));
    B.Insert(Clone, I.getName());
    return Clone;
  }
  const auto &GEP = cast<GetElementPtrInst>(I);
  const Value *Base = GEP.getPointerOperand();
  SmallVector<Value *, 4> Indices;
  for (const Value *Index : GEP.indices())
    Indices.push_back(materialise({Index, Need::Primal}));
  Type *T = I.getType();
  bool Known = S.state(Base) == ShadowState::Known;
  return mapLanes(B, {materialise({Base, Need::Shadow})}, {Base->getType()}, T,
                  W, [&](ArrayRef<Value *> Lane) -> Value * {
                    Value *Address = B.CreateGEP(GEP.getSourceElementType(),
                                                 Lane[0], Indices);
                    if (Known)
                      return Address;
                    return B.CreateSelect(B.CreateIsNull(Lane[0]),
                                          Constant::getNullValue(T), Address);
                  });
}

Value *AdjointEmitter::materialise(const Need &N) {
  if (P.isFree(N)) {
    if (N.K == Need::Shadow && isa<Constant>(N.V))
      return Constant::getNullValue(shadowType(N.V->getType(), W));
    return need(N);
  }
  if (Value *V = Recorded.lookup(N))
    return V;
  if (Value *V = Framed.lookup(N))
    return V;
  Source From = P.source(N);
  Value *V = nullptr;
  switch (From.K) {
  case Source::Counted:
    if (N.K == Need::Shadow) {
      ScalarEvolution &SE = P.loops().evolution();
      const SCEV *Whole = SE.getSCEV(const_cast<Value *>(N.V));
      const Value *Base =
          cast<SCEVUnknown>(SE.getPointerBase(Whole))->getValue();
      Value *Offset = write(From.E);
      Type *T = Base->getType();
      V = mapLanes(B, {materialise({Base, Need::Shadow})}, {T}, T, W,
                   [&](ArrayRef<Value *> Lane) -> Value * {
                     Value *Address = B.CreatePtrAdd(Lane[0], Offset);
                     return S.state(Base) == ShadowState::Known
                                ? Address
                                : B.CreateSelect(B.CreateIsNull(Lane[0]),
                                                 Constant::getNullValue(T),
                                                 Address);
                   });
    } else {
      V = write(From.E);
    }
    break;
  case Source::Recompute:
    V = recompute(N);
    break;
  case Source::Reload: {
    const auto *Load = cast<LoadInst>(N.V);
    V = B.CreateAlignedLoad(
        Load->getType(), materialise({Load->getPointerOperand(), Need::Primal}),
        Load->getAlign(), Load->getName());
    break;
  }
  case Source::Array: {
    Type *T = P.arrays()[From.Index].T;
    V = B.CreateLoad(
        T, B.CreateInBoundsGEP(T, ArrayBases[From.Index], gridIndex(*From.In)));
    break;
  }
  case Source::Free:
  case Source::Frame:
  case Source::Record:
    llvm_unreachable("the reverse sweep needs a value outside the plan");
  }
  Recorded[N] = V;
  return V;
}
