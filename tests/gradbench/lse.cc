// tests/gradbench/lse.cc -- log Σ eˣ
#include <hom/tests/gradbench/lse.h>

#include <cmath>

namespace hom::gradbench {

Workload lse(const Records& in) {
  const auto f = [](const Tensor& x) { return logsumexp(x); };
  const Tensor x = in["x"];

  const auto by_hand = [v = x.to_vector()] {
    double largest = v[0];
    for (double value : v) largest = std::max(largest, value);
    double total = 0;
    for (double value : v) total += std::exp(value - largest);
    return std::vector{std::log(total) + largest};
  };

  return {.primal = prepared(f, x),
          .gradient = prepared(grad(f), x),
          .by_hand = by_hand,
          .named = [](const Results& primal, const Results& gradient) {
            return joined(name_in_order({"primal"}, primal), name_in_order({"gradient"}, gradient));
          }};
}

}  // namespace hom::gradbench
