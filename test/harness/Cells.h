// Typed memory: what the arguments and buffers of a function under test hold.
#ifndef ADJOIN_TEST_HARNESS_CELLS_H
#define ADJOIN_TEST_HARNESS_CELLS_H

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include <cstdint>
#include <vector>

namespace adjoin::test {

enum class CellKind {
  F16,
  BF16,
  F32,
  F64,
  F80,
  F128,
  I8,
  I16,
  I32,
  I64,
  I128,
  Ptr,
  Pad ///< bytes without a value
};

/// One value in memory.
struct Cell {
  CellKind Kind = CellKind::F64;
  double Float = 0;   ///< the value of a float
  int64_t Int = 0;    ///< the value of an integer; the bytes of a Pad
  int Block = -1;     ///< the block that a Ptr points to, -1 for null
  int64_t Offset = 0; ///< in bytes from the start of that block

  bool isFloat() const { return Kind <= CellKind::F128; }
  bool isInt() const { return Kind >= CellKind::I8 && Kind <= CellKind::I128; }
};

inline Cell f16(double V) { return {CellKind::F16, V}; }
inline Cell bf16(double V) { return {CellKind::BF16, V}; }
inline Cell f32(double V) { return {CellKind::F32, V}; }
inline Cell f64(double V) { return {CellKind::F64, V}; }
inline Cell f80(double V) { return {CellKind::F80, V}; }
inline Cell f128(double V) { return {CellKind::F128, V}; }
inline Cell i8(int64_t V) { return {CellKind::I8, 0, V}; }
inline Cell i16(int64_t V) { return {CellKind::I16, 0, V}; }
inline Cell i32(int64_t V) { return {CellKind::I32, 0, V}; }
inline Cell i64(int64_t V) { return {CellKind::I64, 0, V}; }
inline Cell pad(int64_t N) { return {CellKind::Pad, 0, N}; }
inline Cell null() { return {CellKind::Ptr}; }
inline Cell to(int Block, int64_t Offset = 0) {
  return {CellKind::Ptr, 0, 0, Block, Offset};
}

uint64_t sizeOf(const Cell &C);
uint64_t alignOf(const Cell &C);

/// Offsets of the cells laid out as a C struct; \p Size is its size.
std::vector<uint64_t> layOut(const std::vector<Cell> &Cells, bool Packed,
                             uint64_t &Size);

/// Reads and writes a float cell, from and to double.
double readFloat(CellKind K, const char *P);
void writeFloat(CellKind K, char *P, double V);
int64_t readInt(CellKind K, const char *P);
void writeInt(CellKind K, char *P, int64_t V);

/// The relative rounding error of a kind of float.
double unitOf(CellKind K);

/// The scalars of an IR type, with their offsets in memory. False when the type
/// holds something that is not a byte-sized integer, float or pointer.
bool flatten(llvm::Type *T, const llvm::DataLayout &DL, uint64_t Offset,
             std::vector<std::pair<uint64_t, CellKind>> &Out);

} // namespace adjoin::test

#endif
