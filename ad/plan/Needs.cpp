// Needs: what the transpose of an instruction reads of the primal sweep.
#include "ad/plan/Needs.h"
#include "ad/plan/Bytes.h"
#include "ad/plan/Intrinsics.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace adjoin;

bool adjoin::outlivesCall(const Value *Ptr) {
  const Value *Object = getUnderlyingObject(Ptr, 0);
  // Fresh memory can only be seen by a caller through pointers whose own
  // shadows are put back.
  return !isa<AllocaInst>(Object) && !isNoAliasCall(Object);
}

std::optional<uint64_t> adjoin::fixedSize(const ReverseSubject &S,
                                          const CallBase &CB,
                                          const CallClass &C) {
  uint64_t Bytes = 1;
  for (int A : {C.SizeArg, C.SizeArg2}) {
    if (A < 0)
      continue;
    auto *N = dyn_cast<ConstantInt>(CB.getArgOperand(A));
    if (!N || N->getValue().getActiveBits() > 31)
      return std::nullopt;
    Bytes *= N->getZExtValue();
  }
  return Bytes;
}

Type *adjoin::typeOf(const ReverseSubject &S, const Need &N) {
  LLVMContext &C = S.Copy.getContext();
  switch (N.K) {
  case Need::Primal:
    return N.V->getType();
  case Need::Shadow:
    return shadowType(N.V->getType(), S.W);
  case Need::Edge:
    return IntegerType::get(
        C, S.predecessors(cast<BasicBlock>(N.V)).size() <= 256 ? 8 : 32);
  case Need::Extra:
    if (auto *Store = dyn_cast<StoreInst>(N.V))
      return shadowType(Store->getValueOperand()->getType(), S.W);
    if (auto *CB = dyn_cast<CallBase>(N.V))
      if (const CallSite *Site = S.site(*CB);
          Site && Site->Class.K == CallClass::Custom)
        return PointerType::getUnqual(C); // the tape of the user's rule
    return Type::getInt64Ty(C);           // the size of an allocation's shadows
  }
  llvm_unreachable("all kinds of needs");
}

namespace {

/// Walks over one instruction's needs.
class Walk {
public:
  Walk(const ReverseSubject &S, const Instruction &I,
       function_ref<void(const Need &, StringRef)> F)
      : S(S), I(I), F(F) {}

  void run() {
    if (const ScalarRule *Rule = scalarRuleFor(I)) {
      if (S.hasAdjoint(&I))
        scalar(*Rule);
      return;
    }
    if (auto *CB = dyn_cast<CallBase>(&I))
      return call(*CB);
    switch (I.getOpcode()) {
    case Instruction::Load:
      if (S.hasAdjoint(&I))
        access(cast<LoadInst>(I).getPointerOperand(),
               "where the adjoint of the loaded value goes");
      return;
    case Instruction::Store:
      return store(cast<StoreInst>(I));
    case Instruction::Alloca:
      if (S.isActive(&I) && !isa<ConstantInt>(I.getOperand(0)))
        primal(I.getOperand(0), "the size of an object on the stack");
      return;
    case Instruction::Select:
      if (S.hasAdjoint(&I))
        primal(I.getOperand(0), "the condition of a select");
      return;
    case Instruction::ExtractElement:
      if (S.hasAdjoint(&I))
        primal(I.getOperand(1), "the index of a vector element");
      return;
    case Instruction::InsertElement:
      if (S.hasAdjoint(&I))
        primal(I.getOperand(2), "the index of a vector element");
      return;
    default:
      return;
    }
  }

private:
  void primal(const Value *V, StringRef Why) { F({V, Need::Primal}, Why); }
  void shadow(const Value *V, StringRef Why) {
    if (S.isActive(V))
      F({V, Need::Shadow}, Why);
  }
  /// The place of the shadow of what \p Ptr points to.
  void access(const Value *Ptr, StringRef Why) {
    shadow(Ptr, Why);
    if (S.isSparse(Ptr))
      primal(Ptr, Why);
  }
  void extra(StringRef Why) { F({&I, Need::Extra}, Why); }

  void scalar(const ScalarRule &Rule) {
    auto *CB = dyn_cast<CallBase>(&I);
    unsigned Count = CB ? CB->arg_size() : I.getNumOperands();
    SmallVector<Value *, 4> Operands;
    for (unsigned K = 0; K != Count; ++K)
      Operands.push_back(I.getOperand(K));
    LinearMap Map(Rule, I, Operands, const_cast<Instruction *>(&I), S.W,
                  S.R.StrongZero);
    for (unsigned K = 0; K != Rule.Operands; ++K) {
      if (!S.hasAdjoint(I.getOperand(K)) || Map.isZero(K))
        continue;
      PartialNeeds Needs = Map.needs(K);
      for (unsigned J = 0; J != Count; ++J)
        if (Needs.Operands & (1u << J))
          primal(I.getOperand(J), "an operand in a partial derivative");
      if (Needs.Out)
        primal(&I, "the result in a partial derivative");
    }
  }

