// Parts of the space of about equal mass: the leaves of a binary tree of planes. Each is at right angles to the
// direction in which what is on its side varies most (the first principal component) and goes through the weighted
// median: such a cut runs through the fewest clusters. In many dimensions no single column does as well.
#pragma once

#include <cstddef>
#include <vector>

#include "features.hpp"

namespace silverbirch {

class SpacePartition {
 public:
  SpacePartition() = default;  // one part, the whole space
  // part_count: a power of two
  SpacePartition(const Features& sample, std::size_t part_count);
  // normals: row-major, one row for each offset; the planes below plane i are 2i + 1 and 2i + 2
  SpacePartition(std::size_t dim, std::vector<double> normals, std::vector<double> offsets);

  std::size_t size() const { return offsets_.size() + 1; }
  const std::vector<double>& normals() const { return normals_; }
  const std::vector<double>& offsets() const { return offsets_; }

  template <class Scalar>
  std::size_t part_of(const Scalar* row) const {
    std::size_t place = 0;
    while (place < offsets_.size()) place = 2 * place + 1 + (along(place, row) > offsets_[place]);
    return place - offsets_.size();
  }

 private:
  // How far a row is along the normal of a plane. Four sums side by side, for speed.
  template <class Scalar>
  double along(std::size_t place, const Scalar* row) const {
    const double* normal = normals_.data() + place * dim_;
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    std::size_t k = 0;
    for (; k + 4 <= dim_; k += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += normal[k + lane] * static_cast<double>(row[k + lane]);
    for (; k < dim_; ++k) sums[0] += normal[k] * static_cast<double>(row[k]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  void divide(const Features& sample, std::vector<std::size_t> members, std::size_t place);

  std::size_t dim_ = 0;
  std::vector<double> normals_, offsets_;
};

}  // namespace silverbirch
