// Activity: an optimistic forward data flow over one working copy.
#include "ad/analysis/Activity.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace adjoin;

ActivityAnalysis::ActivityAnalysis(const Function &Copy, const Request &R,
                                   const KindAnalysis &Kinds,
                                   const RuleBook &Rules)
    : Copy(Copy), R(R), Kinds(Kinds), Rules(Rules) {
  for (const Argument &A : Copy.args()) {
    switch (R.Args[A.getArgNo()]) {
    case ShadowState::Const:
      States[&A] = Flow::Const;
      break;
    case ShadowState::Known:
      States[&A] = Flow::Known;
      break;
    case ShadowState::Maybe:
      States[&A] = Flow::Maybe;
      break;
    }
  }
  ReversePostOrderTraversal<const Function *> Order(&Copy);
  SmallVector<const BasicBlock *, 0> Blocks(Order.begin(), Order.end());
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const BasicBlock *BB : Blocks)
      for (const Instruction &I : *BB) {
        if (I.getType()->isVoidTy())
          continue;
        // Monotone: a state that was left is never taken again.
        Flow Old = States.lookup(&I), New = std::max(Old, transfer(I));
        if (New != Old) {
          States[&I] = New;
          Changed = true;
        }
      }
  }
}

static bool isFloat(const Value *V) { return V->getType()->isFPOrFPVectorTy(); }
static bool isPointer(const Value *V) {
  return V->getType()->isPtrOrPtrVectorTy();
}

bool ActivityAnalysis::carriesBits(const Value *V) const {
  KindSet K = Kinds.summary(V);
  return K.empty() || K.mayBeFloat() || K.mayBePtr();
}

ActivityAnalysis::Flow ActivityAnalysis::activeResult(const Value *V) const {
  if (isFloat(V))
    return Flow::Known;
  if (isPointer(V) || V->getType()->isAggregateType())
    return Flow::Maybe;
  return carriesBits(V) ? Flow::Maybe : Flow::Const;
}

ActivityAnalysis::Flow ActivityAnalysis::flow(const Value *V) const {
  if (isa<Constant>(V) || isa<MetadataAsValue>(V) || isa<InlineAsm>(V) ||
      isa<BasicBlock>(V))
    return Flow::Const;
  return States.lookup(V);
}

ActivityAnalysis::Flow
ActivityAnalysis::joinOperands(const Instruction &I) const {
  Flow Result = Flow::Unreached;
  for (const Value *Op : I.operands()) {
    Flow F = flow(Op);
    if (F == Flow::Unreached || F == Result)
      continue;
    if (Result == Flow::Unreached)
      Result = F;
    else
      // Different: active for a float, not known for the rest.
      Result = isFloat(&I) ? Flow::Known : Flow::Maybe;
  }
  if (Result == Flow::Maybe && isFloat(&I))
    return Flow::Known;
  return Result;
}

static bool isConstantMemory(const Value *Ptr) {
  const auto *G = dyn_cast<GlobalVariable>(Ptr->stripInBoundsOffsets());
  return G && G->isConstant();
}

/// An integer that is no move of bytes, but ends as a float again: through
/// other integer operations, selects and casts.
bool ActivityAnalysis::becomesFloat(const Value *V) {
  SmallPtrSet<const Value *, 16> Seen;
  SmallVector<const Value *, 16> Work{V};
  while (!Work.empty() && Seen.size() < 256) {
    const Value *Next = Work.pop_back_val();
    if (!Seen.insert(Next).second)
      continue;
    for (const User *U : Next->users()) {
      const auto *I = dyn_cast<Instruction>(U);
      if (!I)
        continue;
      if (isa<BitCastInst>(I) && I->getType()->isFPOrFPVectorTy())
        return true;
      if ((isa<BinaryOperator>(I) || isa<CastInst>(I) || isa<PHINode>(I) ||
           isa<SelectInst>(I) || isa<FreezeInst>(I) || isa<CallBase>(I)) &&
          I->getType()->isIntOrIntVectorTy())
        Work.push_back(I);
    }
  }
  return false;
}

