// The augmented primal, driver: clones the primal and walks it once, in reverse
// post-order, adding shadow pointers and, at the end of each block, its record.
#include "ad/reverse/Augment.h"
#include "ad/forward/ForwardEmitter.h"
#include "ad/plan/Bytes.h"
#include "ad/reverse/ArenaObjects.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace adjoin;

AugmentEmitter::AugmentEmitter(const ReverseSubject &S, const Plan &P,
                               Function &Target)
    : S(S), D(S.D), P(P), Target(Target), DL(S.DL), W(S.W),
      B(Target.getContext()) {}

void AugmentEmitter::cloneBody() {
  Function &Copy = S.Copy;
  Function::arg_iterator New = Target.arg_begin();
  for (Argument &A : Copy.args()) {
    New->setName(A.getName());
    VMap[&A] = &*New++;
    if (!hasShadowParameter(S.R, A.getArgNo()))
      continue;
    New->setName(A.getName() + ".s");
    Shadows[&A] = &*New++;
  }
  New->setName("ctx");
  SmallVector<ReturnInst *, 4> Returns;
  CloneFunctionInto(&Target, &Copy, VMap,
                    CloneFunctionChangeType::LocalChangesOnly, Returns);
  Target.setLinkage(GlobalValue::InternalLinkage);
  Target.setVisibility(GlobalValue::DefaultVisibility);
  Target.setComdat(nullptr);
  Target.setSection("");
  Target.setCallingConv(CallingConv::C); // calls were made before the clone
  Target.setAttributes(AttributeList());
  copyDerivedAttributes(Copy, Target);

  for (BasicBlock &BB : Target) {
    for (Instruction &I : BB)
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isMustTailCall())
        Call->setTailCallKind(CallInst::TCK_None);
    // The result of an invoke becomes an extractvalue in its normal
    // destination, so no phi may take it on the edge.
    while (auto *Phi = dyn_cast<PHINode>(BB.begin())) {
      if (Phi->getNumIncomingValues() != 1 ||
          !isa<InvokeInst>(Phi->getIncomingBlock(0)->getTerminator()))
        break;
      Value *Same = Phi->getIncomingValue(0);
      Phi->replaceAllUsesWith(Same == Phi ? PoisonValue::get(Phi->getType())
                                          : Same);
      Phi->eraseFromParent();
    }
  }
}

void AugmentEmitter::enterArguments() {
  // Null and the primal itself both mean constant: from here on the primal.
  BasicBlock &Entry = Target.getEntryBlock();
  B.SetInsertPoint(&Entry, Entry.getFirstInsertionPt());
  for (Argument &A : S.Copy.args())
    if (A.hasByValAttr())
      copyStruct(A);
  for (Argument &A : S.Copy.args()) {
    if (S.isCopied(A) || !A.getType()->isPointerTy() ||
        S.state(&A) != ShadowState::Maybe)
      continue;
    Shadows[&A] = mapLanes(B, {Shadows[&A]}, {A.getType()}, A.getType(), W,
                           [&](ArrayRef<Value *> Lane) {
                             return B.CreateSelect(B.CreateIsNull(Lane[0]),
                                                   primal(&A), Lane[0]);
                           });
  }
}

void AugmentEmitter::copyStruct(const Argument &A) {
  auto *Param = cast<Argument>(primal(&A));
  uint64_t Size = DL.getTypeAllocSize(A.getParamByValType()).getFixedValue();
  Align Alignment = std::max(Align(16), A.getParamAlign().valueOrOne());
  Value *Copy, *Stride = arenaStride(B, B.getInt64(Size));
  SmallPtrSet<Instruction *, 4> Kept;
  if (S.isCopied(A)) {
    Copy = push(B.CreateMul(Stride, B.getInt64(W + 1)), A.getName());
    Value *Shadow = freshShadows(
        Stride, B.CreatePtrAdd(Copy, Stride, A.getName() + ".s"), A.getType());
    for (unsigned K = 0; K != W; ++K) {
      Value *To = laneOf(B, Shadow, K, A.getType(), W);
      Value *From = laneOf(B, Shadows[&A], K, A.getType(), W);
      // Null means constant: then the pointers are their own shadows.
      From = B.CreateSelect(B.CreateIsNull(From), Param, From);
      if (auto *Select = dyn_cast<Instruction>(From))
        Kept.insert(Select);
      for (const BytePiece &Piece : layoutOfCopied(S, A).Pointers)
        B.CreateMemCpy(B.CreateConstGEP1_64(B.getInt8Ty(), To, Piece.Begin),
                       MaybeAlign(),
                       B.CreateConstGEP1_64(B.getInt8Ty(), From, Piece.Begin),
                       MaybeAlign(), Piece.End - Piece.Begin);
    }
    Shadows[&A] = Shadow;
  } else {
    AllocaInst *Own = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), Size));
    Own->setAlignment(Alignment);
    Copy = Own;
  }
  auto *Fill = B.CreateMemCpy(Copy, Align(16), Param, MaybeAlign(), Size);
  Param->replaceUsesWithIf(Copy, [&](Use &U) {
    auto *User = dyn_cast<Instruction>(U.getUser());
    return User != Fill && !Kept.contains(User);
  });
  VMap[&A] = Copy;
}

