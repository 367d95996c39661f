// Searches the float routing copies of a node for the nearest entry; wide_routing.hpp searches integer copies. Only for
// files that are compiled once per instruction set: everything has internal linkage.
#pragma once

#include "silverbirch/base/switches.hpp"
#include "silverbirch/simd/float_vector.hpp"
#include "silverbirch/tree/kernels/routes.hpp"
#include "silverbirch/tree/kernels/tree_kernels.hpp"

namespace silverbirch {
namespace {

// The values of kWidth entries from slot s on; lanes are entries. Empty slots are stored so far away that they never
// win. D: the number of dimensions if it is known at compile time, else 0.
template <class Kind, std::size_t D>
SILVERBIRCH_INLINE Floats values_at(const float* routing, std::size_t slots, std::size_t runtime_dim,
                                    const RouteQuery& query, std::size_t s) {
  const std::size_t dim = D > 0 ? D : runtime_dim;
  const float* row = routing + s;
  Floats gap = first_gap<Kind>(query.position[0] - load(row));
  for (std::size_t k = 1; k < dim; ++k) gap = add_gap<Kind>(gap, query.position[k] - load(row + k * slots));
  return Kind::value(gap, load(row + dim * slots), load(row + (dim + 1) * slots), query);
}

// Keeps, in each lane, the two smallest values.
class Lowest {
 public:
  explicit SILVERBIRCH_INLINE Lowest(const NodeShape& shape) : number_bits_(shape.number_bits) {
    for (std::size_t l = 0; l < kWidth; ++l) number_[l] = static_cast<int>(l);
  }

  // Adds the values of the next slots. The slot number replaces the lowest bits of the value, so one minimum finds
  // both.
  SILVERBIRCH_INLINE void next(Floats value) {
    const Floats numbered = (Floats)(((Ints)value & ~number_bits_) | number_);
    number_ += static_cast<int>(kWidth);
    second_ = smaller(second_, larger(lowest_, numbered));
    lowest_ = smaller(lowest_, numbered);
  }

  SILVERBIRCH_INLINE float value() const { return least(lowest_); }
  SILVERBIRCH_INLINE std::size_t slot(float value) const {
    return static_cast<std::size_t>(__builtin_bit_cast(int, value) & number_bits_);
  }
  SILVERBIRCH_INLINE bool alone(float value, float limit) const {
    return lanes_up_to(lowest_ == broadcast(value) ? second_ : lowest_, limit) == 0;
  }

 private:
  int number_bits_;
  Ints number_;
  Floats lowest_ = broadcast(3e38f), second_ = lowest_;
};

template <class Kind, std::size_t D>
Candidates nearest_entry(const float* routing, const NodeShape& shape, std::size_t count, const RouteQuery& query,
                         float* values) {
  Lowest lowest(shape);
  for (std::size_t s = 0; s < count; s += kWidth)
    lowest.next(values_at<Kind, D>(routing, shape.slots, shape.dim, query, s));
  const float winner = lowest.value(), limit = doubtful_limit<Kind>(winner, shape, query.squared_norm);
  const std::size_t slot = lowest.slot(winner);
  if (lowest.alone(winner, limit)) return {slot, limit, true};
  for (std::size_t s = 0; s < shape.slots; s += kWidth)
    store(values + s, values_at<Kind, D>(routing, shape.slots, shape.dim, query, s));
  return {slot, limit, false};
}

// For four rows: finds the slot of the least value, and whether rounding leaves no doubt about it. The minimum across
// lanes is a chain of dependent operations, so it is computed for all four rows together.
template <std::size_t Vectors>
SILVERBIRCH_INLINE void decide_four(RowSearch* searches, const Floats (*values)[Vectors], const NodeShape& shape) {
  Floats lowest[4];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
    lowest[i] = values[i][0];
#pragma GCC unroll 16
    for (std::size_t v = 1; v < Vectors; ++v) lowest[i] = smaller(lowest[i], values[i][v]);
  }
  const Four winners = least_of(lowest);
  const Four norms = {searches[0].query->squared_norm, searches[1].query->squared_norm, searches[2].query->squared_norm,
                      searches[3].query->squared_norm};
  const Four limits = doubtful_limit<WardRowRoute>(winners, shape, norms);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
    const Floats limit = broadcast(limits[i]);
    std::uint64_t within = 0;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < Vectors; ++v) within |= std::uint64_t{lanes_up_to(values[i][v], limit)} << (v * kWidth);
    searches[i].slot = static_cast<std::uint32_t>(__builtin_ctzll(within));
    searches[i].sure = (within & (within - 1)) == 0;
  }
}

// Searches the first `Slots` slots of four nodes, one for each row. All loops are unrolled, so the values stay in
// registers.
template <std::size_t D, std::size_t Slots>
SILVERBIRCH_INLINE void nearest_of_four(RowSearch* searches, const NodeShape& shape) {
  constexpr std::size_t vectors = Slots / kWidth;
  Floats values[4][vectors];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < vectors; ++v)
      values[i][v] = values_at<WardRowRoute, D>(searches[i].routing, kGroupedSlots, D, *searches[i].query, v * kWidth);
  }
  decide_four<vectors>(searches, values, shape);
}

