// Forward mode, driver: clones the primal into the derived function and walks
// it once, in reverse post-order, writing tangents.
#include "ad/forward/ForwardEmitter.h"
#include "ad/shadow/Lanes.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace adjoin;

ForwardEmitter::ForwardEmitter(Differentiator &D, const Request &R,
                               Function &Copy, Function &Target)
    : D(D), R(R), Copy(Copy), Target(Target),
      DL(Copy.getParent()->getDataLayout()), W(R.Width),
      Facts(Copy, R, D.kinds(), D.rules()), B(Copy.getContext()) {}

void adjoin::copyDerivedAttributes(const Function &Primal, Function &Derived) {
  AttrBuilder Fn(Derived.getContext());
  static const char *const Strings[] = {"target-cpu",
                                        "target-features",
                                        "tune-cpu",
                                        "prefer-vector-width",
                                        "min-legal-vector-width",
                                        "frame-pointer",
                                        "denormal-fp-math",
                                        "denormal-fp-math-f32",
                                        "no-trapping-math",
                                        "stack-protector-buffer-size"};
  for (const char *Name : Strings)
    if (Primal.hasFnAttribute(Name))
      Fn.addAttribute(Primal.getFnAttribute(Name));
  for (Attribute::AttrKind K :
       {Attribute::UWTable, Attribute::StrictFP, Attribute::SanitizeAddress,
        Attribute::SanitizeThread, Attribute::SanitizeMemory,
        Attribute::SanitizeHWAddress, Attribute::NoUnwind})
    if (Primal.hasFnAttribute(K))
      Fn.addAttribute(Primal.getFnAttribute(K));
  Derived.addFnAttrs(Fn);
}

/// Keeps of a parameter's attributes those that the ABI or its type need.
static void copyParamAttributes(const Function &Primal, unsigned From,
                                Function &Derived, unsigned To, bool Shadow) {
  AttrBuilder Attrs(Derived.getContext());
  for (Attribute::AttrKind K : {Attribute::ByVal, Attribute::Alignment}) {
    Attribute A = Primal.getAttributes().getParamAttr(From, K);
    if (A.isValid())
      Attrs.addAttribute(A);
  }
  if (!Shadow)
    for (Attribute::AttrKind K :
         {Attribute::NonNull, Attribute::Dereferenceable, Attribute::ZExt,
          Attribute::SExt, Attribute::NoUndef}) {
      Attribute A = Primal.getAttributes().getParamAttr(From, K);
      if (A.isValid())
        Attrs.addAttribute(A);
    }
  Derived.addParamAttrs(To, Attrs);
}

