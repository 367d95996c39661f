// Converts rows to the units of the filter (pair_filter.hpp). A coordinate becomes (x - origin) / scale, so it neither
// overflows nor loses precision far from the origin. Each row also stores what bounds the error of its distances.
//
// Let a', b' be converted rows, u = 2⁻²⁴, N = |a'|² + |b'|², gap' = |a' - b'|², and gap the true squared distance in
// the same units. Conversion moves a row by at most e(a) ≤ u|a|, hence
// gap ≥ gap' - 2|a' - b'|(e(a) + e(b)) ≥ gap' - 4uN.
//   product      Sums of parts of m = kFilterPart products err by at most (m + dim/m)·u·Σ|a'b'|, and 2Σ|a'b'| ≤ N.
//                With the conversion and a few roundings: gap ≥ |a'|² + |b'|² - 2a'b' - E·N, E = (m + dim/m + 16)·u.
//                Norms are stored multiplied by 1 - E.
//   difference   The sum has a relative error of at most (m + dim/m + 3)·u. With s = |a' - b'| and e = e(a) + e(b), for
//                any 0 < t < 1: gap ≥ (s - e)² ≥ (1 - t)s² - (1/t - 1)e², and e² ≤ 2e(a)² + 2e(b)². Each row stores its
//                share, 2e(a)²/t.
//   bytes        A row is rounded to whole multiples of its own scale. That moves it by e(a), known in float64. By the
//                triangle inequality √gap ≥ |a' - b'| - e(a) - e(b). Sums of products of bytes are exact, and
//                fewer than eight roundings follow: |a' - b'|² ≥ |a'|² + |b'|² - 2a'b' - 8uN. Norms are stored
//                multiplied by 1 - 32u, which also covers the rounding of the root, as |a' - b'|² ≤ 2N.
// What underflows is less than the 1e-30 that is subtracted from every gap. (Ward's bounds divide by 1/n_a + 1/n_b, in
// units of the largest 1/n, hence by at most two.)
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/filter/pair_filter.hpp"

namespace silverbirch {

// The form to begin with where the processor has no sums of products of bytes.
inline FilterForm fast_form() { return on(Mechanism::product_filter) ? FilterForm::product : FilterForm::difference; }

class PanelUnits {
 public:
  static constexpr double kUnderflow = 1e-30;

  PanelUnits() = default;
  // coordinate(i, k) is coordinate k of row i. The scale is at least `reach` and covers all these rows. The units do
  // not depend on the number of threads.
  template <class Coordinate>
  PanelUnits(std::size_t count, std::size_t dim, Coordinate coordinate, double reach = 0.0, std::size_t threads = 1)
      : origin_(dim, 0.0) {
    constexpr std::size_t kPieceRows = 1024;
    const double share = 1.0 / static_cast<double>(count);
    struct Piece {
      std::vector<double> mean, least, most;
    };
    std::vector<Piece> pieces((count + kPieceRows - 1) / kPieceRows);
    parallel_for(pieces.size(), 1, threads, no_progress, [&](std::size_t p, std::size_t) {
      Piece piece{std::vector<double>(dim, 0.0), std::vector<double>(dim, kInfinity),
                  std::vector<double>(dim, -kInfinity)};
      for (std::size_t i = p * kPieceRows; i < std::min((p + 1) * kPieceRows, count); ++i)
        for (std::size_t k = 0; k < dim; ++k) {
          const double x = coordinate(i, k);
          piece.mean[k] += share * x;
          piece.least[k] = std::min(piece.least[k], x);
          piece.most[k] = std::max(piece.most[k], x);
        }
      pieces[p] = std::move(piece);
    });
    for (std::size_t k = 0; k < dim; ++k) {
      double least = kInfinity, most = -kInfinity;
      for (const Piece& piece : pieces) {
        origin_[k] += piece.mean[k];
        least = std::min(least, piece.least[k]);
        most = std::max(most, piece.most[k]);
      }
      reach = std::max({reach, most - origin_[k], origin_[k] - least});
      extent_ = std::hypot(extent_, std::max(most, -least));
    }
    // A power of two, so that scaling adds no rounding of its own.
    scale_ = std::exp2(std::ceil(std::log2(std::max(reach, 1e-140))));  // its square is a normal number

    const auto part = static_cast<double>(std::min(dim, kFilterPart));
    const double roundings = part + static_cast<double>(dim / kFilterPart) + 16.0;
    norm_factor_ = 1.0 - roundings * kUnitRoundoff;
    shrink_ = static_cast<float>((1.0 - kYoung) * norm_factor_);
  }

