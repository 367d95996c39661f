#include "check.hpp"
#include "linkage/ordering/dendrograms.hpp"
#include "silverbirch/linkage/ordering/leaf_distances.hpp"

using namespace silverbirch;

namespace {

void distances_are_those_of_the_leaves_at_their_places() {
  const RandomDendrogram d = random_dendrogram(200, 3);
  const Branches branches(d.z.data(), d.merges());
  std::vector<std::uint32_t> a(150), b{5, 199, 0, 77, 5};
  std::iota(a.begin(), a.end(), 20u);
  const auto compare = [&](const LeafDistances& distances, auto of) {
    constexpr std::size_t step = 7;
    std::vector<double> between(a.size() * step, -1.0);
    LeafDistances::Workspace workspace;
    distances.between(a, b, between.data(), step, workspace);
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) {
        const auto one = static_cast<std::size_t>(branches.leaf_at()[a[i]]);
        const auto other = static_cast<std::size_t>(branches.leaf_at()[b[j]]);
        CHECK(close(between[i * step + j], one == other ? 0.0 : of(d.distance(one, other)), 1e-12));
      }
      CHECK(between[i * step + 5] == -1.0);
    }
  };
  const auto by_points = [&](PointDistance distance) {
    return PointDistances(branches, d.points.data(), d.dim, distance);
  };
  compare(CondensedDistances(branches, d.condensed.data()), [](double gap) { return gap; });
  compare(by_points(PointDistance::euclidean), [](double gap) { return gap; });
  compare(by_points(PointDistance::squared), [](double gap) { return gap * gap; });
  compare(by_points(PointDistance::half_squared), [](double gap) { return gap * gap / 2.0; });
}

}  // namespace

int main() { distances_are_those_of_the_leaves_at_their_places(); }
