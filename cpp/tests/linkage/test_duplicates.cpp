#include <map>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/linkage/duplicates.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t kDim = 2, kCount = 30000;

Features many_equal_rows() {
  std::vector<double> points = random_points(kCount, kDim, 1);
  for (double& x : points) x = std::round(50.0 * x);  // some values are -0
  Features features = as_features(points, kDim);
  for (std::size_t i = 0; i < kCount; i += 7) features.sse[i] = 1.0;
  return features;
}

std::vector<std::uint32_t> first_of_same_by_map(const Features& features) {
  std::map<std::pair<double, double>, std::uint32_t> first;
  std::vector<std::uint32_t> same_as;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const std::pair row(features.mean[i * kDim], features.mean[i * kDim + 1]);
    same_as.push_back(features.sse[i] == 0.0 ? first.try_emplace(row, i).first->second : i);
  }
  return same_as;
}

void equal_rows_without_an_sse_are_merged_into_the_first() {
  const Features features = many_equal_rows();
  const std::vector<std::uint32_t> expected = first_of_same_by_map(features);
  for (const std::size_t threads : {1, 2, 5}) {
    const auto same_as = first_of_same(view(features), threads);
    CHECK(std::vector(same_as.begin(), same_as.end()) == expected);
    MergeHistory history(kCount);
    const DistinctFeatures distinct = merge_duplicates(view(features), history, threads);
    CHECK(distinct.names.size() + history.size() == kCount);
    CHECK(distinct.weight.size() == distinct.names.size());
    double weight = 0.0;
    for (std::size_t i = 0; i < distinct.names.size(); ++i) {
      CHECK(expected[distinct.names[i]] == distinct.names[i]);
      CHECK(distinct.mean[i * kDim] == features.mean[distinct.names[i] * kDim]);
      weight += distinct.weight[i];
    }
    CHECK(weight == kCount);
  }
}

void distinct_rows_are_left_where_they_are() {
  const Features features = as_features(random_points(1000, kDim, 2), kDim);
  MergeHistory history(1000);
  const DistinctFeatures distinct = merge_duplicates(view(features), history, 2);
  if (CHECK(distinct.names.size() == 1000)) CHECK(distinct.names[999] == 999);
  CHECK(distinct.weight.empty());
  CHECK(history.size() == 0);
}

}  // namespace

int main() {
  equal_rows_without_an_sse_are_merged_into_the_first();
  distinct_rows_are_left_where_they_are();
}
