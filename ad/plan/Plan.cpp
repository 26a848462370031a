// The plan: for each needed value recompute, reload or keep, and where.
#include "ad/plan/Plan.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace adjoin;

/// Estimated cycles of a store and a load of the tape: what keeping costs.
static constexpr unsigned KeepCost = 4;
/// A load from memory that is still in a cache.
static constexpr unsigned ReloadCost = 2;
/// A value is recomputed up to this cost: its operands are often needed too.
static constexpr unsigned RecomputeLimit = 6;
/// Addresses are recomputed up to a higher one: they fold into accesses.
static constexpr unsigned AddressLimit = 16;

bool Plan::isFree(const Need &N) const {
  if (N.K != Need::Primal && N.K != Need::Shadow)
    return false;
  if (auto *A = dyn_cast<Argument>(N.V))
    return !S.isCopied(*A);
  return isa<Constant>(N.V);
}

const BasicBlock *adjoin::definingBlock(const Need &N) {
  if (auto *BB = dyn_cast<BasicBlock>(N.V))
    return BB;
  if (auto *A = dyn_cast<Argument>(N.V)) // a struct that aug copies at entry
    return &A->getParent()->getEntryBlock();
  return cast<Instruction>(N.V)->getParent();
}

EdgeBranch adjoin::edgeBranch(const ReverseSubject &S, const BasicBlock &BB) {
  ArrayRef<BasicBlock *> Preds = S.predecessors(&BB);
  if (Preds.size() != 2)
    return {};
  auto &DT =
      S.D.pipelines().analyses().getResult<DominatorTreeAnalysis>(S.Copy);
  auto *Node = DT.getNode(&BB);
  if (!Node || !Node->getIDom())
    return {};
  BasicBlock *Head = Node->getIDom()->getBlock();
  auto *Branch = dyn_cast<BranchInst>(Head->getTerminator());
  if (!Branch || !Branch->isConditional() ||
      Branch->getSuccessor(0) == Branch->getSuccessor(1))
    return {};
  // A predecessor lies behind one successor, or is the branch's own block.
  auto LiesBehind = [&](BasicBlock *Pred, unsigned Successor) {
    BasicBlock *Next = Branch->getSuccessor(Successor);
    if (Pred == Head)
      return Next == &BB;
    return Next != &BB && DT.dominates(BasicBlockEdge(Head, Next), Pred);
  };
  for (unsigned First : {0u, 1u})
    if (LiesBehind(Preds[First], 0) && LiesBehind(Preds[1 - First], 1))
      return {Branch, Preds[First], Preds[1 - First]};
  return {};
}

void adjoin::forEachIngredient(const Need &N,
                               function_ref<void(const Need &)> F) {
  const auto *I = cast<Instruction>(N.V);
  if (N.K == Need::Primal) {
    for (const Value *Op : I->operands())
      F({Op, Need::Primal});
    return;
  }
  const auto *GEP = cast<GetElementPtrInst>(I);
  F({GEP->getPointerOperand(), Need::Shadow});
  for (const Value *Index : GEP->indices())
    F({Index, Need::Primal});
}

/// \p V is computed from integers and pointers alone, so that doing it again
/// gives the same to the last bit.
static bool isExact(const Value *V, unsigned Depth = 0) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || isa<PHINode>(I) || isa<LoadInst>(I))
    return !V->getType()->isFPOrFPVectorTy();
  if (Depth == 8)
    return false;
  return all_of(I->operands(),
                [&](const Value *Op) { return isExact(Op, Depth + 1); });
}

/// A branch is reversed by what it did; what it did is known without a record
/// where its condition is computed from integers that have sources.
bool Plan::isBranchAgain(const Need &N) {
  EdgeBranch Edge = edgeBranch(S, *cast<BasicBlock>(N.V));
  if (!Edge.Branch || !isExact(Edge.Branch->getCondition()))
    return false;
  Need Condition{Edge.Branch->getCondition(), Need::Primal};
  if (!isFree(Condition) && decide(Condition).K != Source::Recompute)
    return false;
  return true;
}

