// Complete and average linkage of two clusters against their definitions.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/base/aligned.hpp"
#include "silverbirch/linkage/points/member_distance.hpp"
#include "silverbirch/simd/instruction_set.hpp"

using namespace silverbirch;

namespace {

// Points in blocks, and the arrays that Members points to.
struct Cluster {
  Cluster(std::size_t count, std::size_t dim, unsigned seed, double offset)
      : dim(dim), points(random_points(count, dim, seed, offset)), mean(dim * kLanes) {
    const std::size_t stride = member_block_doubles(dim);
    blocks.resize(blocks_for(count) * stride);
    balls.resize(blocks_for(blocks_for(count)) * stride);
    for (std::size_t i = 0; i < blocks_for(count) * kLanes; ++i) {
      const std::size_t point = std::min(i, count - 1);
      for (std::size_t k = 0; k < dim; ++k) {
        blocks[i / kLanes * stride + k * kLanes + i % kLanes] = points[point * dim + k];
        if (i < count) mean[k * kLanes] += weight(i) * points[point * dim + k];
      }
      blocks[i / kLanes * stride + dim * kLanes + i % kLanes] = i < count ? weight(i) : 0.0;
      if (i < count) total += weight(i);
    }
    for (double& x : mean) x /= total;
    if (count == 1)  // equal to the last bit
      for (std::size_t k = 0; k < dim; ++k) mean[k * kLanes] = points[k];
    const auto farthest = member_distance().farthest;
    radius = std::sqrt(farthest(blocks.data(), count, dim, mean.data())) * (1.0 + 1e-12);
    for (std::size_t b = 0; b < blocks_for(count); ++b) {  // a ball around the first point of each block
      double* ball = balls.data() + b / kLanes * stride + b % kLanes;
      for (std::size_t k = 0; k < dim; ++k) ball[k * kLanes] = blocks[b * stride + k * kLanes];
      ball[dim * kLanes] = std::sqrt(farthest(blocks.data() + b * stride, 1, dim, ball)) * (1.0 + 1e-12);
    }
  }

  static double weight(std::size_t i) { return 1.0 + static_cast<double>(i % 3); }
  std::size_t count() const { return points.size() / dim; }
  Members members(bool with_balls) const {
    return {mean.data(), blocks.data(), count(), total, radius, with_balls ? balls.data() : nullptr};
  }

  std::size_t dim;
  std::vector<double> points;
  AlignedDoubles mean, blocks, balls;
  double total = 0.0, radius = 0.0;
};

void check_pair(const Cluster& a, const Cluster& b) {
  double most = 0.0, sum = 0.0;
  for (std::size_t i = 0; i < a.count(); ++i)
    for (std::size_t j = 0; j < b.count(); ++j) {
      double gap = 0.0;
      for (std::size_t k = 0; k < a.dim; ++k) {
        const double difference = a.points[i * a.dim + k] - b.points[j * a.dim + k];
        gap += difference * difference;
      }
      most = std::max(most, gap);
      sum += Cluster::weight(i) * Cluster::weight(j) * std::sqrt(gap);
    }
  const double mean = a.count() * b.count() == 1 ? std::sqrt(most) : sum / (a.total * b.total);
  const std::size_t unrolled = MemberDistance::unrolled(a.dim);
  const auto complete = member_distance().complete[unrolled], average = member_distance().average[unrolled];
  for (const bool balls : {false, true}) {
    const Members x = a.members(balls), y = b.members(balls);
    CHECK(complete(x, y, a.dim, 1e240, 0.0) == most);
    CHECK(complete(y, x, a.dim, 1e240, 0.0) == most);
    CHECK(complete(x, y, a.dim, most, 0.0) == most);
    CHECK(complete(x, y, a.dim, 0.9 * most, 0.0) > 0.9 * most);
    CHECK(close(average(x, y, a.dim, 1e240, 0.0), mean * mean));
    CHECK(close(average(x, y, a.dim, mean * mean * (1.0 + 1e-9), 0.0), mean * mean));
    CHECK(average(x, y, a.dim, 0.9 * mean * mean, 0.0) > 0.9 * mean * mean);
  }
}

}  // namespace

int main() {
  for (const auto set : supported_instruction_sets()) {
    use_instruction_set(set);
    for (const std::size_t dim : {1, 2, 5, 8, 13})
      for (const std::size_t count : {1, 2, 7, 8, 9, 40, 200})
        for (const std::size_t other : {1, 3, 8, 33, 150})
          for (const double offset : {0.0, 3.0, 1e6}) check_pair({count, dim, 1, 0.0}, {other, dim, 2, offset});
  }
}
