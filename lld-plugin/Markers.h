// Markers: finding the calls and telling what they are given.
#ifndef ADJOIN_LLDPLUGIN_MARKERS_H
#define ADJOIN_LLDPLUGIN_MARKERS_H

#include "Names.h"
#include "Report.h"
#include "ad/prepare/Pipelines.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace adjoin {

/// One argument of a marker call, behind the function.
struct MarkerItem {
  unsigned Operand = 0;         ///< number of the argument in the call
  std::optional<TagName> IsTag; ///< it is a tag, else a value
  std::string TagText;          ///< the tag as it was written
  const llvm::ConstantInt *Number = nullptr; ///< a value known at link time
  /// The value is the address of this function, as a pointer or as an integer.
  llvm::Function *Address = nullptr;
};

/// A marker call whose function and tags are known.
struct ResolvedMarker {
  llvm::CallBase *Call = nullptr;
  MarkerName Name{MarkerKind::Unknown, Family::Adjoin};
  llvm::Function *Target = nullptr;
  unsigned FunctionOperand = 0;
  llvm::SmallVector<MarkerItem, 16> Items;
  SourcePlace Where;
  /// The calls of wrappers through which it came where it is, as notes.
  llvm::SmallVector<std::string, 2> Chain;

  /// The same function, tags and numbers.
  bool asksTheSame(const ResolvedMarker &O) const {
    return Target == O.Target &&
           std::equal(Items.begin(), Items.end(), O.Items.begin(),
                      O.Items.end(),
                      [](const MarkerItem &L, const MarkerItem &R) {
                        return L.TagText == R.TagText && L.Number == R.Number &&
                               L.Address == R.Address;
                      });
  }
};

/// The marker that \p I calls; nothing when it calls none.
std::optional<MarkerName> markerCalledBy(const llvm::Instruction &I);

/// Erases a call; its result is poison.
void eraseCall(llvm::CallBase &Call);
/// The same, and a trap stands there.
void replaceByTrap(llvm::CallBase &Call);

/// The number of a marker call, as metadata.
std::optional<uint64_t> markerNumber(const llvm::Instruction &I, unsigned Kind);
void setMarkerNumber(llvm::Instruction &I, unsigned Kind, uint64_t Number);

/// Finds the marker calls of a module and resolves them: on copies of the
/// functions that they stand in, and where function, tag or width depends on a
/// parameter, by inlining that function into its callers, upwards.
class MarkerResolver {
public:
  MarkerResolver(llvm::Module &M, Pipelines &Pipes, Report &Out);

  /// Resolves what can be; this may inline wrappers into their callers.
  void resolve();
  /// The marker calls that were resolved, in module order. Mistakes are
  /// reported, and their calls replaced by traps. \p Abort gives the runtime
  /// function that prints a sentence and aborts.
  llvm::SmallVector<ResolvedMarker, 0>
  take(llvm::function_ref<llvm::Function *()> Abort);

private:
  /// What is known of one marker call.
  struct State {
    enum Kind {
      Resolved,
      Upwards,     ///< depends on a parameter
      Unreachable, ///< the optimiser sees that it is never reached
      Failed
    } K = Failed;
    ResolvedMarker Marker;
    std::string Why; ///< Upwards, Failed: the sentence if nothing helps
  };
  using States = llvm::SmallVector<State, 2>;
  /// Where a marker call stands, and the calls through whose inlining it came
  /// there.
  struct Origin {
    llvm::Function *Home;
    llvm::SmallVector<std::string, 2> Chain;
  };

  // Markers.cpp
  bool number(llvm::Function &F, llvm::StringRef Through);
  void rankFunctions();
  void checkUses();
  bool callsItself(const llvm::Function &F) const;
  llvm::SmallVector<llvm::Function *, 8> inlineUpwards(llvm::Function &F,
                                                       std::string &Problem);
  bool mayCarryTag(llvm::Function &F, unsigned Arg);
  void abandon(llvm::Function &F, const State &S,
               llvm::function_ref<llvm::Function *()> Abort);
  // Resolution.cpp
  States resolve(llvm::Function &F);
  State evaluate(llvm::CallBase &Original, llvm::CallBase &InCopy,
                 MarkerName Name,
                 llvm::SmallSetVector<llvm::CallBase *, 4> &Hiding);

  llvm::Module &M;
  Pipelines &Pipes;
  Report &Out;
  unsigned Kind; ///< of the metadata that numbers marker calls
  unsigned Inlined = 0;
  llvm::SmallVector<Origin, 0> Origins; ///< by number
  llvm::DenseMap<llvm::Function *, unsigned> Ranks;
  llvm::DenseMap<llvm::Function *, States> Known;
  llvm::DenseSet<const llvm::Function *> WasInlined;
  std::map<std::pair<const llvm::Function *, unsigned>, bool> CarriesTag;
};

} // namespace adjoin

#endif
