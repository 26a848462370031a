// The entry of the library: requests in, derived functions out, memoised.
#ifndef ADJOIN_AD_DIFFERENTIATOR_H
#define ADJOIN_AD_DIFFERENTIATOR_H

#include "ad/Request.h"
#include "ad/analysis/Kinds.h"
#include "ad/prepare/Pipelines.h"
#include "ad/prepare/WorkingCopies.h"
#include "ad/rules/RuleBook.h"
#include <map>

namespace adjoin {

/// One per module. Everything that it makes is internal to the module; finish()
/// erases the working copies, on failure too.
class Differentiator {
public:
  Differentiator(llvm::Module &M, const RuleBook &Rules, Pipelines &Pipes);
  ~Differentiator();

  /// The forward derivative for \p R. The functions are emitted but not yet
  /// optimised: see optimise().
  llvm::Expected<Derivative> forward(const Request &R);

  /// The reverse derivative for \p R as the pair of augmented primal and
  /// reverse sweep.
  llvm::Expected<ReversePair> reverse(const Request &R);

  /// Simplifies all derived functions made since the last call with the O3
  /// function pipeline, callees first, inlining small derivatives in their
  /// derived callers. \p Bodies are the request bodies that call them.
  void optimise(llvm::ArrayRef<llvm::Function *> Bodies);

  /// Erases the working copies. No derivative can be asked for afterwards.
  void finish();

  // For the emitters.
  llvm::Module &module() { return M; }
  const RuleBook &rules() const { return Rules; }
  WorkingCopies &copies() { return Copies; }
  KindAnalysis &kinds() { return Kinds; }
  Pipelines &pipelines() { return Pipes; }
  /// A function of the runtime (ad/runtime), linked into the module on demand
  /// as an internal function.
  llvm::Function *runtime(llvm::StringRef Name);

private:
  struct Entry;
  llvm::Module &M;
  const RuleBook &Rules;
  Pipelines &Pipes;
  WorkingCopies Copies;
  KindAnalysis Kinds;
  llvm::SmallVector<std::pair<Request, Derivative>, 0> Forwards;
  llvm::SmallVector<std::pair<Request, ReversePair>, 0> Reverses;
  llvm::SmallVector<llvm::Function *, 0> Fresh;
};

} // namespace adjoin

#endif
