// Puts points into the order of a packed kd-tree: each leaf, and each node, covers a run of points that are near each
// other.
//
// Splits a range at its widest dimension, at a boundary of the largest node below it, and goes on until the parts are
// leaves [Bentley 1975]. Only the quality of the boxes depends on the order, never an answer. So keys may be rounded: a
// float and the number of the point share 64 bits, which sort fast.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/switches.hpp"
#include "silverbirch/features/feature_block.hpp"

namespace silverbirch {

// The lower half of a key is the number of a point, the upper half its coordinate along the current dimension.
using KdKey = std::uint64_t;

inline std::size_t point_of(KdKey key) { return static_cast<std::uint32_t>(key); }

inline KdKey kd_key(float coordinate, std::size_t point) {
  const auto bits = std::bit_cast<std::uint32_t>(coordinate);
  const KdKey sortable = bits & 0x80000000U ? ~bits : bits | 0x80000000U;  // unsigned, in the order of the floats
  return sortable << 32 | point;
}

// How many slots a leaf has, and how many children a node has.
struct KdShape {
  std::size_t leaf, children;
};

// Where a range of keys is split: at a boundary of the largest node below it.
inline std::size_t kd_middle(std::size_t size, KdShape shape) {
  std::size_t child_span = shape.leaf;
  while (child_span * shape.children < size) child_span *= shape.children;
  return (size + child_span - 1) / child_span / 2 * child_span;
}

// The dimension in which a sample of the range extends farthest. coordinate(point, k) is a float.
template <class Coordinate>
std::size_t widest_dimension(const KdKey* keys, std::size_t size, std::size_t dim, Coordinate coordinate) {
  constexpr std::size_t kSample = 32, kTogether = 8;
  const std::size_t step = std::max<std::size_t>(1, size / kSample);
  std::size_t widest = 0;
  float widest_extent = -1.0F;
  for (std::size_t first = 0; first < dim; first += kTogether) {
    const std::size_t count = std::min(kTogether, dim - first);
    float lower[kTogether], upper[kTogether];
    for (std::size_t k = 0; k < count; ++k) lower[k] = upper[k] = coordinate(point_of(keys[0]), first + k);
    for (std::size_t i = step; i < size; i += step)
      for (std::size_t k = 0; k < count; ++k) {
        const float x = coordinate(point_of(keys[i]), first + k);
        lower[k] = std::min(lower[k], x);
        upper[k] = std::max(upper[k], x);
      }
    for (std::size_t k = 0; k < count; ++k)
      if (upper[k] - lower[k] > widest_extent) {
        widest = first + k;
        widest_extent = upper[k] - lower[k];
      }
  }
  return widest;
}

// Puts the keys below a pivot first and returns how many they are. Both parts keep their order. No branch depends on a
// key.
inline std::size_t kd_partition(KdKey* keys, std::size_t size, KdKey pivot, KdKey* scratch) {
  std::size_t below = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const KdKey key = keys[i];
    keys[below] = scratch[i - below] = key;
    below += key < pivot;
  }
  std::copy_n(scratch, size - below, keys + below);
  return below;
}

// The same on several threads, for many keys.
inline std::size_t kd_partition(KdKey* keys, std::size_t size, KdKey pivot, KdKey* scratch, std::size_t threads) {
  constexpr std::size_t kPiece = 16384;
  if (threads < 2 || size < 4 * kPiece) return kd_partition(keys, size, pivot, scratch);
  struct Part {
    std::size_t below, before = 0;  // before: how many keys of earlier pieces are below
  };
  std::vector<Part> parts((size + kPiece - 1) / kPiece);
  parallel_for(size, kPiece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    parts[begin / kPiece].below = kd_partition(keys + begin, end - begin, pivot, scratch + begin);
    std::copy(keys + begin, keys + end, scratch + begin);
  });
  std::size_t below = 0;
  for (Part& part : parts) below += (part.before = below, part.below);
  parallel_for(size, kPiece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    const Part& part = parts[begin / kPiece];
    std::copy_n(scratch + begin, part.below, keys + part.before);
    std::copy(scratch + begin + part.below, scratch + end, keys + below + begin - part.before);
  });
  return below;
}

// Puts the `middle` least keys first, like std::nth_element, but without its mispredicted branches. All keys are
// different.
inline void kd_select(KdKey* keys, std::size_t size, std::size_t middle, KdKey* scratch, std::size_t threads = 1) {
  constexpr std::size_t kSample = 8, kPatience = 64;  // after so many bad pivots, std::nth_element takes over
  for (std::size_t passes = 0; passes < kPatience && size > 2 * kSample && on(Mechanism::branchless_select); ++passes) {
    KdKey sample[kSample];
    for (std::size_t i = 0; i < kSample; ++i) sample[i] = keys[i * size / kSample];
    std::sort(sample, sample + kSample);
    const std::size_t below = kd_partition(keys, size, sample[middle * kSample / size], scratch, threads);
    if (below == middle) return;
    if (below == 0) break;  // the pivot was the least key
    if (below > middle) {
      size = below;
    } else {
      keys += below;
      middle -= below;
      size -= below;
    }
  }
  std::nth_element(keys, keys + middle, keys + size);
}

