// Compiled once per instruction set, and alone with fused multiply-add where there is one: see pair_filter.hpp.
// SILVERBIRCH_PAIR_FILTER names the table it defines; all else has internal linkage, and no standard-library template
// is instantiated here, so no code for a new processor can leak into the rest.
#include "silverbirch/filter/pair_filter.hpp"

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
typedef std::int32_t Integers __attribute__((vector_size(kWidth * sizeof(float)), may_alias));

template <class Value = Vector>
SILVERBIRCH_INLINE Value load(const float* p) {
  return *reinterpret_cast<const Value*>(p);
}
template <class Value>
SILVERBIRCH_INLINE void store(float* p, Value v) {
  *reinterpret_cast<Value*>(p) = v;
}
SILVERBIRCH_INLINE Vector broadcast(float value) { return value - Vector{}; }

SILVERBIRCH_INLINE std::uint32_t bits(Integers yes) {
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

// The extra rows of a query and of some lanes of a panel.
struct ExtraRows {
  const float *query, *panel;

  SILVERBIRCH_INLINE float of_query(std::size_t row) const { return query[row * kGroupLanes]; }
  SILVERBIRCH_INLINE Vector of_panel(std::size_t row) const { return load(panel + row * kPanelLanes); }
  SILVERBIRCH_INLINE Vector sum(std::size_t row) const { return of_query(row) + of_panel(row); }
};

struct Floats {
  static constexpr std::size_t kExtraRows = kPanelExtraRows;
  typedef Vector Value;
  static SILVERBIRCH_INLINE Vector spread(const float* coordinate) { return broadcast(*coordinate); }
};

struct Product : Floats {
  static SILVERBIRCH_INLINE Vector add(Vector sum, Vector a, Vector b) { return sum + a * b; }
  static SILVERBIRCH_INLINE Vector gap(Vector sum, const ExtraRows& extra, float) {
    return extra.sum(kNormRow) - 2.0f * sum;
  }
};

struct Difference : Floats {
  static SILVERBIRCH_INLINE Vector add(Vector sum, Vector a, Vector b) {
    const Vector difference = a - b;
    return sum + difference * difference;
  }
  static SILVERBIRCH_INLINE Vector gap(Vector sum, const ExtraRows& extra, float shrink) {
    return shrink * sum - extra.sum(kErrorRow);
  }
};

#if defined(__AVX512VNNI__)
// Four products of bytes at once are added to each integer, exactly. The instruction takes the bytes of one side
// without a sign: those of the panel with 128 added, which makes 128 times the sum of the query's bytes too much.
struct Bytes {
  static constexpr std::size_t kExtraRows = kBytePanelExtraRows;
  typedef Integers Value;
  static SILVERBIRCH_INLINE Integers spread(const float* coordinates) {
    return *reinterpret_cast<const Word*>(coordinates) - Integers{};
  }
  static SILVERBIRCH_INLINE Integers add(Integers sum, Integers a, Integers b) {
    return reinterpret_cast<Integers>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
                                                          reinterpret_cast<__m512i>(a ^ static_cast<int>(0x80808080)),
                                                          reinterpret_cast<__m512i>(b)));
  }
  static SILVERBIRCH_INLINE Vector gap(Integers sum, const ExtraRows& extra, float) {
    const auto excess = 128 * static_cast<std::int32_t>(extra.of_query(kSumRow));
    const Vector product = __builtin_convertvector(sum - excess, Vector);
    const Vector squared = extra.sum(kNormRow) - 2.0f * extra.of_query(kScaleRow) * product * extra.of_panel(kScaleRow);
    const Vector least = root(positive(squared)) - extra.sum(kErrorRow);
    return positive(least) * positive(least);
  }

 private:
  typedef std::int32_t Word __attribute__((may_alias));
  static SILVERBIRCH_INLINE Vector positive(Vector v) { return v > Vector{} ? v : Vector{}; }
  static SILVERBIRCH_INLINE Vector root(Vector v) {
    return reinterpret_cast<Vector>(_mm512_sqrt_ps(reinterpret_cast<__m512>(v)));
  }
};
#endif

// The last factor outweighs the roundings of these few operations.
constexpr float kLess = 1.0f - 1e-6f;
// Quotients smaller than the least normal float have a rounding of their own, far below this.
constexpr float kTiny = 1e-36f;

