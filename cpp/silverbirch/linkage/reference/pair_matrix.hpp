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

  Neighbour nearest(std::size_t a, const ActiveSet& active) const {
    Neighbour best{kNowhere, 0.0};
    for (auto id = active.begin(); id != active.end(); ++id)
      if (*id != a) improve(best, *id, at(a, *id));
    return best;
  }

  Neighbour nearest_after(std::size_t a, const ActiveSet& active) const {
    Neighbour best{kNowhere, 0.0};
    for (auto id = active.after(a); id != active.end(); ++id) improve(best, *id, at(a, *id));
    return best;
  }

  template <class Visit>
  void each_before(std::size_t b, const ActiveSet& active, Visit visit) const {
    for (auto id = active.begin(); *id != b; ++id) visit(*id, at(*id, b));
  }

 private:
  static void improve(Neighbour& best, std::size_t id, double distance) {
    if (best.id == kNowhere || distance < best.distance) best = {id, distance};
  }

  double* condensed_;
  std::size_t objects_;
};

}  // namespace silverbirch
