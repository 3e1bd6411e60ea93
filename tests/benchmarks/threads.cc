// tests/benchmarks/threads.cc -- what several threads gain, and what they cost
//
//     bazel run -c opt //tests/benchmarks:threads                 all tables, 1 and 2 threads
//     bazel run -c opt //tests/benchmarks:threads -- --threads=8  1 and 8
//     bazel run -c opt //tests/benchmarks:threads -- --busy       while another process spins
//
// Rounds of one and of several threads alternate, and the least counts.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <sched.h>

#include <hom/backends/cpu/sharing.h>
#include <hom/backends/cpu/thread_pool.h>
#include <hom/hom.h>

using namespace hom;

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

volatile double sink = 0;

void compute_for(double us) {
  const auto end = Clock::now() + std::chrono::nanoseconds(static_cast<std::int64_t>(us * 1000));
  double x = 1;
  while (Clock::now() < end) {
    for (int i = 0; i < 20; ++i) x = x * 1.0000001 + 1e-9;
  }
  sink = x;
}

struct Times {
  double least, median, worst;
};
Times times(int rounds, const std::function<void()>& work) {
  std::vector<double> all;
  for (int i = 0; i < rounds; ++i) all.push_back(microseconds(work));
  std::sort(all.begin(), all.end());
  return {all[0], all[all.size() / 2], all.back()};
}

/// The usual way: a thread that sleeps on a condition variable, and is woken for each job.
class Condition {
 public:
  Condition() : worker_([this] { work(); }) {}
  ~Condition() {
    {
      const std::scoped_lock lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }
  void run(const std::function<void()>& work) {
    {
      const std::scoped_lock lock(mutex_);
      work_ = &work;
    }
    changed_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return work_ == nullptr; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return work_ != nullptr || stops_; });
      if (stops_) return;
      const std::function<void()>* const work = work_;
      lock.unlock();
      (*work)();
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  bool stops_ = false;
  std::thread worker_;
};

void fork_and_join() {
  std::printf(
      "\nTwo equal pieces of work on two threads, µs (least / median / worst of 2000)\n\n"
      "| pieces | ideal | pool, at once | pool, after 500 µs of other work | condition variable |\n"
      "|---|---|---|---|---|\n");
  set_threads(2);
  Condition condition;
  for (const double us : {5.0, 20.0, 50.0, 100.0}) {
    const auto text = [](const Times& t) {
      char buffer[64];
      std::snprintf(buffer, sizeof buffer, "%.1f / %.1f / %.0f", t.least, t.median, t.worst);
      return std::string(buffer);
    };
    const std::function<void()> piece = [us] { compute_for(us); };
    const auto share = [&] { cpu::parallel_for(2, [&](std::int64_t) { piece(); }); };
    const Times hot = times(2000, share);
    std::vector<double> cold;
    for (int i = 0; i < 1000; ++i) {
      compute_for(500);
      cold.push_back(microseconds(share));
    }
    std::sort(cold.begin(), cold.end());
    const Times other = times(2000, [&] { condition.run(piece); });
    std::printf("| 2 × %.0f | %.0f | %s | %s | %s |\n", us, us, text(hot).c_str(),
                text({cold[0], cold[500], cold.back()}).c_str(), text(other).c_str());
    std::fflush(stdout);
  }
}

