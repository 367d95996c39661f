#include <thread>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/tree/sorted_rows.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t kDim = 2, kRows = 20000, kParts = 4, kLength = 5000;

struct Batch {
  std::vector<double> rows = random_points(kRows, kDim, 7);
  std::size_t size = kRows;

  void check(std::size_t, std::size_t) const {}
  double weight(std::size_t i) const { return i % 3 == 0 ? 0.0 : 1.0; }
  const double* mean(std::size_t i) const { return rows.data() + i * kDim; }
};

struct Sorted {
  Batch batch;
  SpacePartition partition{as_features(batch.rows, kDim), kParts};
  SortedRows<Batch> rows{batch, partition, 100, kLength};
};

void check_window(const Sorted& sorted, std::size_t begin, std::size_t end) {
  std::size_t positive = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    UnsetVector<std::uint32_t> expected;
    for (std::size_t i = begin; i < end; ++i)
      if (sorted.batch.weight(i) > 0.0 && sorted.partition.part_of(sorted.batch.mean(i)) == part)
        expected.push_back(static_cast<std::uint32_t>(i - begin));
    CHECK(sorted.rows.rows(part, begin, end) == expected);
    CHECK(sorted.rows.count(part, begin, end) == expected.size());
    positive += expected.size();
  }
  CHECK(sorted.rows.count_positive(begin, end) == positive);
}

void every_part_gets_its_rows_in_their_order() {
  Sorted sorted;
  for (std::size_t begin = 100; begin < kRows;) {
    const std::size_t end = std::min(begin + kLength, kRows);
    sorted.rows.move_to(begin);
    sorted.rows.sort_until(end, 3);
    check_window(sorted, begin, end);
    check_window(sorted, begin + 17, begin + 18);
    check_window(sorted, begin + 1000, end - 1000);
    begin = end;
  }
}

void rows_can_be_sorted_ahead_by_any_thread_until_there_is_no_room() {
  Sorted sorted;
  const auto sort_all = [&] {
    while (sorted.rows.sort_piece()) {
    }
  };
  std::thread other(sort_all);
  sort_all();
  other.join();
  CHECK(sorted.rows.sorted_end() >= 100 + 2 * kLength);
  CHECK(sorted.rows.sorted_end() < kRows);
  check_window(sorted, 100, 100 + 2 * kLength);
  sorted.rows.move_to(9000);
  sort_all();
  CHECK(sorted.rows.sorted_end() == kRows);
  check_window(sorted, 9000, kRows);
}

}  // namespace

int main() {
  every_part_gets_its_rows_in_their_order();
  rows_can_be_sorted_ahead_by_any_thread_until_there_is_no_room();
}
