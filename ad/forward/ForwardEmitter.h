// Forward mode: writes one derived function, tangents next to the primal.
#ifndef ADJOIN_AD_FORWARD_FORWARDEMITTER_H
#define ADJOIN_AD_FORWARD_FORWARDEMITTER_H

#include "ad/Differentiator.h"
#include "ad/analysis/Activity.h"
#include "ad/rules/Calls.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace adjoin {

/// Writes the forward derivative of one frozen working copy into a function
/// that already exists as a declaration of the right type. See README.md of
/// this folder for the invariants.
class ForwardEmitter {
public:
  ForwardEmitter(Differentiator &D, const Request &R, llvm::Function &Copy,
                 llvm::Function &Target);

  /// Fills in the body. On failure the body is replaced by a trap, so that the
  /// module stays verifiable.
  llvm::Error run();

  /// Active data may be stored in memory without a shadow, and the request was
  /// not made for that: it has to be made again with Sparse.
  bool needsSparse() const { return NeedsSparse; }
  bool usesContext() const { return UsesContext; }

private:
  // Driver (ForwardEmitter.cpp).
  void cloneBody();
  void addPhis(llvm::BasicBlock &BB);
  void fillPhis();
  llvm::Error visit(llvm::Instruction &I);
  llvm::Error visitReturn(llvm::ReturnInst &I);
  /// Places the builder at the clone of \p I: before it, or where its result is
  /// available.
  void placeBefore(llvm::Instruction &I);
  void placeAfter(llvm::Instruction &I);

  // Values (ForwardValues.cpp).
  /// The shadow of \p V. Where it has none it is that of the bytes that \p V
  /// becomes part of: an integer constant may be the bits of a float, which
  /// only the value \p Becomes (a phi, a parameter, …) tells.
  llvm::Value *shadow(const llvm::Value *V,
                      const llvm::Value *Becomes = nullptr);
  llvm::Value *constShadow(const llvm::Value *V,
                           const llvm::Value *Becomes = nullptr);
  /// The shadow of the value \p Primal (of the new function) when it has no
  /// derivative: zero for floats, itself for pointers and integers, unless
  /// \p IntsAreFloats.
  llvm::Value *inertShadow(llvm::Value *Primal, llvm::Type *T,
                           bool IntsAreFloats);
  llvm::Value *primal(const llvm::Value *V) const;
  ShadowState state(const llvm::Value *V) const { return Facts.state(V); }
  bool isActive(const llvm::Value *V) const {
    return state(V) != ShadowState::Const;
  }
  void setShadow(const llvm::Value *V, llvm::Value *S);
  llvm::Error visitScalar(llvm::Instruction &I, const ScalarRule &Rule);
  llvm::Error visitValue(llvm::Instruction &I);
  llvm::Error visitBits(llvm::BinaryOperator &I);
  llvm::Error visitSelect(llvm::SelectInst &I);
  llvm::Value *perLane(llvm::Instruction &I,
                       llvm::ArrayRef<llvm::Value *> ShadowedOperands);

