#include "silverbirch/linkage/indexed/indexed.hpp"

#include <atomic>
#include <stdexcept>
#include <utility>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/linkage/indexed/boruvka.hpp"
#include "silverbirch/linkage/indexed/lazy_heap.hpp"
#include "silverbirch/linkage/indexed/rounds.hpp"

namespace silverbirch {

namespace {

Nearness nearness_of(CfDistance distance) {
  switch (distance) {
    case CfDistance::ward: return Nearness::ward;
    case CfDistance::average: return Nearness::average;
    case CfDistance::centroid: return Nearness::centroid;
    default: throw std::invalid_argument("there is no index for this distance");
  }
}

}  // namespace

IndexedClustering::IndexedClustering(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads,
                                     const Progress& progress)
    : objects_(features.size),
      dim_(features.dim),
      threads_(threads),
      progress_(progress),
      history_(features.size, threads),
      distinct_(merge_duplicates(features, history_, threads)),
      clusters_(distinct_.or_all(features), distinct_.names, nearness_of(distance), vote, threads, progress) {
  distinct_ = {};
}

bool IndexedClustering::pays() const {
  constexpr std::size_t kFewDimensions = 8, kTooFewToMatter = 128;
  const std::size_t sample = dim_ <= 2 * kFewDimensions ? 256 : 32;  // a search that visits everything is expensive
  constexpr double kLeafCost = 6.0;  // cost of a leaf found through boxes, in leaves scanned in sequence
  const std::size_t leaves = leaves_for(clusters_.slot_count(), kClusterLeaf);
  if (dim_ <= kFewDimensions && leaves <= kTooFewToMatter) return true;
  std::atomic<std::size_t> visits = 0;
  parallel_for(sample, 1, threads_, no_progress, [&](std::size_t i, std::size_t) {
    std::size_t own = 0;
    clusters_.nearest(static_cast<Slot>(i * clusters_.slot_count() / sample), {}, own);
    visits += own;
  });
  return kLeafCost * static_cast<double>(visits.load()) < static_cast<double>(sample * leaves);
}

Merges IndexedClustering::run(bool by_rounds) && {
  if (on(Mechanism::filtered_search)) clusters_.filter_searches();
  if (by_rounds)
    Rounds(clusters_, history_, threads_, progress_).run();
  else
    LazyHeap(clusters_, objects_, history_, progress_).run(threads_);
  progress_(history_.size(), objects_ - 1);
  return std::move(history_).finish(by_rounds || clusters_.is_reducible(), threads_);
}

Merges IndexedClustering::run_single() && {
  Merges merges = Boruvka(clusters_, threads_, progress_).run();
  progress_(objects_ - 1, objects_ - 1);
  return merges;
}

}  // namespace silverbirch
