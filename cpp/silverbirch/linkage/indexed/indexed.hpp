// Clustering with an index over the means: exact, in linear memory, and in few dimensions or for data in groups far
// below quadratic time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/linkage/duplicates.hpp"
#include "silverbirch/linkage/indexed/indexed_clusters.hpp"

namespace silverbirch {

inline bool is_indexable(CfDistance distance) {
  return distance == CfDistance::ward || distance == CfDistance::average || distance == CfDistance::centroid;
}

class IndexedClustering {
 public:
  IndexedClustering(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads,
                    const Progress& progress);

  // Whether the index pays: if a sample of searches visits much of it, plain scans are faster.
  bool pays() const;

  // by_rounds: only for reducible linkages.
  Merges run(bool by_rounds) &&;
  Merges run_single() &&;

 private:
  std::size_t objects_, dim_;
  std::size_t threads_;
  const Progress& progress_;
  MergeHistory history_;
  DistinctFeatures distinct_;
  IndexedClusters clusters_;
};

}  // namespace silverbirch
