// Compiled once per instruction set, see simd/kernel_table.hpp.
#include "silverbirch/index/filtered_search.hpp"

#include "silverbirch/simd/float_vector.hpp"

namespace silverbirch {
namespace {

// Each struct says which gaps may be within the limit (`within`), which gap a limit corresponds to for one slot
// (`reach`), and the exact distance. See search.cpp.
struct FilteredCentroid {
  static SILVERBIRCH_INLINE unsigned within(Floats gap, Floats, float, float limit, float doubt) {
    return lanes_up_to(gap, limit + doubt);
  }
  static SILVERBIRCH_INLINE float reach(float limit, float) { return limit; }
  static SILVERBIRCH_INLINE double distance(double gap, double, double) { return gap; }
};

struct FilteredAverage {
  static SILVERBIRCH_INLINE unsigned within(Floats gap, Floats terms, float own, float limit, float doubt) {
    return lanes_up_to(gap + (own + terms), limit + doubt);
  }
  static SILVERBIRCH_INLINE float reach(float limit, float) { return limit; }
  static SILVERBIRCH_INLINE double distance(double gap, double a, double b) { return gap + (a + b); }
};

struct FilteredWard {
  static SILVERBIRCH_INLINE unsigned within(Floats gap, Floats terms, float own, float limit, float doubt) {
    return lanes_up_to(gap, limit * (own + terms) + doubt);
  }
  static SILVERBIRCH_INLINE float reach(float limit, float terms) { return limit * terms; }
  static SILVERBIRCH_INLINE double distance(double gap, double a, double b) { return gap / (a + b); }
};

template <class Nearness, std::size_t Dim>
class Filtered {
 public:
  SILVERBIRCH_INLINE Filtered(const PackedTree& tree, const FilterTree& filter, Slot slot, NearestSlot known)
      : tree_(tree),
        filter_(filter),
        self_(slot),
        exact_(exact_lane(slot)),
        own_(filter_lane(slot)),
        term_(own_[dim() * kFilterLanes]),
        best_(known) {
    set_limit();
  }

  SILVERBIRCH_INLINE NearestSlot best() const { return best_; }
  SILVERBIRCH_INLINE bool certain() const { return certain_; }

  // Goes from the slot's leaf to the root. At each node it visits all children but the one it came from.
  SILVERBIRCH_INLINE void climb() {
    std::size_t child = self_ / kClusterLeaf;
    scan_own(child);
    for (std::size_t level = 0; level < filter_.level_count; ++level) {
      visit(level, child / kFilterLanes, ~(1U << child % kFilterLanes));
      child /= kFilterLanes;
    }
  }

 private:
  static constexpr std::size_t kLeafParts = kClusterLeaf / kWidth, kNodeParts = kFilterLanes / kWidth;

  SILVERBIRCH_INLINE std::size_t dim() const { return Dim ? Dim : tree_.dim; }
  SILVERBIRCH_INLINE const double* exact_lane(std::size_t slot) const {
    return tree_.blocks + slot / kLanes * index_block_doubles(dim()) + slot % kLanes;
  }
  SILVERBIRCH_INLINE const float* filter_lane(std::size_t slot) const {
    return filter_.blocks + slot / kFilterLanes * filter_block_floats(dim()) + slot % kFilterLanes;
  }

  SILVERBIRCH_INLINE void set_limit() {
    const double limit = best_.distance * filter_.limit_unit;
    limit_ = limit < static_cast<double>(kLargestFilterLimit) ? static_cast<float>(limit) : kLargestFilterLimit;
    constexpr float kClear = 4.0f;  // below this many times the doubt, too many slots would be in doubt
    if (best_.slot == kNoSlot) return;
    if (Nearness::reach(limit_, term_ + filter_lane(best_.slot)[dim() * kFilterLanes]) > kClear * filter_.doubt) return;
    certain_ = false;
    limit_ = doubt_ = -1.0f;  // nothing is within the limit any more
  }

  SILVERBIRCH_INLINE Floats gap_of(const float* mean) const {
    Floats gap = {};
    for (std::size_t k = 0; k < dim(); ++k) {
      const Floats difference = own_[k * kFilterLanes] - load(mean + k * kFilterLanes);
      gap += difference * difference;
    }
    return gap;
  }

  SILVERBIRCH_INLINE unsigned within(Floats gap, const float* terms) const {
    return Nearness::within(gap, load(terms), term_, limit_, doubt_);
  }

  SILVERBIRCH_INLINE void scan(std::size_t leaf) {
    unsigned near = 0;
    for (std::size_t p = 0; p < kLeafParts; ++p) {
      const float* mean = filter_lane(leaf * kClusterLeaf + p * kWidth);
      near |= within(gap_of(mean), mean + dim() * kFilterLanes) << (p * kWidth);
    }
    consider_all(leaf, near);
  }

  // If nothing is known yet, the slot with the least gap is considered first, to give a limit for the others.
  SILVERBIRCH_INLINE void scan_own(std::size_t leaf) {
    alignas(64) float gaps[kClusterLeaf];
    for (std::size_t p = 0; p < kLeafParts; ++p)
      store(gaps + p * kWidth, gap_of(filter_lane(leaf * kClusterLeaf + p * kWidth)));
    gaps[self_ % kClusterLeaf] = __builtin_inff();
    if (best_.slot == kNoSlot && on(Mechanism::nearest_first)) consider_nearest(leaf, gaps);
    unsigned near = 0;
    for (std::size_t p = 0; p < kLeafParts; ++p) {
      const float* terms = filter_lane(leaf * kClusterLeaf + p * kWidth) + dim() * kFilterLanes;
      near |= within(load(gaps + p * kWidth), terms) << (p * kWidth);
    }
    consider_all(leaf, near);
  }

