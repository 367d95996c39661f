// Linkages that choose one object to represent a cluster. Both need the distances of the objects themselves.
//
// Minimax [Ao et al. 2005; Bien & Tibshirani 2011]: the radius of an object is its distance to the farthest object of
// its cluster. The prototype has the least radius. The distance of two clusters is the least radius in their union.
// Reducible.
//
// Medoid [Herr et al. 2016; Miyamoto et al. 2016; Schubert 2021]: the prototype has the least weighted sum of distances
// to the objects of its cluster. The distance of two clusters is that of their prototypes. Not reducible.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/block_kernels.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/reference/pair_matrix.hpp"
#include "silverbirch/linkage/reference/pairwise_distances.hpp"

namespace silverbirch {

// Distances of objects, read from a condensed vector.
class CondensedObjects {
 public:
  static constexpr bool kComputed = false;

  CondensedObjects(const double* condensed, std::size_t count) : pairs_(const_cast<double*>(condensed), count) {}
  std::size_t size() const { return pairs_.objects(); }
  double distance(std::size_t x, std::size_t y) const { return pairs_.at(x, y); }
  double rounded_distance(std::size_t x, std::size_t y) const { return pairs_.at(x, y); }

  // Writes the distances of all pairs.
  void copy_to(double* condensed, const Progress& progress) const {
    for (std::size_t x = 0; x + 1 < size(); ++x) {
      progress.poll();
      condensed = std::copy_n(&pairs_.at(x, x + 1), size() - 1 - x, condensed);
    }
  }

 private:
  PairMatrix pairs_;
};

// Euclidean distances of points, computed on demand.
class PointObjects {
 public:
  static constexpr bool kComputed = true;

  PointObjects(const FeaturesView& points, std::size_t threads)
      : points_(points),
        padded_dim_((points.dim + kGapLanes - 1) / kGapLanes * kGapLanes),
        threads_(threads),
        rows_(points.size * padded_dim_, 0.0) {
    for (std::size_t i = 0; i < points.size; ++i)
      std::copy_n(points[i].mean, points.dim, rows_.begin() + static_cast<std::ptrdiff_t>(i * padded_dim_));
  }

  std::size_t size() const { return points_.size; }
  double distance(std::size_t x, std::size_t y) const {
    const double *a = points_[x].mean, *b = points_[y].mean;
    double sum = 0.0;
    for (std::size_t k = 0; k < points_.dim; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(sum);
  }
  // Many times as fast in many dimensions. The sum has another order, so the result can differ by rounding.
  double rounded_distance(std::size_t x, std::size_t y) const {
    if (points_.dim <= kGapLanes) return distance(x, y);
    const double *a = rows_.data() + x * padded_dim_, *b = rows_.data() + y * padded_dim_;
    return std::sqrt(block_kernels().squared_gap(a, b, padded_dim_));
  }

  // Writes the distances of all pairs, to the bits of `distance`.
  void copy_to(double* condensed, const Progress& progress) const {
    const Progress polls{[&](std::size_t, std::size_t) { progress.poll(); }};
    pairwise_squared_distances(points_, CfDistance::centroid, condensed, threads_, polls);
    parallel_for(size() * (size() - 1) / 2, std::size_t{1} << 20, threads_, polls,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) condensed[i] = std::sqrt(condensed[i]);
                 });
  }

 private:
  FeaturesView points_;
  std::size_t padded_dim_, threads_;
  AlignedDoubles rows_;  // padded with zeros
};

// Clusters as lists of members. Each member has a score; the member with the least score is the prototype.
class ScoredMembers {
 public:
  ScoredMembers(std::size_t count, const Progress& progress)
      : members_(count), score_(count, 0.0), prototype_(count), progress_(progress) {
    for (std::size_t i = 0; i < count; ++i) {
      members_[i] = {i};
      prototype_[i] = i;
    }
  }

  const std::vector<std::size_t>& of(std::size_t cluster) const { return members_[cluster]; }
  double score(std::size_t object) const { return score_[object]; }
  std::size_t prototype(std::size_t cluster) const { return prototype_[cluster]; }

  // Moves the members of a to b. Calls rescore(x, y, score of x, score of y) for each x in a and y in b.
  template <class Rescore>
  void join(std::size_t a, std::size_t b, Rescore rescore) {
    for (const std::size_t x : members_[a]) {
      progress_.poll();
      for (const std::size_t y : members_[b]) rescore(x, y, score_[x], score_[y]);
    }
    members_[b].insert(members_[b].end(), members_[a].begin(), members_[a].end());
    members_[a] = {};
    std::sort(members_[b].begin(), members_[b].end());
    prototype_[b] = *std::min_element(members_[b].begin(), members_[b].end(),
                                      [&](std::size_t x, std::size_t y) { return score_[x] < score_[y]; });
  }

