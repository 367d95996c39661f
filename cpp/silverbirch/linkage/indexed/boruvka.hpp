// Single linkage by Borůvka's minimum spanning tree over an index [Borůvka 1926; March, Ram & Gray 2010, "Fast
// Euclidean minimum spanning tree"].
//
// In each round every component finds its shortest edge to another component, and all these edges join the tree. A
// point remembers the nearest point outside its component that it found last. That one stays the nearest until the two
// are joined, and its distance stays a lower bound for good, because components only grow. So few points search in a
// round.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/indexed/indexed_clusters.hpp"
#include "silverbirch/linkage/merge_history.hpp"

namespace silverbirch {

class Boruvka {
 public:
  Boruvka(const IndexedClusters& points, std::size_t threads, const Progress& progress)
      : points_(points),
        threads_(threads),
        progress_(progress),
        component_(points.slot_count()),
        candidate_(points.slot_count(), NearestSlot{kNoSlot, 0.0}),
        shortest_(points.slot_count()),
        bound_(points.slot_count()) {
    std::iota(component_.begin(), component_.end(), 0U);
  }

  void run(MergeHistory& history) {
    const std::size_t done = history.size(), joins = points_.slot_count() - 1;
    while (edges_.size() < joins) {
      progress_(done + edges_.size(), done + joins);
      label_children();
      offer_candidates();
      search();
      offer_candidates();
      join();
    }
    std::sort(edges_.begin(), edges_.end(), [](const Edge& x, const Edge& y) {
      return x.distance != y.distance ? x.distance < y.distance : x.key < y.key;
    });
    for (const Edge& edge : edges_) history.record(points_.name(edge.a), points_.name(edge.b), edge.distance);
  }

 private:
  struct Edge {
    Slot a = kNoSlot, b = kNoSlot;
    double distance = kBeyondAll;
    std::uint64_t key = 0;
    bool operator<(const Edge& other) const {
      return distance != other.distance ? distance < other.distance : key < other.key;
    }
  };

  bool is_outside(Slot slot) const {
    return candidate_[slot].slot != kNoSlot && component_[candidate_[slot].slot] != component_[slot];
  }

  void label_children() {
    const std::vector<std::uint32_t>* below = &component_;
    labels_.resize(points_.level_count());
    for (std::size_t level = 0; level < labels_.size(); ++level) {
      std::vector<std::uint32_t>& own = labels_[level];
      const std::size_t span = level == 0 ? kClusterLeaf : kLanes;
      own.resize((below->size() + span - 1) / span);
      for (std::size_t child = 0; child < own.size(); ++child) {
        const std::size_t begin = child * span, end = std::min(begin + span, below->size());
        own[child] = (*below)[begin];
        for (std::size_t i = begin + 1; i < end; ++i)
          if ((*below)[i] != own[child]) own[child] = Components::kMixed;
      }
      below = &own;
    }
    components_.of_slot = component_.data();
    for (std::size_t level = 0; level < labels_.size(); ++level) components_.of_child[level] = labels_[level].data();
  }

  void offer_candidates() {
    for (const std::uint32_t c : component_) shortest_[c] = {};
    for (Slot slot = 0; slot < component_.size(); ++slot) {
      if (!is_outside(slot)) continue;
      const NearestSlot& to = candidate_[slot];
      Edge& best = shortest_[component_[slot]];
      if (to.distance > best.distance) continue;
      const Edge edge{slot, to.slot, to.distance, pair_key(points_.name(slot), points_.name(to.slot))};
      if (edge < best) best = edge;
    }
  }

  // Only points whose lower bound is at most the shortest edge known for their component search. Other threads may
  // shorten that edge meanwhile: this saves work but does not change which edge is the shortest.
  void search() {
    for (const std::uint32_t c : component_) bound_[c].store(shortest_[c].distance, std::memory_order_relaxed);
    const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
    parallel_for(component_.size(), 256, threads_, polls, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Slot slot = static_cast<Slot>(i);
        std::atomic<double>& bound = bound_[component_[slot]];
        const double within = bound.load(std::memory_order_relaxed);
        if (is_outside(slot) || candidate_[slot].distance > within) continue;
        candidate_[slot] = points_.nearest_in_other(components_, slot, within);
        double known = within;
        while (candidate_[slot].distance < known &&
               !bound.compare_exchange_weak(known, candidate_[slot].distance, std::memory_order_relaxed)) {
        }
      }
    });
  }

  void join() {
    std::vector<std::uint32_t> parent(component_.size());
    std::iota(parent.begin(), parent.end(), 0U);
    const auto root = [&](std::uint32_t x) {
      while (parent[x] != x) x = parent[x] = parent[parent[x]];
      return x;
    };
    for (std::uint32_t c = 0; c < shortest_.size(); ++c) {
      if (shortest_[c].a == kNoSlot) continue;
      const std::uint32_t a = root(component_[shortest_[c].a]), b = root(component_[shortest_[c].b]);
      if (a == b) continue;  // the other component chose this edge already
      parent[std::max(a, b)] = std::min(a, b);
      edges_.push_back(shortest_[c]);
    }
    for (std::uint32_t& c : component_) c = root(c);
  }

  const IndexedClusters& points_;
  std::size_t threads_;
  const Progress& progress_;
  std::vector<std::uint32_t> component_;
  std::vector<std::vector<std::uint32_t>> labels_;
  Components components_;
  std::vector<NearestSlot> candidate_;  // the nearest point outside the component at the last search
  std::vector<Edge> shortest_;          // by component
  std::vector<std::atomic<double>> bound_;
  std::vector<Edge> edges_;
};

}  // namespace silverbirch
