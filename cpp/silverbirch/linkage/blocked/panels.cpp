#include "silverbirch/linkage/blocked/panels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/features/block_kernels.hpp"
#include "silverbirch/filter/pair_filter.hpp"
#include "silverbirch/linkage/duplicates.hpp"

namespace silverbirch {

namespace {

constexpr std::size_t kRowsAPiece = 512;

}  // namespace

ClusterPanels::ClusterPanels(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads)
    : dim_(features.dim),
      padded_dim_((features.dim + kGapLanes - 1) / kGapLanes * kGapLanes),
      threads_(threads),
      distance_(distance),
      vote_(vote),
      weight_(features.weight, features.weight + features.size),
      sse_(features.sse, features.sse + features.size),
      rows_(features.size * padded_dim_),
      slot_of_(features.size),
      id_of_(features.size),
      floats_(features.dim, kPanelExtraRows),
      bytes_(byte_rows(features.dim), kBytePanelExtraRows),
      is_stale_(features.size, false) {
  if (features.size >= kNoCluster) throw std::invalid_argument("algorithm 'blocked' takes less than 2^32 - 1 objects");
  parallel_for(features.size, kRowsAPiece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      std::fill(std::copy_n(features[i].mean, dim_, row(i)), row(i) + padded_dim_, 0.0);
  });
  if (vote == Vote::equal)
    for (std::size_t i = 0; i < features.size; ++i) {
      sse_[i] /= weight_[i];
      weight_[i] = 1.0;
    }
  least_weight_ = *std::min_element(weight_.begin(), weight_.end());
  choose_units();
  std::iota(slot_of_.begin(), slot_of_.end(), 0);
  std::iota(id_of_.begin(), id_of_.end(), 0);
}

FilterForm ClusterPanels::fastest_form() const {
  constexpr std::size_t fewest = 32;  // measured: turning sums into bounds costs more than shorter sums
  const bool bytes =
      on(Mechanism::byte_filter) && pair_filter().has_bytes() && dim_ >= fewest && dim_ <= kMostByteDimensions;
  return bytes ? FilterForm::bytes : fast_form();
}

void ClusterPanels::prepare(FilterForm form, const Progress& progress) {
  PanelStore& panels = store(form);
  if (!panels.empty()) return;
  panels.resize(slots());
  parallel_for(this->panels() * kPanelLanes, kRowsAPiece, threads_, progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t slot = begin; slot < end; ++slot)
      if (slot < slots() && id_of_[slot] != kNoCluster)
        fill(panels, slot);
      else
        clear(panels, slot);
  });
}

void ClusterPanels::release(FilterForm form) {
  const PanelStore& panels = store(form);
  store(form) = PanelStore(panels.coordinate_rows(), panels.rows() - panels.coordinate_rows());
}

void ClusterPanels::choose_units() {
  double spread = 0.0;
  if (distance_ == CfDistance::average)
    for (ClusterId i = 0; i < objects(); ++i) spread = std::max(spread, std::sqrt(sse_[i] / weight_[i]));
  units_ = PanelUnits(
      objects(), dim_, [&](std::size_t i, std::size_t k) { return rows_[i * padded_dim_ + k]; }, spread, threads_);
  extent_ = units_.extent();
}

void ClusterPanels::fill(PanelStore& panels, std::size_t slot) const {
  const ClusterId id = id_of_[slot];
  if (&panels == &bytes_)
    units_.convert_to_bytes(row(id), panels.lane(slot), kPanelLanes);
  else
    units_.convert(row(id), 1, panels.lane(slot), kPanelLanes);
  double term = 0.0;  // for centroid: average linkage without variances
  // In units of the largest 1/weight, so that no quotient is too small for a float.
  if (distance_ == CfDistance::ward)
    term = std::max(least_weight_ / weight_[id], PanelUnits::kUnderflow) * (1.0 + 1e-6);
  if (distance_ == CfDistance::average) term = sse_[id] / weight_[id] / units_.bound_unit() * (1.0 - 1e-6);
  panels.extra(slot)[kTermRow * kPanelLanes] = static_cast<float>(term);
}

void ClusterPanels::clear(PanelStore& panels, std::size_t slot) const {
  PanelUnits::clear(panels.extra(slot), kPanelLanes);
}

bool ClusterPanels::same_place(ClusterId a, ClusterId b) const {
  if (distance_ == CfDistance::average && (sse_[a] != 0.0 || sse_[b] != 0.0)) return false;
  return std::equal(row(a), row(a) + dim_, row(b));
}

