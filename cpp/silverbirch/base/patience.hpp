// Says whether the caller wants a long computation on several threads to stop. Only the thread that entered the core
// may ask the caller; the other threads read its answer.
#pragma once

#include <atomic>
#include <thread>

#include "silverbirch/base/progress.hpp"

namespace silverbirch {

class Patience {
 public:
  explicit Patience(const Progress& progress) : progress_(progress), caller_(std::this_thread::get_id()) {}

  // On the caller's thread: polls the progress and rethrows what it throws. On any other thread: true once that has
  // happened.
  bool ended() const {
    if (std::this_thread::get_id() != caller_) return ended_.load(std::memory_order_relaxed);
    try {
      progress_.poll();
    } catch (...) {
      ended_.store(true, std::memory_order_relaxed);
      throw;
    }
    return false;
  }

 private:
  const Progress& progress_;
  std::thread::id caller_;
  mutable std::atomic<bool> ended_{false};
};

}  // namespace silverbirch
