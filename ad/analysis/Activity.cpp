// Activity: an optimistic forward data flow over one working copy.
#include "ad/analysis/Activity.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace adjoin;

/// Memory that nobody writes.
static bool isConstantMemory(const Value *Ptr) {
  const auto *G = dyn_cast<GlobalVariable>(Ptr->stripInBoundsOffsets());
  return G && G->isConstant();
}

static bool isFloat(const Value *V) { return V->getType()->isFPOrFPVectorTy(); }
static bool isPointer(const Value *V) {
  return V->getType()->isPtrOrPtrVectorTy();
}

ActivityAnalysis::ActivityAnalysis(const Function &Copy, const Request &R,
                                   const KindAnalysis &Kinds,
                                   const RuleBook &Rules)
    : Copy(Copy), R(R), Kinds(Kinds), Rules(Rules) {
  ReversePostOrderTraversal<const Function *> Order(&Copy);
  Blocks.assign(Order.begin(), Order.end());
  for (const BasicBlock *BB : Blocks)
    for (const Instruction &I : *BB)
      if (auto *CB = dyn_cast<CallBase>(&I))
        Classes.try_emplace(CB, classifyCall(*CB, Rules));
  Locals = std::make_unique<LocalObjects>(Copy, [&](const CallBase &CB) {
    const CallClass &C = classOf(CB);
    return C.K == CallClass::Allocate && C.PointerArg < 0;
  });
  for (const LocalObject &O : Locals->all()) {
    NumberOf[O.Maker] = Contents.size();
    Contents.emplace_back();
    Contents.back().Integers = Kinds.onlyIntegers(O.Maker);
  }
  solve();
}

const CallClass &ActivityAnalysis::classOf(const CallBase &CB) const {
  static const CallClass Unreachable;
  auto It = Classes.find(&CB);
  return It == Classes.end() ? Unreachable : It->second;
}

//===-- The fixpoint ------------------------------------------------------===//

void ActivityAnalysis::solve() {
  // Each round refutes objects; few rounds do, and all at last.
  for (unsigned Round = 0;; ++Round) {
    States.clear();
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
    for (Content &C : Contents) {
      C.Active = false;
      C.Unknown = false;
      C.Pointers = Flow::Unreached;
    }
    while (flowThrough())
      ;
    bool Refuted = false;
    for (Content &C : Contents) {
      if (!C.Inert || !(C.Active || C.Unknown || C.Pointers > Flow::Const))
        continue;
      C.Inert = false;
      Refuted = true;
    }
    if (!Refuted)
      return;
    if (Round >= 8)
      for (Content &C : Contents)
        C.Inert = false;
  }
}

/// One pass over values and objects; true when something grew.
bool ActivityAnalysis::flowThrough() {
  bool Changed = false;
  for (const BasicBlock *BB : Blocks)
    for (const Instruction &I : *BB) {
      if (I.getType()->isVoidTy())
        continue;
      // Monotone: a state that was left is never taken again.
      Flow Old = States.lookup(&I);
      Flow New = std::max(Old, transfer(I));
      if (New == Old)
        continue;
      States[&I] = New;
      Changed = true;
    }
  for (unsigned N = 0; N != Contents.size(); ++N)
    Changed |= lookInto(N);
  return Changed;
}

//===-- Objects of this function ------------------------------------------===//

bool ActivityAnalysis::lookInto(unsigned Number) {
  Content &C = Contents[Number];
  const LocalObject &O = Locals->all()[Number];
  const Content Old = C;
  if (O.Escapes && !C.Integers)
    C.Unknown = true;
  for (const Instruction *I : O.Users) {
    if (auto *Store = dyn_cast<StoreInst>(I))
      store(C, Store->getValueOperand());
    else if (auto *RMW = dyn_cast<AtomicRMWInst>(I))
      store(C, RMW->getValOperand());
    else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(I))
      store(C, Exchange->getNewValOperand());
    else
      called(C, Number, cast<CallBase>(*I));
  }
  return C.Active != Old.Active || C.Unknown != Old.Unknown ||
         C.Pointers != Old.Pointers;
}

