// Compiled once per instruction set; SILVERBIRCH_INDEX_SEARCH names the table it defines. Everything else has internal
// linkage: see kernels.cpp.
#include "search.hpp"

#include "../vector.hpp"

namespace silverbirch {
namespace {

// A product and a quotient of the same three numbers may round differently: what is pruned must be farther by more.
constexpr double kSlack = 1.0 + 1e-15;

// Each says which gaps can be as near as `limit`, without a division, and what the distance is exactly.
struct CentroidNearness {
  static SILVERBIRCH_INLINE Truth within(Vector gap, Vector, double, double limit) { return gap <= limit; }
  static SILVERBIRCH_INLINE double distance(double gap, double, double) { return gap; }
};

struct AverageNearness {
  static SILVERBIRCH_INLINE Truth within(Vector gap, Vector terms, double own, double limit) {
    return gap + (own + terms) <= limit;
  }
  static SILVERBIRCH_INLINE double distance(double gap, double a, double b) { return gap + (a + b); }
};

struct WardNearness {
  static SILVERBIRCH_INLINE Truth within(Vector gap, Vector terms, double own, double limit) {
    return gap <= limit * (own + terms);
  }
  static SILVERBIRCH_INLINE double distance(double gap, double a, double b) { return gap / (a + b); }
};

// Who is asking: a slot of the tree, which is not its own neighbour, or a point from outside.
struct BySlot {
  static constexpr std::size_t stride = kLanes;  // of the coordinates of its mean
  Slot self;
  const std::uint32_t* names;
  SILVERBIRCH_INLINE bool is(Slot slot) const { return slot == self; }
  SILVERBIRCH_INLINE bool prefers(Slot a, Slot b) const {
    return b == kNoSlot || pair_key(names[self], names[a]) < pair_key(names[self], names[b]);
  }
  SILVERBIRCH_INLINE double verified(Slot, double bound, double) const { return bound; }
  SILVERBIRCH_INLINE double limit(double distance) const { return distance * kSlack; }
};

// A slot whose distances have to be verified, in order of their lower bounds.
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

struct ByPoint {
  static constexpr std::size_t stride = 1;
  const std::uint32_t* names;
  SILVERBIRCH_INLINE bool is(Slot) const { return false; }
  SILVERBIRCH_INLINE bool prefers(Slot a, Slot b) const { return b == kNoSlot || names[a] < names[b]; }
  SILVERBIRCH_INLINE double verified(Slot, double bound, double) const { return bound; }
  SILVERBIRCH_INLINE double limit(double distance) const { return distance * kSlack; }
};

template <class Nearness, class Asker, std::size_t Dim>
class Search {
 public:
  SILVERBIRCH_INLINE Search(const PackedTree& tree, const double* mean, double term, Asker asker, NearestSlot known)
      : tree_(tree), mean_(mean), term_(term), asker_(asker), best_(known), limit_(asker.limit(known.distance)) {}

  SILVERBIRCH_INLINE NearestSlot best() const { return best_; }
  SILVERBIRCH_INLINE std::size_t visits() const { return visits_; }

  // From the block up: each node but what lies below the child come from.
  SILVERBIRCH_INLINE void climb(std::size_t block) {
    scan(block);
    std::size_t child = block;
    for (std::size_t level = 0; level < tree_.level_count; ++level) {
      visit(level, child / kLanes, ~(1U << child % kLanes));
      child /= kLanes;
    }
  }

  SILVERBIRCH_INLINE void descend() {
    if (tree_.level_count == 0)
      scan(0);
    else
      visit(tree_.level_count - 1, 0, ~0U);
  }

 private:
  SILVERBIRCH_INLINE std::size_t dim() const { return Dim ? Dim : tree_.dim; }

  SILVERBIRCH_INLINE void scan(std::size_t block) {
    ++visits_;
    const double* rows = tree_.blocks + block * index_block_doubles(dim());
    alignas(64) double gaps[kLanes];
    unsigned near = 0;
    for (std::size_t p = 0; p < kParts; ++p) {
      const double* row = rows + p * kWidth;
      Vector gap = {};
      for (std::size_t k = 0; k < dim(); ++k) {
        const Vector difference = mean_[k * Asker::stride] - load(row + k * kLanes);
        gap += difference * difference;
      }
      store(gaps + p * kWidth, gap);
      near |= lanes(Nearness::within(gap, load(row + dim() * kLanes), term_, limit_)) << (p * kWidth);
    }
    const double* terms = rows + dim() * kLanes;
    for (; near; near &= near - 1) {
      const unsigned lane = static_cast<unsigned>(__builtin_ctz(near));
      const Slot slot = static_cast<Slot>(block * kLanes + lane);
      const double bound = Nearness::distance(gaps[lane], term_, terms[lane]);
      if (bound > limit_ || asker_.is(slot)) continue;
      const double distance = asker_.verified(slot, bound, best_.distance);
      if (distance > best_.distance) continue;
      if (distance == best_.distance && !asker_.prefers(slot, best_.slot)) continue;
      best_ = {slot, distance};
      limit_ = asker_.limit(distance);
    }
  }

