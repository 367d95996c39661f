// The nearest few of many candidates, by lower bounds of their distances.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <vector>

#include "silverbirch/linkage/blocked/panels.hpp"

namespace silverbirch {

struct Candidate {
  float bound;
  ClusterId id;
};

inline bool by_bound(const Candidate& x, const Candidate& y) { return x.bound < y.bound; }

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

  void lower_cut(std::size_t list, float cut) { cut_[list] = std::min(cut_[list], cut); }

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
    std::nth_element(first, first + keep_, first + size_[list], by_bound);
    lower_cut(list, first[keep_].bound);
    size_[list] = keep_;
  }

  std::size_t keep_;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> size_;
  AlignedFloats cut_;  // the filter reads whole vectors of cuts
};

// The shortlists of some queries, which may have been found in sections: shortlist q of a pass in each of its sections.
struct SectionedShortlists {
  std::size_t keep, queries_a_pass, sections;
  std::vector<Shortlists> found;  // by pass, then by section

  // Writes the candidates of a query, and returns its cut.
  float collect(std::size_t query, std::vector<Candidate>& candidates) const {
    const std::size_t q = query % queries_a_pass;
    const Shortlists* first = found.data() + query / queries_a_pass * sections;
    float cut = first->cut(q);
    for (std::size_t s = 1; s < sections; ++s) cut = std::min(cut, first[s].cut(q));
    candidates.clear();
    for (std::size_t s = 0; s < sections; ++s)
      std::copy_if(first[s].begin(q), first[s].end(q), std::back_inserter(candidates),
                   [&](const Candidate& c) { return c.bound <= cut; });  // even at the cut
    if (candidates.size() <= keep) return cut;
    const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(keep);
    std::nth_element(candidates.begin(), last, candidates.end(), by_bound);
    cut = std::min(cut, last->bound);
    candidates.erase(last, candidates.end());
    return cut;
  }
};

}  // namespace silverbirch
