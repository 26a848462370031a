// The store behind kind analysis: cells of bytes and regions of memory, both in
// union-find forests, with no knowledge of instructions.
#ifndef ADJOIN_AD_ANALYSIS_KINDGRAPH_H
#define ADJOIN_AD_ANALYSIS_KINDGRAPH_H

#include "ad/analysis/Kinds.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace adjoin {

/// A cell is a run of bytes that travel together: the bytes of an SSA value, or
/// a field of memory. Cells between which bytes move are one cell. A cell is a
/// leaf, with a set of kinds and what its bytes point to when they are part of
/// a pointer, or is split in two smaller cells.
///
/// A region is memory that some pointer points into: cells by byte offset. A
/// region with a stride is an array: offset o and o + stride are the same.
///
/// What functions do is copied for each of their calls (clone). Cells and
/// regions that are reachable from globals are not copied but shared.
class KindGraph {
public:
  using CellId = uint32_t;
  using RegionId = uint32_t;
  static constexpr uint32_t None = ~0U;
  /// No cell is larger, so no split tree is deep: bigger copies make one region
  /// of source and destination.
  static constexpr uint64_t MaxCell = 2048;
  /// A region with more cells becomes an array with a stride of eight bytes.
  static constexpr size_t MaxEntries = 256;

  /// Beside the kinds: bytes that were held in a floating-point type. That is
  /// no kind, but where it is set Int alone is not to be believed.
  static constexpr unsigned FloatTyped = 1U << 15;

  /// A place in a region.
  struct Handle {
    RegionId Region = None;
    int64_t Offset = 0;
    Handle plus(int64_t Bytes) const;
    explicit operator bool() const { return Region != None; }
  };

  /// What the functions of one type that a function pointer may be have in
  /// common.
  struct Signature {
    const llvm::FunctionType *Type = nullptr;
    uint32_t Parent = None;
    bool Called = false;
    bool Cloned = false; ///< the callers' copies know more
    bool Open = false;   ///< taken to be any function of the type
    Handle Home;         ///< the region that it is of
    llvm::SmallVector<CellId, 4> Params;
    CellId Return = None;
    llvm::SmallVector<uint32_t, 1> Members; ///< the caller's function numbers
  };

  CellId makeCell(uint64_t Size);
  RegionId makeRegion();
  uint64_t size(CellId C) const { return Cells[C].Size; }

  /// \p N bytes at \p A and at \p B are the same.
  void unify(CellId A, uint64_t OffA, CellId B, uint64_t OffB, uint64_t N);
  void unify(CellId A, CellId B);
  /// \p N bytes of \p C and those in memory at \p H are the same.
  void access(Handle H, CellId C, uint64_t Off, uint64_t N);
  /// \p N bytes in memory at \p D and \p S are the same.
  void copy(Handle D, Handle S, uint64_t N);
  /// Both places are one place of one region.
  void merge(Handle A, Handle B);
  /// The region is (also) indexed by multiples of \p Stride (0: no change).
  void fold(Handle H, uint64_t Stride);

  bool seed(CellId C, uint64_t Off, uint64_t N, KindSet Kinds);
  void seed(CellId C, KindSet Kinds) { seed(C, 0, size(C), Kinds); }
  void seed(Handle H, uint64_t N, KindSet Kinds);

  /// Where a pointer in these bytes points to: one place for all of them, made
  /// when there is none yet.
  Handle pointee(CellId C, uint64_t Off, uint64_t N);
  Handle pointee(CellId C) { return pointee(C, 0, size(C)); }
  void point(CellId C, uint64_t Off, uint64_t N, Handle To);
  void point(CellId C, Handle To) { point(C, 0, size(C), To); }
  /// The pointer in memory at \p H points to \p To.
  void point(Handle H, uint64_t N, Handle To);

  /// The region, and all that is reachable from it, is shared by all functions.
  void makeGlobal(Handle H);
  void makeGlobal(CellId C);

  /// Copies the cells \p From and what is reachable from them, unless that is
  /// more than \p Limit cells and regions. What the copies know flows to the
  /// originals, and kinds that the originals learn later to the copies.
  bool clone(llvm::ArrayRef<CellId> From, llvm::SmallVectorImpl<CellId> &To,
             size_t Limit);
  /// Carries kinds between originals and copies.
  void propagate();

  /// Signatures: functions are members of the region that a pointer to them
  /// points to.
  uint32_t makeSignature(const llvm::FunctionType *T);
  Signature &signature(uint32_t S) { return Signatures[findSignature(S)]; }
  void addSignature(Handle H, uint32_t S);
  /// The signature of that type in the region, made when there is none.
  uint32_t signatureIn(Handle H, const llvm::FunctionType *T);
  bool hasSignature(Handle H, const llvm::FunctionType *T) const;
  uint32_t signatureCount() const { return Signatures.size(); }
  bool isSignature(uint32_t S) const { return Signatures[S].Parent == S; }
  /// Calls through pointers to that region happen, with any type.
  void callAll(Handle H);
  void call(uint32_t S);
  /// Functions that became called and were not yet asked for.
  std::vector<uint32_t> takeCalled();

