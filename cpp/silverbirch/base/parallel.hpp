// Loops on several threads. The pieces do not depend on the number of threads, so the results do not either.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <type_traits>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/base/switches.hpp"
#include "silverbirch/base/thread_pool.hpp"

namespace silverbirch {

// How many steps of that many operations make a piece: enough to be worth fetching, few enough to stop soon.
inline std::size_t piece_size(std::size_t operations_of_a_step) {
  return std::clamp<std::size_t>((std::size_t{1} << 26) / std::max<std::size_t>(operations_of_a_step, 1), 1, 1024);
}

// Called within a long piece of work, to stop it early: on the calling thread it polls the progress, which may throw;
// on any other thread it throws Stopped once another thread has failed.
class Checkpoint {
 public:
  struct Stopped {};

  Checkpoint() = default;  // never stops
  Checkpoint(const Progress* progress, const std::atomic<bool>* stop) : progress_(progress), stop_(stop) {}

  void operator()() const {
    if (progress_) progress_->poll();
    if (stop_ && *stop_) throw Stopped();
  }

 private:
  const Progress* progress_ = nullptr;
  const std::atomic<bool>* stop_ = nullptr;
};

// Calls work(begin, end) or work(begin, end, checkpoint) for pieces of [0, count). The calling thread takes pieces too,
// and only it reports progress. An exception on any thread stops all threads and is rethrown here.
template <class Work>
void parallel_for(std::size_t count, std::size_t piece, std::size_t threads, const Progress& progress, Work work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex failure_mutex;

  const auto run = [&](bool reports) {
    try {
      while (!stop) {
        const std::size_t begin = next.fetch_add(piece);
        if (begin >= count) break;
        if constexpr (std::is_invocable_v<Work, std::size_t, std::size_t, const Checkpoint&>)
          work(begin, std::min(begin + piece, count), Checkpoint(reports ? &progress : nullptr, &stop));
        else
          work(begin, std::min(begin + piece, count));
        if (reports) progress(std::min(begin + piece, count), count);
      }
    } catch (const Checkpoint::Stopped&) {
      // The thread that set `stop` keeps the exception.
    } catch (...) {
      stop = true;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };

  const std::size_t pieces = (count + piece - 1) / piece;
  {
    const auto help = [&] { run(false); };
    const Helpers helpers(std::clamp<std::size_t>(pieces, 1, std::max<std::size_t>(threads, 1)) - 1, help);
    run(true);
  }
  if (failure) std::rethrow_exception(failure);
  progress(count, count);
}

// Collects, in order, what take(i, place) writes to `place` for i in [0, count). An i for which take returns false is
// left out.
template <class T, class Take>
UnsetVector<T> parallel_collect(std::size_t count, std::size_t threads, Take take) {
  if (!on(Mechanism::parallel_collect)) threads = 1;
  constexpr std::size_t piece = 2048;
  UnsetVector<T> taken(count);
  std::vector<std::size_t> begin_of_piece((count + piece - 1) / piece + 1);
  parallel_for(count, piece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    T* place = taken.data() + begin;
    for (std::size_t i = begin; i < end; ++i) place += take(i, *place);  // no branch to mispredict
    begin_of_piece[begin / piece + 1] = static_cast<std::size_t>(place - (taken.data() + begin));
  });
  const std::size_t pieces = begin_of_piece.size() - 1;
  for (std::size_t p = 0; p < pieces; ++p) begin_of_piece[p + 1] += begin_of_piece[p];
  if (pieces < 2) {
    taken.resize(begin_of_piece.back());
    return taken;
  }
  UnsetVector<T> together(begin_of_piece.back());
  parallel_for(pieces, 8, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p)
      std::copy_n(taken.data() + p * piece, begin_of_piece[p + 1] - begin_of_piece[p],
                  together.data() + begin_of_piece[p]);
  });
  return together;
}

}  // namespace silverbirch
