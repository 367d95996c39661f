// Compiled once per instruction set, see simd/kernel_table.hpp.
#include "silverbirch/index/search.hpp"

#include "silverbirch/features/block_vectors.hpp"
#include "silverbirch/index/group_search.hpp"

namespace silverbirch {
namespace {

// A product and a quotient of the same three numbers may round differently, so only what exceeds the limit by more than
// this is pruned.
constexpr double kSlack = 1.0 + 1e-15;

// Each struct says which gaps can be within `limit`, without a division, and the exact distance.
struct CentroidNearness {
  template <class Value>
  static SILVERBIRCH_INLINE auto within(Value gap, Value, double, double limit) {
    return gap <= limit;
  }
  static SILVERBIRCH_INLINE double distance(double gap, double, double) { return gap; }
};

struct AverageNearness {
  template <class Value>
  static SILVERBIRCH_INLINE auto within(Value gap, Value terms, double own, double limit) {
    return gap + (own + terms) <= limit;
  }
  static SILVERBIRCH_INLINE double distance(double gap, double a, double b) { return gap + (a + b); }
};

struct WardNearness {
  template <class Value>
  static SILVERBIRCH_INLINE auto within(Value gap, Value terms, double own, double limit) {
    return gap <= limit * (own + terms);
  }
  static SILVERBIRCH_INLINE double distance(double gap, double a, double b) { return gap / (a + b); }
};

// The kinds of queries. This one is a slot of the tree, which is not its own neighbour.
struct BySlot {
  static constexpr std::size_t stride = kLanes;  // distance between the coordinates of its mean
  static constexpr bool ignores_only_itself = true;
  Slot self;
  const std::uint32_t* names;
  SILVERBIRCH_INLINE unsigned own_lane(std::size_t leaf) const {
    return self / kClusterLeaf == leaf ? 1U << self % kClusterLeaf : 0U;
  }
  SILVERBIRCH_INLINE bool ignores(Slot slot) const { return slot == self; }
  SILVERBIRCH_INLINE bool ignores(std::size_t, std::size_t) const { return false; }
  SILVERBIRCH_INLINE bool prefers(Slot a, Slot b) const {
    return b == kNoSlot || pair_key(names[self], names[a]) < pair_key(names[self], names[b]);
  }
  SILVERBIRCH_INLINE double verified(Slot, double bound, double) const { return bound; }
  SILVERBIRCH_INLINE double limit(double distance) const { return distance * kSlack; }
};

// A slot whose distances must be verified, in the order of their lower bounds.
struct ByVerifiedSlot : BySlot {
  const Verification& verification;
  SILVERBIRCH_INLINE double verified(Slot slot, double bound, double limit) const {
    if (verification.exact[self] && verification.exact[slot]) return bound;
    return verification.distance(verification.clusters, self, slot, limit);
  }
  SILVERBIRCH_INLINE double limit(double distance) const {
    const double reach = __builtin_sqrt(distance) * (1.0 + 1e-12) + verification.margin;
    return reach * reach;
  }
};

// A slot that searches the nearest slot of another component.
struct ByComponent {
  static constexpr std::size_t stride = kLanes;
  static constexpr bool ignores_only_itself = false;
  Slot self;
  std::uint32_t own;
  const Components& components;
  const std::uint32_t* names;
  SILVERBIRCH_INLINE bool ignores(Slot slot) const { return components.of_slot[slot] == own; }
  SILVERBIRCH_INLINE bool ignores(std::size_t level, std::size_t child) const {
    return components.of_child[level][child] == own;
  }
  SILVERBIRCH_INLINE bool prefers(Slot a, Slot b) const {
    return b == kNoSlot || pair_key(names[self], names[a]) < pair_key(names[self], names[b]);
  }
  SILVERBIRCH_INLINE double verified(Slot, double bound, double) const { return bound; }
  SILVERBIRCH_INLINE double limit(double distance) const { return distance * kSlack; }
};

// A point that is no slot: replaces GroupSearch in a build where that is switched off.
struct ByPoint {
  static constexpr std::size_t stride = kLanes;
  static constexpr bool ignores_only_itself = false;
  const std::uint32_t* names;
  SILVERBIRCH_INLINE bool ignores(Slot) const { return false; }
  SILVERBIRCH_INLINE bool ignores(std::size_t, std::size_t) const { return false; }
  SILVERBIRCH_INLINE bool prefers(Slot a, Slot b) const { return b == kNoSlot || names[a] < names[b]; }
  SILVERBIRCH_INLINE double verified(Slot, double bound, double) const { return bound; }
  SILVERBIRCH_INLINE double limit(double distance) const { return distance * kSlack; }
};

template <class Nearness, class Query, std::size_t Dim>
class Search {
 public:
  SILVERBIRCH_INLINE Search(const PackedTree& tree, const double* mean, double term, Query query, NearestSlot known)
      : tree_(tree), mean_(mean), term_(term), query_(query), best_(known), limit_(query.limit(known.distance)) {}

