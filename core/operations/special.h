// core/operations/special.h -- special functions: the logarithm of Γ and its derivatives, the
// complement and the inverses of the error function, the normal distribution
//
// Elementwise on floats, [shape] → [shape]; an integer or bool tensor is an `Error` that says
// astype. They are computed in f64 to a few units in the last place (near roots on the negative
// axis to that of the terms that cancel there), and rounded once for narrower dtypes. Derivatives
// of every order exist.
#pragma once

#include <cstdint>

#include <hom/core/tensor.h>

namespace hom {

/// log |Γ(x)|; +∞ at 0, −1, −2, …
Tensor lgamma(const Operand& x);
/// ψ(x) = (log Γ)′(x); ψ(±0) = ∓∞, NaN at −1, −2, …
Tensor digamma(const Operand& x);
/// ψ⁽ⁿ⁾(x), n = 0 being digamma. At the poles +∞ for odd n, and as ψ for even n. To 1e-12 relative
/// for n > 30. Throws for a negative n.
Tensor polygamma(std::int64_t n, const Operand& x);

/// 1 − erf(x), accurate where that would be 0.
Tensor erfc(const Operand& x);
/// e^(x²)·erfc(x), which does not underflow.
Tensor erfcx(const Operand& x);
/// The y with erf(y) = x; ±∞ at ±1, NaN outside.
Tensor erf_inv(const Operand& x);
/// The y with erfc(y) = x, accurate for tiny x; ±∞ at 0 and 2, NaN outside 0 … 2.
Tensor erfc_inv(const Operand& x);

/// Φ(x), the probability that a standard normal number is at most x: relatively accurate in the
/// lower tail, to x² units in the last place.
Tensor ndtr(const Operand& x);
/// log Φ(x), accurate in both tails.
Tensor log_ndtr(const Operand& x);
/// The x with Φ(x) = p; ∓∞ at 0 and 1, NaN outside.
Tensor ndtri(const Operand& p);

/// −∂ᵏF(t; α)/∂αᵏ / q(t; α), where F is the distribution function of t = log x for x of the gamma
/// distribution with parameter α, and q its density. For k = 1 it is how a number moves with α: the
/// derivative of `log_gamma` (operations/distributions.h). NaN unless α > 0. Operands
/// promote and broadcast. Throws for other k than 1 … 31.
Tensor log_gamma_slope(std::int64_t k, const Operand& alpha, const Operand& t);

}  // namespace hom
