// The memory of one run: packed arguments, blocks with their shadows, result.
#ifndef ADJOIN_TEST_HARNESS_WORLD_H
#define ADJOIN_TEST_HARNESS_WORLD_H

#include "Case.h"
#include "Program.h"
#include <memory>

namespace adjoin::test {

class World {
public:
  World(const Case &C, const Layout &L);

  /// The values that may vary (active floats at entry) and the values that
  /// depend on them (active floats at exit), as places.
  const std::vector<Leaf> &inputs() const { return Inputs; }
  const std::vector<Leaf> &outputs() const { return Outputs; }
  /// The inputs' values in the case.
  std::vector<double> point() const;

  /// Sets all primal memory to the case's values with the inputs at \p X, and
  /// clears the result.
  void reset(const std::vector<double> &X);
  /// Sets the shadows of lane \p Lane: pointers to shadows, garbage where a
  /// shadow has no meaning, and \p V for the floats: one value for each input
  /// (Entry) or for each output.
  void seed(unsigned Lane, const std::vector<double> &V, bool Entry);

  std::vector<double> values() const;                ///< of the outputs
  std::vector<int64_t> integers() const;             ///< all integers in memory
  std::vector<double> tangents(unsigned Lane) const; ///< of the outputs
  std::vector<double> adjoints(unsigned Lane) const; ///< of the inputs
  /// Adjoints or tangents that were left at places where there is no input.
  /// Memory around the blocks that was written: a sentence, or empty.
  std::string damage() const;

  char *arguments() { return Arguments.data(); }
  char *result() { return Result.data(); }

private:
  struct Memory {
    std::unique_ptr<char[]> Storage;
    char *Begin = nullptr;
    uint64_t Size = 0;
    void make(uint64_t Bytes);
    bool intact() const;
  };
  struct BlockMemory {
    std::vector<uint64_t> Offsets;
    Memory Primal;
    std::vector<Memory> Shadow; ///< by lane; none for a constant block
  };
  /// The shadow, in a lane, of a pointer to \p Offset in block \p Target.
  char *shadowPointer(unsigned Lane, int Target, int64_t Offset) const;
  char *primalPointer(int Target, int64_t Offset) const;
  const char *place(const Leaf &L) const;

  const Case &C;
  const Layout &L;
  std::vector<char> Arguments, Result;
  std::vector<BlockMemory> Blocks;
  std::vector<Leaf> Inputs, Outputs;
};

} // namespace adjoin::test

#endif
