// tests/unit/custom_rules_test.cc -- functions with derivatives of one's own: values, structures,
// both modes, higher orders, batches, and all of them inside each other
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include <hom/categories/linearize.h>
#include <hom/hom.h>

namespace hom {
namespace {

struct Pair {
  BOOST_HANA_DEFINE_STRUCT(Pair, (Tensor, a), (Tensor, b));
};

using Values = std::vector<double>;
Values values(const Tensor& x) { return x.to_vector(); }

Tensor numbers(const Shape& shape, double scale = 0.3) {
  return reshape(sin(arange(element_count(shape), f64) * scale + scale), shape);
}

void expect_equal(const Tensor& got, const Tensor& want) {
  EXPECT_TRUE(array_equal(got, want, true)) << got << "\nnot " << want;
}

void expect_near(const Tensor& got, const Tensor& want, double tolerance = 1e-12) {
  ASSERT_EQ(got.type(), want.type());
  EXPECT_LT(max_or(abs(got - want), 0.0).item(), tolerance) << got << "\nnot " << want;
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}
void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

template <class F>
Tensor rows(const F& f, const Tensor& x) {
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < x.extent(0); ++i) all.push_back(f(x(i)));
  return stack(all);
}

/// Number of steps of a primitive, in programs inside too.
std::size_t count(const Program& p, const std::string& name) {
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

// --- custom_jvp ---

const auto log1pexp = custom_jvp([](Tensor x) { return log(1 + exp(x)); },
                                 [](Tensor x, Tensor, Tensor dx) { return dx / (1 + exp(-x)); });

TEST(CustomJvp, log1pexp_is_stable_where_its_plain_derivative_is_not) {
  EXPECT_EQ(grad(log1pexp)(1000.0).item(), 1);
  EXPECT_EQ(jvp(log1pexp)(1000.0, 2.0).second.item(), 2);
  EXPECT_EQ(grad(log1pexp)(0.0).item(), 0.5);
  EXPECT_EQ(grad(grad(log1pexp))(0.0).item(), 0.25);
  expect_same(log1pexp, [](Tensor x) { return log1p(exp(x)); }, numbers({3}));
}

TEST(CustomJvp, the_rule_is_used_and_no_other) {
  const auto f = custom_jvp([](Tensor x) { return x * x; },
                            [](Tensor, Tensor y, Tensor dx) { return 10 * y * dx; });
  EXPECT_EQ(grad(f)(3.0).item(), 90);
  EXPECT_EQ(jvp(f)(3.0, 1.0).second.item(), 90);
  EXPECT_EQ(vmap(grad(f))(tensor({1.0, 3.0}))(1).item(), 90);
  EXPECT_EQ(fori_loop(0, 1, [&](Tensor, Tensor x) { return grad(f)(x); }, 3.0).item(), 90);
  EXPECT_EQ(grad(checkpoint(f))(3.0).item(), 90);
  EXPECT_EQ(grad(named("f", f))(3.0).item(), 90);
  // The derivative of the rule, in which y is f(x) again.
  EXPECT_EQ(grad(grad(f))(3.0).item(), 900);
}

TEST(CustomJvp, integers_have_empty_tangents) {
  const auto power = custom_jvp([](Tensor x, Tensor n) { return pow(x, n); },
                                [](Tensor x, Tensor n, Tensor, Tensor dx, Tensor dn) {
                                  EXPECT_TRUE(dn.is_empty());
                                  return n * pow(x, n - 1) * dx;
                                });
  EXPECT_EQ(grad(power)(2.0, 3).item(), 12);
  EXPECT_EQ(grad(grad(power))(2.0, 3).item(), 12);
  const auto both = grad(power, wrt<0, 1>)(2.0, 3);
  EXPECT_EQ(std::get<0>(both).item(), 12);
  EXPECT_TRUE(std::get<1>(both).is_empty());
  expect_equal(vmap(grad(power))(tensor({1.0, 2.0}), tensor({2, 3})), tensor({2.0, 12.0}));
  expect_equal(vmap(grad(power), {unmapped, 0})(2.0, tensor({1, 3})), tensor({1.0, 12.0}));
}

TEST(CustomJvp, products_of_arguments_and_of_results_keep_their_structure) {
  const auto f = custom_jvp(
      [](Pair p, std::vector<Tensor> v) {
        return std::tuple{p.a * v[0], argmax(p.b, 0), Pair{sum(p.b) * v[1], v[0]}};
      },
      [](Pair p, std::vector<Tensor> v, std::tuple<Tensor, Tensor, Pair> y, Pair dp,
         std::vector<Tensor> dv) {
        EXPECT_EQ(std::get<1>(y).dtype(), i64);
        return std::tuple{dp.a * v[0] + p.a * dv[0], Tensor(),
                          Pair{sum(dp.b) * v[1] + sum(p.b) * dv[1], dv[0]}};
      });
  const auto plain = [](Pair p, std::vector<Tensor> v) {
    return std::tuple{p.a * v[0], argmax(p.b, 0), Pair{sum(p.b) * v[1], v[0]}};
  };
  const auto scalar = [](const auto& h) {
    return [h](Pair p, std::vector<Tensor> v) {
      const auto [a, i, q] = h(p, v);
      return sin(a) * q.a + q.b * i.astype(f64);
    };
  };
  const Pair p{Tensor(0.7), tensor({0.1, 0.9, 0.3})};
  const std::vector<Tensor> v{Tensor(1.3), Tensor(-0.4)};
  const auto [dp, dv] = grad(scalar(f), wrt<0, 1>)(p, v);
  const auto [wp, wv] = grad(scalar(plain), wrt<0, 1>)(p, v);
  expect_near(dp.a, wp.a);
  expect_near(dp.b, wp.b);
  expect_near(dv[0], wv[0]);
  expect_near(dv[1], wv[1]);
  const auto value_and_tangent = jvp(f)(p, v, p);
  expect_near(std::get<0>(value_and_tangent.second), p.a * v[0]);
  EXPECT_TRUE(std::get<1>(value_and_tangent.second).is_empty());
  expect_near(grad(scalar(f), wrt<1>)(p, v)[0], wv[0]);
}

TEST(CustomJvp, closures_hold_what_does_not_vary) {
  const Tensor w = numbers({3});
  expect_same(
      custom_jvp([&](Tensor x) { return x * w; },
                 [&](Tensor, Tensor, Tensor dx) { return dx * w; }),
      [&](Tensor x) { return x * w; }, numbers({3}, 0.5));
  // Symbols of an outer capture that do not vary, in the function, in the rule, and in both.
  const auto with_outer = [](Tensor a, Tensor x) {
    const Tensor b = exp(a);
    const auto f =
        custom_jvp([&](Tensor t) { return t * t * b; },
                   [&](Tensor t, Tensor, Tensor dt) { return 2 * t * dt * b * cos(a - a); });
    return grad(f)(x);
  };
  expect_near(evaluate(program(with_outer, f64[{}], f64[{}]), {Tensor(0.0), Tensor(3.0)})[0],
              Tensor(6.0));
  expect_near(vmap(with_outer)(tensor({0.0, 1.0}), tensor({3.0, 4.0})),
              tensor({6.0, 8 * std::exp(1.0)}));
  const std::string message = message_of([&] {
    grad([](Tensor a) {
      return custom_jvp([&](Tensor x) { return x * a; },
                        [&](Tensor, Tensor, Tensor dx) { return dx * a; })(2.0);
    })(1.0);
  });
  expect_says(message, "custom_jvp: the function holds a tensor f64[] in its closure");
  expect_says(message, "pass the tensor as one of them");
  expect_says(message, "custom_rules_test.cc");
}

// --- custom_vjp ---

/// The identity, whose gradient is cut to [−1, 1].
const auto clipped =
    custom_vjp([](Tensor x) { return x; }, [](Tensor x) { return std::pair{x, std::tuple<>()}; },
               [](std::tuple<>, Tensor ct) { return clamp(ct, -1, 1); });

TEST(CustomVjp, a_gradient_is_clipped_and_forward_mode_says_why_not) {
  const auto f = [](Tensor x) { return sum(clipped(x) * tensor({0.5, 10.0, -10.0})); };
  EXPECT_EQ(values(grad(f)(ones({3}))), (Values{0.5, 1, -1}));
  EXPECT_EQ(f(ones({3})).item(), 0.5);
  EXPECT_EQ(values(vmap(grad(f))(ones({2, 3}))(1)), (Values{0.5, 1, -1}));
  EXPECT_EQ(values(grad([&](Tensor x) { return sum(vmap(f)(x)); })(ones({2, 3}))(0)),
            (Values{0.5, 1, -1}));
  for (const std::string& message :
       {message_of([&] { jvp(f)(ones({3}), ones({3})); }),
        message_of([&] { jacobian(clipped, Mode::forward)(ones({3})); }),
        message_of([&] { vmap([&](Tensor x) { return jvp(f)(x, x).second; })(ones({2, 3})); }),
        message_of([&] {
          evaluate(program([&](Tensor x) { return jvp(f)(x, x).second; }, f64[{3}]), {ones({3})});
        })}) {
    expect_says(message, "has no forward mode");
    expect_says(message, "custom_rules_test.cc");
  }
  // In a loop, in each iteration.
  const auto looped = [](Tensor x) {
    return fori_loop(0, 3, [](Tensor, Tensor t) { return 2.0 * clipped(t); }, x);
  };
  EXPECT_EQ(grad(looped)(1.0).item(), 1);
  EXPECT_EQ(grad([&](Tensor x) { return 0.1 * looped(x); })(1.0).item(), 0.8);
}

TEST(CustomVjp, a_linear_backward_function_gives_forward_mode_too) {
  const auto f =
      custom_vjp([](Tensor x, Tensor y) { return std::pair{sin(x) * y, x + y}; },
                 [](Tensor x, Tensor y) {
                   return std::pair{std::pair{sin(x) * y, x + y}, std::tuple{cos(x) * y, sin(x)}};
                 },
                 [](std::tuple<Tensor, Tensor> r, std::pair<Tensor, Tensor> ct) {
                   return std::pair{std::get<0>(r) * ct.first + ct.second,
                                    std::get<1>(r) * ct.first + ct.second};
                 });
  const auto on_vector = [](const auto& h) {
    return [h](Tensor x) {
      const auto [a, b] = h(x, x * x);
      return a * b;
    };
  };
  expect_same(on_vector(f),
              on_vector([](Tensor x, Tensor y) { return std::pair{sin(x) * y, x + y}; }),
              numbers({3}));
}

TEST(CustomVjp, nested_rules_for_a_cube) {
  const auto square =
      custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair{x * x, x}; },
                 [](Tensor x, Tensor ct) { return 2 * x * ct; });
  const auto cube = custom_vjp([&](Tensor x) { return x * square(x); },
                               [&](Tensor x) { return std::pair{x * square(x), x}; },
                               [&](Tensor x, Tensor ct) { return 3 * square(x) * ct; });
  EXPECT_EQ(grad(cube)(2.0).item(), 12);
  EXPECT_EQ(grad(grad(cube))(2.0).item(), 12);
  EXPECT_EQ(grad(grad(grad(cube)))(2.0).item(), 6);
  expect_same(cube, [](Tensor x) { return x * x * x; }, numbers({2}), 1e-9);
}

