// tests/benchmarks/vector_math.cc -- the functions of backends/math/: ns per element beside the
// host's library, or with --exhaustive how far each is off over all 2^32 numbers of f32
//
// Times are the least of several rounds that alternate, over 4096 elements in the cache. "glibc" is
// a loop of calls of the host's library; "row" the function by the vectors of this processor;
// "eager" an operation of Hom on a tensor; "compiled" a kernel of that function alone.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include <hom/backends/cpu/vector_functions.h>
#include <hom/hom.h>

namespace {

using hom::Tensor;
using hom::nest::Function;

template <class T>
T logistic(T x) {
  const T e = std::exp(-std::fabs(x));
  return (x >= 0 ? T{1} : e) / (T{1} + e);
}

struct Unary {
  const char* name;
  Function function;
  float (*library_f32)(float);
  double (*library_f64)(double);
  Tensor (*hom)(const Tensor&);
  /// Operands that are timed.
  double low;
  double high;
};
#define ROW(name, low, high)                                                  \
  {#name, Function::name, std::name, std::name, [](const Tensor& x) { return hom::name(x); }, low, \
   high}
const Unary unary_functions[] = {
    ROW(exp, -10, 10),
    ROW(expm1, -2, 2),
    ROW(log, 0.01, 10),
    ROW(log1p, -0.9, 2),
    ROW(sin, -10, 10),
    ROW(cos, -10, 10),
    ROW(tan, -10, 10),
    ROW(asin, -1, 1),
    ROW(acos, -1, 1),
    ROW(atan, -5, 5),
    ROW(sinh, -5, 5),
    ROW(cosh, -5, 5),
    ROW(tanh, -3, 3),
    ROW(asinh, -5, 5),
    ROW(acosh, 1, 10),
    ROW(atanh, -1, 1),
    {"logistic", Function::logistic, logistic<float>, logistic<double>,
     [](const Tensor& x) { return hom::logistic(x); }, -10, 10},
    ROW(erf, -3, 3),
    ROW(erfc, -3, 5),
};
#undef ROW

constexpr std::int64_t count = 4096;

double nanoseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / count;
}

/// The least of several rounds of each, which alternate.
std::vector<double> least(const std::vector<std::function<void()>>& ways) {
  std::vector<double> best(ways.size(), 1e30);
  for (int round = 0; round < 60; ++round) {
    for (std::size_t i = 0; i < ways.size(); ++i) best[i] = std::min(best[i], nanoseconds(ways[i]));
  }
  return best;
}

template <class T>
void time_unary(const Unary& of) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> between(of.low, of.high);
  std::vector<T> x(count);
  for (T& one : x) one = static_cast<T>(between(random));
  std::vector<T> y(count);
  const Tensor tensor = hom::tensor(x);
  auto compiled = hom::compile(of.hom);
  Tensor result = compiled(tensor);
  const auto library = [&] {
    if constexpr (sizeof(T) == 4) {
      for (std::int64_t i = 0; i < count; ++i) y[i] = of.library_f32(x[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) y[i] = of.library_f64(x[i]);
    }
  };
  const auto* function = hom::cpu::vector_functions().unary<T>(of.function);
  const std::vector<double> ns =
      least({library, [&] { function->of_row(y.data(), x.data(), count); },
             [&] { result = of.hom(tensor); }, [&] { result = compiled(tensor); }});
  std::printf("| %-8s | f%zu | %6.2f | %6.2f | %6.2f | %6.2f | %5.1f |\n", of.name, 8 * sizeof(T),
              ns[0], ns[1], ns[2], ns[3], ns[0] / ns[3]);
}

template <class T>
void time_binary(const char* name, Function named, T (*library)(T, T),
                 Tensor (*operation)(const Tensor&, const Tensor&)) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> between(0.1, 5);
  std::vector<T> a(count);
  std::vector<T> b(count);
  for (T& one : a) one = static_cast<T>(between(random));
  for (T& one : b) one = static_cast<T>(between(random) - 2.5);
  std::vector<T> y(count);
  const Tensor x = hom::tensor(a);
  const Tensor z = hom::tensor(b);
  auto compiled = hom::compile(operation);
  Tensor result = compiled(x, z);
  const auto* function = hom::cpu::vector_functions().binary<T>(named);
  const std::vector<double> ns =
      least({[&] {
               for (std::int64_t i = 0; i < count; ++i) y[i] = library(a[i], b[i]);
             },
             [&] { function->of_row(y.data(), a.data(), b.data(), count); },
             [&] { result = operation(x, z); }, [&] { result = compiled(x, z); }});
  std::printf("| %-8s | f%zu | %6.2f | %6.2f | %6.2f | %6.2f | %5.1f |\n", name, 8 * sizeof(T),
              ns[0], ns[1], ns[2], ns[3], ns[0] / ns[3]);
}

