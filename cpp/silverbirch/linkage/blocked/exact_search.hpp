// For each query, the clusters that may be among its nearest few: those that the filter cannot rule out.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "silverbirch/linkage/blocked/neighbour_search.hpp"

namespace silverbirch {

struct NearestCluster {
  ClusterId id = kNoCluster;
  double distance = std::numeric_limits<double>::infinity();

  // Ties go to the smaller number. Then the first of all pairs, by (distance, smaller number, larger number), consists
  // of two clusters that are nearest to each other.
  bool operator<(const NearestCluster& other) const {
    return distance < other.distance || (distance == other.distance && id < other.id);
  }
};

// A candidate with its distance, if exact, or a lower bound of it.
struct Bounded {
  ClusterId id;
  bool exact;
  double distance;
};

// Every search calls take(id, candidates, reach) for each of its queries, on several threads. All clusters that are not
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

  // Makes later searches more precise if that pays, and returns whether it did. `unsure_share` is the share of searches
  // in which more clusters were about equally near than were kept. If groups are small compared with the distances
  // between them, neither bytes nor products can tell their members apart. Longer shortlists cost little and a more
  // precise filter much, so longer shortlists are tried first.
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

  // From now on, clusters of the same component do not find each other. `component` has an entry for each cluster.
  void separate(const ClusterId* component) { component_ = component; }

  // `queries` are all clusters, in the order of their slots. Candidates beyond `within` are not needed.
  template <class Take>
  void all(const std::vector<ClusterId>& queries, double within, Take take) const {
    if (!on(Mechanism::mutual_first_pass)) return some(queries, take);
    const float cut = cut_beyond(within);
    hand_over(queries, shortlists_of_all(clusters_, form_, candidates_, cut, threads_, poll_), take);
  }

  template <class Take>
  void some(const std::vector<ClusterId>& queries, Take take) const {
    hand_over(queries, shortlists_of(clusters_, form_, queries, candidates_, threads_, poll_, nullptr, component_),
              take);
  }

  // Also calls offer(id, {query, …}) for every cluster that may be nearer to a query than reach(id), all calls for one
  // cluster on the same thread. For at most kQueriesAPass queries.
  template <class Reach, class Offer, class Take>
  void mutually(const std::vector<ClusterId>& queries, Reach reach, Offer offer, Take take) const {
    Offers offers;
    offers.write_cuts = [&](std::size_t panel, float* cuts) {
      for (std::size_t lane = 0; lane < kPanelLanes; ++lane) {
        const std::size_t slot = panel * kPanelLanes + lane;
        const ClusterId id = slot < clusters_.slots() ? clusters_.id_at(slot) : kNoCluster;
        cuts[lane] = id == kNoCluster ? kNoCuts.cuts[0] : cut_beyond(reach(id));
      }
    };
    offers.offer = [&](std::size_t slot, ClusterId query, float bound) {
      offer(clusters_.id_at(slot), Bounded{query, false, in_true_units(bound)});
    };
    hand_over(queries, shortlists_of(clusters_, form_, queries, candidates_, threads_, poll_, &offers), take);
  }

  // For queries with more clusters about equally near than are kept. The candidates are all clusters whose lower bound
  // is at most the nearest known distance, so the nearest of all is among them.
  template <class Distance, class Take>
  void closely(const std::vector<ClusterId>& queries, Distance nearest_known, Take take) {
    if (queries.empty()) return;
    clusters_.prepare(FilterForm::difference, poll_);
    for (std::size_t begin = 0; begin < queries.size(); begin += kQueriesAPass) {  // in linear memory
      const std::size_t end = std::min(begin + kQueriesAPass, queries.size());
      const std::vector<ClusterId> some(queries.data() + begin, queries.data() + end);
      AlignedFloats cuts;
      for (const ClusterId query : some) cuts.push_back(cut_beyond(nearest_known(query)));
      const SectionedPasses pass(clusters_, FilterForm::difference, some, threads_, poll_);
      std::vector<std::vector<Bounded>> near(some.size() * pass.sections());
      pass.each([&](std::size_t section, const QueryPack& pack, std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t panel = first; panel < last; ++panel)
          pack.sweep(panel, cuts.data(), kNoCuts.cuts, [&](std::size_t q, std::size_t lane, float bound) {
            const ClusterId id = clusters_.id_at(panel * kPanelLanes + lane);
            if (id != kNoCluster && apart(id, some[q]))
              near[q * pass.sections() + section].push_back({id, false, in_true_units(bound)});
          });
      });
      each(some.size(), 1, [&](std::size_t q, std::size_t) {
        std::vector<Bounded>* all = &near[q * pass.sections()];
        for (std::size_t section = 1; section < pass.sections(); ++section)
          all->insert(all->end(), all[section].begin(), all[section].end());
        take(some[q], *all, in_true_units(cuts[q]));
      });
    }
  }

  // Calls work(begin, end) for pieces of [0, count), on the threads of the search.
  template <class Work>
  void each(std::size_t count, std::size_t piece, Work work) const {
    parallel_for(count, piece, threads_, poll_, work);
  }

 private:
  template <class Take>
  void hand_over(const std::vector<ClusterId>& queries, const SectionedShortlists& found, Take take) const {
    const std::size_t piece = std::clamp<std::size_t>(queries.size() / (4 * threads_), 2, 32);
    each(queries.size(), piece, [&](std::size_t begin, std::size_t end) {
      std::vector<Candidate> candidates;
      std::vector<Bounded> near;
      for (std::size_t q = begin; q < end; ++q) {
        const float cut = found.collect(q, candidates);
        near.clear();
        for (const Candidate& c : candidates) near.push_back({c.id, false, in_true_units(c.bound)});
        take(queries[q], near, in_true_units(cut));
      }
    });
  }

  bool apart(ClusterId a, ClusterId b) const { return component_ ? component_[a] != component_[b] : a != b; }

  double in_true_units(float bound) const { return static_cast<double>(bound) * clusters_.bound_unit(); }

  // A cut slightly above `distance`, so that clusters exactly as near stay below it.
  float cut_beyond(double distance) const {
    return static_cast<float>(std::max(distance / clusters_.bound_unit() * (1.0 + 1e-6), 1e-35));
  }

  ClusterPanels& clusters_;
  std::size_t keep_, candidates_, threads_;
  FilterForm form_;
  const ClusterId* component_ = nullptr;
  const Progress poll_;
};

}  // namespace silverbirch
