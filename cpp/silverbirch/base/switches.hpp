// The mechanisms that exist only for speed. A build with SILVERBIRCH_ABLATIONS can switch each one off, and `python -m
// benchmarks ablations` measures it with and without. In any other build on() is a constant and costs nothing. The
// results have the same bits either way, except where another order of slots or of sums rounds means differently.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// clang-format off
#define SILVERBIRCH_MECHANISMS(use) \
  /* tree */ \
  use(integer_routing) use(float_routing) use(groups) use(joint_search) use(wide_joint_search) use(fewer_slots) \
  use(row_prefetch) use(record_prefetch) use(huge_pages) use(sure_absorption) use(narrowed_vectors) use(check_in_cache) \
  /* index */ \
  use(filtered_search) use(unrolled_dimensions) use(nearest_first) use(listed_leaves) use(sweep_within_nodes) \
  use(branchless_select) use(close_sort) \
  /* nearest */ \
  use(cell_lists) use(group_search) use(row_order) use(label_filter) \
  /* linkage */ \
  use(known_neighbours) use(parallel_collect) use(unset_memory) use(radix_sort) \
  use(balls) use(last_by_matrix) use(tiles) \
  /* linkage in many dimensions */ \
  use(byte_filter) use(product_filter) use(few_queries) use(mutual_first_pass) use(first_cut) use(neighbour_lists) \
  use(compaction)
// clang-format on

namespace silverbirch {

#define SILVERBIRCH_MECHANISM(name) name,
enum class Mechanism : std::size_t { SILVERBIRCH_MECHANISMS(SILVERBIRCH_MECHANISM) };
#undef SILVERBIRCH_MECHANISM

#if defined(SILVERBIRCH_ABLATIONS)
#define SILVERBIRCH_MECHANISM(name) std::string_view(#name),
inline constexpr std::array kMechanismNames = {SILVERBIRCH_MECHANISMS(SILVERBIRCH_MECHANISM)};
#undef SILVERBIRCH_MECHANISM
static_assert(kMechanismNames.size() <= 64);

inline std::uint64_t switched_off = 0;  // bit i: mechanism i. Set before any computation begins.

[[gnu::always_inline]] inline bool on(Mechanism mechanism) {
  return (switched_off >> static_cast<std::size_t>(mechanism) & 1) == 0;
}
#else
[[gnu::always_inline]] constexpr bool on(Mechanism) { return true; }
#endif

}  // namespace silverbirch