TEST(CustomVjp, integers_are_passed_by) {
  const auto f =
      custom_vjp([](Tensor x, Tensor n) { return std::pair{x * n, n + 1}; },
                 [](Tensor x, Tensor n) { return std::pair{std::pair{x * n, n + 1}, n}; },
                 [](Tensor n, std::pair<Tensor, Tensor> ct) {
                   EXPECT_TRUE(ct.second.is_empty());
                   return std::tuple{ct.first * n, Tensor()};
                 });
  EXPECT_EQ(grad([&](Tensor x) { return f(x, 3).first * x; })(2.0).item(), 12);
  EXPECT_EQ(jvp([&](Tensor x) { return f(x, 3).first * x; })(2.0, 1.0).second.item(), 12);
}

TEST(CustomVjp, a_closure_keeps_the_order_of_what_it_holds_in_both_modes) {
  const auto f = [](Tensor a, Tensor b, Tensor x) {
    return custom_vjp([&](Tensor t) { return t * a / b; },
                      [&](Tensor t) { return std::pair{t * a / b, std::tuple<>()}; },
                      [&](std::tuple<>, Tensor ct) { return ct * a / b; })(x);
  };
  const auto slope = [&](Tensor a, Tensor b) {
    return jvp([&](Tensor x) { return f(a, b, x); })(5.0, 1.0).second;
  };
  const Program p = program(slope, f64[{}], f64[{}]);
  EXPECT_EQ(evaluate(p, {Tensor(6.0), Tensor(2.0)})[0].item(), 3);
  expect_equal(vmap(slope)(tensor({6.0, 1.0}), tensor({2.0, 4.0})), tensor({3.0, 0.25}));
}

