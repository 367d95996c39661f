// Compiled once per instruction set; SILVERBIRCH_TREE_KERNELS names the set it defines. As in kernels.cpp, everything
// else has internal linkage and no standard-library template is instantiated here.
#include "tree_kernels.hpp"

#include "tree_routes.hpp"
#include "wide_routing.hpp"

namespace silverbirch {
namespace {

// The values of kWidth entries from slot s on. Lanes are entries, the empty ones so far away that they lose.
// D: the dimensions, or 0 to be told.
template <class Kind, std::size_t D>
SILVERBIRCH_INLINE Floats values_at(const float* routing, std::size_t slots, std::size_t told_dim,
                                    const RouteQuery& query, std::size_t s) {
  const std::size_t dim = D > 0 ? D : told_dim;
  const float* row = routing + s;
  Floats gap = first_gap<Kind>(query.position[0] - load(row));
  for (std::size_t k = 1; k < dim; ++k) gap = add_gap<Kind>(gap, query.position[k] - load(row + k * slots));
  return Kind::value(gap, load(row + dim * slots), load(row + (dim + 1) * slots), query);
}

// The least of all values, and in each lane what else is small.
class Lowest {
 public:
  explicit SILVERBIRCH_INLINE Lowest(const NodeShape& shape) : number_bits_(shape.number_bits) {
    for (std::size_t l = 0; l < kWidth; ++l) number_[l] = static_cast<int>(l);
  }

