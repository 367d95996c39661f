#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "silverbirch/features/features.hpp"

using namespace silverbirch;

// What is said of the first wrong value, or nothing.
template <class Scalar>
std::string refusal(const std::vector<Scalar>& rows, std::size_t dim, std::size_t threads = 1) {
  try {
    check_coordinates(rows.data(), rows.size() / dim, dim, threads, no_progress);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

// Values are checked in blocks, so some of the places are at their ends and in the last, shorter one.
template <class Scalar>
void the_first_wrong_value_is_named(Scalar wrong) {
  constexpr std::size_t dim = 7, count = 30'000;
  std::vector<Scalar> rows(dim * count, Scalar{-1});
  CHECK(refusal(rows, dim).empty());
  for (const std::size_t place : {dim * count - 1, std::size_t{131'072}, std::size_t{65'536}, std::size_t{65'535},
                                  std::size_t{8}, std::size_t{0}}) {
    rows[place] = wrong;
    const std::string expected = "row " + std::to_string(place / dim) + ", column " + std::to_string(place % dim) + " ";
    for (const std::size_t threads : {1, 3}) CHECK(refusal(rows, dim, threads).starts_with(expected));
  }
}

int main() {
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})
    the_first_wrong_value_is_named(wrong);
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -2e100})
    the_first_wrong_value_is_named(wrong);
  CHECK(refusal<float>({std::numeric_limits<float>::max(), -std::numeric_limits<float>::max()}, 1).empty());
  CHECK(refusal<double>({kLargestCoordinate, -kLargestCoordinate}, 1).empty());
}
