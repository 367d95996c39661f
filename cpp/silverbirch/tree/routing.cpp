// How the routing copies of a CF-tree are kept, and searched. None of this changes the tree: it is a filter.
#include <algorithm>
#include <cmath>

#include "silverbirch/tree/group.hpp"

namespace silverbirch {

namespace {

// The reach of steps stays where their squares, and the squares of what they lead to, are floats.
constexpr double kLeastReach = 1e-10, kLargestReach = 1e15;

// Where more exact distances than this follow a search among integers in the mean, floats are faster.
constexpr double kMostDoubts = 0.5;

}  // namespace

// Sets the origin amid these features. Integers: steps lead as far as nine tenths of them and a fifth farther, because
// a few far away must not make steps coarse for all others.
void CfTree::set_frame(const Features& amid, double least_reach) {
  const Features sum = sum_of(amid);
  if (amid.size() > 0) origin_ = sum.mean;
  has_origin_ = amid.size() > 0;
  if (!rounded()) return;
  std::vector<double> squared_reaches = {0.0};
  for (std::size_t i = 0; i < amid.size(); ++i)
    if (amid.weight[i] > 0.0)
      squared_reaches.push_back(squared_distance(CfDistance::centroid, amid[i], sum[0]) + amid.sse[i] / amid.weight[i]);
  std::sort(squared_reaches.begin(), squared_reaches.end());
  const double usual = std::sqrt(squared_reaches[squared_reaches.size() * 9 / 10]);
  reach_ = std::clamp(std::max(1.2 * usual, least_reach), kLeastReach, kLargestReach);
  outside_ = travellers_ = searches_ = doubts_ = 0.0;
  for (NodePool* nodes : {&inner_, &leaf_}) {
    NodeShape shape = nodes->shape();
    shape.steps = static_cast<float>(kUsualSteps / reach_);
    nodes->set_shape(shape);
  }
}

// Integers need a frame that holds most of the data, and steps that are fine enough for it. Looked at before a group
// goes down, and changed so seldom that it takes no longer than the insertions between.
void CfTree::adapt_routing() {
  const double leaves = static_cast<double>(leaf_count_);
  if (doubts_ > kMostDoubts * searches_ + 2.0 * leaves + 1024.0) {
    use_floats();
  } else if (8.0 * outside_ > 64.0 + travellers_ + leaves) {
    set_frame(root_entries(), 2.0 * reach_);
    renew_routing();
  }
}

void CfTree::use_floats() {
  const auto of_floats = [&](const NodeShape& shape) {
    return node_shape(dim_, shape.slots, shape.ward, shape.weight_bits, false);
  };
  for (NodePool* nodes : {&inner_, &leaf_}) nodes->make_room_for(of_floats(nodes->shape()));  // may fail
  for (NodePool* nodes : {&inner_, &leaf_}) nodes->set_shape(of_floats(nodes->shape()));
  kernels_ = &tree_kernels(dim_);
  renew_routing();
}

void CfTree::renew_routing() {
  for (NodePool* nodes : {&inner_, &leaf_})
    for (NodeId node = 0; node < nodes->size(); ++node) {
      for (std::size_t s = 0; s < nodes->shape().slots; ++s) nodes->clear_routing(node, s);
      for (std::size_t s = 0; s < nodes->count(node); ++s)
        kernels_->copy_for_routing(nodes->routing(node), nodes->shape(), s, nodes->record(node, s), origin_.data());
    }
}

void CfTree::prepare(Group& group, std::size_t first) {
  if (!has_origin_) {
    std::copy_n(group.means()[first], dim_, origin_.begin());
    has_origin_ = true;
  }
  const std::size_t count = group.size() - first;
  RouteQuery* queries = group.queries() + first;
  kernels_->positions(group.means() + first, count, origin_.data(), leaf_.shape(), queries);
  if (group.all_rows() && !rounded()) {  // all at once; their routes do not ask for weight and variance
    bool near = total_weight_ + static_cast<double>(count) <= kLargestRoutedWeight;
    for (std::size_t i = 0; i < count; ++i) near &= queries[i].squared_norm <= kLargestRoutedSquare;
    routed_ = routed_ && near;
  } else {
    for (std::size_t i = 0; i < count; ++i) complete(queries[i], group[first + i].feature);
  }
}

std::size_t CfTree::route(const Feature& feature) const {
  const bool row = options_.distance == CfDistance::ward && feature.weight == 1.0;
  return row ? kWardRowRoute : route_of(options_.distance);
}

// The least distant entry, the lowest slot among equals. The filter tells which come into question, doubles decide.
std::uint32_t CfTree::nearest_entry(const NodePool& nodes, NodeId node, const Traveller& traveller) {
  const std::size_t count = nodes.count(node);
  if (count == 0) return 0;
  Candidates candidates{};
  if (routed_) {
    candidates = kernels_->nearest_entry[route(traveller.feature)](nodes.routing(node), nodes.shape(), count,
                                                                   *traveller.query, values_.data());
    searches_ += 1.0;
    if (candidates.sure) return static_cast<std::uint32_t>(candidates.slot);
  }
  const auto distance_to = [&](std::size_t s) {
    doubts_ += 1.0;
    return squared_distance(options_.distance, traveller.feature, nodes.seen_entry(node, s));
  };
  // The likely one first: its distance limits the others.
  std::size_t nearest = candidates.slot;
  double least = distance_to(nearest);
  const float limit = limit_of_others(traveller, least, candidates.limit);
  for (std::size_t s = 0; s < count; ++s) {
    if ((routed_ && values_[s] > limit) || s == candidates.slot) continue;
    const double squared = distance_to(s);
    if (squared < least || (squared == least && s < nearest)) {
      least = squared;
      nearest = s;
    }
  }
  return static_cast<std::uint32_t>(nearest);
}

// How much the filter's value of another entry may be, once the distance of one is known. The filter of integers had to
// leave room for the rounding of both; where the root of the distance is that of its value, less will do.
float CfTree::limit_of_others(const Traveller& traveller, double squared, float limit) const {
  const bool has_root = options_.distance == CfDistance::ward || options_.distance == CfDistance::centroid;
  if (!rounded() || !has_root) return limit;
  const double value = options_.distance == CfDistance::ward ? squared / traveller.feature.weight : squared;
  return std::min(limit, limit_of_root(static_cast<float>(std::sqrt(value)) + traveller.query->error));
}

}  // namespace silverbirch
