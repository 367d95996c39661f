#include "cluster.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "../linkage.hpp"
#include "../parallel.hpp"
#include "agnes.hpp"
#include "anderberg.hpp"
#include "generic.hpp"
#include "indexed.hpp"
#include "matrix_space.hpp"
#include "mst.hpp"
#include "nn_chain.hpp"
#include "prototype_space.hpp"
#include "verified.hpp"

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
  if (indexed && is_indexable(distance)) {
    IndexedClustering clustering(features, distance, vote, threads, progress);
    if (algorithm != Algorithm::automatic || clustering.pays())
      return std::move(clustering).run(reducible && algorithm != Algorithm::heap);
  }
  if (algorithm == Algorithm::automatic) algorithm = reducible ? Algorithm::nn_chain : Algorithm::generic;
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

void pairwise_squared_distances(const FeaturesView& features, CfDistance distance, double* condensed,
                                std::size_t threads, const Progress& progress) {
  const FeatureSpace space(features, distance, Vote::by_weight);
  parallel_for(features.size, piece_size(features.size * features.dim), threads, progress,
               [&](std::size_t begin, std::size_t end) {
                 AlignedDoubles row(blocks_for(features.size) * kLanes);
                 for (std::size_t i = begin; i < end; ++i) {
                   space.distances_from(i, row.data());
                   double* to = condensed + (features.size * i - i * (i + 1) / 2);
                   std::copy(row.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                             row.begin() + static_cast<std::ptrdiff_t>(features.size), to);
                 }
               });
}

}  // namespace silverbirch