  // A squared distance divided by this is in the units of the bounds.
  double bound_unit() const { return scale_ * scale_; }
  float shrink() const { return shrink_; }
  // No row is longer than this, measured from zero.
  double extent() const { return extent_; }

  // Writes the coordinates, norm and error of a row, `lanes` floats apart. The coordinates of `row` are `stride` apart.
  // Returns the squared norm; if it is too large for float32, the bounds are worthless.
  template <class Scalar>
  double convert(const Scalar* row, std::size_t stride, float* to, std::size_t lanes) const {
    double norm = 0.0, squared_error = 0.0;
    for (std::size_t k = 0; k < origin_.size(); ++k) {
      const double exact = (static_cast<double>(row[k * stride]) - origin_[k]) / scale_;
      const auto stored = static_cast<float>(exact);
      const double error = exact - static_cast<double>(stored);
      to[k * lanes] = stored;
      norm += static_cast<double>(stored) * static_cast<double>(stored);
      squared_error += error * error;
    }
    // `exact` itself is rounded in float64, by δ: (error + δ)² ≤ 2·error² + 2δ².
    squared_error = 2.0 * squared_error + 0x1p-100 * norm;
    float* extra = to + origin_.size() * lanes;
    extra[kNormRow * lanes] = static_cast<float>(norm_factor_ * norm - kUnderflow);
    extra[kErrorRow * lanes] = static_cast<float>(1.001 * 2.0 / kYoung * squared_error + kUnderflow);
    return norm;
  }

  // The same in bytes.
  void convert_to_bytes(const double* row, float* to, std::size_t lanes) const {
    const std::size_t dim = origin_.size();
    const double inverse_scale = 1.0 / scale_;  // exact: a power of two
    const auto coordinate = [&](std::size_t k) { return (row[k] - origin_[k]) * inverse_scale; };
    double largest = 0.0;
    for (std::size_t k = 0; k < dim; ++k) largest = std::max(largest, std::abs(coordinate(k)));
    const auto unit = static_cast<float>(std::max(largest / kLargestByte, kUnderflow));
    const double inverse_unit = 1.0 / static_cast<double>(unit);
    double norm = 0.0, squared_error = 0.0, sum = 0.0;
    for (std::size_t k = 0; k < dim; k += 4, to += lanes) {
      std::uint32_t word = 0;
      for (std::size_t l = 0; l < std::min<std::size_t>(4, dim - k); ++l) {
        const double exact = coordinate(k + l);
        const double byte = std::clamp(whole(exact * inverse_unit), -kLargestByte, kLargestByte);
        const double error = exact - byte * unit;
        norm += byte * byte;
        squared_error += error * error;
        sum += byte;
        word |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(static_cast<std::int8_t>(byte))) << (8 * l);
      }
      *to = std::bit_cast<float>(word);
    }
    norm *= static_cast<double>(unit) * unit;
    to[kNormRow * lanes] = static_cast<float>((1.0 - 32.0 * kUnitRoundoff) * norm - kUnderflow);
    // The second term covers the rounding of the coordinates themselves in float64.
    to[kErrorRow * lanes] = static_cast<float>(1.000001 * std::sqrt(squared_error + 0x1p-100 * norm) + kUnderflow);
    to[kScaleRow * lanes] = unit;
    to[kSumRow * lanes] = static_cast<float>(sum);
  }

  // Makes a lane empty: its bounds are infinite, whatever its coordinates are. `extra` is the first row after them.
  static void clear(float* extra, std::size_t lanes) {
    extra[kNormRow * lanes] = std::numeric_limits<float>::infinity();
    extra[kErrorRow * lanes] = -std::numeric_limits<float>::infinity();
    extra[kTermRow * lanes] = 1.0f;
  }

 private:
  static constexpr double kUnitRoundoff = 0x1p-24;  // of float32
  static constexpr double kYoung = 0x1p-8;          // the t of the derivation above
  static constexpr double kLargestByte = 127.0;
  // Rounds to the nearest whole number; |x| must be below 2⁵¹.
  static double whole(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::vector<double> origin_;
  double extent_ = 0.0, scale_ = 1.0, norm_factor_ = 1.0;
  float shrink_ = 1.0f;
};

}  // namespace silverbirch
