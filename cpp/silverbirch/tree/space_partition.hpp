// Divides the space into parts of about equal mass, the leaves of a binary tree of planes. Each plane is perpendicular
// to the direction in which the sample on its side varies most (the first principal component), and goes through the
// weighted median. Such a cut runs through few clusters; in many dimensions, no single column does as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/features/features.hpp"

namespace silverbirch {

class SpacePartition {
 public:
  SpacePartition() = default;  // one part, the whole space
  // part_count: a power of two
  SpacePartition(const Features& sample, std::size_t part_count);
  // normals: row-major, one row for each offset; the children of plane i are the planes 2i + 1 and 2i + 2
  SpacePartition(std::size_t dim, std::vector<double> normals, std::vector<double> offsets);

  std::size_t size() const { return offsets_.size() + 1; }
  const std::vector<double>& normals() const { return normals_; }
  const std::vector<double>& offsets() const { return offsets_; }

  // Writes the part of each row.
  template <class Scalar>
  void parts_of(const Scalar* rows, std::size_t count, std::uint32_t* parts) const {
    switch (dim_) {
      case 1: return find_parts<1>(rows, count, parts);
      case 2: return find_parts<2>(rows, count, parts);
      case 3: return find_parts<3>(rows, count, parts);
      case 4: return find_parts<4>(rows, count, parts);
      case 5: return find_parts<5>(rows, count, parts);
      case 6: return find_parts<6>(rows, count, parts);
      case 7: return find_parts<7>(rows, count, parts);
      case 8: return find_parts<8>(rows, count, parts);
      default: return find_parts<0>(rows, count, parts);
    }
  }

  template <class Scalar>
  std::size_t part_of(const Scalar* row) const {
    std::uint32_t part = 0;
    find_parts<0>(row, 1, &part);
    return part;
  }

 private:
  // Dim: the number of dimensions if it is known at compile time, else 0. In loops this short, counting would take
  // longer than the sums.
  template <std::size_t Dim, class Scalar>
  void find_parts(const Scalar* rows, std::size_t count, std::uint32_t* parts) const {
    const std::size_t dim = Dim ? Dim : dim_, planes = offsets_.size();
    const double *normals = normals_.data(), *offsets = offsets_.data();
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t place = 0;
      while (place < planes)
        place = 2 * place + 1 + (along<Dim>(normals + place * dim, rows + i * dim, dim) > offsets[place]);
      parts[i] = static_cast<std::uint32_t>(place - planes);
    }
  }

  // The dot product of a row and the normal of a plane. Four sums side by side, for speed.
  template <std::size_t Dim, class Scalar>
  static double along(const double* normal, const Scalar* row, std::size_t runtime_dim) {
    const std::size_t dim = Dim ? Dim : runtime_dim;
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    std::size_t k = 0;
    if (dim >= 4)
      for (; k < 4; ++k) sums[k] = normal[k] * static_cast<double>(row[k]);
    for (; k + 4 <= dim; k += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += normal[k + lane] * static_cast<double>(row[k + lane]);
    for (; k < dim; ++k) sums[0] += normal[k] * static_cast<double>(row[k]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  void divide(const Features& sample, std::vector<std::size_t> members, std::size_t place);

  std::size_t dim_ = 0;
  std::vector<double> normals_, offsets_;
};

}  // namespace silverbirch
