// How a long native loop talks to its caller: it reports how far it is, and the caller may throw to stop it.
#pragma once

#include <cstddef>
#include <functional>

namespace silverbirch {

// Called often (every few microseconds to milliseconds), always from the thread that entered the core.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

inline void no_progress(std::size_t, std::size_t) {}

}  // namespace silverbirch
