// backends/cpu/thread_pool.cc -- jobs, workers that look for them, and their sleep
//
// Jobs lie on the stacks of the threads that have them, in one list. What joins, leaves, falls
// asleep or wakes does so under one mutex; taking a chunk is one atomic addition. A worker that
// finds no job looks again for some microseconds, then sleeps until it is called. A caller calls
// two sleepers, and each worker that comes calls two more while chunks are left, so that many
// threads start in a few steps.
#include <hom/backends/cpu/thread_pool.h>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>

#include <hom/backends/cpu/threads.h>

namespace hom::cpu {
namespace {

/// Rounds of looking before sleep: about 50 µs, as long as two wake-ups take.
constexpr int most_spins = 1000;
/// After so many of them a waiting caller lets others run between looks.
constexpr int spins_before_yield = 200;

thread_local bool in_chunk = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

struct Job {
  std::int64_t count;
  detail::Chunk chunk;
  const void* context;
  alignas(64) std::atomic<std::int64_t> next = 0;
  /// Workers that are in it; the caller waits until none is.
  alignas(64) std::atomic<std::uint32_t> helpers = 0;
  /// The first chunk that threw.
  std::mutex failing = {};
  std::int64_t failed_chunk = INT64_MAX;
  std::exception_ptr failure = {};

  std::int64_t left() const { return count - next.load(std::memory_order_relaxed); }

  void take_chunks() {
    for (;;) {
      const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      try {
        chunk(context, i);
      } catch (...) {
        const std::scoped_lock lock(failing);
        if (i < failed_chunk) {
          failed_chunk = i;
          failure = std::current_exception();
        }
        // Chunks before this one have been taken: the first that throws is among those that run.
        next.store(count, std::memory_order_relaxed);
      }
    }
  }
};

struct InChunk {
  InChunk() { in_chunk = true; }
  ~InChunk() { in_chunk = false; }
};

class Pool {
 public:
  void run(Job& job, int threads) {
    {
      const std::scoped_lock lock(mutex_);
      limit_ = threads;
      ++busy_;
      jobs_.push_back(&job);
      job_count_.store(static_cast<int>(jobs_.size()), std::memory_order_relaxed);
      while (!is_stopped_ && static_cast<int>(workers_.size()) < threads - 1 &&
             static_cast<std::int64_t>(workers_.size()) < job.count - 1 && start_worker()) {
      }
    }
    wake(job);
    {
      const InChunk inside;
      job.take_chunks();
    }
    bool is_over = false;
    {
      const std::scoped_lock lock(mutex_);
      std::erase(jobs_, &job);
      job_count_.store(static_cast<int>(jobs_.size()), std::memory_order_relaxed);
      --busy_;
      is_over = job.helpers.load(std::memory_order_relaxed) == 0;
    }
    if (!is_over) wait_for_helpers(job);
    if (job.failure) std::rethrow_exception(job.failure);
  }

  /// Ends the workers; a job that goes on does so on its caller alone.
  void stop() {
    std::vector<std::unique_ptr<Worker>> workers;
    {
      const std::scoped_lock lock(mutex_);
      is_stopped_ = true;
      workers.swap(workers_);
      sleepers_.clear();
    }
    for (const std::unique_ptr<Worker>& worker : workers) call(*worker);
    for (const std::unique_ptr<Worker>& worker : workers) {
      // A worker that ends the process cannot wait for itself.
      if (worker->thread.get_id() == std::this_thread::get_id())
        worker->thread.detach();
      else
        worker->thread.join();
    }
  }

  int started() {
    const std::scoped_lock lock(mutex_);
    return static_cast<int>(workers_.size());
  }

 private:
  struct Worker {
    std::atomic<std::uint32_t> is_called = 0;
    std::thread thread;
  };

  static void call(Worker& worker) {
    worker.is_called.store(1, std::memory_order_release);
    worker.is_called.notify_one();
  }

  /// False where the system has no more threads: then there are fewer.
  bool start_worker() {
    auto worker = std::make_unique<Worker>();
    Worker* const self = worker.get();
    // Signals are for the threads of the program.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      worker->thread = std::thread([this, self] { work(*self); });
    } catch (const std::system_error&) {
      limit_ = static_cast<int>(workers_.size()) + 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!worker->thread.joinable()) return false;
    workers_.push_back(std::move(worker));
    return true;
  }

  /// Calls up to two sleepers, if there is something for them to do and room to do it.
  void wake(const Job& job) {
    Worker* called[2];
    int count = 0;
    {
      const std::scoped_lock lock(mutex_);
      const std::int64_t room = std::min<std::int64_t>(limit_ - busy_, job.left() - 1);
      while (count < std::min<std::int64_t>(2, room) && !sleepers_.empty()) {
        called[count++] = sleepers_.back();
        sleepers_.pop_back();
      }
    }
    for (int i = 0; i < count; ++i) call(*called[i]);
  }

