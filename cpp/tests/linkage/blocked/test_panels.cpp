#include <algorithm>
#include <limits>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/filter/pair_filter.hpp"
#include "silverbirch/linkage/blocked/neighbour_search.hpp"
#include "silverbirch/linkage/blocked/panels.hpp"
#include "silverbirch/simd/instruction_set.hpp"

using namespace silverbirch;

namespace {

// The bound of every pair is at most its distance and, where float32 is precise enough, not much less.
void check_bounds(const Features& features, CfDistance distance, FilterForm form, double tightness) {
  ClusterPanels clusters(view(features), distance, Vote::by_weight);
  clusters.prepare(form, no_progress);
  QueryPack pack(clusters, form);
  const float everything = std::numeric_limits<float>::infinity();
  for (ClusterId query = 0; query < features.size(); ++query) {
    pack.load(&query, 1);
    std::size_t seen = 0;
    for (std::size_t panel = 0; panel < clusters.panels(); ++panel)
      pack.sweep(panel, &everything, kNoCuts.cuts, [&](std::size_t, std::size_t lane, float bound) {
        const ClusterId id = clusters.id_at(panel * kPanelLanes + lane);
        const double exact = clusters.distance(query, id), least = static_cast<double>(bound) * clusters.bound_unit();
        CHECK(exact == clusters.distance(id, query));
        CHECK(least <= exact);
        if (id != query && tightness > 0.0) CHECK(least >= tightness * exact);
        ++seen;
      });
    CHECK(seen == features.size());  // and no hit in an empty lane
  }
}

std::vector<FilterForm> forms() {
  if (pair_filter().has_bytes()) return {FilterForm::bytes, FilterForm::product, FilterForm::difference};
  return {FilterForm::product, FilterForm::difference};
}

// Groups of the given spread around the corners of a cube; weights and sses of all magnitudes.
Features groups(std::size_t count, std::size_t dim, double spread, double offset) {
  std::vector<double> points = random_points(count, dim, 5);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < dim; ++k)
      points[i * dim + k] = offset + (i % 5 == k % 5 ? 1.0 : 0.0) + spread * points[i * dim + k];
  Features features = as_features(points, dim);
  for (std::size_t i = 0; i < count; ++i) {
    features.weight[i] = std::pow(10.0, static_cast<double>(i % 7) - 3.0);
    features.sse[i] = i % 3 == 0 ? 0.0 : spread * spread * features.weight[i];
  }
  return features;
}

void filter_gives_lower_bounds() {
  for (const CfDistance distance : {CfDistance::ward, CfDistance::average, CfDistance::centroid})
    for (const std::size_t dim : {1, 7, 128, 129, 300}) {
      for (const FilterForm form : forms()) {
        const double tightness = dim < 100 ? 0.0 : form == FilterForm::bytes ? 0.9 : 0.98;
        check_bounds(groups(70, dim, 1.0, 0.0), distance, form, tightness);
        check_bounds(groups(70, dim, 1.0, 1e8), distance, form, tightness);
        check_bounds(groups(70, dim, 1e90, 0.0), distance, form, tightness);
        check_bounds(groups(70, dim, 1e-9, 0.0), distance, form, 0.0);
      }
      // Products cannot tell these points apart, differences can.
      check_bounds(groups(70, dim, 1e-4, 0.0), distance, FilterForm::difference, dim < 100 ? 0.0 : 0.98);
    }
}

// The largest bytes in the largest number of dimensions.
void sums_of_bytes_do_not_overflow() {
  if (!pair_filter().has_bytes()) return;
  std::vector<double> points(4 * kMostByteDimensions, 1.0);
  std::fill_n(points.begin(), 2 * kMostByteDimensions, -1.0);
  points[0] = points[2 * kMostByteDimensions] = 0.5;
  check_bounds(as_features(points, kMostByteDimensions), CfDistance::ward, FilterForm::bytes, 0.0);
  ClusterPanels clusters(view(as_features(points, kMostByteDimensions)), CfDistance::ward, Vote::by_weight);
  CHECK(clusters.fastest_form() == FilterForm::bytes);
}

