// tests/gradbench/gmm.cc -- triangular products of all points with all components at once
#include <hom/tests/gradbench/gmm.h>

#include <cmath>
#include <numbers>

namespace hom::gradbench {
namespace {

/// Rows and columns of the entries below the diagonal, column by column.
std::pair<Tensor, Tensor> below_diagonal(std::int64_t d) {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
  for (std::int64_t j = 0; j < d; ++j) {
    for (std::int64_t i = j + 1; i < d; ++i) {
      rows.push_back(i);
      columns.push_back(j);
    }
  }
  return {tensor(rows), tensor(columns)};
}

/// C of the prior, which depends on sizes alone.
double log_normalisation(std::int64_t d, double m, double gamma) {
  const double n = static_cast<double>(d) + m + 1;
  double log_gamma = static_cast<double>(d * (d - 1)) / 4 * std::log(std::numbers::pi);
  for (std::int64_t j = 1; j <= d; ++j)
    log_gamma += std::lgamma((n + 1 - static_cast<double>(j)) / 2);
  return n * static_cast<double>(d) * (std::log(gamma) - 0.5 * std::log(2)) - log_gamma;
}

struct LogPosterior {
  double m;
  double gamma;

  Tensor operator()(const Mixture& p, const Tensor& x) const {
    const std::int64_t n = x.extent(0);
    const std::int64_t d = x.extent(1);
    const std::int64_t k = p.alpha.extent(0);
    const auto [rows, columns] = below_diagonal(d);
    // Q [k, d, d]
    Tensor Q = expand_dims(exp(p.q), 2) * eye(d);
    Q.at(all, rows, columns) = p.l;
    const Tensor s = sum(p.q, 1);
    // y [k, n, d]: row i of component c is Q_c (x_i − μ_c).
    const Tensor centred = x - expand_dims(p.mu, 1);
    const Tensor y = matmul(centred, swap_axes(Q, 1, 2));
    const Tensor beta = expand_dims(p.alpha + s, 1) - 0.5 * sum(square(y), 2);
    const Tensor prior = gamma * gamma / 2 * sum(square(Q)) - m * sum(s);
    const double constant = -static_cast<double>(n * d) / 2 * std::log(2 * std::numbers::pi) +
                            static_cast<double>(k) * log_normalisation(d, m, gamma);
    return constant - n * logsumexp(p.alpha) + sum(logsumexp(beta, 0)) - prior;
  }
};

double log_sum_exp(const std::vector<double>& v) {
  double largest = v[0];
  for (double x : v) largest = std::max(largest, x);
  double total = 0;
  for (double x : v) total += std::exp(x - largest);
  return largest + std::log(total);
}

}  // namespace

Workload gmm(const Records& in) {
  const LogPosterior f{in["m"].item(), in["gamma"].item()};
  const Mixture p{in["alpha"], in["mu"], in["q"], in["l"]};
  const Tensor x = in["x"];

  const auto by_hand = [f, n = x.extent(0), d = x.extent(1), k = p.alpha.extent(0),
                        alpha = p.alpha.to_vector(), mu = p.mu.to_vector(), q = p.q.to_vector(),
                        l = p.l.to_vector(), points = x.to_vector()] {
    double total = -static_cast<double>(n * d) / 2 * std::log(2 * std::numbers::pi) +
                   static_cast<double>(k) * log_normalisation(d, f.m, f.gamma) -
                   static_cast<double>(n) * log_sum_exp(alpha);
    std::vector<double> diagonal;
    for (double value : q) diagonal.push_back(std::exp(value));
    std::vector<double> sums(static_cast<std::size_t>(k), 0);
    for (std::int64_t c = 0; c < k; ++c) {
      for (std::int64_t j = 0; j < d; ++j) sums[c] += q[c * d + j];
    }
    std::vector<double> beta(static_cast<std::size_t>(k));
    std::vector<double> y(static_cast<std::size_t>(d));
    const std::int64_t below = d * (d - 1) / 2;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t c = 0; c < k; ++c) {
        for (std::int64_t j = 0; j < d; ++j)
          y[j] = diagonal[c * d + j] * (points[i * d + j] - mu[c * d + j]);
        const double* entry = l.data() + c * below;
        for (std::int64_t j = 0; j < d; ++j) {
          const double centred = points[i * d + j] - mu[c * d + j];
          for (std::int64_t r = j + 1; r < d; ++r) y[r] += *entry++ * centred;
        }
        double norm = 0;
        for (double value : y) norm += value * value;
        beta[c] = alpha[c] + sums[c] - 0.5 * norm;
      }
      total += log_sum_exp(beta);
    }
    double frobenius = 0;
    for (double value : diagonal) frobenius += value * value;
    for (double value : l) frobenius += value * value;
    total -= f.gamma * f.gamma / 2 * frobenius;
    for (double value : sums) total += f.m * value;
    return std::vector{total};
  };

  return {.primal = prepared(f, p, x),
          .gradient = prepared(grad(f), p, x),
          .by_hand = by_hand,
          .named = [](const Results& primal, const Results& gradient) {
            return joined(name_in_order({"objective"}, primal),
                          name_in_order({"alpha", "mu", "q", "l"}, gradient));
          }};
}

}  // namespace hom::gradbench
