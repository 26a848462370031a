// The body of a request: converts the marker's arguments, checks them, calls
// the derivative with a context of its own, and packs the results.
#include "Asked.h"
#include "Conversions.h"
#include "ad/forward/ForwardEmitter.h"
#include "ad/shadow/Lanes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/MDBuilder.h"

extern "C" {
#include "ad/runtime/context.h"
}

using namespace llvm;
using namespace adjoin;

namespace {

class BodyWriter {
public:
  BodyWriter(const ResolvedMarker &Marker, const Asked &A,
             ArrayRef<unsigned> Passed, Differentiator &D)
      : Marker(Marker), A(A), Passed(Passed), D(D), Call(*Marker.Call),
        Target(*A.R.Primal), M(D.module()), B(M.getContext()), W(A.R.Width) {}
  Function *run(const Derivative *Forward, const ReversePair *Pair);

private:
  Value *operand(unsigned Number) const {
    return Body->getArg(llvm::find(Passed, Number) - Passed.begin());
  }
  Type *typeOf(unsigned Param) const {
    return Target.getFunctionType()->getParamType(Param);
  }
  Function *declare();
  void prepare(unsigned Param);
  void prepareStructReturn(unsigned Param);
  Value *laneShadow(const ParsedArgument &P, unsigned Param, unsigned Lane,
                    Value *Primal);
  void abortIf(Value *Condition, const Twine &Message);
  AllocaInst *memory(Type *T, const Twine &Name);
  void clear(Value *Memory, Type *T);
  CallBase *emitCall(Function &Fn, ArrayRef<Value *> Args);
  Function *personality() const;
  void forward(const Derivative &Fwd);
  void reverse(const ReversePair &Pair);
  Constant *ones(Type *T) const;
  void storeOnes(Value *Memory, Type *T, uint64_t Offset);
  void finish();

  const ResolvedMarker &Marker;
  const Asked &A;
  ArrayRef<unsigned> Passed;
  Differentiator &D;
  CallBase &Call;
  Function &Target;
  Module &M;
  IRBuilder<> B;
  const unsigned W;
  Function *Body = nullptr;
  Value *Context = nullptr;
  bool OwnsContext = false;
  /// By parameter of the function.
  SmallVector<Value *, 8> Primals, Shadows;
  /// By parameter: memory of each lane's shadow that the body itself made.
  SmallVector<SmallVector<Value *, 1>, 8> Made;
  SmallVector<Value *, 8> Results;
};

} // namespace

Function *BodyWriter::declare() {
  LLVMContext &Ctx = M.getContext();
  SmallVector<Type *, 16> Types;
  for (unsigned Number : Passed)
    Types.push_back(Call.getArgOperand(Number)->getType());
  Function *F = Function::Create(
      FunctionType::get(Call.getType(), Types, false),
      GlobalValue::InternalLinkage, Target.getName() + ".adjoin.request", M);
  copyDerivedAttributes(Target, *F);
  F->addFnAttr(Attribute::InlineHint);
  for (auto [I, Number] : enumerate(Passed)) {
    AttrBuilder Attributes(Ctx);
    for (Attribute::AttrKind K :
         {Attribute::ByVal, Attribute::StructRet, Attribute::Alignment})
      if (Attribute Given = Call.getParamAttr(Number, K); Given.isValid())
        Attributes.addAttribute(Given);
    F->addParamAttrs(I, Attributes);
  }
  B.SetInsertPoint(BasicBlock::Create(Ctx, "entry", F));
  return F;
}

AllocaInst *BodyWriter::memory(Type *T, const Twine &Name) {
  IRBuilder<> Entry(&Body->getEntryBlock(), Body->getEntryBlock().begin());
  AllocaInst *Memory = Entry.CreateAlloca(T, nullptr, Name);
  Memory->setAlignment(std::max(Memory->getAlign(), Align(16)));
  return Memory;
}

void BodyWriter::clear(Value *Memory, Type *T) {
  B.CreateMemSet(Memory, B.getInt8(0), M.getDataLayout().getTypeAllocSize(T),
                 Align(16));
}