// In every form: before compaction, after it, and if the form is prepared only after it.
void removed_clusters_are_not_found() {
  for (const FilterForm form : forms())
    for (const bool late : {false, true}) {
      const Features features = groups(70, 40, 1.0, 0.0);
      ClusterPanels clusters(view(features), CfDistance::ward, Vote::by_weight);
      if (!late) clusters.prepare(form, no_progress);
      for (ClusterId a = 0; a < 30; ++a) clusters.merge(a, a + 35);
      if (late) clusters.prepare(form, no_progress);
      for (int compacted = 0; compacted < 2; ++compacted, clusters.compact()) {
        clusters.refresh();
        QueryPack pack(clusters, form);
        const ClusterId query = 69;
        pack.load(&query, 1);
        const float everything = std::numeric_limits<float>::infinity();
        std::size_t seen = 0;
        for (std::size_t panel = 0; panel < clusters.panels(); ++panel)
          pack.sweep(panel, &everything, kNoCuts.cuts, [&](std::size_t, std::size_t lane, float) {
            CHECK(clusters.id_at(panel * kPanelLanes + lane) != kNoCluster);
            ++seen;
          });
        CHECK(seen == 40);
      }
    }
}

void merged_clusters_are_where_the_features_say() {
  const std::size_t dim = 20;
  Features features = groups(40, dim, 0.5, 3.0);
  ClusterPanels clusters(view(features), CfDistance::ward, Vote::by_weight);
  for (const auto& [a, b] : {std::pair<ClusterId, ClusterId>{3, 7}, {0, 39}, {7, 39}, {4, 5}}) {
    clusters.merge(a, b);
    features.absorb(b, features[a]);
  }
  clusters.compact();
  CHECK(clusters.slots() == 36);
  for (std::size_t slot = 1; slot < clusters.slots(); ++slot) {
    const ClusterId a = clusters.id_at(0), b = clusters.id_at(slot);
    CHECK(clusters.id_at(slot - 1) < b);
    double gap = 0.0;
    for (std::size_t k = 0; k < dim; ++k) gap += std::pow(features[a].mean[k] - features[b].mean[k], 2);
    const double expected = gap / (1.0 / features.weight[a] + 1.0 / features.weight[b]);
    CHECK(close(clusters.distance(a, b), expected, 1e-13));
  }
}

void shortlists_hold_the_least_and_cut_at_the_next() {
  SectionedShortlists sections{4, 2, 2, {2, Shortlists(2, 4)}};
  for (int i = 0; i < 100; ++i) {
    const int value = i * 37 % 100;  // every number once
    sections.found[i % 2].offer(0, {static_cast<float>(value), static_cast<ClusterId>(value)});
  }
  for (Shortlists& lists : sections.found) lists.finish(0);
  std::vector<Candidate> kept;
  CHECK(sections.collect(0, kept) == 4.0f);
  std::sort(kept.begin(), kept.end(), by_bound);
  CHECK(kept.size() == 4);
  for (ClusterId id = 0; id < kept.size(); ++id) CHECK(kept[id].id == id);
  CHECK(sections.collect(1, kept) == std::numeric_limits<float>::infinity());
  CHECK(kept.empty());
  // Of equal bounds a list keeps as many, whichever section they come from.
  for (ClusterId id = 0; id < 20; ++id) sections.found[1].offer(1, {7.0f, id});
  sections.found[1].finish(1);
  CHECK(sections.collect(1, kept) == 7.0f);
  CHECK(kept.size() == 4);
}

}  // namespace

int main() {
  for (const std::string_view name : supported_instruction_sets()) {
    use_instruction_set(name);
    filter_gives_lower_bounds();
    sums_of_bytes_do_not_overflow();
    removed_clusters_are_not_found();
    merged_clusters_are_where_the_features_say();
  }
  shortlists_hold_the_least_and_cut_at_the_next();
}
