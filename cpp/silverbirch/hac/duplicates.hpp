// Rows that are the same to the last bit are merged before anything else, at height zero: an index that is asked for
// the nearest of a thousand equals would have to look at them all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../features.hpp"
#include "../merge_history.hpp"
#include "../row_hash.hpp"

namespace silverbirch {

struct DistinctFeatures {
  Features features;                 // empty where all were distinct: then the originals will do
  std::vector<std::uint32_t> names;  // the number of the feature each one goes on as
};

// Features that have an sse are left alone: they are not at distance zero from each other by every linkage.
inline DistinctFeatures merge_duplicates(const FeaturesView& features, MergeHistory& history) {
  const std::size_t dim = features.dim;
  std::size_t buckets = 16;
  while (buckets < 2 * features.size) buckets *= 2;
  constexpr std::uint32_t kEmpty = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> first_in(buckets, kEmpty);
  std::vector<std::uint32_t> same_as(features.size);
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < features.size; ++i) {
    same_as[i] = static_cast<std::uint32_t>(i);
    if (features.sse[i] == 0.0) {
      const double* row = features.mean + i * dim;
      std::size_t bucket = hash_of_row(row, dim) & (buckets - 1);
      while (first_in[bucket] != kEmpty && !std::equal(row, row + dim, features.mean + first_in[bucket] * dim))
        bucket = (bucket + 1) & (buckets - 1);
      if (first_in[bucket] == kEmpty)
        first_in[bucket] = same_as[i];
      else
        same_as[i] = first_in[bucket];
    }
    distinct += same_as[i] == i;
  }

  DistinctFeatures result;
  result.names.reserve(distinct);
  for (std::size_t i = 0; i < features.size; ++i)
    if (same_as[i] == i) result.names.push_back(static_cast<std::uint32_t>(i));
  if (distinct == features.size) return result;

  std::vector<std::size_t> place(features.size);
  result.features.dim = dim;
  for (std::size_t i = 0; i < features.size; ++i) {
    if (same_as[i] == i) {
      place[i] = result.features.size();
      result.features.push_back(features[i]);
    } else {
      result.features.weight[place[same_as[i]]] += features.weight[i];
      history.record(i, same_as[i], 0.0);
    }
  }
  return result;
}

}  // namespace silverbirch
