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
#include <memory>
#include <vector>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/reference/pair_matrix.hpp"

namespace silverbirch {

// Distances of objects, read from a condensed vector.
class CondensedObjects {
 public:
  CondensedObjects(const double* condensed, std::size_t count) : pairs_(const_cast<double*>(condensed), count) {}
  std::size_t size() const { return pairs_.objects(); }
  double distance(std::size_t x, std::size_t y) const { return pairs_.at(x, y); }

 private:
  PairMatrix pairs_;
};

// Euclidean distances of points, computed on demand.
class PointObjects {
 public:
  PointObjects(const double* points, std::size_t count, std::size_t dim) : points_(points), count_(count), dim_(dim) {}
  std::size_t size() const { return count_; }
  double distance(std::size_t x, std::size_t y) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < dim_; ++k) {
      const double gap = points_[x * dim_ + k] - points_[y * dim_ + k];
      sum += gap * gap;
    }
    return std::sqrt(sum);
  }

 private:
  const double* points_;
  std::size_t count_, dim_;
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

// Stores a number for each pair of clusters, besides the distances of the objects.
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
        progress_(progress) {
    std::size_t i = 0;
    for (std::size_t x = 0; x < objects.size(); ++x) {
      progress.poll();
      for (std::size_t y = x + 1; y < objects.size(); ++y) condensed_[i++] = objects.distance(x, y);
    }
  }

  const ActiveSet& active() const { return active_; }
  double distance(std::size_t a, std::size_t b) const { return pairs_.at(a, b); }
  Neighbour nearest(std::size_t a) const { return pairs_.nearest(a, active_); }
  Neighbour nearest_after(std::size_t a) const { return pairs_.nearest_after(a, active_); }
  std::size_t prototype(std::size_t a) const { return members_.prototype(a); }

  template <class Visit>
  void each_before(std::size_t b, Visit visit) const {
    pairs_.each_before(b, active_, visit);
  }

  void merge(std::size_t a, std::size_t b) {
    active_.erase(a);
    members_.join(a, b, [&](std::size_t x, std::size_t y, double& radius_x, double& radius_y) {
      const double gap = objects_.distance(x, y);
      radius_x = std::max(radius_x, gap);
      radius_y = std::max(radius_y, gap);
    });
    for (const std::size_t c : active_)
      if (c != b) pairs_.at(b, c) = union_radius(b, c);
  }

 private:
  // The radius of an object in the union is the greater of its radius in its own cluster and its farthest distance to
  // the other cluster.
  double union_radius(std::size_t b, std::size_t c) const {
    double least = -1.0;
    const auto consider = [&](std::size_t x, const std::vector<std::size_t>& others) {
      progress_.poll();
      double radius = members_.score(x);
      for (const std::size_t y : others) {
        radius = std::max(radius, objects_.distance(x, y));
        if (least >= 0.0 && radius >= least) return;
      }
      least = radius;
    };
    for (const std::size_t x : members_.of(b)) consider(x, members_.of(c));
    for (const std::size_t y : members_.of(c)) consider(y, members_.of(b));
    return least;
  }

  Objects objects_;
  std::unique_ptr<double[]> condensed_;
  PairMatrix pairs_;
  ActiveSet active_;
  ScoredMembers members_;
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

  Objects objects_;
  const double* weights_;
  ActiveSet active_;
  ScoredMembers members_;
};

}  // namespace silverbirch