/// Phis of counted loops are expressions in counters.
bool Plan::countable(const Need &N, const Instruction &I, Source &Result) {
  const auto *Phi = dyn_cast<PHINode>(&I);
  if (!Phi || !Loops.headedBy(Phi->getParent()))
    return false;
  ScalarEvolution &SE = Loops.evolution();
  if (!SE.isSCEVable(Phi->getType()))
    return false;
  const SCEV *E = SE.getSCEV(const_cast<PHINode *>(Phi));
  if (!isa<SCEVAddRecExpr>(E))
    return false;
  if (N.K == Need::Shadow) {
    // The offset from the base is the same in the shadow.
    const auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(E));
    if (!Base || !Phi->getType()->isPointerTy())
      return false;
    Need BaseShadow{Base->getValue(), Need::Shadow};
    if (!isFree(BaseShadow) && !available(BaseShadow))
      return false;
    E = SE.removePointerBase(E);
  }
  if (!Loops.forEachLeaf(
          E, [&](const Value *V) { return available({V, Need::Primal}); }))
    return false;
  Result.K = Source::Counted;
  Result.E = E;
  return true;
}

/// Operations that may be done again: pure, cheap, and never undefined.
static unsigned operationCost(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::GetElementPtr:
  case Instruction::BitCast:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::FNeg:
  case Instruction::ExtractValue:
  case Instruction::ExtractElement:
  case Instruction::InsertElement:
  case Instruction::ShuffleVector:
    return 1;
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
  case Instruction::ICmp:
  case Instruction::FCmp:
  case Instruction::Select:
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FPExt:
  case Instruction::FPTrunc:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
    return 1;
  default:
    break;
  }
  if (auto *II = dyn_cast<IntrinsicInst>(&I))
    switch (II->getIntrinsicID()) {
    case Intrinsic::fma:
    case Intrinsic::fmuladd:
    case Intrinsic::fabs:
    case Intrinsic::copysign:
    case Intrinsic::smax:
    case Intrinsic::smin:
    case Intrinsic::umax:
    case Intrinsic::umin:
    case Intrinsic::abs:
      return 1;
    default:
      break;
    }
  return ~0u;
}

bool Plan::recomputable(const Need &N, const Instruction &I) {
  bool Address =
      I.getType()->isPtrOrPtrVectorTy() || I.getType()->isIntOrIntVectorTy();
  if (N.K == Need::Shadow &&
      !(isa<GetElementPtrInst>(I) && I.getType()->isPointerTy() &&
        I.getOperand(0)->getType()->isPointerTy()))
    return false;
  unsigned Cost = operationCost(I);
  if (Cost == ~0u)
    return false;
  bool All = true;
  forEachIngredient(N, [&](const Need &Part) {
    if (!All || isFree(Part))
      return;
    // An inactive pointer has no shadow to start from.
    All &= available(Part) && (Part.K != Need::Shadow || S.isActive(Part.V));
    Cost += Costs.lookup(Part);
  });
  if (!All || Cost > (Address ? AddressLimit : RecomputeLimit))
    return false;
  Costs[N] = Cost;
  return true;
}

bool Plan::reloadable(const Instruction &I) {
  const auto *Load = dyn_cast<LoadInst>(&I);
  if (!Load || !Load->isUnordered() || Load->isVolatile() || !S.R.Adjacent)
    return false;
  const Value *Ptr = Load->getPointerOperand();
  if (!isFree({Ptr, Need::Primal}) && !available({Ptr, Need::Primal}))
    return false;
  // Anything that may write to the object stands in the way, whenever it runs:
  // the reverse sweep sees the memory as it is at exit.
  const Value *Object = getUnderlyingObject(Ptr, 0);
  if (isa<AllocaInst>(Object))
    return false; // gone in rev, unless it became an arena object
  auto [It, New] = Clobbered.try_emplace(Object, false);
  if (New) {
    auto &AA = S.D.pipelines().analyses().getResult<AAManager>(S.Copy);
    MemoryLocation Whole(Object, LocationSize::beforeOrAfterPointer());
    bool Written = false;
    for (const Instruction &W : instructions(S.Copy)) {
      if (!W.mayWriteToMemory() || isa<ReturnInst>(W))
        continue;
      if (isModSet(AA.getModRefInfo(&W, Whole))) {
        Written = true;
        break;
      }
    }
    It = Clobbered.find(Object);
    It->second = Written;
  }
  return !It->second;
}