TEST(CustomVjp, a_result_that_is_not_used_has_no_cotangent) {
  const auto both = custom_vjp([](Tensor x) { return Pair{x, x}; },
                               [](Tensor x) { return std::pair{Pair{x, x}, std::tuple<>()}; },
                               [](std::tuple<>, Pair ct) { return clamp(ct.a + ct.b, -9.0, 9.0); });
  EXPECT_EQ(grad([&](Tensor x) { return 2 * both(x).a; })(1.0).item(), 2);
  EXPECT_EQ(grad([&](Tensor x) { return 3 * both(x).b; })(1.0).item(), 3);
}

TEST(CustomVjp, a_closure_may_hold_what_does_not_vary) {
  const auto f = [](Tensor a, Tensor x) {
    return grad([&](Tensor t) {
      return custom_vjp([&](Tensor u) { return u * a; },
                        [&](Tensor u) { return std::pair{u * a, std::tuple<>()}; },
                        [&](std::tuple<>, Tensor ct) { return ct * a * 2; })(t) *
             t;
    })(x);
  };
  const Program p = program(f, f64[{}], f64[{}]);
  EXPECT_EQ(evaluate(p, {Tensor(3.0), Tensor(5.0)})[0].item(), 45);
  expect_equal(vmap(f, {unmapped, 0})(3.0, tensor({5.0, 1.0})), tensor({45.0, 9.0}));
  expect_equal(vmap(f, {0, unmapped})(tensor({3.0, 1.0}), 5.0), tensor({45.0, 15.0}));
  const auto in_closure = [](Tensor a) {
    return custom_vjp([&](Tensor u) { return u * a; },
                      [&](Tensor u) { return std::pair{u * a, std::tuple<>()}; },
                      [](std::tuple<>, Tensor ct) { return ct; })(2.0);
  };
  expect_says(message_of([&] { grad(in_closure)(3.0); }),
              "custom_vjp: the function holds a tensor");
}

