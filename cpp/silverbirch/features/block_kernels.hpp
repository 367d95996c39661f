// The inner loops over blocks of cluster features: distances from one feature to many, and checks of values.
#pragma once

#include <array>
#include <cstddef>

#include "silverbirch/features/cf_distance.hpp"
#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

inline constexpr std::size_t kGapLanes = 16;  // partial sums of BlockKernels::squared_gap

inline constexpr std::size_t kTileQueries = 4;

struct Nearest {
  std::size_t slot = kNowhere;
  double squared_distance = 0.0;
};

// Slots first … 8·block_count - 1 of consecutive blocks, without slot `skip`. Empty lanes at the end need no care: they
// are farther than any feature.
struct SlotRange {
  std::size_t block_count;
  std::size_t first = 0;
  std::size_t skip = kNowhere;
};

struct BlockKernels {
  // The nearest slot, and the lowest of equally near slots. One function per CfDistance.
  using NearestSlot = Nearest (*)(const double* blocks, std::size_t dim, const Feature& query, SlotRange range);
  std::array<NearestSlot, kCfDistanceNames.size()> nearest_slot;
  // Squared distances of a query to all slots of the blocks. The output starts on a cache line. One function per
  // CfDistance.
  using SlotDistances = void (*)(const double* blocks, std::size_t dim, const Feature& query, std::size_t block_count,
                                 double* squared_distances);
  std::array<SlotDistances, kCfDistanceNames.size()> slot_distances;
  // The same distances to the last bit, for kTileQueries queries at once: several times as fast where dim is large. All
  // distances of query 0 come first, then those of query 1 ….
  using TileDistances = void (*)(const double* blocks, std::size_t dim, const Feature* queries, std::size_t block_count,
                                 double* squared_distances);
  std::array<TileDistances, kCfDistanceNames.size()> tile_distances;
  // Squared Euclidean distance of two rows, symmetric to the last bit. The rows start on cache lines and are padded
  // with zeros to a multiple of kGapLanes.
  double (*squared_gap)(const double* a, const double* b, std::size_t padded_dim);
  // True if every absolute value is at most `limit` and none is NaN.
  bool (*floats_within)(const float* values, std::size_t count, float limit);
  bool (*doubles_within)(const double* values, std::size_t count, double limit);

  bool all_within(const float* values, std::size_t count, float limit) const {
    return floats_within(values, count, limit);
  }
  bool all_within(const double* values, std::size_t count, double limit) const {
    return doubles_within(values, count, limit);
  }
  Nearest nearest(CfDistance distance, const double* blocks, std::size_t dim, const Feature& query,
                  SlotRange range) const {
    return nearest_slot[static_cast<std::size_t>(distance)](blocks, dim, query, range);
  }
  void distances(CfDistance distance, const double* blocks, std::size_t dim, const Feature& query,
                 std::size_t block_count, double* squared_distances) const {
    slot_distances[static_cast<std::size_t>(distance)](blocks, dim, query, block_count, squared_distances);
  }
};

SILVERBIRCH_KERNEL_TABLE(BlockKernels, block_kernels)

}  // namespace silverbirch
