// Merges rows that are equal to the last bit before anything else, at height zero. Otherwise a search for the nearest
// of a thousand equal rows would have to visit all of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/radix_sort.hpp"
#include "silverbirch/base/row_hash.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/merge_history.hpp"

namespace silverbirch {

struct DistinctFeatures {
  UnsetVector<std::uint32_t> names;  // for each distinct feature, the number of its first original
  std::vector<double> weight, sse;   // empty if all rows are distinct: then use the originals
  UnsetVector<double> mean;

  FeaturesView or_all(const FeaturesView& originals) const {
    if (weight.empty()) return originals;
    return {weight.size(), originals.dim, weight.data(), mean.data(), sse.data()};
  }
};

// For each feature, the number of the first equal one. Features with an sse are left alone: not every linkage puts two
// equal ones at distance zero. Rows are partitioned by their hashes, so the hash table of a part fits into a cache, and
// threads share nothing.
inline UnsetVector<std::uint32_t> first_of_same(const FeaturesView& features, std::size_t threads) {
  struct Row {
    std::uint32_t hash, number;
  };
  constexpr std::size_t kParts = 64, kHashBits = 32;
  constexpr std::uint32_t kEmpty = static_cast<std::uint32_t>(-1);
  const std::size_t dim = features.dim;

  UnsetVector<Row> rows(features.size), scratch(features.size);
  parallel_for(features.size, 8192, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)  // only the upper half of the hash: enough, and half the memory
      rows[i] = {static_cast<std::uint32_t>(hash_of_row(features.mean + i * dim, dim) >> 32),
                 static_cast<std::uint32_t>(i)};
  });
  const auto hash_of = [](const Row& row) { return std::uint64_t{row.hash}; };
  radix_sort(rows, scratch, kHashBits - kDigitBits, kHashBits, hash_of, threads);
  const auto begin_of = [&](std::size_t part) {
    const auto is_before = [&](const Row& row) { return row.hash / ((std::uint64_t{1} << kHashBits) / kParts) < part; };
    return static_cast<std::size_t>(std::partition_point(rows.begin(), rows.end(), is_before) - rows.begin());
  };

  UnsetVector<std::uint32_t> same_as(features.size);
  parallel_for(kParts, 1, threads, no_progress, [&](std::size_t part, std::size_t) {
    const std::size_t begin = begin_of(part), end = begin_of(part + 1);
    const std::size_t buckets = std::bit_ceil(2 * (end - begin) + 1);
    std::vector<Row> first_in(buckets, Row{0, kEmpty});
    for (const Row* row = rows.data() + begin; row != rows.data() + end; ++row) {
      same_as[row->number] = row->number;
      if (features.sse[row->number] != 0.0) continue;
      const double* mean = features.mean + row->number * dim;
      std::size_t bucket = row->hash & (buckets - 1);
      const auto is_other = [&](const Row& first) {
        return first.hash != row->hash || !std::equal(mean, mean + dim, features.mean + first.number * dim);
      };
      while (first_in[bucket].number != kEmpty && is_other(first_in[bucket])) bucket = (bucket + 1) & (buckets - 1);
      if (first_in[bucket].number == kEmpty)
        first_in[bucket] = *row;
      else
        same_as[row->number] = first_in[bucket].number;
    }
  });
  return same_as;
}

inline DistinctFeatures merge_duplicates(const FeaturesView& features, MergeHistory& history, std::size_t threads) {
  const std::size_t dim = features.dim;
  const UnsetVector<std::uint32_t> same_as = first_of_same(features, threads);
  DistinctFeatures result;
  result.names = parallel_collect<std::uint32_t>(features.size, threads, [&](std::size_t i, std::uint32_t& name) {
    name = static_cast<std::uint32_t>(i);
    return same_as[i] == i;
  });
  if (result.names.size() == features.size) return result;

  const std::size_t count = result.names.size();
  result.weight.resize(count);
  result.sse.resize(count);
  result.mean.resize(count * dim);
  std::vector<std::size_t> place(features.size);
  parallel_for(count, 1024, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Feature feature = features[result.names[i]];
      place[result.names[i]] = i;
      result.weight[i] = feature.weight;
      result.sse[i] = feature.sse;
      std::copy_n(feature.mean, dim, result.mean.data() + i * dim);
    }
  });
  for (std::size_t i = 0; i < features.size; ++i)
    if (same_as[i] != i) {
      result.weight[place[same_as[i]]] += features.weight[i];
      history.record(i, same_as[i], 0.0);
    }
  return result;
}

}  // namespace silverbirch
