// A cheap order of rows in which neighbours are near each other: rows are sorted by the interleaved bits of their cells
// in a grid [Morton 1966]. The lines of the grid are quantiles, so dense regions are divided as finely as others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/radix_sort.hpp"
#include "silverbirch/base/switches.hpp"

namespace silverbirch {

class RowOrder {
 public:
  // points: row-major, distributed like the rows.
  RowOrder(const double* points, std::size_t count, std::size_t dim, std::size_t threads) : dim_(dim) {
    std::vector<std::pair<double, std::size_t>> extents(dim);
    std::vector<std::array<double, kCells>> lines(dim);
    const std::size_t step = std::max<std::size_t>(1, count / kSample);
    parallel_for(dim, 1, threads, no_progress, [&](std::size_t k, std::size_t) {
      std::vector<double> sample;
      for (std::size_t i = 0; i < count; i += step) sample.push_back(points[i * dim + k]);
      std::sort(sample.begin(), sample.end());
      for (std::size_t line = 0; line < kCells; ++line) lines[k][line] = sample[line * sample.size() / kCells];
      extents[k] = {lines[k].front() - lines[k].back(), k};
    });
    std::sort(extents.begin(), extents.end());  // widest first
    for (std::size_t i = 0; i < std::min(dim, kMostAxes); ++i)
      axes_.push_back({extents[i].second, lines[extents[i].second]});
  }

  // Writes the numbers of the rows, in order.
  template <class Scalar>
  void order(const Scalar* rows, std::size_t count, std::vector<std::uint32_t>& order) {
    if (!on(Mechanism::row_order)) {
      order.resize(count);
      std::iota(order.begin(), order.end(), std::uint32_t{0});
      return;
    }
    keyed_.resize(count);
    sorted_.resize(count);
    for (std::size_t i = 0; i < count; ++i) keyed_[i] = std::uint64_t{key(rows + i * dim_)} << 32 | i;
    if (on(Mechanism::radix_sort))
      radix_sort(keyed_, sorted_, 32, 32 + 2 * kDigitBits, [](std::uint64_t keyed) { return keyed; });
    else
      std::sort(keyed_.begin(), keyed_.end());
    order.resize(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(keyed_[i]);
  }

 private:
  static constexpr std::size_t kBits = 4, kCells = 16, kMostAxes = 5, kSample = 4096;  // 20 bits: two digits

  struct Axis {
    std::size_t dimension;
    std::array<double, kCells> lines;
  };

  template <class Scalar>
  std::uint32_t key(const Scalar* row) const {
    std::uint32_t key = 0;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const double x = static_cast<double>(row[axes_[a].dimension]);
      const auto& lines = axes_[a].lines;
      std::size_t cell = 0;
      for (std::size_t half = kCells / 2; half; half /= 2) cell += lines[cell + half] <= x ? half : 0;
      for (std::size_t bit = 0; bit < kBits; ++bit)
        key |= static_cast<std::uint32_t>(cell >> bit & 1) << (bit * axes_.size() + a);
    }
    return key;
  }

  std::size_t dim_;
  std::vector<Axis> axes_;
  std::vector<std::uint64_t> keyed_, sorted_;
};

}  // namespace silverbirch
