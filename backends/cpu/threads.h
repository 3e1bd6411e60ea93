// backends/cpu/threads.h -- how many threads run Hom's loops and products
//
// Large loops, reductions and matrix products run on one pool of threads, which the whole process
// shares. Results are the same to the last bit for any number of threads. No thread is started
// before there is work that is worth it, and work below about 100 µs stays on the thread that
// calls.
#pragma once

namespace hom {

/// Threads that run at once, those that call included: at first $HOM_THREADS, if that is a number
/// from 1 on; otherwise the processors that this process may use, by its affinity mask and by the
/// quota of its control groups (Linux), rounded up.
int threads();

/// Sets that number; 0 means the first one again. 1 starts no thread ever. May be called at any
/// time, also while other threads compute. Throws `Error` for negative numbers and those above
/// 1024.
void set_threads(int n);

}  // namespace hom