// Searches as many slots of every node as the fullest node needs. A loop for each node, whose end the processor cannot
// predict, would cost more.
template <std::size_t D>
void nearest_of_rows(RowSearch* searches, std::size_t count, const NodeShape& shape) {
  std::uint32_t most_entries = on(Mechanism::fewer_slots) ? 0 : kGroupedSlots;
  for (std::size_t i = 0; i < count; ++i)
    if (searches[i].count > most_entries) most_entries = searches[i].count;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    if (most_entries <= 16)
      nearest_of_four<D, 16>(searches + i, shape);
    else if (most_entries <= 32)
      nearest_of_four<D, 32>(searches + i, shape);
    else if (most_entries <= 48)
      nearest_of_four<D, 48>(searches + i, shape);
    else
      nearest_of_four<D, 64>(searches + i, shape);
  }
  for (; i < count; ++i) searches[i].sure = false;
}

// The gap of slots that are skipped, about that of an empty slot. It is small enough for the value not to overflow.
template <class Kind>
constexpr float kEmptyGap = Kind::manhattan_gap ? 1e18f : 1e35f;

// The gaps of four consecutive entries that start at `mean`.
template <class Kind>
SILVERBIRCH_INLINE Four four_gaps(const float* mean, std::size_t width, const float* position) {
  Floats sums[4] = {};
  for (std::size_t k = 0; k < width; k += kWidth) {
    const Floats here = load(position + k);
    for (std::size_t i = 0; i < 4; ++i) sums[i] = add_gap<Kind>(sums[i], here - load(mean + i * width + k));
  }
  return sums_of(sums);
}

// For many dimensions. Lanes are dimensions while gaps are summed up, and entries afterwards. A mean is read as a
// whole: the first dimensions alone would rule out some entries, but coming back for the rest takes longer than reading
// all.
template <class Kind>
Candidates nearest_wide_entry(const float* routing, const NodeShape& shape, std::size_t count, const RouteQuery& query,
                              float* values) {
  const float* first_row = routing + shape.mean_floats;
  const float* second_row = first_row + shape.slots;
  const std::size_t width = shape.entry_floats;
  Lowest lowest(shape);
  for (std::size_t s = 0; s < count; s += kWidth) {
    Four gaps[kWidth / 4];
    for (std::size_t q = 0; q < kWidth / 4; ++q) {
      const std::size_t begin = s + 4 * q;
      gaps[q] =
          begin < count ? four_gaps<Kind>(routing + begin * width, width, query.position) : kEmptyGap<Kind> - Four{};
    }
    const Floats value = Kind::value(joined(gaps), load(first_row + s), load(second_row + s), query);
    store(values + s, value);
    lowest.next(value);
  }
  const float winner = lowest.value(), limit = doubtful_limit<Kind>(winner, shape, query.squared_norm);
  return {lowest.slot(winner), limit, lowest.alone(winner, limit)};
}

// For many dimensions and nodes of kWideGroupedSlots. One loop goes through the groups of four entries of all nodes.
// With a loop for each node, the processor could not predict the end of the loop, and would not prefetch the next node.
void nearest_of_wide_rows(RowSearch* searches, std::size_t count, const NodeShape& shape) {
  if (count < 4) {
    for (std::size_t i = 0; i < count; ++i) searches[i].sure = false;
    return;
  }
  constexpr std::size_t fours = kWideGroupedSlots / 4, vectors = kWideGroupedSlots / kWidth;
  const std::size_t width = shape.entry_floats;
  std::uint32_t work[(kMostGrouped + 1) * fours];
  alignas(64) float gaps[kMostGrouped * kWideGroupedSlots];
  std::size_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t f = 0; f < fours; ++f) work[end + f] = static_cast<std::uint32_t>(i * fours + f);
    end += (searches[i].count + 3) / 4;
    for (std::size_t v = 0; v < vectors; ++v)
      store(gaps + i * kWideGroupedSlots + v * kWidth, broadcast(kEmptyGap<WardRowRoute>));
  }
  for (std::size_t w = 0; w < end; ++w) {
    const RowSearch& search = searches[work[w] / fours];
    reinterpret_cast<Four*>(gaps)[work[w]] =
        four_gaps<WardRowRoute>(search.routing + work[w] % fours * 4 * width, width, search.query->position);
  }
  for (std::size_t i = 0; i < count; i += 4) {
    const std::size_t first = i + 4 <= count ? i : count - 4;
    Floats values[4][vectors];
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t v = 0; v < vectors; ++v)
        values[r][v] = load(gaps + (first + r) * kWideGroupedSlots + v * kWidth) *
                       load(searches[first + r].routing + shape.mean_floats + v * kWidth);
    decide_four<vectors>(searches + first, values, shape);
  }
}

// With vectors of four lanes, the values of four rows do not fit the registers.
template <std::size_t D>
constexpr auto nearest_of_rows_if_wide() -> decltype(TreeKernels::nearest_of_rows) {
  if constexpr (kWidth > 4)
    return nearest_of_rows<D>;
  else
    return nullptr;
}

// With at most eight lanes, four entries gain too little from sharing the loads of a position.
constexpr auto nearest_of_wide_rows_if_wide() -> decltype(TreeKernels::nearest_of_rows) {
  if constexpr (kWidth > 8)
    return nearest_of_wide_rows;
  else
    return nullptr;
}

}  // namespace
}  // namespace silverbirch
