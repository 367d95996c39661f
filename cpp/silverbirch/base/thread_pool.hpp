// The threads of the whole process, which help the loops of parallel.hpp. They are started when they are first needed,
// sleep when there is nothing to do, and are kept until the process ends.
#pragma once

#include <cstddef>

namespace silverbirch {

struct HelpWanted;
class ThreadPool;

// From its construction on, up to `count` other threads call work() once each. The destructor lets no further thread
// begin, and waits for those that have begun. `work` may not throw; it may have helpers of its own.
class Helpers {
 public:
  template <class Work>
  Helpers(std::size_t count, const Work& work) {
    if (count > 0) ask(count, [](const void* it) { (*static_cast<const Work*>(it))(); }, &work);
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  ~Helpers() {
    if (wanted_) dismiss();
  }

 private:
  void ask(std::size_t count, void (*call)(const void*), const void* work);
  void dismiss();

  ThreadPool* pool_ = nullptr;
  HelpWanted* wanted_ = nullptr;
};

}  // namespace silverbirch
