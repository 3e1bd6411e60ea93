// categories/additive.cc -- sums of tensors, factor by factor
#include <hom/categories/additive.h>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom::categories {

Additive::Arrow Additive::join(const Arrow& f, const Arrow& g) const {
  ensure(f.codomain == g.codomain, "join: f and g have one codomain");
  const auto split = static_cast<std::ptrdiff_t>(f.domain.size());
  return {product(f.domain, g.domain), f.codomain,
          [split, f = f.function, g = g.function](const Tensors& x) {
            Tensors sum = f({x.begin(), x.begin() + split});
            const Tensors second = g({x.begin() + split, x.end()});
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + second[i];
            return sum;
          }};
}

Additive::Arrow Additive::inject(const Environment& a, const Positions& positions) const {
  return {factors(a, positions), a, [a, positions](const Tensors& x) {
            Tensors sums(a.size());
            for (std::size_t i = 0; i < positions.size(); ++i) {
              Tensor& sum = sums[positions[i]];
              sum = sum.is_empty() ? x[i] : sum + x[i];
            }
            for (std::size_t i = 0; i < sums.size(); ++i) {
              if (sums[i].is_empty()) sums[i] = zeros(a[i]);
            }
            return sums;
          }};
}

Additive::Arrow Additive::scale(const Tensor& factor) const {
  const Environment a{factor.type()};
  return {a, a, [factor](const Tensors& x) { return Tensors{factor * x[0]}; }};
}

Additive::Arrow Additive::primitive(const Operation& operation) const {
  if (const std::string reason = why_not_linear(operation); !reason.empty())
    fail_operation(name(), operation, reason);
  return Functions<Arrays>::primitive(operation);
}

}  // namespace hom::categories
