// Compiled once per instruction set, see simd/kernel_table.hpp.
#include "silverbirch/features/block_kernels.hpp"

#include <cstdint>
#include <limits>

#include "silverbirch/features/block_vectors.hpp"

namespace silverbirch {
namespace {

template <class Distance>
SILVERBIRCH_INLINE void add_gap(Doubles& gap, Doubles difference) {
  if constexpr (Distance::manhattan_gap)
    gap += difference < 0.0 ? -difference : difference;
  else
    gap += difference * difference;
}

template <class Distance>
SILVERBIRCH_INLINE Doubles squared_distance(const double* block, std::size_t dim, const Feature& query) {
  Doubles gap = {};
  for (std::size_t k = 0; k < dim; ++k) add_gap<Distance>(gap, query.mean[k] - load(block + k * kLanes));
  return Distance::squared(gap, query.weight, query.sse, load(block + dim * kLanes), load(block + (dim + 1) * kLanes));
}

template <class Distance>
Nearest nearest_slot(const double* blocks, std::size_t dim, const Feature& query, SlotRange range) {
  const std::size_t stride = block_doubles(dim);
  const std::size_t first_block = range.first / kLanes;
  const std::size_t skip_block = range.skip == kNowhere ? kNowhere : range.skip / kLanes;
  constexpr double infinity = std::numeric_limits<double>::infinity();

  // Every lane keeps its own minimum and the number of its block, as a double so that all vectors are of one type.
  Doubles least[kParts], origin[kParts];
  for (std::size_t p = 0; p < kParts; ++p) {
    least[p] = broadcast(infinity);
    origin[p] = broadcast(-1.0);
  }
  for (std::size_t b = first_block; b < range.block_count; ++b) {
    const double* block = blocks + b * stride;
    const Doubles here = broadcast(static_cast<double>(b));
    const bool partial = b == skip_block || b * kLanes < range.first;
    for (std::size_t p = 0; p < kParts; ++p) {
      Doubles distance = squared_distance<Distance>(block + p * kWidth, dim, query);
      if (partial)
        for (std::size_t l = 0; l < kWidth; ++l) {
          const std::size_t slot = b * kLanes + p * kWidth + l;
          if (slot < range.first || slot == range.skip) distance[l] = infinity;
        }
      const auto closer = distance < least[p];
      least[p] = closer ? distance : least[p];
      origin[p] = closer ? here : origin[p];
    }
  }

  Nearest nearest{kNowhere, infinity};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const double distance = least[lane / kWidth][lane % kWidth];
    const double block = origin[lane / kWidth][lane % kWidth];
    if (block < 0.0) continue;
    const std::size_t slot = static_cast<std::size_t>(block) * kLanes + lane;
    if (distance < nearest.squared_distance || (distance == nearest.squared_distance && slot < nearest.slot))
      nearest = {slot, distance};
  }
  return nearest;
}

template <class Distance>
void slot_distances(const double* blocks, std::size_t dim, const Feature& query, std::size_t block_count,
                    double* squared_distances) {
  for (std::size_t b = 0; b < block_count; ++b)
    for (std::size_t p = 0; p < kParts; ++p) {
      const std::size_t lane = p * kWidth;
      store(squared_distances + b * kLanes + lane,
            squared_distance<Distance>(blocks + b * block_doubles(dim) + lane, dim, query));
    }
}

template <class Distance>
void tile_distances(const double* blocks, std::size_t dim, const Feature* queries, std::size_t block_count,
                    double* squared_distances) {
  for (std::size_t b = 0; b < block_count; ++b)
    for (std::size_t p = 0; p < kParts; ++p) {
      const std::size_t lane = p * kWidth;
      const double* block = blocks + b * block_doubles(dim) + lane;
      Doubles gap[kTileQueries] = {};
      for (std::size_t k = 0; k < dim; ++k) {
        const Doubles row = load(block + k * kLanes);
        for (std::size_t q = 0; q < kTileQueries; ++q) add_gap<Distance>(gap[q], queries[q].mean[k] - row);
      }
      for (std::size_t q = 0; q < kTileQueries; ++q)
        store(squared_distances + (q * block_count + b) * kLanes + lane,
              Distance::squared(gap[q], queries[q].weight, queries[q].sse, load(block + dim * kLanes),
                                load(block + (dim + 1) * kLanes)));
    }
}

double squared_gap(const double* a, const double* b, std::size_t padded_dim) {
  constexpr std::size_t parts = kGapLanes / kWidth;
  Doubles sum[parts] = {};
  for (std::size_t k = 0; k < padded_dim; k += kGapLanes)
    for (std::size_t p = 0; p < parts; ++p) {
      const Doubles gap = load(a + k + p * kWidth) - load(b + k + p * kWidth);
      sum[p] += gap * gap;
    }
  alignas(64) double lanes[kGapLanes];
  for (std::size_t p = 0; p < parts; ++p) store(lanes + p * kWidth, sum[p]);
  for (std::size_t half = kGapLanes / 2; half > 0; half /= 2)
    for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

// Counts wrong values in integers as wide as the values, so that the compiler vectorises the loop.
template <class Scalar, class Count>
bool all_within(const Scalar* values, std::size_t count, Scalar limit) {
  static_assert(sizeof(Scalar) == sizeof(Count));
  Count wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += (values[i] < 0 ? -values[i] : values[i]) <= limit ? 0 : 1;
  return wrong == 0;
}

template <std::size_t... I>
constexpr decltype(BlockKernels::nearest_slot) nearest_slots(std::index_sequence<I...>) {
  return {nearest_slot<FormulaOf<CfDistance(I)>>...};
}

template <std::size_t... I>
constexpr decltype(BlockKernels::slot_distances) all_slot_distances(std::index_sequence<I...>) {
  return {slot_distances<FormulaOf<CfDistance(I)>>...};
}

template <std::size_t... I>
constexpr decltype(BlockKernels::tile_distances) all_tile_distances(std::index_sequence<I...>) {
  return {tile_distances<FormulaOf<CfDistance(I)>>...};
}

}  // namespace

const BlockKernels SILVERBIRCH_KERNELS(block_kernels) = {
    nearest_slots(AllCfDistances{}),      all_slot_distances(AllCfDistances{}),
    all_tile_distances(AllCfDistances{}), squared_gap,
    all_within<float, std::uint32_t>,     all_within<double, std::uint64_t>,
};

}  // namespace silverbirch
