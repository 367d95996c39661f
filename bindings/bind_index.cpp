#include "convert.hpp"
#include "silverbirch/base/huge_pages.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/nearest/nearest_index.hpp"

namespace sb = silverbirch;

namespace {

template <class Scalar>
std::pair<NumpyArray<std::int64_t>, Refused> nearest(const sb::NearestIndex& index, const Array2<const Scalar>& rows,
                                                     std::size_t threads, Callback progress) {
  if (rows.shape(1) != index.dim()) throw std::invalid_argument("rows have the wrong width");
  auto result = std::make_unique_for_overwrite<std::int64_t[]>(rows.shape(0));
  sb::ask_for_huge_pages(result.get(), rows.shape(0) * sizeof(std::int64_t));
  const Refused refused = refused_by([&] {
    without_gil(std::move(progress), [&](const sb::Progress& report) {
      index.nearest(rows.data(), rows.shape(0), result.get(), threads, report);
    });
  });
  return {to_numpy(std::move(result), refused ? 0 : rows.shape(0)), refused};
}

void rename(Array1<std::int64_t> numbers, Array1<const std::int64_t> names, std::size_t threads) {
  without_gil({}, [&](const sb::Progress& progress) {
    sb::parallel_for(numbers.shape(0), std::size_t{1} << 16, threads, progress,
                     [&](std::size_t begin, std::size_t end) {
                       for (std::int64_t* number = numbers.data() + begin; number < numbers.data() + end; ++number) {
                         if (static_cast<std::size_t>(*number) >= names.shape(0))
                           throw std::invalid_argument("a number has no name");
                         *number = names.data()[*number];
                       }
                     });
  });
}

}  // namespace

void bind_index(nb::module_& m) {
  m.def("rename", &rename, nb::arg("numbers").noconvert(), nb::arg("names"), nb::arg("threads"),
        "Replaces each number by its name, in place.");
  nb::class_<sb::NearestIndex>(m, "NearestIndex", "Finds the exactly nearest of many points.")
      .def(
          "__init__",
          [](sb::NearestIndex* self, const Array2<const double>& points, std::size_t threads, bool may_list) {
            if (points.shape(0) == 0) throw std::invalid_argument("an index needs at least one point");
            without_gil({}, [&](const sb::Progress& progress) {
              new (self) sb::NearestIndex(points.data(), points.shape(0), points.shape(1), threads, progress,
                                          sb::NearestIndex::Strategy::undecided, may_list);
            });
          },
          nb::arg("points"), nb::arg("threads") = 1, nb::arg("may_list") = true,
          "may_list: whether there is memory for lists several times as large as the points, which speed up searches.")
      .def(
          "nearest", &nearest<double>, nb::arg("rows"), nb::arg("threads"), nb::arg("progress").none(),
          "Returns the number of the point nearest to each row, the lowest one among equally near points, and None. If "
          "a value cannot be clustered, it returns no numbers, and (row, column, value) of the first such value.")
      .def("nearest", &nearest<float>, nb::arg("rows"), nb::arg("threads"), nb::arg("progress").none());
}