// Splits a range and returns the size of the first part. `scratch` has room for all keys.
template <class Coordinate>
std::size_t kd_halve(KdKey* keys, std::size_t size, KdShape shape, std::size_t dim, Coordinate coordinate,
                     KdKey* scratch, std::size_t threads = 1) {
  const std::size_t middle = kd_middle(size, shape);
  const std::size_t k = widest_dimension(keys, size, dim, coordinate);
  parallel_for(size, 16384, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t point = point_of(keys[i]);
      keys[i] = kd_key(coordinate(point, k), point);
    }
  });
  kd_select(keys, size, middle, scratch, threads);
  return middle;
}

template <class Coordinate>
void kd_sort(KdKey* keys, std::size_t size, KdShape shape, std::size_t dim, Coordinate coordinate, KdKey* scratch) {
  if (size <= shape.leaf) return;
  const std::size_t middle = kd_halve(keys, size, shape, dim, coordinate, scratch);
  kd_sort(keys, middle, shape, dim, coordinate, scratch);
  kd_sort(keys + middle, size - middle, shape, dim, coordinate, scratch);
}

// The same for a range whose coordinates fit into the cache once they are copied together. The floats are relative to
// the first point of the range, so they are the more precise the smaller the range is.
template <class Coordinate>
void kd_sort_closely(KdKey* keys, std::size_t size, KdShape shape, std::size_t dim, Coordinate coordinate) {
  std::vector<KdKey> local(size), scratch(size);
  std::vector<float> rows(size * dim);
  std::vector<std::uint32_t> points(size);
  const std::size_t first = point_of(keys[0]);
  for (std::size_t i = 0; i < size; ++i) {
    local[i] = i;
    points[i] = static_cast<std::uint32_t>(point_of(keys[i]));
    for (std::size_t k = 0; k < dim; ++k)
      rows[i * dim + k] = static_cast<float>(coordinate(points[i], k) - coordinate(first, k));
  }
  kd_sort(
      local.data(), size, shape, dim, [&](std::size_t i, std::size_t k) { return rows[i * dim + k]; }, scratch.data());
  for (std::size_t i = 0; i < size; ++i) keys[i] = points[point_of(local[i])];
}

// Orders the points in `keys`; coordinate(point, k) is a double. Halves the ranges on several threads until they have
// at most `most` points, then sorts each of them. Zero: as many points as fit into a cache.
template <class Coordinate>
void kd_order(std::span<KdKey> keys, KdShape shape, std::size_t dim, Coordinate coordinate, std::size_t threads,
              const Progress& progress, std::size_t most = 0) {
  struct Range {
    std::size_t begin, size;
  };
  const std::size_t fits = std::max<std::size_t>(shape.leaf, most ? most : (std::size_t{1} << 17) / dim);
  std::vector<Range> ranges = {{0, keys.size()}};
  UnsetVector<KdKey> scratch(keys.size());
  const auto for_ranges = [&](auto work) {
    parallel_for(ranges.size(), 1, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) work(i);
    });
    progress.poll();
  };
  const auto from_first = [&, first = keys.empty() ? 0 : point_of(keys[0])](std::size_t point, std::size_t k) {
    return static_cast<float>(coordinate(point, k) - coordinate(first, k));
  };
  while (ranges.front().size > fits) {  // no range is much longer than the first
    std::vector<Range> halves(2 * ranges.size());
    const std::size_t threads_of_range = std::max<std::size_t>(1, threads / ranges.size());
    for_ranges([&](std::size_t i) {
      const auto [begin, size] = ranges[i];
      const std::size_t middle = size > shape.leaf ? kd_halve(keys.data() + begin, size, shape, dim, from_first,
                                                              scratch.data() + begin, threads_of_range)
                                                   : size;
      halves[2 * i] = {begin, middle};
      halves[2 * i + 1] = {begin + middle, size - middle};
    });
    ranges = std::move(halves);
  }
  for_ranges([&](std::size_t i) {
    if (ranges[i].size <= shape.leaf) return;
    if (!on(Mechanism::close_sort)) {
      kd_sort(keys.data() + ranges[i].begin, ranges[i].size, shape, dim, from_first, scratch.data() + ranges[i].begin);
    } else
      kd_sort_closely(keys.data() + ranges[i].begin, ranges[i].size, shape, dim, coordinate);
  });
}

}  // namespace silverbirch
