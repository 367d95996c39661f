#include "cluster_panels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace silverbirch {

namespace {

constexpr double kUnitRoundoff = 0x1p-24;  // of float32
constexpr double kUnderflow = 1e-30;
constexpr double kYoung = 0x1p-8;  // t of the header
// An empty lane: its square overflows to infinity, products with it do not.
constexpr float kFarAwayFloat = 1e30f;

}  // namespace

ClusterPanels::ClusterPanels(const FeaturesView& features, CfDistance distance, Vote vote, const Progress& progress)
    : dim_(features.dim),
      padded_dim_((features.dim + kGapLanes - 1) / kGapLanes * kGapLanes),
      distance_(distance),
      vote_(vote),
      weight_(features.weight, features.weight + features.size),
      sse_(features.sse, features.sse + features.size),
      rows_(features.size * padded_dim_, 0.0),
      origin_(features.dim, 0.0),
      slot_of_(features.size),
      id_of_(features.size),
      panels_((features.size + kPanelLanes - 1) / kPanelLanes * panel_floats(features.dim)) {
  if (features.size >= kNobody) throw std::invalid_argument("algorithm 'blocked' takes less than 2^32 - 1 objects");
  for (ClusterId i = 0; i < features.size; ++i) {
    std::copy_n(features[i].mean, dim_, row(i));
    if (vote == Vote::equal) {
      sse_[i] /= weight_[i];
      weight_[i] = 1.0;
    }
  }
  choose_units();
  for (std::size_t slot = 0; slot < features.size; ++slot) {
    slot_of_[slot] = id_of_[slot] = static_cast<ClusterId>(slot);
    fill(slot);
    if (slot % 1024 == 0) progress.poll();
  }
  for (std::size_t slot = slots(); slot < panels() * kPanelLanes; ++slot) clear(slot);
}

void ClusterPanels::choose_units() {
  const double share = 1.0 / static_cast<double>(objects());
  std::vector<double> largest(dim_, 0.0);
  for (ClusterId i = 0; i < objects(); ++i)
    for (std::size_t k = 0; k < dim_; ++k) {
      origin_[k] += share * row(i)[k];
      largest[k] = std::max(largest[k], std::abs(row(i)[k]));
    }
  for (const double coordinate : largest) extent_ = std::hypot(extent_, coordinate);

  double reach = 0.0;
  for (ClusterId i = 0; i < objects(); ++i) {
    for (std::size_t k = 0; k < dim_; ++k) reach = std::max(reach, std::abs(row(i)[k] - origin_[k]));
    if (distance_ == CfDistance::average) reach = std::max(reach, std::sqrt(sse_[i] / weight_[i]));
  }
  // A power of two, so that scaling adds no rounding of its own.
  scale_ = std::exp2(std::ceil(std::log2(std::max(reach, 1e-140))));  // whose square is still a normal number

  const auto part = static_cast<double>(std::min(dim_, kFilterPart));
  const double roundings = part + static_cast<double>(dim_ / kFilterPart) + 16.0;
  norm_factor_ = 1.0 - roundings * kUnitRoundoff;
  shrink_ = static_cast<float>((1.0 - kYoung) * norm_factor_);
}

void ClusterPanels::fill(std::size_t slot) {
  const ClusterId id = id_of_[slot];
  float* to = lane(slot);
  double norm = 0.0, squared_error = 0.0;
  for (std::size_t k = 0; k < dim_; ++k) {
    const double exact = (row(id)[k] - origin_[k]) / scale_;
    const auto stored = static_cast<float>(exact);
    const double error = exact - static_cast<double>(stored);
    to[k * kPanelLanes] = stored;
    norm += static_cast<double>(stored) * static_cast<double>(stored);
    squared_error += error * error;
  }
  // exact itself is rounded in float64
  squared_error = 2.0 * squared_error + 0x1p-100 * norm;
  float* extra = to + dim_ * kPanelLanes;
  extra[kNormRow * kPanelLanes] = static_cast<float>(norm_factor_ * norm - kUnderflow);
  extra[kErrorRow * kPanelLanes] = static_cast<float>(1.001 * 2.0 / kYoung * squared_error + kUnderflow);
  double term = 0.0;  // centroid is average of clusters without spread
  if (distance_ == CfDistance::ward) term = std::max(1.0 / weight_[id], kUnderflow) * (1.0 + 1e-6);
  if (distance_ == CfDistance::average) term = sse_[id] / weight_[id] / bound_unit() * (1.0 - 1e-6);
  extra[kTermRow * kPanelLanes] = static_cast<float>(term);
}