  // The values of the next slots. The slot's number takes the lowest bits of the value: one minimum finds both.
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

// Of four rows, each with the values of as many slots: the slot of the least, if rounding leaves no doubt. The least
// across lanes, a chain of operations that wait for each other, is found for all four together.
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
    searches[i].limit = limits[i];
    searches[i].sure = (within & (within - 1)) == 0;
  }
}

// Four rows at once, in the first slots of a node each. All loops are unrolled and the values stay in registers.
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

// As many slots of each node as the fullest one needs: a loop whose end cannot be foreseen would cost more.
template <std::size_t D>
void nearest_of_rows(RowSearch* searches, std::size_t count, std::size_t most_entries, const NodeShape& shape) {
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

// The gap of slots that are not looked at: about that of an empty one. Its value must not overflow.
template <class Kind>
constexpr float kEmptyGap = Kind::manhattan_gap ? 1e18f : 1e35f;

// The gaps of some entries, one after the other from `mean` on.
template <class Kind, std::size_t Entries>
SILVERBIRCH_INLINE void gaps_of(const float* mean, std::size_t width, const float* position, Four* gaps) {
  Floats sums[Entries] = {};
  for (std::size_t k = 0; k < width; k += kWidth) {
    const Floats here = load(position + k);
    for (std::size_t i = 0; i < Entries; ++i) sums[i] = add_gap<Kind>(sums[i], here - load(mean + i * width + k));
  }
  for (std::size_t i = 0; i < Entries / 4; ++i) gaps[i] = sums_of(sums + 4 * i);
}

// Many dimensions: for the gaps lanes are dimensions, from then on they are entries. All of a mean is read at once: the
// first dimensions alone would rule out some entries, but memory is faster than going back for the others.
template <class Kind>
Candidates nearest_wide_entry(const float* routing, const NodeShape& shape, std::size_t count, const RouteQuery& query,
                              float* values) {
  const float* first_row = routing + shape.mean_floats;
  const float* second_row = first_row + shape.slots;
  const std::size_t width = shape.entry_floats;
  Lowest lowest(shape);
  for (std::size_t s = 0; s < count; s += kWidth) {
    Four gaps[kWidth / 4 + 1];
    for (std::size_t q = 0; q < kWidth / 4; q += 2) {
      const std::size_t begin = s + 4 * q;
      gaps[q] = gaps[q + 1] = kEmptyGap<Kind> - Four{};
      if (begin + 4 < count && kWidth > 4)
        gaps_of<Kind, 8>(routing + begin * width, width, query.position, gaps + q);
      else if (begin < count)
        gaps_of<Kind, 4>(routing + begin * width, width, query.position, gaps + q);
    }
    const Floats value = Kind::value(joined(gaps), load(first_row + s), load(second_row + s), query);
    store(values + s, value);
    lowest.next(value);
  }
  const float winner = lowest.value(), limit = doubtful_limit<Kind>(winner, shape, query.squared_norm);
  return {lowest.slot(winner), limit, lowest.alone(winner, limit)};
}

// Many dimensions, nodes of kWideGroupedSlots. The fours of entries of all nodes are gone through in one loop: where
// each node has its own, its end cannot be foreseen, and nothing of the next one is fetched before.
// Width: of an entry, or 0 to be told.
template <std::size_t Width>
void nearest_of_wide(RowSearch* searches, std::size_t count, const NodeShape& shape) {
  constexpr std::size_t fours = kWideGroupedSlots / 4, vectors = kWideGroupedSlots / kWidth;
  const std::size_t width = Width > 0 ? Width : shape.entry_floats;
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
    gaps_of<WardRowRoute, 4>(search.routing + work[w] % fours * 4 * width, width, search.query->position,
                             reinterpret_cast<Four*>(gaps) + work[w]);
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

void nearest_of_wide_rows(RowSearch* searches, std::size_t count, std::size_t, const NodeShape& shape) {
  if (count < 4) {
    for (std::size_t i = 0; i < count; ++i) searches[i].sure = false;
    return;
  }
  switch (shape.entry_floats) {  // a loop over as many dimensions as are known takes less time
    case 32: return nearest_of_wide<32>(searches, count, shape);
    case 48: return nearest_of_wide<48>(searches, count, shape);
    case 64: return nearest_of_wide<64>(searches, count, shape);
    default: return nearest_of_wide<0>(searches, count, shape);
  }
}

// The order of operations of sums over dimensions, the same on all instruction sets: one after the other for few, eight
// interleaved sums for many.
constexpr std::size_t kSums = 8, kDoubles = kWidth / 2;
typedef double Doubles __attribute__((vector_size(kDoubles * sizeof(double)), aligned(8), may_alias));

SILVERBIRCH_INLINE Doubles load(const double* p) { return *reinterpret_cast<const Doubles*>(p); }
SILVERBIRCH_INLINE void store(double* p, Doubles v) { *reinterpret_cast<Doubles*>(p) = v; }

// Twice as many doubles as floats.
SILVERBIRCH_INLINE Floats narrowed(Doubles low, Doubles high) {
#if defined(__AVX512F__)
  const __m512 half = _mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)low));
  return (Floats)_mm512_insertf32x8(half, _mm512_cvtpd_ps((__m512d)high), 1);
#elif defined(__AVX__)
  return (Floats)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)high), _mm256_cvtpd_ps((__m256d)low));
#else
  typedef float Half __attribute__((vector_size(8)));
  return __builtin_shufflevector(__builtin_convertvector(low, Half), __builtin_convertvector(high, Half), 0, 1, 2, 3);
#endif
}