template <class T>
void time_binary_functions() {
  time_binary<T>("pow", Function::pow, std::pow,
                 [](const Tensor& a, const Tensor& b) { return hom::pow(a, b); });
  time_binary<T>("atan2", Function::atan2, std::atan2,
                 [](const Tensor& a, const Tensor& b) { return hom::atan2(a, b); });
  time_binary<T>("rem", Function::rem, std::fmod,
                 [](const Tensor& a, const Tensor& b) { return a % b; });
}

// ---- all numbers of f32 ----

struct Worst {
  double ulps = 0;
  float at = 0;
  std::int64_t wrong = 0;
};

/// Units in the last place; negative where a NaN, an infinity or the sign of a zero is wrong.
double ulps_off(float got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : -1;
  if (std::signbit(got) != std::signbit(want)) return -1;
  if (std::isinf(want) || want == 0) return got == want ? 0 : -1;
  int exponent = 0;
  std::frexp(want, &exponent);
  exponent = std::clamp(exponent, -125, 128);
  const auto inside = [](double x) { return std::clamp(x, -0x1p128, 0x1p128); };
  return std::fabs(inside(got) - inside(want)) * std::ldexp(1.0, 24 - exponent);
}

Worst worst_of(const Unary& of, std::uint64_t first, std::uint64_t last) {
  const auto* function = hom::cpu::vector_functions().unary_f32(of.function);
  Worst worst;
  std::vector<float> x(count);
  std::vector<float> y(count);
  for (std::uint64_t from = first; from < last; from += count) {
    for (std::int64_t i = 0; i < count; ++i)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from + i));
    function->of_row(y.data(), x.data(), count);
    for (std::int64_t i = 0; i < count; ++i) {
      const double off = ulps_off(y[i], of.library_f64(static_cast<double>(x[i])));
      if (off < 0) {
        if (worst.wrong++ == 0) worst.at = x[i];
      } else if (off > worst.ulps && worst.wrong == 0) {
        worst.ulps = off;
        worst.at = x[i];
      }
    }
  }
  return worst;
}

/// By steps of so many blocks of numbers; 1 for all.
void exhaustive(const Unary& of, unsigned threads, std::uint64_t step) {
  constexpr std::uint64_t all = std::uint64_t{1} << 32;
  constexpr std::uint64_t block = std::uint64_t{1} << 20;
  std::vector<Worst> found(threads);
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      for (std::uint64_t i = t; i * block < all; i += threads) {
        if (i % step != 0) continue;
        const Worst here = worst_of(of, i * block, (i + 1) * block);
        Worst& so_far = found[t];
        if (here.wrong > 0 ? so_far.wrong == 0 : so_far.wrong == 0 && here.ulps > so_far.ulps) {
          so_far.at = here.at;
          so_far.ulps = here.ulps;
        }
        so_far.wrong += here.wrong;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  Worst worst;
  for (const Worst& one : found) {
    if (one.wrong > 0 || (worst.wrong == 0 && one.ulps > worst.ulps)) {
      worst.ulps = one.ulps;
      worst.at = one.at;
    }
    worst.wrong += one.wrong;
  }
  std::printf("| %-8s | %5.3f | %-14a | %lld |\n", of.name, worst.ulps,
              static_cast<double>(worst.at), static_cast<long long>(worst.wrong));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Vector math: speed, or exactness over all numbers of f32.");
  bool all = false;
  std::uint64_t step = 1;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::string> only;
  app.add_flag("--exhaustive", all, "all 2^32 numbers of f32, against the host's library in f64");
  app.add_option("--step", step, "with --exhaustive: one block of 2^20 numbers in so many");
  app.add_option("--threads", threads, "of --exhaustive");
  app.add_option("--only", only, "functions");
  CLI11_PARSE(app, argc, argv);
  const auto is_wanted = [&](const char* name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  std::printf("%s\n\n", hom::cpu::vector_functions().name);
  if (all) {
    std::printf("| function | ulp | at | special values that are wrong |\n|---|---|---|---|\n");
    for (const Unary& of : unary_functions) {
      if (is_wanted(of.name))
        exhaustive(of, std::max(1u, threads), std::max<std::uint64_t>(1, step));
    }
    return 0;
  }
  std::printf(
      "| function | | glibc | row | eager | compiled | glibc ÷ compiled |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const Unary& of : unary_functions) {
    if (!is_wanted(of.name)) continue;
    time_unary<float>(of);
    time_unary<double>(of);
  }
  if (!only.empty()) return 0;
  time_binary_functions<float>();
  time_binary_functions<double>();
}
