// tests/unit/custom_rule_support.h -- a function with a rule of its own against an oracle: values
// and derivatives
#pragma once

#include "transformation_support.h"

namespace hom::testing {

struct Pair {
  BOOST_HANA_DEFINE_STRUCT(Pair, (Tensor, a), (Tensor, b));
};

/// log(1 + eˣ), with a derivative that does not overflow.
inline const auto log1pexp =
    custom_jvp([](Tensor x) { return log(1 + exp(x)); },
               [](Tensor x, Tensor, Tensor dx) { return dx / (1 + exp(-x)); });

/// Number of steps of a primitive, in programs inside too.
inline std::size_t count(const Program& p, const std::string& name) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < p.step_count(); ++i) {
    found += p.step(i).primitive.name == name;
    for (const auto& [key, attribute] : p.step(i).attributes) {
      if (const auto* inner = std::get_if<ProgramPtr>(&attribute.value))
        found += count(**inner, name);
    }
  }
  return found;
}

/// A function of a vector equals another one, with its derivatives up to the second in all orders
/// of the two modes, batches of them, and the text of its programs.
template <class F, class G>
void expect_same(const F& f, const G& oracle, const Tensor& x, double tolerance = 1e-10) {
  const auto scalar = [](const auto& h) { return [h](Tensor t) { return sum(sin(h(t))); }; };
  const auto directional = [](const auto& h) {
    return [h](Tensor t) { return jvp(h)(t, cos(t) + 0.3).second; };
  };
  const auto a = scalar(f);
  const auto b = scalar(oracle);
  expect_near(f(x), oracle(x), tolerance);
  expect_equal(evaluate(program(f, x), {x})[0], f(x));
  expect_near(grad(a)(x), grad(b)(x), tolerance);
  expect_near(directional(f)(x), directional(oracle)(x), tolerance);
  expect_near(jacobian(f, Mode::forward)(x), jacobian(oracle)(x), tolerance);
  expect_near(jacobian(f, Mode::reverse)(x), jacobian(oracle)(x), tolerance);
  expect_near(hessian(a)(x), hessian(b)(x), tolerance);
  expect_near(grad(scalar(grad(a)))(x), grad(scalar(grad(b)))(x), tolerance);
  expect_near(grad(directional(a))(x), grad(directional(b))(x), tolerance);
  expect_near(directional(directional(a))(x), directional(directional(b))(x), tolerance);
  expect_near(grad(scalar(grad(scalar(grad(a)))))(x), grad(scalar(grad(scalar(grad(b)))))(x),
              100 * tolerance);
  const Tensor batch = stack({x, 0.5 * x, x + 0.1});
  expect_near(vmap(f)(batch), rows(oracle, batch), tolerance);
  expect_near(vmap(grad(a))(batch), rows(grad(b), batch), tolerance);
  expect_near(grad([&](Tensor t) { return sum(vmap(a)(t)); })(batch), rows(grad(b), batch),
              tolerance);
  expect_near(vmap(hessian(a))(batch), rows(hessian(b), batch), tolerance);
  expect_near(vmap(vmap(f))(stack({batch, -batch})),
              stack({rows(oracle, batch), rows(oracle, -batch)}), tolerance);
  EXPECT_TRUE(check_derivatives(f, x).ok()) << check_derivatives(f, x);
  for (const Program& p : {program(f, x), program(grad(a), x), program(vmap(grad(a)), batch)})
    EXPECT_EQ(parse_program(to_text(p), captured_tensors(p)), p);
}

}  // namespace hom::testing
