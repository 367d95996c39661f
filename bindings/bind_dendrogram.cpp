#include "convert.hpp"
#include "silverbirch/linkage/dendrogram.hpp"

namespace sb = silverbirch;

void bind_dendrogram(nb::module_& m) {
  m.def(
      "subtree_heights",
      [](const Array2<const double>& z) {
        return to_numpy(
            without_gil({}, [&](const sb::Progress&) { return sb::subtree_heights(z.data(), z.shape(0)); }));
      },
      nb::arg("z"), "Returns the greatest height in the subtree of each row of Z.");
  m.def(
      "leaf_counts",
      [](const Array2<const double>& z) {
        return to_numpy(without_gil({}, [&](const sb::Progress&) { return sb::leaf_counts(z.data(), z.shape(0)); }));
      },
      nb::arg("z"), "Returns the number of leaves below each row of Z.");
  m.def(
      "cut",
      [](const Array2<const double>& z, const Array1<const double>& level_of_row, const Array1<const double>& levels) {
        if (level_of_row.shape(0) != z.shape(0))
          throw std::invalid_argument("level_of_row must have one value for each row of Z");
        return to_numpy(without_gil({},
                                    [&](const sb::Progress&) {
                                      return sb::cut(z.data(), z.shape(0), level_of_row.data(), levels.data(),
                                                     levels.shape(0));
                                    }),
                        {z.shape(0) + 1, levels.shape(0)});
      },
      nb::arg("z"), nb::arg("level_of_row"), nb::arg("levels"),
      "Returns the labels of the leaves, one column for each level. Rows of Z whose level_of_row is at most the level "
      "are merged.");
  m.def(
      "merged_features",
      [](const Array2<const double>& z, const Array1<const double>& weight, const Array2<const double>& mean,
         const Array1<const double>& sse) {
        const sb::FeaturesView leaves = view(weight, mean, sse);
        if (z.shape(0) + 1 != leaves.size)
          throw std::invalid_argument("there must be one feature more than Z has rows");
        return to_numpy(without_gil({}, [&](const sb::Progress&) { return sb::merged_features(z.data(), leaves); }));
      },
      nb::arg("z"), nb::arg("weight"), nb::arg("mean"), nb::arg("sse"),
      "Returns (weight, mean, sse) of the cluster of each row of Z.");
}