// --- custom_linear ---

/// A x = b for lower-triangular A, by substitution.
Tensor substituted(const Tensor& a, const Tensor& b) {
  const std::int64_t n = b.extent(0);
  return fori_loop(
      0, n, [&](Tensor i, Tensor x) { return x.at(i).set((b(i) - sum(a(i) * x)) / a(i)(i)); },
      zeros({n}));
}
Tensor substituted_upper(const Tensor& a, const Tensor& b) {
  const std::int64_t n = b.extent(0);
  return fori_loop(
      0, n,
      [&](Tensor k, Tensor x) {
        const Tensor i = n - 1 - k;
        return x.at(i).set((b(i) - sum(a(i) * x)) / a(i)(i));
      },
      zeros({n}));
}
const auto solve = custom_linear(
    substituted, [](Tensor a, Tensor ct) { return substituted_upper(transpose(a), ct); });

TEST(CustomLinear, a_solver_with_its_transpose) {
  const Tensor a = tensor({{2.0, 0.0, 0.0}, {1.0, 3.0, 0.0}, {-1.0, 0.5, 1.5}});
  const Tensor b = tensor({1.0, -2.0, 0.5});
  expect_near(matmul(a, solve(a, b)), b);
  expect_same([&](Tensor x) { return solve(a, x * x); },
              [&](Tensor x) { return substituted(a, x * x); }, b);
  // In the matrix it is differentiated as written, here as A + t·B.
  const auto in_matrix = [&](const auto& s) {
    return [&a, &b, s](Tensor t) { return s(a + expand_dims(t, 1) * eye(3), b * t); };
  };
  expect_same(in_matrix(solve), in_matrix(substituted), numbers({3}), 1e-9);
  // Reverse mode runs the transposed solver and does not stack what the loop did.
  const Program p = program(grad([&](Tensor x) { return sum(solve(a, x)); }), f64[{3}]);
  EXPECT_EQ(count(p, "custom_linear"), 1U);
  const Tensor many = numbers({4, 3});
  expect_near(vmap(solve, {unmapped, 0})(a, many),
              rows([&](Tensor x) { return solve(a, x); }, many));
}

