#include "silverbirch/nearest/by_filter.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "silverbirch/base/switches.hpp"
#include "silverbirch/filter/pair_filter.hpp"

namespace silverbirch {

namespace {

// For this many rows, the partial sums with a panel stay in the nearest cache.
constexpr std::size_t kRowsAPass = 64;
// Beyond this, a product of coordinates may overflow float32.
constexpr double kLargestNorm = 1e30;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

const double* lane_of(const PackedTree& tree, std::size_t slot) {
  return tree.blocks + slot / kLanes * index_block_doubles(tree.dim) + slot % kLanes;
}

std::size_t panel_count(const PackedTree& tree) { return (tree.slot_count + kPanelLanes - 1) / kPanelLanes; }

}  // namespace

NearestPanels::NearestPanels(const PackedTree& tree, const Progress& progress)
    : tree_(tree),
      units_(tree.slot_count, tree.dim,
             [&](std::size_t slot, std::size_t k) { return lane_of(tree, slot)[k * kLanes]; }),
      panels_(panel_count(tree) * panel_floats(tree.dim)) {
  for (std::size_t slot = 0; slot < panel_count(tree) * kPanelLanes; ++slot) {
    float* lane = panels_.data() + slot / kPanelLanes * panel_floats(tree.dim) + slot % kPanelLanes;
    if (slot >= tree.slot_count) {
      PanelUnits::clear(lane + tree.dim * kPanelLanes, kPanelLanes);
      continue;
    }
    units_.convert(lane_of(tree, slot), kLanes, lane, kPanelLanes);
    lane[(tree.dim + kTermRow) * kPanelLanes] = 0.0f;
    if (slot % 1024 == 0) progress.poll();
  }
}

// A number of rows, packed for the filter, and the nearest slot that each has found.
template <class Scalar>
class NearestPanels::Pass {
 public:
  explicit Pass(const NearestPanels& panels)
      : panels_(panels),
        tree_(panels.tree_),
        groups_(kRowsAPass / kGroupLanes * group_floats(tree_.dim)),
        bounds_(kRowsAPass * kPanelLanes) {
    std::fill_n(no_cuts_, kPanelLanes, kNothing);
    tile_.groups = groups_.data();
    tile_.rows = tree_.dim;
    tile_.shrink = panels.units_.shrink();
    tile_.query_cuts = cuts_;
    tile_.panel_cuts = no_cuts_;
    tile_.bounds = bounds_.data();
    tile_.hits = hits_;
  }

  // Returns false if the row is beyond the range of the filter. `likely` is the first candidate.
  bool load(std::size_t query, const Scalar* row, std::size_t likely) {
    rows_[query] = row;
    least_[query] = std::numeric_limits<double>::infinity();
    slot_[query] = likely;
    cuts_[query] = kNothing;
    float* lane = groups_.data() + query / kGroupLanes * group_floats(tree_.dim) + query % kGroupLanes;
    const double norm = panels_.units_.convert(row, 1, lane, kGroupLanes);
    lane[(tree_.dim + kTermRow) * kGroupLanes] = 0.0f;
    if (!(norm <= kLargestNorm)) return false;
    improve(query, likely);
    return true;
  }

  void run(std::size_t query_count) {
    tile_.query_count = query_count;
    for (std::size_t panel = 0; panel < panel_count(tree_); ++panel) {
      tile_.panel = panels_.panels_.data() + panel * panel_floats(tree_.dim);
      pair_filter()(fast_form(), FilterLinkage::average, tile_);
      for (std::size_t query = 0; query < query_count; ++query)
        for (std::uint32_t left = hits_[query]; left != 0; left &= left - 1) {
          const auto lane = static_cast<std::size_t>(std::countr_zero(left));
          // The cut may have become lower meanwhile.
          if (bounds_[query * kPanelLanes + lane] < cuts_[query]) improve(query, panel * kPanelLanes + lane);
        }
    }
  }

  std::size_t slot(std::size_t query) const { return slot_[query]; }

 private:
  void improve(std::size_t query, std::size_t slot) {
    const double* point = lane_of(tree_, slot);
    double gap = 0.0;
    for (std::size_t k = 0; k < tree_.dim; ++k) {  // in the order of index/group_search.hpp
      const double difference = static_cast<double>(rows_[query][k]) - point[k * kLanes];
      gap += difference * difference;
    }
    if (gap > least_[query] || (gap == least_[query] && tree_.names[slot] > tree_.names[slot_[query]])) return;
    least_[query] = gap;
    slot_[query] = slot;
    // The cut is a little above the gap, because a slot whose bound equals the gap may be as near and have a lower
    // name.
    cuts_[query] = static_cast<float>(gap / panels_.units_.bound_unit() * (1.0 + 1e-6) + PanelUnits::kUnderflow);
  }

  const NearestPanels& panels_;
  const PackedTree& tree_;
  Floats groups_, bounds_;
  FilterTile tile_{};
  alignas(64) float cuts_[kRowsAPass], no_cuts_[kPanelLanes];
  std::uint32_t hits_[kRowsAPass];
  const Scalar* rows_[kRowsAPass];
  double least_[kRowsAPass];
  std::size_t slot_[kRowsAPass];
};

template <class Scalar>
std::vector<std::size_t> NearestPanels::nearest(const Scalar* rows, std::size_t row_count, std::int64_t* names,
                                                const Checkpoint& checkpoint) const {
  std::vector<std::size_t> left_out;
  Pass<Scalar> pass(*this);
  std::size_t likely = 0;
  for (std::size_t begin = 0; begin < row_count; begin += kRowsAPass) {
    checkpoint();
    const std::size_t count = std::min(kRowsAPass, row_count - begin);
    for (std::size_t query = 0; query < count; ++query)
      if (!pass.load(query, rows + (begin + query) * tree_.dim, likely)) left_out.push_back(begin + query);
    pass.run(count);
    for (std::size_t query = 0; query < count; ++query) names[begin + query] = tree_.names[pass.slot(query)];
    likely = pass.slot(0);
  }
  return left_out;
}

template std::vector<std::size_t> NearestPanels::nearest(const float*, std::size_t, std::int64_t*,
                                                         const Checkpoint&) const;
template std::vector<std::size_t> NearestPanels::nearest(const double*, std::size_t, std::int64_t*,
                                                         const Checkpoint&) const;

}  // namespace silverbirch