struct WardBound {
  static SILVERBIRCH_INLINE Vector of(Vector gap, Vector terms) { return gap / terms * kLess - kTiny; }
};

struct AverageBound {
  static SILVERBIRCH_INLINE Vector of(Vector gap, Vector terms) { return (gap + terms) * kLess; }
};

// Adds the share of rows begin..end-1 to the sums of some queries of a group with a panel.
template <class Form, std::size_t kCount>
SILVERBIRCH_INLINE void add_part(const float* panel, const float* queries, std::size_t begin, std::size_t end,
                                 float* sums) {
  typedef typename Form::Value Value;
  Value part[kCount][kVectors];
  for (std::size_t q = 0; q < kCount; ++q)
    for (std::size_t v = 0; v < kVectors; ++v) part[q][v] = Value{};
  for (std::size_t k = begin; k < end; ++k) {
    Value row[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) row[v] = load<Value>(panel + k * kPanelLanes + v * kWidth);
    for (std::size_t q = 0; q < kCount; ++q) {
      const Value coordinate = Form::spread(queries + k * kGroupLanes + q);
      for (std::size_t v = 0; v < kVectors; ++v) part[q][v] = Form::add(part[q][v], row[v], coordinate);
    }
  }
  for (std::size_t q = 0; q < kCount; ++q)
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* sum = sums + q * kPanelLanes + v * kWidth;
      store(sum, begin == 0 ? part[q][v] : load<Value>(sum) + part[q][v]);
    }
}

// Turns a query's sums into bounds and says which are less than a cut.
template <class Form, class Bound>
SILVERBIRCH_INLINE std::uint32_t to_bounds(const FilterTile& tile, const float* query_row, float query_cut,
                                           float* sums) {
  const float* panel_row = tile.panel + tile.rows * kPanelLanes;
  std::uint32_t hits = 0;
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t lane = v * kWidth;
    const ExtraRows extra{query_row, panel_row + lane};
    const Vector gap = Form::gap(load<typename Form::Value>(sums + lane), extra, tile.shrink);
    const Vector bound = Bound::of(gap, extra.sum(kTermRow));
    store(sums + lane, bound);
    hits |= bits((bound < broadcast(query_cut)) | (bound < load(tile.panel_cuts + lane))) << lane;
  }
  return hits;
}

template <class Form, class Bound>
void bounds(const FilterTile& tile) {
  const std::size_t group_floats = (tile.rows + Form::kExtraRows) * kGroupLanes;
  for (std::size_t begin = 0; begin < tile.rows; begin += kFilterPart) {
    const std::size_t end = begin + kFilterPart < tile.rows ? begin + kFilterPart : tile.rows;
    for (std::size_t query = 0; query < tile.query_count;) {
      const float* queries = tile.groups + query / kGroupLanes * group_floats + query % kGroupLanes;
      float* sums = tile.bounds + query * kPanelLanes;
      if (on(Mechanism::few_queries) && tile.query_count - query <= kFewQueries) {
        add_part<Form, kFewQueries>(tile.panel, queries, begin, end, sums);
        query += kFewQueries;
      } else {
        add_part<Form, kQueriesAtOnce>(tile.panel, queries, begin, end, sums);
        query += kQueriesAtOnce;
      }
    }
  }
  for (std::size_t query = 0; query < tile.query_count; ++query) {
    const float* query_row = tile.groups + query / kGroupLanes * group_floats + tile.rows * kGroupLanes;
    tile.hits[query] = to_bounds<Form, Bound>(tile, query_row + query % kGroupLanes, tile.query_cuts[query],
                                              tile.bounds + query * kPanelLanes);
  }
}

}  // namespace

extern const PairFilter SILVERBIRCH_PAIR_FILTER;
const PairFilter SILVERBIRCH_PAIR_FILTER = {{{
#if defined(__AVX512VNNI__)
    {bounds<Bytes, WardBound>, bounds<Bytes, AverageBound>},
#else
    {nullptr, nullptr},
#endif
    {bounds<Product, WardBound>, bounds<Product, AverageBound>},
    {bounds<Difference, WardBound>, bounds<Difference, AverageBound>},
}}};

}  // namespace silverbirch
