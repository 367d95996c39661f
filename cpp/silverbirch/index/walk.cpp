// Compiled once per instruction set; SILVERBIRCH_WALK names the table it defines. Everything else has internal linkage:
// see kernels.cpp.
#include "walk.hpp"

#include "../float_vector.hpp"

namespace silverbirch {
namespace {

// So many rows walk side by side: while one waits for memory, others compute.
constexpr std::size_t kWalkers = 32;
constexpr std::size_t kParts = kWalkLanes / kWidth;

// The least of a block's squared distances from a position.
template <std::size_t Dim>
class BlockScan {
 public:
  SILVERBIRCH_INLINE BlockScan(const float* block, const float* position) {
    for (std::size_t p = 0; p < kParts; ++p) {
      gap_[p] = Floats{};
      for (std::size_t k = 0; k < Dim; ++k) {
        const Floats difference = position[k] - load(block + k * kWalkLanes + p * kWidth);
        gap_[p] = multiply_add(difference, difference, gap_[p]);
      }
    }
    Floats lowest = gap_[0];
    for (std::size_t p = 1; p < kParts; ++p) lowest = smaller(lowest, gap_[p]);
    least_ = least(lowest);
  }

  SILVERBIRCH_INLINE float least_gap() const { return least_; }
  SILVERBIRCH_INLINE unsigned within(float limit) const {
    unsigned lanes = 0;
    for (std::size_t p = 0; p < kParts; ++p) lanes |= lanes_up_to(gap_[p], limit) << (p * kWidth);
    return lanes;
  }
  SILVERBIRCH_INLINE float gap(unsigned lane) const { return gap_[lane / kWidth][lane % kWidth]; }
  SILVERBIRCH_INLINE unsigned least_lane() const { return static_cast<unsigned>(__builtin_ctz(within(least_))); }

 private:
  Floats gap_[kParts];
  float least_;
};

struct Walker {
  const WalkRow* row;
  Slot at, best;           // whose list it is on; the nearest it has met
  float at_gap, best_gap;  // squared
  unsigned block;          // of the list, the next to look at
  bool doubtful;           // whether another may be as near as the best
};

template <std::size_t Dim>
class Walking {
 public:
  SILVERBIRCH_INLINE explicit Walking(const WalkTables& tables) : tables_(tables) {}

  // From the nearest of a cell.
  SILVERBIRCH_INLINE void start(Walker& walker, const WalkRow& row) const {
    const BlockScan<Dim> scan(tables_.cells + row.cell * kBlockFloats, row.position);
    walker.row = &row;
    walker.at = walker.best = tables_.cell_begin[row.cell] + scan.least_lane();
    walker.at_gap = walker.best_gap = scan.least_gap();
    walker.block = 0;
    walker.doubtful = __builtin_popcount(scan.within(limit(walker, scan.least_gap()))) > 1;
    prefetch(walker);
  }

  // One block on; false at the end of the way. Nobody is on their own list, so the best is not met again, and whoever
  // else is as near is another.
  SILVERBIRCH_INLINE bool step(Walker& walker) const {
    const std::size_t place = walker.at * tables_.list_blocks + walker.block;
    const BlockScan<Dim> scan(tables_.lists + place * kBlockFloats, walker.row->position);
    const bool better = scan.least_gap() < walker.best_gap;
    const float best_gap = better ? scan.least_gap() : walker.best_gap, best_limit = limit(walker, best_gap);
    const int close = __builtin_popcount(scan.within(best_limit));
    walker.doubtful = better ? (walker.best_gap <= best_limit) | (close > 1) : walker.doubtful | (close > 0);
    walker.best = better ? tables_.list_slots[place * kWalkLanes + scan.least_lane()] : walker.best;
    walker.best_gap = best_gap;
    // Whoever is nearer has a list that starts nearer; but to leave a list later than after its first block pays only
    // at its end.
    const bool at_end = walker.block + 1 == tables_.list_blocks && !is_done(walker, walker.block + 1);
    const bool moves = (better & (walker.block == 0)) | (at_end & (walker.best != walker.at));
    walker.at = moves ? walker.best : walker.at;
    walker.at_gap = moves ? best_gap : walker.at_gap;
    walker.block = moves ? 0 : walker.block + 1;
    if (is_done(walker, walker.block) | (walker.block == tables_.list_blocks)) return false;
    prefetch(walker);
    return true;
  }

  SILVERBIRCH_INLINE Slot result(const Walker& walker) const {
    return !walker.doubtful && is_done(walker, walker.block) ? walker.best : kNoSlot;
  }

