// One working copy: a clone of a function, freed of what ties the original to
// its place in the program.
#include "ad/prepare/CopyFunction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace adjoin;

/// What binds the original to a place, a profile or an optimisation level.
static void freeAttributes(Function &F) {
  F.setLinkage(GlobalValue::InternalLinkage);
  F.setVisibility(GlobalValue::DefaultVisibility);
  F.setDLLStorageClass(GlobalValue::DefaultStorageClass);
  F.setDSOLocal(true);
  F.setComdat(nullptr);
  F.setSection("");
  F.setPartition("");
  F.setPrefixData(nullptr);
  F.setPrologueData(nullptr);

  // Types and CFI identifiers would make the copy a candidate of indirect
  // calls.
  SmallVector<std::pair<unsigned, MDNode *>, 4> Metadata;
  F.getAllMetadata(Metadata);
  for (auto [Kind, Node] : Metadata)
    if (Kind != LLVMContext::MD_dbg)
      F.eraseMetadata(Kind);

  // "noinline" beside "optnone" was not the user's wish, but that of -O0.
  if (F.hasFnAttribute(Attribute::OptimizeNone)) {
    F.removeFnAttr(Attribute::OptimizeNone);
    F.removeFnAttr(Attribute::NoInline);
  }
  F.removeFnAttr(Attribute::OptimizeForSize);
  F.removeFnAttr(Attribute::MinSize);
}

/// Replaces an indirectbr of a copy by compares with the addresses of the
/// original's blocks. \p OriginalOf maps blocks of the copy to those.
static void
expandIndirectBr(IndirectBrInst &Jump,
                 const DenseMap<const BasicBlock *, BasicBlock *> &OriginalOf) {
  BasicBlock *From = Jump.getParent();
  Function &F = *From->getParent();
  SmallSetVector<BasicBlock *, 8> Targets;
  for (BasicBlock *Target : successors(From))
    Targets.insert(Target);
  if (Targets.empty()) {
    new UnreachableInst(F.getContext(), Jump.getIterator());
    Jump.eraseFromParent();
    return;
  }
  // One edge to each target.
  SmallPtrSet<BasicBlock *, 8> Seen;
  for (BasicBlock *Target : successors(From))
    if (!Seen.insert(Target).second)
      Target->removePredecessor(From, /*KeepOneInputPHIs=*/true);

  Value *Address = Jump.getAddress();
  DebugLoc Place = Jump.getDebugLoc();
  Jump.eraseFromParent();
  BasicBlock *At = From;
  for (auto [Number, Target] : enumerate(Targets)) {
    if (At != From)
      Target->replacePhiUsesWith(From, At);
    Instruction *Branch = nullptr;
    if (Number + 1 == Targets.size()) {
      // Any other address is undefined behaviour.
      Branch = BranchInst::Create(Target, At);
    } else {
      BasicBlock *Next = BasicBlock::Create(F.getContext(), "label.next", &F);
      auto *Same = new ICmpInst(At, CmpInst::ICMP_EQ, Address,
                                BlockAddress::get(OriginalOf.lookup(Target)),
                                "label.is");
      Same->setDebugLoc(Place);
      Branch = BranchInst::Create(Target, Next, Same, At);
      At = Next;
    }
    Branch->setDebugLoc(Place);
  }
}

static void expandLabels(Function &Copy, Function &Original,
                         const ValueToValueMapTy &Map) {
  DenseMap<const BasicBlock *, BasicBlock *> OriginalOf;
  for (BasicBlock &BB : Original)
    OriginalOf[cast<BasicBlock>(Map.lookup(&BB))] = &BB;
  // Cloning turned the labels that instructions name into labels of the copy;
  // those in global tables it could not.
  for (BasicBlock &BB : Copy) {
    BlockAddress *Label = BlockAddress::lookup(&BB);
    if (!Label)
      continue;
    Label->replaceAllUsesWith(BlockAddress::get(OriginalOf.lookup(&BB)));
    Label->destroyConstant();
  }
  SmallVector<IndirectBrInst *, 4> Jumps;
  for (BasicBlock &BB : Copy)
    if (auto *Jump = dyn_cast<IndirectBrInst>(BB.getTerminator()))
      Jumps.push_back(Jump);
  for (IndirectBrInst *Jump : Jumps)
    expandIndirectBr(*Jump, OriginalOf);
}

Function *adjoin::copyFunction(Function &Original) {
  Function *Copy = Function::Create(
      Original.getFunctionType(), GlobalValue::InternalLinkage,
      Original.getAddressSpace(), Original.getName() + ".adjoin.copy",
      Original.getParent());
  ValueToValueMapTy Map;
  for (auto [From, To] : zip(Original.args(), Copy->args())) {
    To.setName(From.getName());
    Map[&From] = &To;
  }
  SmallVector<ReturnInst *, 4> Returns;
  CloneFunctionInto(Copy, &Original, Map,
                    CloneFunctionChangeType::LocalChangesOnly, Returns);
  freeAttributes(*Copy);
  expandLabels(*Copy, Original, Map);

  for (BasicBlock &BB : *Copy)
    for (Instruction &I : BB) {
      I.dropDbgRecords();
      if (auto *Call = dyn_cast<CallInst>(&I))
        if (Call->isMustTailCall() && !Copy->isVarArg())
          Call->setTailCallKind(CallInst::TCK_None);
    }
  return Copy;
}

void adjoin::dropLifetimes(Function &F) {
  for (BasicBlock &BB : F)
    for (Instruction &I : make_early_inc_range(BB))
      if (isa<LifetimeIntrinsic>(I))
        I.eraseFromParent();
}
