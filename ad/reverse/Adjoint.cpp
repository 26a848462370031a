// The reverse sweep, driver: reversed blocks, records, accumulators.
#include "ad/reverse/Adjoint.h"
#include "ad/forward/ForwardEmitter.h"
#include "ad/reverse/ArenaObjects.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace adjoin;

AdjointEmitter::AdjointEmitter(const ReverseSubject &S, const Plan &P,
                               Function &Target)
    : S(S), D(S.D), P(P), Target(Target), DL(S.DL), W(S.W),
      B(Target.getContext()) {
  // The order in which adjoints are summed and the sign of a zero are
  // unspecified (interface.md, section 6).
  FastMathFlags FMF;
  FMF.setAllowReassoc();
  FMF.setAllowContract();
  FMF.setNoSignedZeros();
  B.setFastMathFlags(FMF);
}

void AdjointEmitter::enterArguments() {
  Entry = BasicBlock::Create(Target.getContext(), "entry", &Target);
  B.SetInsertPoint(Entry);
  Function::arg_iterator New = Target.arg_begin();
  for (Argument &A : S.Copy.args()) {
    New->setName(A.getName());
    Value *Primal = &*New++;
    Parameters[{&A, Need::Primal}] = Primal;
    if (!hasShadowParameter(S.R, A.getArgNo()))
      continue;
    New->setName(A.getName() + ".s");
    Value *Shadow = &*New++;
    Type *T = A.getType();
    if (T->isPointerTy() && S.state(&A) == ShadowState::Maybe)
      Shadow = mapLanes(B, {Shadow}, {T}, T, W, [&](ArrayRef<Value *> Lane) {
        return B.CreateSelect(B.CreateICmpEQ(Lane[0], Primal),
                              Constant::getNullValue(T), Lane[0]);
      });
    Parameters[{&A, Need::Shadow}] = Shadow;
  }
  if (hasSeed(S.R)) {
    New->setName("seed");
    Seed = &*New++;
  }
  New->setName("ctx");
}

Value *AdjointEmitter::need(const Need &N) {
  if (auto *C = dyn_cast<Constant>(N.V); C && N.K == Need::Primal)
    return const_cast<Constant *>(C);
  if (auto *A = dyn_cast<Argument>(N.V); A && !S.isCopied(*A))
    return Parameters.lookup(N);
  Value *V = Recorded.lookup(N);
  if (!V)
    V = Framed.lookup(N);
  assert(V && "the reverse sweep needs a value outside the plan");
  return V;
}

Value *AdjointEmitter::shadowLane(const Value *Ptr, unsigned K) {
  Type *T = Ptr->getType();
  if (!S.isActive(Ptr) || isa<Constant>(Ptr))
    return Constant::getNullValue(T);
  return laneOf(B, need({Ptr, Need::Shadow}), K, T, W);
}

AllocaInst *AdjointEmitter::accumulator(const Value *V) {
  AllocaInst *&A = Accumulators[V];
  if (!A) {
    IRBuilder<> AtEntry(Entry, Entry->begin());
    Type *T = shadowType(formType(V), W);
    A = AtEntry.CreateAlloca(T, nullptr, V->getName() + ".a");
    AtEntry.SetInsertPoint(Entry, std::next(A->getIterator()));
    AtEntry.CreateStore(Constant::getNullValue(T), A);
  }
  return A;
}

Value *AdjointEmitter::take(const Value *V) {
  AllocaInst *A = accumulator(V);
  Type *T = A->getAllocatedType();
  Value *Adjoint = B.CreateLoad(T, A, V->getName() + ".a");
  B.CreateStore(Constant::getNullValue(T), A);
  return Adjoint;
}

void AdjointEmitter::give(const Value *V, Value *Adjoint) {
  if (!Adjoint || !S.hasAdjoint(V))
    return;
  AllocaInst *A = accumulator(V);
  Type *T = A->getAllocatedType();
  assert(Adjoint->getType() == T && "adjoint of wrong type");
  B.CreateStore(add(B.CreateLoad(T, A), Adjoint), A);
}

