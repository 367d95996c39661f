// The clusters that may be the nearest few of some, among all: what the filter cannot throw out.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "silverbirch/linkage/blocked/neighbour_search.hpp"

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

// A cluster that may be near, and a lower bound of its distance or the distance itself.
struct Bounded {
  ClusterId id;
  bool exact;
  double distance;
};

// Every search calls take(id, candidates, reach) for each of its queries, on several threads: all clusters that are not
// among the candidates lie at `reach` or beyond.
class ExactSearch {
 public:
  ExactSearch(ClusterPanels& clusters, FilterForm form, std::size_t keep, std::size_t threads, const Progress& progress)
      : clusters_(clusters),
        keep_(keep),
        candidates_(keep),
        threads_(threads),
        form_(form),
        poll_([&progress](std::size_t, std::size_t) { progress.poll(); }) {
    clusters_.prepare(form_, poll_);
  }

  // Where groups are small against their distances, bytes cannot tell their members apart, nor can products. Given the
  // share of searches in which more were about equally near than were kept, says whether it is worth searching in
  // another way, and does so from now on: longer shortlists cost little, a more precise filter much.
  bool refine(double unsure_share) {
    if (form_ == FilterForm::bytes && candidates_ < 4 * keep_ && unsure_share > 1.0 / 32.0) {
      candidates_ *= 2;
      return true;
    }
    if (form_ == FilterForm::difference || unsure_share <= 1.0 / 4.0) return false;
    if (form_ == FilterForm::bytes) clusters_.release(form_);
    form_ = form_ == FilterForm::bytes ? FilterForm::product : FilterForm::difference;
    candidates_ = keep_;
    clusters_.prepare(form_, poll_);
    return true;
  }

  // Of all clusters; they are given by slot. What lies beyond `within` is of no use.
  template <class Take>
  void all(const std::vector<ClusterId>& queries, double within, Take take) const {
    if (!on(Mechanism::mutual_first_pass)) return some(queries, take);
    const float cut = cut_beyond(within);
    hand_over(queries, shortlists_of_all(clusters_, form_, candidates_, cut, threads_, poll_), take);
  }

  template <class Take>
  void some(const std::vector<ClusterId>& queries, Take take) const {
    hand_over(queries, shortlists_of(clusters_, form_, queries, candidates_, threads_, poll_), take);
  }

  // Where more are about equally near than are kept: every cluster whose lower bound is not beyond the nearest known,
  // so that the nearest of all is among them.
  template <class Distance, class Take>
  void closely(const std::vector<ClusterId>& queries, Distance nearest_known, Take take) {
    if (queries.empty()) return;
    clusters_.prepare(FilterForm::difference, poll_);
    const std::size_t piece = std::min(piece_size(clusters_.slots() * clusters_.dim()), kQueriesAPass);
    each(queries.size(), piece, [&](std::size_t begin, std::size_t end) {
      const ClusterId* query = queries.data() + begin;
      std::vector<float> cuts;
      for (std::size_t q = begin; q < end; ++q) cuts.push_back(cut_beyond(nearest_known(queries[q])));
      std::vector<std::vector<Bounded>> near(end - begin);
      QueryPack pack(clusters_, FilterForm::difference);
      pack.load(query, end - begin);
      for (std::size_t panel = 0; panel < clusters_.panels(); ++panel)
        pack.sweep(panel, cuts.data(), kNoCuts.cuts, [&](std::size_t q, std::size_t lane, float bound) {
          const ClusterId id = clusters_.id_at(panel * kPanelLanes + lane);
          if (id != query[q]) near[q].push_back({id, false, in_true_units(bound)});
        });
      for (std::size_t q = 0; q < end - begin; ++q) take(query[q], near[q], in_true_units(cuts[q]));
    });
  }

  // work(begin, end) for pieces of [0, count), on the threads of the search.
  template <class Work>
  void each(std::size_t count, std::size_t piece, Work work) const {
    parallel_for(count, piece, threads_, poll_, work);
  }

 private:
  template <class Take>
  void hand_over(const std::vector<ClusterId>& queries, const Shortlists& found, Take take) const {
    each(queries.size(), 32, [&](std::size_t begin, std::size_t end) {
      std::vector<Bounded> near;
      for (std::size_t q = begin; q < end; ++q) {
        near.clear();
        for (const Candidate* c = found.begin(q); c != found.end(q); ++c)
          near.push_back({c->id, false, in_true_units(c->bound)});
        take(queries[q], near, in_true_units(found.cut(q)));
      }
    });
  }

  double in_true_units(float bound) const { return static_cast<double>(bound) * clusters_.bound_unit(); }

  // So much more that what is as near as that stays within.
  float cut_beyond(double distance) const {
    return static_cast<float>(std::max(distance / clusters_.bound_unit() * (1.0 + 1e-6), 1e-35));
  }

  ClusterPanels& clusters_;
  std::size_t keep_, candidates_, threads_;
  FilterForm form_;
  const Progress poll_;
};

}  // namespace silverbirch