  /// A job with chunks left, which this worker is counted in then. Under the mutex.
  Job* join() {
    std::erase_if(jobs_, [](const Job* job) { return job->left() <= 0; });
    job_count_.store(static_cast<int>(jobs_.size()), std::memory_order_relaxed);
    if (jobs_.empty() || busy_ >= limit_) return nullptr;
    jobs_[0]->helpers.fetch_add(1, std::memory_order_relaxed);
    ++busy_;
    return jobs_[0];
  }

  void work(Worker& self) {
    while (Job* const job = next_job(self)) {
      wake(*job);
      {
        const InChunk inside;
        job->take_chunks();
      }
      const std::scoped_lock lock(mutex_);
      --busy_;
      // The caller takes the mutex once more before its job is gone.
      if (job->helpers.fetch_sub(1, std::memory_order_acq_rel) == 1) job->helpers.notify_one();
    }
  }

  /// Looks, then sleeps, then looks again; null when the pool stops.
  Job* next_job(Worker& self) {
    for (;;) {
      int spin = 0;
      for (; spin < most_spins && job_count_.load(std::memory_order_relaxed) == 0; ++spin) pause();
      {
        const std::scoped_lock lock(mutex_);
        if (is_stopped_) return nullptr;
        if (Job* const job = join()) return job;
        if (jobs_.empty() && spin < most_spins) continue;
        self.is_called.store(0, std::memory_order_relaxed);
        sleepers_.push_back(&self);
      }
      self.is_called.wait(0, std::memory_order_acquire);
    }
  }

  void wait_for_helpers(Job& job) {
    for (int spin = 0; spin < most_spins; ++spin) {
      if (job.helpers.load(std::memory_order_acquire) == 0) break;
      if (spin < spins_before_yield) {
        pause();
      } else {
        sched_yield();
      }
    }
    for (std::uint32_t n = job.helpers.load(std::memory_order_acquire); n != 0;
         n = job.helpers.load(std::memory_order_acquire)) {
      job.helpers.wait(n, std::memory_order_acquire);
    }
    const std::scoped_lock lock(mutex_);
  }

  std::mutex mutex_;
  std::vector<Job*> jobs_;
  /// What spinning workers look at.
  alignas(64) std::atomic<int> job_count_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> sleepers_;
  /// Threads that run chunks, callers included, and the most that may.
  int busy_ = 0;
  int limit_ = 1;
  bool is_stopped_ = false;
};

/// The pool lives as long as the process: a thread may still use it while another one calls
/// exit(). Null before it is needed, and in a child after fork(), which has no workers.
std::atomic<Pool*> current = nullptr;

/// Ends the workers when the process does.
struct StopAtExit {
  ~StopAtExit() {
    if (Pool* const pool = current.load(std::memory_order_acquire)) pool->stop();
  }
};

Pool& pool() {
  if (Pool* const there = current.load(std::memory_order_acquire)) return *there;
  static const bool is_fork_safe = [] {
    // Mutexes of the parent's pool may be held by threads that the child does not have.
    pthread_atfork(nullptr, nullptr, [] { current.store(nullptr, std::memory_order_release); });
    return true;
  }();
  static_cast<void>(is_fork_safe);
  static const StopAtExit stop_at_exit;
  auto* const made = new Pool;
  Pool* none = nullptr;
  if (current.compare_exchange_strong(none, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *none;
}

}  // namespace

std::byte* chunk_scratch(std::int64_t bytes) {
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  thread_local std::unique_ptr<std::byte, Free> memory;
  thread_local std::int64_t size = 0;
  if (bytes > size) {
    memory.reset();
    size = (bytes + 4095) / 4096 * 4096;
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<std::size_t>(size))));
    if (memory == nullptr) {
      size = 0;
      throw std::bad_alloc();
    }
  }
  return memory.get();
}

bool is_in_chunk() { return in_chunk; }

int started_threads() {
  Pool* const there = current.load(std::memory_order_acquire);
  return there == nullptr ? 0 : there->started();
}

void detail::run_chunks(std::int64_t count, Chunk chunk, const void* context) {
  const int most = in_chunk || count <= 1 ? 1 : threads();
  if (most == 1) {
    for (std::int64_t i = 0; i < count; ++i) chunk(context, i);
    return;
  }
  Job job{count, chunk, context};
  pool().run(job, most);
}

}  // namespace hom::cpu
