#include "verified.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../linkage.hpp"
#include "matrix_space.hpp"
#include "nn_chain.hpp"
#include "rounds.hpp"

namespace silverbirch {

namespace {

// Where clusters are few and large it is cheaper to compute all their distances once than to search among them again
// and again.
std::size_t few_clusters(std::size_t points) {
  return static_cast<std::size_t>(3.0 * std::sqrt(static_cast<double>(points)));
}

// Merges of the clusters that are left, in their own numbering, recorded under their names.
class NamedHistory {
 public:
  NamedHistory(MergeHistory& history, const std::vector<std::uint32_t>& names) : history_(history), names_(names) {}

  void record(std::size_t a, std::size_t b, double squared_distance, std::size_t) {
    history_.record(names_[a], names_[b], squared_distance);
    ++size_;
  }
  std::size_t size() const { return size_; }

 private:
  MergeHistory& history_;
  const std::vector<std::uint32_t>& names_;
  std::size_t size_ = 0;
};

}  // namespace

VerifiedClustering::VerifiedClustering(const FeaturesView& points, Linkage linkage, std::size_t threads,
                                       const Progress& progress)
    : objects_(points.size),
      linkage_(linkage),
      threads_(threads),
      progress_(progress),
      ones_(linkage == Linkage::complete ? points.size : 0, 1.0),
      zeros_(points.size, 0.0),
      history_(points.size),
      distinct_(merge_duplicates({points.size, points.dim, ones_.empty() ? points.weight : ones_.data(), points.mean,
                                  zeros_.data()},
                                 history_)),
      clusters_(distinct_.features.size() ? view(distinct_.features)
                                          : FeaturesView{points.size, points.dim,
                                                         ones_.empty() ? points.weight : ones_.data(), points.mean,
                                                         zeros_.data()},
                distinct_.names, linkage == Linkage::complete,
                linkage == Linkage::weighted ? Vote::equal : Vote::by_weight, threads, progress) {
  distinct_ = {};
  ones_ = zeros_ = {};
}

bool VerifiedClustering::pays() const {
  constexpr std::size_t kSample = 256, kTooFewToMatter = 128;
  constexpr double kDearness = 6.0;  // of a block found through boxes against one scanned in a row
  const std::size_t blocks = blocks_for(clusters_.slot_count());
  if (blocks <= kTooFewToMatter) return true;
  std::size_t visits = 0;
  for (std::size_t i = 0; i < kSample; ++i)
    clusters_.nearest(static_cast<Slot>(i * clusters_.slot_count() / kSample), {}, visits);
  return kDearness * static_cast<double>(visits) < static_cast<double>(kSample * blocks);
}

template <class Recurrence>
void VerifiedClustering::finish() {
  const std::size_t clusters = clusters_.alive();
  if (clusters < 2) return;
  clusters_.reorder();
  const auto root = [](double squared) { return std::sqrt(squared); };
  const bool squared = linkage_ == Linkage::complete;  // a maximum of squares is the square of the maximum
  std::vector<double> distances(clusters * (clusters - 1) / 2), weights(clusters);
  std::vector<std::uint32_t> names(clusters);
  for (Slot slot = 0; slot < clusters; ++slot) {
    names[slot] = clusters_.name(slot);
    weights[slot] = clusters_.weight(slot);
  }
  const PairMatrix pairs(distances.data(), clusters);
  const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
  parallel_for(clusters - 1, 1, threads_, polls, [&](std::size_t a, std::size_t) {
    for (std::size_t b = a + 1; b < clusters; ++b) {
      const double distance = clusters_.distance(static_cast<Slot>(a), static_cast<Slot>(b));
      pairs.at(a, b) = squared ? distance : root(distance);
    }
  });
  (void)root;
  MatrixSpace<Recurrence> space(distances.data(), weights.data(), clusters);
  struct Squaring : NamedHistory {
    Squaring(MergeHistory& history, const std::vector<std::uint32_t>& names, bool already)
        : NamedHistory(history, names), already_squared(already) {}
    void record(std::size_t a, std::size_t b, double distance, std::size_t prototype) {
      NamedHistory::record(a, b, already_squared ? distance : distance * distance, prototype);
    }
    bool already_squared;
  } history(history_, names, squared);
  const std::size_t before = history_.size();
  nn_chain(space, history, Progress{[&](std::size_t done, std::size_t) { progress_(before + done, objects_ - 1); }});
}

Merges VerifiedClustering::run() && {
  Rounds(clusters_, history_, threads_, progress_).run(few_clusters(clusters_.slot_count()));
  switch (linkage_) {
    case Linkage::complete: finish<CompleteLinkage>(); break;
    case Linkage::average: finish<AverageLinkage>(); break;
    default: finish<WeightedLinkage>();
  }
  progress_(history_.size(), objects_ - 1);
  return std::move(history_).finish(true);
}

}  // namespace silverbirch