Value *AugmentEmitter::primal(const Value *V) const {
  if (isa<Argument>(V) || isa<Instruction>(V) || isa<BasicBlock>(V)) {
    Value *New = VMap.lookup(V);
    assert(New && "value of the copy without a clone");
    return New;
  }
  return const_cast<Value *>(V);
}

void AugmentEmitter::placeBefore(const Instruction &I) {
  auto *New = cast<Instruction>(primal(&I));
  B.SetInsertPoint(New);
  B.SetCurrentDebugLocation(New->getDebugLoc());
}

void AugmentEmitter::placeAfter(const Instruction &I) {
  auto *New = dyn_cast<Instruction>(primal(&I));
  if (!New) { // folded to a constant or an argument
    B.SetInsertPoint(&*Target.getEntryBlock().getFirstInsertionPt());
    return;
  }
  if (auto *Invoke = dyn_cast<InvokeInst>(New))
    B.SetInsertPoint(Invoke->getNormalDest(),
                     Invoke->getNormalDest()->getFirstInsertionPt());
  else if (isa<PHINode>(New))
    B.SetInsertPoint(New->getParent(), New->getParent()->getFirstInsertionPt());
  else
    B.SetInsertPoint(New->getParent(), std::next(New->getIterator()));
  B.SetCurrentDebugLocation(New->getDebugLoc());
}

Value *AugmentEmitter::push(Value *Size, const Twine &Name) {
  CallInst *Call =
      B.CreateCall(D.runtime("adjoin_rt_push"), {context(), Size}, Name);
  // Not noalias: what is stored here is read through what pop returns, so no
  // store may be dropped because the pointer is never seen again.
  Call->addRetAttr(Attribute::getWithAlignment(B.getContext(), Align(16)));
  return Call;
}

void AugmentEmitter::addPhis(BasicBlock &BB) {
  for (PHINode &Phi : BB.phis()) {
    if (!S.hasShadow(&Phi))
      continue;
    if (Phi.getNumIncomingValues() == 1 &&
        isa<InvokeInst>(Phi.getIncomingBlock(0)->getTerminator())) {
      placeAfter(Phi); // its clone was folded into the invoke's result
      setShadow(&Phi, shadow(Phi.getIncomingValue(0)));
      continue;
    }
    auto *New = cast<PHINode>(primal(&Phi));
    OpenPhi Open{&Phi, {}, W == 1 || !Phi.getType()->isPointerTy()};
    B.SetInsertPoint(New);
    B.SetCurrentDebugLocation(New->getDebugLoc());
    Type *T = Open.Whole ? shadowType(Phi.getType(), W) : Phi.getType();
    for (unsigned K = 0; K != (Open.Whole ? 1 : W); ++K)
      Open.Lanes.push_back(
          B.CreatePHI(T, Phi.getNumIncomingValues(), Phi.getName() + ".s"));
    if (Open.Whole) {
      setShadow(&Phi, Open.Lanes[0]);
    } else {
      B.SetInsertPoint(New->getParent(),
                       New->getParent()->getFirstInsertionPt());
      SmallVector<Value *, 4> Lanes(Open.Lanes.begin(), Open.Lanes.end());
      setShadow(&Phi, packLanes(B, Lanes, Phi.getType()));
    }
    OpenPhis.push_back(std::move(Open));
  }
}

void AugmentEmitter::fillPhis() {
  for (OpenPhi &Open : OpenPhis) {
    auto *New = cast<PHINode>(primal(Open.Primal));
    for (unsigned I = 0, E = New->getNumIncomingValues(); I != E; ++I) {
      BasicBlock *Pred = New->getIncomingBlock(I);
      const Value *In = Open.Primal->getIncomingValue(I);
      B.SetInsertPoint(Pred->getTerminator());
      B.SetCurrentDebugLocation(Pred->getTerminator()->getDebugLoc());
      Value *Shadow;
      // Blocks that are not reversed have no shadows; a phi that can be entered
      // from one is entered from nowhere, or from a catch, which aborts.
      if (isa<Instruction>(In) && S.hasShadow(In) && !Shadows.count(In))
        Shadow = PoisonValue::get(shadowType(In->getType(), W));
      else
        Shadow = shadow(In);
      for (auto [K, Phi] : enumerate(Open.Lanes))
        Phi->addIncoming(
            Open.Whole ? Shadow : laneOf(B, Shadow, K, In->getType(), W), Pred);
    }
  }
}

