// The reverse sweep: for each reversed block its transpose.
#ifndef ADJOIN_AD_REVERSE_ADJOINT_H
#define ADJOIN_AD_REVERSE_ADJOINT_H

#include "ad/plan/Bytes.h"
#include "ad/plan/Intrinsics.h"
#include "ad/plan/Plan.h"
#include "llvm/IR/IRBuilder.h"

namespace adjoin {

class AdjointEmitter {
public:
  AdjointEmitter(const ReverseSubject &S, const Plan &P,
                 llvm::Function &Target);
  llvm::Error run();

private:
  // Driver (Adjoint.cpp).
  void enterArguments();
  llvm::Error reverseBlock(const llvm::BasicBlock &BB);
  /// Hands the adjoints of the phis of \p BB on and leaves for the reversed
  /// predecessors.
  void leave(const llvm::BasicBlock &BB);
  void finish();
  llvm::Value *context() const { return Target.getArg(Target.arg_size() - 1); }

  // Values of the primal sweep (Materialise.cpp).
  void popFrame();
  /// Pops what aug pushed at the end of \p BB: its arrays, its record.
  void popRecord(const llvm::BasicBlock &BB);
  /// Makes the value of \p N by its source in the plan; it holds in the
  /// reversed block that is being written.
  llvm::Value *materialise(const Need &N);
  llvm::Value *recompute(const Need &N);
  llvm::Value *write(const llvm::SCEV *E);
  llvm::AllocaInst *counter(const CountedLoop &C);
  llvm::Value *gridIndex(const CountedLoop &C);
  llvm::Value *gridSize(const CountedLoop &C);
  /// \p C's trip count less one, as a 64-bit integer.
  llvm::Value *last(const CountedLoop &C);
  /// Sets the counters of the loops that \p From is in and \p To is not.
  void enterLoops(const llvm::BasicBlock &From, const llvm::BasicBlock &To);
  llvm::Value *need(const Need &N);
  llvm::Value *primal(const llvm::Value *V) { return need({V, Need::Primal}); }
  /// Lane \p K of the shadow pointer; null, at run time, where constant, and a
  /// null constant where that is known.
  llvm::Value *shadowLane(const llvm::Value *Ptr, unsigned K);

  // Adjoints (Adjoint.cpp). All have the shadow type of the value's form.
  llvm::AllocaInst *accumulator(const llvm::Value *V);
  /// Reads and clears the adjoint of \p V.
  llvm::Value *take(const llvm::Value *V);
  /// Adds to the adjoint of \p V, if it has one.
  void give(const llvm::Value *V, llvm::Value *Adjoint);
  llvm::Type *formType(const llvm::Value *V) const { return S.form(V).T; }
  /// Adds two adjoints, of aggregates member by member.
  llvm::Value *add(llvm::Value *L, llvm::Value *R);
  /// The same bytes: an adjoint of form \p From as one of form \p To.
  llvm::Value *convert(llvm::Value *Adjoint, llvm::Type *From, llvm::Type *To);
  llvm::Value *convertLane(llvm::Value *V, llvm::Type *To);

  // Transposes (Transpose.cpp).
  llvm::Error transpose(const llvm::Instruction &I);
  void transposeScalar(const llvm::Instruction &I, const ScalarRule &Rule);
  void transposeMulti(const llvm::CallBase &I, const MultiRule &Rule);
  bool mayBeSpeculated(const llvm::Instruction &I,
                       const PartialNeeds &Needs) const;
  void transposeSelect(const llvm::SelectInst &I);
  void transposeShuffle(const llvm::ShuffleVectorInst &I);
  llvm::Error transposeBits(const llvm::Instruction &I);
  llvm::Value *eachLane(llvm::Value *Adjoint, llvm::Type *From, llvm::Type *To,
                        llvm::function_ref<llvm::Value *(llvm::Value *)> F);

  // Intrinsics (TransposeIntrinsics.cpp).
  void transposeIntrinsic(const llvm::IntrinsicInst &I);
  void transposeReduction(const llvm::IntrinsicInst &I, Structure S);
  void transposePermutation(const llvm::IntrinsicInst &I);
  llvm::Value *transposeElements(const llvm::Value *Ptr, unsigned K,
                                 llvm::FixedVectorType *Form, llvm::Value *Mask,
                                 llvm::Value *Lane);
  void transposeMasked(const llvm::IntrinsicInst &I, Structure Access);

  // Memory and calls (TransposeMemory.cpp).
  void transposeLoad(const llvm::LoadInst &I);
  void transposeStore(const llvm::StoreInst &I);
  void transposeAlloca(const llvm::AllocaInst &I);
  llvm::Error transposeCall(const llvm::CallBase &I);
  void transposeBytes(const llvm::CallBase &I, const CallClass &C);
  void transposeCustom(const llvm::CallBase &I, const CallSite &Site);
  void transposeDerived(const llvm::CallBase &I, const CallSite &Site);
  /// Runs \p F with where lane \p K of the shadow of \p Size bytes at \p Ptr is
  /// read and where it is written, if there is one; its results, or zeros.
  llvm::Value *guarded(
      const llvm::Value *Ptr, unsigned K, uint64_t Size,
      llvm::function_ref<llvm::Value *(llvm::Value *From, llvm::Value *To)> F);
  /// All of the shadow of \p Size bytes, for reading and writing; null where
  /// there is none.
  llvm::Value *shadowRange(const llvm::Value *Ptr, unsigned K,
                           llvm::Value *Size);

  const ReverseSubject &S;
  Differentiator &D;
  const Plan &P;
  llvm::Function &Target;
  const llvm::DataLayout &DL;
  const unsigned W;
  llvm::IRBuilder<> B;
  llvm::BasicBlock *Entry = nullptr;
  llvm::DenseMap<const llvm::BasicBlock *, llvm::BasicBlock *> Blocks;
  llvm::DenseMap<const llvm::Value *, llvm::AllocaInst *> Accumulators;
  /// Parameters: of every block.
  llvm::DenseMap<Need, llvm::Value *> Parameters;
  /// Read from the frame: of every block.
  llvm::DenseMap<Need, llvm::Value *> Framed;
  llvm::SmallVector<llvm::Value *, 4> ArrayBases;
  /// Of the current block: read from its record, or made by another source.
  llvm::DenseMap<Need, llvm::Value *> Recorded;
  llvm::DenseMap<const CountedLoop *, llvm::AllocaInst *> Counters;
  llvm::Value *Seed = nullptr;
};

} // namespace adjoin

#endif
