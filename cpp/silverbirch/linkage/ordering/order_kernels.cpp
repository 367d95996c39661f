#include "silverbirch/linkage/ordering/order_kernels.hpp"

#include "silverbirch/simd/double_vector.hpp"

namespace silverbirch {
namespace {

constexpr std::size_t kTileRows = 4, kTileVectors = 2, kTileColumns = kTileVectors * kWidth;
constexpr double kInfinity = __builtin_huge_val();
static_assert(kTileColumns <= kProductMostColumns && kProductRows % kTileRows == 0);

SILVERBIRCH_INLINE std::size_t least(std::size_t a, std::size_t b) { return a < b ? a : b; }

// Copies `count` ≤ kTile lines of `depth` numbers: number k of all lines, then number k + 1. Missing lines are
// infinite.
template <std::size_t kTile>
SILVERBIRCH_INLINE void pack(const double* from, std::size_t line_step, std::size_t step, std::size_t count,
                             std::size_t depth, double* to) {
  for (std::size_t i = 0; i < kTile; ++i) {
    if (i >= count) {
      for (std::size_t k = 0; k < depth; ++k) to[k * kTile + i] = 0.0;
    } else if (step == 1) {
      for (std::size_t k = 0; k < depth; ++k) to[k * kTile + i] = from[i * line_step + k];
    } else if (i == 0 && count == kTile && line_step == 1) {
      for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t j = 0; j < kTile; ++j) to[k * kTile + j] = from[k * step + j];
      return;
    } else {
      for (std::size_t k = 0; k < depth; ++k) to[k * kTile + i] = from[i * line_step + k * step];
    }
  }
}

struct MinPlus {
  static constexpr double kNothing = kInfinity;
  static SILVERBIRCH_INLINE Doubles add(Doubles sum, Doubles a, Doubles b) { return smaller(a + b, sum); }
  static SILVERBIRCH_INLINE Doubles joined(Doubles one, Doubles other) { return smaller(one, other); }
  static SILVERBIRCH_INLINE double joined(double one, double other) { return one < other ? one : other; }
};

struct SquaredDistance {
  static constexpr double kNothing = 0.0;
  static SILVERBIRCH_INLINE Doubles add(Doubles sum, Doubles a, Doubles b) { return sum + (a - b) * (a - b); }
  static SILVERBIRCH_INLINE Doubles joined(Doubles one, Doubles other) { return one + other; }
  static SILVERBIRCH_INLINE double joined(double one, double other) { return one + other; }
};

struct Tile {
  Doubles value[kTileRows][kTileVectors];
};

template <class Form>
SILVERBIRCH_INLINE Tile tile_product(const double* a, const double* b, std::size_t depth) {
  Tile tile;
  for (std::size_t i = 0; i < kTileRows; ++i)
    for (std::size_t v = 0; v < kTileVectors; ++v) tile.value[i][v] = broadcast(Form::kNothing);
  for (std::size_t k = 0; k < depth; ++k) {
    Doubles row[kTileVectors];
    for (std::size_t v = 0; v < kTileVectors; ++v) row[v] = load(b + k * kTileColumns + v * kWidth);
    for (std::size_t i = 0; i < kTileRows; ++i) {
      const Doubles factor = broadcast(a[k * kTileRows + i]);
      for (std::size_t v = 0; v < kTileVectors; ++v) tile.value[i][v] = Form::add(tile.value[i][v], factor, row[v]);
    }
  }
  return tile;
}

// Numbers that may begin anywhere in memory.
SILVERBIRCH_INLINE Doubles load_unaligned(const double* p) {
  Doubles v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
SILVERBIRCH_INLINE void store_unaligned(double* p, Doubles v) { __builtin_memcpy(p, &v, sizeof v); }

// Writes the part of a tile that lies within c; `first`: nothing has been written there yet.
template <class Form>
SILVERBIRCH_INLINE void write(const Tile& tile, double* c, std::size_t row_step, std::size_t rows, std::size_t columns,
                              bool first) {
  const bool whole = rows == kTileRows && columns == kTileColumns;
  for (std::size_t i = 0; whole && i < kTileRows; ++i)
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      double* to = c + i * row_step + v * kWidth;
      store_unaligned(to, first ? tile.value[i][v] : Form::joined(load_unaligned(to), tile.value[i][v]));
    }
  for (std::size_t i = 0; !whole && i < rows; ++i) {
    alignas(64) double line[kTileColumns];
    for (std::size_t v = 0; v < kTileVectors; ++v) store(line + v * kWidth, tile.value[i][v]);
    double* to = c + i * row_step;
    for (std::size_t j = 0; j < columns; ++j) to[j] = first ? line[j] : Form::joined(to[j], line[j]);
  }
}

template <class Form>
void product(const MatrixProduct& task, double* workspace) {
  double* const packed_a = workspace;
  double* const packed_b = workspace + kProductRows * kProductDepth;
  for (std::size_t k = 0; k < task.depth; k += kProductDepth) {
    const std::size_t depth = least(kProductDepth, task.depth - k);
    for (std::size_t i = 0; i < task.rows; i += kTileRows)
      pack<kTileRows>(task.a.data + i * task.a.row_step + k * task.a.column_step, task.a.row_step, task.a.column_step,
                      least(kTileRows, task.rows - i), depth, packed_a + i * depth);
    for (std::size_t j = 0; j < task.columns; j += kTileColumns) {
      const std::size_t columns = least(kTileColumns, task.columns - j);
      pack<kTileColumns>(task.b.data + k * task.b.row_step + j * task.b.column_step, task.b.column_step,
                         task.b.row_step, columns, depth, packed_b);
      for (std::size_t i = 0; i < task.rows; i += kTileRows)
        write<Form>(tile_product<Form>(packed_a + i * depth, packed_b, depth), task.c + i * task.c_row_step + j,
                    task.c_row_step, least(kTileRows, task.rows - i), columns, k == 0);
    }
  }
}

}  // namespace

const OrderKernels SILVERBIRCH_KERNELS(order_kernels) = {product<MinPlus>, product<SquaredDistance>};

}  // namespace silverbirch