Source Plan::decideNew(const Need &N) {
  Source Result;
  const auto *I = dyn_cast<Instruction>(N.V);
  if (I && (N.K == Need::Primal || N.K == Need::Shadow)) {
    if (countable(N, *I, Result)) {
      Costs[N] = 1;
      return Result;
    }
    if (recomputable(N, *I)) {
      Result.K = Source::Recompute;
      return Result;
    }
    if (N.K == Need::Primal && reloadable(*I)) {
      Costs[N] = ReloadCost + Costs.lookup({I->getOperand(0), Need::Primal});
      Result.K = Source::Reload;
      return Result;
    }
  }
  if (N.K == Need::Edge && isBranchAgain(N)) {
    Result.K = Source::Recompute;
    return Result;
  }
  const BasicBlock *BB = definingBlock(N);
  if (Loops.runsOnce(BB)) {
    Result.K = Source::Frame;
    return Result;
  }
  const CountedLoop *In = Loops.around(BB);
  if (In && In->isGrid()) {
    Result.K = Source::Array;
    Result.In = In;
    Costs[N] = KeepCost;
  }
  return Result;
}

Source Plan::decide(const Need &N) {
  if (isFree(N)) {
    Source Result;
    Result.K = Source::Free;
    return Result;
  }
  auto [It, New] = Sources.try_emplace(N);
  if (!New)
    return It->second;
  Source Result = decideNew(N);
  return Sources[N] = Result;
}

void Plan::demandLeaves(const SCEV *E, const Instruction *I, StringRef Why) {
  Loops.forEachLeaf(E, [&](const Value *V) {
    demand({V, Need::Primal}, I, Why);
    return true;
  });
}

void Plan::demand(const Need &N, const Instruction *I, StringRef Why) {
  if (isFree(N) || !Demanded.insert(N).second)
    return;
  Source Found = decide(N);
  switch (Found.K) {
  case Source::Free:
  case Source::Record:
    return;
  case Source::Counted:
    if (N.K == Need::Shadow) {
      ScalarEvolution &SE = Loops.evolution();
      const SCEV *Whole = SE.getSCEV(const_cast<Value *>(N.V));
      demand({cast<SCEVUnknown>(SE.getPointerBase(Whole))->getValue(),
              Need::Shadow},
             I, Why);
    }
    demandLeaves(Found.E, I, Why);
    return;
  case Source::Recompute:
    if (N.K == Need::Edge)
      return demand(
          {edgeBranch(S, *cast<BasicBlock>(N.V)).Branch->getCondition(),
           Need::Primal},
          I, Why);
    forEachIngredient(N, [&](const Need &Part) { demand(Part, I, Why); });
    return;
  case Source::Reload:
    demand({cast<LoadInst>(N.V)->getPointerOperand(), Need::Primal}, I, Why);
    return;
  case Source::Frame:
    Sources[N].Index = FrameSlots.size();
    FrameSlots.push_back({N, typeOf(S, N), I, Why.str()});
    break;
  case Source::Array: {
    Sources[N].Index = Arrays.size();
    KeptArray A;
    A.N = N;
    A.T = typeOf(S, N);
    A.For = I;
    A.Why = Why.str();
    A.In = Found.In;
    Blocks[Found.In->root()->preheader()].Arrays.push_back(Arrays.size());
    Arrays.push_back(std::move(A));
    break;
  }
  }
  Blocks[definingBlock(N)].Keeps.push_back(N);
}

void Plan::planBlock(BasicBlock &BB) {
  BlockPlan &Block = Blocks[&BB];
  DenseSet<Need> Seen;
  // Larger fields first, otherwise in program order: no padding between them.
  std::map<uint64_t, SmallVector<Slot, 4>, std::greater<>> BySize;
  auto Use = [&](const Need &N, const Instruction &I, StringRef Why) {
    if (isFree(N) || !Seen.insert(N).second)
      return;
    Blocks[&BB].Uses.push_back(N);
    Source Found = decide(N);
    // An array is indexed by the iteration that rev is in.
    if (Found.K == Source::Record ||
        (Found.K == Source::Array && !Found.In->L->contains(&BB))) {
      Type *T = typeOf(S, N);
      BySize[S.DL.getTypeAllocSize(T).getFixedValue()].push_back(
          {N, T, &I, Why.str()});
      return;
    }
    demand(N, &I, Why);
  };
  for (const Instruction &I : BB)
    forEachNeed(S, I, [&](const Need &N, StringRef Why) { Use(N, I, Why); });
  if (Block.Predecessors.size() > 1 && !Loops.headedBy(&BB)) {
    Block.NeedsEdge = true;
    Use({&BB, Need::Edge}, BB.front(), "which way the block was entered");
  }
  // Loops that are left into this block begin in rev where it ends.
  for (BasicBlock *Pred : Block.Predecessors)
    for (const CountedLoop *C = Loops.around(Pred); C && !C->L->contains(&BB);
         C = C->Parent)
      demandLeaves(C->Last, &BB.front(), "the trip count of a loop");
  for (auto &[Size, Kept] : BySize)
    Blocks[&BB].Slots.append(Kept.begin(), Kept.end());
}

