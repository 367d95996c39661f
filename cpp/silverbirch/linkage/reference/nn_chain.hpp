// NN-chain [Benzécri 1982; Murtagh 1983]: follows nearest neighbours until two clusters are nearest to each other,
// merges them, and goes on from the rest of the chain. Quadratic time. For reducible linkages the dendrogram is the
// greedy one; for centroid, median and medoid it differs, as the paper says.
#pragma once

#include <algorithm>
#include <vector>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/cluster_space.hpp"

namespace silverbirch {

template <ClusterSpace Space, class History>
void nn_chain(Space& space, History& history, const Progress& progress) {
  const std::size_t objects = space.active().size();
  std::vector<std::size_t> chain;
  std::vector<bool> in_chain(objects, false);
  const auto pop = [&] {
    in_chain[chain.back()] = false;
    chain.pop_back();
  };

  while (space.active().size() > 1) {
    if (chain.empty()) {
      chain.push_back(space.active().front());
      in_chain[chain.back()] = true;
    }
    progress.poll();
    const std::size_t tip = chain.back();
    Neighbour next = space.nearest(tip);
    if (chain.size() > 1) {
      const std::size_t previous = chain[chain.size() - 2];
      if (const double back = space.distance(tip, previous); back <= next.distance) next = {previous, back};
      if (next.id == previous) {
        pop();
        pop();
        const std::size_t a = std::min(tip, previous), b = std::max(tip, previous);
        space.merge(a, b);
        history.record(a, b, next.distance, space.prototype(b));
        progress(history.size(), objects - 1);
        continue;
      }
    }
    if (in_chain[next.id]) {
      // Happens only if the linkage is not reducible: a merged cluster came nearer to an earlier element of the chain.
      // Go on from that element.
      while (chain.back() != next.id) pop();
    } else {
      chain.push_back(next.id);
      in_chain[next.id] = true;
    }
  }
}

}  // namespace silverbirch