TEST(CustomLinear, transposes_and_products) {
  const auto f = custom_linear(
      [](Tensor s, std::pair<Tensor, Tensor> x) { return Pair{s * x.first + x.second, x.second}; },
      [](Tensor s, Pair ct) { return std::pair{s * ct.a, ct.a + ct.b}; });
  const auto [x, y] = transpose([&](Tensor p, Tensor q) { return f(3.0, std::pair{p, q}); },
                                f64[{}], f64[{}])(Pair{Tensor(1.0), Tensor(10.0)});
  EXPECT_EQ(x.item(), 3);
  EXPECT_EQ(y.item(), 11);
  const auto affine = [&](Tensor p) { return f(3.0, std::pair{p, Tensor(2.0)}); };
  expect_says(message_of([&] { transpose(affine, f64[{}])(Pair{Tensor(1.0), Tensor(1.0)}); }),
              "one operand does not depend on the input, so the result is only affine");
  // Only one of the operands varies, and only one result is used.
  EXPECT_EQ(grad([&](Tensor t) { return f(t, std::pair{t, Tensor(5.0)}).a; })(2.0).item(), 4);
  EXPECT_EQ(grad([&](Tensor t) { return f(2.0, std::pair{Tensor(1.0), t * t}).b; })(2.0).item(), 4);
  EXPECT_EQ(grad(grad([&](Tensor t) { return f(t, std::pair{t, Tensor(5.0)}).a; }))(2.0).item(), 2);
}

// --- composite, checkpoint, barrier, stop_gradient ---

TEST(Composite, is_its_decomposition_under_a_name) {
  const auto plain = [](Tensor x) { return x / (1 + exp(-x)); };
  const auto swish = composite("swish", plain);
  expect_same(swish, plain, numbers({3}));
  const Program p = program(swish, f64[{3}]);
  EXPECT_EQ(p.step_count(), 1U);
  EXPECT_EQ(p.step(0).primitive.name, "composite");
  EXPECT_NE(syntax(p).find("swish"), std::string::npos) << syntax(p);
  const auto scaled = [&](Tensor a, Tensor x) {
    return composite("scaled", [&](Tensor t) { return t * a; })(x);
  };
  EXPECT_EQ(grad(scaled)(2.0, 3.0).item(), 3);
}

std::int64_t residual_bytes(const Program& p) {
  const Linearization lin = linearize(p, std::vector<bool>(p.inputs().size(), true));
  std::int64_t bytes = 0;
  for (std::size_t r = p.outputs().size(); r < lin.primal.outputs().size(); ++r) {
    const Slot slot = lin.primal.outputs()[r];
    if (lin.primal.definition(slot) != Program::is_none) bytes += 8 * lin.primal.type(slot).size();
  }
  return bytes;
}

TEST(Checkpoint, keeps_the_arguments_only) {
  const auto block = [](Tensor x) {
    for (int i = 0; i < 4; ++i) x = sin(x) * exp(-x * x) + x;
    return x;
  };
  const auto chain = [](auto f) { return [f](Tensor x) { return f(f(f(x))); }; };
  constexpr std::int64_t d = 100;
  EXPECT_GE(residual_bytes(program(chain(block), f64[{d}])), 24 * 8 * d);
  // The values between the three blocks.
  EXPECT_EQ(residual_bytes(program(chain(checkpoint(block)), f64[{d}])), 2 * 8 * d);
  EXPECT_EQ(residual_bytes(program(checkpoint(chain(block)), f64[{d}])), 0);
  const auto loss = [&](auto f) { return [f, chain](Tensor x) { return sum(chain(f)(x)); }; };
  const Tensor x = numbers({d});
  expect_equal(grad(loss(checkpoint(block)))(x), grad(loss(block))(x));
  // Every block is run once more, and only once.
  const Program p = program(value_and_grad(loss(checkpoint(block))), f64[{d}]);
  EXPECT_EQ(cost(p).by_primitive.at("exp"), 2 * 12 * 2 * d);
  expect_same(chain(checkpoint(block)), chain(block), numbers({3}), 1e-9);
  expect_same(checkpoint(chain(checkpoint(block))), chain(block), numbers({3}), 1e-9);
}

