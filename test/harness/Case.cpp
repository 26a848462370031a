// Building cases.
#include "Case.h"

using namespace adjoin::test;

Case Case::fromFile(llvm::StringRef File, llvm::StringRef Function) {
  Case C("", Function);
  C.File = File.str();
  return C;
}

Case &Case::pointer(int Block, int64_t Offset) {
  Parameter A;
  A.IsPointer = true;
  A.Block = Block;
  A.Offset = Offset;
  A.Active = Block >= 0 && Blocks[Block].Active;
  Arguments.push_back(A);
  return *this;
}

Case &Case::constPointer(int Block, int64_t Offset) {
  pointer(Block, Offset);
  Arguments.back().Active = false;
  return *this;
}

Case &Case::output(unsigned Count, CellKind K) {
  int B = block(cells(std::vector<double>(Count, 0.0), K));
  Blocks[B].Output = true;
  return pointer(B);
}

int Case::block(std::vector<Cell> Cells, bool Active) {
  Block B;
  B.Cells = std::move(Cells);
  B.Active = Active;
  Blocks.push_back(B);
  return static_cast<int>(Blocks.size()) - 1;
}

std::vector<Cell> Case::cells(std::vector<double> V, CellKind K) {
  std::vector<Cell> Cells;
  for (double X : V)
    Cells.push_back({K, X});
  return Cells;
}

std::vector<Cell> Case::intCells(std::vector<int64_t> V, CellKind K) {
  std::vector<Cell> Cells;
  for (int64_t X : V)
    Cells.push_back({K, 0, X});
  return Cells;
}
