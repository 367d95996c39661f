// Keeps and searches the routing copies of a CF-tree. They are only a filter: nothing here changes the tree.
#include <algorithm>
#include <cmath>
#include <utility>

#include "silverbirch/tree/group.hpp"

namespace silverbirch {

namespace {

// Within these bounds, squared steps and squared distances within the reach neither overflow nor underflow a float.
constexpr double kLeastReach = 1e-10, kLargestReach = 1e15;

// If searches of integers need more exact distances than this on average, floats are faster.
constexpr double kMostDoubts = 0.5;

}  // namespace

// Sets the origin to the mean of these features. Integers: the steps reach 1.2 times as far as nine tenths of the
// features, because a few far outliers must not make the steps coarse for all others.
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
  outside_ = queries_ = searches_ = doubts_ = 0.0;
  for (NodePool* nodes : {&inner_, &leaf_}) {
    NodeShape shape = nodes->shape();
    shape.steps = static_cast<float>(kUsualSteps / reach_);
    nodes->set_shape(shape);
  }
}

// Integers need a frame that holds most of the data, and steps fine enough to tell entries apart. Called before each
// group. It changes the routing copies so seldom that this takes no longer than the insertions in between.
void CfTree::adapt_routing() {
  const double leaves = static_cast<double>(leaf_count_);
  if (doubts_ > kMostDoubts * searches_ + 2.0 * leaves + 1024.0) {
    use_floats();
  } else if (8.0 * outside_ > 64.0 + queries_ + leaves) {
    set_frame(root_entries(), 2.0 * reach_);
    renew_routing();
  }
}

void CfTree::use_floats() {
  const auto of_floats = [&](const NodeShape& shape) {
    return node_shape(dim_, shape.slots, shape.ward, shape.weight_bits, false);
  };
  // If memory runs out half way, the routing copies are lost, and the tree does without the filter.
  const bool routed = std::exchange(routed_, false);
  for (NodePool* nodes : {&inner_, &leaf_}) nodes->make_room_for(of_floats(nodes->shape()));
  routed_ = routed;
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
  RouteQuery* route_queries = group.route_queries() + first;
  kernels_->positions(group.means() + first, count, origin_.data(), leaf_.shape(), route_queries);
  if (group.all_rows() && !rounded()) {  // kWardRowRoute does not use weight and variance
    bool near = total_weight_ + static_cast<double>(count) <= kLargestRoutedWeight;
    for (std::size_t i = 0; i < count; ++i) near &= route_queries[i].squared_norm <= kLargestRoutedSquare;
    routed_ = routed_ && near;
  } else {
    for (std::size_t i = 0; i < count; ++i) complete(route_queries[i], group[first + i].feature);
  }
}

std::size_t CfTree::route(const Feature& feature) const {
  const bool row = options_.distance == CfDistance::ward && feature.weight == 1.0;
  return row ? kWardRowRoute : route_of(options_.distance);
}

// The nearest entry; the lowest slot among equals. The filter finds the candidates, exact distances decide.
std::uint32_t CfTree::nearest_entry(const NodePool& nodes, NodeId node, const Query& query) {
  const std::size_t count = nodes.count(node);
  if (count == 0) return 0;
  Candidates candidates{};
  if (routed_) {
    candidates = kernels_->nearest_entry[route(query.feature)](nodes.routing(node), nodes.shape(), count,
                                                               *query.route_query, values_.data());
    searches_ += 1.0;
    if (candidates.sure) return static_cast<std::uint32_t>(candidates.slot);
  }
  const auto distance_to = [&](std::size_t s) {
    doubts_ += 1.0;
    return squared_distance(options_.distance, query.feature, nodes.routing_entry(node, s));
  };
  // The likely candidate first: its distance limits the others.
  std::size_t nearest = candidates.slot;
  double least = distance_to(nearest);
  const float limit = limit_of_others(query, least, candidates.limit);
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

// The largest filter value that another candidate may have, once the exact distance of one candidate is known. The
// filter of integers allowed for the rounding of both entries. Where the root of the distance is the root of the filter
// value, the exact distance gives a tighter limit.
float CfTree::limit_of_others(const Query& query, double squared, float limit) const {
  const bool has_root = options_.distance == CfDistance::ward || options_.distance == CfDistance::centroid;
  if (!rounded() || !has_root) return limit;
  const double value = options_.distance == CfDistance::ward ? squared / query.feature.weight : squared;
  return std::min(limit, limit_of_root(static_cast<float>(std::sqrt(value)) + query.route_query->error));
}

}  // namespace silverbirch
