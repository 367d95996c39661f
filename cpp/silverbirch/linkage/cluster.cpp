#include "silverbirch/linkage/cluster.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/features/block_kernels.hpp"
#include "silverbirch/linkage/blocked/greedy.hpp"
#include "silverbirch/linkage/blocked/rounds.hpp"
#include "silverbirch/linkage/blocked/single.hpp"
#include "silverbirch/linkage/indexed/indexed.hpp"
#include "silverbirch/linkage/points/points.hpp"
#include "silverbirch/linkage/reference/agnes.hpp"
#include "silverbirch/linkage/reference/anderberg.hpp"
#include "silverbirch/linkage/reference/feature_space.hpp"
#include "silverbirch/linkage/reference/generic.hpp"
#include "silverbirch/linkage/reference/matrix_space.hpp"
#include "silverbirch/linkage/reference/mst.hpp"
#include "silverbirch/linkage/reference/nn_chain.hpp"
#include "silverbirch/linkage/reference/pairwise_distances.hpp"
#include "silverbirch/linkage/reference/prototype_space.hpp"

namespace silverbirch {

Algorithm algorithm_from_name(std::string_view name) {
  return from_name<Algorithm>(kAlgorithmNames, name, "algorithm");
}

namespace {

// -- The choice of the algorithm

// features: weight, mean and sse are merged. points: only the Euclidean distances of the means count. distances: those
// of all pairs are given.
enum class Given { features, points, distances };

struct Problem {
  const Linkage& linkage;
  Given given;
  std::size_t size = 0, dim = 0;  // unset for distances
};

// Whether the algorithm computes this linkage. For linkages that are not reducible, the result of nn_chain may differ
// from the greedy one.
bool suits(Algorithm algorithm, const Problem& problem) {
  const auto& [linkage, given, size, dim] = problem;
  const bool features = given == Given::features && is_indexable(*linkage.distance);
  const bool minimum = linkage.over_pairs == OverPairs::minimum;
  switch (algorithm) {
    case Algorithm::boruvka: return minimum && given == Given::points;
    case Algorithm::mst: return minimum && given != Given::features;
    case Algorithm::rounds: return given == Given::points ? linkage.by_members() : features && linkage.reducible;
    case Algorithm::heap: return features;
    case Algorithm::blocked: return features || (minimum && given == Given::points);
    default: return true;
  }
}

std::invalid_argument unsuitable(Algorithm algorithm, const Problem& problem) {
  const auto name = [](std::size_t i) { return std::string(kAlgorithmNames[i]); };
  std::string others;
  for (std::size_t i = 1; i < kAlgorithmNames.size(); ++i)
    if (suits(static_cast<Algorithm>(i), problem)) others += ", '" + name(i) + "'";
  const char* data = problem.given == Given::features ? "points or cluster features"
                     : problem.given == Given::points ? "points"
                                                      : "condensed distances";
  return std::invalid_argument("algorithm='" + name(static_cast<std::size_t>(algorithm)) + "' does not compute '" +
                               std::string(problem.linkage.name) + "' linkage of " + data + ": use algorithm='auto'" +
                               others);
}

// Where blocked searches are faster than the reference algorithms: measured by
// benchmarks/studies/linkage_high_dimensions.py.
bool blocks_pay(const Problem& problem) { return problem.dim >= 8 && problem.size * problem.dim >= 80'000; }

// Where blocked searches are so much faster that an index need not be tried, however well it would prune: few rows with
// many coordinates. Measured with rounds, on 500 tight groups.
bool blocks_pay_at_once(const Problem& problem) {
  return blocks_pay(problem) && problem.linkage.reducible && problem.size <= 32 * problem.dim;
}

// Returns the algorithm asked for or, if automatic, the fastest that gives the greedy result. index_pays() builds an
// index of the data and tries it on a sample of searches.
template <class IndexPays>
Algorithm choose(Algorithm asked, const Problem& problem, IndexPays index_pays) {
  const auto suitable = [&](Algorithm algorithm) { return suits(algorithm, problem); };
  if (asked != Algorithm::automatic) {
    if (!suitable(asked)) throw unsuitable(asked, problem);
    return asked;
  }
  const bool blocked = suitable(Algorithm::blocked);
  if (blocked && blocks_pay_at_once(problem)) return Algorithm::blocked;
  for (const Algorithm indexed : {Algorithm::boruvka, Algorithm::rounds, Algorithm::heap}) {
    if (!suitable(indexed)) continue;
    if (index_pays()) return indexed;
    break;
  }
  if (blocked && blocks_pay(problem)) return Algorithm::blocked;
  if (suitable(Algorithm::mst)) return Algorithm::mst;
  return problem.linkage.reducible ? Algorithm::nn_chain : Algorithm::generic;
}

Algorithm choose(Algorithm asked, const Problem& problem) {
  return choose(asked, problem, [] { return false; });
}

// -- The reference algorithms

template <ClusterSpace Space>
Merges run(Space space, Algorithm algorithm, const Linkage& linkage, const Progress& progress) {
  MergeHistory history(space.active().size());
  switch (algorithm) {
    case Algorithm::agnes: agnes(space, history, progress); break;
    case Algorithm::anderberg: anderberg(space, history, progress); break;
    case Algorithm::nn_chain: nn_chain(space, history, progress); break;
    case Algorithm::generic: generic(space, history, progress); break;
    default: throw std::logic_error("not an algorithm for a cluster space");
  }
  return std::move(history).finish(linkage.reducible);
}

// `pairs` holds the numbers that the recurrence works on (for squared linkages: scaled squares). It is overwritten.
Merges run_recurrence(const PairMatrix& pairs, const double* weights, const Linkage& linkage, Algorithm algorithm,
                      const Progress& progress, std::size_t threads = 1) {
  const std::size_t objects = pairs.objects();
  if (algorithm == Algorithm::mst) {
    const auto distances_from = [&](std::size_t object, double* row) {
      for (std::size_t i = 0; i < objects; ++i)
        if (i != object) row[i] = pairs.at(object, i);
    };
    return mst(objects, distances_from, progress);
  }
  return with_formula<Merges>(linkage, [&]<Recurrence Formula>(Formula) {
    return run(MatrixSpace<Formula>(pairs, weights, threads), algorithm, linkage, progress);
  });
}

template <class Objects, class BeforePairs>
Merges run_prototypes(const Objects& objects, const double* weights, const Linkage& linkage, Algorithm algorithm,
                      BeforePairs before_pairs, const Progress& progress) {
  return with_formula<Merges>(linkage, [&]<Prototypes Formula>(Formula) {
    using Space = typename Formula::template Space<Objects>;
    if (Space::kAllocatesPairs) before_pairs(objects.size());
    return run(Space(objects, weights, progress), algorithm, linkage, progress);
  });
}

// -- Features and points

Merges in_roots(Merges merges, std::size_t threads, double scale = 1.0) {
  parallel_for(merges.z.size() / 4, 8192, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double& height = merges.z[4 * i + 2];
      const double squared = height * scale;
      height = squared > 0.0 ? std::sqrt(squared) : 0.0;  // rounding can make a recurrence slightly negative
    }
  });
  return merges;
}

// Returns change(squared CF distance) of all pairs of features. Calls before_pairs before it allocates them.
template <class Change>
std::unique_ptr<double[]> all_pairs(const FeaturesView& features, CfDistance distance, const ClusterOptions& options,
                                    const Progress& progress, Change change) {
  options.before_pairs(features.size);
  const std::size_t count = features.size * (features.size - 1) / 2;
  std::unique_ptr<double[]> pairs(new double[count]);  // left unset: a fill could not be interrupted
  const Progress polls{[&](std::size_t, std::size_t) { progress.poll(); }};
  pairwise_squared_distances(features, distance, pairs.get(), options.threads, polls);
  parallel_for(count, std::size_t{1} << 20, options.threads, polls, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) pairs[i] = change(pairs[i]);
  });
  return pairs;
}

