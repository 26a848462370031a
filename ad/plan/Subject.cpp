// The subject of a reverse derivative: flow, adjoint forms, call sites.
#include "ad/plan/Subject.h"
#include "ad/analysis/CallTargets.h"
#include "ad/plan/Bytes.h"
#include "ad/plan/Intrinsics.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace adjoin;

ReverseSubject::ReverseSubject(Differentiator &D, const Request &R,
                               Function &Copy)
    : D(D), R(R), Copy(Copy), DL(Copy.getParent()->getDataLayout()), W(R.Width),
      Facts(Copy, R, D.kinds(), D.rules()) {
  findFlow();
}

/// The successors of \p BB by other than unwinding.
static SmallVector<BasicBlock *, 4> normalSuccessors(BasicBlock *BB) {
  if (auto *Invoke = dyn_cast<InvokeInst>(BB->getTerminator()))
    return {Invoke->getNormalDest()};
  SmallVector<BasicBlock *, 4> Result;
  for (BasicBlock *S : successors(BB))
    if (!is_contained(Result, S))
      Result.push_back(S);
  return Result;
}

void ReverseSubject::findFlow() {
  ReversePostOrderTraversal<Function *> RPO(&Copy);
  Order.assign(RPO.begin(), RPO.end());
  SmallVector<BasicBlock *, 16> Work{&Copy.getEntryBlock()};
  Normal.insert(&Copy.getEntryBlock());
  while (!Work.empty())
    for (BasicBlock *S : normalSuccessors(Work.pop_back_val()))
      if (Normal.insert(S).second)
        Work.push_back(S);
  DenseMap<const BasicBlock *, SmallVector<BasicBlock *, 4>> Backwards;
  for (BasicBlock &BB : Copy) {
    if (!Normal.contains(&BB))
      continue;
    if (isa<ReturnInst>(BB.getTerminator())) {
      Exits.push_back(&BB);
    }
    for (BasicBlock *S : normalSuccessors(&BB))
      Backwards[S].push_back(&BB);
  }
  Reversed.insert(Exits.begin(), Exits.end());
  Work.append(Exits.begin(), Exits.end());
  while (!Work.empty())
    for (BasicBlock *P : Backwards[Work.pop_back_val()])
      if (Reversed.insert(P).second)
        Work.push_back(P);
  for (auto &[BB, From] : Backwards)
    if (Reversed.contains(BB))
      for (BasicBlock *P : From)
        if (Reversed.contains(P))
          Preds[BB].push_back(P);
}

ArrayRef<BasicBlock *>
ReverseSubject::predecessors(const BasicBlock *BB) const {
  auto It = Preds.find(BB);
  return It == Preds.end() ? ArrayRef<BasicBlock *>() : It->second;
}

static bool containsPointer(Type *T) {
  if (auto *S = dyn_cast<StructType>(T))
    return any_of(S->elements(), containsPointer);
  if (auto *A = dyn_cast<ArrayType>(T))
    return containsPointer(A->getElementType());
  return T->isPtrOrPtrVectorTy();
}

static bool containsInteger(Type *T) {
  if (auto *S = dyn_cast<StructType>(T))
    return any_of(S->elements(), containsInteger);
  if (auto *A = dyn_cast<ArrayType>(T))
    return containsInteger(A->getElementType());
  return T->isIntOrIntVectorTy();
}

bool ReverseSubject::hasShadow(const Value *V) const {
  if (!isActive(V))
    return false;
  Type *T = V->getType();
  return containsPointer(T) ||
         (containsInteger(T) && D.kinds().summary(V).mayBePtr());
}

bool ReverseSubject::storesPointers(const StoreInst &I) const {
  Type *T = I.getValueOperand()->getType();
  if (containsPointer(T))
    return true;
  if (!containsInteger(T))
    return false;
  KindRanges Kinds = D.kinds().memory(I.getPointerOperand(),
                                      DL.getTypeStoreSize(T).getFixedValue());
  return any_of(Kinds, [](const KindRange &R) { return R.Kinds.mayBePtr(); });
}

static Type *floatType(LLVMContext &C, KindSet K) {
  switch (K.bits() & KindSet::AnyFloat) {
  case KindSet::F16:
    return Type::getHalfTy(C);
  case KindSet::BF16:
    return Type::getBFloatTy(C);
  case KindSet::F32:
    return Type::getFloatTy(C);
  case KindSet::F64:
    return Type::getDoubleTy(C);
  case KindSet::F80:
    return Type::getX86_FP80Ty(C);
  case KindSet::F128:
    return Type::getFP128Ty(C);
  default:
    return nullptr;
  }
}