TEST(Checkpoint, of_a_gradient_keeps_the_arguments_only) {
  const auto block = [](Tensor x) {
    for (int i = 0; i < 4; ++i) x = sin(x) * exp(-x * x) + x;
    return x;
  };
  constexpr std::int64_t d = 100;
  const auto gradient = [&](auto f) { return grad([f](Tensor x) { return sum(f(x)); }); };
  EXPECT_GE(residual_bytes(program(gradient(block), f64[{d}])), 8 * 8 * d);
  EXPECT_LE(residual_bytes(program(gradient(checkpoint(block)), f64[{d}])), 8 * d);
}

TEST(Checkpoint, random_numbers_are_drawn_again_alike) {
  const auto dropout = [](Key key, Tensor x) {
    return where(uniform(key, {5}) < 0.5, 0.0, 2 * x) * x;
  };
  const Tensor x = numbers({5});
  const auto loss = [](auto f) { return [f](Tensor t, Key k) { return sum(sin(f(k, t))); }; };
  expect_equal(grad(loss(checkpoint(dropout)))(x, key(7)), grad(loss(dropout))(x, key(7)));
}

TEST(Checkpoint, of_closures_and_of_unused_results) {
  const auto f = [](Tensor a, Tensor x) {
    return checkpoint([&](Tensor t) { return std::pair{sin(t * a), cos(t)}; })(x).first;
  };
  EXPECT_NEAR(grad(f)(2.0, 0.3).item(), 0.3 * std::cos(0.6), 1e-15);
  EXPECT_NEAR(grad(f, wrt<1>)(2.0, 0.3).item(), 2 * std::cos(0.6), 1e-15);
  EXPECT_NEAR(grad(grad(f))(2.0, 0.3).item(), -0.09 * std::sin(0.6), 1e-15);
}

TEST(Barrier, is_the_identity_with_its_derivative) {
  const auto f = [](Tensor x) {
    const auto [a, n] = barrier(std::pair{x * x, Tensor(3)});
    return a * n;
  };
  expect_same(f, [](Tensor x) { return 3 * x * x; }, numbers({3}));
  EXPECT_EQ(count(program(f, f64[{}]), "barrier"), 1U);
  EXPECT_TRUE(barrier(std::vector<Tensor>()).empty());
  // Nothing is shared across it.
  const auto twice = [](Tensor x) { return sin(x) + sin(barrier(x)); };
  EXPECT_EQ(count(program(twice, f64[{}]), "sin"), 2U);
}

TEST(StopGradient, stops_it_inside_everything) {
  const auto stopped = [](Tensor x) { return x * stop_gradient(x * x); };
  const Tensor x = tensor({1.0, 2.0});
  for (const std::function<Tensor(Tensor)>& f : std::vector<std::function<Tensor(Tensor)>>{
           stopped, checkpoint(stopped), composite("s", stopped), named("s", stopped),
           vmap(stopped), [&](Tensor t) { return map(stopped, t); },
           [&](Tensor t) {
             return fori_loop(0, 1, [&](Tensor, Tensor u) { return stopped(u); }, t);
           },
           [&](Tensor t) { return cond(sum(t) > 0, stopped, stopped, t); }}) {
    expect_equal(grad([&](Tensor t) { return sum(f(t)); })(x), x * x);
    expect_equal(jvp(f)(x, ones({2})).second, x * x);
  }
}

// --- implicit functions ---

TEST(Implicit, a_square_root_by_newton_has_the_derivatives_of_the_square_root) {
  const auto newton = [](Tensor a) {
    return while_loop([&](Tensor x) { return max(abs(x * x - a)) > 1e-13; },
                      [&](Tensor x) { return (x + a / x) / 2; }, a);
  };
  const auto root = implicit(newton, [](Tensor x, Tensor a) { return x * x - a; });
  expect_same([&](Tensor t) { return root(2 + t * t); }, [](Tensor t) { return sqrt(2 + t * t); },
              numbers({3}), 1e-8);
}

TEST(Implicit, several_arguments_structures_and_integers) {
  // x + y = s, x − y = d.
  const auto f =
      implicit([](Pair p, Tensor n) { return std::pair{(p.a + p.b) / 2 * n, (p.a - p.b) / 2}; },
               [](std::pair<Tensor, Tensor> xy, Pair p, Tensor n) {
                 return std::pair{xy.first / n + xy.second - p.a, xy.first / n - xy.second - p.b};
               });
  const auto g = grad([&](Pair p, Tensor n) { return f(p, n).first * f(p, n).second; }, wrt<0, 1>)(
      Pair{Tensor(5.0), Tensor(1.0)}, 2);
  EXPECT_NEAR(std::get<0>(g).a.item(), 5, 1e-12);  // d (s² − d²)/2
  EXPECT_NEAR(std::get<0>(g).b.item(), -1, 1e-12);
  EXPECT_TRUE(std::get<1>(g).is_empty());
}

