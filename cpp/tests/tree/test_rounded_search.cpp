// Searches integer copies of means at the limit of their range, where squared gaps exceed 32 bits.
#include <algorithm>
#include <array>
#include <random>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "silverbirch/base/aligned.hpp"
#include "silverbirch/simd/instruction_set.hpp"
#include "silverbirch/tree/kernels/tree_kernels.hpp"
#include "silverbirch/tree/node_pool.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t kEntries = 27, kQueries = 60;

using Mean = std::vector<double>;

std::size_t lane_of(std::size_t k) { return k % 8 / 2; }

// Rescales the coordinates of each lane to a norm of this many steps.
void stretch(Mean& mean, const std::array<double, 4>& steps) {
  std::array<double, 4> squares = {};
  for (std::size_t k = 0; k < mean.size(); ++k) squares[lane_of(k)] += mean[k] * mean[k];
  for (std::size_t k = 0; k < mean.size(); ++k) mean[k] *= steps[lane_of(k)] / std::sqrt(squares[lane_of(k)]);
}

// Means of even numbers are on one side of the origin, those of odd numbers on the opposite side. With `outside`, some
// are beyond the int16 range, so stored as the origin.
Mean random_mean(std::mt19937_64& engine, std::size_t dim, std::size_t number, bool outside) {
  std::normal_distribution<double> normal(number % 2 == 0 ? 1.0 : -1.0, 0.5);
  Mean mean(dim);
  for (double& x : mean) x = normal(engine);
  if (number % 5 == 0)  // each lane has only two coordinates that are not zero
    for (std::size_t k = 8; k < dim; ++k) mean[k] = 0.0;
  constexpr double most = 0.9999 * kMostSteps;
  switch (number % 7) {
    case 0: stretch(mean, {most, 1.0, 1.0, 1.0}); break;
    case 1: stretch(mean, {outside ? (number % 14 == 1 ? 1.01 : 1.6) * kMostSteps : most, most, most, most}); break;
    case 2: stretch(mean, {0.9 * most, most, 0.95 * most, 0.8 * most}); break;
    default: stretch(mean, {most, most, most, most});
  }
  return mean;
}

double squared_gap(const Mean& a, const Mean& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

// The nearest entry is among the candidates of each search. If no mean is outside, it is mostly the only candidate.
void test_far_apart(std::size_t dim, std::size_t route, bool outside) {
  const bool ward = route == kWardRowRoute;
  const TreeKernels& kernels = rounded_tree_kernels();
  NodeShape shape = node_shape(dim, kEntries, ward, kAllBits, true);
  shape.steps = 1.0f;
  std::mt19937_64 engine(dim);
  AlignedFloats routing(shape.routing_floats), position(shape.entry_floats + kRouteLanes), values(shape.slots);
  const std::vector<double> origin(dim);
  std::vector<Mean> means;
  for (std::size_t s = 0; s < kEntries; ++s) {
    means.push_back(random_mean(engine, dim, s, outside));
    Mean record = means[s];
    record.insert(record.end(), {static_cast<double>(1 + s % 3), 0.0});
    kernels.copy_for_routing(routing.data(), shape, s, record.data(), origin.data());
  }
  double largest = 0.0;
  std::size_t sure = 0;
  for (std::size_t q = 0; q < kQueries; ++q) {
    const Mean mean = random_mean(engine, dim, q, outside);
    RouteQuery query{};
    query.position = position.data();
    query.weight = 1.0f;
    const double* there = mean.data();
    kernels.positions(&there, 1, origin.data(), shape, &query);
    std::vector<double> squared(kEntries);
    for (std::size_t s = 0; s < kEntries; ++s) {
      const double weight = static_cast<double>(1 + s % 3), gap = squared_gap(mean, means[s]);
      largest = std::max(largest, gap);
      squared[s] = ward ? gap * weight / (weight + 1.0) : gap;
    }
    const auto nearest = static_cast<std::size_t>(std::min_element(squared.begin(), squared.end()) - squared.begin());
    const Candidates found = kernels.nearest_entry[route](routing.data(), shape, kEntries, query, values.data());
    sure += found.sure;
    if (found.sure)
      CHECK(found.slot == nearest);
    else
      CHECK(values[nearest] <= found.limit);
  }
  CHECK(largest > 0x1p33);  // else nothing beyond 32 bits was tested
  if (!outside) CHECK(2 * sure > kQueries);
}

}  // namespace

int main() {
  for (const std::string_view name : supported_instruction_sets()) {
    use_instruction_set(name);
    for (const std::size_t dim : {96, 100, 384, 1001})
      for (const std::size_t route : {route_of(CfDistance::centroid), kWardRowRoute})
        for (const bool outside : {false, true}) test_far_apart(dim, route, outside);
  }
}
