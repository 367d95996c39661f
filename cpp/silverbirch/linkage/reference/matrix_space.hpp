// Clusters given by a distance matrix, which is overwritten, and a Lance-Williams recurrence.
#pragma once

#include <vector>

#include "silverbirch/linkage/lance_williams.hpp"
#include "silverbirch/linkage/reference/pair_matrix.hpp"

namespace silverbirch {

template <Recurrence Formula>
class MatrixSpace {
 public:
  MatrixSpace(const PairMatrix& pairs, const double* weights)
      : pairs_(pairs), active_(pairs.objects()), weights_(weights, weights + pairs.objects()) {}

  const ActiveSet& active() const { return active_; }
  double distance(std::size_t a, std::size_t b) const { return pairs_.at(a, b); }
  Neighbour nearest(std::size_t a) const { return pairs_.nearest(a, active_); }
  Neighbour nearest_after(std::size_t a) const { return pairs_.nearest_after(a, active_); }
  std::size_t prototype(std::size_t a) const { return a; }

  template <class Visit>
  void each_before(std::size_t b, Visit visit) const {
    pairs_.each_before(b, active_, visit);
  }

  void merge(std::size_t a, std::size_t b) {
    active_.erase(a);
    const double ab = pairs_.at(a, b);
    for (const std::size_t c : active_)
      if (c != b)
        pairs_.at(b, c) = Formula::combine(pairs_.at(a, c), pairs_.at(b, c), ab, weights_[a], weights_[b], weights_[c]);
    weights_[b] += weights_[a];
  }

 private:
  PairMatrix pairs_;
  ActiveSet active_;
  std::vector<double> weights_;
};

}  // namespace silverbirch
