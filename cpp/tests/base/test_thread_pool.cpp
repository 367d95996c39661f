#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "silverbirch/base/parallel.hpp"

using namespace silverbirch;

namespace {

std::size_t sum_of_loop(std::size_t count, std::size_t threads) {
  std::atomic<std::size_t> sum{0};
  parallel_for(count, 1, threads, no_progress, [&](std::size_t i, std::size_t) { sum += i; });
  return sum;
}

// Counts how many threads are at the same place at the same time.
class Crowd {
 public:
  void visit() {
    const std::size_t now = ++inside_;
    for (std::size_t most = most_; most < now && !most_.compare_exchange_weak(most, now);) continue;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    --inside_;
  }
  std::size_t most() const { return most_; }

 private:
  std::atomic<std::size_t> inside_{0}, most_{0};
};

void many_loops_use_few_threads() {
  std::set<std::thread::id> ids;
  std::mutex mutex;
  for (int loop = 0; loop < 2000; ++loop)
    parallel_for(8, 1, 3, no_progress, [&](std::size_t, std::size_t) {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
  CHECK(ids.size() <= std::max<std::size_t>(std::thread::hardware_concurrency(), 3));
}

void a_loop_has_the_threads_it_asks_for_and_no_more() {
  for (const std::size_t threads : {1, 2, 5}) {
    Crowd crowd;
    parallel_for(200, 1, threads, no_progress, [&](std::size_t, std::size_t) { crowd.visit(); });
    CHECK(crowd.most() <= threads);
    CHECK(crowd.most() > 1 || threads == 1);
  }
}

void callers_at_the_same_time_share_the_threads() {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (std::size_t c = 0; c < 40; ++c)  // more than the pool has notices
    callers.emplace_back([&, c] {
      Crowd crowd;
      for (int loop = 0; loop < 50; ++loop) {
        if (sum_of_loop(100, 1 + c % 4) != 4950) ++wrong;
        parallel_for(4, 1, 1 + c % 4, no_progress, [&](std::size_t, std::size_t) { crowd.visit(); });
      }
      if (crowd.most() > 1 + c % 4) ++wrong;
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

void loops_within_loops_end() {
  std::atomic<std::size_t> sum{0};
  for (int loop = 0; loop < 50; ++loop)
    parallel_for(20, 1, 4, no_progress, [&](std::size_t, std::size_t) {
      parallel_for(10, 1, 4, no_progress, [&](std::size_t, std::size_t) { sum += sum_of_loop(10, 3); });
    });
  CHECK(sum == std::size_t{50} * 20 * 10 * 45);
}

void sleeping_threads_wake() {
  for (int loop = 0; loop < 20; ++loop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(sum_of_loop(1000, 4) == 499500);
  }
}

void a_failed_loop_leaves_the_pool_in_order() {
  for (int loop = 0; loop < 50; ++loop) {
    bool caught = false;
    try {
      parallel_for(100, 1, 4, no_progress, [&](std::size_t i, std::size_t, const Checkpoint& checkpoint) {
        if (i == 20) throw std::runtime_error("stop");
        checkpoint();
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught);
  }
  CHECK(sum_of_loop(1000, 4) == 499500);
}

void only_the_caller_reports() {
  const std::thread::id caller = std::this_thread::get_id();
  bool elsewhere = false;
  const Progress progress([&](std::size_t, std::size_t) { elsewhere |= std::this_thread::get_id() != caller; });
  parallel_for(1000, 1, 4, progress, [](std::size_t, std::size_t, const Checkpoint& checkpoint) { checkpoint(); });
  CHECK(!elsewhere);
}

}  // namespace

int main() {
  many_loops_use_few_threads();
  a_loop_has_the_threads_it_asks_for_and_no_more();
  callers_at_the_same_time_share_the_threads();
  loops_within_loops_end();
  sleeping_threads_wake();
  a_failed_loop_leaves_the_pool_in_order();
  only_the_caller_reports();
}