 private:
  static constexpr std::size_t kBlockFloats = Dim * kWalkLanes;

  SILVERBIRCH_INLINE float limit(const Walker& walker, float gap) const {
    return walk_limit(gap, tables_.relative_doubt, walker.row->squared_norm);
  }

  // By the triangle inequality, whoever is as far from `at` as `at` and `best` are from the walker together is not
  // nearer than `best`; and (a + b)² ≤ 2a² + 2b².
  SILVERBIRCH_INLINE bool is_done(const Walker& walker, unsigned block) const {
    return tables_.reach[walker.at * (tables_.list_blocks + 1) + block] >=
           2.0F * (limit(walker, walker.at_gap) + limit(walker, walker.best_gap));
  }

  SILVERBIRCH_INLINE void prefetch(const Walker& walker) const {
    const std::size_t place = walker.at * tables_.list_blocks + walker.block;
    const float* block = tables_.lists + place * kBlockFloats;
    for (std::size_t k = 0; k < kBlockFloats; k += kWalkLanes) __builtin_prefetch(block + k);
    __builtin_prefetch(tables_.list_slots + place * kWalkLanes);
    __builtin_prefetch(tables_.reach + walker.at * (tables_.list_blocks + 1));
  }

  const WalkTables& tables_;
};

template <std::size_t Dim>
void nearest_to_rows(const WalkTables& tables, const WalkRow* rows, std::size_t row_count, Slot* nearest) {
  const Walking<Dim> walking(tables);
  Walker walkers[kWalkers];
  unsigned on_the_way[kWalkers];
  for (std::size_t first = 0; first < row_count; first += kWalkers) {
    const std::size_t count = row_count - first < kWalkers ? row_count - first : kWalkers;
    for (std::size_t i = 0; i < count; ++i) {
      walking.start(walkers[i], rows[first + i]);
      on_the_way[i] = static_cast<unsigned>(i);
    }
    for (std::size_t left = count; left > 0;) {
      std::size_t still = 0;
      for (std::size_t i = 0; i < left; ++i) {
        const unsigned walker = on_the_way[i];
        on_the_way[still] = walker;
        still += walking.step(walkers[walker]);
      }
      left = still;
    }
    for (std::size_t i = 0; i < count; ++i) nearest[first + i] = walking.result(walkers[i]);
  }
}

template <std::size_t Dim>
std::size_t cells_within(const WalkTables& tables, const float* box, float limit, std::uint32_t* found) {
  std::size_t count = 0;
  for (std::size_t cell = 0; cell < tables.cell_count; cell += kWidth) {
    const float* others = tables.boxes + cell / kWalkLanes * 2 * Dim * kWalkLanes + cell % kWalkLanes;
    Floats gap = {};
    for (std::size_t k = 0; k < Dim; ++k) {
      const Floats above = load(others + k * kWalkLanes) - box[Dim + k];
      const Floats below = box[k] - load(others + (Dim + k) * kWalkLanes);
      const Floats apart = larger(larger(above, below), Floats{});
      gap = multiply_add(apart, apart, gap);
    }
    for (unsigned lanes = lanes_up_to(gap, limit); lanes != 0; lanes &= lanes - 1)
      found[count++] = static_cast<std::uint32_t>(cell) + static_cast<unsigned>(__builtin_ctz(lanes));
  }
  return count;
}

template <std::size_t Dim>
std::size_t points_within(const WalkTables& tables, const float* position, const std::uint32_t* cells,
                          std::size_t cell_count, float limit, Slot* found, float* squared) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < cell_count; ++i) {
    const BlockScan<Dim> scan(tables.cells + cells[i] * Dim * kWalkLanes, position);
    for (unsigned lanes = scan.within(limit); lanes != 0; lanes &= lanes - 1, ++count) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
      found[count] = tables.cell_begin[cells[i]] + lane;
      squared[count] = scan.gap(lane);
    }
  }
  return count;
}

}  // namespace

extern const Walk SILVERBIRCH_WALK;
const Walk SILVERBIRCH_WALK = {
    {nullptr, nearest_to_rows<1>, nearest_to_rows<2>, nearest_to_rows<3>, nearest_to_rows<4>, nearest_to_rows<5>,
     nearest_to_rows<6>},
    {nullptr, cells_within<1>, cells_within<2>, cells_within<3>, cells_within<4>, cells_within<5>, cells_within<6>},
    {nullptr, points_within<1>, points_within<2>, points_within<3>, points_within<4>, points_within<5>,
     points_within<6>},
};

}  // namespace silverbirch
