// Lower bounds of squared linkage distances for tiles of clusters, in float32 or from bytes. Pairs whose bound is too
// large are discarded; the others are measured in float64 (BlockKernels::squared_gap). panel_units.hpp derives the
// error bounds; pair_filter.cpp holds the loops.
//
// No number computed here enters a result. So multiply-add may be fused, and bits may differ between instruction sets;
// the error bounds hold either way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "silverbirch/base/switches.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

// A panel holds 32 clusters, a packed group eight queries. Row k holds coordinate k of all of them. Three rows follow:
// the squared norms (rounded down), the conversion errors (rounded up) and the terms of the linkage. In panels of bytes
// an element holds four coordinates as signed bytes, and two more rows follow: the scale of the bytes, and their sum.
inline constexpr std::size_t kPanelLanes = 32, kGroupLanes = 8;
enum PanelRow : std::size_t { kNormRow, kErrorRow, kTermRow, kPanelExtraRows };
enum BytePanelRow : std::size_t { kScaleRow = kPanelExtraRows, kSumRow, kBytePanelExtraRows };

constexpr std::size_t byte_rows(std::size_t dim) { return (dim + 3) / 4; }
// Up to this many products of bytes sum up without overflow, and float32 holds the sum of as many bytes exactly.
inline constexpr std::size_t kMostByteDimensions = std::size_t{1} << 16;

constexpr std::size_t panel_floats(std::size_t dim) { return (dim + kPanelExtraRows) * kPanelLanes; }
constexpr std::size_t group_floats(std::size_t dim) { return (dim + kPanelExtraRows) * kGroupLanes; }

// Longer sums are added up from parts of this many rows. The panel's rows of one part stay in the nearest cache, and
// rounding errors grow with the length of a part, not with dim.
inline constexpr std::size_t kFilterPart = 128;

// Each form is more precise and slower than the one before.
//   bytes        |a|² + |b|² - 2ab of rows rounded to one byte per coordinate; needs AVX-512 VNNI
//   product      the same in float32; its error is relative to the norms
//   difference   Σ(a - b)² in float32; its error is relative to the gap itself
enum class FilterForm { bytes, product, difference };
inline constexpr std::size_t kFilterForms = 3;
// ward: gap / (1/n_a + 1/n_b); the term is 1/n. average: gap + v_a + v_b; the term is the variance v.
enum class FilterLinkage { ward, average };

struct FilterTile {
  const float* panel;
  const float* groups;  // consecutive groups of queries; the last one may be partly filled
  std::size_t query_count;
  std::size_t rows;  // rows of coordinates in the panel
  float shrink;      // a sum of squared differences times this is a lower bound
  const float* query_cuts;
  const float* panel_cuts;  // one for each lane
  float* bounds;            // kPanelLanes for each query
  std::uint32_t* hits;      // of each query: bit l is set if the bound of lane l is below the query's cut or the lane's
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
