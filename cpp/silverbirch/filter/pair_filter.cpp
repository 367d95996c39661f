// Compiled once per instruction set, see simd/kernel_table.hpp. Only this file is compiled with fused multiply-add,
// where the processor has it.
#include "silverbirch/filter/pair_filter.hpp"

#include "silverbirch/simd/float_vector.hpp"

namespace silverbirch {
namespace {

// How many queries are summed at once: as many as the registers hold beside a row of the panel, or two if no more are
// left.
constexpr std::size_t kQueriesAtOnce = kWidth == 16 ? 8 : kWidth == 8 ? 2 : 1;
constexpr std::size_t kFewQueries = kQueriesAtOnce < 2 ? kQueriesAtOnce : 2;
constexpr std::size_t kVectors = kPanelLanes / kWidth;

template <class Value>
SILVERBIRCH_INLINE Value load_as(const float* p) {
  return *reinterpret_cast<const Value*>(p);
}
template <class Value>
SILVERBIRCH_INLINE void store_as(float* p, Value v) {
  *reinterpret_cast<Value*>(p) = v;
}

// The extra rows of one query and of some lanes of a panel.
struct ExtraRows {
  const float *query, *panel;

  SILVERBIRCH_INLINE float of_query(std::size_t row) const { return query[row * kGroupLanes]; }
  SILVERBIRCH_INLINE Floats of_panel(std::size_t row) const { return load(panel + row * kPanelLanes); }
  SILVERBIRCH_INLINE Floats sum(std::size_t row) const { return of_query(row) + of_panel(row); }
};

struct FloatForm {
  static constexpr std::size_t kExtraRows = kPanelExtraRows;
  typedef Floats Value;
  static SILVERBIRCH_INLINE Floats spread(const float* coordinate) { return broadcast(*coordinate); }
};

struct Product : FloatForm {
  static SILVERBIRCH_INLINE Floats add(Floats sum, Floats a, Floats b) { return sum + a * b; }
  static SILVERBIRCH_INLINE Floats gap(Floats sum, const ExtraRows& extra, float) {
    return extra.sum(kNormRow) - 2.0f * sum;
  }
};

struct Difference : FloatForm {
  static SILVERBIRCH_INLINE Floats add(Floats sum, Floats a, Floats b) {
    const Floats difference = a - b;
    return sum + difference * difference;
  }
  static SILVERBIRCH_INLINE Floats gap(Floats sum, const ExtraRows& extra, float shrink) {
    return shrink * sum - extra.sum(kErrorRow);
  }
};

#if defined(__AVX512VNNI__)
// Adds four products of bytes at once to each integer, exactly. The instruction takes one side as unsigned bytes: the
// panel's, with 128 added to each. The sum is then too large by 128 times the sum of the query's bytes; gap() subtracts
// that.
struct Bytes {
  static constexpr std::size_t kExtraRows = kBytePanelExtraRows;
  typedef Ints Value;
  static SILVERBIRCH_INLINE Ints spread(const float* coordinates) {
    return *reinterpret_cast<const Word*>(coordinates) - Ints{};
  }
  static SILVERBIRCH_INLINE Ints add(Ints sum, Ints a, Ints b) {
    return reinterpret_cast<Ints>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
                                                      reinterpret_cast<__m512i>(a ^ static_cast<int>(0x80808080)),
                                                      reinterpret_cast<__m512i>(b)));
  }
  static SILVERBIRCH_INLINE Floats gap(Ints sum, const ExtraRows& extra, float) {
    const auto excess = 128 * static_cast<std::int32_t>(extra.of_query(kSumRow));
    const Floats product = __builtin_convertvector(sum - excess, Floats);
    const Floats squared = extra.sum(kNormRow) - 2.0f * extra.of_query(kScaleRow) * product * extra.of_panel(kScaleRow);
    const Floats least = root(positive(squared)) - extra.sum(kErrorRow);
    return positive(least) * positive(least);
  }

 private:
  typedef std::int32_t Word __attribute__((may_alias));
  static SILVERBIRCH_INLINE Floats positive(Floats v) { return v > Floats{} ? v : Floats{}; }
};
#endif

// This factor outweighs the roundings of the few operations of a bound.
constexpr float kLess = 1.0f - 1e-6f;
// The rounding of quotients below the least normal float is far smaller than this.
constexpr float kTiny = 1e-36f;

struct WardBound {
  static SILVERBIRCH_INLINE Floats of(Floats gap, Floats terms) { return gap / terms * kLess - kTiny; }
};

struct AverageBound {
  static SILVERBIRCH_INLINE Floats of(Floats gap, Floats terms) { return (gap + terms) * kLess; }
};

// Adds the contribution of rows begin … end - 1 to the sums of kCount queries with all lanes of a panel.
template <class Form, std::size_t kCount>
SILVERBIRCH_INLINE void add_part(const float* panel, const float* queries, std::size_t begin, std::size_t end,
                                 float* sums) {
  typedef typename Form::Value Value;
  Value part[kCount][kVectors];
  for (std::size_t q = 0; q < kCount; ++q)
    for (std::size_t v = 0; v < kVectors; ++v) part[q][v] = Value{};
  for (std::size_t k = begin; k < end; ++k) {
    Value row[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) row[v] = load_as<Value>(panel + k * kPanelLanes + v * kWidth);
    for (std::size_t q = 0; q < kCount; ++q) {
      const Value coordinate = Form::spread(queries + k * kGroupLanes + q);
      for (std::size_t v = 0; v < kVectors; ++v) part[q][v] = Form::add(part[q][v], row[v], coordinate);
    }
  }
  for (std::size_t q = 0; q < kCount; ++q)
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* sum = sums + q * kPanelLanes + v * kWidth;
      store_as(sum, begin == 0 ? part[q][v] : load_as<Value>(sum) + part[q][v]);
    }
}

// Turns the sums of one query into bounds. Bit l of the result is set if the bound of lane l is below one of its cuts.
template <class Form, class Bound>
SILVERBIRCH_INLINE std::uint32_t to_bounds(const FilterTile& tile, const float* query_row, float query_cut,
                                           float* sums) {
  const float* panel_row = tile.panel + tile.rows * kPanelLanes;
  std::uint32_t hits = 0;
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t lane = v * kWidth;
    const ExtraRows extra{query_row, panel_row + lane};
    const Floats gap = Form::gap(load_as<typename Form::Value>(sums + lane), extra, tile.shrink);
    const Floats bound = Bound::of(gap, extra.sum(kTermRow));
    store(sums + lane, bound);
    hits |= lanes((bound < broadcast(query_cut)) | (bound < load(tile.panel_cuts + lane))) << lane;
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

const PairFilter SILVERBIRCH_KERNELS(pair_filter) = {{{
#if defined(__AVX512VNNI__)
    {bounds<Bytes, WardBound>, bounds<Bytes, AverageBound>},
#else
    {nullptr, nullptr},
#endif
    {bounds<Product, WardBound>, bounds<Product, AverageBound>},
    {bounds<Difference, WardBound>, bounds<Difference, AverageBound>},
}}};

}  // namespace silverbirch