  SILVERBIRCH_INLINE NearestSlot best() const { return best_; }
  SILVERBIRCH_INLINE std::size_t visits() const { return visits_; }

  // Goes from the leaf to the root. At each node it visits all children but the one it came from.
  SILVERBIRCH_INLINE void climb(std::size_t leaf) {
    scan(leaf);
    std::size_t child = leaf;
    for (std::size_t level = 0; level < tree_.level_count; ++level) {
      visit(level, child / kLanes, ~(1U << child % kLanes));
      child /= kLanes;
    }
  }

 private:
  SILVERBIRCH_INLINE std::size_t dim() const { return Dim ? Dim : tree_.dim; }

  SILVERBIRCH_INLINE void scan(std::size_t leaf) {
    ++visits_;
    const double* rows = tree_.blocks + leaf * (kClusterLeaf / kLanes) * index_block_doubles(dim());
    alignas(64) double gaps[kClusterLeaf];
    unsigned near = 0;
    for (std::size_t p = 0; p < kClusterLeaf; p += kWidth) {
      const double* row = rows + p / kLanes * index_block_doubles(dim()) + p % kLanes;
      Doubles gap = {};
      for (std::size_t k = 0; k < dim(); ++k) {
        const Doubles difference = mean_[k * Query::stride] - load(row + k * kLanes);
        gap += difference * difference;
      }
      store(gaps + p, gap);
      near |= lanes(Nearness::within(gap, load(row + dim() * kLanes), term_, limit_)) << p;
    }
    if constexpr (Query::ignores_only_itself) near &= ~query_.own_lane(leaf);
    if (Query::ignores_only_itself && on(Mechanism::nearest_first) && __builtin_popcount(near) > 2)
      near = consider_nearest(leaf, rows, gaps, near);
    for (; near; near &= near - 1) consider(leaf, rows, gaps, static_cast<unsigned>(__builtin_ctz(near)));
  }

  SILVERBIRCH_INLINE const double* terms_at(const double* rows, std::size_t lane) const {
    return rows + lane / kLanes * index_block_doubles(dim()) + dim() * kLanes + lane % kLanes;
  }

  SILVERBIRCH_INLINE void consider(std::size_t leaf, const double* rows, const double* gaps, unsigned lane) {
    const double bound = Nearness::distance(gaps[lane], term_, *terms_at(rows, lane));
    const Slot slot = static_cast<Slot>(leaf * kClusterLeaf + lane);
    if (bound > limit_ || query_.ignores(slot)) return;
    const double distance = query_.verified(slot, bound, best_.distance);
    if (distance > best_.distance) return;
    if (distance == best_.distance && !query_.prefers(slot, best_.slot)) return;
    best_ = {slot, distance};
    limit_ = query_.limit(distance);
  }

  // Many lanes are near only while no good candidate is known. Considering the lane of the least gap first leaves few
  // others.
  SILVERBIRCH_INLINE unsigned consider_nearest(std::size_t leaf, const double* rows, const double* gaps,
                                               unsigned near) {
    unsigned nearest = static_cast<unsigned>(__builtin_ctz(near));
    double least = gaps[nearest];
    for (unsigned rest = near & (near - 1); rest; rest &= rest - 1) {
      const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
      nearest = gaps[lane] < least ? lane : nearest;
      least = gaps[lane] < least ? gaps[lane] : least;
    }
    consider(leaf, rows, gaps, nearest);
    unsigned left = 0;
    for (std::size_t p = 0; p < kClusterLeaf; p += kWidth)
      left |= lanes(Nearness::within(load(gaps + p), load(terms_at(rows, p)), term_, limit_)) << p;
    return left & near & ~(1U << nearest);
  }

  // Visits the children among `wanted` that can hold a nearer slot, nearest first.
  void visit(std::size_t level, std::size_t node, unsigned wanted) {
    const double* rows = tree_.nodes[level] + node * index_node_doubles(dim());
    alignas(64) double gaps[kLanes];
    unsigned near = 0;
    for (std::size_t p = 0; p < kParts; ++p) {
      const Doubles gap = box_gap(rows + p * kWidth);
      store(gaps + p * kWidth, gap);
      near |= lanes(Nearness::within(gap, load(rows + 2 * dim() * kLanes + p * kWidth), term_, limit_)) << (p * kWidth);
    }
    near &= wanted;
    const double* terms = rows + 2 * dim() * kLanes;
    while (near) {
      unsigned lane = static_cast<unsigned>(__builtin_ctz(near));
      for (unsigned rest = near & (near - 1); rest; rest &= rest - 1) {
        const unsigned other = static_cast<unsigned>(__builtin_ctz(rest));
        if (gaps[other] < gaps[lane]) lane = other;
      }
      near &= ~(1U << lane);
      if (Nearness::distance(gaps[lane], term_, terms[lane]) > limit_) continue;  // a nearer slot was found meanwhile
      const std::size_t child = node * kLanes + lane;
      if (query_.ignores(level, child)) continue;
      if (level == 0)
        scan(child);
      else
        visit(level - 1, child, ~0U);
    }
  }

