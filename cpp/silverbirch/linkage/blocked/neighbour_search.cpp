#include "silverbirch/linkage/blocked/neighbour_search.hpp"

#include <atomic>

namespace silverbirch {

namespace {

constexpr std::size_t kBlockPanels = 8;
constexpr std::size_t kBlockSlots = kBlockPanels * kPanelLanes;

// Compares the clusters of two blocks and offers each cluster to the lists of the others.
class BlockComparison {
 public:
  BlockComparison(const ClusterPanels& clusters, FilterForm form, Shortlists& lists)
      : clusters_(clusters), lists_(lists), pack_(clusters, form) {}

  void operator()(std::size_t block_a, std::size_t block_b) {
    const std::size_t end = std::min((block_a + 1) * kBlockSlots, clusters_.slots());
    for (std::size_t first = block_a * kBlockSlots; first < end; first += kQueriesAPass) {
      const std::size_t count = std::min(kQueriesAPass, end - first);
      ClusterId queries[kQueriesAPass];
      for (std::size_t q = 0; q < count; ++q) queries[q] = clusters_.id_at(first + q);
      pack_.load(queries, count);
      const std::size_t last_panel = std::min((block_b + 1) * kBlockPanels, clusters_.panels());
      for (std::size_t panel = block_b * kBlockPanels; panel < last_panel; ++panel)
        compare(queries, first, panel, block_a != block_b);
    }
  }

 private:
  void compare(const ClusterId* queries, std::size_t first, std::size_t panel, bool symmetric) {
    const std::size_t first_lane = panel * kPanelLanes;
    const float* panel_cuts = symmetric ? lists_.cuts() + first_lane : kNoCuts.cuts;
    pack_.sweep(panel, lists_.cuts() + first, panel_cuts, [&](std::size_t query, std::size_t lane, float bound) {
      const ClusterId id = clusters_.id_at(first_lane + lane);
      if (id == queries[query]) return;
      lists_.offer(first + query, {bound, id});
      if (symmetric) lists_.offer(first_lane + lane, {bound, queries[query]});
    });
  }

  const ClusterPanels& clusters_;
  Shortlists& lists_;
  QueryPack pack_;
};

}  // namespace

SectionedShortlists shortlists_of_all(ClusterPanels& clusters, FilterForm form, std::size_t keep, float cut,
                                      std::size_t threads, const Progress& progress) {
  clusters.refresh();
  Shortlists lists(clusters.panels() * kPanelLanes, keep, cut);
  const std::size_t blocks = (clusters.slots() + kBlockSlots - 1) / kBlockSlots;
  for (std::size_t step = 0; step < blocks; ++step) {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t a = 0; a < blocks; ++a) {
      const std::size_t b = (step + blocks - a) % blocks;
      if (a <= b) pairs.emplace_back(a, b);
    }
    parallel_for(pairs.size(), 1 + pairs.size() / (4 * threads), threads, progress,
                 [&](std::size_t begin, std::size_t end) {
                   BlockComparison compare(clusters, form, lists);
                   for (std::size_t p = begin; p < end; ++p) compare(pairs[p].first, pairs[p].second);
                 });
  }
  SectionedShortlists whole{keep, clusters.slots(), 1, {}};
  whole.found.push_back(std::move(lists));
  return whole;
}

SectionedPasses::SectionedPasses(ClusterPanels& clusters, FilterForm form, const std::vector<ClusterId>& queries,
                                 std::size_t threads, const Progress& progress)
    : threads_(threads),
      panels_(clusters.panels()),
      progress_(progress),
      packs_((queries.size() + kQueriesAPass - 1) / kQueriesAPass, QueryPack(clusters, form)) {
  clusters.refresh();
  // Sections are short enough to stop soon.
  const std::size_t panel_work = std::min(queries.size(), kQueriesAPass) * kPanelLanes * clusters.dim();
  const std::size_t longest = std::max<std::size_t>((std::size_t{1} << 28) / panel_work, 1);
  const std::size_t wanted = threads == 1 ? 1 : (4 * threads + packs_.size() - 1) / packs_.size();
  section_ = std::clamp<std::size_t>((panels_ + wanted - 1) / wanted, 1, longest);
  sections_ = (panels_ + section_ - 1) / section_;
  parallel_for(packs_.size(), 1, threads, progress, [&](std::size_t pass, std::size_t) {
    const std::size_t first = pass * kQueriesAPass;
    packs_[pass].load(queries.data() + first, std::min(kQueriesAPass, queries.size() - first));
  });
}

SectionedShortlists shortlists_of(ClusterPanels& clusters, FilterForm form, const std::vector<ClusterId>& queries,
                                  std::size_t keep, std::size_t threads, const Progress& progress, const Offers* offers,
                                  const ClusterId* component) {
  const SectionedPasses passes(clusters, form, queries, threads, progress);
  SectionedShortlists lists{keep, kQueriesAPass, passes.sections(), {}};
  lists.found.resize(passes.tasks(), Shortlists(0, keep));
  // What one section cuts off, the others need not list. The candidates that are left in the end do not depend on it.
  std::vector<std::atomic<float>> cuts(queries.size());
  for (std::atomic<float>& cut : cuts) cut = std::numeric_limits<float>::infinity();
  passes.each([&](std::size_t task, const QueryPack& pack, std::size_t first, std::size_t begin, std::size_t end) {
    Shortlists found(pack.count(), keep);
    for (std::size_t q = 0; q < pack.count(); ++q) found.lower_cut(q, cuts[first + q].load(std::memory_order_relaxed));
    auto panel_cuts = kNoCuts;
    for (std::size_t panel = begin; panel < end; ++panel) {
      if (offers) offers->write_cuts(panel, panel_cuts.cuts);
      pack.sweep(panel, found.cuts(), panel_cuts.cuts, [&](std::size_t q, std::size_t lane, float bound) {
        const std::size_t slot = panel * kPanelLanes + lane;
        const ClusterId id = clusters.id_at(slot), query = queries[first + q];
        if (component ? component[id] == component[query] : id == query) return;
        found.offer(q, {bound, id});
        if (bound < panel_cuts.cuts[lane]) offers->offer(slot, query, bound);
      });
    }
    for (std::size_t q = 0; q < pack.count(); ++q) {
      found.finish(q);
      std::atomic<float>& cut = cuts[first + q];
      float known = cut.load(std::memory_order_relaxed);
      while (found.cut(q) < known && !cut.compare_exchange_weak(known, found.cut(q), std::memory_order_relaxed)) {
      }
    }
    lists.found[task] = std::move(found);
  });
  return lists;
}

}  // namespace silverbirch
