// Objects that take long to make, such as large buffers: one piece of work after the other uses them.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace silverbirch {

// Shared pointers, so that T may be incomplete where spares are only passed on.
template <class T>
class Spares {
 public:
  // A spare object, or else make().
  template <class Make>
  std::shared_ptr<T> take(Make make) {
    {
      const std::lock_guard lock(mutex_);
      if (!spares_.empty()) {
        std::shared_ptr<T> spare = std::move(spares_.back());
        spares_.pop_back();
        return spare;
      }
    }
    return make();
  }

  void give_back(std::shared_ptr<T> spare) {
    const std::lock_guard lock(mutex_);
    spares_.push_back(std::move(spare));
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<T>> spares_;
};

}  // namespace silverbirch
