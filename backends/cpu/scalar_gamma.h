// backends/cpu/scalar_gamma.h -- how numbers of the gamma distribution move with its parameter
//
// Let t = log x for x of density x^(α−1)e^−x/Γ(α), with density q and distribution function F. A
// number keeps its rank where dt/dα = −F_α/q. With κ = t − ψ(α) the k-th derivative of F in α is
// an integral of q·B_k, where B_1 = κ, B_2 = κ² − ψ′(α), … are complete Bell polynomials in κ,
// −ψ′(α), −ψ″(α), …; divided by q(t) its integrand is e^φ·B_k with a concave φ and φ(0) = 0.
#pragma once

#include <algorithm>
#include <vector>

#include <hom/backends/cpu/scalar_special.h>

namespace hom::scalar {
namespace special {

/// An integral, and that of the absolute value.
struct Integral {
  double sum = 0;
  double magnitude = 0;

  friend Integral operator+(const Integral& a, const Integral& b) {
    return {a.sum + b.sum, a.magnitude + b.magnitude};
  }
};

/// Gauss and Legendre's rule with 16 points.
template <class F>
Integral gauss(const F& f, double from, double to) {
  constexpr std::array<double, 8> nodes{0.09501250983763745, 0.2816035507792589, 0.4580167776572274,
                                        0.6178762444026438,  0.755404408355003,  0.8656312023878318,
                                        0.9445750230732326,  0.9894009349916499};
  constexpr std::array<double, 8> weights{
      0.18945061045506864, 0.18260341504492367, 0.16915651939500254, 0.14959598881657674,
      0.12462897125553388, 0.09515851168249285, 0.06225352393864788, 0.027152459411754058};
  const double middle = 0.5 * (from + to);
  const double half = 0.5 * (to - from);
  Integral result;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double low = f(middle - half * nodes[i]);
    const double high = f(middle + half * nodes[i]);
    result.sum += half * weights[i] * (low + high);
    result.magnitude += half * weights[i] * (std::fabs(low) + std::fabs(high));
  }
  return result;
}

/// The same by halves, until halves say what the whole said.
template <class F>
Integral integrate(const F& f, double from, double to, const Integral& whole, double tolerance,
                   int depth) {
  const double middle = 0.5 * (from + to);
  const Integral left = gauss(f, from, middle);
  const Integral right = gauss(f, middle, to);
  const Integral both = left + right;
  if (depth == 0 || !(std::fabs(both.sum - whole.sum) > tolerance)) return both;
  return integrate(f, from, middle, left, tolerance, depth - 1) +
         integrate(f, middle, to, right, tolerance, depth - 1);
}

/// B_k of κ and the cumulants behind it: B_(n+1) = Σ (n over i) B_(n−i) κ_(i+1).
class BellPolynomial {
 public:
  BellPolynomial(std::int64_t k, double alpha) : psi_(digamma(alpha)) {
    for (std::int64_t i = 1; i < k; ++i) cumulants_.push_back(-polygamma(i, alpha));
  }

  double psi() const { return psi_; }
  double operator()(double t) const {
    std::array<double, 32> b{1};
    const std::size_t k = cumulants_.size() + 1;
    for (std::size_t n = 0; n < k; ++n) {
      double binomial = 1;
      b[n + 1] = b[n] * (t - psi_);
      for (std::size_t i = 1; i <= n; ++i) {
        binomial *= static_cast<double>(n - i + 1) / static_cast<double>(i);
        b[n + 1] += binomial * b[n - i] * cumulants_[i - 1];
      }
    }
    return b[k];
  }

 private:
  double psi_;
  std::vector<double> cumulants_;
};

/// −∂ᵏF/∂αᵏ / q at α and t, for 1 ≤ k < 32: an integral over what is smaller, or with the other
/// sign over what is larger, whichever has all terms of one sign for k = 1. NaN unless α > 0.
inline double log_gamma_slope(std::int64_t k, double alpha, double t) {
  if (!(alpha > 0 && alpha < infinity) || t != t) return not_a_number;
  if (t == infinity) return 0;
  const BellPolynomial bell(k, alpha);
  const bool below = t < bell.psi();
  if (t == -infinity) return k == 1 ? infinity : not_a_number;
  const double x = std::exp(t);
  const auto exponent = [&](double u) {
    if (below) return -alpha * u - x * std::expm1(-u);
    return alpha * u - (u < 30 ? x * std::expm1(u) : std::exp(t + u) - x);
  };
  const auto integrand = [&](double u) {
    return std::exp(exponent(u)) * (below ? -bell(t - u) : bell(t + u));
  };
  constexpr double negligible = -45;
  double end = 1;
  while (exponent(end) > negligible && end < 1e300) end *= 2;
  while (exponent(end / 2) < negligible && end > 1e-300) end /= 2;
  const Integral whole = gauss(integrand, 0, end);
  return integrate(integrand, 0, end, whole, 1e-11 * whole.magnitude, 24).sum;
}

}  // namespace special

struct LogGammaSlope {
  template <Float T>
  T operator()(std::int64_t k, T alpha, T t) const {
    return static_cast<T>(
        special::log_gamma_slope(k, static_cast<double>(alpha), static_cast<double>(t)));
  }
};

}  // namespace hom::scalar
