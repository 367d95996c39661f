// Passes of the filter over all clusters: they list the candidates that may be near, to be measured exactly.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/linkage/blocked/panels.hpp"
#include "silverbirch/linkage/blocked/shortlists.hpp"

namespace silverbirch {

// The queries of one pass: for this many, the partial sums with a panel stay in the nearest cache.
inline constexpr std::size_t kQueriesAPass = 64;

// A number of queries, packed for the filter.
class QueryPack {
 public:
  QueryPack(const ClusterPanels& clusters, FilterForm form) : clusters_(clusters), form_(form) {}

  // At most kQueriesAPass.
  void load(const ClusterId* queries, std::size_t count) {
    count_ = count;
    groups_.resize((count + kGroupLanes - 1) / kGroupLanes * kGroupLanes * clusters_.panel_rows(form_));
    clusters_.pack(form_, queries, count, groups_.data());
  }

  std::size_t count() const { return count_; }

  // Calls hit(query, lane, bound) for every bound of a panel that is below the query's cut or the lane's.
  template <class Hit>
  void sweep(std::size_t panel, const float* query_cuts, const float* panel_cuts, Hit hit) const {
    alignas(64) float bounds[kQueriesAPass * kPanelLanes];
    std::uint32_t hits[kQueriesAPass];
    FilterTile tile{};
    tile.groups = groups_.data();
    tile.query_count = count_;
    tile.query_cuts = query_cuts;
    tile.panel_cuts = panel_cuts;
    tile.bounds = bounds;
    tile.hits = hits;
    clusters_.bounds(form_, panel, tile);
    for (std::size_t query = 0; query < count_; ++query)
      for (std::uint32_t left = hits[query]; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        hit(query, lane, bounds[query * kPanelLanes + lane]);
      }
  }

 private:
  const ClusterPanels& clusters_;
  FilterForm form_;
  std::size_t count_ = 0;
  AlignedFloats groups_;
};

inline constexpr auto kNoCuts = [] {
  struct {
    alignas(64) float cuts[kPanelLanes];
  } none{};
  for (float& cut : none.cuts) cut = -std::numeric_limits<float>::infinity();
  return none;
}();

// Passes of some queries over all panels, kQueriesAPass queries a pass. With few queries, each thread sweeps a section
// of the panels.
class SectionedPasses {
 public:
  SectionedPasses(ClusterPanels& clusters, FilterForm form, const std::vector<ClusterId>& queries, std::size_t threads,
                  const Progress& progress);

  std::size_t sections() const { return sections_; }
  std::size_t tasks() const { return packs_.size() * sections_; }

  // Calls sweep(task, pack, first, begin, end) for each pass and section: panels begin … end - 1, and the queries of
  // `pack`, of which `first` is the first. Tasks are numbered by pass, then by section.
  template <class Sweep>
  void each(Sweep sweep) const {
    parallel_for(tasks(), 1, threads_, progress_, [&](std::size_t task, std::size_t) {
      const std::size_t pass = task / sections_, begin = task % sections_ * section_;
      sweep(task, packs_[pass], pass * kQueriesAPass, begin, std::min(begin + section_, panels_));
    });
  }

 private:
  std::size_t threads_, panels_, section_, sections_;
  const Progress& progress_;
  std::vector<QueryPack> packs_;
};

// The shortlists of all clusters, by slot, with bounds below `cut`. Every pair is compared once, for both clusters. The
// pairs of blocks of one step have no block in common, so threads never share a list (as in a round-robin tournament).
SectionedShortlists shortlists_of_all(ClusterPanels& clusters, FilterForm form, std::size_t keep, float cut,
                                      std::size_t threads, const Progress& progress);

// What a search does for the clusters that it passes: it calls offer(slot, query, bound) if a query's bound is below
// the cut of a slot. All calls for one slot come from the same thread.
struct Offers {
  std::function<void(std::size_t panel, float* cuts)> write_cuts;  // one for each lane
  std::function<void(std::size_t slot, ClusterId query, float bound)> offer;
};

// The shortlists of some clusters, in the order of `queries`. If there are offers, these are at most kQueriesAPass. If
// there are components, a query finds only clusters of others.
SectionedShortlists shortlists_of(ClusterPanels& clusters, FilterForm form, const std::vector<ClusterId>& queries,
                                  std::size_t keep, std::size_t threads, const Progress& progress,
                                  const Offers* offers = nullptr, const ClusterId* component = nullptr);

}  // namespace silverbirch