  // Memory (ForwardMemory.cpp).
  llvm::Error visitLoad(llvm::LoadInst &I);
  llvm::Error visitStore(llvm::StoreInst &I);
  llvm::Error visitAtomic(llvm::AtomicRMWInst &I);
  llvm::Error visitAlloca(llvm::AllocaInst &I);
  llvm::Error visitTransfer(llvm::CallBase &I, const CallClass &C);
  llvm::Error visitFill(llvm::CallBase &I, const CallClass &C);
  llvm::Error visitMasked(llvm::IntrinsicInst &I);
  llvm::Error visitAllocate(llvm::CallBase &I, const CallClass &C);
  llvm::Error visitAllocateThrough(llvm::CallBase &I, const CallClass &C);
  llvm::Error visitReallocate(llvm::CallBase &I, const CallClass &C);
  llvm::Error visitFree(llvm::CallBase &I, const CallClass &C);
  /// Where lane K of the shadow of \p Size bytes at \p Ptr is read; for memory
  /// that may be constant the address of zero bytes, except when \p SelfIfConst
  /// (a constant pointer's shadow is the pointer in the primal memory).
  llvm::Value *readAddress(const llvm::Value *Ptr, unsigned K, uint64_t Size,
                           bool SelfIfConst);
  /// Where it is written; null when there is nothing to write. \p Active says
  /// that the data written may be active.
  llvm::Value *writeAddress(const llvm::Value *Ptr, unsigned K, uint64_t Size,
                            bool Active);
  llvm::Value *runtimeAddress(llvm::StringRef Name, llvm::Value *P,
                              llvm::Value *Q, uint64_t Size, unsigned K);
  /// i1: the shadow of \p Ptr, lane K, is the primal (constant) at run time.
  llvm::Value *isConstAt(const llvm::Value *Ptr, unsigned K);
  llvm::Value *zeros(uint64_t Size);
  llvm::Value *sink(uint64_t Size);
  llvm::Value *context();

  // Calls (ForwardCalls.cpp).
  llvm::Error visitCall(llvm::CallBase &I);
  llvm::Error visitDerived(llvm::CallBase &I);
  llvm::Error visitIndirect(llvm::CallBase &I);
  llvm::Error visitCustom(llvm::CallBase &I, const CallClass &C);
  llvm::Error visitMulti(llvm::CallBase &I, const CallClass &C);
  llvm::Error visitIntrinsic(llvm::IntrinsicInst &I);
  llvm::Error visitReduction(llvm::IntrinsicInst &I);
  /// The request for the derivative of the callee of \p I.
  Request calleeRequest(const llvm::CallBase &I, llvm::Function &Callee);
  /// Replaces the clone of \p I by a call of \p Fn with the same bundles,
  /// unwind destination and position, and returns it.
  llvm::CallBase *replaceCall(const llvm::CallBase &I, llvm::FunctionCallee Fn,
                              llvm::ArrayRef<llvm::Value *> Args);
  /// Splits the result {value, shadow} of a derived call.
  void takeResults(const llvm::CallBase &I, llvm::CallBase &New,
                   bool WithShadow);
  /// Arguments of a derived call: each value, its shadow unless Const, context.
  llvm::SmallVector<llvm::Value *, 8>
  derivedArguments(const llvm::CallBase &I, llvm::ArrayRef<ShadowState> States);

  Differentiator &D;
  const Request &R;
  llvm::Function &Copy;
  llvm::Function &Target;
  const llvm::DataLayout &DL;
  const unsigned W;
  ActivityAnalysis Facts;
  llvm::IRBuilder<> B;
  llvm::ValueToValueMapTy VMap;
  llvm::DenseMap<const llvm::Value *, llvm::Value *> Shadows;
  struct OpenPhi {
    const llvm::PHINode *Primal;
    llvm::SmallVector<llvm::PHINode *, 1> Lanes;
    bool Whole; ///< one phi of the shadow type rather than one per lane
  };
  llvm::SmallVector<OpenPhi, 0> OpenPhis;
  llvm::AllocaInst *Sink = nullptr;
  uint64_t SinkSize = 0;
  bool NeedsSparse = false;
  bool UsesContext = false;
};

/// The attributes a derived function takes from its primal (design.md,
/// "Attributes"): target, frame and sanitizer attributes of the function, ABI
/// attributes of the parameters.
void copyDerivedAttributes(const llvm::Function &Primal,
                           llvm::Function &Derived);

/// A null shadow pointer means constant, as the primal itself does: from here
/// on it is the primal. Applied to pointers that come out of memory, or out of
/// integers.
llvm::Value *normalised(llvm::IRBuilder<> &B, llvm::Value *Shadow,
                        llvm::Value *Primal);

} // namespace adjoin

#endif
