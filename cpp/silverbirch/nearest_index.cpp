#include "nearest_index.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace silverbirch {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

NearestIndex::NearestIndex(const double* points, std::size_t count, std::size_t dim, const Progress& progress)
    : dim_(dim), point_of_slot_(count) {
  std::iota(point_of_slot_.begin(), point_of_slot_.end(), std::size_t{0});
  order(points, 0, count, progress);
  pack_blocks(points);
  pack_boxes(progress);
}

// Halves the range at the widest dimension, at a boundary of the largest node below the range's own, down to blocks.
void NearestIndex::order(const double* points, std::size_t begin, std::size_t end, const Progress& progress) {
  progress.poll();
  const auto slot = [&](std::size_t i) { return point_of_slot_.begin() + static_cast<std::ptrdiff_t>(i); };
  if (end - begin <= kLanes) {
    std::sort(slot(begin), slot(end));  // the lowest slot among equals is then the lowest point
    return;
  }
  std::size_t child_span = kLanes;
  while (child_span * kLanes < end - begin) child_span *= kLanes;
  const std::size_t children = (end - begin + child_span - 1) / child_span;
  const std::size_t middle = begin + children / 2 * child_span;
  const std::size_t k = widest_dimension(points, begin, end);
  std::nth_element(slot(begin), slot(middle), slot(end), [&](std::size_t a, std::size_t b) {
    const double x = points[a * dim_ + k], y = points[b * dim_ + k];
    return x < y || (x == y && a < b);
  });
  order(points, begin, middle, progress);
  order(points, middle, end, progress);
}

std::size_t NearestIndex::widest_dimension(const double* points, std::size_t begin, std::size_t end) const {
  std::vector<double> lower(dim_, kInfinity), upper(dim_, -kInfinity);
  for (std::size_t i = begin; i < end; ++i) {
    const double* point = points + point_of_slot_[i] * dim_;
    for (std::size_t k = 0; k < dim_; ++k) {
      lower[k] = std::min(lower[k], point[k]);
      upper[k] = std::max(upper[k], point[k]);
    }
  }
  std::size_t widest = 0;
  for (std::size_t k = 1; k < dim_; ++k)
    if (upper[k] - lower[k] > upper[widest] - lower[widest]) widest = k;
  return widest;
}

void NearestIndex::pack_blocks(const double* points) {
  const std::size_t slots = blocks_for(point_of_slot_.size()) * kLanes;
  blocks_.resize(slots / kLanes * block_doubles(dim_));
  for (std::size_t s = 0; s < slots; ++s) {
    const FeatureSlot slot(blocks_.data(), dim_, s);
    if (s < point_of_slot_.size())
      slot.assign({1.0, points + point_of_slot_[s] * dim_, 0.0});
    else
      slot.clear();
  }
}

void NearestIndex::pack_boxes(const Progress& progress) {
  const std::size_t box_doubles = 2 * dim_ * kLanes;
  std::size_t children = blocks_for(point_of_slot_.size());
  for (std::size_t level = 0; children > 1; ++level) {
    const std::size_t nodes = blocks_for(children);
    AlignedDoubles boxes(nodes * box_doubles, kInfinity);
    for (std::size_t child = 0; child < children; ++child) {
      if (child % 1024 == 0) progress.poll();
      double* box = boxes.data() + child / kLanes * box_doubles + child % kLanes;
      for (std::size_t k = 0; k < dim_; ++k) {
        double lower = kInfinity, upper = -kInfinity;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          if (level == 0) {
            if (child * kLanes + lane >= point_of_slot_.size()) break;
            const double x = FeatureSlot(blocks_.data(), dim_, child * kLanes + lane).mean(k);
            lower = std::min(lower, x);
            upper = std::max(upper, x);
          } else {
            const double* below = boxes_[level - 1].data() + child * box_doubles + k * kLanes + lane;
            if (below[0] == kInfinity) break;  // no such child
            lower = std::min(lower, below[0]);
            upper = std::max(upper, below[dim_ * kLanes]);
          }
        }
        box[k * kLanes] = lower;
        box[(dim_ + k) * kLanes] = upper;
      }
    }
    boxes_.push_back(std::move(boxes));
    children = nodes;
  }
}

std::size_t NearestIndex::nearest(const double* query) const {
  const Feature point{1.0, query, 0.0};
  Best best{kInfinity, kNowhere};
  if (boxes_.empty())
    search_blocks(0, point, best);
  else
    search_node(boxes_.size() - 1, 0, point, best);
  return best.point;
}

void NearestIndex::search_blocks(std::size_t block, const Feature& query, Best& best) const {
  const Nearest found =
      kernels().nearest(CfDistance::centroid, blocks_.data() + block * block_doubles(dim_), dim_, query, {1});
  const std::size_t point = point_of_slot_[block * kLanes + found.slot];
  if (found.squared_distance < best.squared_distance ||
      (found.squared_distance == best.squared_distance && point < best.point))
    best = {found.squared_distance, point};
}

void NearestIndex::search_node(std::size_t level, std::size_t node, const Feature& query, Best& best) const {
  alignas(64) double bounds[kLanes];
  kernels().box_distances(boxes_[level].data() + node * 2 * dim_ * kLanes, dim_, query.mean, bounds);

  std::size_t order[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    std::size_t j = i;
    for (; j > 0 && bounds[order[j - 1]] > bounds[i]; --j) order[j] = order[j - 1];
    order[j] = i;
  }
  for (const std::size_t lane : order) {
    // A box that is just as near may hold an equally near point of a lower number.
    if (bounds[lane] > best.squared_distance || bounds[lane] == kInfinity) return;
    const std::size_t child = node * kLanes + lane;
    if (level == 0)
      search_blocks(child, query, best);
    else
      search_node(level - 1, child, query, best);
  }
}

}  // namespace silverbirch
