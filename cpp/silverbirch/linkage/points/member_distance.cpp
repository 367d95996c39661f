// Compiled once per instruction set, see simd/kernel_table.hpp.
#include "silverbirch/linkage/points/member_distance.hpp"

#include "silverbirch/features/block_vectors.hpp"

namespace silverbirch {
namespace {

// A relative margin for the rounding of bounds.
constexpr double kSlack = 1e-12;

// So many vectors of pairs are compared sooner than thought about.
constexpr std::size_t kFewPairs = 16;

SILVERBIRCH_INLINE Doubles larger(Doubles a, Doubles b) { return a < b ? b : a; }

template <std::size_t Dim>
SILVERBIRCH_INLINE Doubles squared_gap(const double* row, std::size_t dim, const double* point) {
  Doubles sum = {};
  for (std::size_t k = 0; k < (Dim ? Dim : dim); ++k) {
    const Doubles difference = point[k * kLanes] - load(row + k * kLanes);
    sum += difference * difference;
  }
  return sum;
}

SILVERBIRCH_INLINE double larger(double a, double b) { return a < b ? b : a; }

SILVERBIRCH_INLINE double largest_of(const Doubles* parts) {
  alignas(64) double s[kLanes];
  for (std::size_t p = 0; p < kParts; ++p) store(s + p * kWidth, parts[p]);
  return larger(larger(larger(s[0], s[4]), larger(s[1], s[5])), larger(larger(s[2], s[6]), larger(s[3], s[7])));
}

template <std::size_t Dim>
SILVERBIRCH_INLINE double farthest_distance(const double* blocks, std::size_t count, std::size_t dim,
                                            const double* point) {
  Doubles most[kParts] = {};
  const double* end = blocks + blocks_for(count) * member_block_doubles(dim);
  for (const double* block = blocks; block != end; block += member_block_doubles(dim))
    for (std::size_t p = 0; p < kParts; ++p)
      most[p] = larger(most[p], squared_gap<Dim>(block + p * kWidth, dim, point));
  return largest_of(most);
}

struct Farthest {
  const double* point;
  double squared_distance;
};

template <std::size_t Dim>
SILVERBIRCH_INLINE Farthest farthest_member(const Members& of, std::size_t dim, const double* point) {
  Doubles most[kParts], where[kParts] = {};
  for (std::size_t p = 0; p < kParts; ++p) most[p] = squared_gap<Dim>(of.blocks + p * kWidth, dim, point);
  const std::size_t block_count = blocks_for(of.count);
  for (std::size_t b = 1; b < block_count; ++b) {
    const Doubles here = broadcast(static_cast<double>(b));
    for (std::size_t p = 0; p < kParts; ++p) {
      const Doubles gap = squared_gap<Dim>(of.blocks + b * member_block_doubles(dim) + p * kWidth, dim, point);
      where[p] = most[p] < gap ? here : where[p];
      most[p] = larger(most[p], gap);
    }
  }
  const double squared_distance = largest_of(most);
  for (std::size_t p = 0; p < kParts; ++p)
    if (const unsigned found = lanes(most[p] == squared_distance)) {
      const unsigned lane = static_cast<unsigned>(__builtin_ctz(found));
      const std::size_t block = static_cast<std::size_t>(where[p][lane]);
      return {of.blocks + block * member_block_doubles(dim) + p * kWidth + lane, squared_distance};
    }
  return {of.blocks, squared_distance};
}

template <std::size_t Dim>
SILVERBIRCH_INLINE double farthest_of_all_pairs(const Members& a, const Members& b, std::size_t dim) {
  Doubles most[kParts] = {};
  const std::size_t block_count = blocks_for(b.count);
  for (std::size_t n = 0; n < block_count; ++n)
    for (std::size_t i = 0; i < a.count; ++i) {
      const double* point = a.blocks + i / kLanes * member_block_doubles(dim) + i % kLanes;
      for (std::size_t p = 0; p < kParts; ++p)
        most[p] = larger(most[p], squared_gap<Dim>(b.blocks + n * member_block_doubles(dim) + p * kWidth, dim, point));
    }
  return largest_of(most);
}

// The squared distance from a point to the farthest point of b, if above `most`; else `most`. The points of a block are
// near each other, so only blocks whose balls reach far enough are scanned.
template <std::size_t Dim>
SILVERBIRCH_INLINE double farthest_by_balls(const Members& b, std::size_t dim, const double* point, double most) {
  const std::size_t block_count = blocks_for(b.count);
  const Doubles zero = {};
  double reach = __builtin_sqrt(most) * (1.0 - kSlack);
  for (std::size_t first = 0; first < block_count; first += kWidth) {
    const double* balls = b.balls + first / kLanes * member_block_doubles(dim) + first % kLanes;
    const Doubles apart = larger(zero, reach - load(balls + dim * kLanes));
    unsigned far = lanes(squared_gap<Dim>(balls, dim, point) >= apart * apart);
    for (; far; far &= far - 1) {
      const std::size_t block = first + static_cast<unsigned>(__builtin_ctz(far));
      if (block >= block_count) break;
      const double distance = farthest_distance<Dim>(b.blocks + block * member_block_doubles(dim), 1, dim, point);
      if (distance <= most) continue;
      most = distance;
      reach = __builtin_sqrt(most) * (1.0 - kSlack);
    }
  }
  return most;
}

// The farthest pair of two clusters that have several points each.
template <std::size_t Dim>
double farthest_pair(const Members& a, const Members& b, std::size_t dim, double limit) {
  if (on(Mechanism::few_pairs) && a.count * blocks_for(b.count) <= kFewPairs)
    return farthest_of_all_pairs<Dim>(a, b, dim);
  // From one far end to the other and back: this usually finds the farthest pair, or one that is too far.
  const Farthest there = farthest_member<Dim>(b, dim, a.mean);
  const Farthest back = farthest_member<Dim>(a, dim, there.point);
  if (back.squared_distance > limit) return back.squared_distance;
  double most = larger(back.squared_distance, farthest_distance<Dim>(b.blocks, b.count, dim, back.point));
  if (most > limit) return most;

  // A point can be an end of a farther pair only if it is far enough from the mean of b.
  const double* end = a.blocks + blocks_for(a.count) * member_block_doubles(dim);
  for (const double* block = a.blocks; block != end; block += member_block_doubles(dim)) {
    for (std::size_t p = 0; p < kParts; ++p) {
      const double reach = larger(0.0, __builtin_sqrt(most) * (1.0 - kSlack) - b.radius);
      unsigned far = lanes(squared_gap<Dim>(block + p * kWidth, dim, b.mean) >= reach * reach);
      for (; far; far &= far - 1) {
        const double* point = block + p * kWidth + __builtin_ctz(far);
        most = b.balls ? farthest_by_balls<Dim>(b, dim, point, most)
                       : larger(most, farthest_distance<Dim>(b.blocks, b.count, dim, point));
        if (most > limit) return most;
      }
    }
  }
  return most;
}

template <std::size_t Dim>
double complete(const Members& a, const Members& b, std::size_t dim, double limit, double) {
  if (a.count == 1 && b.count == 1) {
    double gap = 0.0;
    for (std::size_t k = 0; k < (Dim ? Dim : dim); ++k) {
      const double difference = a.mean[k * kLanes] - b.mean[k * kLanes];
      gap += difference * difference;
    }
    return gap;
  }
  if (a.count == 1) return farthest_distance<Dim>(b.blocks, b.count, dim, a.mean);
  if (b.count == 1) return farthest_distance<Dim>(a.blocks, a.count, dim, b.mean);
  return a.count <= b.count ? farthest_pair<Dim>(a, b, dim, limit) : farthest_pair<Dim>(b, a, dim, limit);
}

// Sums lanes in an order that does not depend on the width of the vectors.
SILVERBIRCH_INLINE double sum_of(const Doubles* parts) {
  alignas(64) double s[kLanes];
  for (std::size_t p = 0; p < kParts; ++p) store(s + p * kWidth, parts[p]);
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

template <std::size_t Dim>
SILVERBIRCH_INLINE double distance_sum(const Members& of, std::size_t dim, const double* point) {
  Doubles sum[kParts] = {};
  const double* end = of.blocks + blocks_for(of.count) * member_block_doubles(dim);
  for (const double* block = of.blocks; block != end; block += member_block_doubles(dim))
    for (std::size_t p = 0; p < kParts; ++p)
      sum[p] += root(squared_gap<Dim>(block + p * kWidth, dim, point)) * load(block + dim * kLanes + p * kWidth);
  return sum_of(sum);
}

template <std::size_t Dim>
double sum(const Members& a, const Members& b, std::size_t dim) {
  double total = 0.0;
  for (std::size_t i = 0; i < a.count; ++i) {
    const double* point = a.blocks + i / kLanes * member_block_doubles(dim) + i % kLanes;
    total += point[dim * kLanes] * distance_sum<Dim>(b, dim, point);
  }
  return total;
}

template <std::size_t Dim>
double average(const Members& first, const Members& second, std::size_t dim, double limit, double margin) {
  if (first.count == 1 && second.count == 1) return complete<Dim>(first, second, dim, limit, margin);
  const Members& a = first.count <= second.count ? first : second;
  const Members& b = first.count <= second.count ? second : first;
  if (a.count == 1) {
    const double mean = distance_sum<Dim>(b, dim, a.mean) / b.weight;
    return mean * mean;
  }
  // By Jensen's inequality, the mean distance to the points of a cluster is at least the distance to their mean.
  const double far = __builtin_sqrt(limit) * (1.0 + kSlack) + margin;
  double least = distance_sum<Dim>(a, dim, b.mean) / a.weight;
  if (least > far) return least * least;
  least = distance_sum<Dim>(b, dim, a.mean) / b.weight;
  if (least > far) return least * least;

  const double mean = sum<Dim>(a, b, dim) / (a.weight * b.weight);
  return mean * mean;
}

}  // namespace

// Entry d is for d dimensions, with loops of fixed length; entry 0 is for all other dimensions.
#define SILVERBIRCH_FOR_DIMENSIONS(function) \
  {function<0>, function<1>, function<2>, function<3>, function<4>, function<5>, function<6>, function<7>, function<8>}

const MemberDistance SILVERBIRCH_KERNELS(member_distance) = {
    SILVERBIRCH_FOR_DIMENSIONS(complete),
    SILVERBIRCH_FOR_DIMENSIONS(average),
    SILVERBIRCH_FOR_DIMENSIONS(sum),
    farthest_distance<0>,
};

}  // namespace silverbirch
