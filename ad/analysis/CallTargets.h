// Call targets: which functions an indirect call can reach.
#ifndef ADJOIN_AD_ANALYSIS_CALLTARGETS_H
#define ADJOIN_AD_ANALYSIS_CALLTARGETS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"
#include <optional>

namespace adjoin {

/// The offset of the table slot that the callee of \p CB is loaded from, when
/// it is a constant offset from a pointer that itself comes out of memory or is
/// an argument: a virtual or dyn call.
std::optional<uint64_t> tableSlot(const llvm::CallBase &CB);

/// Computed once, from the program as it was linked, before anything is copied.
class CallTargets {
public:
  explicit CallTargets(llvm::Module &M);

  /// Functions of type \p FT that an indirect call may reach, in module order:
  /// definitions and declarations whose address is taken. With a \p Slot those
  /// are left out that stand in constant tables only, and in no table at that
  /// slot.
  llvm::SmallVector<llvm::Function *, 16>
  candidates(llvm::FunctionType *FT, std::optional<uint64_t> Slot) const;

private:
  struct Places {
    bool Anywhere = false; ///< the address is also used elsewhere
    llvm::SmallVector<uint64_t, 4> Slots;
  };
  void walk(const llvm::Constant &C, uint64_t FromGlobal, uint64_t FromTable,
            const llvm::DataLayout &DL);

  llvm::SmallVector<llvm::Function *, 0> Taken;
  llvm::DenseMap<const llvm::Function *, Places> PlacesOf;
};

} // namespace adjoin

#endif
