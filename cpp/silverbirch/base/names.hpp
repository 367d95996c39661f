// Turns a string into an enum. The names are in the order of the enum's values.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace silverbirch {

template <class Enum, std::size_t N>
Enum from_name(const std::array<std::string_view, N>& names, std::string_view name, std::string_view what) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  throw std::invalid_argument("unknown " + std::string(what) + " '" + std::string(name) + "'");
}

}  // namespace silverbirch
