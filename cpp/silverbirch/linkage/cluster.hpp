// The entry to the clustering algorithms: one function for each kind of data. The algorithm is chosen here and nowhere
// else. Heights are in scipy's units, whatever the algorithm works on.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/lance_williams.hpp"
#include "silverbirch/linkage/merge_history.hpp"

namespace silverbirch {

// automatic: the fastest algorithm that gives the greedy result; the data decides.
enum class Algorithm { automatic, agnes, anderberg, nn_chain, generic, mst, rounds, heap, boruvka, blocked };
inline constexpr std::array<std::string_view, 10> kAlgorithmNames = {
    "auto", "agnes", "anderberg", "nn_chain", "generic", "mst", "rounds", "heap", "boruvka", "blocked"};
Algorithm algorithm_from_name(std::string_view name);

// How to cluster. The result does not depend on the number of threads.
struct ClusterOptions {
  Algorithm algorithm = Algorithm::automatic;
  std::size_t threads = 1;
  // Called before 8 bytes for each pair of objects are allocated. May throw, to refuse the allocation.
  std::function<void(std::size_t objects)> before_pairs = [](std::size_t) {};
};

// Whether average and weighted linkage are means of distances or of squared distances. Other linkages ignore it.
enum class Means { of_distances, of_squares };

// Merges features, if the linkage can be computed from them; otherwise treats them as points at their means. Throws
// std::invalid_argument if options.algorithm does not compute this linkage.
Merges cluster_features(const FeaturesView& features, const Linkage& linkage, Means means,
                        const ClusterOptions& options, const Progress& progress);

// Merges features at each step, by any CF distance. Takes linear memory, so before_pairs is not called.
Merges aggregate_features(const FeaturesView& features, CfDistance distance, const ClusterOptions& options,
                          const Progress& progress);

// Clusters objects given by their distances, a condensed vector that is overwritten. Not for linkages with prototypes.
Merges cluster_distances(double* condensed, const double* weights, std::size_t objects, const Linkage& linkage,
                         Algorithm algorithm, const Progress& progress);

// The same for linkages with prototypes. The distances are not changed.
Merges cluster_distances_by_prototypes(const double* condensed, const double* weights, std::size_t objects,
                                       const Linkage& linkage, Algorithm algorithm, const Progress& progress);

}  // namespace silverbirch
