#include "silverbirch/linkage/reference/pairwise_distances.hpp"

#include <algorithm>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/linkage/reference/feature_space.hpp"
#include "silverbirch/linkage/reference/pair_matrix.hpp"

namespace silverbirch {

namespace {

// Copies columns from … to - 1 of row i from a tile to the condensed vector, as far as they lie above the diagonal.
void copy_row(const double* tile, std::size_t from, std::size_t to, std::size_t i, std::size_t size,
              double* condensed) {
  const std::size_t first = std::max(from, i + 1), last = std::min(to, size);
  if (first < last) std::copy(tile + (first - from), tile + (last - from), &PairMatrix(condensed, size).at(i, first));
}

}  // namespace

void pairwise_squared_distances(const FeaturesView& features, CfDistance distance, double* condensed,
                                std::size_t threads, const Progress& progress) {
  // A group of rows is compared with a run of blocks that stays in the second-level cache, kTileQueries rows at a time.
  constexpr std::size_t group_rows = 64, run_doubles = std::size_t{1} << 15;
  const std::size_t size = features.size;
  const std::size_t run = std::max<std::size_t>(run_doubles / block_doubles(features.dim), 1);
  const FeatureSpace space(features, distance, Vote::by_weight);
  const std::size_t piece = piece_size(group_rows * size * features.dim);
  parallel_for((size + group_rows - 1) / group_rows, piece, threads, progress, [&](std::size_t begin, std::size_t end) {
    AlignedDoubles tile(kTileQueries * run * kLanes);
    for (std::size_t first = begin * group_rows; first < std::min(end * group_rows, size); first += group_rows)
      for (std::size_t block = first / kLanes; block < blocks_for(size); block += run)
        for (std::size_t row = first; row < std::min(first + group_rows, size); row += kTileQueries) {
          const std::size_t blocks = std::min(run, blocks_for(size) - block);
          Feature queries[kTileQueries];
          for (std::size_t q = 0; q < kTileQueries; ++q) queries[q] = features[std::min(row + q, size - 1)];
          space.tile_distances(queries, block, blocks, tile.data());
          for (std::size_t i = row; i < std::min(row + kTileQueries, size); ++i)
            copy_row(tile.data() + (i - row) * blocks * kLanes, block * kLanes, (block + blocks) * kLanes, i, size,
                     condensed);
        }
  });
}

}  // namespace silverbirch