void BodyWriter::abortIf(Value *Condition, const Twine &Message) {
  LLVMContext &Ctx = M.getContext();
  BasicBlock *Bad = BasicBlock::Create(Ctx, "misuse", Body);
  BasicBlock *Good = BasicBlock::Create(Ctx, "", Body);
  B.CreateCondBr(Condition, Bad, Good,
                 MDBuilder(Ctx).createUnlikelyBranchWeights());
  B.SetInsertPoint(Bad);
  std::string Text =
      (Message + ", in the derivative of " + quotedName(Target) +
       " requested " + (Marker.Where.Line ? "at " : "in ") + Marker.Where.str())
          .str();
  CallInst *Abort =
      B.CreateCall(D.runtime("adjoin_rt_abort"), {B.CreateGlobalString(Text)});
  Abort->setDoesNotReturn();
  B.CreateUnreachable();
  B.SetInsertPoint(Good);
}

/// The shadow of one lane of a duplicated argument.
Value *BodyWriter::laneShadow(const ParsedArgument &P, unsigned Param,
                              unsigned Lane, Value *Primal) {
  Type *T = typeOf(Param);
  Value *S;
  if (P.A == ParsedArgument::Strided) {
    Value *Base = convert(B, operand(P.Shadows[0]), T);
    Value *Stride = B.CreateSExtOrTrunc(operand(P.Stride), B.getInt64Ty());
    S = B.CreateGEP(B.getInt8Ty(), Base, B.CreateMul(Stride, B.getInt64(Lane)));
  } else {
    S = convert(B, operand(P.Shadows[Lane]), T);
  }
  if (!T->isPointerTy() || Target.hasParamAttribute(Param, Attribute::ByVal))
    return S;
  if (A.R.Args[Param] == ShadowState::Maybe)
    return B.CreateSelect(B.CreateIsNull(S), Primal, S);
  // An empty slice or vector has an address that is none. Where the first page
  // begins, objects begin.
  Type *Int = M.getDataLayout().getIntPtrType(T);
  Value *IsObject = B.CreateICmpUGT(B.CreatePtrToInt(Primal, Int),
                                    ConstantInt::get(Int, 4095));
  std::string Number = std::to_string(P.Value - Marker.FunctionOperand + 1);
  abortIf(B.CreateAnd(B.CreateICmpEQ(S, Primal), IsObject),
          "the shadow of argument " + Number +
              " is the argument itself (adjoin_runtime_activity takes that as "
              "constant)");
  abortIf(B.CreateAnd(B.CreateIsNull(S), IsObject),
          "the shadow of argument " + Number +
              " is null (adjoin_runtime_activity takes that as constant)");
  return S;
}

/// Memory for the struct that the function returns, and its shadows.
void BodyWriter::prepareStructReturn(unsigned Param) {
  Primals[Param] = memory(A.Value, "returned");
  if (A.R.Args[Param] == ShadowState::Const)
    return;
  for (unsigned K = 0; K != W; ++K) {
    Made[Param].push_back(memory(A.Value, "returned.t"));
    clear(Made[Param].back(), A.Value);
    if (!A.Parsed.Forward)
      storeOnes(Made[Param].back(), A.Value, 0);
  }
  Shadows[Param] = packLanes(B, Made[Param], typeOf(Param));
}

void BodyWriter::prepare(unsigned Param) {
  if (A.Sret == Param)
    return prepareStructReturn(Param);
  const ParsedArgument &P = *A.ByParameter[Param];
  Type *T = typeOf(Param);
  Value *Primal = convert(B, operand(P.Value), T);
  Primals[Param] = Primal;
  if (A.R.Args[Param] == ShadowState::Const)
    return;
  SmallVector<Value *, 4> Lanes;
  if (P.A == ParsedArgument::Out) {
    Type *Struct = Target.getParamByValType(Param);
    for (unsigned K = 0; K != W; ++K) {
      if (!Struct) {
        Lanes.push_back(Constant::getNullValue(T));
        continue;
      }
      Lanes.push_back(memory(Struct, "adjoint"));
      clear(Lanes.back(), Struct);
    }
    if (Struct)
      Made[Param].assign(Lanes.begin(), Lanes.end());
  } else {
    for (unsigned K = 0; K != W; ++K)
      Lanes.push_back(laneShadow(P, Param, K, Primal));
  }
  if (hasShadowParameter(A.R, Param))
    Shadows[Param] = packLanes(B, Lanes, T);
}