/// The kinds of the bytes [Begin, End).
static KindSet kindsIn(const KindRanges &Ranges, uint64_t Begin, uint64_t End) {
  KindSet K;
  for (const KindRange &R : Ranges)
    if (R.Begin < End && R.End > Begin)
      K = K | R.Kinds;
  return K;
}

AdjointForm ReverseSubject::formOf(Type *T, uint64_t Offset,
                                   const KindRanges &Kinds) const {
  if (T->isAggregateType()) {
    SmallVector<Type *, 8> Members;
    AdjointForm Result;
    auto *Struct = dyn_cast<StructType>(T);
    uint64_t N = Struct ? Struct->getNumElements() : T->getArrayNumElements();
    for (uint64_t I = 0; I != N; ++I) {
      Type *M = Struct ? Struct->getElementType(I) : T->getArrayElementType();
      uint64_t At = Struct ? DL.getStructLayout(Struct)->getElementOffset(I)
                           : I * DL.getTypeAllocSize(M).getFixedValue();
      AdjointForm F = formOf(M, Offset + At, Kinds);
      Result.Floats |= F.Floats;
      Result.Unclear |= F.Unclear;
      Members.push_back(F.T);
    }
    if (!Struct && all_equal(Members))
      Result.T = N == 0 ? T : ArrayType::get(Members[0], N);
    else
      Result.T = StructType::get(T->getContext(), Members,
                                 Struct && Struct->isPacked());
    return Result;
  }
  bool Float = T->isFPOrFPVectorTy();
  if (!Float && !T->isIntOrIntVectorTy())
    return {T, false, false};
  if (DL.getTypeSizeInBits(T).isScalable())
    return {T, Float, Float};
  uint64_t Bits = DL.getTypeSizeInBits(T).getFixedValue();
  KindSet K = kindsIn(Kinds, Offset, Offset + divideCeil(Bits, 8));
  if (Float &&
      (!K.mayBeFloat() || K.mayBe(static_cast<KindSet::Kind>(
                              KindSet::ofFloat(T->getScalarType()).bits()))))
    return {T, true, false};
  if (!K.mayBeFloat())
    return {T, false, false};
  Type *F = floatType(T->getContext(), K);
  uint64_t Size = F ? F->getPrimitiveSizeInBits().getFixedValue() : 0;
  if (!F || Bits % Size != 0)
    return {T, true, true};
  if (Bits == Size)
    return {F, true, K.mayBePtr()};
  return {FixedVectorType::get(F, Bits / Size), true, K.mayBePtr()};
}

AdjointForm ReverseSubject::form(const Value *V) const {
  auto It = Forms.find(V);
  if (It != Forms.end())
    return It->second;
  Type *T = V->getType();
  AdjointForm F{T, false, false};
  if (T->isSized() && !T->isPtrOrPtrVectorTy())
    F = formOf(T, 0, isa<Constant>(V) ? KindRanges() : D.kinds().value(V));
  return Forms[V] = F;
}

AdjointForm ReverseSubject::memoryForm(const Value *Ptr, const Value *V) const {
  Type *T = V->getType();
  if (T->isPtrOrPtrVectorTy())
    return {T, false, false};
  KindRanges Kinds =
      D.kinds().memory(Ptr, DL.getTypeStoreSize(T).getFixedValue());
  if (!isa<Constant>(V)) {
    KindRanges Own = D.kinds().value(V);
    Kinds.append(Own.begin(), Own.end());
  }
  return formOf(T, 0, Kinds);
}

/// "call of 'f'" for messages.
static std::string callText(const CallBase &CB) {
  if (const Function *F = CB.getCalledFunction())
    return "call of " + quotedName(*F);
  return "this call";
}

Error ReverseSubject::derive(CallBase &CB, CallSite &Site) {
  Function *Callee = CB.getCalledFunction();
  if (Callee->isVarArg())
    return diagnose(CB, Twine("cannot differentiate call of ") +
                            quotedName(*Callee) +
                            ": it takes a variable number of arguments");
  Request &Q = Site.Q;
  Q.Primal = Callee;
  Q.M = Mode::Reverse;
  Q.Width = W;
  Q.Args = Facts.argumentStates(CB);
  Q.ReturnActive = !CB.getType()->isVoidTy() && isActive(&CB);
  Q.StrongZero = R.StrongZero;
  Q.Sparse = R.Sparse;
  Expected<ReversePair> Pair = D.reverse(Q);
  if (!Pair)
    return withNote(Pair.takeError(), Twine("needed for the derivative of ") +
                                          quotedName(*Callee) + " called at " +
                                          SourcePlace::of(CB).str());
  take(Site, *Pair);
  return Error::success();
}

void ReverseSubject::take(CallSite &Site, const ReversePair &Pair) {
  Site.Pair = Pair;
  // While the callee is being emitted (recursion) nothing is known of its uses.
  for (const Argument &A : Pair.Rev->args())
    Site.Reads.push_back(Pair.Rev->isDeclaration() || !A.use_empty());
  Site.Active = true;
}

