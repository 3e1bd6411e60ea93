// backends/cpu/profile_peak.cc -- what this machine does at best, measured
#include <algorithm>
#include <chrono>
#include <vector>

#include <hom/backends/cpu/profile.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hom {
namespace {

using Clock = std::chrono::steady_clock;

/// The least time of some runs.
template <class F>
double fastest(int runs, const F& f) {
  double best = 1e9;
  for (int run = 0; run < runs; ++run) {
    const Clock::time_point begin = Clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

double triad_bytes_per_second() {
  constexpr std::size_t n = std::size_t{2} << 20;  // 16 MiB each
  std::vector<double> a(n, 0);
  const std::vector<double> b(n, 1);
  const std::vector<double> c(n, 2);
  const double seconds = fastest(12, [&] {
    double* const to = a.data();
    const double* const x = b.data();
    const double* const y = c.data();
    for (std::size_t i = 0; i < n; ++i) to[i] = x[i] + 3 * y[i];
    asm volatile("" : : "r"(to) : "memory");
  });
  return 3 * sizeof(double) * static_cast<double>(n) / seconds;
}

constexpr int rounds = 200'000;
/// Independent multiplications, so many that none waits for the one before.
constexpr int chains = 8;

#if defined(__x86_64__)
/// x = x·factor + term in 8 registers, `rounds` times. Spelled out: without optimisation too, no
/// element of an array is a register.
#define HOM_MULTIPLY_ADD(name, instructions, Vector, set, multiply_add)                  \
  __attribute__((target(instructions))) void name() {                                    \
    Vector a = set(1), b = a, c = a, d = a, e = a, f = a, g = a, h = a;                  \
    const Vector factor = set(0.999F);                                                   \
    const Vector term = set(0.001F);                                                     \
    for (int round = 0; round < rounds; ++round) {                                       \
      a = multiply_add(a, factor, term);                                                 \
      b = multiply_add(b, factor, term);                                                 \
      c = multiply_add(c, factor, term);                                                 \
      d = multiply_add(d, factor, term);                                                 \
      e = multiply_add(e, factor, term);                                                 \
      f = multiply_add(f, factor, term);                                                 \
      g = multiply_add(g, factor, term);                                                 \
      h = multiply_add(h, factor, term);                                                 \
    }                                                                                    \
    asm volatile("" : : "x"(a), "x"(b), "x"(c), "x"(d), "x"(e), "x"(f), "x"(g), "x"(h)); \
  }
HOM_MULTIPLY_ADD(f32_by_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps)
HOM_MULTIPLY_ADD(f64_by_avx512, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd)
HOM_MULTIPLY_ADD(f32_by_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps)
HOM_MULTIPLY_ADD(f64_by_avx2, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd)
#undef HOM_MULTIPLY_ADD
#endif

/// What every compiler makes something of.
template <class T>
void multiply_add() {
  T x[chains * 4];
  std::fill_n(x, std::size(x), T(1));
  for (int round = 0; round < rounds; ++round) {
    for (T& chain : x) chain = chain * T(0.999) + T(0.001);
    asm volatile("" : : "r"(x) : "memory");
  }
}

double flops_per_second(void (*run)(), int lanes) {
  return 2.0 * chains * rounds * lanes / fastest(5, run);
}

MachinePeak measured() {
  MachinePeak peak;
  peak.bytes_per_second = triad_bytes_per_second();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    peak.f32_per_second = flops_per_second(f32_by_avx512, 16);
    peak.f64_per_second = flops_per_second(f64_by_avx512, 8);
    return peak;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    peak.f32_per_second = flops_per_second(f32_by_avx2, 8);
    peak.f64_per_second = flops_per_second(f64_by_avx2, 4);
    return peak;
  }
#endif
  peak.f32_per_second = flops_per_second(multiply_add<float>, 4);
  peak.f64_per_second = flops_per_second(multiply_add<double>, 4);
  return peak;
}

}  // namespace

const MachinePeak& machine_peak() {
  static const MachinePeak peak = measured();
  return peak;
}

}  // namespace hom
