// The inner loops of leaf orders. Two matrices give a third one, c(i, j), over all k:
//   min_plus            least a(i, k) + b(k, j)
//   squared_distances   Σ (a(i, k) - b(k, j))²
//
// They are computed like products of matrices: both factors are copied into small pieces that stay in the caches, in
// the order in which the innermost loop reads them. That loop keeps a tile of c in registers.
#pragma once

#include <cstddef>

#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

// A matrix or its transpose, anywhere in memory.
struct MatrixView {
  const double* data;
  std::size_t row_step, column_step;

  MatrixView from(std::size_t row, std::size_t column) const {
    return {data + row * row_step + column * column_step, row_step, column_step};
  }
};

struct MatrixProduct {
  MatrixView a, b;
  double* c;
  std::size_t c_row_step;
  std::size_t rows, depth, columns;  // a has rows × depth numbers, b has depth × columns; none of the three is 0
};

inline constexpr std::size_t kProductRows = 128;  // the most rows of a product
inline constexpr std::size_t kProductDepth = 256;
inline constexpr std::size_t kProductMostColumns = 16;  // of a tile, in the widest instruction set
// What a product needs to work in, aligned like AlignedDoubles.
inline constexpr std::size_t kProductDoubles = (kProductRows + kProductMostColumns) * kProductDepth;

struct OrderKernels {
  void (*min_plus)(const MatrixProduct& task, double* workspace);
  void (*squared_distances)(const MatrixProduct& task, double* workspace);
};

SILVERBIRCH_KERNEL_TABLE(OrderKernels, order_kernels)

}  // namespace silverbirch