 private:
  std::vector<std::vector<std::size_t>> members_;
  std::vector<double> score_;
  std::vector<std::size_t> prototype_;
  const Progress& progress_;
};

// Stores one number for each pair of objects. Each cluster has one of its objects as *delegate*.
//
// For two delegates, the number is the distance of their clusters or, if negative, a lower bound of it. The distance of
// a merged cluster is not computed at once: by reducibility, the lesser distance of its two parts is a bound, and most
// searches need no more.
//
// For other objects in different clusters, the number is the distance of the objects or, if negative, unknown: it was
// replaced while both were delegates. Then the distance is computed again when it is needed, and stored.
template <class Objects>
class MinimaxSpace {
 public:
  static constexpr bool kAllocatesPairs = true;

  MinimaxSpace(const Objects& objects, const double*, const Progress& progress)
      : objects_(objects),
        condensed_(new double[objects.size() * (objects.size() - 1) / 2]),  // filled below, where it can be interrupted
        pairs_(condensed_.get(), objects.size()),
        active_(objects.size()),
        members_(objects.size(), progress),
        delegate_(objects.size()),
        represented_(objects.size(), 1),
        progress_(progress) {
    std::iota(delegate_.begin(), delegate_.end(), std::size_t{0});
    objects.copy_to(condensed_.get(), progress);
  }

  const ActiveSet& active() const { return active_; }
  std::size_t prototype(std::size_t a) const { return members_.prototype(a); }
  double distance(std::size_t a, std::size_t b) const {
    double& pair = pair_of(a, b);
    if (std::signbit(pair)) pair = union_radius(a, b);
    return pair;
  }
  Neighbour nearest(std::size_t a) const { return nearest_from(active_.begin(), a); }
  Neighbour nearest_after(std::size_t a) const { return nearest_from(active_.after(a), a); }

  template <class Visit>
  void each_before(std::size_t b, Visit visit) const {
    for (auto id = active_.begin(); *id != b; ++id) visit(*id, distance(*id, b));
  }

  void merge(std::size_t a, std::size_t b) {
    // A cluster of several objects keeps its delegate, so that as few numbers as possible are replaced.
    if (members_.of(a).size() > members_.of(b).size()) std::swap(delegate_[a], delegate_[b]);
    members_.join(a, b, [&](std::size_t x, std::size_t y, double& radius_x, double& radius_y) {
      const double gap = object_distance(x, y);
      radius_x = std::max(radius_x, gap);
      radius_y = std::max(radius_y, gap);
    });
    active_.erase(a);
    const std::size_t kept = delegate_[b], dropped = delegate_[a];
    for (const std::size_t c : active_) {
      if (c == b) continue;
      double &to_kept = pairs_.at(kept, delegate_[c]), &to_dropped = pairs_.at(dropped, delegate_[c]);
      to_kept = -std::min(std::abs(to_kept), std::abs(to_dropped));
      if (represented_[dropped] > 1 || represented_[delegate_[c]] > 1) to_dropped = kUnknown;
    }
    represented_[kept] += std::exchange(represented_[dropped], 0);
  }

 private:
  static constexpr double kUnknown = -1.0;
  static constexpr std::size_t kLongList = 256;  // distances that take longer than to poll the progress

  double& pair_of(std::size_t a, std::size_t b) const { return pairs_.at(delegate_[a], delegate_[b]); }

  template <class Iterator>
  Neighbour nearest_from(Iterator first, std::size_t a) const {
    const auto nearer = [](const Neighbour& x, const Neighbour& y) {
      return x.distance < y.distance || (x.distance == y.distance && x.id < y.id);
    };
    // The nearest of the clusters whose distance is known, and the one with the least bound.
    Neighbour best{kNowhere, std::numeric_limits<double>::infinity()}, likely = best;
    bounds_.clear();
    for (auto id = first; id != active_.end(); ++id) {
      if (*id == a) continue;
      const double pair = pair_of(a, *id);
      const Neighbour other{*id, std::abs(pair)};
      if (!nearer(other, best)) continue;
      if (!std::signbit(pair)) {
        best = other;
        continue;
      }
      bounds_.push_back(other);
      if (nearer(other, likely)) likely = other;
    }
    // Only bounds below the least known distance matter, the lowest first.
    const auto compute = [&](std::size_t id) {
      if (const Neighbour other{id, distance(a, id)}; nearer(other, best)) best = other;
    };
    if (nearer(likely, best)) compute(likely.id);
    std::erase_if(bounds_, [&](const Neighbour& other) { return other.id == likely.id || !nearer(other, best); });
    std::ranges::sort(bounds_, nearer);
    for (const Neighbour& other : bounds_) {
      if (!nearer(other, best)) break;
      compute(other.id);
    }
    return best;
  }