void ClusterPanels::clear(std::size_t slot) {
  float* to = lane(slot);
  for (std::size_t k = 0; k < dim_; ++k) to[k * kPanelLanes] = kFarAwayFloat;
  float* extra = to + dim_ * kPanelLanes;
  extra[kNormRow * kPanelLanes] = std::numeric_limits<float>::infinity();
  extra[kErrorRow * kPanelLanes] = 0.0f;
  extra[kTermRow * kPanelLanes] = 1.0f;
}

bool ClusterPanels::same_place(ClusterId a, ClusterId b) const {
  if (distance_ == CfDistance::average && (sse_[a] != 0.0 || sse_[b] != 0.0)) return false;
  return std::equal(row(a), row(a) + dim_, row(b));
}

std::vector<std::pair<ClusterId, ClusterId>> ClusterPanels::duplicates() const {
  std::vector<ClusterId> order(objects());
  std::iota(order.begin(), order.end(), ClusterId{0});
  std::sort(order.begin(), order.end(), [&](ClusterId a, ClusterId b) {
    for (std::size_t k = 0; k < dim_; ++k)
      if (row(a)[k] != row(b)[k]) return row(a)[k] < row(b)[k];
    return a < b;
  });
  std::vector<std::pair<ClusterId, ClusterId>> pairs;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (same_place(order[i - 1], order[i])) pairs.emplace_back(order[i - 1], order[i]);
  return pairs;
}

void ClusterPanels::merge(ClusterId a, ClusterId b) {
  merge_into(weight_[b], row(b), 1, sse_[b], {weight_[a], row(a), sse_[a]}, dim_);
  if (vote_ == Vote::equal) {
    weight_[b] = 1.0;
    sse_[b] *= 0.5;
  }
  fill(slot_of_[b]);
  clear(slot_of_[a]);
  id_of_[slot_of_[a]] = kNobody;
}

void ClusterPanels::compact() {
  std::size_t end = 0;
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    const ClusterId id = id_of_[slot];
    if (id == kNobody) continue;
    if (slot != end) {
      const float* from = lane(slot);
      float* to = lane(end);
      for (std::size_t k = 0; k < dim_ + kPanelExtraRows; ++k) to[k * kPanelLanes] = from[k * kPanelLanes];
      slot_of_[id] = static_cast<std::uint32_t>(end);
      id_of_[end] = id;
    }
    ++end;
  }
  id_of_.resize(end);
  for (std::size_t slot = end; slot < panels() * kPanelLanes; ++slot) clear(slot);
}

void ClusterPanels::bounds(FilterForm form, std::size_t panel, const FilterTile& tile) const {
  FilterTile whole = tile;
  whole.panel = panels_.data() + panel * panel_floats(dim_);
  whole.dim = dim_;
  whole.shrink = shrink_;
  const auto linkage = distance_ == CfDistance::ward ? FilterLinkage::ward : FilterLinkage::average;
  (*kernels().pair_filter)(form, linkage, whole);
}

void ClusterPanels::pack(const ClusterId* queries, std::size_t count, float* groups) const {
  for (std::size_t first = 0; first < count; first += kGroupLanes, groups += group_floats(dim_)) {
    const std::size_t lanes = std::min(kGroupLanes, count - first);
    const float* from[kGroupLanes];
    for (std::size_t l = 0; l < lanes; ++l) from[l] = lane(slot_of_[queries[first + l]]);
    for (std::size_t k = 0; k < dim_ + kPanelExtraRows; ++k)
      for (std::size_t l = 0; l < lanes; ++l) groups[k * kGroupLanes + l] = from[l][k * kPanelLanes];
  }
}

}  // namespace silverbirch