Plan::Plan(const ReverseSubject &S) : S(S), Loops(S) {
  LLVMContext &C = S.Copy.getContext();
  for (BasicBlock *BB : S.blocks()) {
    if (!S.isReversed(BB))
      continue;
    ArrayRef<BasicBlock *> Preds = S.predecessors(BB);
    Blocks[BB].Predecessors.assign(Preds.begin(), Preds.end());
  }
  for (BasicBlock *BB : S.blocks())
    if (S.isReversed(BB))
      planBlock(*BB);
  for (size_t A = 0; A != Arrays.size();
       ++A) // their sizes, where rev pops them
    for (const CountedLoop *L = Arrays[A].In; L; L = L->Parent)
      demandLeaves(L->Last, Arrays[A].For, "the size of an array on the tape");
  for (auto &[BB, Block] : Blocks) {
    SmallVector<Type *, 8> Fields;
    for (const Slot &Kept : Block.Slots)
      Fields.push_back(Kept.T);
    if (!Fields.empty())
      Block.Record = StructType::get(C, Fields);
  }
  SmallVector<Type *, 8> Fields;
  for (const Slot &Kept : FrameSlots)
    Fields.push_back(Kept.T);
  for (size_t A = 0; A != Arrays.size(); ++A)
    Fields.push_back(PointerType::getUnqual(C));
  if (!Fields.empty())
    Frame = StructType::get(C, Fields);
}

static void printSlot(raw_ostream &OS, const Slot &Kept, const DataLayout &DL) {
  OS << DL.getTypeAllocSize(Kept.T).getFixedValue() << " bytes of ";
  switch (Kept.N.K) {
  case Need::Primal:
    break;
  case Need::Shadow:
    OS << "shadow ";
    break;
  case Need::Extra:
    OS << "extra ";
    break;
  case Need::Edge:
    OS << "edge into ";
    break;
  }
  Kept.N.V->printAsOperand(OS, false);
  OS << " for " << Kept.For->getOpcodeName() << " at "
     << SourcePlace::of(*Kept.For).str() << ": " << Kept.Why << "\n";
}

void Plan::print(raw_ostream &OS) const {
  static const char *const Names[] = {"free",   "count",     "recompute",
                                      "reload", "keep once", "keep in an array",
                                      "keep"};
  OS << "plan of " << quotedName(S.Copy) << "\n";
  for (const Slot &Kept : FrameSlots) {
    OS << "  keep once ";
    printSlot(OS, Kept, S.DL);
  }
  for (const KeptArray &A : Arrays) {
    OS << "  keep in each iteration of the loop at ";
    A.In->header()->printAsOperand(OS, false);
    OS << " ";
    printSlot(OS, A, S.DL);
  }
  for (const auto &[BB, Block] : Blocks) {
    if (Block.Uses.empty() && Block.Slots.empty())
      continue;
    OS << "  block ";
    BB->printAsOperand(OS, false);
    OS << ": keeps "
       << (Block.Record ? S.DL.getTypeAllocSize(Block.Record).getFixedValue()
                        : 0)
       << " bytes a time\n";
    for (const Slot &Kept : Block.Slots) {
      OS << "    keep ";
      printSlot(OS, Kept, S.DL);
    }
    for (const Need &N : Block.Uses)
      if (Source Found = source(N); Found.K != Source::Record) {
        OS << "    " << Names[Found.K] << " "
           << (N.K == Need::Shadow ? "shadow " : "");
        N.V->printAsOperand(OS, false);
        OS << "\n";
      }
  }
}
