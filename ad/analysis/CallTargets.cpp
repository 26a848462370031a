// Call targets: which functions an indirect call can reach.
#include "ad/analysis/CallTargets.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

std::optional<uint64_t> adjoin::tableSlot(const CallBase &CB) {
  const auto *Callee = dyn_cast<LoadInst>(CB.getCalledOperand());
  if (!Callee)
    return std::nullopt;
  const DataLayout &DL = CB.getDataLayout();
  const Value *Ptr = Callee->getPointerOperand();
  APInt Offset(DL.getIndexTypeSizeInBits(Ptr->getType()), 0);
  const Value *Table = Ptr->stripAndAccumulateConstantOffsets(
      DL, Offset, /*AllowNonInbounds=*/true);
  // A table is what a pointer out of memory, or out of a fat pointer, names.
  if (!isa<LoadInst>(Table) && !isa<Argument>(Table) &&
      !isa<ExtractValueInst>(Table) && !isa<PHINode>(Table))
    return std::nullopt;
  if (Offset.isNegative())
    return std::nullopt;
  return Offset.getZExtValue();
}

void CallTargets::walk(const Constant &C, uint64_t FromGlobal,
                       uint64_t FromTable, const DataLayout &DL) {
  if (auto *F = dyn_cast<Function>(C.stripPointerCasts())) {
    SmallVectorImpl<uint64_t> &Slots = PlacesOf[F].Slots;
    // An Itanium vtable's address point lies two pointers into its table.
    uint64_t Header = 2 * DL.getPointerSize();
    for (uint64_t At : {FromGlobal, FromTable}) {
      Slots.push_back(At);
      if (At >= Header)
        Slots.push_back(At - Header);
    }
    return;
  }
  if (auto *Struct = dyn_cast<ConstantStruct>(&C)) {
    const StructLayout *Layout = DL.getStructLayout(Struct->getType());
    for (unsigned I = 0; I != Struct->getNumOperands(); ++I) {
      uint64_t At = Layout->getElementOffset(I).getFixedValue();
      bool Inner = Struct->getOperand(I)->getType()->isAggregateType();
      walk(*Struct->getOperand(I), FromGlobal + At, Inner ? 0 : FromTable + At,
           DL);
    }
  } else if (auto *Array = dyn_cast<ConstantArray>(&C)) {
    uint64_t Size = DL.getTypeAllocSize(Array->getType()->getElementType());
    for (unsigned I = 0; I != Array->getNumOperands(); ++I)
      walk(*Array->getOperand(I), FromGlobal + I * Size, FromTable + I * Size,
           DL);
  }
}

/// True when every use of the address \p C, through constants, is in the
/// initialiser of a constant global.
static bool onlyInTables(const Constant &C) {
  SmallVector<const User *, 16> Work(C.user_begin(), C.user_end());
  SmallPtrSet<const User *, 16> Seen;
  while (!Work.empty()) {
    const User *U = Work.pop_back_val();
    if (!Seen.insert(U).second)
      continue;
    if (auto *G = dyn_cast<GlobalVariable>(U)) {
      // llvm.used and registrations name a function without giving it away.
      if (!G->isConstant() && !G->getName().starts_with("llvm."))
        return false;
      continue;
    }
    if (auto *Call = dyn_cast<CallBase>(U)) {
      if (Call->isCallee(
              &*llvm::find_if(Call->operands(),
                              [&](const Use &Op) { return Op.get() == &C; })) &&
          !is_contained(Call->args(), &C))
        continue;
      return false;
    }
    if (isa<ConstantAggregate>(U) || isa<ConstantExpr>(U)) {
      Work.append(U->user_begin(), U->user_end());
      continue;
    }
    return false;
  }
  return true;
}

CallTargets::CallTargets(Module &M) {
  for (Function &F : M) {
    if (F.isIntrinsic() || !F.hasAddressTaken())
      continue;
    Taken.push_back(&F);
    PlacesOf[&F].Anywhere = !onlyInTables(F);
  }
  for (const GlobalVariable &G : M.globals())
    if (G.isConstant() && G.hasInitializer())
      walk(*G.getInitializer(), 0, 0, M.getDataLayout());
}

SmallVector<Function *, 16>
CallTargets::candidates(FunctionType *FT, std::optional<uint64_t> Slot) const {
  SmallVector<Function *, 16> Result;
  for (Function *F : Taken) {
    if (F->getFunctionType() != FT)
      continue;
    const Places &P = PlacesOf.find(F)->second;
    if (Slot && !P.Anywhere && !is_contained(P.Slots, *Slot))
      continue;
    Result.push_back(F);
  }
  return Result;
}
