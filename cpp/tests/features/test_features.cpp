#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "silverbirch/features/features.hpp"

using namespace silverbirch;

// The position of the first wrong value, counted row by row; the number of values if all are fine.
template <class Scalar>
std::size_t refused(const std::vector<Scalar>& rows, std::size_t dim, std::size_t threads = 1) {
  try {
    check_coordinates(rows.data(), rows.size() / dim, dim, threads, no_progress);
  } catch (const BadValue& bad) {
    const std::size_t place = bad.row * dim + bad.column;
    CHECK(bad.column < dim);
    CHECK(std::bit_cast<std::uint64_t>(bad.value) == std::bit_cast<std::uint64_t>(double{rows[place]}));
    return place;
  }
  return rows.size();
}

// Values are checked in pieces. Some positions are at the ends of pieces, and some in the last, shorter one.
template <class Scalar>
void the_first_wrong_value_is_named(Scalar wrong) {
  constexpr std::size_t dim = 7, count = 30'000;
  std::vector<Scalar> rows(dim * count, Scalar{-1});
  CHECK(refused(rows, dim) == rows.size());
  for (const std::size_t place : {dim * count - 1, std::size_t{131'072}, std::size_t{65'536}, std::size_t{65'535},
                                  std::size_t{8}, std::size_t{0}}) {
    rows[place] = wrong;
    for (const std::size_t threads : {1, 3}) CHECK(refused(rows, dim, threads) == place);
  }
}

int main() {
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})
    the_first_wrong_value_is_named(wrong);
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -2e100})
    the_first_wrong_value_is_named(wrong);
  CHECK(refused<float>({std::numeric_limits<float>::max(), -std::numeric_limits<float>::max()}, 1) == 2);
  CHECK(refused<double>({kLargestCoordinate, -kLargestCoordinate}, 1) == 2);
}