SILVERBIRCH_INLINE double total_of(const double* s) {
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

// Calls step(k, sums) for all that comes in eights, and last(k, sum) for the rest; returns the total.
template <class Step, class Last>
SILVERBIRCH_INLINE double interleaved_sum(std::size_t dim, Step step, Last last) {
  Doubles sums[kSums / kDoubles] = {};
  std::size_t k = 0;
  for (; k + kSums <= dim; k += kSums)
    for (std::size_t p = 0; p < kSums / kDoubles; ++p) step(k + p * kDoubles, sums[p]);
  double s[kSums];
  for (std::size_t p = 0; p < kSums / kDoubles; ++p) store(s + p * kDoubles, sums[p]);
  for (std::size_t l = 0; k < dim; ++k, ++l) last(k, s[l]);
  return total_of(s);
}

template <std::size_t D>
SILVERBIRCH_INLINE double squared_gap(const double* a, const double* b, std::size_t dim) {
  if constexpr (D > 0) {
    double gap = (a[0] - b[0]) * (a[0] - b[0]);
    for (std::size_t k = 1; k < D; ++k) gap += (a[k] - b[k]) * (a[k] - b[k]);
    return gap;
  } else {
    return interleaved_sum(
        dim,
        [&](std::size_t k, Doubles& sum) __attribute__((always_inline)) {
          const Doubles difference = load(a + k) - load(b + k);
          sum += difference * difference;
        },
        [&](std::size_t k, double& sum) __attribute__((always_inline)) { sum += (a[k] - b[k]) * (a[k] - b[k]); });
  }
}

// Moves a mean by a share of the way to another; returns the squared gap there was.
template <std::size_t D>
SILVERBIRCH_INLINE double move_mean(double* mean, const double* other, double share, std::size_t dim) {
  if constexpr (D > 0) {
    double gap = 0.0;
    for (std::size_t k = 0; k < D; ++k) {
      const double difference = other[k] - mean[k];
      mean[k] += share * difference;
      gap += difference * difference;
    }
    return gap;
  } else {
    return interleaved_sum(
        dim,
        [&](std::size_t k, Doubles& sum) __attribute__((always_inline)) {
          const Doubles old = load(mean + k), difference = load(other + k) - old;
          store(mean + k, old + share * difference);
          sum += difference * difference;
        },
        [&](std::size_t k, double& sum) __attribute__((always_inline)) {
          const double difference = other[k] - mean[k];
          mean[k] += share * difference;
          sum += difference * difference;
        });
  }
}

template <std::size_t D>
void merge(double* record, const Feature& other, std::size_t told_dim) {
  const std::size_t dim = D > 0 ? D : told_dim;
  const double weight = record[dim], sum_of_weights = weight + other.weight, share = other.weight / sum_of_weights;
  const double gap = move_mean<D>(record, other.mean, share, dim);
  record[dim] = sum_of_weights;
  record[dim + 1] += other.sse + weight * share * gap;
}

template <std::size_t D>
SILVERBIRCH_INLINE float position(const double* mean, const double* origin, std::size_t told_dim, float* place) {
  const std::size_t dim = D > 0 ? D : told_dim;
  float squared_norm = 0.0f;
  Floats sums = {};
  std::size_t k = 0;
  if constexpr (D == 0)
    for (; k + kWidth <= dim; k += kWidth) {
      const double *there = mean + k, *from = origin + k;
      const Floats here = narrowed(load(there) - load(from), load(there + kDoubles) - load(from + kDoubles));
      store(place + k, here);
      sums = multiply_add(here, here, sums);
    }
  for (; k < dim; ++k) {
    place[k] = static_cast<float>(mean[k] - origin[k]);
    squared_norm += place[k] * place[k];
  }
  if constexpr (D == 0) {
    for (; k % kRouteLanes != 0; ++k) place[k] = 0.0f;
    squared_norm += sum(sums);
  }
  return squared_norm;
}

template <std::size_t D>
void positions(const double* const* means, std::size_t count, const double* origin, const NodeShape& shape,
               RouteQuery* queries) {
  for (std::size_t i = 0; i < count; ++i)
    queries[i].squared_norm = position<D>(means[i], origin, shape.dim, queries[i].position);
}

void rounded_positions(const double* const* means, std::size_t count, const double* origin, const NodeShape& shape,
                       RouteQuery* queries) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto gap = [&](std::size_t k)
                         __attribute__((always_inline)) { return gap_to_origin(means[i], origin, k, shape.dim); };
    RouteQuery& query = queries[i];
    const Rounded rounded = round_to_steps(gap, shape.steps, shape.dim, reinterpret_cast<Part*>(query.position), 1);
    query.rounded_norm = rounded.squared_steps;
    query.error = rounded.error;
    query.squared_norm = rounded.norm * rounded.norm;
    if (query.squared_norm <= kLargestRoutedSquare) continue;
    // So many steps may overflow where so much length does not.
    const double squared = squared_gap<0>(means[i], origin, shape.dim);
    query.squared_norm = static_cast<float>(squared);
    query.error = static_cast<float>(1.00001 * __builtin_sqrt(squared));
  }
}

