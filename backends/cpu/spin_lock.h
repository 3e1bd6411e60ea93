// backends/cpu/spin_lock.h -- a lock for a few instructions
#pragma once

#include <atomic>

#include <sched.h>

namespace hom::cpu {

/// A mutex that is held for some nanoseconds, where one of the system's would take as long itself.
/// Whoever finds it taken looks again, and lets others run meanwhile.
class SpinLock {
 public:
  void lock() {
    while (is_taken_.exchange(true, std::memory_order_acquire)) {
      for (int looks = 0; is_taken_.load(std::memory_order_relaxed); ++looks) {
        if (looks > 100) sched_yield();
      }
    }
  }
  void unlock() { is_taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_taken_ = false;
};

}  // namespace hom::cpu