Value *AdjointEmitter::add(Value *L, Value *R) {
  Type *T = L->getType();
  if (T->isFPOrFPVectorTy())
    return B.CreateFAdd(L, R);
  if (!T->isAggregateType())
    return L; // bytes without a derivative
  uint64_t N =
      isa<StructType>(T) ? T->getStructNumElements() : T->getArrayNumElements();
  Value *Result = L;
  for (unsigned I = 0; I != N; ++I) {
    Type *M = isa<StructType>(T) ? T->getStructElementType(I)
                                 : T->getArrayElementType();
    if (!M->isFPOrFPVectorTy() && !M->isAggregateType())
      continue;
    Result = B.CreateInsertValue(
        Result, add(B.CreateExtractValue(L, I), B.CreateExtractValue(R, I)), I);
  }
  return Result;
}

Value *AdjointEmitter::convertLane(Value *V, Type *To) {
  Type *From = V->getType();
  if (From == To)
    return V;
  if (!From->isAggregateType() && !To->isAggregateType())
    return B.CreateBitCast(V, To);
  Value *Result = PoisonValue::get(To);
  uint64_t N = isa<StructType>(To) ? To->getStructNumElements()
                                   : To->getArrayNumElements();
  for (unsigned I = 0; I != N; ++I) {
    Type *M = isa<StructType>(To) ? To->getStructElementType(I)
                                  : To->getArrayElementType();
    Result = B.CreateInsertValue(Result,
                                 convertLane(B.CreateExtractValue(V, I), M), I);
  }
  return Result;
}

Value *AdjointEmitter::convert(Value *Adjoint, Type *From, Type *To) {
  if (From == To)
    return Adjoint;
  return eachLane(Adjoint, From, To,
                  [&](Value *Lane) { return convertLane(Lane, To); });
}

Value *AdjointEmitter::eachLane(Value *Adjoint, Type *From, Type *To,
                                function_ref<Value *(Value *)> F) {
  return mapLanes(B, {Adjoint}, {From}, To, W,
                  [&](ArrayRef<Value *> Lane) { return F(Lane[0]); });
}

void AdjointEmitter::leave(const BasicBlock &BB) {
  // All phis take their values at once: so do their adjoints.
  SmallVector<std::pair<const PHINode *, Value *>, 4> Adjoints;
  for (const PHINode &Phi : BB.phis())
    if (S.hasAdjoint(&Phi))
      Adjoints.push_back({&Phi, take(&Phi)});
  auto HandTo = [&](BasicBlock *Pred) {
    for (auto [Phi, Adjoint] : Adjoints) {
      const Value *In = Phi->getIncomingValueForBlock(Pred);
      if (S.hasAdjoint(In))
        give(In, convert(Adjoint, formType(Phi), formType(In)));
    }
    enterLoops(*Pred, BB);
    B.CreateBr(Blocks[Pred]);
  };
  const BlockPlan &Block = P.block(&BB);
  if (&BB == &S.Copy.getEntryBlock()) {
    finish();
    return;
  }
  if (Block.Predecessors.size() == 1) {
    HandTo(Block.Predecessors[0]);
    return;
  }
  if (!Block.NeedsEdge) {
    // The counter tells the first iteration from the others.
    const CountedLoop &C = *P.loops().headedBy(&BB);
    Value *Count = B.CreateLoad(B.getInt64Ty(), counter(C));
    BasicBlock *First =
        BasicBlock::Create(B.getContext(), BB.getName() + ".first", &Target);
    BasicBlock *Next =
        BasicBlock::Create(B.getContext(), BB.getName() + ".next", &Target);
    B.CreateCondBr(B.CreateICmpEQ(Count, B.getInt64(0)), First, Next);
    B.SetInsertPoint(Next);
    B.CreateStore(B.CreateNUWSub(Count, B.getInt64(1)), counter(C));
    HandTo(C.latch());
    B.SetInsertPoint(First);
    HandTo(C.preheader());
    return;
  }
  Value *RecordedEdge = need({&BB, Need::Edge});
  auto *Switch =
      B.CreateSwitch(RecordedEdge, nullptr, Block.Predecessors.size() - 1);
  for (auto [Index, Pred] : enumerate(Block.Predecessors)) {
    BasicBlock *Edge =
        BasicBlock::Create(B.getContext(), BB.getName() + ".edge", &Target);
    if (Index == 0)
      Switch->setDefaultDest(Edge);
    else
      Switch->addCase(
          cast<ConstantInt>(ConstantInt::get(RecordedEdge->getType(), Index)),
          Edge);
    B.SetInsertPoint(Edge);
    HandTo(Pred);
  }
}

