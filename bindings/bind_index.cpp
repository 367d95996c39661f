#include <algorithm>

#include "convert.hpp"
#include "silverbirch/nearest_index.hpp"
#include "silverbirch/parallel.hpp"

namespace sb = silverbirch;

namespace {

template <class Scalar>
NumpyArray<std::int64_t> nearest(const sb::NearestIndex& index, const Array2<const Scalar>& rows, std::size_t threads,
                                 Callback progress) {
  const std::size_t dim = index.dim();
  if (rows.shape(1) != dim) throw std::invalid_argument("rows have the wrong width");
  std::vector<std::int64_t> result(rows.shape(0));
  // In long pieces rows have near neighbours, but every thread should get some.
  const std::size_t piece = std::clamp<std::size_t>(result.size() / threads, 1 << 12, 1 << 20);
  without_gil(std::move(progress), [&](const sb::Progress& report) {
    sb::parallel_for(result.size(), piece, threads, report,
                     [&](std::size_t begin, std::size_t end, const sb::Checkpoint& checkpoint) {
                       index.nearest(rows.data() + begin * dim, end - begin, result.data() + begin, checkpoint);
                     });
  });
  return to_numpy(std::move(result));
}

}  // namespace

void bind_index(nb::module_& m) {
  nb::class_<sb::NearestIndex>(m, "NearestIndex")
      .def(
          "__init__",
          [](sb::NearestIndex* self, const Array2<const double>& points) {
            if (points.shape(0) == 0) throw std::invalid_argument("an index needs at least one point");
            without_gil({}, [&](const sb::Progress& progress) {
              new (self) sb::NearestIndex(points.data(), points.shape(0), points.shape(1), progress);
            });
          },
          nb::arg("points"))
      .def("nearest", &nearest<double>, nb::arg("rows"), nb::arg("threads"), nb::arg("progress").none())
      .def("nearest", &nearest<float>, nb::arg("rows"), nb::arg("threads"), nb::arg("progress").none());
}
