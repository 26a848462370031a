// Arena objects: the sizes that aug pushes and rev pops, computed by one code,
// and pointers in shadow memory.
#ifndef ADJOIN_AD_REVERSE_ARENAOBJECTS_H
#define ADJOIN_AD_REVERSE_ARENAOBJECTS_H

#include "ad/analysis/Kinds.h"
#include "ad/rules/Calls.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace adjoin {

/// \p Size rounded up to the alignment of the arena.
llvm::Value *arenaStride(llvm::IRBuilder<> &B, llvm::Value *Size);
/// The bytes of the objects that \p I makes, \p Count of them.
llvm::Value *allocaSize(llvm::IRBuilder<> &B, const llvm::AllocaInst &I,
                        llvm::Value *Count);
/// The arena object that stands for \p I and its shadows in \p W lanes.
llvm::Value *arenaSize(llvm::IRBuilder<> &B, const llvm::AllocaInst &I,
                       llvm::Value *Stride, unsigned W);

/// A null shadow pointer means constant, as the primal itself does: gives the
/// primal in its place. Other members of aggregates are left alone.
llvm::Value *normalisedShadow(llvm::IRBuilder<> &B, llvm::Value *Shadow,
                              llvm::Value *Primal);

/// Stores the pointers in \p Shadow (an integer counts as one), and nothing of
/// the floats, to \p Address.
void storePointers(llvm::IRBuilder<> &B, llvm::Value *Shadow,
                   llvm::Value *Address, llvm::Align A,
                   const llvm::DataLayout &DL);

/// The name of the runtime's function that undoes a copy of floats of one kind.
std::string pullName(KindSet Kinds, bool Down);

/// Calls \p F and gives memory (of at least \p Size bytes) that holds what it
/// returns, in registers or by sret.
llvm::Value *callInMemory(llvm::IRBuilder<> &B, llvm::Function &F,
                          llvm::SmallVectorImpl<llvm::Value *> &Args,
                          uint64_t Size);

} // namespace adjoin

#endif