template <std::size_t D>
void widen(const float* __restrict row, std::size_t told_dim, double* __restrict wide) {
  const std::size_t dim = D > 0 ? D : told_dim;
  for (std::size_t k = 0; k < dim; ++k) wide[k] = static_cast<double>(row[k]);
}

// The squared distance of two features whose squared gap is known.
SILVERBIRCH_INLINE double squared_by_gap(CfDistance distance, double gap, const Feature& a, const Feature& b,
                                         std::size_t dim) {
  switch (distance) {
    case CfDistance::centroid: return CentroidDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::average: return AverageDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::diameter: return DiameterDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::ward: return WardDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::radius: return RadiusDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::manhattan: break;
  }
  double manhattan = 0.0;
  for (std::size_t k = 0; k < dim; ++k) manhattan += __builtin_fabs(a.mean[k] - b.mean[k]);
  return ManhattanDistance::squared(manhattan, a.weight, a.sse, b.weight, b.sse);
}

template <std::size_t D>
double squared_distance(CfDistance distance, const Feature& a, const Feature& b, std::size_t told_dim) {
  const std::size_t dim = D > 0 ? D : told_dim;
  return squared_by_gap(distance, squared_gap<D>(a.mean, b.mean, dim), a, b, dim);
}

template <std::size_t D>
void squared_distances(CfDistance distance, const Feature& from, const Feature* to, std::size_t count,
                       std::size_t told_dim, double* squared) {
  for (std::size_t i = 0; i < count; ++i) squared[i] = squared_distance<D>(distance, from, to[i], told_dim);
}

// The sum of a squared gap is one chain of additions that wait for each other: four chains take as long as one.
template <>
void squared_distances<0>(CfDistance distance, const Feature& from, const Feature* to, std::size_t count,
                          std::size_t dim, double* squared) {
  constexpr std::size_t kChains = 4;
  std::size_t i = 0;
  for (; i + kChains <= count; i += kChains) {
    Doubles sums[kChains][kSums / kDoubles] = {};
    std::size_t k = 0;
    for (; k + kSums <= dim; k += kSums)
      for (std::size_t p = 0; p < kSums / kDoubles; ++p) {
        const Doubles here = load(from.mean + k + p * kDoubles);
        for (std::size_t c = 0; c < kChains; ++c) {
          const Doubles difference = here - load(to[i + c].mean + k + p * kDoubles);
          sums[c][p] += difference * difference;
        }
      }
    for (std::size_t c = 0; c < kChains; ++c) {
      double s[kSums];
      for (std::size_t p = 0; p < kSums / kDoubles; ++p) store(s + p * kDoubles, sums[c][p]);
      const double* mean = to[i + c].mean;
      for (std::size_t l = 0; k + l < dim; ++l)
        s[l] += (from.mean[k + l] - mean[k + l]) * (from.mean[k + l] - mean[k + l]);
      squared[i + c] = squared_by_gap(distance, total_of(s), from, to[i + c], dim);
    }
  }
  for (; i < count; ++i) squared[i] = squared_distance<0>(distance, from, to[i], dim);
}

void add_difference(double* sum, const double* mean, const double* base, std::size_t dim) {
  for (std::size_t k = 0; k < dim; ++k) sum[k] += mean[k] - base[k];
}

// True only if the squared radius of the merged feature is below the threshold by more than rounding, and than what is
// lost where numbers become too small. Most rows are absorbed, and products take less time than the exact quotients.
SILVERBIRCH_INLINE bool surely_within(double squared_threshold, double gap, double n_a, double s_a, double n_b,
                                      double s_b) {
  const double n = n_a + n_b, sum = (s_a + s_b) * n + n_a * n_b * gap;
  return sum > 1e-200 && sum < (1.0 - 1e-12) * squared_threshold * n * n;
}