void AdjointEmitter::finish() {
  // What was copied last was pushed last.
  for (Argument &A : reverse(S.Copy.args())) {
    if (!S.isCopied(A))
      continue;
    ByteLayout Layout = layoutOfCopied(S, A);
    Value *Stride =
        arenaStride(B, B.getInt64(DL.getTypeAllocSize(A.getParamByValType())));
    Value *Memory =
        B.CreateCall(D.runtime("adjoin_rt_pop"),
                     {context(), B.CreateMul(Stride, B.getInt64(W + 1))});
    Value *Caller = Parameters.lookup({&A, Need::Shadow});
    for (unsigned K = 0; K != W; ++K) {
      Value *Own =
          B.CreatePtrAdd(Memory, B.CreateMul(Stride, B.getInt64(K + 1)));
      for (const BytePiece &Piece : Layout.Floats)
        B.CreateCall(D.runtime(pullName(Piece.Kinds, false)),
                     {Own, laneOf(B, Caller, K, A.getType(), W),
                      B.getInt64(Piece.Begin),
                      B.getInt64(Piece.End - Piece.Begin)});
    }
  }
  if (Target.getReturnType()->isVoidTy()) {
    B.CreateRetVoid();
    return;
  }
  Value *Result = PoisonValue::get(Target.getReturnType());
  unsigned Index = 0;
  for (Argument &A : S.Copy.args()) {
    if (!hasAdjointResult(S.R, A.getArgNo()))
      continue;
    Type *T = A.getType();
    Value *Adjoint =
        S.hasAdjoint(&A)
            ? convert(take(&A), formType(&A), T)
            : static_cast<Value *>(Constant::getNullValue(shadowType(T, W)));
    Result = B.CreateInsertValue(Result, Adjoint, Index++);
  }
  B.CreateRet(Result);
}

Error AdjointEmitter::reverseBlock(const BasicBlock &BB) {
  B.SetInsertPoint(Blocks[&BB]);
  popRecord(BB);
  for (const Need &N : P.block(&BB).Uses)
    materialise(N);
  Error Failure = Error::success();
  for (const Instruction &I : reverse(BB)) {
    if (isa<PHINode>(I))
      break;
    if (auto *Ret = dyn_cast<ReturnInst>(&I)) {
      const Value *V = Ret->getReturnValue();
      if (V && Seed && S.hasAdjoint(V))
        give(V, convert(Seed, V->getType(), formType(V)));
      continue;
    }
    if (Error E = transpose(I))
      Failure = joinErrors(std::move(Failure), std::move(E));
  }
  leave(BB);
  return Failure;
}

Error AdjointEmitter::run() {
  Target.setLinkage(GlobalValue::InternalLinkage);
  copyDerivedAttributes(S.Copy, Target);
  enterArguments();
  if (S.exits().empty()) { // the primal never returns
    B.CreateUnreachable();
    return Error::success();
  }
  // The exit comes first.
  for (BasicBlock *BB : reverse(S.blocks()))
    if (S.isReversed(BB))
      Blocks[BB] =
          BasicBlock::Create(B.getContext(), BB->getName() + ".rev", &Target);
  if (S.exits().size() == 1) {
    popFrame();
    B.CreateBr(Blocks[S.exits()[0]]);
  } else {
    // aug said last by which return it left.
    Value *Number =
        B.CreateLoad(B.getInt64Ty(), B.CreateCall(D.runtime("adjoin_rt_pop"),
                                                  {context(), B.getInt64(8)}));
    popFrame();
    auto *Switch =
        B.CreateSwitch(Number, Blocks[S.exits()[0]], S.exits().size() - 1);
    for (unsigned K = 1; K != S.exits().size(); ++K)
      Switch->addCase(B.getInt64(K), Blocks[S.exits()[K]]);
  }
  Error Failure = Error::success();
  for (BasicBlock *BB : reverse(S.blocks()))
    if (S.isReversed(BB))
      if (Error E = reverseBlock(*BB))
        Failure = joinErrors(std::move(Failure), std::move(E));
  return Failure;
}
