#include "walk_ground.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "../kernels.hpp"
#include "../parallel.hpp"

namespace silverbirch {

namespace {

constexpr float kNobodyHere = 1e18F;  // farther from everybody than any two are apart
constexpr float kAllSquares = 1e33F;  // no squared distance is larger
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Enough for nearly all rows of structureless data: a row's nearest is within twice its distance, and so are about
// 2^dim others.
constexpr std::size_t list_blocks(std::size_t dim) {
  return dim <= 2 ? 1 : dim == 3 ? 2 : dim == 4 ? 3 : dim == 5 ? 4 : 6;
}

}  // namespace

std::size_t WalkGround::list_bytes(std::size_t dim) {
  return list_blocks(dim) * kWalkLanes * (dim + 1) * sizeof(float);
}

// All points within some distance of one, nearest first.
class WalkGround::Neighbours {
 public:
  explicit Neighbours(const WalkGround& ground)
      : ground_(ground),
        cells_(ground.cell_count()),
        found_(ground.order_.size()),
        found_squared_(found_.size()),
        slots_(found_.size()),
        squared_(found_.size()) {}

  std::size_t size() const { return count_; }
  const Slot* slots() const { return slots_.data(); }
  float squared(std::size_t i) const { return squared_[i]; }

  // Looks into the cells within a distance of one from now on; returns whether these are all.
  bool look_around(std::size_t cell, float squared) {
    std::array<float, 2 * kMostWalkDimensions> box;
    const float* ends = ground_.boxes_.data() + cell / kWalkLanes * 2 * ground_.block_floats() + cell % kWalkLanes;
    for (std::size_t k = 0; k < 2 * ground_.dim_; ++k) box[k] = ends[k * kWalkLanes];
    cell_count_ = kernels().walk->cells_within[ground_.dim_](ground_.tables_, box.data(), squared, cells_.data());
    return cell_count_ == ground_.cell_count();
  }

  void find(Slot slot, float squared) {
    const float* position = ground_.positions_.data() + slot * ground_.dim_;
    count_ = kernels().walk->points_within[ground_.dim_](ground_.tables_, position, cells_.data(), cell_count_, squared,
                                                         found_.data(), found_squared_.data());
    const auto self = std::find(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(count_), slot);
    *self = found_[--count_];
    found_squared_[static_cast<std::size_t>(self - found_.begin())] = found_squared_[count_];
    sort();
  }

 private:
  // By steps of the distance: within a step any order will do.
  void sort() {
    constexpr std::size_t kSteps = 64;
    float most = 0.0F;
    for (std::size_t i = 0; i < count_; ++i) most = std::max(most, found_squared_[i]);
    const double steps = most > 0.0F ? (kSteps - 1) / static_cast<double>(most) : 0.0;
    std::array<std::uint32_t, kSteps + 1> place = {};
    const auto step = [&](std::size_t i) {
      return static_cast<std::size_t>(steps * static_cast<double>(found_squared_[i]));
    };
    for (std::size_t i = 0; i < count_; ++i) ++place[step(i) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint32_t to = place[step(i)]++;
      slots_[to] = found_[i];
      squared_[to] = found_squared_[i];
    }
  }

