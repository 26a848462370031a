// A case compiled: the module with its derivative, made by the plugin's own
// pass and run by the JIT.
#ifndef ADJOIN_TEST_HARNESS_PROGRAM_H
#define ADJOIN_TEST_HARNESS_PROGRAM_H

#include "Case.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <memory>

namespace adjoin::test {

/// How a module is treated before and by the pass. None may change a result.
struct Variant {
  const char *Name;
  bool Strip;           ///< TBAA and debug info are removed first
  bool Optimise;        ///< one more O3 pipeline runs over it first
  bool TagValues;       ///< tags are passed by value, not by address
  const char *Pipeline; ///< what runs Adjoin
};

/// The variants that every numeric test meets.
llvm::ArrayRef<Variant> variants();

/// A place of a value: in the packed arguments, in the result, or in a block.
struct Leaf {
  enum Room { InArgument, InResult, InBlock } Where = InArgument;
  int Index = 0;       ///< of the argument or block
  uint64_t Offset = 0; ///< from the start of the argument, result, block
  CellKind Kind = CellKind::F64;
  /// "argument 2", "result[1]", "block 0[3]".
  std::string Name;
};

/// Where the pieces of a call are in the packed arguments.
struct Layout {
  std::vector<uint64_t> Primal;              ///< by argument
  std::vector<std::vector<uint64_t>> Shadow; ///< by argument, by lane
  uint64_t Size = 0;
  uint64_t ResultSize = 0;
  std::vector<Leaf> ArgumentLeaves;
  std::vector<Leaf> ResultLeaves;
  /// Forward: the offset of each lane's tangent in the result. Reverse: one
  /// entry for each active value argument, the offset of its adjoint.
  std::vector<uint64_t> ResultShadow;
  /// Reverse: the arguments that ResultShadow belongs to, by argument number.
  std::vector<int> Outs;
};

enum class Direction { Forward, Reverse };

class Program {
public:
  /// Compiles \p C. Diagnostics that the pass gives are in diagnostics(), and
  /// then there is no code to run; anything else that is wrong (a module that
  /// does not verify, an original that was changed, a marker that was left) is
  /// in complaints().
  Program(const Case &C, const Variant &V, Direction D);
  ~Program();

  const std::vector<std::string> &diagnostics() const { return Diagnostics; }
  const std::vector<std::string> &complaints() const { return Complaints; }
  const Layout &layout() const { return L; }
  bool runs() const { return Primal && Derived; }

  using Entry = void (*)(char *Arguments, char *Result);
  Entry Primal = nullptr;
  Entry Derived = nullptr;

private:
  void compile(const Case &C, const Variant &V, Direction D);

  std::vector<std::string> Diagnostics, Complaints;
  Layout L;
  std::unique_ptr<llvm::orc::LLJIT> JIT;
};

} // namespace adjoin::test

#endif
