// Converts between numpy arrays and the core's plain pointers. The Python side passes contiguous arrays of the right
// type.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/features.hpp"

namespace nb = nanobind;

template <class T>
using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T>;

template <class T, class Allocator>
NumpyArray<T> to_numpy(std::vector<T, Allocator>&& values, std::initializer_list<std::size_t> shape) {
  using Vector = std::vector<T, Allocator>;
  auto* owned = new Vector(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Vector*>(p); });
  return NumpyArray<T>(owned->data(), shape, owner);
}

template <class T>
NumpyArray<T> to_numpy(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), {size});
}

template <class T>
NumpyArray<T> to_numpy(std::unique_ptr<T[]>&& values, std::size_t size) {
  T* owned = values.release();
  nb::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return NumpyArray<T>(owned, {size}, owner);
}

using FeatureArrays = std::tuple<NumpyArray<double>, NumpyArray<double>, NumpyArray<double>>;

inline FeatureArrays to_numpy(silverbirch::Features&& f) {
  const std::size_t size = f.size(), dim = f.dim;
  return {to_numpy(std::move(f.weight)), to_numpy(std::move(f.mean), {size, dim}), to_numpy(std::move(f.sse))};
}

template <std::size_t N>
std::vector<std::string> name_list(const std::array<std::string_view, N>& table) {
  return {table.begin(), table.end()};
}

inline silverbirch::FeaturesView view(const Array1<const double>& weight, const Array2<const double>& mean,
                                      const Array1<const double>& sse) {
  if (weight.shape(0) != mean.shape(0) || sse.shape(0) != mean.shape(0))
    throw std::invalid_argument("weight, mean and sse must have the same length");
  return {mean.shape(0), mean.shape(1), weight.data(), mean.data(), sse.data()};
}

using Callback = std::optional<nb::typed<nb::callable, void(std::size_t done, std::size_t total)>>;

// The least time between two reports to Python. Tests set it to zero, so that reports can be counted.
inline std::chrono::milliseconds report_interval{50};

// Passes the progress of a loop to Python, at most every report_interval, and takes the GIL only for that. Ctrl-C or an
// exception of the callback ends the loop.
class PythonProgress {
 public:
  explicit PythonProgress(Callback callback) : callback_(std::move(callback)) {}

  silverbirch::Progress progress() {
    return silverbirch::Progress([this](std::size_t done, std::size_t total) {
      const auto now = std::chrono::steady_clock::now();
      if (now < next_ && done != total) return;
      next_ = now + report_interval;
      const nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (callback_) (*callback_)(done, total);
    });
  }

 private:
  Callback callback_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + report_interval;
};

// (row, column, value) of the first value that cannot be clustered, if there is one.
using Refused = std::optional<std::tuple<std::size_t, std::size_t, double>>;

template <class Check>
Refused refused_by(Check check) {
  try {
    check();
  } catch (const silverbirch::BadValue& bad) {
    return std::tuple(bad.row, bad.column, bad.value);
  }
  return {};
}

// Runs work(progress) without the GIL.
template <class Work>
auto without_gil(Callback callback, Work work) {
  PythonProgress python(std::move(callback));
  const silverbirch::Progress progress = python.progress();
  const nb::gil_scoped_release unlocked;
  return work(progress);
}
