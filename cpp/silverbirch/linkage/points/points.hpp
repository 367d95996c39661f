// Complete, average and weighted linkage of points without their distance matrix: exact, in linear memory.
#pragma once

#include <cstddef>
#include <optional>

#include "silverbirch/linkage/duplicates.hpp"
#include "silverbirch/linkage/lance_williams.hpp"
#include "silverbirch/linkage/points/member_clusters.hpp"

namespace silverbirch {

// For linkages that are a maximum or a mean over pairs of points.
class VerifiedClustering {
 public:
  VerifiedClustering(const FeaturesView& points, const Linkage& linkage, std::size_t threads, const Progress& progress);

  // Whether the index pays: if a sample of searches visits much of it, a distance matrix is faster.
  bool pays() const;

  // Heights are squared distances.
  Merges run() &&;

 private:
  template <Recurrence Formula>
  Merges finish();

  std::size_t objects_;
  const Linkage& linkage_;
  std::size_t threads_;
  const Progress& progress_;
  MergeHistory history_;
  std::optional<MemberClusters> clusters_;  // built after duplicates are merged
};

}  // namespace silverbirch