void ActivityAnalysis::store(Content &C, const Value *V) const {
  if (isNoAddress(V))
    return;
  Flow F = flow(V);
  if (isPointer(V)) {
    C.Pointers = join(C.Pointers, F, V->getType());
    return;
  }
  if (F <= Flow::Const && !isFloat(V) && Kinds.summary(V).mayBePtr())
    C.Pointers = join(C.Pointers, F, PointerType::getUnqual(V->getContext()));
  if (F <= Flow::Const)
    return;
  C.Active = true;
  if (!isFloat(V))
    C.Pointers = Flow::Maybe; // bits, or a struct with pointers
}

/// Bytes come from \p Source.
void ActivityAnalysis::copyFrom(Content &C, const Value *Source) const {
  if (Locals->isComplete(Source)) {
    for (unsigned N : Locals->objectsOf(Source)) {
      const Content &From = Contents[N];
      C.Active |= From.Active || From.Unknown;
      C.Pointers = From.Unknown
                       ? Flow::Maybe
                       : join(C.Pointers, From.Pointers, Source->getType());
    }
    return;
  }
  if (Kinds.onlyIntegers(Source))
    return;
  if (flow(Source) <= Flow::Const && (!R.Sparse || isInert(Source))) {
    C.Pointers = join(C.Pointers, Flow::Const, Source->getType());
    return;
  }
  C.Active = true;
  C.Pointers = Flow::Maybe;
}

/// The call has a pointer to object \p Number among its operands.
void ActivityAnalysis::called(Content &C, unsigned Number,
                              const CallBase &CB) const {
  const CallClass &Class = classOf(CB);
  auto IsIt = [&](int Arg) {
    return Arg >= 0 &&
           is_contained(Locals->objectsOf(CB.getArgOperand(Arg)), Number);
  };
  switch (Class.K) {
  case CallClass::Inactive:
  case CallClass::NoReturn:
  case CallClass::Free:
  case CallClass::Scalar:
  case CallClass::Fill:
    return;
  case CallClass::Allocate:
    if (IsIt(Class.PointerArg))
      C.Pointers =
          join(C.Pointers, Flow::Known, CB.getArgOperand(0)->getType());
    return;
  case CallClass::Transfer:
    if (IsIt(Class.PointerArg))
      copyFrom(C, CB.getArgOperand(Class.SourceArg));
    if (!CB.getType()->isVoidTy() && !CB.use_empty() && !C.Integers)
      C.Unknown = true; // the result points into it too
    return;
  case CallClass::Reallocate:
    C.Unknown = true;
    return;
  case CallClass::Intrinsic:
    switch (CB.getIntrinsicID()) {
    case Intrinsic::masked_store:
    case Intrinsic::masked_scatter:
    case Intrinsic::masked_compressstore:
      store(C, CB.getArgOperand(0));
      return;
    default:
      if (!CB.onlyReadsMemory())
        C.Unknown = true;
      return;
    }
  case CallClass::Multi:
  case CallClass::Custom:
  case CallClass::Derive:
  case CallClass::Indirect:
  case CallClass::Assembly:
  case CallClass::Unknown:
    break;
  }
  if (C.Integers || !mayTouchActive(CB))
    return;
  for (unsigned Arg = 0; Arg != CB.arg_size(); ++Arg)
    if (IsIt(Arg) && !(CB.onlyReadsMemory(Arg) && CB.doesNotCapture(Arg)))
      C.Unknown = true;
}

bool ActivityAnalysis::isInert(const Value *Ptr) const {
  if (isConstantMemory(Ptr))
    return true;
  if (auto *G = dyn_cast<GlobalVariable>(Ptr->stripInBoundsOffsets()))
    return Rules.InactiveGlobals.count(G);
  return Locals->isComplete(Ptr) &&
         all_of(Locals->objectsOf(Ptr),
                [&](unsigned N) { return Contents[N].Inert; });
}

