// The entry of the library: requests in, derived functions out, memoised.
#ifndef ADJOIN_AD_DIFFERENTIATOR_H
#define ADJOIN_AD_DIFFERENTIATOR_H

#include "ad/Request.h"
#include "ad/analysis/CallTargets.h"
#include "ad/analysis/Kinds.h"
#include "ad/prepare/Pipelines.h"
#include "ad/prepare/WorkingCopies.h"
#include "ad/rules/RuleBook.h"
#include "ad/runtime/RuntimeLibrary.h"
#include <vector>

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

  /// The function that dispatches indirect calls of type \p FT on the primal
  /// address, for the width and facts of \p R:
  ///   {R, [shadow R]} dispatch(ptr f, p1, [p1'], …, ptr message, ptr ctx)
  /// Candidates are the functions that the call can reach (CallTargets); any
  /// other address aborts with the message.
  llvm::Expected<llvm::Function *>
  dispatcher(llvm::FunctionType *FT, llvm::ArrayRef<ShadowState> States,
             bool ReturnActive, std::optional<uint64_t> Slot, const Request &R);

  /// The same for reverse mode, as a pair:
  ///   {R, [shadow R]} aug(ptr f, p1, [p1'], …, ptr message, ptr ctx)
  ///   {adjoints} rev(ptr f, p1, [p1'], …, [seed], ptr ctx)
  /// \p Key receives the request that says which shadows and adjoints there
  /// are; its primal only has a type.
  llvm::Expected<ReversePair>
  reverseDispatcher(llvm::FunctionType *FT, llvm::ArrayRef<ShadowState> States,
                    bool ReturnActive, std::optional<uint64_t> Slot,
                    const Request &R, Request &Key);

  /// Simplifies all derived functions made since the last call with the O3
  /// function pipeline, callees first, inlining small derivatives in their
  /// derived callers. \p Bodies are the request bodies that call them.
  void optimise(llvm::ArrayRef<llvm::Function *> Bodies);

  /// Erases the working copies, and derived and runtime functions that nothing
  /// uses. No derivative can be asked for afterwards.
  void finish();

  /// The frozen working copy of \p F, whose kinds kinds() then knows.
  llvm::Expected<llvm::Function *> copyOf(llvm::Function &F);

  /// Prints the plan of each reverse derivative to \p OS from now on.
  void printPlans(llvm::raw_ostream &OS) { Plans = &OS; }

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
  struct ForwardEntry {
    Request Key;
    Derivative Result;
    bool Done = false;
    /// Why it could not be made: reported again to each caller.
    std::vector<Diagnostic> Failures;
  };
  struct DispatchEntry {
    llvm::FunctionType *Type;
    Request Key; ///< Primal is null
    std::optional<uint64_t> Slot;
    llvm::Function *Fn;
  };
  struct ReverseEntry {
    Request Key;
    ReversePair Result;
    std::vector<Diagnostic> Failures;
  };
  llvm::Error emitForward(size_t Index);
  /// Erases what was emitted since the marks, so that it can be made again.
  void forget(size_t ForwardMark, size_t ReverseMark, size_t DispatchMark,
              size_t ReverseDispatchMark, size_t FreshMark);
  llvm::Error emitReverse(const Request &R, const ReversePair &Pair);
  void fillDispatcher(const DispatchEntry &E);
  /// What is differentiated for a candidate of an indirect call: itself, or a
  /// function that calls it.
  llvm::Function *bodyOf(llvm::Function &Candidate);
  struct ReverseDispatchEntry {
    llvm::FunctionType *Type;
    Request Key; ///< Primal is a signature
    std::optional<uint64_t> Slot;
    ReversePair Pair;
  };
  void fillReverseDispatcher(const ReverseDispatchEntry &E);
  llvm::Function *newFunction(llvm::FunctionType *T, const llvm::Twine &Name);

  llvm::Module &M;
  llvm::raw_ostream *Plans = nullptr;
  const RuleBook &Rules;
  Pipelines &Pipes;
  CallTargets Targets; ///< before Copies: of the program as it was linked
  WorkingCopies Copies;
  KindAnalysis Kinds;
  RuntimeLibrary Runtime;
  size_t KindsKnown = 0; ///< copies that Kinds has seen
  std::vector<ForwardEntry> Forwards;
  llvm::DenseMap<const llvm::Function *, llvm::SmallVector<size_t, 2>>
      ForwardsOf;
  std::vector<DispatchEntry> Dispatchers;
  llvm::DenseMap<llvm::Function *, llvm::Function *> Thunks;
  std::vector<ReverseDispatchEntry> ReverseDispatchers;
  /// Declarations that stand for a type.
  llvm::DenseMap<llvm::FunctionType *, llvm::Function *> Signatures;
  std::vector<ReverseEntry> Reverses;
  /// Derived functions not optimised yet, in the order they were made.
  std::vector<llvm::Function *> Fresh;
  /// Those that are.
  std::vector<llvm::Function *> Emitted;
  unsigned Depth = 0;          ///< of nested forward() or reverse() calls
  bool SparseDemanded = false; ///< by a function of the current request
};

} // namespace adjoin

#endif
