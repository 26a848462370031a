// What a marker returns: results as a C struct in memory, read back as
// whatever type the marker declares (interface.md, section 9).
#ifndef ADJOIN_LLDPLUGIN_RESULTS_H
#define ADJOIN_LLDPLUGIN_RESULTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace adjoin {

class Results {
public:
  explicit Results(const llvm::DataLayout &DL) : DL(DL) {}

  /// Adds a member: \p Count values of type \p T, an array if more than one.
  /// \p InMemory: each is given by its address, else as a value.
  void add(llvm::Type *T, unsigned Count, bool InMemory);
  bool empty() const { return Instances.empty(); }
  uint64_t size() const { return llvm::alignTo(End, Alignment); }

  /// A sentence when results cannot be read as \p Declared, else empty.
  std::string misfit(llvm::Type *Declared) const;

  /// Writes the results to \p Memory, in the order in which they were added:
  /// one value or address for each instance.
  void store(llvm::IRBuilder<> &B, llvm::Value *Memory,
             llvm::ArrayRef<llvm::Value *> Values) const;

private:
  struct Leaf {
    llvm::Type *T;
    uint64_t Offset; ///< from the start of the results
    llvm::SmallVector<unsigned, 4> Path;
  };
  struct Instance {
    llvm::Type *T;
    uint64_t Offset;
    bool InMemory;
    llvm::SmallVector<Leaf, 4> Leaves;
  };
  void place(Instance &I, llvm::Type *T, llvm::SmallVectorImpl<unsigned> &Path);
  std::string describe() const;

  const llvm::DataLayout &DL;
  llvm::SmallVector<Instance, 4> Instances;
  uint64_t End = 0;
  llvm::Align Alignment;
};

} // namespace adjoin

#endif