  // The radius of an object in the union is the greater of its radius in its own cluster and its farthest distance to
  // the other cluster. The prototypes come first: their radii are likely to rule out most other objects. An object that
  // is far from one candidate is likely to be too far from the next.
  double union_radius(std::size_t b, std::size_t c) const {
    progress_.poll();
    double least = std::numeric_limits<double>::infinity();
    const auto consider = [&](std::size_t x, const std::vector<std::size_t>& others, std::size_t& far) {
      double radius = members_.score(x);
      if (radius < least) radius = std::max(radius, object_distance(x, far));
      if (radius >= least) return;
      if (others.size() > kLongList) progress_.poll();
      for (const std::size_t y : others) {
        const double distance = object_distance(x, y);
        if (distance <= radius) continue;
        radius = distance;
        far = y;
        if (radius >= least) return;
      }
      least = radius;
    };
    const std::vector<std::size_t>&in_b = members_.of(b), &in_c = members_.of(c);
    std::size_t far_in_b = in_b.front(), far_in_c = in_c.front();
    consider(prototype(b), in_c, far_in_c);
    consider(prototype(c), in_b, far_in_b);
    for (const std::size_t x : in_b)
      if (x != prototype(b)) consider(x, in_c, far_in_c);
    for (const std::size_t y : in_c)
      if (y != prototype(c)) consider(y, in_b, far_in_b);
    return least;
  }

  // Of two objects in different clusters.
  double object_distance(std::size_t x, std::size_t y) const {
    if (!Objects::kComputed || are_delegates(x, y)) return objects_.rounded_distance(x, y);
    double& pair = pairs_.at(x, y);
    if (std::signbit(pair)) pair = objects_.rounded_distance(x, y);
    return pair;
  }

  // Whether the number of two objects is that of their clusters, and these are not the objects themselves.
  bool are_delegates(std::size_t x, std::size_t y) const {
    return represented_[x] > 0 && represented_[y] > 0 && represented_[x] + represented_[y] > 2;
  }

  const Objects& objects_;
  std::unique_ptr<double[]> condensed_;
  PairMatrix pairs_;
  ActiveSet active_;
  ScoredMembers members_;
  std::vector<std::size_t> delegate_;       // of a cluster
  std::vector<std::uint32_t> represented_;  // the number of objects that an object is the delegate of
  mutable std::vector<Neighbour> bounds_;   // scratch space of a search
  const Progress& progress_;
};

template <class Objects>
class MedoidSpace {
 public:
  static constexpr bool kAllocatesPairs = false;

  MedoidSpace(const Objects& objects, const double* weights, const Progress& progress)
      : objects_(objects), weights_(weights), active_(objects.size()), members_(objects.size(), progress) {}

  const ActiveSet& active() const { return active_; }
  std::size_t prototype(std::size_t a) const { return members_.prototype(a); }
  double distance(std::size_t a, std::size_t b) const { return objects_.distance(prototype(a), prototype(b)); }
  Neighbour nearest(std::size_t a) const { return nearest_from(active_.begin(), a); }
  Neighbour nearest_after(std::size_t a) const { return nearest_from(active_.after(a), a); }

  template <class Visit>
  void each_before(std::size_t b, Visit visit) const {
    for (auto id = active_.begin(); *id != b; ++id) visit(*id, distance(*id, b));
  }

  void merge(std::size_t a, std::size_t b) {
    active_.erase(a);
    members_.join(a, b, [&](std::size_t x, std::size_t y, double& deviation_x, double& deviation_y) {
      const double gap = objects_.distance(x, y);
      deviation_x += weights_[y] * gap;
      deviation_y += weights_[x] * gap;
    });
  }

 private:
  template <class Iterator>
  Neighbour nearest_from(Iterator id, std::size_t a) const {
    Neighbour best{kNowhere, 0.0};
    for (; id != active_.end(); ++id) {
      if (*id == a) continue;
      const double d = distance(a, *id);
      if (best.id == kNowhere || d < best.distance) best = {*id, d};
    }
    return best;
  }

  const Objects& objects_;
  const double* weights_;
  ActiveSet active_;
  ScoredMembers members_;
};

}  // namespace silverbirch
