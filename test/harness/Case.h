// One function under test, with the values of its parameters and the memory
// that they point to.
#ifndef ADJOIN_TEST_HARNESS_CASE_H
#define ADJOIN_TEST_HARNESS_CASE_H

#include "Cells.h"
#include "llvm/ADT/StringRef.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace adjoin::test {

/// A piece of memory that arguments, or pointers in other blocks, point to.
struct Block {
  std::vector<Cell> Cells;
  /// It has a shadow. A pointer to a block without one has, in a shadow, null
  /// or the primal pointer in turn: both mean constant.
  bool Active = true;
  /// The function only writes it: its shadow is filled with NaN at entry.
  bool Output = false;
  bool Packed = false;
};

/// One parameter: scalars (several for a vector or an aggregate), or a pointer.
struct Parameter {
  std::vector<double> Floats; ///< the values of its float members, in order
  std::vector<int64_t> Ints;  ///< those of its integer members
  bool IsPointer = false;
  int Block = -1; ///< null when negative
  int64_t Offset = 0;
  bool Active = true;
};

/// A function under test. The calls chain: Case(IR).active(1.0).buffer({1, 2}).
class Case {
public:
  explicit Case(llvm::StringRef IR, llvm::StringRef Function = "f")
      : IR(IR), Function(Function) {}
  /// The module is read from a file (.ll or .bc) instead.
  static Case fromFile(llvm::StringRef File, llvm::StringRef Function);

  Case &active(double V) { return active({V}); }
  Case &active(std::initializer_list<double> V,
               std::initializer_list<int64_t> I = {}) {
    Arguments.push_back({V, I});
    return *this;
  }
  Case &constant(double V) { return constant({V}); }
  Case &constant(std::initializer_list<double> V,
                 std::initializer_list<int64_t> I = {}) {
    Arguments.push_back({V, I, false, -1, 0, false});
    return *this;
  }
  Case &integer(int64_t V) { return constant({}, {V}); }
  /// Pointers: to a block made before, and to a fresh one.
  Case &pointer(int Block, int64_t Offset = 0);
  Case &constPointer(int Block, int64_t Offset = 0);
  Case &nullPointer() { return pointer(-1); }
  Case &record(std::vector<Cell> Cells) { return pointer(block(Cells)); }
  Case &buffer(std::vector<double> V) { return record(cells(V)); }
  Case &floats(std::vector<double> V) {
    return record(cells(V, CellKind::F32));
  }
  Case &constBuffer(std::vector<double> V) {
    return constPointer(block(cells(V), false));
  }
  Case &constRecord(std::vector<Cell> Cells) {
    return constPointer(block(Cells, false));
  }
  Case &output(unsigned Count, CellKind K = CellKind::F64);
  Case &ints(std::vector<int64_t> V) {
    return constPointer(block(intCells(V, CellKind::I32), false));
  }

  /// Makes a block and returns its number.
  int block(std::vector<Cell> Cells, bool Active = true);
  static std::vector<Cell> cells(std::vector<double> V,
                                 CellKind K = CellKind::F64);
  static std::vector<Cell> intCells(std::vector<int64_t> V, CellKind K);

  Case &width(unsigned W) {
    Width = W;
    return *this;
  }
  /// The relative rounding error of the function, where it is not that of its
  /// inputs and outputs (arithmetic in float within a function of doubles).
  Case &unit(double U) {
    Unit = U;
    return *this;
  }
  Case &unit(CellKind K) { return unit(unitOf(K)); }
  /// The largest step of the differences, relative to max(|x|, 1/8).
  Case &step(double H) {
    Step = H;
    return *this;
  }
  /// The primal leaks that many bytes' worth of blocks on purpose, or hands
  /// memory to a library that frees it: allocations are not counted.
  Case &leaks() {
    CountAllocations = false;
    return *this;
  }

  std::string IR, File, Function;
  std::vector<Parameter> Arguments;
  std::vector<Block> Blocks;
  unsigned Width = 1;
  double Unit = 0;
  double Step = 1.0 / 32;
  bool CountAllocations = true;
  /// What neither the primal nor the derivative reaches is not compiled.
  bool Prune = false;
  /// Called when the primal has returned for the first time.
  void (*PrimalReturned)() = nullptr;
};

} // namespace adjoin::test

#endif