/// Who cleans up when the derivative throws: the personality of the primal,
/// else of the program.
Function *BodyWriter::personality() const {
  auto PersonalityOf = [](const Function &F) {
    return F.hasPersonalityFn()
               ? dyn_cast<Function>(F.getPersonalityFn()->stripPointerCasts())
               : nullptr;
  };
  if (Function *Own = PersonalityOf(Target))
    return Own;
  for (const Function &F : M)
    if (Function *Other = PersonalityOf(F))
      return Other;
  return nullptr;
}

/// Calls a derived function; when it throws, the context is freed.
CallBase *BodyWriter::emitCall(Function &Fn, ArrayRef<Value *> Args) {
  Function *Personality =
      OwnsContext && !Fn.doesNotThrow() ? personality() : nullptr;
  CallBase *New;
  if (Personality) {
    LLVMContext &Ctx = M.getContext();
    Body->setPersonalityFn(Personality);
    BasicBlock *Normal = BasicBlock::Create(Ctx, "", Body);
    BasicBlock *Unwind = BasicBlock::Create(Ctx, "unwind", Body);
    New = B.CreateInvoke(&Fn, Normal, Unwind, Args);
    B.SetInsertPoint(Unwind);
    LandingPadInst *Pad =
        B.CreateLandingPad(StructType::get(B.getPtrTy(), B.getInt32Ty()), 0);
    Pad->setCleanup(true);
    B.CreateCall(D.runtime("adjoin_rt_finish"), {Context});
    B.CreateResume(Pad);
    B.SetInsertPoint(Normal);
  } else {
    New = B.CreateCall(&Fn, Args);
  }
  New->setCallingConv(Fn.getCallingConv());
  for (unsigned I = 0; I != Args.size(); ++I)
    for (Attribute::AttrKind K : {Attribute::ByVal, Attribute::Alignment})
      if (Fn.hasParamAttribute(I, K))
        New->addParamAttr(I, Fn.getAttributes().getParamAttr(I, K));
  return New;
}

void BodyWriter::forward(const Derivative &Fwd) {
  SmallVector<Value *, 16> Args;
  for (unsigned I = 0; I != Primals.size(); ++I) {
    Args.push_back(Primals[I]);
    if (hasShadowParameter(A.R, I))
      Args.push_back(Shadows[I]);
  }
  Args.push_back(Context);
  Value *Result = emitCall(*Fwd.Fn, Args);
  if (A.Sret) {
    if (A.ReturnsValue)
      Results.push_back(Primals[*A.Sret]);
    Results.append(Made[*A.Sret].begin(), Made[*A.Sret].end());
    return;
  }
  bool Both = A.R.ReturnActive && !A.Value->isVoidTy();
  if (A.ReturnsValue)
    Results.push_back(Both ? B.CreateExtractValue(Result, 0) : Result);
  if (Both)
    Results.append(lanesOf(B, B.CreateExtractValue(Result, 1), A.Value, W));
}

/// The seed: one in each float.
Constant *BodyWriter::ones(Type *T) const {
  if (T->isFPOrFPVectorTy())
    return ConstantFP::get(T, 1.0);
  if (auto *S = dyn_cast<StructType>(T)) {
    SmallVector<Constant *, 4> Members;
    for (Type *Member : S->elements())
      Members.push_back(ones(Member));
    return ConstantStruct::get(S, Members);
  }
  if (auto *Array = dyn_cast<ArrayType>(T)) {
    SmallVector<Constant *, 4> Elements(Array->getNumElements(),
                                        ones(Array->getElementType()));
    return ConstantArray::get(Array, Elements);
  }
  return Constant::getNullValue(T);
}

void BodyWriter::storeOnes(Value *Memory, Type *T, uint64_t Offset) {
  const DataLayout &DL = M.getDataLayout();
  if (auto *S = dyn_cast<StructType>(T)) {
    for (auto [I, Member] : enumerate(S->elements()))
      storeOnes(Memory, Member,
                Offset + DL.getStructLayout(S)->getElementOffset(I));
  } else if (auto *Array = dyn_cast<ArrayType>(T)) {
    uint64_t Size = DL.getTypeAllocSize(Array->getElementType());
    if (holdsFloat(Array))
      for (uint64_t I = 0; I != Array->getNumElements(); ++I)
        storeOnes(Memory, Array->getElementType(), Offset + I * Size);
  } else if (T->isFPOrFPVectorTy()) {
    B.CreateAlignedStore(
        ones(T), B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Memory, Offset),
        Align(1));
  }
}

