// Computations on records, in doubles: distances, merged features, and whether a leaf absorbs a feature. Only for files
// that are compiled once per instruction set: everything has internal linkage.
#pragma once

#include "silverbirch/base/switches.hpp"
#include "silverbirch/simd/float_vector.hpp"
#include "silverbirch/tree/kernels/tree_kernels.hpp"
#include "silverbirch/tree/kernels/wide_routing.hpp"

namespace silverbirch {
namespace {

// Sums over dimensions have the same order of operations on all instruction sets: one term after the other in few
// dimensions, eight interleaved sums in many.
constexpr std::size_t kSums = 8, kDoubles = kDoubleWidth;
typedef double UnalignedDoubles __attribute__((vector_size(kDoubles * sizeof(double)), aligned(8), may_alias));

SILVERBIRCH_INLINE UnalignedDoubles load(const double* p) { return *reinterpret_cast<const UnalignedDoubles*>(p); }
SILVERBIRCH_INLINE void store(double* p, UnalignedDoubles v) { *reinterpret_cast<UnalignedDoubles*>(p) = v; }

SILVERBIRCH_INLINE double total_of(const double* s) {
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

// Calls step(k, sums) for full groups of eight dimensions and last(k, sum) for each of the rest; returns the total.
template <class Step, class Last>
SILVERBIRCH_INLINE double interleaved_sum(std::size_t dim, Step step, Last last) {
  UnalignedDoubles sums[kSums / kDoubles] = {};
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
        [&](std::size_t k, UnalignedDoubles& sum) __attribute__((always_inline)) {
          const UnalignedDoubles difference = load(a + k) - load(b + k);
          sum += difference * difference;
        },
        [&](std::size_t k, double& sum) __attribute__((always_inline)) { sum += (a[k] - b[k]) * (a[k] - b[k]); });
  }
}

// Moves `mean` towards `other` by `share` of their difference; returns the squared gap before the move.
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
        [&](std::size_t k, UnalignedDoubles& sum) __attribute__((always_inline)) {
          const UnalignedDoubles old = load(mean + k), difference = load(other + k) - old;
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

// Merges all records into `sum`, in order.
template <std::size_t D>
void merge_all(double* sum, const double* records, std::size_t count, const NodeShape& shape) {
  const std::size_t dim = D > 0 ? D : shape.dim;
  for (std::size_t k = 0; k < dim + 2; ++k) sum[k] = records[k];
  for (std::size_t i = 1; i < count; ++i) {
    const double* other = records + i * shape.record_doubles;
    merge_into(sum[dim], sum[dim + 1], other[dim], other[dim + 1],
               [&](double share) __attribute__((always_inline)) { return move_mean<D>(sum, other, share, dim); });
  }
}

template <std::size_t D>
void widen(const float* __restrict row, std::size_t runtime_dim, double* __restrict wide) {
  const std::size_t dim = D > 0 ? D : runtime_dim;
  for (std::size_t k = 0; k < dim; ++k) wide[k] = static_cast<double>(row[k]);
}

template <class Formula>
SILVERBIRCH_INLINE double squared_by(double gap, const Feature& a, const Feature& b, std::size_t dim) {
  if constexpr (Formula::manhattan_gap) {
    gap = 0.0;
    for (std::size_t k = 0; k < dim; ++k) gap += __builtin_fabs(a.mean[k] - b.mean[k]);
  }
  return Formula::squared(gap, a.weight, a.sse, b.weight, b.sse);
}

// The value of a formula for two features whose squared gap is known. Kind is CfDistance or Absorption.
template <class Kind, std::size_t... I>
SILVERBIRCH_INLINE double squared_by_gap(Kind kind, double gap, const Feature& a, const Feature& b, std::size_t dim,
                                         std::index_sequence<I...>) {
  double squared = 0.0;
  ((kind == static_cast<Kind>(I) && (squared = squared_by<FormulaOf<static_cast<Kind>(I)>>(gap, a, b, dim), true)) ||
   ...);
  return squared;
}

template <std::size_t D>
double squared_distance(CfDistance distance, const Feature& a, const Feature& b, std::size_t runtime_dim) {
  const std::size_t dim = D > 0 ? D : runtime_dim;
  return squared_by_gap(distance, squared_gap<D>(a.mean, b.mean, dim), a, b, dim, AllCfDistances{});
}

template <std::size_t D>
double squared_size(Absorption criterion, const Feature& a, const Feature& b, std::size_t runtime_dim) {
  const std::size_t dim = D > 0 ? D : runtime_dim;
  return squared_by_gap(criterion, squared_gap<D>(a.mean, b.mean, dim), a, b, dim, AllAbsorptions{});
}

template <std::size_t D>
void squared_distances(CfDistance distance, const Feature& from, const Feature* to, std::size_t count,
                       std::size_t runtime_dim, double* squared) {
  for (std::size_t i = 0; i < count; ++i) squared[i] = squared_distance<D>(distance, from, to[i], runtime_dim);
}

void add_difference(double* sum, const double* mean, const double* base, std::size_t dim) {
  for (std::size_t k = 0; k < dim; ++k) sum[k] += mean[k] - base[k];
}

// Moves the mean of `record` towards `other` by `share` of their difference, and renews its routing copy.
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
      const UnalignedDoubles old = load(record + k), here = old + share * (load(other + k) - old);
      store(record + k, here);
      return here - load(origin + k);
    };
    std::size_t k = 0;
    for (; k + kWidth <= dim && on(Mechanism::narrowed_vectors); k += kWidth) {
      const UnalignedDoubles low = moved(k), high = moved(k + kDoubles);
      store(place + k, narrowed(low, high));
    }
    for (; k < dim; ++k) {
      record[k] += share * (other[k] - record[k]);
      place[k] = static_cast<float>(record[k] - origin[k]);
    }
    write_rows(routing, shape, slot, record[dim], record[dim + 1]);
  }
}

// True only if the squared radius of the merged feature is below the threshold by more than rounding can change it, and
// no number is so small that it loses digits. Most rows are absorbed, and products take less time than exact quotients.
SILVERBIRCH_INLINE bool surely_within(double squared_threshold, double gap, double n_a, double s_a, double n_b,
                                      double s_b) {
  const double n = n_a + n_b, sum = (s_a + s_b) * n + n_a * n_b * gap;
  return sum > 1e-200 && sum < (1.0 - 1e-12) * squared_threshold * n * n;
}

// kRounded: the routing copies are integers.
template <std::size_t D, bool kRounded = false>
bool absorb_within(Absorption criterion, double squared_threshold, double* __restrict record, float* __restrict routing,
                   const NodeShape& shape, std::size_t slot, const Feature& other, const double* __restrict origin) {
  const std::size_t dim = D > 0 ? D : shape.dim;
  const double weight = record[dim], sse = record[dim + 1];
  const double gap = squared_gap<D>(other.mean, record, dim);
  const bool surely = on(Mechanism::sure_absorption) && criterion == Absorption::radius &&
                      surely_within(squared_threshold, gap, other.weight, other.sse, weight, sse);
  if (!surely &&
      !(squared_by_gap(criterion, gap, other, {weight, record, sse}, dim, AllAbsorptions{}) <= squared_threshold))
    return false;
  double share;
  merge_into(record[dim], record[dim + 1], other.weight, other.sse,
             [&](double share_of_other) __attribute__((always_inline)) {
               share = share_of_other;
               return gap;
             });
  const double* __restrict mean = other.mean;
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

}  // namespace
}  // namespace silverbirch