ActivityAnalysis::Flow ActivityAnalysis::loaded(const Value *Ptr,
                                                const Value *Result) const {
  switch (flow(Ptr)) {
  case Flow::Unreached:
    return Flow::Unreached;
  case Flow::Const:
    if (!R.Sparse || isConstantMemory(Ptr))
      return Flow::Const;
    return activeResult(Result);
  case Flow::Known:
  case Flow::Maybe:
    return activeResult(Result);
  }
  return Flow::Maybe;
}

/// Integer arithmetic of a kind that no float and no pointer to floats is
/// changed by: reference counts and lock words, whatever else is in the memory
/// around them.
static bool isCounter(const AtomicRMWInst &I) {
  if (I.isFloatingPointOperation() || !I.getType()->isIntegerTy())
    return false;
  switch (I.getOperation()) {
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
    break;
  case AtomicRMWInst::Max:
  case AtomicRMWInst::Min:
  case AtomicRMWInst::UMax:
  case AtomicRMWInst::UMin:
  case AtomicRMWInst::UIncWrap:
  case AtomicRMWInst::UDecWrap:
    return true;
  default:
    return false; // moves, and operations that may change a sign bit
  }
  if (I.getType()->getIntegerBitWidth() < 64)
    return true;
  // A pointer moves by whole elements.
  auto *Step = dyn_cast<ConstantInt>(I.getValOperand());
  return Step && Step->getValue()[0];
}

ActivityAnalysis::Flow ActivityAnalysis::transfer(const Instruction &I) const {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return transferCall(*Call);
  switch (I.getOpcode()) {
  case Instruction::ICmp:
  case Instruction::FCmp:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::LandingPad:
    return Flow::Const;
  case Instruction::Alloca:
    return Flow::Known;
  case Instruction::Load:
    return loaded(I.getOperand(0), &I);
  case Instruction::AtomicRMW:
    if (isCounter(cast<AtomicRMWInst>(I)))
      return Flow::Const;
    return loaded(I.getOperand(0), &I);
  case Instruction::AtomicCmpXchg:
    return Flow::Const;
  case Instruction::GetElementPtr:
    return flow(I.getOperand(0));
  case Instruction::Select: {
    Flow A = flow(I.getOperand(1)), B = flow(I.getOperand(2));
    if (A == Flow::Unreached || A == B)
      return B;
    if (B == Flow::Unreached)
      return A;
    return isFloat(&I) ? Flow::Known : Flow::Maybe;
  }
  case Instruction::ExtractElement:
    return flow(I.getOperand(0));
  case Instruction::ExtractValue: {
    Flow A = flow(I.getOperand(0));
    return A > Flow::Const ? activeResult(&I) : A;
  }
  default: {
    Flow F = joinOperands(I);
    if (F <= Flow::Const)
      return F;
    // Arithmetic whose result is an integer ends a flow of bits, unless it
    // becomes a float again.
    if (isa<BinaryOperator>(I) && I.getType()->isIntOrIntVectorTy() &&
        becomesFloat(&I))
      return Flow::Maybe;
    return isPointer(&I) || isFloat(&I) ? (isFloat(&I) ? Flow::Known : F)
                                        : activeResult(&I);
  }
  }
}

ActivityAnalysis::Flow
ActivityAnalysis::transferCall(const CallBase &CB) const {
  CallClass C = classifyCall(CB, Rules);
  switch (C.K) {
  case CallClass::Inactive:
  case CallClass::NoReturn:
  case CallClass::Free:
    return Flow::Const;
  case CallClass::Allocate:
    return Flow::Known;
  case CallClass::Reallocate: {
    Flow Old = flow(CB.getArgOperand(C.PointerArg));
    return Old == Flow::Const ? Flow::Maybe : Old;
  }
  case CallClass::Transfer:
  case CallClass::Fill:
    return isPointer(&CB) ? flow(CB.getArgOperand(C.PointerArg)) : Flow::Const;
  case CallClass::Scalar: {
    for (unsigned K = 0; K != C.Rule->Operands; ++K)
      if (flow(CB.getArgOperand(K)) > Flow::Const)
        return Flow::Known;
    return Flow::Const;
  }
  case CallClass::Intrinsic: {
    // A masked load is a load; everything else moves its operands.
    Intrinsic::ID ID = CB.getIntrinsicID();
    if (ID == Intrinsic::masked_load || ID == Intrinsic::masked_gather ||
        ID == Intrinsic::masked_expandload)
      return loaded(CB.getArgOperand(0), &CB);
    Flow F = joinOperands(CB);
    return F > Flow::Const ? activeResult(&CB) : F;
  }
  case CallClass::Multi:
  case CallClass::Custom:
  case CallClass::Derive:
  case CallClass::Indirect:
  case CallClass::Assembly:
  case CallClass::Unknown:
    return mayTouchActive(CB) ? activeResult(&CB) : Flow::Const;
  }
  return Flow::Maybe;
}