//===-- States of values --------------------------------------------------===//

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

/// The state of a value of type \p T that is one or the other.
ActivityAnalysis::Flow ActivityAnalysis::join(Flow A, Flow B, const Type *T) {
  if (T->isFPOrFPVectorTy())
    return std::min(std::max(A, B), Flow::Known);
  if (A == B || B == Flow::Unreached)
    return A;
  return A == Flow::Unreached ? B : Flow::Maybe;
}

ActivityAnalysis::Flow
ActivityAnalysis::joinOperands(const Instruction &I) const {
  Flow Result = Flow::Unreached;
  for (const Value *Op : I.operands())
    if (!isNoAddress(Op) && !isa<BasicBlock>(Op))
      Result = join(Result, flow(Op), I.getType());
  return Result;
}

/// An integer that is no move of bytes, but ends as a float again: through
/// other integer operations, selects, casts, calls and returns.
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
      if (const auto *CB = dyn_cast<CallBase>(I))
        if (const Function *F = CB->getCalledFunction())
          for (const auto &[Param, Arg] : zip(F->args(), CB->args()))
            if (Arg == Next)
              Work.push_back(&Param);
      if (isa<ReturnInst>(I))
        for (const User *Caller : I->getFunction()->users())
          if (const auto *CB = dyn_cast<CallBase>(Caller);
              CB && CB->getCalledOperand() == I->getFunction())
            Work.push_back(CB);
      if ((isa<BinaryOperator>(I) || isa<CastInst>(I) || isa<PHINode>(I) ||
           isa<SelectInst>(I) || isa<FreezeInst>(I) || isa<CallBase>(I)) &&
          I->getType()->isIntOrIntVectorTy())
        Work.push_back(I);
    }
  }
  return false;
}

/// The state of what is read at \p Ptr.
ActivityAnalysis::Flow ActivityAnalysis::loaded(const Value *Ptr,
                                                const Value *Result) const {
  if (flow(Ptr) == Flow::Unreached)
    return Flow::Unreached;
  if (Locals->isComplete(Ptr)) {
    Content All;
    for (unsigned N : Locals->objectsOf(Ptr)) {
      const Content &C = Contents[N];
      if (C.Inert) {
        All.Pointers = join(All.Pointers, Flow::Const, Ptr->getType());
        continue;
      }
      All.Unknown |= C.Unknown;
      All.Active |= C.Active;
      All.Pointers = join(All.Pointers, C.Pointers, Ptr->getType());
    }
    if (!All.Unknown) {
      if (isPointer(Result))
        return std::max(All.Pointers, Flow::Const);
      bool Active =
          All.Active || (!isFloat(Result) && All.Pointers > Flow::Const);
      return Active ? activeResult(Result) : Flow::Const;
    }
    return activeResult(Result);
  }
  if (flow(Ptr) == Flow::Const && (!R.Sparse || isInert(Ptr)))
    return Flow::Const;
  return activeResult(Result);
}

/// An object of this function.
ActivityAnalysis::Flow ActivityAnalysis::made(const Instruction &I) const {
  auto It = NumberOf.find(&I);
  return It != NumberOf.end() && Contents[It->second].Inert ? Flow::Const
                                                            : Flow::Known;
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
    return made(I);
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
    Flow Result = Flow::Unreached;
    for (const Value *Op : drop_begin(I.operands()))
      if (!isNoAddress(Op))
        Result = join(Result, flow(Op), I.getType());
    return Result;
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
    return isPointer(&I) ? F : activeResult(&I);
  }
  }
}