TEST(Implicit, a_solver_that_no_rule_could_differentiate) {
  // Bisection compares and selects: its own derivative would be 0.
  const auto bisected = [](Tensor a) {
    const auto [low, high] = fori_loop(
        0, 60,
        [&](Tensor, Tensor lower, Tensor upper) {
          const Tensor middle = (lower + upper) / 2;
          const Tensor below = middle * exp(middle) < a;
          return std::pair{where(below, middle, lower), where(below, upper, middle)};
        },
        std::pair{zeros_like(a), ones_like(a)});
    return (low + high) / 2;
  };
  const auto lambert = implicit(bisected, [](Tensor w, Tensor a) { return w * exp(w) - a; });
  const Tensor a = tensor({0.5, 1.0, 2.0});
  const Tensor w = bisected(a);
  expect_near(grad([&](Tensor t) { return sum(lambert(t)); })(a), w / (a * (1 + w)), 1e-12);
  EXPECT_TRUE(array_equal(grad([&](Tensor t) { return sum(bisected(t)); })(a), zeros({3})));
}

TEST(Implicit, of_no_unknowns_of_matrices_and_of_singular_equations) {
  const auto root =
      implicit([](Tensor a) { return sqrt(a); }, [](Tensor x, Tensor a) { return x * x - a; });
  const auto loss = [&](Tensor a) { return sum(root(a)); };
  EXPECT_EQ(grad(loss)(zeros({0})).type(), f64[{0}]);
  expect_equal(grad(loss)(ones({2, 2}, f32)), full({2, 2}, 0.5, f32));
  EXPECT_TRUE(std::isinf(grad(root)(0.0).item()));
}

TEST(Implicit, equations_in_any_order) {
  // ∂residual/∂x has zeros on its diagonal: rows are exchanged.
  const auto order = implicit([](Tensor a) { return Pair{a * a, 3 * a}; },
                              [](Pair x, Tensor a) { return Pair{x.b - 3 * a, x.a - a * a}; });
  const auto product = [&](Tensor a) { return order(a).a * order(a).b; };
  EXPECT_EQ(grad(product)(2.0).item(), 36);
  EXPECT_EQ(jvp(product)(2.0, 1.0).second.item(), 36);
}

TEST(FixedPoint, of_a_contraction_to_second_order) {
  const Tensor w = 0.3 * numbers({3, 3});
  const auto step = [&](Tensor x, Tensor t) { return tanh(matmul(w, x) + t); };
  const auto f = fixed_point(step, zeros({3}), {.tolerance = 1e-15});
  const auto unrolled = [&](Tensor t) {
    Tensor x = zeros({3});
    for (int i = 0; i < 60; ++i) x = step(x, t);
    return x;
  };
  const Tensor t = numbers({3}, 0.7);
  const auto loss = [](const auto& h) { return [h](Tensor u) { return sum(sin(h(u))); }; };
  expect_near(f(t), unrolled(t));
  expect_near(grad(loss(f))(t), grad(loss(unrolled))(t));
  expect_near(jacobian(f, Mode::forward)(t), jacobian(unrolled)(t));
  expect_near(hessian(loss(f))(t), hessian(loss(unrolled))(t), 1e-11);
  const Tensor batch = stack({t, -t});
  expect_near(vmap(grad(loss(f)))(batch), rows(grad(loss(unrolled)), batch));
}

TEST(FixedPoint, starts_anywhere_and_takes_products) {
  const auto cosine = fixed_point([](Tensor x, Tensor a) { return cos(a * x); }, 1.0);
  const double x = cosine(Tensor(1.0)).item();
  EXPECT_NEAR(x, 0.7390851332151607, 1e-11);
  EXPECT_NEAR(grad(cosine)(1.0).item(), -x * std::sin(x) / (1 + std::sin(x)), 1e-10);
  const auto babylonian =
      fixed_point([](Pair p, Tensor a) { return Pair{(p.a + a / p.a) / 2, 0.5 * p.b + a}; },
                  Pair{Tensor(1.0), Tensor(0.0)});
  const auto g = grad([&](Tensor a) { return babylonian(a).a * babylonian(a).b; })(4.0);
  EXPECT_NEAR(g.item(), 6.0, 1e-9);  // d √a · 2a = 3 √a
}

