// tests/benchmarks/memory.cc -- how near to the memory's own speed compiled code comes
//
//     bazel run -c opt //tests/benchmarks:memory
//     bazel run -c opt //tests/benchmarks:memory -- --threads=2
//
// Bytes per ns of work that waits for memory, 10³ to 10⁷ f32, beside plain loops in C++ over as
// much memory in the same run: a triad a = b + 3 c for what reads and writes, a sum in 32
// accumulators for what only reads. Bytes are those that have to be moved. Rounds of both
// alternate, and the least counts.
#include <memory>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <hom/hom.h>

using namespace hom;

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds(std::int64_t calls, const std::function<void()>& work) {
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) work();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
         static_cast<double>(calls);
}

/// How many calls take about a millisecond.
std::int64_t calls_for(const std::function<void()>& work) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(1e6 / nanoseconds(1, work)), 1, 10000);
}

/// A loop in C++ over arrays of so many f32.
struct Floor {
  std::string name;
  double bytes;
  std::function<void()> work;
};

/// Eight elements anywhere in memory. Spelled out, for what compilers make of plain loops differs.
using Vector = float __attribute__((vector_size(32), aligned(4), may_alias));
#if defined(__x86_64__)
#define HOM_WIDE __attribute__((target("avx2"), noinline))
#else
#define HOM_WIDE __attribute__((noinline))
#endif

HOM_WIDE void add_three_times(float* to, const float* x, const float* y, std::int64_t n) {
  for (std::int64_t i = 0; i + 8 <= n; i += 8) {
    *reinterpret_cast<Vector*>(to + i) =
        *reinterpret_cast<const Vector*>(x + i) + 3.0F * *reinterpret_cast<const Vector*>(y + i);
  }
}

HOM_WIDE void copy_all(float* to, const float* x, std::int64_t n) {
  for (std::int64_t i = 0; i + 8 <= n; i += 8)
    *reinterpret_cast<Vector*>(to + i) = *reinterpret_cast<const Vector*>(x + i);
}

HOM_WIDE void add_all(float* to, const float* x, std::int64_t n) {
  Vector a{};
  Vector b{};
  Vector c{};
  Vector d{};
  for (std::int64_t i = 0; i + 32 <= n; i += 32) {
    a += *reinterpret_cast<const Vector*>(x + i);
    b += *reinterpret_cast<const Vector*>(x + i + 8);
    c += *reinterpret_cast<const Vector*>(x + i + 16);
    d += *reinterpret_cast<const Vector*>(x + i + 24);
  }
  *reinterpret_cast<Vector*>(to) = (a + b) + (c + d);
}
#undef HOM_WIDE

using Array = std::shared_ptr<std::vector<float>>;
Array array(std::int64_t n) {
  return std::make_shared<std::vector<float>>(static_cast<std::size_t>(n), 1.0F);
}

Floor triad(std::int64_t n) {
  return {"triad", 12.0 * static_cast<double>(n), [=, a = array(n), b = array(n), c = array(n)] {
            add_three_times(a->data(), b->data(), c->data(), n);
          }};
}

Floor copy(std::int64_t n) {
  return {"copy", 8.0 * static_cast<double>(n),
          [=, a = array(n), b = array(n)] { copy_all(a->data(), b->data(), n); }};
}

Floor sum_of(std::int64_t n) {
  return {"sum", 4.0 * static_cast<double>(n),
          [=, a = array(8), b = array(n)] { add_all(a->data(), b->data(), n); }};
}

struct Row {
  std::string name;
  /// Read and written, for each element.
  double bytes;
  std::function<void()> work;
};

template <class F, class... Tensors>
Row row(const std::string& name, double bytes, const F& f, const Tensors&... arguments) {
  auto compiled = std::make_shared<decltype(compile(f))>(compile(f));
  return {name, bytes, [=] { (*compiled)(arguments...); }};
}

/// A line of the table: both in turns.
void print(std::int64_t n, const Row& row, const Floor& floor) {
  const std::int64_t calls = calls_for(row.work);
  const std::int64_t floor_calls = calls_for(floor.work);
  double least = 1e300;
  double floor_least = 1e300;
  for (int round = 0; round < 15; ++round) {
    least = std::min(least, nanoseconds(calls, row.work));
    floor_least = std::min(floor_least, nanoseconds(floor_calls, floor.work));
  }
  const double speed = row.bytes * static_cast<double>(n) / least;
  const double limit = floor.bytes / floor_least;
  std::printf("| %s | %lld | %.1f | %s %.1f | %.0f %% |\n", row.name.c_str(),
              static_cast<long long>(n), speed, floor.name.c_str(), limit, 100 * speed / limit);
  std::fflush(stdout);
}

void table(std::int64_t rows, std::int64_t columns) {
  const std::int64_t n = rows * columns;
  const Tensor x = reshape(sin(arange(n).astype(f32)), {rows, columns});
  const Tensor y = x + 1.0F;
  const Tensor places = reshape((arange(n) * 7919) % n, {n}).astype(i32);
  print(n, row("a + 3 b", 12, [](Tensor a, Tensor b) { return a + 3.0 * b; }, x, y), triad(n));
  print(n,
        row(
            "chain of 5", 12, [](Tensor a, Tensor b) { return maximum(a * b - b, 0.5 * a) * b; }, x,
            y),
        triad(n));
  print(n, row("negation", 8, [](Tensor a) { return -a; }, x), copy(n));
  print(n, row("transpose", 8, [](Tensor a) { return transpose(a); }, x), copy(n));
  print(n, row("exp of a transpose", 8, [](Tensor a) { return exp(transpose(a)); }, x), copy(n));
  print(n,
        row(
            "gather", 12, [](Tensor a, Tensor i) { return take(reshape(a, {-1}), i); }, x, places),
        triad(n));
  print(n, row("sum", 4, [](Tensor a) { return sum(a); }, x), sum_of(n));
  print(n, row("row sums", 4, [](Tensor a) { return sum(a, {1}); }, x), sum_of(n));
  print(n, row("column sums", 4, [](Tensor a) { return sum(a, {0}); }, x), sum_of(n));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("how near to the memory's own speed compiled code comes");
  int count = 1;
  app.add_option("--threads", count, "threads of compiled code; the loops beside it have one");
  CLI11_PARSE(app, argc, argv);
  set_threads(count);
  std::printf("| f32 | elements | bytes/ns | floor | of it |\n|---|---|---|---|---|\n");
  table(10, 100);
  table(250, 400);
  table(1000, 1000);
  table(4000, 2500);
}
