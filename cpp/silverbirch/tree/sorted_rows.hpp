// A window over the rows of a batch, in which they are sorted by the parts of the space. Rows are sorted in pieces, and
// any thread can sort any piece: a thread that has no part left to work on sorts the rows that come next.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/tree/space_partition.hpp"

namespace silverbirch {

template <class Batch>
class SortedRows {
 public:
  // The window begins at row `begin` and has room for `length` rows in use and as many more sorted in advance.
  SortedRows(const Batch& batch, const SpacePartition& partition, std::size_t begin, std::size_t length)
      : batch_(batch),
        partition_(partition),
        lists_(partition.size() + 1),
        room_(2 * (length / kPiece + 2)),
        places_(room_ * kPiece),
        list_ends_(room_ * lists_),
        first_piece_(begin / kPiece),
        next_piece_(first_piece_) {}

  // Gives up the rows before `begin`, so that there is room for more.
  void move_to(std::size_t begin) { first_piece_ = begin / kPiece; }

  // Checks and sorts a piece. Returns false if there is no room, or no row left.
  bool sort_piece() {
    const std::size_t end = std::min(first_piece_ + room_, (batch_.size + kPiece - 1) / kPiece);
    std::size_t piece = next_piece_;
    while (piece < end && !next_piece_.compare_exchange_weak(piece, piece + 1)) {
    }
    if (piece >= end) return false;
    sort(piece);
    return true;
  }

  // Every row before this one was sorted, or is being sorted by another thread.
  std::size_t sorted_end() const { return std::min(next_piece_ * kPiece, batch_.size); }

  void sort_until(std::size_t end, std::size_t threads) {
    const std::size_t rows = std::max(end, sorted_end()) - sorted_end();
    parallel_for((rows + kPiece - 1) / kPiece, 1, threads, no_progress,
                 [this](std::size_t, std::size_t) { sort_piece(); });
  }

  // The functions below are for rows of the window that are sorted.

  std::size_t count_positive(std::size_t begin, std::size_t end) const {
    return end - begin - count(lists_ - 1, begin, end);
  }

  std::size_t count(std::size_t part, std::size_t begin, std::size_t end) const {
    std::size_t sum = 0;
    for_each_run(part, begin, end, [&](std::size_t, const std::uint16_t* from, const std::uint16_t* to) {
      sum += static_cast<std::size_t>(to - from);
    });
    return sum;
  }

  // The rows begin … end - 1 that belong to a part, in their order, numbered from `begin`.
  UnsetVector<std::uint32_t> rows(std::size_t part, std::size_t begin, std::size_t end) const {
    UnsetVector<std::uint32_t> together(count(part, begin, end));
    std::uint32_t* row = together.data();
    for_each_run(part, begin, end, [&](std::size_t piece, const std::uint16_t* from, const std::uint16_t* to) {
      const auto before =
          static_cast<std::uint32_t>(piece * kPiece - begin);  // may wrap around, and the sum back again
      for (; from < to; ++from) *row++ = before + *from;
    });
    return together;
  }

 private:
  static constexpr std::size_t kPiece = 1024;

  // Counting sort.
  void sort(std::size_t piece) {
    const std::size_t begin = piece * kPiece, count = std::min(kPiece, batch_.size - begin);
    batch_.check(begin, begin + count);
    std::uint32_t list_of[kPiece];
    partition_.parts_of(batch_.mean(begin), count, list_of);
    std::uint32_t* ends = list_ends_.data() + piece % room_ * lists_;
    std::fill_n(ends, lists_, 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (!(batch_.weight(begin + i) > 0.0)) list_of[i] = static_cast<std::uint32_t>(lists_ - 1);
      ++ends[list_of[i]];
    }
    std::uint32_t place = 0;
    for (std::size_t list = 0; list < lists_; ++list) place += std::exchange(ends[list], place);
    std::uint16_t* places = places_.data() + piece % room_ * kPiece;
    for (std::size_t i = 0; i < count; ++i) places[ends[list_of[i]]++] = static_cast<std::uint16_t>(i);
  }

  // Calls use(piece, from, to) with the places of the rows begin … end - 1 of a list in each piece.
  template <class Use>
  void for_each_run(std::size_t list, std::size_t begin, std::size_t end, Use use) const {
    for (std::size_t piece = begin / kPiece; piece * kPiece < end; ++piece) {
      const std::uint32_t* ends = list_ends_.data() + piece % room_ * lists_;
      const std::uint16_t* places = places_.data() + piece % room_ * kPiece;
      const std::uint16_t *from = places + (list > 0 ? ends[list - 1] : 0), *to = places + ends[list];
      if (piece * kPiece < begin) from = std::lower_bound(from, to, begin - piece * kPiece);
      if (end < (piece + 1) * kPiece) to = std::lower_bound(from, to, end - piece * kPiece);
      use(piece, from, to);
    }
  }

  const Batch& batch_;
  const SpacePartition& partition_;
  std::size_t lists_;                     // one for each part, and the last one for rows of weight zero
  std::size_t room_;                      // for this many pieces; piece i is stored at i % room_
  std::vector<std::uint16_t> places_;     // of the rows in their piece, list after list
  std::vector<std::uint32_t> list_ends_;  // where each list of a piece ends
  std::size_t first_piece_;               // of the window
  std::atomic<std::size_t> next_piece_;   // the first that is not sorted
};

}  // namespace silverbirch
