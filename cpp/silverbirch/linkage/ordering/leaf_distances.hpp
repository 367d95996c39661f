// The distances of leaves, which are called by their places (branches.hpp): of points, or looked up among given ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/names.hpp"
#include "silverbirch/linkage/ordering/branches.hpp"

namespace silverbirch {

class LeafDistances {
 public:
  using Places = std::span<const std::uint32_t>;
  struct Workspace {
    AlignedDoubles product;
    std::vector<double> rows, columns;
  };

  virtual ~LeafDistances() = default;
  // Writes the distance of a[i] and b[j] to to[i * row_step + j].
  virtual void between(Places a, Places b, double* to, std::size_t row_step, Workspace& workspace) const = 0;
};

// What the distance of two points is, from the squared Euclidean distance s: √s, s, or s / 2. Half of it is the cosine
// distance of rows of unit length.
enum class PointDistance { euclidean, squared, half_squared };
inline constexpr std::array<std::string_view, 3> kPointDistanceNames = {"euclidean", "squared", "half_squared"};
inline PointDistance point_distance_from_name(std::string_view name) {
  return from_name<PointDistance>(kPointDistanceNames, name, "distance of points");
}

class PointDistances : public LeafDistances {
 public:
  PointDistances(const Branches& branches, const double* points, std::size_t dim, PointDistance distance);
  void between(Places a, Places b, double* to, std::size_t row_step, Workspace& workspace) const override;

 private:
  std::vector<double> points_;  // by places: those of a branch are neighbours in memory too
  std::size_t dim_;
  PointDistance distance_;
};

class CondensedDistances : public LeafDistances {
 public:
  CondensedDistances(const Branches& branches, const double* condensed) : branches_(branches), condensed_(condensed) {}
  void between(Places a, Places b, double* to, std::size_t row_step, Workspace& workspace) const override;

 private:
  const Branches& branches_;
  const double* condensed_;
};

}  // namespace silverbirch
