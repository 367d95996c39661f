#include <string_view>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/base/aligned.hpp"
#include "silverbirch/linkage/ordering/order_kernels.hpp"

using namespace silverbirch;

namespace {

struct Shape {
  std::size_t rows, depth, columns;
};

// Tiles that are full, tiles that are not, and sums of several parts.
constexpr Shape kShapes[] = {{1, 1, 1}, {1, 300, 9}, {4, 8, 16}, {7, 257, 33}, {128, 513, 50}, {33, 2, 100}};

std::vector<double> by_definition(const MatrixView& a, const MatrixView& b, const Shape& shape, bool min_plus) {
  std::vector<double> c;
  for (std::size_t i = 0; i < shape.rows; ++i)
    for (std::size_t j = 0; j < shape.columns; ++j) {
      double least = std::numeric_limits<double>::infinity(), sum = 0.0, part = 0.0;
      for (std::size_t k = 0; k < shape.depth; ++k) {
        const double x = *a.from(i, k).data, y = *b.from(k, j).data;
        if (k > 0 && k % kProductDepth == 0) sum += std::exchange(part, 0.0);
        least = std::min(least, x + y);
        part += (x - y) * (x - y);
      }
      c.push_back(min_plus ? least : sum + part);
    }
  return c;
}

void every_instruction_set_computes_the_definition_to_the_bit() {
  const std::string_view best = kInstructionSetNames[static_cast<std::size_t>(instruction_set())];
  for (const std::string_view set : supported_instruction_sets()) {
    use_instruction_set(set);
    AlignedDoubles workspace(kProductDoubles);
    for (const Shape& shape : kShapes) {
      const std::vector<double> a = random_points(shape.rows, shape.depth, 1);
      const std::vector<double> b = random_points(shape.depth, shape.columns, 2);
      for (const bool a_turned : {false, true})
        for (const bool b_turned : {false, true}) {
          const MatrixView left = a_turned ? MatrixView{a.data(), 1, shape.rows} : MatrixView{a.data(), shape.depth, 1};
          const MatrixView right =
              b_turned ? MatrixView{b.data(), 1, shape.depth} : MatrixView{b.data(), shape.columns, 1};
          std::vector<double> c(shape.rows * shape.columns);
          const MatrixProduct task{left, right, c.data(), shape.columns, shape.rows, shape.depth, shape.columns};
          order_kernels().min_plus(task, workspace.data());
          CHECK(c == by_definition(left, right, shape, true));
          order_kernels().squared_distances(task, workspace.data());
          CHECK(c == by_definition(left, right, shape, false));
        }
    }
  }
  use_instruction_set(best);
}

void a_product_writes_only_its_own_part() {
  const Shape shape{5, 3, 7};
  const std::vector<double> a = random_points(shape.rows, shape.depth, 1);
  const std::vector<double> b = random_points(shape.depth, shape.columns, 2);
  AlignedDoubles workspace(kProductDoubles);
  std::vector<double> c(shape.rows * 10 + 5, -1.0);
  order_kernels().min_plus({{a.data(), shape.depth, 1},
                            {b.data(), shape.columns, 1},
                            c.data() + 3,
                            10,
                            shape.rows,
                            shape.depth,
                            shape.columns},
                           workspace.data());
  const std::vector<double> expected =
      by_definition({a.data(), shape.depth, 1}, {b.data(), shape.columns, 1}, shape, true);
  for (std::size_t i = 0; i < c.size(); ++i) {
    const bool inside = i >= 3 && (i - 3) / 10 < shape.rows && (i - 3) % 10 < shape.columns;
    CHECK(c[i] == (inside ? expected[(i - 3) / 10 * shape.columns + (i - 3) % 10] : -1.0));
  }
}

}  // namespace

int main() {
  every_instruction_set_computes_the_definition_to_the_bit();
  a_product_writes_only_its_own_part();
}