void BodyWriter::reverse(const ReversePair &Pair) {
  SmallVector<Value *, 16> Args;
  for (unsigned I = 0; I != Primals.size(); ++I) {
    Args.push_back(Primals[I]);
    if (hasShadowParameter(A.R, I))
      Args.push_back(Shadows[I]);
  }
  SmallVector<Value *, 16> AugArgs(Args);
  AugArgs.push_back(Context);
  Value *Result = emitCall(*Pair.Aug, AugArgs);
  if (A.ReturnsValue) {
    if (A.Sret) {
      // The reverse sweep may use the memory again.
      Value *Kept = memory(A.Value, "value");
      B.CreateMemCpy(Kept, Align(16), Primals[*A.Sret], Align(16),
                     M.getDataLayout().getTypeAllocSize(A.Value));
      Results.push_back(Kept);
    } else {
      Results.push_back(returnsShadow(A.R) ? B.CreateExtractValue(Result, 0)
                                           : Result);
    }
  }
  if (hasSeed(A.R))
    Args.push_back(ones(shadowType(A.Value, W)));
  Args.push_back(Context);
  Value *Adjoints = emitCall(*Pair.Rev, Args);
  unsigned Next = 0;
  for (unsigned I = 0; I != Primals.size(); ++I) {
    bool Out = A.ByParameter[I] && A.ByParameter[I]->A == ParsedArgument::Out;
    Value *Adjoint = hasAdjointResult(A.R, I)
                         ? B.CreateExtractValue(Adjoints, Next++)
                         : nullptr;
    if (!Out)
      continue;
    if (!Made[I].empty())
      Results.append(Made[I].begin(), Made[I].end());
    else
      Results.append(lanesOf(B, Adjoint, typeOf(I), W));
  }
}

void BodyWriter::finish() {
  if (OwnsContext)
    B.CreateCall(D.runtime("adjoin_rt_finish"), {Context});
  if (A.DeclaredInMemory) {
    // Written in one go: the results may be longer than what is declared.
    AllocaInst *All =
        memory(ArrayType::get(B.getInt8Ty(), A.Layout.size()), "results");
    A.Layout.store(B, All, Results);
    uint64_t Size = std::min<uint64_t>(
        M.getDataLayout().getTypeAllocSize(A.Declared), A.Layout.size());
    B.CreateMemCpy(operand(Marker.FunctionOperand - 1), Align(1), All,
                   Align(16), Size);
  }
  if (Call.getType()->isVoidTy()) {
    B.CreateRetVoid();
    return;
  }
  if (!A.Declared || A.DeclaredInMemory) {
    B.CreateRet(PoisonValue::get(Call.getType()));
    return;
  }
  uint64_t Size = std::max<uint64_t>(
      A.Layout.size(), M.getDataLayout().getTypeAllocSize(A.Declared));
  AllocaInst *All = memory(ArrayType::get(B.getInt8Ty(), Size), "results");
  A.Layout.store(B, All, Results);
  B.CreateRet(B.CreateAlignedLoad(A.Declared, All, Align(16)));
}

Function *BodyWriter::run(const Derivative *Forward, const ReversePair *Pair) {
  Body = declare();
  unsigned Count = Target.arg_size();
  Primals.resize(Count);
  Shadows.resize(Count);
  Made.resize(Count);
  for (unsigned I = 0; I != Count; ++I)
    prepare(I);
  OwnsContext = !Forward || Forward->NeedsContext;
  Context = ConstantPointerNull::get(B.getPtrTy());
  if (OwnsContext) {
    Context = memory(ArrayType::get(B.getInt8Ty(), sizeof(adjoin_context)),
                     "context");
    B.CreateCall(D.runtime("adjoin_rt_init"), {Context, B.getInt64(W)});
  }
  if (Forward)
    forward(*Forward);
  else
    reverse(*Pair);
  finish();
  return Body;
}

Function *adjoin::writeBody(const ResolvedMarker &Marker, const Asked &A,
                            ArrayRef<unsigned> Passed, Differentiator &D,
                            const Derivative *Forward,
                            const ReversePair *Pair) {
  return BodyWriter(Marker, A, Passed, D).run(Forward, Pair);
}
