// Compiled once per instruction set, see simd/kernel_table.hpp.
#include "silverbirch/tree/kernels/tree_kernels.hpp"

#include "silverbirch/tree/kernels/node_search.hpp"
#include "silverbirch/tree/kernels/record_kernels.hpp"
#include "silverbirch/tree/kernels/wide_routing.hpp"

namespace silverbirch {
namespace {

template <std::size_t D>
SILVERBIRCH_INLINE float position(const double* mean, const double* origin, std::size_t runtime_dim, float* place) {
  const std::size_t dim = D > 0 ? D : runtime_dim;
  float squared_norm = 0.0f;
  Floats sums = {};
  std::size_t k = 0;
  if constexpr (D == 0)
    for (; k + kWidth <= dim && on(Mechanism::narrowed_vectors); k += kWidth) {
      const double *there = mean + k, *from = origin + k;
      const Floats here = narrowed(load(there) - load(from), load(there + kDoubles) - load(from + kDoubles));
      store(place + k, here);
      sums = multiply_add(here, here, sums);
    }
  for (; k < dim; ++k) {
    place[k] = static_cast<float>(mean[k] - origin[k]);
    squared_norm += place[k] * place[k];
  }
  if constexpr (D == 0) {
    for (; k % kRouteLanes != 0; ++k) place[k] = 0.0f;
    squared_norm += sum(sums);
  }
  return squared_norm;
}

template <std::size_t D>
void positions(const double* const* means, std::size_t count, const double* origin, const NodeShape& shape,
               RouteQuery* queries) {
  for (std::size_t i = 0; i < count; ++i)
    queries[i].squared_norm = position<D>(means[i], origin, shape.dim, queries[i].position);
}

void rounded_positions(const double* const* means, std::size_t count, const double* origin, const NodeShape& shape,
                       RouteQuery* queries) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto gap = [&](std::size_t k)
                         __attribute__((always_inline)) { return gap_to_origin(means[i], origin, k, shape.dim); };
    RouteQuery& query = queries[i];
    const Rounded rounded = round_to_steps(gap, shape.steps, shape.dim, reinterpret_cast<Part*>(query.position), 1);
    query.rounded_norm = rounded.squared_steps;
    query.error = rounded.error;
    query.squared_norm = rounded.norm * rounded.norm;
    if (query.squared_norm <= kLargestRoutedSquare) continue;
    // The squared norm in steps may overflow a float where the squared length does not, so compute it in doubles.
    const double squared = squared_gap<0>(means[i], origin, shape.dim);
    query.squared_norm = static_cast<float>(squared);
    query.error = static_cast<float>(1.00001 * __builtin_sqrt(squared));
  }
}

template <std::size_t D>
void copy_for_routing(float* routing, const NodeShape& shape, std::size_t slot, const double* record,
                      const double* origin) {
  write_routing<D>(routing, shape, slot, record, origin);
}

SILVERBIRCH_INLINE void move_rows(float* to, std::size_t to_slot, const float* from, std::size_t from_slot,
                                  const NodeShape& shape, std::size_t count) {
  for (std::size_t row = 0; row < count; ++row)
    to[shape.mean_floats + row * shape.slots + to_slot] = from[shape.mean_floats + row * shape.slots + from_slot];
}

template <std::size_t D>
void move_routing(float* to, std::size_t to_slot, const float* from, std::size_t from_slot, const NodeShape& shape) {
  if constexpr (D > 0) {
    for (std::size_t k = 0; k < D; ++k) to[k * shape.slots + to_slot] = from[k * shape.slots + from_slot];
  } else {
    for (std::size_t k = 0; k < shape.entry_floats; k += kWidth)
      store(to + to_slot * shape.entry_floats + k, load(from + from_slot * shape.entry_floats + k));
  }
  move_rows(to, to_slot, from, from_slot, shape, 2);
}

void move_rounded(float* to, std::size_t to_slot, const float* from, std::size_t from_slot, const NodeShape& shape) {
  Part* there = parts_of(to, shape, to_slot);
  const Part* here = parts_of(from, shape, from_slot);
  for (std::size_t p = 0; p < part_count(shape.dim); ++p) there[p * kQuad] = here[p * kQuad];
  move_rows(to, to_slot, from, from_slot, shape, 4);
}

void copy_rounded(float* routing, const NodeShape& shape, std::size_t slot, const double* record,
                  const double* origin) {
  const auto gap = [&](std::size_t k)
                       __attribute__((always_inline)) { return gap_to_origin(record, origin, k, shape.dim); };
  write_rounded(routing, shape, slot, gap, record[shape.dim], record[shape.dim + 1]);
}

// Routes that gain little from it are not unrolled.
template <std::size_t D, std::size_t... I>
constexpr TreeKernels few(std::index_sequence<I...>) {
  return {{nearest_entry < RouteOf<CfDistance(I)>, RouteOf<CfDistance(I)>::unrolled ? D : 0 > ...,
           nearest_entry<WardRowRoute, D>},
          nearest_of_rows_if_wide<D>(),
          widen<D>,
          positions<D>,
          squared_distance<D>,
          squared_distances<D>,
          squared_size<D>,
          add_difference,
          copy_for_routing<D>,
          move_routing<D>,
          merge_all<D>,
          absorb_within<D>};
}

template <std::size_t... I>
constexpr TreeKernels many(std::index_sequence<I...>) {
  return {{nearest_wide_entry<RouteOf<CfDistance(I)>>..., nearest_wide_entry<WardRowRoute>},
          nearest_of_wide_rows_if_wide(),
          widen<0>,
          positions<0>,
          squared_distance<0>,
          squared_distances<0>,
          squared_size<0>,
          add_difference,
          copy_for_routing<0>,
          move_routing<0>,
          merge_all<0>,
          absorb_within<0>};
}

template <std::size_t... I>
constexpr TreeKernels rounded(std::index_sequence<I...>) {
  return {{nearest_rounded_entry<RouteOf<CfDistance(I)>>..., nearest_rounded_entry<WardRowRoute>},
          nullptr,
          widen<0>,
          rounded_positions,
          squared_distance<0>,
          squared_distances<0>,
          squared_size<0>,
          add_difference,
          copy_rounded,
          move_rounded,
          merge_all<0>,
          absorb_within<0, true>};
}

template <std::size_t... I>
constexpr std::array<TreeKernels, kFewDimensions + 1> by_dimension(std::index_sequence<I...>) {
  return {many(AllCfDistances{}), few<I + 1>(AllCfDistances{})...};
}

}  // namespace

const TreeKernelSet SILVERBIRCH_KERNELS(tree_kernel_set) = {by_dimension(std::make_index_sequence<kFewDimensions>{}),
                                                            rounded(AllCfDistances{})};

}  // namespace silverbirch