  // The children of a node among `wanted` that can hold something nearer, the nearest first.
  void visit(std::size_t level, std::size_t node, unsigned wanted) {
    const double* rows = tree_.nodes[level] + node * index_node_doubles(dim());
    alignas(64) double gaps[kLanes];
    unsigned near = 0;
    for (std::size_t p = 0; p < kParts; ++p) {
      const Vector gap = box_gap(rows + p * kWidth);
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
      if (Nearness::distance(gaps[lane], term_, terms[lane]) > limit_)
        continue;  // something nearer was found meanwhile
      const std::size_t child = node * kLanes + lane;
      if (level == 0)
        scan(child);
      else
        visit(level - 1, child, ~0U);
    }
  }

  SILVERBIRCH_INLINE Vector box_gap(const double* lower) const {
    const double* upper = lower + dim() * kLanes;
    const Vector zero = {};
    Vector sum = {};
    for (std::size_t k = 0; k < dim(); ++k) {
      const Vector below = load(lower + k * kLanes) - mean_[k * Asker::stride];
      const Vector above = mean_[k * Asker::stride] - load(upper + k * kLanes);
      const Vector outside = below < above ? above : below;
      const Vector gap = outside < zero ? zero : outside;
      sum += gap * gap;
    }
    return sum;
  }

  const PackedTree& tree_;
  const double* mean_;
  const double term_;
  const Asker asker_;
  NearestSlot best_;
  double limit_;
  std::size_t visits_ = 0;
};

template <class Nearness, std::size_t Dim>
NearestSlot nearest_to_slot(const PackedTree& tree, Slot slot, NearestSlot known, std::size_t& visits) {
  const std::size_t dim = Dim ? Dim : tree.dim;
  const std::size_t block = slot / kLanes;
  const double* mean = tree.blocks + block * index_block_doubles(dim) + slot % kLanes;
  Search<Nearness, BySlot, Dim> search(tree, mean, mean[dim * kLanes], {slot, tree.names}, known);
  search.climb(block);
  visits += search.visits();
  return search.best();
}

template <class Nearness, std::size_t Dim>
NearestSlot nearest_verified(const PackedTree& tree, Slot slot, NearestSlot known, const Verification& verification,
                             std::size_t& visits) {
  const std::size_t dim = Dim ? Dim : tree.dim;
  const std::size_t block = slot / kLanes;
  const double* mean = tree.blocks + block * index_block_doubles(dim) + slot % kLanes;
  Search<Nearness, ByVerifiedSlot, Dim> search(tree, mean, mean[dim * kLanes], {{slot, tree.names}, verification},
                                               known);
  search.climb(block);
  visits += search.visits();
  return search.best();
}

template <std::size_t Dim>
NearestSlot nearest_to_point(const PackedTree& tree, const double* point) {
  Search<CentroidNearness, ByPoint, Dim> search(tree, point, 0.0, {tree.names}, {});
  search.descend();
  return search.best();
}

}  // namespace

// One entry for each dimension with loops of fixed length, after the one for all others.
#define SILVERBIRCH_FOR_DIMENSIONS(function) \
  {function(0), function(1), function(2), function(3), function(4), function(5), function(6), function(7), function(8)}
#define SILVERBIRCH_CENTROID(dim) nearest_to_slot<CentroidNearness, dim>
#define SILVERBIRCH_AVERAGE(dim) nearest_to_slot<AverageNearness, dim>
#define SILVERBIRCH_POINT(dim) nearest_to_point<dim>
#define SILVERBIRCH_WARD(dim) nearest_to_slot<WardNearness, dim>
#define SILVERBIRCH_VERIFIED_CENTROID(dim) nearest_verified<CentroidNearness, dim>
#define SILVERBIRCH_VERIFIED_AVERAGE(dim) nearest_verified<AverageNearness, dim>

extern const IndexSearch SILVERBIRCH_INDEX_SEARCH;
const IndexSearch SILVERBIRCH_INDEX_SEARCH = {
    {{SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_CENTROID), SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_AVERAGE),
      SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_WARD)}},
    {{SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_VERIFIED_CENTROID),
      SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_VERIFIED_AVERAGE)}},
    SILVERBIRCH_FOR_DIMENSIONS(SILVERBIRCH_POINT),
};

}  // namespace silverbirch
