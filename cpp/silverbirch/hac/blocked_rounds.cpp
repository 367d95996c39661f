// Rounds of reciprocal nearest neighbours [Murtagh 1983; Sumengen et al. 2021, "Scaling Hierarchical Agglomerative
// Clustering to Billion-sized Datasets"; Yu et al. 2021, "ParChain"]: for a reducible linkage all pairs of clusters
// that are nearest to each other may be merged at once.
//
// A cluster's neighbour is looked for only where it matters: of new clusters, and of those that somebody whose
// neighbour is known calls its nearest. From any known one the way along nearest neighbours thus leads to a pair that
// can merge, so each round has one. Whose neighbour is needed follows from the exact distances alone, not from lists,
// threads or the filter, and so does the result.
#include "blocked_rounds.hpp"

#include <algorithm>
#include <numeric>

#include "neighbour_lists.hpp"
#include "neighbour_search.hpp"

namespace silverbirch {

namespace {

// Measured: longer lists save searches and cost exact distances; from 16 to 32 it is the same.
constexpr std::size_t kListLength = 16;
constexpr std::size_t kProbes = 64;

class BlockedRounds {
 public:
  BlockedRounds(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads,
                const Progress& progress)
      : threads_(threads),
        progress_(progress),
        poll_([&progress](std::size_t, std::size_t) { progress.poll(); }),
        clusters_(features, distance, vote, progress),
        lists_(clusters_, kListLength),
        history_(features.size),
        active_(features.size),
        nearest_(features.size),
        known_(features.size, false),
        followers_(features.size, kNobody),
        next_(features.size, kNobody) {}

  Merges run() && {
    merge_duplicates();
    if (active_ > 1) first_round();
    while (active_ > 1) {
      std::vector<ClusterId> resolved, wanted = std::move(new_clusters_);
      new_clusters_.clear();
      while (!wanted.empty()) {
        resolve(wanted);
        resolved.insert(resolved.end(), wanted.begin(), wanted.end());
        wanted = unknown_neighbours(wanted);
      }
      if (!merge_pairs(resolved)) forget_all();
    }
    return std::move(history_).finish(true);
  }

 private:
  // Clusters at the same place have distance zero. Each would be nearest to all the others: merged beforehand, no
  // search has to tell them apart.
  void merge_duplicates() {
    std::vector<ClusterId> order(active_);
    std::iota(order.begin(), order.end(), ClusterId{0});
    std::sort(order.begin(), order.end(), [&](ClusterId a, ClusterId b) {
      return clusters_.mean_less(a, b) || (!clusters_.mean_less(b, a) && a < b);
    });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (clusters_.same_place(order[i - 1], order[i])) merge(order[i - 1], order[i], 0.0);
    new_clusters_.clear();
    clusters_.compact();
  }

  void first_round() {
    std::vector<ClusterId> all(clusters_.slots());
    for (std::size_t slot = 0; slot < all.size(); ++slot) all[slot] = clusters_.id_at(slot);
    choose_form(all);
    measure(all, shortlists_of_all(clusters_, form_, kListLength, threads_, poll_));
    search_closely(unsure_among(all));
    for (const ClusterId id : all) follow(id);
    merge_pairs(all);
  }

  // Where groups are small against their distances, products cannot tell their members apart. Some queries show it.
  void choose_form(const std::vector<ClusterId>& all) {
    std::vector<ClusterId> probes;
    const std::size_t step = std::max<std::size_t>(all.size() / kProbes, kProbes);
    for (std::size_t i = 0; i < all.size(); i += step) probes.push_back(all[i]);
    measure(probes, shortlists_of(clusters_, form_, probes, kListLength, threads_, poll_));
    if (4 * unsure_among(probes).size() > probes.size()) form_ = FilterForm::difference;
  }

  // Finds the nearest neighbours of some clusters: from their lists if these reach far enough.
  void resolve(const std::vector<ClusterId>& wanted) {
    for (const ClusterId id : wanted) lists_.rename(id);
    parallel_for(wanted.size(), 32, threads_, poll_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) nearest_[wanted[i]] = lists_.nearest(wanted[i]);
    });
    const std::vector<ClusterId> unsure = unsure_among(wanted);
    if (!unsure.empty()) {
      measure(unsure, shortlists_of(clusters_, form_, unsure, kListLength, threads_, poll_));
      search_closely(unsure_among(unsure));
    }
    for (const ClusterId id : wanted) follow(id);
  }

  std::vector<ClusterId> unsure_among(const std::vector<ClusterId>& ids) const {
    std::vector<ClusterId> unsure;
    for (const ClusterId id : ids)
      if (!lists_.certain(id, nearest_[id].distance)) unsure.push_back(id);
    return unsure;
  }