  SILVERBIRCH_INLINE void consider_nearest(std::size_t leaf, const float* gaps) {
    Floats least_gaps = load(gaps);
    for (std::size_t p = 1; p < kLeafParts; ++p) least_gaps = smaller(least_gaps, load(gaps + p * kWidth));
    const float least_gap = least(least_gaps);
    if (least_gap > kLargestFilterLimit) return;  // no other cluster in this leaf
    unsigned nearest = 0;
    for (std::size_t p = 0; p < kLeafParts; ++p)
      nearest |= lanes_up_to(load(gaps + p * kWidth), least_gap) << (p * kWidth);
    consider(leaf * kClusterLeaf + static_cast<unsigned>(__builtin_ctz(nearest)));
  }

  SILVERBIRCH_INLINE void consider_all(std::size_t leaf, unsigned near) {
    for (; near; near &= near - 1) consider(leaf * kClusterLeaf + static_cast<unsigned>(__builtin_ctz(near)));
  }

  // Measures a candidate in float64, with the operations of search.cpp.
  SILVERBIRCH_INLINE void consider(std::size_t candidate) {
    const double* other = exact_lane(candidate);
    double gap = 0.0;
    for (std::size_t k = 0; k < dim(); ++k) {
      const double difference = exact_[k * kLanes] - other[k * kLanes];
      gap += difference * difference;
    }
    const double distance = Nearness::distance(gap, exact_[dim() * kLanes], other[dim() * kLanes]);
    if (distance > best_.distance) return;
    const Slot slot = static_cast<Slot>(candidate);
    if (distance == best_.distance && !prefers(slot, best_.slot)) return;
    best_ = {slot, distance};
    set_limit();
  }

  SILVERBIRCH_INLINE bool prefers(Slot a, Slot b) const {
    const std::uint32_t* names = tree_.names;
    return b == kNoSlot || pair_key(names[self_], names[a]) < pair_key(names[self_], names[b]);
  }

  // Visits the children among `wanted` that can hold a nearer slot. On level 1 the leaves below these children are
  // listed before any of them is scanned: the processor predicts a loop over a list better than a recursion, and few of
  // the listed leaves are ruled out meanwhile.
  void visit(std::size_t level, std::size_t node, unsigned wanted) {
    unsigned near = near_children(level, node) & wanted;
    const std::size_t first = node * kFilterLanes;
    if (level == 0) {
      for (; near; near &= near - 1) scan(first + static_cast<unsigned>(__builtin_ctz(near)));
    } else if (level == 1 && on(Mechanism::listed_leaves)) {
      std::uint32_t leaves[kFilterLanes * kFilterLanes + kListSlack];
      std::size_t count = 0;
      for (; near; near &= near - 1) {
        const std::size_t child = first + static_cast<unsigned>(__builtin_ctz(near));
        count += list_lanes(near_children(0, child), child * kFilterLanes, leaves + count);
      }
      for (std::size_t i = 0; i < count; ++i) scan(leaves[i]);
    } else {
      for (; near; near &= near - 1) visit(level - 1, first + static_cast<unsigned>(__builtin_ctz(near)), ~0U);
    }
  }

  SILVERBIRCH_INLINE unsigned near_children(std::size_t level, std::size_t node) const {
    const float* rows = filter_.nodes[level] + node * filter_node_floats(dim());
    unsigned near = 0;
    for (std::size_t p = 0; p < kNodeParts; ++p) {
      const float* lower = rows + p * kWidth;
      near |= within(box_gap(lower), lower + 2 * dim() * kFilterLanes) << (p * kWidth);
    }
    return near;
  }

  SILVERBIRCH_INLINE Floats box_gap(const float* lower) const {
    const float* upper = lower + dim() * kFilterLanes;
    Floats sum = {};
    for (std::size_t k = 0; k < dim(); ++k) {
      const Floats below = load(lower + k * kFilterLanes) - own_[k * kFilterLanes];
      const Floats above = own_[k * kFilterLanes] - load(upper + k * kFilterLanes);
      const Floats gap = larger(larger(below, above), Floats{});
      sum += gap * gap;
    }
    return sum;
  }

  static constexpr std::size_t kListSlack = kFilterLanes;  // list_lanes may overwrite this many elements

  const PackedTree& tree_;
  const FilterTree& filter_;
  const Slot self_;
  const double* const exact_;
  const float* const own_;
  const float term_;
  NearestSlot best_;
  float limit_ = 0.0f, doubt_ = filter_.doubt;
  bool certain_ = true;
};

template <class Nearness, std::size_t Dim>
bool nearest_to_slot(const PackedTree& tree, const FilterTree& filter, Slot slot, NearestSlot& nearest) {
  Filtered<Nearness, Dim> search(tree, filter, slot, nearest);
  search.climb();
  nearest = search.best();
  return search.certain();
}

}  // namespace

// Entry d is for d dimensions, with loops of fixed length; entry 0 is for all other dimensions.
#define SILVERBIRCH_FOR_DIMENSIONS(function) \
  {function(0), function(1), function(2), function(3), function(4), function(5), function(6), function(7), function(8)}
#define SILVERBIRCH_CENTROID(dim) nearest_to_slot<FilteredCentroid, dim>
#define SILVERBIRCH_AVERAGE(dim) nearest_to_slot<FilteredAverage, dim>
#define SILVERBIRCH_WARD(dim) nearest_to_slot<FilteredWard, dim>

const FilteredSearch SILVERBIRCH_KERNELS(filtered_search) = {
    {{SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_CENTROID), SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_AVERAGE),
      SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_WARD)}},
};

}  // namespace silverbirch
