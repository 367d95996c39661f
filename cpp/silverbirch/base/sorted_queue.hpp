// A queue that gives the least key first, for keys that are added in about ascending order.
//
// The keys up to a limit are sorted, all others are in no order. When the sorted ones are used up, the next eighth is
// sorted, on several threads. Only new keys below the limit need a heap, and few are. So most keys are touched once by
// a sort, not dozens of times in a heap that is larger than the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/ascending.hpp"
#include "silverbirch/base/parallel.hpp"

namespace silverbirch {

// Keys are ordered by `<`, which compares key.value() first.
template <class Key>
class SortedQueue {
 public:
  SortedQueue() = default;
  explicit SortedQueue(UnsetVector<Key> keys) : far_(std::move(keys)) {}

  void push(const Key& key) {
    if (!(key.value() <= limit_)) return far_.push_back(key);
    late_.push_back(key);
    std::push_heap(late_.begin(), late_.end(), later);
  }

  // Whether a key can be taken without a call of `sort_more`.
  bool ready() const { return next_ < sorted_.size() || !late_.empty(); }

  const Key& top() const { return late_is_next() ? late_.front() : sorted_[next_]; }

  void pop() {
    if (!late_is_next()) {
      ++next_;
      return;
    }
    std::pop_heap(late_.begin(), late_.end(), later);
    late_.pop_back();
  }

  // The key that comes so many keys later, if no others are added; null if it is not known.
  const Key* later_by(std::size_t count) const {
    return next_ + count < sorted_.size() ? &sorted_[next_ + count] : nullptr;
  }

  // To be called if not ready. Leaves out keys that are not needed(key). Returns false if there is no key.
  template <class Needed>
  bool sort_more(Needed needed, std::size_t threads) {
    while (!far_.empty()) {
      limit_ = next_limit();
      const auto take = [&](bool near) {
        return parallel_collect<Key>(far_.size(), threads, [&, near](std::size_t i, Key& key) {
          key = far_[i];
          return (key.value() <= limit_) == near && (!near || needed(key));
        });
      };
      const UnsetVector<Key> near = take(true);
      far_ = take(false);
      const auto order = ascending(
          near.size(), [&](std::size_t i) { return near[i].value(); }, threads,
          [&](std::uint32_t i, std::uint32_t j) { return near[i] < near[j]; });
      next_ = 0;
      sorted_.resize(near.size());
      parallel_for(near.size(), 8192, threads, no_progress, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) sorted_[i] = near[order[i]];
      });
      if (!near.empty()) return true;
    }
    return false;
  }

 private:
  static bool later(const Key& a, const Key& b) { return b < a; }

  bool late_is_next() const { return !late_.empty() && (next_ == sorted_.size() || late_.front() < sorted_[next_]); }

  // About an eighth of the keys are below it; all, if they are few.
  double next_limit() const {
    constexpr std::size_t kFew = 4096, kSample = 1024;
    if (far_.size() < kFew) return std::numeric_limits<double>::infinity();
    std::vector<double> sample(kSample);
    for (std::size_t i = 0; i < kSample; ++i) sample[i] = far_[i * far_.size() / kSample].value();
    std::nth_element(sample.begin(), sample.begin() + kSample / 8, sample.end());
    return sample[kSample / 8];
  }

  double limit_ = -std::numeric_limits<double>::infinity();
  UnsetVector<Key> far_, sorted_;
  std::size_t next_ = 0;
  std::vector<Key> late_;  // a heap of keys that were added below the limit
};

}  // namespace silverbirch