// Takes linear memory. Heights are squared CF distances.
Merges merge_features(const FeaturesView& features, const Linkage& linkage, const ClusterOptions& options,
                      const Progress& progress) {
  const CfDistance distance = *linkage.distance;
  std::optional<IndexedClustering> made;
  const auto index = [&]() -> IndexedClustering& {
    return made ? *made : made.emplace(features, distance, linkage.vote, options.threads, progress);
  };
  const Problem problem{linkage, Given::features, features.size, features.dim};
  const Algorithm algorithm = choose(options.algorithm, problem, [&] { return index().pays(); });
  if (algorithm == Algorithm::rounds || algorithm == Algorithm::heap)
    return std::move(index()).run(algorithm == Algorithm::rounds);
  made.reset();
  if (algorithm == Algorithm::blocked)
    return linkage.reducible ? cluster_blocked(features, distance, linkage.vote, options.threads, progress)
                             : cluster_blocked_greedily(features, linkage.vote, options.threads, progress);
  return run(FeatureSpace(features, distance, linkage.vote), algorithm, linkage, progress);
}

// By the Euclidean distances of the means.
Merges cluster_points(const FeaturesView& points, const Linkage& linkage, const ClusterOptions& options,
                      const Progress& progress) {
  std::optional<IndexedClustering> made_index;
  std::optional<VerifiedClustering> made_members;
  const auto index = [&]() -> IndexedClustering& {
    // A nonzero sse keeps the index from merging duplicates first: Borůvka joins them like all other points. D0 ignores
    // the sse.
    const FeaturesView apart{points.size, points.dim, points.weight, points.mean, points.weight};
    return made_index ? *made_index
                      : made_index.emplace(apart, CfDistance::centroid, linkage.vote, options.threads, progress);
  };
  const auto members = [&]() -> VerifiedClustering& {
    return made_members ? *made_members : made_members.emplace(points, linkage, options.threads, progress);
  };
  const Problem problem{linkage, Given::points, points.size, points.dim};
  const Algorithm algorithm = choose(options.algorithm, problem, [&] {
    return linkage.over_pairs == OverPairs::minimum ? index().pays() : members().pays();
  });
  if (algorithm == Algorithm::boruvka) return in_roots(std::move(index()).run_single(), options.threads);
  if (algorithm == Algorithm::rounds) return in_roots(std::move(members()).run(), options.threads);
  made_index.reset();
  made_members.reset();

  if (algorithm == Algorithm::blocked)
    return in_roots(cluster_blocked_single(points, options.threads, progress), options.threads);
  if (algorithm == Algorithm::mst) {
    const FeatureSpace space(points, CfDistance::centroid, linkage.vote);
    const auto distances_from = [&](std::size_t object, double* row) { space.distances_from(object, row); };
    return in_roots(mst(points.size, distances_from, progress), options.threads);
  }
  if (linkage.prototypes) {
    const PointObjects objects(points, options.threads);
    return run_prototypes(objects, points.weight, linkage, algorithm, options.before_pairs, progress);
  }
  const auto pairs =
      all_pairs(points, CfDistance::centroid, options, progress, [](double squared) { return std::sqrt(squared); });
  return run_recurrence({pairs.get(), points.size}, points.weight, linkage, algorithm, progress, options.threads);
}

}  // namespace