/// Least µs with one thread and with `n`, in turn.
std::pair<double, double> with_threads(int n, const std::function<void()>& work) {
  double one = 1e300;
  double several = 1e300;
  work();
  const double once = microseconds(work);
  const int rounds = std::clamp(static_cast<int>(400'000 / once), 5, 400);
  for (int i = 0; i < rounds; ++i) {
    set_threads(1);
    one = std::min(one, microseconds(work));
    set_threads(n);
    work();
    several = std::min(several, microseconds(work));
  }
  set_threads(0);
  return {one, several};
}

void row(const std::string& name, int n, const std::function<void()>& work) {
  const auto [one, several] = with_threads(n, work);
  std::printf("| %s | %.1f | %.1f | %.2f |\n", name.c_str(), one, several, one / several);
  std::fflush(stdout);
}

void head(const char* title, int n) {
  std::printf("\n%s\n\n| | 1 thread, µs | %d threads, µs | ratio |\n|---|---|---|---|\n", title, n);
}

/// Everything is shared, whatever it takes: where the ratio passes 1 is the break-even.
void break_even(int n) {
  head("exp(x)·x + 1 on f32, cut always", n);
  const cpu::SharingLimitsScope limits({.least_ns = 0, .chunk_ns = 20'000});
  for (std::int64_t size = 1 << 10; size <= 1 << 18; size *= 2) {
    const auto f = compile([](Tensor x) { return exp(x) * x + 1.0; });
    const Tensor x = ones({size}, f32);
    row(std::to_string(size), n, [&] { f(x); });
  }
}

void kernels(int n) {
  head("Compiled kernels, f32", n);
  const auto chain = compile([](Tensor x, Tensor y) { return tanh(x * y + 0.5) * exp(-x); });
  const auto triad = compile([](Tensor x, Tensor y) { return x * 2.0 + y; });
  const auto rows = compile([](Tensor x) { return softmax(x, 1); });
  const auto one_row = compile([](Tensor x) { return softmax(x, 0); });
  const auto row_sums = compile([](Tensor x) { return sum(x, 1); });
  const auto column_sums = compile([](Tensor x) { return sum(x, 0); });
  const auto total = compile([](Tensor x) { return sum(x * x); });
  const auto place = compile([](Tensor x) { return argmax(x, 0); });
  for (const std::int64_t size : {100'000, 1'000'000, 10'000'000}) {
    const Tensor x = ones({size}, f32);
    const Tensor matrix = ones({size / 1000, 1000}, f32);
    const std::string text = ", " + std::to_string(size);
    row("chain with tanh and exp" + text, n, [&] { chain(x, x); });
    row("triad" + text, n, [&] { triad(x, x); });
    row("softmax of rows of 1000" + text, n, [&] { rows(matrix); });
    row("softmax of one row" + text, n, [&] { one_row(x); });
    row("sums of rows" + text, n, [&] { row_sums(matrix); });
    row("sums of columns" + text, n, [&] { column_sums(matrix); });
    row("sum of squares" + text, n, [&] { total(x); });
    row("argmax" + text, n, [&] { place(x); });
  }
}

void products(int n) {
  head("Products and training steps, f32", n);
  const auto product = compile([](Tensor x, Tensor y) { return matmul(x, y); });
  for (const std::int64_t size : {64, 128, 256, 512, 1024, 2048}) {
    const Tensor x = ones({size, size}, f32);
    row("matmul " + std::to_string(size), n, [&] { product(x, x); });
  }
  for (const std::int64_t rows : {1, 8, 32}) {
    const Tensor x = ones({rows, 1024}, f32);
    const Tensor w = ones({1024, 1024}, f32);
    row("matmul " + std::to_string(rows) + "×1024×1024", n, [&] { product(x, w); });
  }
  const auto loss = [](const std::vector<Tensor>& w, Tensor x, Tensor label) {
    for (std::size_t i = 0; i + 1 < w.size(); ++i) x = relu(matmul(x, w[i]));
    return mean(square(matmul(x, w.back()) - label));
  };
  const auto step = compile([=](std::vector<Tensor> w, Tensor x, Tensor label) {
    const auto gradient = grad(loss)(w, x, label);
    return tree_map([](Tensor p, Tensor dp) { return p - 1e-3 * dp; }, w, gradient);
  });
  for (const std::int64_t width : {128, 512, 1024}) {
    for (const std::int64_t batch : {32, 256}) {
      std::vector<Tensor> w(3, full({width, width}, 0.01, f32));
      const Tensor x = ones({batch, width}, f32);
      row("MLP step, width " + std::to_string(width) + ", batch " + std::to_string(batch), n,
          [&] { step(w, x, x); });
    }
  }
}

void eager(int n) {
  head("Eager, f32", n);
  const Tensor x = ones({1'000'000}, f32);
  const Tensor m = ones({512, 512}, f32);
  row("exp, 1000000", n, [&] { exp(x); });
  row("x + x, 1000000", n, [&] { x + x; });
  row("sum, 1000000", n, [&] { sum(x); });
  row("matmul 512", n, [&] { matmul(m, m); });
}

}  // namespace

int main(int argc, char** argv) {
  int n = 2;
  bool busy = false;
  std::string only;
  CLI::App app{"Threads: latency, break-even, kernels and products"};
  app.add_option("--threads", n, "how many, beside one");
  app.add_flag("--busy", busy, "a process of this benchmark's keeps one core busy meanwhile");
  app.add_option("--only", only, "fork, even, kernels, products or eager");
  CLI11_PARSE(app, argc, argv);
  pid_t spinner = 0;
  if (busy && (spinner = fork()) == 0) {
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(static_cast<int>(std::thread::hardware_concurrency()) - 1, &last);
    sched_setaffinity(0, sizeof last, &last);
    for (;;) sink = sink + 1;
  }
  const auto wants = [&](const char* name) { return only.empty() || only == name; };
  if (wants("fork")) fork_and_join();
  if (wants("even")) break_even(n);
  if (wants("kernels")) kernels(n);
  if (wants("products")) products(n);
  if (wants("eager")) eager(n);
  if (spinner > 0) {
    kill(spinner, SIGKILL);
    waitpid(spinner, nullptr, 0);
  }
  return 0;
}
