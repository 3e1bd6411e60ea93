// core/primitives/special.cc -- special functions with an order: polygamma, and how numbers of the
// gamma distribution move with its parameter
#include <hom/core/operations/special.h>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

std::vector<TensorType> polygamma_type(const Typing& typing) {
  const std::int64_t n = typing.attributes.integer("n");
  typing.require(n >= 0, [&] {
    return Complaint{"polygamma: there is no derivative of order " + std::to_string(n) + " of ψ",
                     "polygamma(0, x) is digamma(x)"};
  });
  return same_type(typing);
}

std::vector<TensorType> slope_type(const Typing& typing) {
  const std::int64_t k = typing.attributes.integer("k");
  typing.require(1 <= k && k < 32, [&] {
    return Complaint{"log_gamma_slope: the order is " + std::to_string(k) + ", not 1 … 31"};
  });
  return same_type(typing);
}

/// B_k of κ = t − ψ(α), −ψ′(α), …: ∂ᵏq/∂αᵏ = q·B_k for the density q of t (scalar_gamma.h).
Tensor bell_polynomial(std::int64_t k, const Tensor& alpha, const Tensor& t) {
  std::vector<Tensor> cumulants;
  for (std::int64_t i = 0; i < k; ++i) {
    const Tensor psi = polygamma(i, alpha);
    cumulants.push_back(i == 0 ? t - psi : -psi);
  }
  std::vector<Tensor> b{ones_like(t)};
  for (std::size_t n = 0; n < cumulants.size(); ++n) {
    double binomial = 1;
    Tensor next = n == 0 ? cumulants[0] : b[n] * cumulants[0];
    for (std::size_t i = 1; i <= n; ++i) {
      binomial *= static_cast<double>(n - i + 1) / static_cast<double>(i);
      next = next + binomial * (i == n ? cumulants[i] : b[n - i] * cumulants[i]);
    }
    b.push_back(next);
  }
  return b.back();
}

std::vector<Tensor> derivative_of_slope(const Linearizing& at) {
  const std::int64_t k = at.attributes.integer("k");
  const Tensor& alpha = at.x[0];
  const Tensor& t = at.x[1];
  Tensor dy;
  if (!at.dx[0].is_empty()) {
    const Tensor next = log_gamma_slope(k + 1, alpha, t);
    dy = scale(next - at.y[0] * (t - digamma(alpha)), at.dx[0]);
  }
  if (!at.dx[1].is_empty()) {
    const Tensor bell = bell_polynomial(k, alpha, t);
    const Tensor part = scale(at.y[0] * (exp(t) - alpha) - bell, at.dx[1]);
    dy = dy.is_empty() ? part : dy + part;
  }
  return {dy};
}

}  // namespace

void add_special_primitives(PrimitiveTable& table) {
  table.add({.name = "polygamma",
             .attributes = {{"n", AttributeSpec::Kind::integer}},
             .dtypes = floats,
             .type = polygamma_type,
             .derivative =
                 [](const Linearizing& at) {
                   const Tensor slope = polygamma(at.attributes.integer("n") + 1, at.x[0]);
                   return std::vector{scale(slope, at.dx[0])};
                 },
             .batch = batch_elementwise,
             .shapes = "s → s",
             .formula = "ψ⁽ⁿ⁺¹⁾(x) · dx"});
  table.add({.name = "log_gamma_slope",
             .min_operands = 2,
             .max_operands = 2,
             .attributes = {{"k", AttributeSpec::Kind::integer}},
             .dtypes = floats,
             .type = slope_type,
             .derivative = derivative_of_slope,
             .batch = batch_elementwise,
             .cost_factor = 24,  // for k up to 3; Bell polynomials have about k² terms
             .shapes = "s, s → s",
             .formula = "(G₍ₖ₊₁₎ − (t − ψ α)·Gₖ) · dα + ((eᵗ − α)·Gₖ − Bₖ) · dt"});
}

}  // namespace hom
