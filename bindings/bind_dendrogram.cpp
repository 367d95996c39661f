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
      nb::arg("z"), "The greatest height at or below each row of Z.");
  m.def(
      "leaf_counts",
      [](const Array2<const double>& z) {
        return to_numpy(without_gil({}, [&](const sb::Progress&) { return sb::leaf_counts(z.data(), z.shape(0)); }));
      },
      nb::arg("z"), "The number of leaves below each row of Z.");
  m.def(
      "cut",
      [](const Array2<const double>& z, const Array1<const double>& level_of_row, const Array1<const double>& levels) {
        if (level_of_row.shape(0) != z.shape(0)) throw std::invalid_argument("one level for each row of Z, please");
        return to_numpy(without_gil({},
                                    [&](const sb::Progress&) {
                                      return sb::cut(z.data(), z.shape(0), level_of_row.data(), levels.data(),
                                                     levels.shape(0));
                                    }),
                        {z.shape(0) + 1, levels.shape(0)});
      },
      nb::arg("z"), nb::arg("level_of_row"), nb::arg("levels"),
      "Labels of the leaves, a column for each level, when only the rows of Z up to it are merged.");
  m.def(
      "merged_features",
      [](const Array2<const double>& z, const Array1<const double>& weight, const Array2<const double>& mean,
         const Array1<const double>& sse) {
        const sb::FeaturesView leaves = view(weight, mean, sse);
        if (z.shape(0) + 1 != leaves.size) throw std::invalid_argument("Z and the features do not fit");
        return to_numpy(without_gil({}, [&](const sb::Progress&) { return sb::merged_features(z.data(), leaves); }));
      },
      nb::arg("z"), nb::arg("weight"), nb::arg("mean"), nb::arg("sse"), "(weight, mean, sse) of each row of Z.");
}
