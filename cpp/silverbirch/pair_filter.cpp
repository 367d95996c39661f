// Compiled once per instruction set, and alone with fused multiply-add where there is one: see pair_filter.hpp.
// SILVERBIRCH_PAIR_FILTER names the table it defines; all else has internal linkage, and no standard-library template
// is instantiated here, so no code for a new processor can leak into the rest.
#include "pair_filter.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define SILVERBIRCH_INLINE inline __attribute__((always_inline))

namespace silverbirch {
namespace {

// As many sums at once as the registers hold beside a row of the panel; for a query or two, no more than needed.
#if defined(__AVX512F__)
constexpr std::size_t kWidth = 16, kQueriesAtOnce = 8;
#elif defined(__AVX__)
constexpr std::size_t kWidth = 8, kQueriesAtOnce = 2;
#else
constexpr std::size_t kWidth = 4, kQueriesAtOnce = 1;
#endif
constexpr std::size_t kFewQueries = kQueriesAtOnce < 2 ? kQueriesAtOnce : 2;
constexpr std::size_t kVectors = kPanelLanes / kWidth;

typedef float Vector __attribute__((vector_size(kWidth * sizeof(float)), may_alias));
typedef std::int32_t Comparison __attribute__((vector_size(kWidth * sizeof(float))));

SILVERBIRCH_INLINE Vector load(const float* p) { return *reinterpret_cast<const Vector*>(p); }
SILVERBIRCH_INLINE void store(float* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
SILVERBIRCH_INLINE Vector broadcast(float value) { return value - Vector{}; }

SILVERBIRCH_INLINE std::uint32_t bits(Comparison yes) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(yes));
#elif defined(__AVX__)
  return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(yes)));
#elif defined(__SSE2__)
  return static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(yes)));
#else
  std::uint32_t mask = 0;
  for (std::size_t l = 0; l < kWidth; ++l) mask |= yes[l] ? 1u << l : 0u;
  return mask;
#endif
}

struct Product {
  static constexpr PanelRow kRow = kNormRow;
  static SILVERBIRCH_INLINE Vector add(Vector sum, Vector a, Vector b) { return sum + a * b; }
  static SILVERBIRCH_INLINE Vector gap(Vector sum, float norm_a, Vector norm_b, float) {
    return (norm_a + norm_b) - 2.0f * sum;
  }
};

struct Difference {
  static constexpr PanelRow kRow = kErrorRow;
  static SILVERBIRCH_INLINE Vector add(Vector sum, Vector a, Vector b) {
    const Vector difference = a - b;
    return sum + difference * difference;
  }
  static SILVERBIRCH_INLINE Vector gap(Vector sum, float error_a, Vector error_b, float shrink) {
    return shrink * sum - (error_a + error_b);
  }
};

// The last factor outweighs the roundings of these few operations.
constexpr float kLess = 1.0f - 1e-6f;

struct WardBound {
  static SILVERBIRCH_INLINE Vector of(Vector gap, float term_a, Vector term_b) {
    return gap / (term_a + term_b) * kLess;
  }
};

struct AverageBound {
  static SILVERBIRCH_INLINE Vector of(Vector gap, float term_a, Vector term_b) {
    return (gap + (term_a + term_b)) * kLess;
  }
};

// Adds the share of dimensions begin..end-1 to the sums of some queries of a group with a panel.
template <class Form, std::size_t kCount>
SILVERBIRCH_INLINE void add_part(const float* panel, const float* queries, std::size_t begin, std::size_t end,
                                 float* sums) {
  Vector part[kCount][kVectors];
  for (std::size_t q = 0; q < kCount; ++q)
    for (std::size_t v = 0; v < kVectors; ++v) part[q][v] = Vector{};
  for (std::size_t k = begin; k < end; ++k) {
    Vector row[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) row[v] = load(panel + k * kPanelLanes + v * kWidth);
    for (std::size_t q = 0; q < kCount; ++q) {
      const Vector coordinate = broadcast(queries[k * kGroupLanes + q]);
      for (std::size_t v = 0; v < kVectors; ++v) part[q][v] = Form::add(part[q][v], row[v], coordinate);
    }
  }
  for (std::size_t q = 0; q < kCount; ++q)
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* sum = sums + q * kPanelLanes + v * kWidth;
      store(sum, begin == 0 ? part[q][v] : load(sum) + part[q][v]);
    }
}

// Turns a query's sums into bounds and says which are less than a cut.
template <class Form, class Bound>
SILVERBIRCH_INLINE std::uint32_t to_bounds(const FilterTile& tile, const float* query_row, float query_cut,
                                           float* sums) {
  const float* panel_row = tile.panel + tile.dim * kPanelLanes;
  std::uint32_t hits = 0;
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t lane = v * kWidth;
    const Vector gap = Form::gap(load(sums + lane), query_row[Form::kRow * kGroupLanes],
                                 load(panel_row + Form::kRow * kPanelLanes + lane), tile.shrink);
    const Vector bound =
        Bound::of(gap, query_row[kTermRow * kGroupLanes], load(panel_row + kTermRow * kPanelLanes + lane));
    store(sums + lane, bound);
    hits |= bits((bound < broadcast(query_cut)) | (bound < load(tile.panel_cuts + lane))) << lane;
  }
  return hits;
}

template <class Form, class Bound>
void bounds(const FilterTile& tile) {
  for (std::size_t begin = 0; begin < tile.dim; begin += kFilterPart) {
    const std::size_t end = begin + kFilterPart < tile.dim ? begin + kFilterPart : tile.dim;
    for (std::size_t query = 0; query < tile.query_count;) {
      const float* queries = tile.groups + query / kGroupLanes * group_floats(tile.dim) + query % kGroupLanes;
      float* sums = tile.bounds + query * kPanelLanes;
      if (tile.query_count - query <= kFewQueries) {
        add_part<Form, kFewQueries>(tile.panel, queries, begin, end, sums);
        query += kFewQueries;
      } else {
        add_part<Form, kQueriesAtOnce>(tile.panel, queries, begin, end, sums);
        query += kQueriesAtOnce;
      }
    }
  }
  for (std::size_t query = 0; query < tile.query_count; ++query) {
    const float* query_row = tile.groups + query / kGroupLanes * group_floats(tile.dim) + tile.dim * kGroupLanes;
    tile.hits[query] = to_bounds<Form, Bound>(tile, query_row + query % kGroupLanes, tile.query_cuts[query],
                                              tile.bounds + query * kPanelLanes);
  }
}

}  // namespace

extern const PairFilter SILVERBIRCH_PAIR_FILTER;
const PairFilter SILVERBIRCH_PAIR_FILTER = {{{
    {bounds<Product, WardBound>, bounds<Product, AverageBound>},
    {bounds<Difference, WardBound>, bounds<Difference, AverageBound>},
}}};

}  // namespace silverbirch
