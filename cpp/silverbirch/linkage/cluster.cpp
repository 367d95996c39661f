#include "silverbirch/linkage/cluster.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/features/block_kernels.hpp"
#include "silverbirch/linkage/blocked/greedy.hpp"
#include "silverbirch/linkage/blocked/rounds.hpp"
#include "silverbirch/linkage/indexed/indexed.hpp"
#include "silverbirch/linkage/lance_williams.hpp"
#include "silverbirch/linkage/points/points.hpp"
#include "silverbirch/linkage/reference/agnes.hpp"
#include "silverbirch/linkage/reference/anderberg.hpp"
#include "silverbirch/linkage/reference/generic.hpp"
#include "silverbirch/linkage/reference/matrix_space.hpp"
#include "silverbirch/linkage/reference/mst.hpp"
#include "silverbirch/linkage/reference/nn_chain.hpp"
#include "silverbirch/linkage/reference/prototype_space.hpp"

namespace silverbirch {

namespace {

std::invalid_argument unsuitable(Algorithm algorithm) {
  const std::string_view name = kAlgorithmNames[static_cast<std::size_t>(algorithm)];
  return std::invalid_argument("algorithm '" + std::string(name) + "' is not for this linkage of this kind of data");
}

template <ClusterSpace Space>
Merges run(Space space, Algorithm algorithm, bool monotone, const Progress& progress) {
  MergeHistory history(space.active().size());
  switch (algorithm) {
    case Algorithm::agnes: agnes(space, history, progress); break;
    case Algorithm::anderberg: anderberg(space, history, progress); break;
    case Algorithm::nn_chain: nn_chain(space, history, progress); break;
    case Algorithm::generic: generic(space, history, progress); break;
    default: throw unsuitable(algorithm);
  }
  return std::move(history).finish(monotone);
}

template <class DistancesFrom>
Merges run_mst(std::size_t objects, DistancesFrom distances_from, const Progress& progress) {
  MergeHistory history(objects);
  mst(objects, distances_from, history, progress);
  return std::move(history).finish(true);
}

// Where blocked searches are faster than plain ones: measured by benchmarks/studies/linkage_high_dimensions.py.
bool blocks_pay(const FeaturesView& features) { return features.dim >= 8 && features.size * features.dim >= 80'000; }

// Where they are so much faster that an index is not worth making, however well it would prune: few rows of many
// coordinates. Measured with rounds, on 500 tight groups.
bool blocks_pay_at_once(const FeaturesView& features) {
  return blocks_pay(features) && features.size <= 32 * features.dim;
}

// Where all distances are at hand.
Algorithm automatic_for(Linkage linkage) {
  switch (linkage) {
    case Linkage::single: return Algorithm::mst;
    case Linkage::centroid:
    case Linkage::median:
    case Linkage::medoid: return Algorithm::generic;
    default: return Algorithm::nn_chain;
  }
}

}  // namespace

Algorithm algorithm_from_name(std::string_view name) {
  return from_name<Algorithm>(kAlgorithmNames, name, "algorithm");
}
Linkage linkage_from_name(std::string_view name) { return from_name<Linkage>(kLinkageNames, name, "linkage"); }

Merges cluster_features(const FeaturesView& features, CfDistance distance, Vote vote, Algorithm algorithm,
                        std::size_t threads, const Progress& progress) {
  // Of the CF distances, D4 and D2 are reducible; the others can have inversions.
  const bool reducible = distance == CfDistance::ward || distance == CfDistance::average;
  const bool indexed =
      algorithm == Algorithm::automatic || algorithm == Algorithm::rounds || algorithm == Algorithm::heap;
  if (algorithm == Algorithm::rounds && !reducible) throw unsuitable(algorithm);
  const bool at_once = algorithm == Algorithm::automatic && reducible && blocks_pay_at_once(features);
  if (indexed && !at_once && is_indexable(distance)) {
    IndexedClustering clustering(features, distance, vote, threads, progress);
    if (algorithm != Algorithm::automatic || clustering.pays())
      return std::move(clustering).run(reducible && algorithm != Algorithm::heap);
  }
  if (algorithm == Algorithm::automatic) {
    const bool blocked = is_indexable(distance) && blocks_pay(features);
    algorithm = blocked ? Algorithm::blocked : reducible ? Algorithm::nn_chain : Algorithm::generic;
  }
  if (algorithm == Algorithm::blocked && is_indexable(distance))
    return reducible ? cluster_blocked(features, distance, vote, threads, progress)
                     : cluster_blocked_greedily(features, vote, threads, progress);
  return run(FeatureSpace(features, distance, vote), algorithm, reducible, progress);
}

Merges cluster_single(const FeaturesView& points, Algorithm algorithm, std::size_t threads, const Progress& progress) {
  if (algorithm == Algorithm::automatic || algorithm == Algorithm::boruvka) {
    IndexedClustering clustering(points, CfDistance::centroid, Vote::by_weight, threads, progress);
    if (algorithm == Algorithm::boruvka || clustering.pays()) return std::move(clustering).run_single();
  } else if (algorithm != Algorithm::mst) {
    throw unsuitable(algorithm);
  }
  const FeatureSpace space(points, CfDistance::centroid, Vote::by_weight);
  return run_mst(points.size, [&](std::size_t object, double* row) { space.distances_from(object, row); }, progress);
}

std::optional<Merges> cluster_points(const FeaturesView& points, Linkage linkage, Algorithm algorithm,
                                     std::size_t threads, const Progress& progress) {
  if (!is_verifiable(linkage) || (algorithm != Algorithm::automatic && algorithm != Algorithm::rounds))
    throw unsuitable(algorithm);
  VerifiedClustering clustering(points, linkage, threads, progress);
  if (algorithm == Algorithm::automatic && !clustering.pays()) return std::nullopt;
  return std::move(clustering).run();
}

Merges cluster_matrix(double* condensed, const double* weights, std::size_t objects, Linkage linkage,
                      Algorithm algorithm, const Progress& progress) {
  const auto with = [&]<class L>(L, bool monotone) {
    return run(MatrixSpace<L>(condensed, weights, objects), algorithm, monotone, progress);
  };
  if (algorithm == Algorithm::automatic) algorithm = automatic_for(linkage);
  if (algorithm == Algorithm::mst && linkage == Linkage::single) {
    const PairMatrix pairs(condensed, objects);
    return run_mst(
        objects,
        [&](std::size_t object, double* row) {
          for (std::size_t i = 0; i < objects; ++i)
            if (i != object) row[i] = pairs.at(object, i);
        },
        progress);
  }
  switch (linkage) {
    case Linkage::single: return with(SingleLinkage{}, true);
    case Linkage::complete: return with(CompleteLinkage{}, true);
    case Linkage::average: return with(AverageLinkage{}, true);
    case Linkage::weighted: return with(WeightedLinkage{}, true);
    case Linkage::centroid: return with(CentroidLinkage{}, false);
    case Linkage::median: return with(MedianLinkage{}, false);
    case Linkage::ward: return with(WardLinkage{}, true);
    case Linkage::minimax:
    case Linkage::medoid: break;
  }
  throw std::invalid_argument("linkage has no Lance-Williams recurrence");
}

namespace {

template <class Objects>
Merges run_prototypes(const Objects& objects, const double* weights, Linkage linkage, Algorithm algorithm,
                      const Progress& progress) {
  if (algorithm == Algorithm::automatic) algorithm = automatic_for(linkage);
  if (linkage == Linkage::minimax)
    return run(MinimaxSpace<Objects>(objects, weights, progress), algorithm, true, progress);
  if (linkage == Linkage::medoid)
    return run(MedoidSpace<Objects>(objects, weights, progress), algorithm, false, progress);
  throw std::invalid_argument("linkage has no prototypes");
}

}  // namespace

Merges cluster_by_prototypes(const double* condensed, const double* weights, std::size_t objects, Linkage linkage,
                             Algorithm algorithm, const Progress& progress) {
  return run_prototypes(CondensedObjects(condensed, objects), weights, linkage, algorithm, progress);
}

Merges cluster_points_by_prototypes(const FeaturesView& points, Linkage linkage, Algorithm algorithm,
                                    const Progress& progress) {
  return run_prototypes(PointObjects(points.mean, points.size, points.dim), points.weight, linkage, algorithm,
                        progress);
}

namespace {

// What a tile says of row i and columns from..to-1 goes to its place in the condensed vector, if it has one.
void copy_row(const double* tile, std::size_t from, std::size_t to, std::size_t i, std::size_t size,
              double* condensed) {
  const std::size_t first = std::max(from, i + 1), last = std::min(to, size);
  if (first < last) std::copy(tile + (first - from), tile + (last - from), &PairMatrix(condensed, size).at(i, first));
}

}  // namespace

void pairwise_squared_distances(const FeaturesView& features, CfDistance distance, double* condensed,
                                std::size_t threads, const Progress& progress) {
  // A group of rows meets a run of blocks that stays in the second cache, kTileQueries at a time.
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
