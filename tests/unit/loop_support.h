// tests/unit/loop_support.h -- a loop against an oracle: values and derivatives
#pragma once

#include "transformation_support.h"

namespace hom::testing {

struct State {
  BOOST_HANA_DEFINE_STRUCT(State, (Tensor, position), (Tensor, velocity));
};

/// The sums of the first elements of x, by a scan along its first axis.
inline Tensor sums_by_scan(const Tensor& x, const ScanOptions& options = {}) {
  return scan([](Tensor sum, Tensor t) { return std::pair{sum + t, sum + t}; },
              zeros_like(sum(x, 0)), x, options)
      .second;
}

/// f eagerly, and as a program: which must agree bit for bit, and survive its text.
template <class F>
void expect_value(const F& f, const Tensor& x, const Tensor& want) {
  expect_near(f(x), want);
  const Program p = program(f, x);
  expect_equal(evaluate(p, {x})[0], f(x));
  EXPECT_EQ(parse_program(to_text(p), captured_tensors(p)), p);
  expect_equal(evaluate(parse_program(to_text(p), captured_tensors(p)), {x})[0], f(x));
}

/// The first three derivatives of a function of one number, in every order of the two modes, equal
/// those of another one.
template <class F, class G>
void expect_same_derivatives(const F& f, const G& oracle, double x, double tolerance = 1e-9) {
  const auto forward = [](auto h) { return [h](Tensor t) { return jvp(h)(t, 1.0).second; }; };
  const auto reverse = [](auto h) { return grad(h); };
  const double first = grad(oracle)(x).item();
  const double second = grad(grad(oracle))(x).item();
  const double third = grad(grad(grad(oracle)))(x).item();
  EXPECT_NEAR(f(Tensor(x)).item(), oracle(Tensor(x)).item(), tolerance);
  EXPECT_NEAR(reverse(f)(x).item(), first, tolerance);
  EXPECT_NEAR(forward(f)(Tensor(x)).item(), first, tolerance);
  EXPECT_NEAR(reverse(reverse(f))(x).item(), second, tolerance);
  EXPECT_NEAR(reverse(forward(f))(x).item(), second, tolerance);
  EXPECT_NEAR(forward(reverse(f))(Tensor(x)).item(), second, tolerance);
  EXPECT_NEAR(forward(forward(f))(Tensor(x)).item(), second, tolerance);
  EXPECT_NEAR(reverse(reverse(reverse(f)))(x).item(), third, tolerance);
  EXPECT_NEAR(forward(reverse(reverse(f)))(Tensor(x)).item(), third, tolerance);
  EXPECT_NEAR(reverse(forward(reverse(f)))(x).item(), third, tolerance);
  EXPECT_NEAR(reverse(reverse(forward(f)))(x).item(), third, tolerance);
  EXPECT_NEAR(forward(forward(forward(f)))(Tensor(x)).item(), third, tolerance);
}

}  // namespace hom::testing
