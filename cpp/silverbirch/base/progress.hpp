// How a long native loop talks to its caller: it reports how far it is, and the caller may throw to stop it.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace silverbirch {

// Used often (every few microseconds to milliseconds), always from the thread that entered the core.
class Progress {
 public:
  using Report = std::function<void(std::size_t done, std::size_t total)>;

  explicit Progress(Report report) : report_(std::move(report)) {}

  void operator()(std::size_t done, std::size_t total) const {
    if (!report_) return;
    done_ = done;
    total_ = total;
    report_(done, total);
  }

  // From inside a step that takes long: nothing new to say, but a chance to stop.
  void poll() const {
    if (report_) report_(done_, total_);
  }

 private:
  Report report_;
  mutable std::size_t done_ = 0, total_ = 1;
};

inline const Progress no_progress{nullptr};  // the one that any thread may use

}  // namespace silverbirch
