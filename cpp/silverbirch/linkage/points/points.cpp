#include "silverbirch/linkage/points/points.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "silverbirch/linkage/indexed/rounds.hpp"
#include "silverbirch/linkage/lance_williams.hpp"
#include "silverbirch/linkage/reference/matrix_space.hpp"
#include "silverbirch/linkage/reference/nn_chain.hpp"

namespace silverbirch {

namespace {

bool is_maximum(const Linkage& linkage) { return linkage.over_pairs == OverPairs::maximum; }

// If clusters are few and large, it is cheaper to compute all their distances once than to search again and again.
// Measured: the product of points and clusters decides, and searches are cheaper in complete linkage.
std::size_t few_clusters(const Linkage& linkage, std::size_t points) {
  if (!on(Mechanism::last_by_matrix)) return 1;
  const double root = std::sqrt(static_cast<double>(points));
  return static_cast<std::size_t>(is_maximum(linkage) ? root : 2.0 * root);
}

// Records the merges of the remaining clusters, which have numbers of their own, under their names.
class LastMerges {
 public:
  LastMerges(MergeHistory& history, std::vector<std::uint32_t> names, bool squared)
      : history_(history), names_(std::move(names)), squared_(squared) {}

  void record(std::size_t a, std::size_t b, double distance, std::size_t) {
    history_.record(names_[a], names_[b], squared_ ? distance : distance * distance);
    ++size_;
  }
  std::size_t size() const { return size_; }

 private:
  MergeHistory& history_;
  std::vector<std::uint32_t> names_;
  bool squared_;
  std::size_t size_ = 0;
};

// Points have no spread, and a maximum over points ignores weights.
Features plain_points(const FeaturesView& points, const Linkage& linkage) {
  Features plain;
  plain.dim = points.dim;
  plain.mean.assign(points.mean, points.mean + points.size * points.dim);
  plain.sse.assign(points.size, 0.0);
  if (is_maximum(linkage))
    plain.weight.assign(points.size, 1.0);
  else
    plain.weight.assign(points.weight, points.weight + points.size);
  return plain;
}

}  // namespace

VerifiedClustering::VerifiedClustering(const FeaturesView& points, const Linkage& linkage, std::size_t threads,
                                       const Progress& progress)
    : objects_(points.size), linkage_(linkage), threads_(threads), progress_(progress), history_(points.size, threads) {
  const Features all = plain_points(points, linkage);
  const DistinctFeatures distinct = merge_duplicates(view(all), history_, threads);
  clusters_.emplace(distinct.or_all(view(all)), distinct.names, is_maximum(linkage), linkage.vote, threads, progress);
}

bool VerifiedClustering::pays() const {
  constexpr std::size_t kSample = 256, kTooFewToMatter = 32;
  constexpr double kLeafCost = 2.0;  // cost of a leaf found through boxes, in leaves of a distance matrix
  const std::size_t leaves = leaves_for(clusters_->slot_count(), kClusterLeaf);
  if (leaves <= kTooFewToMatter) return true;
  std::size_t visits = 0;
  for (std::size_t i = 0; i < kSample; ++i)
    clusters_->nearest(static_cast<Slot>(i * clusters_->slot_count() / kSample), {}, visits);
  return kLeafCost * static_cast<double>(visits) < static_cast<double>(kSample * leaves);
}

Merges VerifiedClustering::run() && {
  Rounds(*clusters_, history_, threads_, progress_).run(few_clusters(linkage_, clusters_->slot_count()));
  return with_formula<Merges>(linkage_, [&]<Recurrence Formula>(Formula) { return finish<Formula>(); });
}

// Finishes with a distance matrix of the remaining clusters.
template <Recurrence Formula>
Merges VerifiedClustering::finish() {
  clusters_->settle();
  const bool squared = is_maximum(linkage_);  // the maximum of squares is the square of the maximum
  std::vector<Slot> left;
  std::vector<std::uint32_t> names;
  std::vector<double> weights;
  for (Slot slot = 0; slot < clusters_->slot_count(); ++slot) {
    if (!clusters_->exists(slot)) continue;
    left.push_back(slot);
    names.push_back(clusters_->name(slot));
    weights.push_back(clusters_->weight(slot));
  }
  const std::size_t count = left.size();
  std::vector<double> distances(count * (count - 1) / 2);
  const PairMatrix pairs(distances.data(), count);
  const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
  parallel_for(count - 1, 1, threads_, polls, [&](std::size_t a, std::size_t) {
    for (std::size_t b = a + 1; b < count; ++b) {
      const double distance = clusters_->distance(left[a], left[b]);
      pairs.at(a, b) = squared ? distance : std::sqrt(distance);
    }
  });
  MatrixSpace<Formula> space(pairs, weights.data());
  LastMerges last(history_, std::move(names), squared);
  const std::size_t before = history_.size();
  nn_chain(space, last, Progress{[&](std::size_t done, std::size_t) { progress_(before + done, objects_ - 1); }});
  progress_(history_.size(), objects_ - 1);
  return std::move(history_).finish(true, threads_);
}

}  // namespace silverbirch
