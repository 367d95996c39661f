// All that a test needs. CHECK(a == b) prints both values if the condition fails, and the test goes on; at its end the
// program exits with 1. CHECK returns whether the condition held, for `if (!CHECK(a.size() == b.size())) return;`.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <limits>
#include <ranges>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

// Left << a == b is parsed as (Left << a) == b, so an Operand sees both sides of the comparison. Conditions
// joined by && or || fail without printing values: write two checks instead.
#define CHECK(...) check(Left{} << __VA_ARGS__, #__VA_ARGS__, __FILE__, __LINE__)

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << std::boolalpha << std::setprecision(std::numeric_limits<double>::max_digits10);
  if constexpr (std::is_enum_v<T>) {
    out << +static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (requires { out << value; }) {
    out << value;
  } else if constexpr (std::ranges::range<T>) {
    constexpr std::size_t most = 16;
    std::size_t count = 0;
    for (const auto& element : value)
      if (count++ < most) out << (count == 1 ? "{" : ", ") << text(element);
    out << (count == 0 ? "{}" : count <= most ? "}" : ", …}: " + std::to_string(count) + " values");
  } else {
    out << "(no text)";
  }
  return out.str();
}

struct Comparison {
  Comparison(bool held, std::string both = "") : holds(held), values(std::move(both)) {}
  explicit operator bool() const { return holds; }

  bool holds;
  std::string values;
};

template <class A, class B>
Comparison compared(bool holds, const A& a, const char* sign, const B& b) {
  if (holds) return true;
  std::string values = text(a) + " " + sign + " " + text(b);
  if constexpr (std::ranges::random_access_range<A> && std::ranges::random_access_range<B>)
    for (std::size_t i = 0; i < std::min(std::size(a), std::size(b)); ++i)
      if (!(a[i] == b[i]))
        return {false, values + ", first at [" + std::to_string(i) + "]: " + text(a[i]) + ", " + text(b[i])};
  return {false, values};
}

#define COMPARE(sign)                          \
  template <class B>                           \
  Comparison operator sign(const B& b) const { \
    return compared(a sign b, a, #sign, b);    \
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"  // a literal passed by reference is not a literal any more
template <class A>
struct Operand {
  const A& a;
  explicit operator bool() const { return static_cast<bool>(a); }
  // clang-format off
  COMPARE(==) COMPARE(!=) COMPARE(<) COMPARE(<=) COMPARE(>) COMPARE(>=)
  // clang-format on
};
#pragma GCC diagnostic pop
#undef COMPARE

struct Left {
  template <class A>
  Operand<A> operator<<(const A& a) const {
    return {a};
  }
  Comparison operator<<(const Comparison& known) const { return known; }
};

inline Comparison close(double a, double b, double relative = 1e-12) {
  return compared(std::abs(a - b) <= relative * std::fmax(std::abs(a), std::abs(b)), a, "≈", b);
}

class Failures {
 public:
  ~Failures() {
    if (count_ == 0) return;
    std::fprintf(stderr, "%zu checks failed\n", count_.load());
    std::_Exit(1);
  }
  void add(const std::string& message) {
    if (++count_ <= kPrinted) std::fprintf(stderr, "%s\n", message.c_str());
  }

 private:
  static constexpr std::size_t kPrinted = 50;  // a loop may fail a million times
  std::atomic<std::size_t> count_ = 0;
};
inline Failures failures;

inline bool check(const Comparison& comparison, const char* condition, const char* file, int line) {
  if (!comparison.holds)
    failures.add(std::string(file) + ":" + std::to_string(line) + ": failed: " + condition +
                 (comparison.values.empty() ? "" : ": " + comparison.values));
  return comparison.holds;
}
template <class A>
bool check(const Operand<A>& operand, const char* condition, const char* file, int line) {
  return check(Comparison(static_cast<bool>(operand)), condition, file, line);
}
