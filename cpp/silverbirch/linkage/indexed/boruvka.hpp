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
#include <utility>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/indexed/indexed_clusters.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/spanning_tree.hpp"

namespace silverbirch {

class Boruvka {
 public:
  Boruvka(const IndexedClusters& points, std::size_t threads, const Progress& progress)
      : points_(points),
        threads_(threads),
        progress_(progress),
        component_(points.slot_count()),
        parent_(points.slot_count()),
        roots_(points.slot_count()),
        candidate_(points.slot_count()),
        shortest_(points.slot_count()) {
    for_all(points.slot_count(), [&](Slot slot) {
      component_[slot] = parent_[slot] = roots_[slot] = slot;
      candidate_[slot] = {kNoSlot, 0.0};
    });
  }

  Merges run() {
    const std::size_t joins = points_.slot_count() - 1;
    while (edges_.size() < joins) {
      progress_(edges_.size(), joins);
      label_children();
      bound();
      search();
      choose();
      join();
    }
    const auto key = [&](std::uint32_t i) { return key_of(edges_[i].a, edges_[i].b); };
    return merges_of_tree(
        edges_, [&](std::uint32_t i, std::uint32_t j) { return key(i) < key(j); },
        [&](Slot slot) { return points_.name(slot); }, threads_);
  }

 private:
  struct Candidate {
    Slot slot;
    double distance;
  };

  // The shortest edge of a component: first its length, then of all edges of this length the one with the least key,
  // then where it begins.
  struct Shortest {
    double length;
    std::uint64_t key;
    Slot from;
  };

  template <class Work>
  void for_all(std::size_t count, Work work) const {
    parallel_for(count, 4096, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) work(static_cast<Slot>(i));
    });
  }

  template <class T>
  static void lower(T& value, T to) {
    const std::atomic_ref shared(value);
    T known = shared.load(std::memory_order_relaxed);
    while (to < known && !shared.compare_exchange_weak(known, to, std::memory_order_relaxed)) continue;
  }

  std::uint64_t key_of(Slot a, Slot b) const { return pair_key(points_.name(a), points_.name(b)); }

  bool is_outside(Slot slot) const {
    return candidate_[slot].slot != kNoSlot && component_[candidate_[slot].slot] != component_[slot];
  }

  void label_children() {
    const UnsetVector<std::uint32_t>* below = &component_;
    labels_.resize(points_.level_count());
    for (std::size_t level = 0; level < labels_.size(); ++level) {
      UnsetVector<std::uint32_t>& own = labels_[level];
      const std::size_t span = level == 0 ? kClusterLeaf : kLanes;
      own.resize((below->size() + span - 1) / span);
      for_all(own.size(), [&](std::size_t child) {
        const std::size_t begin = child * span, end = std::min(begin + span, below->size());
        own[child] = (*below)[begin];
        for (std::size_t i = begin + 1; i < end; ++i)
          if ((*below)[i] != own[child]) own[child] = Components::kMixed;
      });
      below = &own;
    }
    components_.of_slot = component_.data();
    for (std::size_t level = 0; level < labels_.size(); ++level) components_.of_child[level] = labels_[level].data();
  }

  void bound() {
    for_all(roots_.size(), [&](std::size_t i) { shortest_[roots_[i]] = {kBeyondAll, ~std::uint64_t{0}, kNoSlot}; });
    for_all(component_.size(), [&](Slot slot) {
      if (is_outside(slot)) lower(shortest_[component_[slot]].length, candidate_[slot].distance);
    });
  }

  // Only points whose lower bound is at most the shortest edge known for their component search. Other threads may
  // shorten that edge meanwhile: this saves work but does not change which edge is the shortest.
  void search() {
    const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
    parallel_for(component_.size(), 256, threads_, polls, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Slot slot = static_cast<Slot>(i);
        double& length = shortest_[component_[slot]].length;
        const double within = std::atomic_ref(length).load(std::memory_order_relaxed);
        if (is_outside(slot) || candidate_[slot].distance > within) continue;
        const auto [to, distance] = points_.nearest_in_other(components_, slot, within);
        candidate_[slot] = {to, distance};
        if (candidate_[slot].slot != kNoSlot) lower(length, candidate_[slot].distance);
      }
    });
  }

  void choose() {
    const auto may_be_shortest = parallel_collect<Slot>(component_.size(), threads_, [&](std::size_t i, Slot& slot) {
      slot = static_cast<Slot>(i);
      return candidate_[i].distance == shortest_[component_[i]].length && is_outside(slot);
    });
    const auto key = [&](Slot slot) { return key_of(slot, candidate_[slot].slot); };
    for_all(may_be_shortest.size(),
            [&](std::size_t i) { lower(shortest_[component_[may_be_shortest[i]]].key, key(may_be_shortest[i])); });
    for_all(may_be_shortest.size(), [&](std::size_t i) {
      Shortest& best = shortest_[component_[may_be_shortest[i]]];
      if (best.key == key(may_be_shortest[i])) best.from = may_be_shortest[i];
    });
  }

  void join() {
    const auto edges = parallel_collect<TreeEdge>(roots_.size(), threads_, [&](std::size_t i, TreeEdge& edge) {
      const Shortest& best = shortest_[roots_[i]];
      edge = {best.from, candidate_[best.from].slot, best.length};
      return unite(component_[edge.a], component_[edge.b]);
    });
    edges_.insert(edges_.end(), edges.begin(), edges.end());
    for_all(component_.size(), [&](Slot slot) { component_[slot] = root(component_[slot]); });
    roots_ = parallel_collect<std::uint32_t>(roots_.size(), threads_, [&](std::size_t i, std::uint32_t& kept) {
      kept = roots_[i];
      return parent_[kept] == kept;
    });
  }

  // Union-find for several threads at once: the smaller root stays [Anderson & Woll 1991, "Wait-free parallel
  // algorithms for the union-find problem"].
  std::uint32_t root(std::uint32_t x) {
    for (;;) {
      std::uint32_t parent = std::atomic_ref(parent_[x]).load(std::memory_order_relaxed);
      if (parent == x) return x;
      const std::uint32_t above = std::atomic_ref(parent_[parent]).load(std::memory_order_relaxed);
      if (above != parent) std::atomic_ref(parent_[x]).compare_exchange_weak(parent, above, std::memory_order_relaxed);
      x = above;
    }
  }

  // Returns whether the two were apart: two components may have chosen the same edge.
  bool unite(std::uint32_t a, std::uint32_t b) {
    for (;;) {
      a = root(a);
      b = root(b);
      if (a == b) return false;
      if (a < b) std::swap(a, b);
      std::uint32_t expected = a;
      if (std::atomic_ref(parent_[a]).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return true;
    }
  }

  const IndexedClusters& points_;
  std::size_t threads_;
  const Progress& progress_;
  UnsetVector<std::uint32_t> component_;  // of each point: its root
  UnsetVector<std::uint32_t> parent_, roots_;
  std::vector<UnsetVector<std::uint32_t>> labels_;
  Components components_;
  UnsetVector<Candidate> candidate_;  // the nearest point outside the component at the last search
  UnsetVector<Shortest> shortest_;    // by component
  UnsetVector<TreeEdge> edges_;
};

}  // namespace silverbirch
