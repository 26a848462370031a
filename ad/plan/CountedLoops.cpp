// Counted loops: loops whose iterations the reverse sweep can count.
#include "ad/plan/CountedLoops.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"

using namespace llvm;
using namespace adjoin;

CountedLoops::CountedLoops(const ReverseSubject &S)
    : S(S), LI(S.D.pipelines().analyses().getResult<LoopAnalysis>(S.Copy)),
      SE(S.D.pipelines().analyses().getResult<ScalarEvolutionAnalysis>(
          S.Copy)) {
  for (auto It = scc_begin(&S.Copy); !It.isAtEnd(); ++It)
    if (It.hasCycle())
      Cyclic.insert(It->begin(), It->end());
  // A cycle that is no loop may lie inside a loop: its blocks then run more
  // than once an iteration.
  ReversePostOrderTraversal<const Function *> RPO(&S.Copy);
  if (containsIrreducibleCFG<const BasicBlock *>(RPO, LI))
    return;
  for (const Loop *L : LI.getTopLevelLoopsVector())
    visit(*L, nullptr);
}

void CountedLoops::visit(const Loop &L, const CountedLoop *Parent) {
  if (!L.isLoopSimplifyForm() || !S.isReversed(L.getHeader()) ||
      !S.isReversed(L.getLoopLatch()))
    return;
  // Exits to blocks that never return do not count: who takes one is not
  // reversed.
  BasicBlock *Exiting = nullptr;
  for (BasicBlock *BB : L.blocks())
    for (BasicBlock *Next : successors(BB)) {
      if (L.contains(Next) || !S.isReversed(Next) || !S.isReversed(BB))
        continue;
      if (Exiting && Exiting != BB)
        return;
      Exiting = BB;
    }
  if (!Exiting)
    return;
  auto &DT =
      S.D.pipelines().analyses().getResult<DominatorTreeAnalysis>(S.Copy);
  if (!DT.dominates(Exiting, L.getLoopLatch()))
    return;
  const SCEV *Last = SE.getExitCount(&L, Exiting);
  if (isa<SCEVCouldNotCompute>(Last) || !Last->getType()->isIntegerTy() ||
      SE.getTypeSizeInBits(Last->getType()) > 64)
    return;
  bool Leaves = forEachLeaf(Last, [&](const Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    return !I || runsOnce(I->getParent());
  });
  if (!Leaves)
    return;
  auto C = std::make_unique<CountedLoop>();
  C->L = &L;
  C->Parent = Parent;
  C->Last = Last;
  C->Rectangular = true;
  for (const Loop *Outer = L.getParentLoop(); Outer;
       Outer = Outer->getParentLoop())
    C->Rectangular &= SE.isLoopInvariant(Last, Outer);
  Of[&L] = C.get();
  Counted.push_back(std::move(C));
  const CountedLoop *This = Counted.back().get();
  for (const Loop *Inner : L.getSubLoops())
    visit(*Inner, This);
}

const CountedLoop *CountedLoops::around(const BasicBlock *BB) const {
  return Of.lookup(LI.getLoopFor(BB));
}

const CountedLoop *CountedLoops::headedBy(const BasicBlock *BB) const {
  const CountedLoop *C = around(BB);
  return C && C->header() == BB ? C : nullptr;
}

bool CountedLoops::forEachLeaf(const SCEV *E,
                               function_ref<bool(const Value *)> F) const {
  switch (E->getSCEVType()) {
  case scConstant:
    return true;
  case scUnknown:
    return F(cast<SCEVUnknown>(E)->getValue());
  case scAddRecExpr: {
    auto *Rec = cast<SCEVAddRecExpr>(E);
    if (!Rec->isAffine() || !Of.count(Rec->getLoop()))
      return false;
    return forEachLeaf(Rec->getStart(), F) &&
           forEachLeaf(Rec->getOperand(1), F);
  }
  case scTruncate:
  case scZeroExtend:
  case scSignExtend:
  case scPtrToInt:
  case scAddExpr:
  case scMulExpr:
  case scUDivExpr:
  case scUMaxExpr:
  case scSMaxExpr:
  case scUMinExpr:
  case scSMinExpr:
    return all_of(E->operands(),
                  [&](const SCEV *Op) { return forEachLeaf(Op, F); });
  default:
    return false;
  }
}

Value *ScevWriter::write(const SCEV *E) {
  auto Fold = [&](function_ref<Value *(Value *, Value *)> Op) {
    Value *Result = nullptr;
    for (const SCEV *Part : E->operands()) {
      Value *V = write(Part);
      Result = Result ? Op(Result, V) : V;
    }
    return Result;
  };
  switch (E->getSCEVType()) {
  case scConstant:
    return cast<SCEVConstant>(E)->getValue();
  case scUnknown:
    return Leaf(cast<SCEVUnknown>(E)->getValue());
  case scTruncate:
    return B.CreateTrunc(write(E->operands()[0]), E->getType());
  case scZeroExtend:
    return B.CreateZExt(write(E->operands()[0]), E->getType());
  case scSignExtend:
    return B.CreateSExt(write(E->operands()[0]), E->getType());
  case scPtrToInt:
    return B.CreatePtrToInt(write(E->operands()[0]), E->getType());
  case scAddRecExpr: {
    auto *Rec = cast<SCEVAddRecExpr>(E);
    Value *Start = write(Rec->getStart());
    Value *Step = write(Rec->getOperand(1));
    Value *Count =
        B.CreateZExtOrTrunc(Counter(Rec->getLoop()), Step->getType());
    Value *Offset = B.CreateMul(Step, Count);
    return Start->getType()->isPointerTy() ? B.CreatePtrAdd(Start, Offset)
                                           : B.CreateAdd(Start, Offset);
  }
  case scAddExpr:
    return Fold([&](Value *L, Value *R) -> Value * {
      if (L->getType()->isPointerTy())
        return B.CreatePtrAdd(L, R);
      if (R->getType()->isPointerTy())
        return B.CreatePtrAdd(R, L);
      return B.CreateAdd(L, R);
    });
  case scMulExpr:
    return Fold([&](Value *L, Value *R) { return B.CreateMul(L, R); });
  case scUDivExpr:
    return Fold([&](Value *L, Value *R) { return B.CreateUDiv(L, R); });
  case scUMaxExpr:
    return Fold([&](Value *L, Value *R) {
      return B.CreateBinaryIntrinsic(Intrinsic::umax, L, R);
    });
  case scSMaxExpr:
    return Fold([&](Value *L, Value *R) {
      return B.CreateBinaryIntrinsic(Intrinsic::smax, L, R);
    });
  case scUMinExpr:
    return Fold([&](Value *L, Value *R) {
      return B.CreateBinaryIntrinsic(Intrinsic::umin, L, R);
    });
  case scSMinExpr:
    return Fold([&](Value *L, Value *R) {
      return B.CreateBinaryIntrinsic(Intrinsic::smin, L, R);
    });
  default:
    llvm_unreachable("forEachLeaf accepts what can be written");
  }
}