ShadowState ActivityAnalysis::state(const Value *V) const {
  switch (flow(V)) {
  case Flow::Unreached:
  case Flow::Const:
    return ShadowState::Const;
  case Flow::Known:
    return ShadowState::Known;
  case Flow::Maybe:
    return isFloat(V) ? ShadowState::Known : ShadowState::Maybe;
  }
  return ShadowState::Maybe;
}

SmallVector<ShadowState, 8>
ActivityAnalysis::argumentStates(const CallBase &CB) const {
  SmallVector<ShadowState, 8> Result;
  for (const Value *Arg : CB.args())
    Result.push_back(isa<MetadataAsValue>(Arg) ? ShadowState::Const
                                               : state(Arg));
  return Result;
}

bool ActivityAnalysis::mayTouchActive(const CallBase &CB) const {
  for (const Value *Arg : CB.args()) {
    if (isa<MetadataAsValue>(Arg) || state(Arg) == ShadowState::Const)
      continue;
    if (!isPointer(Arg))
      return true;
    KindSet K = Kinds.object(Arg);
    if (K.empty() || K.mayBeFloat() || K.mayBePtr())
      return true;
  }
  // What an earlier store left in a global is seen by functions with a body.
  if (!R.Sparse)
    return false;
  return !CB.doesNotAccessMemory() &&
         (CB.isIndirectCall() ||
          (CB.getCalledFunction() && !CB.getCalledFunction()->isDeclaration()));
}

bool ActivityAnalysis::storesActiveToConst() const {
  auto MayLack = [&](const Value *Ptr) {
    return state(Ptr) != ShadowState::Known;
  };
  for (const BasicBlock &BB : Copy)
    for (const Instruction &I : BB) {
      if (auto *Store = dyn_cast<StoreInst>(&I)) {
        if (state(Store->getValueOperand()) != ShadowState::Const &&
            MayLack(Store->getPointerOperand()))
          return true;
      } else if (auto *RMW = dyn_cast<AtomicRMWInst>(&I)) {
        if (state(RMW->getValOperand()) != ShadowState::Const &&
            MayLack(RMW->getPointerOperand()))
          return true;
      } else if (auto *Call = dyn_cast<CallBase>(&I)) {
        CallClass C = classifyCall(*Call, Rules);
        if (C.K == CallClass::Multi) {
          // Float results are stored through pointer operands.
          auto IsActiveFloat = [&](const Value *Arg) {
            return Arg->getType()->isFPOrFPVectorTy() &&
                   state(Arg) != ShadowState::Const;
          };
          if (any_of(Call->args(), IsActiveFloat))
            for (const MultiRule::Result &Result : C.Several->Results)
              if (int Ptr = MultiRule::pointerOperand(Result);
                  Ptr >= 0 && Result.Float && MayLack(Call->getArgOperand(Ptr)))
                return true;
          continue;
        }
        if (C.K == CallClass::Intrinsic && Call->arg_size() >= 2 &&
            (Call->getIntrinsicID() == Intrinsic::masked_store ||
             Call->getIntrinsicID() == Intrinsic::masked_scatter ||
             Call->getIntrinsicID() == Intrinsic::masked_compressstore) &&
            state(Call->getArgOperand(0)) != ShadowState::Const &&
            MayLack(Call->getArgOperand(1)))
          return true;
        if (C.K != CallClass::Transfer)
          continue;
        const Value *Src = Call->getArgOperand(C.SourceArg);
        KindSet K = Kinds.object(Src);
        if (state(Src) != ShadowState::Const &&
            MayLack(Call->getArgOperand(C.PointerArg)) &&
            (K.empty() || K.mayBeFloat() || K.mayBePtr()))
          return true;
      }
    }
  return false;
}