void ForwardEmitter::cloneBody() {
  Function::arg_iterator New = Target.arg_begin();
  SmallVector<std::pair<unsigned, unsigned>, 8> Primals, ShadowParams;
  for (Argument &A : Copy.args()) {
    New->setName(A.getName());
    VMap[&A] = &*New;
    Primals.push_back({A.getArgNo(), New->getArgNo()});
    ++New;
    if (R.Args[A.getArgNo()] == ShadowState::Const)
      continue;
    New->setName(A.getName() + ".t");
    Shadows[&A] = &*New;
    ShadowParams.push_back({A.getArgNo(), New->getArgNo()});
    ++New;
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
  for (auto [From, To] : Primals)
    copyParamAttributes(Copy, From, Target, To, false);
  for (auto [From, To] : ShadowParams)
    if (W == 1 || !Copy.getArg(From)->getType()->isPointerTy())
      copyParamAttributes(Copy, From, Target, To, true);

  // musttail asks for the caller's own signature, which has changed.
  for (BasicBlock &BB : Target)
    for (Instruction &I : BB)
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isMustTailCall())
        Call->setTailCallKind(CallInst::TCK_None);

  // The result of an invoke becomes an extractvalue in its normal destination,
  // so no phi may take it on the edge.
  for (BasicBlock &BB : Target)
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

Value *ForwardEmitter::primal(const Value *V) const {
  if (isa<Argument>(V) || isa<Instruction>(V) || isa<BasicBlock>(V)) {
    Value *New = VMap.lookup(V);
    assert(New && "value of the copy without a clone");
    return New;
  }
  return const_cast<Value *>(V);
}

void ForwardEmitter::placeBefore(Instruction &I) {
  auto *New = cast<Instruction>(primal(&I));
  B.SetInsertPoint(New);
  B.SetCurrentDebugLocation(New->getDebugLoc());
}

void ForwardEmitter::placeAfter(Instruction &I) {
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

void ForwardEmitter::addPhis(BasicBlock &BB) {
  for (PHINode &Phi : BB.phis()) {
    if (!isActive(&Phi))
      continue;
    if (Phi.getNumIncomingValues() == 1 &&
        isa<InvokeInst>(Phi.getIncomingBlock(0)->getTerminator())) {
      // Its clone was folded into the invoke's result.
      placeAfter(Phi);
      setShadow(&Phi, shadow(Phi.getIncomingValue(0)));
      continue;
    }
    auto *New = cast<PHINode>(primal(&Phi));
    OpenPhi Open{&Phi, {}, W == 1 || Phi.getType()->isFPOrFPVectorTy()};
    B.SetInsertPoint(New);
    B.SetCurrentDebugLocation(New->getDebugLoc());
    unsigned Count = Open.Whole ? 1 : W;
    Type *T = Open.Whole ? shadowType(Phi.getType(), W) : Phi.getType();
    for (unsigned K = 0; K != Count; ++K)
      Open.Lanes.push_back(
          B.CreatePHI(T, Phi.getNumIncomingValues(), Phi.getName() + ".t"));
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

void ForwardEmitter::fillPhis() {
  for (OpenPhi &Open : OpenPhis) {
    // The clone knows its predecessors after blocks were split.
    auto *New = cast<PHINode>(primal(Open.Primal));
    for (unsigned I = 0, E = New->getNumIncomingValues(); I != E; ++I) {
      BasicBlock *Pred = New->getIncomingBlock(I);
      const Value *In = Open.Primal->getIncomingValue(I);
      B.SetInsertPoint(Pred->getTerminator());
      B.SetCurrentDebugLocation(Pred->getTerminator()->getDebugLoc());
      Value *S;
      auto *InInst = dyn_cast<Instruction>(In);
      if (InInst && isActive(In) && !Shadows.count(In))
        S = PoisonValue::get(shadowType(In->getType(), W)); // unreachable
      else
        S = shadow(In, Open.Primal);
      for (auto [K, Phi] : enumerate(Open.Lanes))
        Phi->addIncoming(Open.Whole ? S : laneOf(B, S, K, In->getType(), W),
                         Pred);
    }
  }
}

Error ForwardEmitter::visitReturn(ReturnInst &I) {
  auto *New = cast<ReturnInst>(primal(&I));
  Value *V = I.getReturnValue();
  if (!V || !R.ReturnActive)
    return Error::success();
  B.SetInsertPoint(New);
  B.SetCurrentDebugLocation(New->getDebugLoc());
  Value *Result = PoisonValue::get(Target.getReturnType());
  Result = B.CreateInsertValue(Result, primal(V), 0);
  Result = B.CreateInsertValue(Result, shadow(V), 1);
  B.CreateRet(Result);
  New->eraseFromParent();
  return Error::success();
}

Error ForwardEmitter::visit(Instruction &I) {
  if (isa<PHINode>(I))
    return Error::success(); // addPhis
  if (auto *Call = dyn_cast<CallBase>(&I))
    return visitCall(*Call);
  if (auto *Ret = dyn_cast<ReturnInst>(&I))
    return visitReturn(*Ret);
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return visitLoad(*Load);
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return visitStore(*Store);
  if (auto *RMW = dyn_cast<AtomicRMWInst>(&I))
    return visitAtomic(*RMW);
  if (auto *Alloca = dyn_cast<AllocaInst>(&I))
    return visitAlloca(*Alloca);
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
    // What is stored may be active, or a float without a derivative that takes
    // the place of one with.
    const Value *New = Exchange->getNewValOperand();
    const Value *Ptr = Exchange->getPointerOperand();
    KindRanges Kinds = D.kinds().memory(
        Ptr, DL.getTypeStoreSize(New->getType()).getFixedValue());
    bool Floats = any_of(
        Kinds, [](const KindRange &Range) { return Range.Kinds.mayBeFloat(); });
    if (isActive(New) || (isActive(Ptr) && Floats))
      return diagnose(I, "cannot differentiate an atomic compare and exchange "
                         "of active data");
    return Error::success();
  }
  if (!isActive(&I))
    return Error::success(); // no derivative, and nothing in memory changes
  if (const ScalarRule *Rule = scalarRuleFor(I))
    return visitScalar(I, *Rule);
  return visitValue(I);
}

Error ForwardEmitter::run() {
  cloneBody();
  if (Facts.storesActiveToConst() && !R.Sparse) {
    NeedsSparse = true;
    Target.deleteBody();
    return Error::success();
  }
  Error Failure = Error::success();
  bool Failed = false;
  ReversePostOrderTraversal<Function *> Order(&Copy);
  SmallVector<BasicBlock *, 0> Blocks(Order.begin(), Order.end());
  for (BasicBlock *BB : Blocks) {
    addPhis(*BB);
    for (Instruction &I : *BB)
      if (Error E = visit(I)) {
        // Independent mistakes of one function are all reported; what follows
        // may depend on this value, which stands as constant.
        if (isActive(&I) && !Shadows.count(&I) && !I.getType()->isVoidTy())
          setShadow(&I, PoisonValue::get(shadowType(I.getType(), W)));
        Failure = joinErrors(std::move(Failure), std::move(E));
        Failed = true;
      }
  }
  if (!Failed) {
    fillPhis();
    return Failure;
  }
  Target.deleteBody();
  Target.setLinkage(GlobalValue::InternalLinkage);
  BasicBlock *Trap = BasicBlock::Create(Target.getContext(), "failed", &Target);
  B.SetInsertPoint(Trap);
  B.SetCurrentDebugLocation(DebugLoc());
  B.CreateUnreachable();
  return Failure;
}
