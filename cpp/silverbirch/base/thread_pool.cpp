#include "silverbirch/base/thread_pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace silverbirch {

namespace {

// A thread without work looks for some during this time before it sleeps: waking it takes about as long.
constexpr std::chrono::microseconds kSpin{50};
constexpr std::size_t kMostCallers = 32;  // at the same time; further ones get no helpers
constexpr std::uint64_t kPlace = std::uint64_t{1} << 32;

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

// A notice that a caller puts up. The lower half of `state` counts the helpers at work, the upper half the free places.
struct alignas(64) HelpWanted {
  std::atomic<std::uint64_t> state{0};
  std::atomic<bool> taken{false};
  void (*call)(const void*) = nullptr;
  const void* work = nullptr;

  std::size_t places() const { return state / kPlace; }
  std::size_t inside() const { return state % kPlace; }

  bool enter() {
    for (std::uint64_t now = state.load(); now >= kPlace;)
      if (state.compare_exchange_weak(now, now - kPlace + 1)) return true;
    return false;
  }
};

class ThreadPool {
 public:
  static ThreadPool& current();

  HelpWanted* ask(std::size_t count, void (*call)(const void*), const void* work) {
    const auto wanted = std::ranges::find_if(notices_, [](HelpWanted& it) { return !it.taken.exchange(true); });
    if (wanted == notices_.end()) return nullptr;
    ++callers_;
    wanted->call = call;
    wanted->work = work;
    wanted->state = count * kPlace;
    wake(count);
    // Several callers at the same time get no more threads together than there are cores, or than one of them asks for.
    start(std::min(demand(), std::max(cores_ - 1, count)));
    return &*wanted;
  }

  void dismiss(HelpWanted& wanted) {
    wanted.state &= kPlace - 1;
    const auto over = [&] { return wanted.state == 0; };
    if (!spin_until(over)) {
      ++waiting_;
      std::unique_lock lock(mutex_);
      over_.wait(lock, over);
      --waiting_;
    }
    --callers_;
    wanted.taken = false;
  }

 private:
  void serve() {
    for (;;) {
      HelpWanted* wanted = nullptr;
      const auto found = [&] { return (wanted = most_wanted()) != nullptr; };
      if (!found() && !spin_until(found)) sleep_until(found);
      if (wanted->enter()) help(*wanted);
    }
  }

  void help(HelpWanted& wanted) {
    wanted.call(wanted.work);
    if (--wanted.state == 0 && waiting_ > 0) {
      {
        const std::lock_guard lock(mutex_);
      }  // whoever waits either sleeps by now or sees the new state
      over_.notify_all();
    }
  }

  // The notice with the most free places, so that callers at the same time share the helpers.
  HelpWanted* most_wanted() {
    std::size_t most = 0;
    HelpWanted* best = nullptr;
    for (HelpWanted& notice : notices_)
      if (const std::size_t places = notice.places(); places > most) most = places, best = &notice;
    return best;
  }

  // Gives up when the time is over, or when there are more threads than cores: another one needs the core.
  template <class Condition>
  bool spin_until(Condition condition) const {
    const auto end = std::chrono::steady_clock::now() + kSpin;
    while (awake_ + std::max<std::size_t>(callers_, 1) <= cores_) {
      if (condition()) return true;
      if (std::chrono::steady_clock::now() > end) break;
      pause();
    }
    return condition();
  }

  template <class Condition>
  void sleep_until(Condition condition) {
    std::unique_lock lock(mutex_);
    ++sleeping_;
    --awake_;
    work_.wait(lock, condition);
    ++awake_;
    --sleeping_;
  }

  void wake(std::size_t count) {
    const std::size_t sleepers = std::min<std::size_t>(sleeping_, count);
    if (sleepers == 0) return;
    {
      const std::lock_guard lock(mutex_);
    }  // a helper that found nothing either sleeps by now or looks again
    for (std::size_t i = 0; i < sleepers; ++i) work_.notify_one();
  }

  // How many threads all callers together could use.
  std::size_t demand() const {
    std::size_t sum = 0;
    for (const HelpWanted& notice : notices_) sum += notice.places() + notice.inside();
    return sum;
  }

  void start(std::size_t count) {
    if (threads_ >= count) return;
    const std::lock_guard lock(mutex_);
    try {
      for (; threads_ < count; ++threads_, ++awake_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
      // The system gives no more threads: the existing ones do the work.
    }
  }

  const std::size_t cores_ = std::max(std::thread::hardware_concurrency(), 1U);
  std::array<HelpWanted, kMostCallers> notices_;
  std::atomic<std::size_t> threads_{0}, awake_{0}, sleeping_{0}, callers_{0}, waiting_{0};
  std::mutex mutex_;
  std::condition_variable work_, over_;
};

namespace {

// Never destroyed: threads may still use it when the process ends.
std::atomic<ThreadPool*> the_pool{nullptr};

#if !defined(_WIN32)
// A child of fork() has none of the threads, and their locks as they were: it starts anew.
[[maybe_unused]] const int in_children = pthread_atfork(nullptr, nullptr, [] { the_pool = nullptr; });
#endif

}  // namespace

ThreadPool& ThreadPool::current() {
  ThreadPool* pool = the_pool;
  if (pool) return *pool;
  auto* made = new ThreadPool;
  if (the_pool.compare_exchange_strong(pool, made)) return *made;
  delete made;
  return *pool;
}

void Helpers::ask(std::size_t count, void (*call)(const void*), const void* work) {
  pool_ = &ThreadPool::current();
  wanted_ = pool_->ask(count, call, work);
}

void Helpers::dismiss() { pool_->dismiss(*wanted_); }

}  // namespace silverbirch
