// The nearest few of some clusters among all: filtered in float32, measured in float64.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "neighbour_search.hpp"

namespace silverbirch {

struct NearestCluster {
  ClusterId id = kNobody;
  double distance = std::numeric_limits<double>::infinity();

  // Of two equally near the one of the smaller number comes first. Then the pair that comes first among all, by
  // (distance, smaller number, larger number), consists of two that are nearest to each other.
  bool operator<(const NearestCluster& other) const {
    return distance < other.distance || (distance == other.distance && id < other.id);
  }
};

// Every search calls take(id, measured, reach) for each of its queries, on several threads: all clusters that are not
// among the measured ones lie at `reach` or beyond.
class ExactSearch {
 public:
  ExactSearch(const ClusterPanels& clusters, std::size_t keep, std::size_t threads, const Progress& progress)
      : clusters_(clusters),
        keep_(keep),
        threads_(threads),
        poll_([&progress](std::size_t, std::size_t) { progress.poll(); }) {}

  // Where groups are small against their distances, products cannot tell their members apart.
  void use_differences() { form_ = FilterForm::difference; }

  // Of all clusters; they are given by slot.
  template <class Take>
  void all(const std::vector<ClusterId>& queries, Take take) const {
    measure(queries, shortlists_of_all(clusters_, form_, keep_, threads_, poll_), take);
  }

  template <class Take>
  void some(const std::vector<ClusterId>& queries, Take take) const {
    measure(queries, shortlists_of(clusters_, form_, queries, keep_, threads_, poll_), take);
  }

  // Where more are about equally near than are kept: measures every cluster whose lower bound is not beyond the nearest
  // known, so that the nearest of all is among them.
  template <class Distance, class Take>
  void closely(const std::vector<ClusterId>& queries, Distance nearest_known, Take take) const {
    const std::size_t piece = std::min(piece_size(clusters_.slots() * clusters_.dim()), kQueriesAPass);
    each(queries.size(), piece, [&](std::size_t begin, std::size_t end) {
      const ClusterId* query = queries.data() + begin;
      std::vector<float> cuts;
      for (std::size_t q = begin; q < end; ++q) cuts.push_back(cut_beyond(nearest_known(queries[q])));
      std::vector<std::vector<NearestCluster>> measured(end - begin);
      QueryPack pack(clusters_);
      pack.load(query, end - begin);
      for (std::size_t panel = 0; panel < clusters_.panels(); ++panel)
        pack.sweep(FilterForm::difference, panel, cuts.data(), kNoCuts.cuts,
                   [&](std::size_t q, std::size_t lane, float) {
                     const ClusterId id = clusters_.id_at(panel * kPanelLanes + lane);
                     if (id != query[q]) measured[q].push_back({id, clusters_.distance(query[q], id)});
                   });
      for (std::size_t q = 0; q < end - begin; ++q) take(query[q], measured[q], in_true_units(cuts[q]));
    });
  }

  // work(begin, end) for pieces of [0, count), on the threads of the search.
  template <class Work>
  void each(std::size_t count, std::size_t piece, Work work) const {
    parallel_for(count, piece, threads_, poll_, work);
  }

 private:
  template <class Take>
  void measure(const std::vector<ClusterId>& queries, const Shortlists& found, Take take) const {
    each(queries.size(), 32, [&](std::size_t begin, std::size_t end) {
      std::vector<NearestCluster> measured;
      for (std::size_t q = begin; q < end; ++q) {
        measured.clear();
        for (const Candidate* c = found.begin(q); c != found.end(q); ++c)
          measured.push_back({c->id, clusters_.distance(queries[q], c->id)});
        take(queries[q], measured, in_true_units(found.cut(q)));
      }
    });
  }

  double in_true_units(float bound) const { return static_cast<double>(bound) * clusters_.bound_unit(); }

  // So much more that what is as near as that stays within.
  float cut_beyond(double distance) const {
    return static_cast<float>(std::max(distance / clusters_.bound_unit() * (1.0 + 1e-6), 1e-35));
  }

  const ClusterPanels& clusters_;
  std::size_t keep_, threads_;
  FilterForm form_ = FilterForm::product;
  const Progress poll_;
};

}  // namespace silverbirch