BasicBlock *AugmentEmitter::endOf(const BasicBlock *BB) const {
  const Instruction *End = BB->getTerminator();
  if (Instruction *New = Terminators.lookup(End))
    return New->getParent();
  return cast<Instruction>(primal(End))->getParent();
}

void AugmentEmitter::numberEdges() {
  for (auto [BB, Edge] : Edges) {
    // The block that a predecessor ends in may not be the one it began in.
    DenseMap<const BasicBlock *, unsigned> Number;
    for (auto [Index, Pred] : enumerate(P.block(BB).Predecessors))
      Number[endOf(Pred)] = Index;
    for (BasicBlock *Pred : llvm::predecessors(Edge->getParent()))
      Edge->addIncoming(ConstantInt::get(Edge->getType(), Number.lookup(Pred)),
                        Pred);
  }
}

void AugmentEmitter::abortWhereCaught() {
  for (BasicBlock *BB : S.blocks()) {
    if (!S.isUnwinding(BB))
      continue;
    Instruction *End = BB->getTerminator();
    bool GoesOn = isa<ReturnInst>(End);
    for (BasicBlock *Next : llvm::successors(BB))
      GoesOn |= !S.isUnwinding(Next);
    if (!GoesOn)
      continue;
    placeBefore(*End);
    std::string Message = ("the derivative of " + quotedName(S.Copy) +
                           " cannot go on after an exception that was caught "
                           "at " +
                           SourcePlace::of(*End).str());
    B.CreateCall(D.runtime("adjoin_rt_abort"),
                 {B.CreateGlobalString(Message, "adjoin.message")});
  }
}

void AugmentEmitter::visitReturn(ReturnInst &I) {
  placeBefore(I);
  pushRecord(*I.getParent());
  pushFrame();
  if (S.exits().size() > 1)
    B.CreateStore(
        B.getInt64(find(S.exits(), I.getParent()) - S.exits().begin()),
        push(B.getInt64(8), "exit"));
  if (!returnsShadow(S.R))
    return;
  Value *V = I.getReturnValue();
  Value *Result = PoisonValue::get(Target.getReturnType());
  Result = B.CreateInsertValue(Result, primal(V), 0);
  Result = B.CreateInsertValue(Result, shadow(V), 1);
  auto *Old = cast<Instruction>(primal(&I));
  VMap[&I] = B.CreateRet(Result);
  Old->eraseFromParent();
}

Error AugmentEmitter::visit(Instruction &I) {
  if (isa<PHINode>(I))
    return Error::success(); // addPhis
  if (auto *Call = dyn_cast<CallBase>(&I))
    return visitCall(*Call);
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    visitLoad(*Load);
    return Error::success();
  }
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    visitStore(*Store);
    return Error::success();
  }
  if (auto *Alloca = dyn_cast<AllocaInst>(&I)) {
    visitAlloca(*Alloca);
    return Error::success();
  }
  if (!S.hasShadow(&I))
    return Error::success();
  return visitValue(I);
}

Error AugmentEmitter::visitBlock(BasicBlock &BB) {
  if (!S.isReversed(&BB)) {
    // As in the primal; only calls of working copies go back to the originals.
    for (Instruction &I : BB)
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Error E = visitCall(*Call))
          return E;
    return Error::success();
  }
  addPhis(BB);
  Error Failure = Error::success();
  for (Instruction &I : BB) {
    if (auto *Ret = dyn_cast<ReturnInst>(&I)) {
      visitReturn(*Ret);
      break;
    }
    if (I.isTerminator() && !isa<CallBase>(I)) {
      placeBefore(I);
      pushRecord(BB);
      break;
    }
    if (Error E = visit(I)) {
      if (S.hasShadow(&I) && !Shadows.count(&I))
        setShadow(&I, PoisonValue::get(shadowType(I.getType(), W)));
      Failure = joinErrors(std::move(Failure), std::move(E));
    }
    // The end of an invoke is its normal destination; visit left the builder
    // there, after what it wrote.
    if (I.isTerminator())
      pushRecord(BB);
  }
  return Failure;
}

Error AugmentEmitter::run() {
  cloneBody();
  enterArguments();
  Error Failure = Error::success();
  bool Failed = false;
  for (BasicBlock *BB : S.blocks())
    if (Error E = visitBlock(*BB)) {
      Failure = joinErrors(std::move(Failure), std::move(E));
      Failed = true;
    }
  if (Failed)
    return Failure;
  fillPhis();
  numberEdges();
  advanceCounters();
  abortWhereCaught();
  return Failure;
}
