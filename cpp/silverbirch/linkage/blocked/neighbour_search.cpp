#include "silverbirch/linkage/blocked/neighbour_search.hpp"

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

Shortlists shortlists_of_all(const ClusterPanels& clusters, FilterForm form, std::size_t keep, float cut,
                             std::size_t threads, const Progress& progress) {
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
  for (std::size_t slot = 0; slot < clusters.slots(); ++slot) lists.finish(slot);
  return lists;
}

Shortlists shortlists_of(const ClusterPanels& clusters, FilterForm form, const std::vector<ClusterId>& queries,
                         std::size_t keep, std::size_t threads, const Progress& progress, const Offers* offers) {
  const std::size_t passes = (queries.size() + kQueriesAPass - 1) / kQueriesAPass;
  // With few queries, each thread sweeps a section of the panels. Sections are short enough to stop soon.
  const std::size_t panel_work = std::min(queries.size(), kQueriesAPass) * kPanelLanes * clusters.dim();
  const std::size_t longest = std::max<std::size_t>((std::size_t{1} << 28) / panel_work, 1);
  const std::size_t wanted = threads == 1 ? 1 : (4 * threads + passes - 1) / passes;
  const std::size_t section = std::clamp<std::size_t>((clusters.panels() + wanted - 1) / wanted, 1, longest);
  const std::size_t sections = (clusters.panels() + section - 1) / section;

  std::vector<Shortlists> found(passes * sections, Shortlists(0, keep));
  parallel_for(found.size(), 1, threads, progress, [&](std::size_t begin, std::size_t end) {
    QueryPack pack(clusters, form);
    for (std::size_t task = begin; task < end; ++task) {
      const ClusterId* first = queries.data() + task / sections * kQueriesAPass;
      const std::size_t count = std::min(kQueriesAPass, queries.size() - task / sections * kQueriesAPass);
      pack.load(first, count);
      Shortlists lists(count, keep);
      const std::size_t from = task % sections * section, to = std::min(from + section, clusters.panels());
      for (std::size_t panel = from; panel < to; ++panel) {
        const float* panel_cuts = offers ? offers->cuts.data() + panel * kPanelLanes : kNoCuts.cuts;
        pack.sweep(panel, lists.cuts(), panel_cuts, [&](std::size_t query, std::size_t lane, float bound) {
          const std::size_t slot = panel * kPanelLanes + lane;
          const ClusterId id = clusters.id_at(slot);
          if (id == first[query]) return;
          lists.offer(query, {bound, id});
          if (bound < panel_cuts[lane]) offers->offer(slot, first[query], bound);
        });
      }
      found[task] = std::move(lists);
    }
  });

  Shortlists all(queries.size(), keep);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    for (std::size_t s = 0; s < sections; ++s) all.join(q, found[q / kQueriesAPass * sections + s], q % kQueriesAPass);
    all.finish(q);
  }
  return all;
}

}  // namespace silverbirch