  SILVERBIRCH_INLINE Doubles box_gap(const double* lower) const {
    const double* upper = lower + dim() * kLanes;
    Doubles sum = {};
    for (std::size_t k = 0; k < dim(); ++k) {
      const Doubles below = load(lower + k * kLanes) - mean_[k * Query::stride];
      const Doubles above = mean_[k * Query::stride] - load(upper + k * kLanes);
      const Doubles gap = outside(below, above);
      sum += gap * gap;
    }
    return sum;
  }

  const PackedTree& tree_;
  const double* mean_;
  const double term_;
  const Query query_;
  NearestSlot best_;
  double limit_;
  std::size_t visits_ = 0;
};

template <class Nearness, std::size_t Dim>
NearestSlot nearest_to_slot(const PackedTree& tree, Slot slot, NearestSlot known, std::size_t& visits) {
  const std::size_t dim = Dim ? Dim : tree.dim;
  const double* mean = tree.blocks + slot / kLanes * index_block_doubles(dim) + slot % kLanes;
  Search<Nearness, BySlot, Dim> search(tree, mean, mean[dim * kLanes], {slot, tree.names}, known);
  search.climb(slot / kClusterLeaf);
  visits += search.visits();
  return search.best();
}

template <class Nearness, std::size_t Dim>
NearestSlot nearest_verified(const PackedTree& tree, Slot slot, NearestSlot known, const Verification& verification,
                             std::size_t& visits) {
  const std::size_t dim = Dim ? Dim : tree.dim;
  const double* mean = tree.blocks + slot / kLanes * index_block_doubles(dim) + slot % kLanes;
  Search<Nearness, ByVerifiedSlot, Dim> search(tree, mean, mean[dim * kLanes], {{slot, tree.names}, verification},
                                               known);
  search.climb(slot / kClusterLeaf);
  visits += search.visits();
  return search.best();
}

template <std::size_t Dim>
NearestSlot nearest_in_other(const PackedTree& tree, const Components& components, Slot slot, double within) {
  const std::size_t dim = Dim ? Dim : tree.dim;
  const double* mean = tree.blocks + slot / kLanes * index_block_doubles(dim) + slot % kLanes;
  const ByComponent query{slot, components.of_slot[slot], components, tree.names};
  Search<CentroidNearness, ByComponent, Dim> search(tree, mean, 0.0, query, {kNoSlot, within});
  search.climb(slot / kClusterLeaf);
  return search.best();
}

template <std::size_t Dim>
std::size_t nearest_to_points(const PackedTree& tree, const double* points, Slot likely, Slot* nearest) {
  if (!on(Mechanism::group_search)) {
    std::size_t visits = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      Search<CentroidNearness, ByPoint, Dim> search(tree, points + lane, 0.0, {tree.names}, {});
      search.climb(likely == kNoSlot ? 0 : likely / kClusterLeaf);
      visits += search.visits();
      likely = nearest[lane] = search.best().slot;
    }
    return visits / kLanes;
  }
  GroupSearch<Dim> search(tree, points, likely);
  search.run();
  search.write(nearest);
  return search.visits();
}

}  // namespace

// Entry d is for d dimensions, with loops of fixed length; entry 0 is for all other dimensions.
#define SILVERBIRCH_FOR_DIMENSIONS(function) \
  {function(0), function(1), function(2), function(3), function(4), function(5), function(6), function(7), function(8)}
#define SILVERBIRCH_CENTROID(dim) nearest_to_slot<CentroidNearness, dim>
#define SILVERBIRCH_AVERAGE(dim) nearest_to_slot<AverageNearness, dim>
#define SILVERBIRCH_OTHER(dim) nearest_in_other<dim>
#define SILVERBIRCH_POINTS(dim) nearest_to_points<dim>
#define SILVERBIRCH_WARD(dim) nearest_to_slot<WardNearness, dim>
#define SILVERBIRCH_VERIFIED_CENTROID(dim) nearest_verified<CentroidNearness, dim>
#define SILVERBIRCH_VERIFIED_AVERAGE(dim) nearest_verified<AverageNearness, dim>

const IndexSearch SILVERBIRCH_KERNELS(index_search) = {
    {{SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_CENTROID), SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_AVERAGE),
      SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_WARD)}},
    {{SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_VERIFIED_CENTROID),
      SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_VERIFIED_AVERAGE)}},
    SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_OTHER),
    SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_POINTS),
};

}  // namespace silverbirch
