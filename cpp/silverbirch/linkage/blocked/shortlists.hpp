// The nearest few of many candidates, by lower bounds of their distances.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "silverbirch/linkage/blocked/panels.hpp"

namespace silverbirch {

struct Candidate {
  float bound;
  ClusterId id;
};

// Many lists side by side. Each keeps the `keep` candidates with the least bounds. Every candidate that it drops has a
// bound of at least its cut.
class Shortlists {
 public:
  Shortlists(std::size_t count, std::size_t keep, float cut = std::numeric_limits<float>::infinity())
      : keep_(keep), candidates_(count * room()), size_(count, 0), cut_(count, cut) {}

  const float* cuts() const { return cut_.data(); }
  float cut(std::size_t list) const { return cut_[list]; }
  const Candidate* begin(std::size_t list) const { return candidates_.data() + list * room(); }
  const Candidate* end(std::size_t list) const { return begin(list) + size_[list]; }

  void offer(std::size_t list, Candidate candidate) {
    if (candidate.bound < cut_[list]) add(list, candidate);
  }

  void join(std::size_t list, const Shortlists& others, std::size_t other) {
    for (const Candidate* c = others.begin(other); c != others.end(other); ++c) add(list, *c);  // even at the cut
    lower_cut(list, others.cut_[other]);
  }

  void finish(std::size_t list) {
    if (size_[list] > keep_) shorten(list);
  }

 private:
  std::size_t room() const { return 2 * keep_; }

  void add(std::size_t list, Candidate candidate) {
    candidates_[list * room() + size_[list]++] = candidate;
    if (size_[list] == room()) shorten(list);
  }

  void shorten(std::size_t list) {
    Candidate* first = candidates_.data() + list * room();
    std::nth_element(first, first + keep_, first + size_[list],
                     [](const Candidate& x, const Candidate& y) { return x.bound < y.bound; });
    lower_cut(list, first[keep_].bound);
    size_[list] = keep_;
  }

  void lower_cut(std::size_t list, float cut) { cut_[list] = std::min(cut_[list], cut); }

  std::size_t keep_;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> size_;
  std::vector<float, AlignedAllocator<float>> cut_;  // the filter reads whole vectors of cuts
};

}  // namespace silverbirch
