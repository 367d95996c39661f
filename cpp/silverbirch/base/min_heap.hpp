// A heap with four children per key [Johnson 1975, "Priority queues with update and finding minimum spanning trees"].
// It is half as deep as a binary heap, and four siblings of 16 bytes each share a cache line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/switches.hpp"

namespace silverbirch {

template <class Key>
class MinHeap {
 public:
  MinHeap() = default;
  // Makes `size` keys. Call set() for each of them, then order(). No key may come after `last`.
  MinHeap(std::size_t size, const Key& last) : last_(last), size_(size), keys_(kFirst + size + kChildren, last) {}

  void set(std::size_t place, const Key& key) { at(place) = key; }

  void order() {
    if (!on(Mechanism::quaternary_heap)) return std::make_heap(first(), first() + size_, later);
    for (std::size_t place = size_; place-- > 0;) sink(place, at(place));
  }

  const Key& top() const { return keys_[kFirst]; }

  void replace_top(const Key& key) {
    if (on(Mechanism::quaternary_heap)) return sink(0, key);
    std::pop_heap(first(), first() + size_, later);
    at(size_ - 1) = key;
    std::push_heap(first(), first() + size_, later);
  }

  void pop() {
    if (!on(Mechanism::quaternary_heap)) return std::pop_heap(first(), first() + size_--, later);
    const Key key = at(--size_);
    at(size_) = last_;
    sink(0, key);
  }

  // Visits the children of the top: the next top is one of them, unless it is a key that is added later.
  template <class Visit>
  void for_next(Visit visit) const {
    for (std::size_t child = 1; child <= std::min(kChildren, size_); ++child) visit(keys_[kFirst + child]);
  }

 private:
  static constexpr std::size_t kChildren = 4;
  static constexpr std::size_t kFirst = kChildren - 1;  // siblings 4p+1 … 4p+4 start on a multiple of four

  Key& at(std::size_t place) { return keys_[place + kFirst]; }
  Key* first() { return keys_.data() + kFirst; }
  static bool later(const Key& a, const Key& b) { return b < a; }  // for std::make_heap and its relatives

  // Finds the least of four siblings without branches.
  void sink(std::size_t place, Key key) {
    for (std::size_t child; (child = kChildren * place + 1) < size_;) {
      const Key* siblings = &at(child);
      const std::size_t left = siblings[1] < siblings[0], right = 2 + (siblings[3] < siblings[2]);
      const std::size_t least = siblings[right] < siblings[left] ? right : left;
      if (!(siblings[least] < key)) break;
      at(place) = siblings[least];
      place = child + least;
    }
    at(place) = key;
  }

  Key last_ = {};
  std::size_t size_ = 0;
  std::vector<Key, AlignedAllocator<Key>> keys_;
};

}  // namespace silverbirch