Error ReverseSubject::dispatch(CallBase &CB, CallSite &Site) {
  FunctionType *FT = CB.getFunctionType();
  if (FT->isVarArg())
    return diagnose(CB, "cannot differentiate an indirect call with a variable "
                        "number of arguments");
  for (unsigned I = 0; I != CB.arg_size(); ++I)
    if (CB.isByValArgument(I))
      return diagnose(CB, "cannot differentiate an indirect call that passes a "
                          "struct by value in memory in reverse mode");
  Expected<ReversePair> Pair = D.reverseDispatcher(
      FT, Facts.argumentStates(CB), !CB.getType()->isVoidTy() && isActive(&CB),
      tableSlot(CB), R, Site.Q);
  if (!Pair)
    return Pair.takeError();
  take(Site, *Pair);
  return Error::success();
}

Error ReverseSubject::structural(IntrinsicInst &I, CallSite &Site) {
  Site.Active = true;
  bool Masked = false;
  switch (structureOf(I)) {
  case Structure::None:
    return diagnose(I, Twine("cannot differentiate ") + callText(I) +
                           " in reverse mode");
  case Structure::Load:
  case Structure::Gather:
    Masked = isActive(&I);
    break;
  case Structure::Store:
  case Structure::Scatter:
    Masked = isActive(I.getArgOperand(0)) || mayHaveShadow(maskedPointer(I));
    break;
  default:
    return Error::success();
  }
  if (!Masked)
    return Error::success();
  Type *T =
      I.getType()->isVoidTy() ? I.getArgOperand(0)->getType() : I.getType();
  if (T->isPtrOrPtrVectorTy())
    return diagnose(I, "cannot differentiate a masked access of pointers in "
                       "reverse mode");
  return Error::success();
}

/// A registered gradient has to have the signatures of section 9 of
/// interface.md.
Error ReverseSubject::custom(CallBase &CB, CallSite &Site) {
  const CustomRule &Rule = *Site.Class.User;
  Value *Callee = CB.getCalledOperand();
  if (!Rule.Augmented || !Rule.Gradient)
    return diagnose(CB, Twine("cannot differentiate call of ") +
                            quotedName(*Callee) +
                            " in reverse mode: it has a registered derivative "
                            "but no registered gradient");
  if (W != 1)
    return diagnose(CB, Twine("cannot use the registered gradient of ") +
                            quotedName(*Callee) + " in vector mode");
  auto Takes = [&](const Function &F, ArrayRef<Type *> More) {
    SmallVector<Type *, 8> Params;
    if (F.hasParamAttribute(0, Attribute::StructRet))
      Params.push_back(PointerType::getUnqual(F.getContext()));
    for (Value *Arg : CB.args()) {
      Params.push_back(Arg->getType());
      if (Arg->getType()->isPointerTy())
        Params.push_back(Arg->getType());
    }
    Params.append(More.begin(), More.end());
    return !F.isVarArg() &&
           ArrayRef<Type *>(Params) == F.getFunctionType()->params();
  };
  Type *T = CB.getType();
  Type *Tape = PointerType::getUnqual(CB.getContext());
  SmallVector<Type *, 2> More;
  if (T->isFPOrFPVectorTy())
    More.push_back(T);
  More.push_back(Tape);
  for (auto [F, Extra] : {std::pair(Rule.Augmented, ArrayRef<Type *>()),
                          std::pair(Rule.Gradient, ArrayRef<Type *>(More))})
    if (!Takes(*F, Extra))
      return diagnose(CB, Twine("the registered gradient ") + quotedName(*F) +
                              " of " + quotedName(*Callee) +
                              " does not have the signature of a gradient: "
                              "each pointer parameter is followed by its "
                              "shadow; then come, for the second function, "
                              "the seed of a float result and the tape");
  Site.Active = true;
  return Error::success();
}