Merges cluster_features(const FeaturesView& features, const Linkage& linkage, Means means,
                        const ClusterOptions& options, const Progress& progress) {
  if (!linkage.distance || !(linkage.squared || means == Means::of_squares))
    return cluster_points(features, linkage, options, progress);
  if (options.algorithm != Algorithm::agnes && options.algorithm != Algorithm::anderberg)
    return in_roots(merge_features(features, linkage, options, progress), options.threads, linkage.scale);
  // Both start from the definition: the recurrence on all pairs.
  const auto pairs = all_pairs(features, *linkage.distance, options, progress,
                               [&](double squared) { return linkage.scale * squared; });
  return in_roots(run_recurrence({pairs.get(), features.size}, features.weight, linkage, options.algorithm, progress),
                  options.threads);
}

Merges aggregate_features(const FeaturesView& features, CfDistance distance, const ClusterOptions& options,
                          const Progress& progress) {
  const Linkage linkage = aggregation_by(distance);
  return in_roots(merge_features(features, linkage, options, progress), options.threads, linkage.scale);
}

Merges cluster_distances(double* condensed, const double* weights, std::size_t objects, const Linkage& linkage,
                         Algorithm algorithm, const Progress& progress) {
  const PairMatrix pairs(condensed, objects);
  algorithm = choose(algorithm, {linkage, Given::distances});
  if (!linkage.squared) return run_recurrence(pairs, weights, linkage, algorithm, progress);
  // The squared CF distance of two features with these weights, no spread, and means this far apart.
  const bool ward = linkage.distance == CfDistance::ward;
  const auto factor = [&](double a, double b) {
    return linkage.scale * (ward ? WardDistance::squared(1.0, a, 0.0, b, 0.0) : 1.0);
  };
  for (std::size_t i = 0; i < objects; ++i) {
    progress.poll();
    for (std::size_t j = i + 1; j < objects; ++j) {
      double& distance = pairs.at(i, j);
      distance *= distance;
      distance *= factor(weights[i], weights[j]);
    }
  }
  return in_roots(run_recurrence(pairs, weights, linkage, algorithm, progress), 1);
}

Merges cluster_distances_by_prototypes(const double* condensed, const double* weights, std::size_t objects,
                                       const Linkage& linkage, Algorithm algorithm, const Progress& progress) {
  algorithm = choose(algorithm, {linkage, Given::distances});
  return run_prototypes(
      CondensedObjects(condensed, objects), weights, linkage, algorithm, [](std::size_t) {}, progress);
}

}  // namespace silverbirch
