// A dense row-major matrix: what jacobian() returns.
#ifndef ADJOIN_DETAIL_MATRIX_HPP
#define ADJOIN_DETAIL_MATRIX_HPP

#include <cstddef>
#include <vector>

namespace adjoin {

template <typename T> class matrix {
public:
  matrix(std::size_t rows, std::size_t cols)
      : elements(rows * cols), columns(cols), lines(rows) {}
  std::size_t rows() const { return lines; }
  std::size_t cols() const { return columns; }
  T &operator()(std::size_t i, std::size_t j) {
    return elements[i * columns + j];
  }
  const T &operator()(std::size_t i, std::size_t j) const {
    return elements[i * columns + j];
  }
  T *data() { return elements.data(); }
  const T *data() const { return elements.data(); }

private:
  std::vector<T> elements;
  std::size_t columns, lines;
};

} // namespace adjoin

#endif