// Moves a mean by a share of the way to another, and renews its routing copy.
template <std::size_t D>
SILVERBIRCH_INLINE void move_and_copy(double* __restrict record, const double* __restrict other, double share,
                                      float* __restrict routing, const NodeShape& shape, std::size_t slot,
                                      const double* __restrict origin) {
  const std::size_t dim = D > 0 ? D : shape.dim;
  if constexpr (D > 0) {
    for (std::size_t k = 0; k < D; ++k) record[k] += share * (other[k] - record[k]);
    write_routing<D>(routing, shape, slot, record, origin);
  } else {
    float* place = routing + slot * shape.entry_floats;
    const auto moved = [&](std::size_t k) __attribute__((always_inline)) {
      const Doubles old = load(record + k), here = old + share * (load(other + k) - old);
      store(record + k, here);
      return here - load(origin + k);
    };
    std::size_t k = 0;
    for (; k + kWidth <= dim; k += kWidth) {
      const Doubles low = moved(k), high = moved(k + kDoubles);
      store(place + k, narrowed(low, high));
    }
    for (; k < dim; ++k) {
      record[k] += share * (other[k] - record[k]);
      place[k] = static_cast<float>(record[k] - origin[k]);
    }
    write_rows(routing, shape, slot, record[dim], record[dim + 1]);
  }
}

// Rounded: the routing copies are integers.
template <std::size_t D, bool kRounded = false>
bool absorb_within(CfDistance criterion, double squared_threshold, double* __restrict record, float* __restrict routing,
                   const NodeShape& shape, std::size_t slot, const Feature& other, const double* __restrict origin) {
  const std::size_t dim = D > 0 ? D : shape.dim;
  const double weight = record[dim], sse = record[dim + 1];
  const double gap = squared_gap<D>(other.mean, record, dim);
  const bool surely =
      criterion == CfDistance::radius && surely_within(squared_threshold, gap, other.weight, other.sse, weight, sse);
  if (!surely && !(squared_by_gap(criterion, gap, other, {weight, record, sse}, dim) <= squared_threshold))
    return false;
  const double sum_of_weights = weight + other.weight, share = other.weight / sum_of_weights;
  const double* __restrict mean = other.mean;
  record[dim] = sum_of_weights;
  record[dim + 1] = sse + (other.sse + weight * share * gap);
  if constexpr (kRounded) {
    const auto gap_after = [&](std::size_t k) __attribute__((always_inline)) {
      return moved_gap(record, mean, share, origin, k, dim);
    };
    write_rounded(routing, shape, slot, gap_after, record[dim], record[dim + 1]);
  } else {
    move_and_copy<D>(record, mean, share, routing, shape, slot, origin);
  }
  return true;
}

template <std::size_t D>
void copy_for_routing(float* routing, const NodeShape& shape, std::size_t slot, const double* record,
                      const double* origin) {
  write_routing<D>(routing, shape, slot, record, origin);
}

SILVERBIRCH_INLINE void move_rows(float* to, std::size_t to_slot, const float* from, std::size_t from_slot,
                                  const NodeShape& shape, std::size_t count) {
  for (std::size_t row = 0; row < count; ++row)
    to[shape.mean_floats + row * shape.slots + to_slot] = from[shape.mean_floats + row * shape.slots + from_slot];
}

template <std::size_t D>
void move_routing(float* to, std::size_t to_slot, const float* from, std::size_t from_slot, const NodeShape& shape) {
  if constexpr (D > 0) {
    for (std::size_t k = 0; k < D; ++k) to[k * shape.slots + to_slot] = from[k * shape.slots + from_slot];
  } else {
    for (std::size_t k = 0; k < shape.entry_floats; k += kWidth)
      store(to + to_slot * shape.entry_floats + k, load(from + from_slot * shape.entry_floats + k));
  }
  move_rows(to, to_slot, from, from_slot, shape, 2);
}