  const WalkGround& ground_;
  std::vector<std::uint32_t> cells_;
  std::size_t cell_count_ = 0, count_ = 0;
  std::vector<Slot> found_;
  std::vector<float> found_squared_;
  std::vector<Slot> slots_;
  std::vector<float> squared_;
};

WalkGround::WalkGround(const std::vector<float>& positions, std::size_t dim, std::size_t threads,
                       const Progress& progress)
    : dim_(dim), positions_(positions), order_(positions.size() / dim) {
  const std::size_t count = order_.size();
  std::iota(order_.begin(), order_.end(), Slot{0});
  divide();
  for (std::size_t slot = 0; slot < count; ++slot)
    std::copy_n(positions.data() + order_[slot] * dim, dim, positions_.data() + slot * dim);
  write_cells();
  progress.poll();

  const std::size_t blocks = list_blocks(dim);
  lists_.resize(count * blocks * block_floats());
  list_slots_.resize(count * blocks * kWalkLanes);
  reach_.resize(count * (blocks + 1));
  tables_ = {.list_blocks = blocks,
             .cell_count = cell_count(),
             .cells = cells_.data(),
             .cell_begin = cell_begin_.data(),
             .boxes = boxes_.data(),
             .lists = lists_.data(),
             .list_slots = list_slots_.data(),
             .reach = reach_.data(),
             .relative_doubt = 0x1p-13F + static_cast<float>(dim + 16) * 0x1p-22F};
  const Progress polls{[&](std::size_t, std::size_t) { progress.poll(); }};
  parallel_for(cell_count(), 64, threads, polls, [&](std::size_t begin, std::size_t end) {
    Neighbours near(*this);
    for (std::size_t cell = begin; cell < end; ++cell) write_lists(cell, near);
  });
}

// Halves all points, and the halves, until each part fits a block.
void WalkGround::divide() {
  cell_begin_ = {0, static_cast<Slot>(order_.size())};
  const auto longest = [&] { return cell_begin_.back() - cell_begin_[cell_begin_.size() - 2]; };
  while (longest() > kWalkLanes) {  // no part is longer than the last
    std::vector<Slot> begins;
    for (std::size_t part = 0; part + 1 < cell_begin_.size(); ++part) {
      const Slot begin = cell_begin_[part], end = cell_begin_[part + 1], middle = begin + (end - begin) / 2;
      splits_.push_back(halve(begin, middle, end));
      begins.push_back(begin);
      begins.push_back(middle);
    }
    begins.push_back(cell_begin_.back());
    cell_begin_ = std::move(begins);
  }
}

// At the widest dimension.
WalkGround::Split WalkGround::halve(Slot begin, Slot middle, Slot end) {
  std::size_t widest = 0;
  float greatest_width = -1.0F;
  for (std::size_t k = 0; k < dim_; ++k) {
    float lower = coordinate(order_[begin], k), upper = lower;
    for (Slot i = begin; i < end; ++i) {
      lower = std::min(lower, coordinate(order_[i], k));
      upper = std::max(upper, coordinate(order_[i], k));
    }
    if (upper - lower > greatest_width) {
      widest = k;
      greatest_width = upper - lower;
    }
  }
  const auto less = [&](Slot a, Slot b) { return coordinate(a, widest) < coordinate(b, widest); };
  const auto place = [&](Slot i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(place(begin), place(middle), place(end), less);
  const Slot below = *std::max_element(place(begin), place(middle), less);
  return {0.5F * (coordinate(below, widest) + coordinate(order_[middle], widest)), static_cast<std::uint32_t>(widest)};
}

// Several rows at once, so that none waits for another.
void WalkGround::find_cells(WalkRow* rows, std::size_t count) const {
  constexpr std::size_t kTogether = 16;
  const auto splits = static_cast<std::uint32_t>(splits_.size());
  const int levels = std::bit_width(splits);
  for (std::size_t begin = 0; begin < count; begin += kTogether) {
    const std::size_t together = std::min(kTogether, count - begin);
    std::uint32_t node[kTogether] = {};
    for (int level = 0; level < levels; ++level)
      for (std::size_t i = 0; i < together; ++i) {
        const Split& split = splits_[node[i]];
        node[i] = 2 * node[i] + 1 + (rows[begin + i].position[split.dimension] >= split.at);
      }
    for (std::size_t i = 0; i < together; ++i) rows[begin + i].cell = node[i] - splits;
  }
}

void WalkGround::write_cells() {
  cells_.resize(cell_count() * block_floats());
  boxes_.assign((cell_count() + kWalkLanes - 1) / kWalkLanes * 2 * block_floats(), kNobodyHere);
  std::vector<Slot> slots(order_.size());
  std::iota(slots.begin(), slots.end(), Slot{0});
  for (std::size_t cell = 0; cell < cell_count(); ++cell) {
    const Slot begin = cell_begin_[cell], end = cell_begin_[cell + 1];
    write_block(slots.data() + begin, end - begin, cells_.data() + cell * block_floats());
    float* box = boxes_.data() + cell / kWalkLanes * 2 * block_floats() + cell % kWalkLanes;
    for (std::size_t k = 0; k < dim_; ++k) {
      float &lower = box[k * kWalkLanes], &upper = box[(dim_ + k) * kWalkLanes];
      lower = upper = coordinate(begin, k);
      for (Slot slot = begin; slot < end; ++slot) {
        lower = std::min(lower, coordinate(slot, k));
        upper = std::max(upper, coordinate(slot, k));
      }
    }
  }
}

// The lists of a cell's points. One of them tells how far to look for all; where another would have to look farther, it
// lies apart, and so do the rows it is nearest to.
void WalkGround::write_lists(std::size_t cell, Neighbours& near) {
  const Slot begin = cell_begin_[cell], end = cell_begin_[cell + 1], one = begin + (end - begin) / 2;
  const std::size_t length = tables_.list_blocks * kWalkLanes;
  near.look_around(cell, 0.0F);
  near.find(one, kAllSquares);
  float squared = 1e-30F;
  for (std::size_t i = 0; i < near.size(); ++i) squared += near.squared(i) / static_cast<float>(near.size());
  bool all = near.look_around(cell, squared);
  for (near.find(one, squared); near.size() <= length && !all; near.find(one, squared)) {
    squared *= 1.5F;
    all = near.look_around(cell, squared);
  }
  for (Slot slot = begin; slot < end; ++slot) {
    near.find(slot, all ? kAllSquares : squared);
    write_list(slot, near, all ? kInfinity : squared);
  }
}

// beyond: the squared distance of all that are not neighbours is at least that.
void WalkGround::write_list(Slot slot, const Neighbours& near, float beyond) {
  const std::size_t blocks = tables_.list_blocks;
  float squared_norm = 0.0F;
  for (std::size_t k = 0; k < dim_; ++k) squared_norm += coordinate(slot, k) * coordinate(slot, k);
  // What is computed may be larger than what is true.
  const auto at_least = [&](float computed) {
    return (computed - walk_limit(0.0F, 0.0F, squared_norm)) * (1.0F - tables_.relative_doubt);
  };
  float* reach = reach_.data() + slot * (blocks + 1);
  std::fill_n(reach, blocks + 1, at_least(beyond));
  float nearest = beyond;
  for (std::size_t i = near.size(); i-- > 0;) {
    nearest = std::min(nearest, near.squared(i));
    if (i % kWalkLanes == 0 && i / kWalkLanes <= blocks) reach[i / kWalkLanes] = at_least(nearest);
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = std::min(block * kWalkLanes, near.size());
    const std::size_t count = std::min(kWalkLanes, near.size() - first), place = slot * blocks + block;
    std::copy_n(near.slots() + first, count, list_slots_.data() + place * kWalkLanes);
    write_block(near.slots() + first, count, lists_.data() + place * block_floats());
  }
}

void WalkGround::write_block(const Slot* slots, std::size_t count, float* block) const {
  for (std::size_t k = 0; k < dim_; ++k)
    for (std::size_t lane = 0; lane < kWalkLanes; ++lane)
      block[k * kWalkLanes + lane] = lane < count ? coordinate(slots[lane], k) : kNobodyHere;
}

}  // namespace silverbirch