  // Queries. They change nothing but the shape of the forests. What memory is
  // to a function includes what it is to its callers.
  using Visitor =
      llvm::function_ref<void(uint64_t Begin, uint64_t End, unsigned Bits)>;
  void visit(CellId C, uint64_t Off, uint64_t N, Visitor F) const;
  /// What the cell's own function and its callees, without its callers, say.
  KindSet ownKinds(CellId C) const;
  /// What callers of the analysis are told.
  static KindSet told(unsigned Bits) {
    if (Bits == (KindSet::Int | FloatTyped))
      return {};
    return {Bits & ~FloatTyped};
  }
  /// The place that the bytes point to, if there is one.
  Handle pointeeOrNone(CellId C) const;
  Handle resolve(Handle H) const;
  uint64_t stride(Handle H) const;
  /// The place and its copies in direct and indirect callers.
  llvm::SmallVector<Handle, 4> withCopies(Handle H) const;
  void visitCopies(RegionId R, llvm::function_ref<void(Handle)> F) const;
  /// Only in the region itself.
  void visitMemory(Handle H, uint64_t N, Visitor F) const;
  /// All cells of the region itself, in the order of their offsets.
  void visitRegion(Handle H,
                   llvm::function_ref<void(int64_t Begin, uint64_t Size,
                                           unsigned Bits, Handle To)>
                       F) const;

  size_t cellCount() const { return Cells.size(); }
  size_t regionCount() const { return Regions.size(); }

private:
  struct Cell {
    mutable CellId Parent;
    uint32_t Size;
    CellId Left = None, Right = None; ///< both, or none
    uint16_t Kinds = 0;   ///< from the function itself and its callees
    uint16_t Callers = 0; ///< what callers add
    bool Global = false;
    bool Settled = false; ///< half of a settled cell
    Handle To;
  };
  struct Entry {
    int64_t Offset;
    CellId Cell;
  };
  struct Region {
    mutable RegionId Parent;
    mutable int64_t Delta = 0; ///< add to an offset to get the parent's
    uint64_t Stride = 0;
    llvm::SmallVector<Entry, 2> Entries; ///< sorted, disjoint
    llvm::SmallVector<uint32_t, 0> Signatures;
    /// Copies of it in callers, and the offset here of their place.
    llvm::SmallVector<std::pair<int64_t, Handle>, 0> Copies;
    bool AllCalled = false;
    bool Global = false;
  };
  struct Piece {
    CellId Cell;
    uint64_t Offset, Size;
  };

  CellId find(CellId C) const;
  /// The leaf that holds byte \p Off of \p C; \p Off becomes the offset in it.
  CellId leafAt(CellId C, uint64_t &Off) const;
  /// Splits so that bytes [Off, Off + N) are leaves; the first is returned, and
  /// its size is at most N.
  CellId isolate(CellId C, uint64_t Off, uint64_t N);
  void split(CellId Leaf, uint64_t At);
  void join(CellId A, CellId B);
  void unifyStep(CellId A, uint64_t OffA, CellId B, uint64_t OffB, uint64_t N);
  bool seedFromCallers(CellId C, uint64_t Off, uint64_t N, uint16_t Kinds);
  bool collect(llvm::ArrayRef<CellId> From, size_t Limit,
               std::vector<CellId> &LocalCells,
               std::vector<RegionId> &LocalRegions) const;
  void spreadGlobal(RegionId R);
  void leafGlobal(CellId Leaf);
  bool isSettled(CellId C) const;
  void propagateFrom(size_t First);
  uint32_t findSignature(uint32_t S) const;
  void joinSignatures(uint32_t A, uint32_t B);
  /// The cells that make up N bytes at an offset of a root, gaps filled.
  void pieces(RegionId Root, int64_t Offset, uint64_t N,
              llvm::SmallVectorImpl<Piece> &Out);
  void unfoldedPieces(Region &R, int64_t Offset, uint64_t N,
                      llvm::SmallVectorImpl<Piece> &Out);
  void place(RegionId Root, int64_t Offset, CellId C);
  void foldRoot(RegionId Root, uint64_t Stride);
  void mergeNow(Handle A, Handle B);
  void boundEntries(RegionId Root);
  void drain();

  std::vector<Cell> Cells;
  std::vector<Region> Regions;
  std::vector<Signature> Signatures;
  std::vector<std::pair<Handle, Handle>> Pending;
  std::vector<RegionId> PendingGlobals;
  std::vector<std::pair<CellId, CellId>> Copies; ///< original, copy; callees
                                                 ///< before their callers
  /// Up to where propagate() was done, and that something there changed since.
  size_t SettledCopies = 0, SettledCells = 0;
  bool SettledChanged = false;
  std::vector<uint32_t> Called;
};

} // namespace adjoin

#endif
