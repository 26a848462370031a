// Vectors in memory where caller and callee have different registers.
#include "ad/prepare/VectorCalls.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

static const char *const TargetAttributes[] = {"target-cpu", "target-features"};

static bool holdsVector(Type *T) {
  if (auto *S = dyn_cast<StructType>(T))
    return any_of(S->elements(), holdsVector);
  if (auto *A = dyn_cast<ArrayType>(T))
    return holdsVector(A->getElementType());
  return T->isVectorTy();
}

static bool isVectorSignature(const FunctionType &T) {
  return holdsVector(T.getReturnType()) || any_of(T.params(), holdsVector);
}

static bool haveSameTarget(const Function &A, const Function &B) {
  return all_of(TargetAttributes, [&](StringRef Name) {
    return A.getFnAttribute(Name) == B.getFnAttribute(Name);
  });
}

/// The arguments of \p F, then its result.
static StructType *frameOf(const Function &F) {
  SmallVector<Type *, 16> Members(F.getFunctionType()->params());
  if (!F.getReturnType()->isVoidTy())
    Members.push_back(F.getReturnType());
  return StructType::get(F.getContext(), Members);
}

/// void F.memory(ptr frame): calls F with the arguments in the frame and leaves
/// the result there.
static Function *makeMemoryForm(Function &F) {
  LLVMContext &C = F.getContext();
  StructType *Frame = frameOf(F);
  auto *Memory = Function::Create(
      FunctionType::get(Type::getVoidTy(C), {PointerType::getUnqual(C)}, false),
      GlobalValue::InternalLinkage, F.getName() + ".memory", F.getParent());
  for (const char *Name : TargetAttributes)
    if (F.hasFnAttribute(Name))
      Memory->addFnAttr(F.getFnAttribute(Name));
  for (Attribute::AttrKind K :
       {Attribute::NoUnwind, Attribute::UWTable, Attribute::StrictFP})
    if (F.hasFnAttribute(K))
      Memory->addFnAttr(F.getFnAttribute(K));
  IRBuilder<> B(BasicBlock::Create(C, "entry", Memory));
  Argument *At = Memory->getArg(0);
  SmallVector<Value *, 16> Args;
  for (unsigned I = 0; I != F.arg_size(); ++I)
    Args.push_back(
        B.CreateLoad(F.getArg(I)->getType(), B.CreateStructGEP(Frame, At, I)));
  CallInst *Call = B.CreateCall(&F, Args);
  Call->setCallingConv(F.getCallingConv());
  Call->setAttributes(F.getAttributes().removeFnAttributes(C));
  if (!F.getReturnType()->isVoidTy())
    B.CreateStore(Call, B.CreateStructGEP(Frame, At, F.arg_size()));
  B.CreateRetVoid();
  return Memory;
}

static void replace(CallBase &Call, Function &Callee, Function &Memory) {
  Function &F = *Call.getFunction();
  StructType *Frame = frameOf(Callee);
  BasicBlock &Entry = F.getEntryBlock();
  IRBuilder<> Head(&Entry, Entry.begin());
  Value *At = Head.CreateAlloca(Frame);
  IRBuilder<> B(&Call);
  for (unsigned I = 0; I != Call.arg_size(); ++I)
    B.CreateStore(Call.getArgOperand(I), B.CreateStructGEP(Frame, At, I));
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call)) {
    // The result is read at the head of the normal destination, which the
    // invoke alone reaches, and before any phi that takes it.
    BasicBlock *Normal = Invoke->getNormalDest();
    if (!Normal->getSinglePredecessor() || isa<PHINode>(Normal->front())) {
      auto *Between = BasicBlock::Create(F.getContext(), "", &F, Normal);
      IRBuilder<>(Between).CreateBr(Normal);
      Normal->replacePhiUsesWith(Invoke->getParent(), Between);
      Normal = Between;
    }
    B.CreateInvoke(&Memory, Normal, Invoke->getUnwindDest(), {At});
    B.SetInsertPoint(Normal, Normal->getFirstInsertionPt());
  } else {
    B.CreateCall(&Memory, {At});
  }
  if (!Call.getType()->isVoidTy()) {
    Value *Result =
        Call.use_empty()
            ? nullptr
            : B.CreateLoad(Call.getType(),
                           B.CreateStructGEP(Frame, At, Call.arg_size()));
    if (Result)
      Call.replaceAllUsesWith(Result);
  }
  Call.eraseFromParent();
}

bool adjoin::passVectorsInMemory(Function &F,
                                 function_ref<bool(const Function &)> IsOurs,
                                 DenseMap<Function *, Function *> &Made) {
  SmallVector<CallBase *, 8> Calls;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I)) {
      Function *Callee = Call->getCalledFunction();
      if (Callee && IsOurs(*Callee) && !haveSameTarget(F, *Callee) &&
          isVectorSignature(*Callee->getFunctionType()))
        Calls.push_back(Call);
    }
  for (CallBase *Call : Calls) {
    Function *Callee = Call->getCalledFunction();
    Function *&Memory = Made[Callee];
    if (!Memory)
      Memory = makeMemoryForm(*Callee);
    replace(*Call, *Callee, *Memory);
  }
  return !Calls.empty();
}
