// The augmented primal: the primal with shadow pointers and records.
#ifndef ADJOIN_AD_REVERSE_AUGMENT_H
#define ADJOIN_AD_REVERSE_AUGMENT_H

#include "ad/plan/Plan.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace adjoin {

class AugmentEmitter {
public:
  AugmentEmitter(const ReverseSubject &S, const Plan &P,
                 llvm::Function &Target);
  llvm::Error run();

private:
  // Driver (Augment.cpp).
  void cloneBody();
  void enterArguments();
  void copyStruct(const llvm::Argument &A);
  llvm::Error visitBlock(llvm::BasicBlock &BB);
  llvm::Error visit(llvm::Instruction &I);
  void visitReturn(llvm::ReturnInst &I);
  // What is kept (AugmentKeep.cpp).
  /// At the builder's position, the end of \p BB: pushes its record, stores
  /// what it makes for the frame and for arrays, pushes the arrays that begin
  /// here.
  void pushRecord(const llvm::BasicBlock &BB);
  void pushFrame();
  /// The value of a need where its defining block, or one that it dominates,
  /// ends.
  llvm::Value *kept(const Need &N);
  llvm::AllocaInst *frameSlot(unsigned Field);
  /// The number of the iteration of a counted loop, from zero (i64).
  llvm::Value *counter(const CountedLoop &C);
  /// The number of the current iteration among all of the grid, and how many
  /// there are.
  llvm::Value *gridIndex(const CountedLoop &C);
  llvm::Value *gridSize(const CountedLoop &C);
  void advanceCounters();
  void numberEdges();
  /// A catch that goes on is not reversed yet: aug aborts there.
  void abortWhereCaught();
  void addPhis(llvm::BasicBlock &BB);
  void fillPhis();
  void placeBefore(const llvm::Instruction &I);
  void placeAfter(const llvm::Instruction &I);
  llvm::Value *primal(const llvm::Value *V) const;
  llvm::Value *context() const { return Target.getArg(Target.arg_size() - 1); }
  llvm::Value *push(llvm::Value *Size, const llvm::Twine &Name);

  // Shadow pointers (AugmentValues.cpp).
  llvm::Value *shadow(const llvm::Value *V);
  llvm::Value *inert(llvm::Value *Primal, llvm::Type *T);
  void setShadow(const llvm::Value *V, llvm::Value *S);
  /// The shadow as rev sees it: null where it equals the primal.
  llvm::Value *forReverse(const llvm::Value *V);
  llvm::Value *perLane(llvm::Instruction &I,
                       llvm::ArrayRef<llvm::Value *> Shadowed);
  llvm::Error visitValue(llvm::Instruction &I);

  // Memory and calls (AugmentMemory.cpp).
  void visitLoad(llvm::LoadInst &I);
  void visitStore(llvm::StoreInst &I);
  void visitAlloca(llvm::AllocaInst &I);
  llvm::Error visitCall(llvm::CallBase &I);
  void visitAllocate(llvm::CallBase &I, const CallSite &Site);
  llvm::Error visitTransfer(llvm::CallBase &I, const CallClass &C);
  void visitCustom(llvm::CallBase &I, const CallSite &Site);
  llvm::Error visitIntrinsic(llvm::IntrinsicInst &I);
  void replace(llvm::CallBase &I, llvm::Value *New, llvm::Value *Result);
  void visitDerived(llvm::CallBase &I, const CallSite &Site);
  /// Takes fresh shadows of \p Size bytes for each lane off the arena, cleared.
  llvm::Value *freshShadows(llvm::Value *Size, llvm::Value *Memory,
                            llvm::Type *T);
  llvm::Value *sink(uint64_t Size);

  const ReverseSubject &S;
  Differentiator &D;
  const Plan &P;
  llvm::Function &Target;
  const llvm::DataLayout &DL;
  const unsigned W;
  llvm::IRBuilder<> B;
  llvm::ValueToValueMapTy VMap;
  llvm::DenseMap<const llvm::Value *, llvm::Value *> Shadows;
  llvm::DenseMap<const llvm::Value *, llvm::Value *> Extras;
  /// Where each numbered block stores its edge: the placeholder to replace.
  llvm::MapVector<const llvm::BasicBlock *, llvm::PHINode *> Edges;
  llvm::MapVector<const CountedLoop *, llvm::PHINode *> Counters;
  llvm::DenseMap<unsigned, llvm::AllocaInst *> FrameSlots; ///< by field
  llvm::DenseMap<unsigned, llvm::Value *> ArrayBases;
  /// Replaced invokes.
  llvm::DenseMap<const llvm::Instruction *, llvm::Instruction *> Terminators;
  llvm::BasicBlock *endOf(const llvm::BasicBlock *BB) const;
  struct OpenPhi {
    const llvm::PHINode *Primal;
    llvm::SmallVector<llvm::PHINode *, 1> Lanes;
    bool Whole;
  };
  llvm::SmallVector<OpenPhi, 0> OpenPhis;
  llvm::AllocaInst *Sink = nullptr;
  uint64_t SinkSize = 0;
};

} // namespace adjoin

#endif
