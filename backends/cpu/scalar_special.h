// backends/cpu/scalar_special.h -- special functions of one real number: Γ and its logarithmic
// derivatives, the error function's complement and inverses
//
// All are computed in f64, and rounded once for the narrower dtypes. Formulas are those of
// Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), chapters 6, 7 and 23.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <hom/backends/cpu/scalar_type.h>

namespace hom::scalar {
namespace special {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double pi = std::numbers::pi;
inline constexpr double inv_sqrtpi = std::numbers::inv_sqrtpi;

template <std::size_t n>
double polynomial(double x, const std::array<double, n>& coefficients) {
  double sum = 0;
  for (std::size_t i = n; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// ---- Γ ----

/// log |Γ(x)|; +∞ at the poles and at both infinities.
inline double lgamma(double x) {
  int sign = 0;  // not the global one of std::lgamma, which threads would race for
  return ::lgamma_r(x, &sign);
}

/// ψ on [1, 2], as its Taylor series around the root: near the root it is relatively exact.
inline double digamma_near_root(double x) {
  constexpr double root = 0x1.762d86356be3fp+0;
  constexpr double rest_of_root = 0x1.b86a722197829p-54;
  // (−1)^(k+1) ζ(k + 1, root) for k = 1, 2, …
  constexpr std::array<double, 38> coefficients{
      0.9676722454476212,      -0.4427631689835921,     0.258499760955651,
      -0.16394270544240652,    0.10782405069126237,     -0.07219956125645471,
      0.04880428816414311,     -0.03316112647484736,    0.022597648232218104,
      -0.01542476590494896,    0.010538791616612175,    -0.007204534386356869,
      0.004926781395729853,    -0.003369801655439328,   0.002305126326734928,
      -0.0015769367714301972,  0.0010788252019162967,   -0.0007380709389960052,
      0.000504953265834602,    -0.0003454680251063077,  0.00023635601564027053,
      -0.00016170622091974803, 0.0001106337276874741,   -7.569179582195066e-05,
      5.178575795222081e-05,   -3.5430070947659604e-05, 2.424006611860132e-05,
      -1.6584242271854135e-05, 1.134638458466385e-05,   -7.762817668462094e-06,
      5.3110609208898636e-06,  -3.6336507898010456e-06, 2.486022733129538e-06,
      -1.7008538854332607e-06, 1.1636675363548843e-06,  -7.96142543124197e-07,
      5.446941930669446e-07,   -3.7266161283438227e-07};
  const double distance = (x - root) - rest_of_root;
  return distance * polynomial(distance, coefficients);
}

/// ψ for positive x: ψ(x + 1) = ψ(x) + 1/x leads to [1, 2], or to the asymptotic series (6.3.18).
inline double digamma_positive(double x) {
  if (x < 1) return digamma_near_root(x + 1) - 1 / x;
  if (x < 10) {
    double sum = 0;
    while (x > 2) {
      x -= 1;
      sum += 1 / x;
    }
    return sum + digamma_near_root(x);
  }
  // B₂ₖ/2k
  constexpr std::array<double, 9> series{
      0.08333333333333333,   -0.008333333333333333, 0.003968253968253968,
      -0.004166666666666667, 0.007575757575757576,  -0.021092796092796094,
      0.08333333333333333,   -0.4432598039215686,   3.0539543302701198};
  const double y = 1 / (x * x);
  return std::log(x) - (0.5 / x + y * polynomial(y, series));
}

/// (log Γ)′(x). ψ(±0) = ∓∞; NaN at the other poles and at −∞.
inline double digamma(double x) {
  if (x > 0) return x == infinity ? x : digamma_positive(x);
  if (x == 0) return std::copysign(infinity, -x);
  const double to_pole = x - std::round(x);
  if (to_pole == 0 || !(x > -infinity)) return not_a_number;
  return digamma_positive(1 - x) - pi / std::tan(pi * to_pole);
}

/// x^(s−1)·ζ(s, x) with Hurwitz' ζ(s, x) = Σ (x + k)^−s, for x > 0 and s = 2, 3, …, by
/// Euler and Maclaurin's summation (23.2.7 and 3.6.28).
inline double scaled_zeta(double s, double x) {
  // B₂ⱼ/(2j)!
  constexpr std::array<double, 15> bernoulli{
      0.08333333333333333,    -0.001388888888888889,   3.306878306878307e-05,
      -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
      1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
      -2.174868698558062e-16, 5.5090028283602295e-18,  -1.3954464685812522e-19,
      3.5347070396294675e-21, -8.953517427037546e-23,  2.2679524523376833e-24};
  double sum = 0;
  double a = x;
  const double enough = std::max(10.0, s);
  for (; a < enough; a += 1) sum += std::pow(x / a, s) / x;
  double tail = a / (s - 1) + 0.5;
  double rising = s / a;  // s (s + 1) … (s + 2j − 2) / a^(2j−1)
  for (std::size_t j = 0; j < bernoulli.size(); ++j) {
    const double term = bernoulli[j] * rising;
    tail += term;
    if (std::fabs(term) < 1e-17 * tail) break;
    const double k = s + 2 * static_cast<double>(j);
    rising *= (k + 1) * (k + 2) / (a * a);
  }
  return sum + std::pow(x / a, s) / x * tail;
}

/// |ψ⁽ⁿ⁾(x)| = n!·ζ(n + 1, x) for n ≥ 1 and x > 0 (6.4.10).
inline double polygamma_magnitude(double n, double x) {
  if (x == infinity) return 0;
  if (x == 0) return infinity;
  const double zeta = scaled_zeta(n + 1, x);
  // Beyond, n! or the power may leave the range though their product does not.
  if (n <= 30) return std::tgamma(n + 1) * std::pow(x, -n) * zeta;
  return std::exp(lgamma(n + 1) - n * std::log(x) + std::log(zeta));
}

/// ψ⁽ⁿ⁾(x), the derivative n + 1 of log Γ. At the poles +∞ for odd n, where both sides agree; for
/// even n, ∓∞ at ±0 and else NaN.
inline double polygamma(std::int64_t order, double x) {
  if (order == 0) return digamma(x);
  const auto n = static_cast<double>(order);
  const bool is_odd = order % 2 != 0;
  const double sign = is_odd ? 1 : -1;
  if (x > 0) return sign * polygamma_magnitude(n, x);
  if (x == 0) return is_odd ? infinity : std::copysign(infinity, -x);
  const double to_pole = x - std::round(x);
  if (!(x > -infinity)) return not_a_number;
  if (to_pole == 0) return is_odd ? infinity : not_a_number;
  // Σ over all integers, less those behind x. The distances to the neighbouring poles are exact
  // where they are small.
  const double below = to_pole > 0 ? to_pole : 1 + to_pole;
  const double above = to_pole > 0 ? 1 - to_pole : -to_pole;
  const double left = polygamma_magnitude(n, below);
  const double right = polygamma_magnitude(n, above);
  const double behind = polygamma_magnitude(n, 1 - x);
  // What cancels comes first.
  return is_odd ? left + (right - behind) : -((left - right) + behind);
}

// ---- the error function ----

/// e^(x²)·erfc(x)
inline double erfcx(double x) {
  if (x < 10) {
    const double square = x * x;
    const double rest = std::fma(x, x, -square);
    const double power = std::exp(square);
    return power == infinity ? power : power * std::erfc(x) * (1 + rest);
  }
  // 1/(x√π)·Σ (−1)ᵏ (2k − 1)!!/(2x²)ᵏ (7.1.23)
  const double y = 0.5 / (x * x);
  double sum = 1;
  for (int k = 15; k > 0; --k) sum = 1 - (2 * k - 1) * y * sum;
  return inv_sqrtpi / x * sum;
}

/// The inverse of erf for |x| ≤ 1/2: its series, then two of Halley's steps.
inline double erf_inv_of_half(double x) {
  const double square = x * x;
  double y = x * (0.886226925452758 +
                  square * (0.2320136665346544 +
                            square * (0.12755617530559793 + square * 0.08655212924154753)));
  for (int step = 0; step < 2; ++step) {
    const double newton = (std::erf(y) - x) * std::exp(y * y) / (2 * inv_sqrtpi);
    y -= newton / (1 + y * newton);
  }
  return y;
}

/// The inverse of erfc for p ≤ 1/2: Newton's steps on log erfc, which is nearly a parabola.
inline double erfc_inv_of_tail(double p) {
  const double target = -std::log(p);
  double y = std::sqrt(std::max(target - 0.5 * std::log(pi * target), 0.2));
  for (int step = 0; step < 8; ++step) {
    const double scaled = erfcx(y);
    const double newton = (std::log(scaled) + (target - y * y)) * scaled / (2 * inv_sqrtpi);
    y += newton;
    if (std::fabs(newton) < 1e-9 * y) break;  // the next one would be below rounding
  }
  return y;
}

/// The y with erfc(y) = p; ±∞ at 0 and 2, NaN outside.
inline double erfc_inv(double p) {
  if (!(p >= 0 && p <= 2)) return not_a_number;
  if (p == 0) return infinity;
  if (p == 2) return -infinity;
  if (p >= 0.5 && p <= 1.5) return erf_inv_of_half(1 - p);
  return p < 1 ? erfc_inv_of_tail(p) : -erfc_inv_of_tail(2 - p);
}

/// The y with erf(y) = x; ±∞ at ±1, NaN outside.
inline double erf_inv(double x) {
  if (std::fabs(x) <= 0.5) return erf_inv_of_half(x);
  return std::copysign(erfc_inv(1 - std::fabs(x)), x);
}

/// A function on f64, for every dtype of floats.
template <double (*function)(double)>
struct InDouble {
  template <Float T>
  T operator()(T x) const {
    return static_cast<T>(function(static_cast<double>(x)));
  }
};

}  // namespace special

using Lgamma = special::InDouble<special::lgamma>;
using Erfcx = special::InDouble<special::erfcx>;
using ErfInv = special::InDouble<special::erf_inv>;
using ErfcInv = special::InDouble<special::erfc_inv>;

/// ψ⁽ⁿ⁾
struct Polygamma {
  template <Float T>
  T operator()(std::int64_t n, T x) const {
    return static_cast<T>(special::polygamma(n, static_cast<double>(x)));
  }
};

}  // namespace hom::scalar
