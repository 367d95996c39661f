// The inner loops over blocks of cluster features: distances of one feature to many, and checks of values.
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

// The slots first..8·block_count-1 of a run of blocks, but for one. Empty lanes at the end are harmless: they lie far
// away.
struct SlotRange {
  std::size_t block_count;
  std::size_t first = 0;
  std::size_t skip = kNowhere;
};

struct BlockKernels {
  // The least distant slot, the lowest one among equals; one function per CfDistance.
  using NearestSlot = Nearest (*)(const double* blocks, std::size_t dim, const Feature& query, SlotRange range);
  std::array<NearestSlot, kCfDistanceNames.size()> nearest_slot;
  // Squared distances of a query to all slots of some blocks, written to a cache line on; one function per CfDistance.
  using SlotDistances = void (*)(const double* blocks, std::size_t dim, const Feature& query, std::size_t block_count,
                                 double* squared_distances);
  std::array<SlotDistances, kCfDistanceNames.size()> slot_distances;
  // The same, bit by bit, of kTileQueries queries at once: several times as fast where dim is large. The distances of
  // one query follow those of the one before.
  using TileDistances = void (*)(const double* blocks, std::size_t dim, const Feature* queries, std::size_t block_count,
                                 double* squared_distances);
  std::array<TileDistances, kCfDistanceNames.size()> tile_distances;
  // Squared Euclidean distance of two rows of whole kGapLanes, on cache lines and padded with zeros. Symmetric.
  double (*squared_gap)(const double* a, const double* b, std::size_t padded_dim);
  // Whether no value is beyond the limit, and all are numbers.
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