Error ReverseSubject::classify(CallBase &CB, CallSite &Site) {
  CallClass C = Site.Class = classifyCall(CB, D.rules());
  auto Cannot = [&](const Twine &Why) {
    return diagnose(CB, Twine("cannot differentiate ") + callText(CB) + Why);
  };
  switch (C.K) {
  case CallClass::Inactive:
  case CallClass::NoReturn:
  case CallClass::Free: // shadows live on the arena
    return Error::success();
  case CallClass::Allocate:
    Site.Active = isActive(&CB);
    return Error::success();
  case CallClass::Scalar:
    Site.Active = hasAdjoint(&CB);
    return Error::success();
  default:
    break;
  }
  if (!Facts.mayTouchActive(CB) && !isActive(&CB))
    return Error::success();
  switch (C.K) {
  case CallClass::Transfer:
  case CallClass::Fill:
    if (C.SizeArg < 0)
      return Cannot(": the number of bytes that it writes is not known");
    Site.Active = true;
    return Error::success();
  case CallClass::Derive:
    return derive(CB, Site);
  case CallClass::Reallocate:
    return Cannot(" in reverse mode: it moves active memory");
  case CallClass::Multi:
    // Those that LLVM can return are returned (prepare/MathCalls).
    for (const MultiRule::Result &Result : C.Several->Results)
      if (Result.Float && MultiRule::pointerOperand(Result) >= 0)
        return Cannot(" in reverse mode: it stores several results");
    Site.Active = hasAdjoint(&CB);
    return Error::success();
  case CallClass::Custom:
    return custom(CB, Site);
  case CallClass::Indirect:
    return dispatch(CB, Site);
  case CallClass::Assembly:
    return diagnose(CB, "cannot differentiate inline assembly on active data");
  case CallClass::Intrinsic:
    return structural(cast<IntrinsicInst>(CB), Site);
  case CallClass::Unknown:
    return Cannot(": it has no IR in this link and no rule");
  case CallClass::Inactive:
  case CallClass::NoReturn:
  case CallClass::Free:
  case CallClass::Allocate:
  case CallClass::Scalar:
    break;
  }
  llvm_unreachable("handled above");
}

void ReverseSubject::findSelected() {
  for (BasicBlock *BB : reverse(Order))
    for (Instruction &I : reverse(*BB)) {
      if (isa<PHINode>(I) || !hasAdjoint(&I))
        continue;
      bool Selected = false, Other = false;
      for (const Use &U : I.uses()) {
        auto *User = cast<Instruction>(U.getUser());
        bool Carries =
            hasAdjoint(User) || !User->getType()->isSingleValueType();
        if (isa<StoreInst>(User) || isa<ReturnInst>(User) || isa<PHINode>(User))
          Other = true;
        else if (auto *Call = dyn_cast<CallBase>(User);
                 Call && (Carries || !Call->getCalledFunction()))
          OnlySelected.contains(Call) ? Selected = true : Other = true;
        else if (!Carries)
          continue;
        else if (isa<SelectInst>(User) || OnlySelected.contains(User))
          Selected = true;
        else
          Other = true;
      }
      if (Selected && !Other)
        OnlySelected.insert(&I);
    }
}

/// Computes with bits, where \p I could move them, or change a sign.
static bool mixesBits(const BinaryOperator &I) {
  const APInt *C = nullptr;
  bool Constant = match(I.getOperand(1), m_APInt(C));
  switch (I.getOpcode()) {
  case Instruction::Or:
    return false;
  case Instruction::And:
  case Instruction::Xor:
    if (!Constant || C->isSignMask() || C->isMaxSignedValue())
      return !Constant;
    for (unsigned Bit = 0; Bit != C->getBitWidth(); Bit += 8) {
      APInt Byte = C->extractBits(std::min(8U, C->getBitWidth() - Bit), Bit);
      if (!Byte.isZero() && !Byte.isAllOnes())
        return true;
    }
    return I.getOpcode() == Instruction::Xor;
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
    return !Constant || C->urem(8) != 0;
  default:
    return true;
  }
}

Error ReverseSubject::analyse() {
  Error Failure = Error::success();
  auto Fail = [&](Error E) {
    Failure = joinErrors(std::move(Failure), std::move(E));
  };
  for (BasicBlock *BB : Order) {
    if (!isReversed(BB))
      continue;
    for (Instruction &I : *BB) {
      if (isActive(&I) && form(&I).Unclear)
        Fail(diagnose(I, "cannot tell which floating-point values are in the "
                         "bytes of this value"));
      // An integer has no adjoint to find the mistake by.
      auto *Bits = dyn_cast<BinaryOperator>(&I);
      if (Bits && I.getType()->isIntOrIntVectorTy() && isActive(&I) &&
          !hasAdjoint(&I) && !hasShadow(&I) && mixesBits(*Bits) &&
          ActivityAnalysis::becomesFloat(&I))
        Fail(diagnose(I, "cannot differentiate arithmetic on the bits of an "
                         "active floating-point value"));
      auto *CB = dyn_cast<CallBase>(&I);
      if (!CB)
        continue;
      CallSite Site;
      if (Error E = classify(*CB, Site))
        Fail(std::move(E));
      Sites.insert({CB, std::move(Site)});
    }
  }
  findSelected();
  for (Argument &A : Copy.args())
    if (isCopied(A) && layoutOfCopied(*this, A).Unclear)
      Fail(diagnose(Copy, Twine("cannot tell the floating-point values from "
                                "the pointers in the struct that ") +
                              quotedName(Copy) + " takes by value"));
  return Failure;
}
