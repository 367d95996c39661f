// Lower bounds of squared linkage distances in float32 or from bytes, for tiles of clusters: what cannot be near is
// thrown out here, and what may be is measured again in float64 (BlockKernels::squared_gap). The error bounds are in
// panel_units.hpp, the loops in pair_filter.cpp.
//
// Nothing that is computed here enters a result, so multiply-add may be fused and the bits may differ between
// instruction sets; the error bounds hold with and without.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

// A panel is a run of clusters, a packed group a run of queries: row k holds coordinate k of all, then follow a row
// each of squared norms (rounded down), conversion errors (rounded up) and terms of the linkage. Panels of bytes hold
// four coordinates in the place of a float, as signed bytes, and have two rows more: what a byte is multiplied by, and
// the sum of the bytes.
inline constexpr std::size_t kPanelLanes = 32, kGroupLanes = 8;
enum PanelRow : std::size_t { kNormRow, kErrorRow, kTermRow, kPanelExtraRows };
enum BytePanelRow : std::size_t { kScaleRow = kPanelExtraRows, kSumRow, kBytePanelExtraRows };

constexpr std::size_t byte_rows(std::size_t dim) { return (dim + 3) / 4; }
// Sums of so many products of bytes cannot overflow, and float32 holds sums of so many bytes.
inline constexpr std::size_t kMostByteDimensions = std::size_t{1} << 16;

constexpr std::size_t panel_floats(std::size_t dim) { return (dim + kPanelExtraRows) * kPanelLanes; }
constexpr std::size_t group_floats(std::size_t dim) { return (dim + kPanelExtraRows) * kGroupLanes; }

// Sums over more rows than this are sums of partial sums: it keeps a panel's share in the nearest cache, and rounding
// errors grow with the length of a part, not with dim.
inline constexpr std::size_t kFilterPart = 128;

// Each more precise and slower than the one before. bytes: |a|² + |b|² - 2ab of rows rounded to a byte a coordinate;
// only where the processor sums products of bytes. product: the same in float32, its error relative to the norms.
// difference: Σ(a - b)², its error relative to itself.
enum class FilterForm { bytes, product, difference };
inline constexpr std::size_t kFilterForms = 3;
// ward: gap / (1/n_a + 1/n_b), the term is 1/n. average: gap + v_a + v_b, the term is the variance.
enum class FilterLinkage { ward, average };

struct FilterTile {
  const float* panel;
  const float* groups;  // consecutive groups of queries, the last one perhaps not full
  std::size_t query_count;
  std::size_t rows;  // of coordinates
  float shrink;      // what a sum of squared differences is multiplied by, to be a lower bound
  const float* query_cuts;
  const float* panel_cuts;  // kPanelLanes
  float* bounds;            // kPanelLanes a query
  std::uint32_t* hits;      // a query: bit l if its bound for lane l is less than its own cut or the lane's
};

struct PairFilter {
  using Bounds = void (*)(const FilterTile& tile);
  std::array<std::array<Bounds, 2>, kFilterForms> bounds;  // [FilterForm][FilterLinkage]; null: not on this processor

  bool has_bytes() const { return bounds[0][0] != nullptr; }
  void operator()(FilterForm form, FilterLinkage linkage, const FilterTile& tile) const {
    bounds[static_cast<std::size_t>(form)][static_cast<std::size_t>(linkage)](tile);
  }
};

// The one room with a table of its own for AVX-512 VNNI, which sums products of bytes.
#if defined(__x86_64__)
extern const PairFilter pair_filter_baseline, pair_filter_avx2, pair_filter_avx512, pair_filter_avx512vnni;
SILVERBIRCH_INLINE const PairFilter& pair_filter() {
  return table_in_use(pair_filter_baseline, pair_filter_avx2, pair_filter_avx512, pair_filter_avx512vnni);
}
#else
SILVERBIRCH_KERNEL_TABLE(PairFilter, pair_filter)
#endif

}  // namespace silverbirch