void move_rounded(float* to, std::size_t to_slot, const float* from, std::size_t from_slot, const NodeShape& shape) {
  Part* there = parts_of(to, shape, to_slot);
  const Part* here = parts_of(from, shape, from_slot);
  for (std::size_t p = 0; p < part_count(shape.dim); ++p) there[p * kQuad] = here[p * kQuad];
  move_rows(to, to_slot, from, from_slot, shape, 4);
}

void copy_rounded(float* routing, const NodeShape& shape, std::size_t slot, const double* record,
                  const double* origin) {
  const auto gap = [&](std::size_t k)
                       __attribute__((always_inline)) { return gap_to_origin(record, origin, k, shape.dim); };
  write_rounded(routing, shape, slot, gap, record[shape.dim], record[shape.dim + 1]);
}

// Of vectors of four, the values of four rows are more than the registers hold.
template <std::size_t D>
constexpr auto nearest_of_rows_if_wide() -> decltype(TreeKernels::nearest_of_rows) {
  if constexpr (kWidth > 4)
    return nearest_of_rows<D>;
  else
    return nullptr;
}

// In shorter vectors, fours share too little of a row's position.
constexpr auto nearest_of_wide_rows_if_wide() -> decltype(TreeKernels::nearest_of_rows) {
  if constexpr (kWidth > 8)
    return nearest_of_wide_rows;
  else
    return nullptr;
}

// In the order of Route; compiled for each number of dimensions where it pays.
template <std::size_t D>
constexpr TreeKernels few() {
  return {{nearest_entry<CentroidRoute, D>, nearest_entry<ManhattanRoute, 0>, nearest_entry<AverageRoute, D>,
           nearest_entry<DiameterRoute, 0>, nearest_entry<WardRoute, D>, nearest_entry<RadiusRoute, 0>,
           nearest_entry<WardRowRoute, D>},
          nearest_of_rows_if_wide<D>(),
          widen<D>,
          positions<D>,
          squared_distance<D>,
          squared_distances<D>,
          add_difference,
          copy_for_routing<D>,
          move_routing<D>,
          merge<D>,
          absorb_within<D>};
}

constexpr TreeKernels many() {
  return {{nearest_wide_entry<CentroidRoute>, nearest_wide_entry<ManhattanRoute>, nearest_wide_entry<AverageRoute>,
           nearest_wide_entry<DiameterRoute>, nearest_wide_entry<WardRoute>, nearest_wide_entry<RadiusRoute>,
           nearest_wide_entry<WardRowRoute>},
          nearest_of_wide_rows_if_wide(),
          widen<0>,
          positions<0>,
          squared_distance<0>,
          squared_distances<0>,
          add_difference,
          copy_for_routing<0>,
          move_routing<0>,
          merge<0>,
          absorb_within<0>};
}

constexpr TreeKernels rounded() {
  return {{nearest_rounded_entry<CentroidRoute>, nearest_rounded_entry<ManhattanRoute>,
           nearest_rounded_entry<AverageRoute>, nearest_rounded_entry<DiameterRoute>, nearest_rounded_entry<WardRoute>,
           nearest_rounded_entry<RadiusRoute>, nearest_rounded_entry<WardRowRoute>},
          nullptr,
          widen<0>,
          rounded_positions,
          squared_distance<0>,
          squared_distances<0>,
          add_difference,
          copy_rounded,
          move_rounded,
          merge<0>,
          absorb_within<0, true>};
}

}  // namespace

extern const TreeKernelSet SILVERBIRCH_TREE_KERNELS;
const TreeKernelSet SILVERBIRCH_TREE_KERNELS = {
    {many(), few<1>(), few<2>(), few<3>(), few<4>(), few<5>(), few<6>(), few<7>(), few<8>(), few<9>(), few<10>(),
     few<11>(), few<12>(), few<13>(), few<14>(), few<15>(), few<16>()},
    rounded()};

}  // namespace silverbirch
