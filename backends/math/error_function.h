// backends/math/error_function.h -- erf, erfc and erfcx
//
// Near 0 a polynomial in x²; elsewhere (1 + 2x)·e^{x²}·erfc x as a polynomial in
// (x − 3.75)/(x + 3.75), for all x ≥ 0 (M. M. Shepherd and J. G. Laframboise, "Chebyshev
// approximation of (1 + 2x) exp(x²) erfc x", 1981).
#pragma once

#include <hom/backends/math/exponential.h>

namespace hom::math {

/// e^{x²}·erfc x for x ≥ 0.
template <class N>
HOM_MATH N scaled_erfc(const N& x) {
  const N centre = like(x, 3.75);
  const N t = (x - centre) / (x + centre);
  const N p = polynomial(t, coefficients::erfc_scaled_f32, coefficients::erfc_scaled_f64);
  return p / fma(x, like(x, 2), like(x, 1));
}

/// e^{−x²}·factor for x ≥ 0, with the digits that x² loses.
template <class N>
HOM_MATH N times_exp_of_minus_square(const N& factor, const N& x) {
  const Pair<N> square = exact_product(x, x);
  const Pair<N> power = exp_in_two(like(x, 0) - square.high);
  const N low = fma(power.high, like(x, 0) - square.low, power.low);
  return fma(power.high, factor, low * factor);
}

/// erf x for |x| < 1.
template <class N>
HOM_MATH N erf_near_zero(const N& x) {
  constexpr double beyond_one = 0x1.06eba8214db69p-3;  // 2/√π − 1
  const N z = x * x;
  const N rest = polynomial(z, coefficients::erf_rest_f32, coefficients::erf_rest_f64);
  return fma(x, fma(z, rest, like(x, beyond_one)), x);
}

/// Less than 1.5 ulp off.
template <class N>
HOM_MATH N erf(const N& x) {
  const N size = abs(x);
  const N most = like(x, pick<N>(5.0f, 7.0));
  const N inside = select(size > most, most, size);
  const N large = like(x, 1) - times_exp_of_minus_square(scaled_erfc(inside), inside);
  return select(size < like(x, 1), erf_near_zero(x), copysign(large, x));
}

/// Less than 4 ulp off.
template <class N>
HOM_MATH N erfc(const N& x) {
  const N size = abs(x);
  const N most = like(x, pick<N>(12.0f, 28.0));
  const N inside = select(size > most, most, size);
  const N tail = times_exp_of_minus_square(scaled_erfc(inside), inside);
  const N large = select(x < like(x, 0), like(x, 2) - tail, tail);
  const N small = like(x, 1) - erf_near_zero(x);
  return select(size < like(x, 0.5), small, large);
}

}  // namespace hom::math