std::vector<std::pair<ClusterId, ClusterId>> ClusterPanels::duplicates() const {
  const std::vector<double> no_sse(objects(), 0.0);
  const FeaturesView rows{objects(), padded_dim_, weight_.data(), rows_.data(), no_sse.data()};
  const UnsetVector<std::uint32_t> first = first_of_same(rows, threads_);
  std::vector<ClusterId> order;
  for (ClusterId i = 0; i < objects(); ++i)
    if (first[i] != i) order.insert(order.end(), {first[i], i});
  const auto before = [&](ClusterId a, ClusterId b) {
    for (std::size_t k = 0; k < dim_; ++k)
      if (row(a)[k] != row(b)[k]) return row(a)[k] < row(b)[k];
    return a < b;
  };
  std::sort(order.begin(), order.end(), before);
  order.erase(std::unique(order.begin(), order.end()), order.end());
  std::vector<std::pair<ClusterId, ClusterId>> pairs;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (same_place(order[i - 1], order[i])) pairs.emplace_back(order[i - 1], order[i]);
  return pairs;
}

void ClusterPanels::merge(ClusterId a, ClusterId b) {
  unite(a, b);
  leave_stale(a, b);
}

void ClusterPanels::merge(const std::vector<ClusterPair>& pairs) {
  parallel_for(pairs.size(), 16, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) unite(pairs[i].a, pairs[i].b);
  });
  for (const ClusterPair& pair : pairs) leave_stale(pair.a, pair.b);
}

void ClusterPanels::unite(ClusterId a, ClusterId b) {
  merge_into(weight_[b], row(b), 1, sse_[b], {weight_[a], row(a), sse_[a]}, dim_);
  if (vote_ == Vote::equal) {
    weight_[b] = 1.0;
    sse_[b] *= 0.5;
  }
}

void ClusterPanels::leave_stale(ClusterId a, ClusterId b) {
  for (const ClusterId id : {a, b})
    if (!std::exchange(is_stale_[slot_of_[id]], true)) stale_.push_back(slot_of_[id]);
  id_of_[slot_of_[a]] = kNoCluster;
}

void ClusterPanels::refresh() {
  for_each_store([&](PanelStore& panels) {
    parallel_for(stale_.size(), 16, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if (id_of_[stale_[i]] == kNoCluster)
          clear(panels, stale_[i]);
        else
          fill(panels, stale_[i]);
    });
  });
  for (const std::uint32_t slot : stale_) is_stale_[slot] = false;
  stale_.clear();
}

void ClusterPanels::compact() {
  refresh();
  std::vector<std::pair<std::size_t, std::size_t>> moves;
  std::size_t end = 0;
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    const ClusterId id = id_of_[slot];
    if (id == kNoCluster) continue;
    if (slot != end) moves.emplace_back(slot, end);
    slot_of_[id] = static_cast<std::uint32_t>(end);
    id_of_[end++] = id;
  }
  id_of_.resize(end);
  for_each_store([&](PanelStore& panels) {
    parallel_for(panels.rows(), 8, threads_, no_progress, [&](std::size_t first, std::size_t last) {
      for (const auto& [from, to] : moves) panels.move(from, to, first, last);
    });
    for (std::size_t slot = end; slot < this->panels() * kPanelLanes; ++slot) clear(panels, slot);
  });
}

void ClusterPanels::bounds(FilterForm form, std::size_t panel, const FilterTile& tile) const {
  FilterTile whole = tile;
  whole.panel = store(form).panel(panel);
  whole.rows = store(form).coordinate_rows();
  whole.shrink = units_.shrink();
  const auto linkage = distance_ == CfDistance::ward ? FilterLinkage::ward : FilterLinkage::average;
  pair_filter()(form, linkage, whole);
}

void ClusterPanels::pack(FilterForm form, const ClusterId* queries, std::size_t count, float* groups) const {
  const PanelStore& panels = store(form);
  for (std::size_t first = 0; first < count; first += kGroupLanes, groups += panels.rows() * kGroupLanes) {
    const std::size_t lanes = std::min(kGroupLanes, count - first);
    const float* from[kGroupLanes];
    for (std::size_t l = 0; l < lanes; ++l) from[l] = panels.lane(slot_of_[queries[first + l]]);
    for (std::size_t k = 0; k < panels.rows(); ++k)
      for (std::size_t l = 0; l < lanes; ++l) groups[k * kGroupLanes + l] = from[l][k * kPanelLanes];
  }
}

}  // namespace silverbirch