  void multi(const CallBase &CB, const MultiRule &Rule) {
    SmallVector<Value *, 4> Operands(CB.args());
    SmallVector<Value *, 2> Outs(Rule.Results.size(), nullptr);
    for (auto [K, Result] : enumerate(Rule.Results)) {
      if (!Result.Float)
        continue;
      LinearMap Map(Rule, K, CB, Operands, Outs, S.W, S.R.StrongZero);
      for (unsigned Op = 0; Op != CB.arg_size(); ++Op) {
        if (!S.hasAdjoint(CB.getArgOperand(Op)))
          continue;
        PartialNeeds Needs = Map.needs(Op);
        for (unsigned J = 0; J != CB.arg_size(); ++J)
          if (Needs.Operands & (1u << J))
            primal(CB.getArgOperand(J), "an operand in a partial derivative");
        if (Needs.Outs != 0)
          primal(&CB, "the results in a partial derivative");
      }
    }
  }

  void store(const StoreInst &Store) {
    const Value *Ptr = Store.getPointerOperand();
    const Value *V = Store.getValueOperand();
    if (!S.mayHaveShadow(Ptr))
      return;
    AdjointForm Form = S.memoryForm(Ptr, V);
    bool Pointers = S.storesPointers(Store);
    if (Form.Floats || (Pointers && outlivesCall(Ptr)))
      access(Ptr, Form.Floats ? "where the adjoint of the stored value is"
                              : "where a shadow pointer was overwritten");
    if (Pointers && outlivesCall(Ptr))
      extra("the shadow pointer that was overwritten");
  }

  void structural(const IntrinsicInst &Call) {
    switch (structureOf(Call)) {
    case Structure::Product:
      if (S.hasAdjoint(&Call))
        for (const Value *Op : Call.args())
          primal(Op, "a factor");
      return;
    case Structure::Extreme:
      if (S.hasAdjoint(&Call)) {
        primal(Call.getArgOperand(0), "the elements of an extreme");
        primal(&Call, "the extreme");
      }
      return;
    case Structure::Load:
    case Structure::Gather:
      if (!S.hasAdjoint(&Call))
        return;
      break;
    case Structure::Store:
    case Structure::Scatter:
      if (!S.mayHaveShadow(maskedPointer(Call)))
        return;
      break;
    default:
      return;
    }
    primal(maskOf(Call), "the mask of an access");
    access(maskedPointer(Call), "where the adjoints are");
    if (structureOf(Call) == Structure::Gather ||
        structureOf(Call) == Structure::Scatter)
      if (S.state(maskedPointer(Call)) != ShadowState::Known)
        primal(maskedPointer(Call), "what may be constant");
  }

  void call(const CallBase &CB) {
    const CallSite *Site = S.site(CB);
    if (!Site || !Site->Active)
      return;
    const CallClass &C = Site->Class;
    switch (C.K) {
    case CallClass::Allocate:
      if (!fixedSize(S, CB, C))
        extra("the size of an allocation");
      return;
    case CallClass::Transfer:
    case CallClass::Fill: {
      ByteLayout Layout = layoutOf(S, CB, C);
      if (!transposesBytes(S, CB, C, Layout))
        return;
      for (int A : {C.SizeArg, C.SizeArg2})
        if (A >= 0)
          primal(CB.getArgOperand(A), "the length of a copy or fill");
      access(CB.getArgOperand(C.PointerArg), "the adjoints that are cleared");
      if (C.K == CallClass::Transfer && C.SourceArg >= 0 &&
          !Layout.Floats.empty())
        access(CB.getArgOperand(C.SourceArg), "the adjoints of a copy");
      return;
    }
    case CallClass::Multi:
      return multi(CB, *C.Several);
    case CallClass::Custom:
      for (const Value *Arg : CB.args()) {
        primal(Arg, "an argument of a registered gradient");
        if (Arg->getType()->isPointerTy())
          shadow(Arg, "a shadow in a registered gradient");
      }
      extra("the tape of a registered gradient");
      return;
    case CallClass::Intrinsic:
      return structural(cast<IntrinsicInst>(CB));
    case CallClass::Indirect:
    case CallClass::Derive: {
      unsigned Param = 0;
      if (C.K == CallClass::Indirect && Site->Reads[Param++])
        primal(CB.getCalledOperand(), "the function that is called");
      for (unsigned K = 0; K != CB.arg_size(); ++K) {
        const Value *Arg = CB.getArgOperand(K);
        if (Site->Reads[Param])
          primal(Arg, "an argument of the callee's reverse sweep");
        ++Param;
        if (!hasShadowParameter(Site->Q, K))
          continue;
        if (Site->Reads[Param])
          shadow(Arg, "a shadow in the callee's reverse sweep");
        ++Param;
      }
      return;
    }
    default:
      return;
    }
  }

  const ReverseSubject &S;
  const Instruction &I;
  function_ref<void(const Need &, StringRef)> F;
};

} // namespace

void adjoin::forEachNeed(const ReverseSubject &S, const Instruction &I,
                         function_ref<void(const Need &, StringRef)> F) {
  Walk(S, I, F).run();
}
