// Clusters given by a distance matrix, which is overwritten, and a Lance-Williams recurrence.
#pragma once

#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/linkage/lance_williams.hpp"
#include "silverbirch/linkage/reference/pair_matrix.hpp"

namespace silverbirch {

template <Recurrence Formula>
class MatrixSpace {
 public:
  // Scans and merges of many objects run on so many threads.
  MatrixSpace(const PairMatrix& pairs, const double* weights, std::size_t threads = 1)
      : pairs_(pairs),
        active_(pairs.objects()),
        weights_(weights, weights + pairs.objects()),
        threads_(threads),
        nearest_(pairs.objects() / kPiece + 1) {}

  const ActiveSet& active() const { return active_; }
  double distance(std::size_t a, std::size_t b) const { return pairs_.at(a, b); }
  Neighbour nearest(std::size_t a) const {
    in_pieces([&](auto first, auto last, std::size_t piece) { nearest_[piece] = pairs_.nearest(a, first, last); });
    Neighbour best{kNowhere, 0.0};
    for (std::size_t piece = 0; piece * kPiece < active_.size(); ++piece)
      if (nearest_[piece].id != kNowhere) PairMatrix::improve(best, nearest_[piece]);
    return best;
  }
  Neighbour nearest_after(std::size_t a) const { return pairs_.nearest(a, active_.after(a), active_.end()); }
  std::size_t prototype(std::size_t a) const { return a; }

  template <class Visit>
  void each_before(std::size_t b, Visit visit) const {
    pairs_.each_before(b, active_, visit);
  }

  void merge(std::size_t a, std::size_t b) {
    active_.erase(a);
    const double ab = pairs_.at(a, b);
    in_pieces([&](auto first, auto last, std::size_t) {
      for (; first != last; ++first)
        if (const std::size_t c = *first; c != b) {
          double& bc = pairs_.at(b, c);
          bc = Formula::combine(pairs_.at(a, c), bc, ab, weights_[a], weights_[b], weights_[c]);
        }
    });
    weights_[b] += weights_[a];
  }

 private:
  static constexpr std::size_t kPiece = 512;

  template <class Work>
  void in_pieces(Work work) const {
    parallel_for(active_.size(), kPiece, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      const auto first = active_.begin();
      work(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end), begin / kPiece);
    });
  }

  PairMatrix pairs_;
  ActiveSet active_;
  std::vector<double> weights_;
  std::size_t threads_;
  mutable std::vector<Neighbour> nearest_;  // of each piece
};

}  // namespace silverbirch