ActivityAnalysis::Flow
ActivityAnalysis::transferCall(const CallBase &CB) const {
  const CallClass &C = classOf(CB);
  switch (C.K) {
  case CallClass::Inactive:
  case CallClass::NoReturn:
  case CallClass::Free:
    return Flow::Const;
  case CallClass::Allocate:
    return C.PointerArg < 0 ? made(CB) : Flow::Const;
  case CallClass::Reallocate: {
    const Value *Pointer = CB.getArgOperand(C.PointerArg);
    Flow Old = isNoAddress(Pointer) ? Flow::Unreached : flow(Pointer);
    // Null, so far: a fresh object.
    if (Old == Flow::Unreached)
      return Flow::Known;
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

/// The function makes the object that it returns, or returns null.
static bool returnsFreshMemory(const Function &F, const RuleBook &Rules,
                               unsigned Depth = 3) {
  bool Any = false;
  for (const BasicBlock &BB : F) {
    auto *Ret = dyn_cast<ReturnInst>(BB.getTerminator());
    if (!Ret)
      continue;
    SmallVector<const Value *, 8> Work{Ret->getReturnValue()};
    SmallPtrSet<const Value *, 8> Seen;
    while (!Work.empty()) {
      const Value *V = Work.pop_back_val();
      if (!Seen.insert(V).second || isNoAddress(V))
        continue;
      if (auto *Phi = dyn_cast<PHINode>(V)) {
        Work.append(Phi->op_begin(), Phi->op_end());
        continue;
      }
      if (auto *Select = dyn_cast<SelectInst>(V)) {
        Work.push_back(Select->getTrueValue());
        Work.push_back(Select->getFalseValue());
        continue;
      }
      auto *CB = dyn_cast<CallBase>(V);
      if (!CB)
        return false;
      Any = true;
      CallClass C = classifyCall(*CB, Rules);
      if (C.K == CallClass::Allocate && C.PointerArg < 0)
        continue;
      if (C.K != CallClass::Derive || Depth == 0 ||
          !returnsFreshMemory(*CB->getCalledFunction(), Rules, Depth - 1))
        return false;
    }
  }
  return Any;
}

bool ActivityAnalysis::mayTouchActive(const CallBase &CB) const {
  const CallClass &C = classOf(CB);
  // Where the body is seen, so is what it reaches.
  bool Seen = C.K == CallClass::Derive || C.K == CallClass::Indirect;
  for (const Value *Arg : CB.args()) {
    if (isa<MetadataAsValue>(Arg) || state(Arg) == ShadowState::Const)
      continue;
    if (!isPointer(Arg) || !Seen || Kinds.mayReachFloats(Arg))
      return true;
  }
  // Memory for floats needs a shadow from its beginning.
  if (C.K == CallClass::Derive && CB.getType()->isPointerTy() &&
      returnsFreshMemory(*CB.getCalledFunction(), Rules) &&
      Kinds.mayReachFloats(&CB))
    return true;
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
        const CallClass &C = classOf(*Call);
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
        if (state(Src) != ShadowState::Const &&
            MayLack(Call->getArgOperand(C.PointerArg)) &&
            !Kinds.onlyIntegers(Src))
          return true;
      }
    }
  return false;
}

void ActivityAnalysis::print(raw_ostream &OS) const {
  auto Name = [](ShadowState S) {
    return S == ShadowState::Const   ? "const"
           : S == ShadowState::Maybe ? "maybe"
                                     : "known";
  };
  OS << "activity in " << Copy.getName() << ":\n";
  for (const Argument &A : Copy.args()) {
    A.printAsOperand(OS, false);
    OS << ": " << Name(state(&A)) << '\n';
  }
  for (const BasicBlock *BB : Blocks)
    for (const Instruction &I : *BB) {
      auto *CB = dyn_cast<CallBase>(&I);
      if (I.getType()->isVoidTy() && !CB)
        continue;
      if (I.getType()->isVoidTy()) {
        OS << "call of ";
        CB->getCalledOperand()->printAsOperand(OS, false);
      } else {
        I.printAsOperand(OS, false);
      }
      OS << ": ";
      if (!I.getType()->isVoidTy())
        OS << Name(state(&I));
      if (CB && mayTouchActive(*CB))
        OS << " touches";
      if (isPointer(&I) && isInert(&I))
        OS << " inert";
      OS << '\n';
    }
}
