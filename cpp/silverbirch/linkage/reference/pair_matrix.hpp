// One number for each pair of objects, stored as scipy's condensed distance vector.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "silverbirch/linkage/reference/active_set.hpp"
#include "silverbirch/linkage/reference/cluster_space.hpp"

namespace silverbirch {

class PairMatrix {
 public:
  PairMatrix(double* condensed, std::size_t objects) : condensed_(condensed), objects_(objects) {}

  std::size_t objects() const { return objects_; }
  double& at(std::size_t a, std::size_t b) const {
    if (a > b) std::swap(a, b);
    return condensed_[objects_ * a - a * (a + 1) / 2 + b - a - 1];
  }

  // The nearest of some of the active objects, the first among equals; a itself is left out.
  template <class Id>
  Neighbour nearest(std::size_t a, Id first, Id last) const {
    Neighbour best{kNowhere, 0.0};
    for (Id id = first; id != last; ++id)
      if (*id != a) improve(best, {*id, at(a, *id)});
    return best;
  }

  static void improve(Neighbour& best, const Neighbour& other) {
    if (best.id == kNowhere || other.distance < best.distance) best = other;
  }

  template <class Visit>
  void each_before(std::size_t b, const ActiveSet& active, Visit visit) const {
    for (auto id = active.begin(); *id != b; ++id) visit(*id, at(*id, b));
  }

 private:
  double* condensed_;
  std::size_t objects_;
};

}  // namespace silverbirch
