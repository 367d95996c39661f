// The doors to the clustering algorithms: names become types here, once.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/feature_space.hpp"

namespace silverbirch {

// automatic: the fastest of those that give the greedy result, chosen by the data.
enum class Algorithm { automatic, agnes, anderberg, nn_chain, generic, mst, rounds, heap, boruvka, blocked };
inline constexpr std::array<std::string_view, 10> kAlgorithmNames = {
    "auto", "agnes", "anderberg", "nn_chain", "generic", "mst", "rounds", "heap", "boruvka", "blocked"};
Algorithm algorithm_from_name(std::string_view name);

enum class Linkage { single, complete, average, weighted, centroid, median, ward, minimax, medoid };
inline constexpr std::array<std::string_view, 9> kLinkageNames = {
    "single", "complete", "average", "weighted", "centroid", "median", "ward", "minimax", "medoid"};
Linkage linkage_from_name(std::string_view name);

// In linear memory, by merging features. Heights are squared CF distances. The result does not depend on the
// number of threads.
Merges cluster_features(const FeaturesView& features, CfDistance distance, Vote vote, Algorithm algorithm,
                        std::size_t threads, const Progress& progress);

// Single linkage of points, in linear memory: automatic, mst or boruvka. Heights are squared distances.
Merges cluster_single(const FeaturesView& points, Algorithm algorithm, std::size_t threads, const Progress& progress);

// Complete, average or weighted linkage of points by their Euclidean distances, in linear memory: automatic or rounds.
// Heights are squared distances. Nothing, if automatic and a distance matrix is faster.
std::optional<Merges> cluster_points(const FeaturesView& points, Linkage linkage, Algorithm algorithm,
                                     std::size_t threads, const Progress& progress);

// By Lance-Williams recurrence. condensed holds what the recurrence works on (squared distances for centroid, median
// and ward) and is overwritten. Not for minimax and medoid.
Merges cluster_matrix(double* condensed, const double* weights, std::size_t objects, Linkage linkage,
                      Algorithm algorithm, const Progress& progress);

// minimax and medoid: from the distances of the objects, or from points whose Euclidean distances are meant.
Merges cluster_by_prototypes(const double* condensed, const double* weights, std::size_t objects, Linkage linkage,
                             Algorithm algorithm, const Progress& progress);
Merges cluster_points_by_prototypes(const FeaturesView& points, Linkage linkage, Algorithm algorithm,
                                    const Progress& progress);

// Squared CF distances of all pairs, as a condensed vector.
void pairwise_squared_distances(const FeaturesView& features, CfDistance distance, double* condensed,
                                std::size_t threads, const Progress& progress);

}  // namespace silverbirch
