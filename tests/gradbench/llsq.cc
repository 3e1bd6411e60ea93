// tests/gradbench/llsq.cc -- a polynomial by Horner's rule at all places at once
#include <hom/tests/gradbench/llsq.h>

namespace hom::gradbench {

Workload llsq(const Records& in) {
  const auto f = [n = in.integer("n")](const Tensor& x) {
    const Tensor t = -1.0 + 2.0 * arange(n, f64) / (static_cast<double>(n) - 1.0);
    const auto horner = [&](const Tensor& so_far, const Tensor& coefficient) {
      return std::pair{so_far * t + coefficient, std::tuple<>()};
    };
    const Tensor polynomial = scan(horner, zeros({n}), x, {.reverse = true}).first;
    return 0.5 * sum(square(sign(t) - polynomial));
  };
  const Tensor x = in["x"];

  const auto by_hand = [n = in.integer("n"), coefficients = x.to_vector()] {
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double t = -1 + 2 * static_cast<double>(i) / (static_cast<double>(n) - 1);
      double rest = t > 0 ? 1 : t < 0 ? -1 : 0;
      double power = 1;
      for (double coefficient : coefficients) {
        rest -= coefficient * power;
        power *= t;
      }
      total += rest * rest;
    }
    return std::vector{0.5 * total};
  };

  return {.primal = prepared(f, x),
          .gradient = prepared(grad(f), x),
          .by_hand = by_hand,
          .named = [](const Results& primal, const Results& gradient) {
            return joined(name_in_order({"primal"}, primal), name_in_order({"gradient"}, gradient));
          }};
}

}  // namespace hom::gradbench
