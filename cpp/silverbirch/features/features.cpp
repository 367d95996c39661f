#include "silverbirch/features/features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/features/block_kernels.hpp"

namespace silverbirch {

namespace {

// The largest coordinate allowed. Every finite float is allowed: floats are compared as floats, because converting them
// to double would take longer than reading them.
template <class Scalar>
constexpr Scalar kLargest =
    static_cast<Scalar>(std::min(kLargestCoordinate, static_cast<double>(std::numeric_limits<Scalar>::max())));

template <class Scalar>
bool is_fine(Scalar value) {
  return std::abs(value) <= kLargest<Scalar>;
}

}  // namespace

template <class Scalar>
void check_some(const Scalar* rows, std::size_t begin, std::size_t end, std::size_t dim) {
  const Scalar *first = rows + begin * dim, *last = rows + end * dim;
  if (block_kernels().all_within(first, (end - begin) * dim, kLargest<Scalar>)) return;
  const Scalar* wrong = std::find_if_not(first, last, is_fine<Scalar>);
  const auto place = static_cast<std::size_t>(wrong - rows);
  throw BadValue(place / dim, place % dim, *wrong);
}

template void check_some(const float*, std::size_t, std::size_t, std::size_t);
template void check_some(const double*, std::size_t, std::size_t, std::size_t);

template <class Scalar>
void check_coordinates(const Scalar* rows, std::size_t row_count, std::size_t dim, std::size_t threads,
                       const Progress& progress) {
  const std::size_t piece = std::max<std::size_t>(1, 65536 / dim);
  const Progress chance_to_stop([&](std::size_t, std::size_t) { progress.poll(); });
  try {
    parallel_for(row_count, piece, threads, chance_to_stop,
                 [&](std::size_t begin, std::size_t end) { check_some(rows, begin, end, dim); });
  } catch (const BadValue&) {
    check_some(rows, 0, row_count, dim);  // throws the first bad value, whichever thread found one
    throw;
  }
}

template void check_coordinates(const float*, std::size_t, std::size_t, std::size_t, const Progress&);
template void check_coordinates(const double*, std::size_t, std::size_t, std::size_t, const Progress&);

template <class Scalar>
Features grouped(const Scalar* rows, const double* weights, const std::int64_t* group_of_row, std::size_t row_count,
                 std::size_t dim, std::size_t group_count, const Progress& progress) {
  Features groups{dim, std::vector<double>(group_count), std::vector<double>(group_count * dim),
                  std::vector<double>(group_count)};
  std::vector<double> row(dim);
  for (std::size_t r = 0; r < row_count; ++r) {
    if (r % 1024 == 0) progress(r, row_count);
    std::copy_n(rows + r * dim, dim, row.begin());
    groups.absorb(static_cast<std::size_t>(group_of_row[r]), {weights ? weights[r] : 1.0, row.data(), 0.0});
  }
  return groups;
}

template Features grouped(const float*, const double*, const std::int64_t*, std::size_t, std::size_t, std::size_t,
                          const Progress&);
template Features grouped(const double*, const double*, const std::int64_t*, std::size_t, std::size_t, std::size_t,
                          const Progress&);

}  // namespace silverbirch