  // Takes what a pass has found as the queries' lists.
  void measure(const std::vector<ClusterId>& queries, const Shortlists& found) {
    parallel_for(queries.size(), 32, threads_, poll_, [&](std::size_t begin, std::size_t end) {
      std::vector<NearestCluster> measured;
      for (std::size_t q = begin; q < end; ++q) {
        const ClusterId id = queries[q];
        measured.clear();
        for (const Candidate* c = found.begin(q); c != found.end(q); ++c)
          measured.push_back({c->id, clusters_.distance(id, c->id)});
        nearest_[id] = lists_.assign(id, measured, static_cast<double>(found.cut(q)) * clusters_.bound_unit());
      }
    });
  }

  // Where more are about equally near than a list holds: measures every cluster whose lower bound is not beyond the
  // nearest so far.
  void search_closely(const std::vector<ClusterId>& queries) {
    const std::size_t piece = std::min(piece_size(clusters_.slots() * clusters_.dim()), kQueriesAPass);
    parallel_for(queries.size(), piece, threads_, poll_, [&](std::size_t begin, std::size_t end) {
      const ClusterId* query = queries.data() + begin;
      std::vector<float> cuts;
      for (std::size_t q = begin; q < end; ++q) cuts.push_back(cut_beyond(nearest_[queries[q]].distance));
      std::vector<std::vector<NearestCluster>> measured(end - begin);
      QueryPack pack(clusters_);
      pack.load(query, end - begin);
      for (std::size_t panel = 0; panel < clusters_.panels(); ++panel)
        pack.sweep(FilterForm::difference, panel, cuts.data(), kNoCuts.cuts,
                   [&](std::size_t q, std::size_t lane, float) {
                     const ClusterId id = clusters_.id_at(panel * kPanelLanes + lane);
                     if (id != query[q]) measured[q].push_back({id, clusters_.distance(query[q], id)});
                   });
      for (std::size_t q = 0; q < end - begin; ++q)
        nearest_[query[q]] =
            lists_.assign(query[q], measured[q], static_cast<double>(cuts[q]) * clusters_.bound_unit());
    });
  }

  // In the filter's units, and so much more that what is as near as that stays within.
  float cut_beyond(double distance) const {
    return static_cast<float>(std::max(distance / clusters_.bound_unit() * (1.0 + 1e-6), 1e-35));
  }

  std::vector<ClusterId> unknown_neighbours(const std::vector<ClusterId>& of) {
    std::vector<ClusterId> unknown;
    for (const ClusterId id : of)
      if (!known_[nearest_[id].id]) unknown.push_back(nearest_[id].id);
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    return unknown;
  }

  bool merge_pairs(const std::vector<ClusterId>& resolved) {
    std::vector<std::pair<ClusterId, ClusterId>> pairs;
    for (const ClusterId id : resolved) {
      const ClusterId other = nearest_[id].id;
      if (known_[other] && nearest_[other].id == id) pairs.emplace_back(std::min(id, other), std::max(id, other));
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (const auto& [a, b] : pairs) {
      forget_followers(a);
      forget_followers(b);
      merge(a, b, nearest_[a].distance);
      progress_(history_.size(), known_.size());
    }
    if (active_ <= clusters_.slots() / 4 * 3) clusters_.compact();
    return !pairs.empty();
  }

  void merge(ClusterId a, ClusterId b, double height) {
    history_.record(a, b, height);
    clusters_.merge(a, b);
    lists_.merge(a, b);
    new_clusters_.push_back(b);
    --active_;
  }

  // Who calls whom its nearest, as a linked list for each: when a cluster merges, its followers' neighbours are
  // unknown. Nobody stops following before that, so lists are only dropped whole.
  void follow(ClusterId id) {
    const ClusterId leader = nearest_[id].id;
    known_[id] = true;
    next_[id] = followers_[leader];
    followers_[leader] = id;
  }

  void forget_followers(ClusterId id) {
    for (ClusterId f = followers_[id]; f != kNobody; f = next_[f]) known_[f] = false;
    followers_[id] = kNobody;
  }

  // Where triangles are equilateral, rounding may put a merged cluster nearer to a third one than that one's known
  // neighbour, and three may follow each other in a circle. Once all are looked up anew, the nearest pair of all is
  // found.
  void forget_all() {
    std::fill(followers_.begin(), followers_.end(), kNobody);
    for (std::size_t slot = 0; slot < clusters_.slots(); ++slot)
      if (const ClusterId id = clusters_.id_at(slot); id != kNobody) {
        known_[id] = false;
        new_clusters_.push_back(id);
      }
  }

  std::size_t threads_;
  const Progress& progress_;
  const Progress poll_;
  ClusterPanels clusters_;
  NeighbourLists lists_;
  FilterForm form_ = FilterForm::product;
  MergeHistory history_;
  std::size_t active_;
  std::vector<NearestCluster> nearest_;
  std::vector<char> known_;
  std::vector<ClusterId> followers_, next_;
  std::vector<ClusterId> new_clusters_;
};

}  // namespace

Merges cluster_blocked(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads,
                       const Progress& progress) {
  return BlockedRounds(features, distance, vote, threads, progress).run();
}

}  // namespace silverbirch