TEST(FixedPoint, ends_at_its_limit_with_nan_and_settles_in_every_dtype) {
  const auto growing =
      fixed_point([](Tensor x, Tensor a) { return x + a; }, zeros({2}), {.max_iterations = 7});
  expect_equal(growing(ones({2})), full({2}, std::nan("")));
  // The seventh iterate is the first that no longer changes, or not.
  const auto counting = [](Tensor x, Tensor a) { return minimum(x + 1, a); };
  const auto last = fixed_point(counting, 0.0, {.max_iterations = 7});
  expect_equal(vmap(last)(tensor({6.0, 7.0})), tensor({6.0, std::nan("")}));
  // The leaf that settles last counts, wherever it is.
  const auto halves = fixed_point([](Pair p, Tensor a) { return Pair{0.5 * p.a + a, 0 * p.b + a}; },
                                  Pair{Tensor(0.0), Tensor(0.0)});
  EXPECT_NEAR(halves(Tensor(1.0)).a.item(), 2, 1e-11);
  // Neither small nor large numbers go round for ever between neighbours.
  const auto babylonian = [](Tensor x, Tensor a) { return (x + a / x) / 2; };
  for (const Dtype dtype : {f16, bf16, f32, f64}) {
    const Tensor squares = tensor({2.0, 900.0, 3e4}).astype(dtype);
    const Tensor roots = fixed_point(babylonian, ones({3}, dtype))(squares);
    const Tensor off = abs(roots / sqrt(squares) - 1);
    EXPECT_LT(max(off).item<double>(), dtype == f64 ? 1e-12 : dtype == f32 ? 1e-6 : 0.02) << roots;
  }
  const auto large = fixed_point([](Tensor x, Tensor a) { return 0.3 * x + a; }, 0.0);
  EXPECT_NEAR(large(Tensor(7e9)).item(), 1e10, 1);
}

// --- all in each other ---

TEST(Nested, everything_in_everything) {
  const auto cell = [](Tensor h, Tensor x) { return log1pexp(h * x) - 0.5 * h; };
  const auto plain_cell = [](Tensor h, Tensor x) { return log1p(exp(h * x)) - 0.5 * h; };
  const Tensor xs = numbers({4}, 0.8);
  const auto run = [&](const auto& f, const ScanOptions& options) {
    return [&xs, f, options](Tensor t) {
      return scan([&](Tensor h, Tensor x) { return std::pair{f(h, x), h * h}; }, t, xs, options);
    };
  };
  const auto total = [](const auto& f) {
    return [f](Tensor t) {
      const auto [last, all] = f(t);
      return last + sum(all, 0);
    };
  };
  const auto oracle = [&](Tensor t) {
    Tensor squares = zeros_like(t);
    for (std::int64_t i = 0; i < 4; ++i) {
      squares = squares + t * t;
      t = plain_cell(t, xs(i));
    }
    return t + squares;
  };
  const Tensor t = numbers({2});
  expect_same(total(run(cell, {})), oracle, t, 1e-9);
  expect_same(total(run(cell, {.checkpoint = true})), oracle, t, 1e-9);
  expect_same(checkpoint(total(run(checkpoint(cell), {}))), oracle, t, 1e-9);
  expect_same(total(run(composite("cell", cell), {})), oracle, t, 1e-9);
  expect_same(vmap(total(run(cell, {}))), oracle, t, 1e-9);
  const auto guarded = [&](Tensor u) {
    return cond(sum(u) < 100, total(run(cell, {})), [](Tensor v) { return v; }, u);
  };
  expect_same(guarded, oracle, t, 1e-9);
  const auto ruled = custom_jvp(
      oracle, [&](Tensor u, Tensor, Tensor du) { return jvp(total(run(cell, {})))(u, du).second; });
  expect_same(ruled, oracle, t, 1e-9);
  const auto reversed = custom_vjp(
      oracle, [&](Tensor u) { return std::pair{oracle(u), u}; },
      [&](Tensor u, Tensor ct) { return vjp(total(run(cell, {})))(u).second(ct); });
  expect_same(reversed, oracle, t, 1e-9);
}

}  // namespace
}  // namespace hom
