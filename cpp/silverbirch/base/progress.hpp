// How a long loop of the core talks to its caller: the loop reports how far it is, and the caller may throw to stop it.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace silverbirch {

// Called often (every few microseconds to milliseconds), always on the thread that entered the core.
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

  // Repeats the last report from inside a long step, to let the caller stop it.
  void poll() const {
    if (report_) report_(done_, total_);
  }

 private:
  Report report_;
  mutable std::size_t done_ = 0, total_ = 1;
};

inline const Progress no_progress{nullptr};  // any thread may use this one

}  // namespace silverbirch
