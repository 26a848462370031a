// The plan: which values each record keeps, and why.
#include "ad/plan/Plan.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace adjoin;

bool Plan::isFree(const Need &N) {
  return N.K != Need::Extra && (isa<Argument>(N.V) || isa<Constant>(N.V));
}

Plan Plan::keepAll(const ReverseSubject &S) {
  Plan P;
  P.Fn = &S.Copy;
  P.DL = S.DL;
  LLVMContext &C = S.Copy.getContext();
  for (BasicBlock *BB : S.blocks()) {
    if (!S.isReversed(BB))
      continue;
    BlockPlan &Block = P.Blocks[BB];
    ArrayRef<BasicBlock *> Preds = S.predecessors(BB);
    Block.Predecessors.assign(Preds.begin(), Preds.end());
    DenseSet<Need> Seen;
    // Larger fields first, otherwise in program order: no padding between them.
    std::map<uint64_t, SmallVector<Slot, 4>, std::greater<>> BySize;
    for (const Instruction &I : *BB)
      forEachNeed(S, I, [&](const Need &N, StringRef Why) {
        if (isFree(N) || !Seen.insert(N).second)
          return;
        Type *T = typeOf(S, N);
        BySize[S.DL.getTypeAllocSize(T).getFixedValue()].push_back(
            {N, T, &I, Why.str()});
      });
    for (auto &[Size, Kept] : BySize)
      Block.Slots.append(Kept.begin(), Kept.end());
    SmallVector<Type *, 8> Fields;
    for (auto [Index, Kept] : enumerate(Block.Slots)) {
      P.Where[{BB, Kept.N}] = Index;
      Fields.push_back(Kept.T);
    }
    if (Block.keepsEdge()) {
      Block.EdgeField = Fields.size();
      size_t N = Block.Predecessors.size();
      Fields.push_back(IntegerType::get(C, N <= 256 ? 8 : 32));
    }
    if (!Fields.empty())
      Block.Record = StructType::get(C, Fields);
  }
  return P;
}

std::optional<unsigned> Plan::slot(const BasicBlock *BB, const Need &N) const {
  auto It = Where.find({BB, N});
  if (It == Where.end())
    return std::nullopt;
  return It->second;
}

void Plan::print(raw_ostream &OS) const {
  OS << "plan of " << quotedName(*Fn) << "\n";
  for (const auto &[BB, Block] : Blocks) {
    OS << "  block ";
    BB->printAsOperand(OS, false);
    OS << ": keeps "
       << (Block.Record ? DL.getTypeAllocSize(Block.Record).getFixedValue() : 0)
       << " bytes a time\n";
    for (const Slot &Kept : Block.Slots) {
      OS << "    keep " << DL.getTypeAllocSize(Kept.T).getFixedValue()
         << " bytes of "
         << (Kept.N.K == Need::Shadow  ? "shadow "
             : Kept.N.K == Need::Extra ? "extra "
                                       : "");
      Kept.N.V->printAsOperand(OS, false);
      OS << " for " << Kept.For->getOpcodeName() << " at "
         << SourcePlace::of(*Kept.For).str() << ": " << Kept.Why << "\n";
    }
    if (Block.keepsEdge())
      OS << "    keep the edge, one of " << Block.Predecessors.size() << "\n";
  }
}
