// tests/unit/capture_test.cc -- what a lambda becomes: steps once each, closures as operands,
// nothing that is not needed
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hom/core/text.h>
#include <hom/hom.h>

namespace {

using namespace hom;

/// How often each primitive occurs.
std::map<std::string, int> count(const Program& p) {
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < p.step_count(); ++i) ++counts[p.step(i).primitive.name];
  return counts;
}
using Counts = std::map<std::string, int>;

const TensorType scalar = f64[{}];
const TensorType vec = f64[{3}];

TEST(Capture, a_lambda_becomes_its_steps) {
  const Program p = program([](Tensor x, Tensor y) { return cos(x + y * x); }, scalar, scalar);
  EXPECT_EQ(to_text(p),
            "hom 1\n"
            "(x: f64[], y: f64[]) -> f64[] {\n"
            "  v2: f64[] = mul(y, x)\n"
            "  v3: f64[] = add(x, v2)\n"
            "  v4: f64[] = cos(v3)\n"
            "  return v4\n"
            "}\n");
  EXPECT_EQ(evaluate(p, {0.5, 2.0})[0].item(), cos(Tensor(1.5)).item());
}

TEST(Capture, equal_steps_are_one_step) {
  const auto f = [](Tensor x) { return sin(x) * sin(x) + sin(x); };
  EXPECT_EQ(count(program(f, scalar)), (Counts{{"sin", 1}, {"mul", 1}, {"add", 1}}));
  const auto g = [](Tensor x, Tensor y) { return sum(x, 0) + sum(x, 0) * sum(y, 0); };
  EXPECT_EQ(count(program(g, vec, vec)), (Counts{{"reduce_sum", 2}, {"mul", 1}, {"add", 1}}));
  const auto literals = [](Tensor x) { return (x + 0.1) * (x + 0.1); };
  EXPECT_EQ(count(program(literals, scalar)), (Counts{{"constant", 1}, {"add", 1}, {"mul", 1}}));
}

TEST(Capture, steps_that_differ_in_attributes_or_order_stay_apart) {
  const auto axes = [](Tensor x) { return sum(sum(x, 0)) - sum(sum(x, 1)); };
  EXPECT_EQ(count(program(axes, f64[{3, 3}]))["reduce_sum"], 4);
  const auto order = [](Tensor x, Tensor y) { return (x - y) * (y - x); };
  EXPECT_EQ(count(program(order, scalar, scalar))["sub"], 2);
  const auto zeros_of_either_sign = [](Tensor x) { return std::pair{x / 0.0, x / -0.0}; };
  EXPECT_EQ(count(program(zeros_of_either_sign, scalar))["constant"], 2);
  const auto nans = [](Tensor x) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return x / nan - x / nan;
  };
  EXPECT_EQ(count(program(nans, scalar))["div"], 1);
}

TEST(Capture, what_cancels_is_never_built) {
  const auto built = [](auto f, const TensorType& type) { return program(f, type).steps_built(); };
  EXPECT_EQ(built([](Tensor x) { return -(-x); }, scalar), 1u);
  EXPECT_EQ(built([](Tensor x) { return x.T().T(); }, f64[{2, 3}]), 1u);
  EXPECT_EQ(count(program([](Tensor x) { return -(-x); }, scalar)), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return x.T().T(); }, f64[{2, 3}])), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return x * 1; }, scalar)), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return x / 1; }, scalar)), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return x - 0; }, scalar)), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return pow(x, 1); }, scalar)), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return maximum(x, x); }, scalar)), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return !!(x > 0); }, scalar))["not"], 0);
  EXPECT_EQ(count(program([](Tensor x) { return where(x > 0, x, x); }, scalar)), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return reshape(reshape(x, {6}), {2, 3}); }, f64[{2, 3}])),
            Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return x.astype(f64); }, scalar)), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return x(all)(ellipsis); }, vec)), Counts{});
  EXPECT_EQ(count(program([](Tensor x) { return x * 2; }, scalar)), (Counts{{"add", 1}}));
  EXPECT_EQ(count(program([](Tensor x) { return x * -1; }, scalar)), (Counts{{"neg", 1}}));
}

TEST(Capture, what_would_change_bits_does_not_cancel) {
  // x + 0 turns −0 into 0; x − x and x·0 are NaN for infinities.
  EXPECT_EQ(count(program([](Tensor x) { return x + 0; }, scalar))["add"], 1);
  EXPECT_EQ(count(program([](Tensor x) { return x - x; }, scalar))["sub"], 1);
  EXPECT_EQ(count(program([](Tensor x) { return x * 0; }, scalar))["mul"], 1);
  EXPECT_EQ(count(program([](Tensor x) { return x / x; }, scalar))["div"], 1);
  EXPECT_EQ(count(program([](Tensor x) { return (x + 1) - 1; }, scalar))["sub"], 1);
}

TEST(Capture, captured_and_eager_results_agree_bit_for_bit) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto f = [](Tensor x) {
    return std::tuple{-(-x),
                      x * 1,
                      x * 2,
                      x * -1,
                      x / 1,
                      x - 0,
                      x + 0.0,
                      0 + x,
                      pow(x, 1),
                      maximum(x, x),
                      where(x > 0, x, x),
                      x + -0.0,
                      1 * x,
                      2 * x,
                      x.astype(f64),
                      reshape(reshape(x, {2, 3}), {6})};
  };
  const Tensor x = tensor({-0.0, 0.0, infinity, -infinity, std::nan(""), 1.5});
  const std::vector<Tensor> eager = leaves(f(x));
  const std::vector<Tensor> captured = evaluate(program(f, x), {x});
  ASSERT_EQ(eager.size(), captured.size());
  // IEEE 754 leaves the sign of a NaN open.
  const auto bits = [](Tensor y) { return bitcast(where(is_nan(y), std::nan(""), y), i64); };
  for (std::size_t i = 0; i < eager.size(); ++i) {
    EXPECT_TRUE(array_equal(bits(eager[i]), bits(captured[i])))
        << i << ": " << eager[i] << " " << captured[i];
  }
}

TEST(Capture, dead_steps_are_removed_but_counted) {
  const auto f = [](Tensor x) {
    exp(sin(x));
    return cos(x);
  };
  const Program p = program(f, scalar);
  EXPECT_EQ(count(p), (Counts{{"cos", 1}}));
  EXPECT_EQ(p.steps_built(), 3u);
}

TEST(Capture, unused_arguments_stay_inputs) {
  const Program p = program([](Tensor, Tensor y) { return y; }, scalar, vec);
  EXPECT_EQ(p.step_count(), 0u);
  EXPECT_EQ(p.inputs().size(), 2u);
  EXPECT_EQ(p.outputs()[0], p.inputs()[1]);
}

TEST(Capture, operations_on_concrete_tensors_run_at_once) {
  const Tensor w = tensor({1.0, 2.0, 3.0});
  const auto f = [&](Tensor x) {
    const Tensor norm_of_w = norm(w * 2 + 1);
    EXPECT_TRUE(norm_of_w.is_concrete());
    EXPECT_DOUBLE_EQ(norm_of_w.item(), std::sqrt(9.0 + 25 + 49));
    return x * norm_of_w;
  };
  EXPECT_EQ(count(program(f, scalar)), (Counts{{"captured", 1}, {"mul", 1}}));
  EXPECT_TRUE(zeros({2}).is_concrete());
}

TEST(Capture, tensors_of_the_closure_are_hidden_operands_known_by_their_buffer) {
  const Tensor w = tensor({1.0, 2.0, 3.0});
  Tensor same;
  same = w;
  const Tensor copy = tensor({1.0, 2.0, 3.0});
  const auto times = [](const Tensor& a) { return [a](Tensor x) { return x * a + a; }; };
  const Program p = program(times(w), vec);
  EXPECT_EQ(count(p), (Counts{{"captured", 1}, {"mul", 1}, {"add", 1}}));
  ASSERT_EQ(p.captured().size(), 1u);
  EXPECT_EQ(p.captured()[0].array_pointer(), w.array_pointer());
  EXPECT_EQ(p.inputs().size(), 1u);
  EXPECT_EQ(p, program(times(same), vec));
  EXPECT_NE(p, program(times(copy), vec));
  // Equal structure hashes alike, whatever the buffers hold.
  EXPECT_EQ(p.hash(), program(times(copy), vec).hash());
  EXPECT_EQ(to_text(p).find("2.0"), std::string::npos);
  const auto both = [&](Tensor x) { return x * w + x * copy; };
  EXPECT_EQ(program(both, vec).captured().size(), 2u);
}

TEST(Capture, numbers_of_the_closure_are_read_when_it_is_captured) {
  double rate = 0.5;
  const auto f = [&](Tensor x) { return x * rate; };
  const Program p = program(f, scalar);
  rate = 100;
  EXPECT_EQ(evaluate(p, {2.0})[0].item(), 1);
  EXPECT_EQ(grad(f)(2.0).item(), 100);
  rate = 7;
  EXPECT_EQ(grad(f)(2.0).item(), 7);
}

TEST(Capture, dead_tensors_of_the_closure_are_forgotten) {
  const Tensor used = tensor({1.0, 2.0, 3.0});
  const Tensor unused = tensor({4.0, 5.0, 6.0});
  const Program p = program(
      [&](Tensor x) {
        x* unused;
        return x * used;
      },
      vec);
  ASSERT_EQ(p.captured().size(), 1u);
  EXPECT_EQ(p.captured()[0].array_pointer(), used.array_pointer());
  EXPECT_TRUE(array_equal(evaluate(p, {ones({3})})[0], used));
}

TEST(Capture, captures_nest_and_outer_symbols_become_operands) {
  Program inner;
  std::size_t operands = 0;
  const auto f = [&](Tensor x, Tensor y) {
    const Tensor scaled = y * 3;
    const auto captured =
        detail::capture_function(*std::make_unique<std::function<Tensor(Tensor)>>(
                                     [&](Tensor z) { return z * scaled + x * scaled; }),
                                 "", Location::current(), x);
    inner = captured.program;
    operands = captured.captured_operands.size();
    return apply(captured.program, detail::inputs_of(captured, x), Location::current())[0];
  };
  const Program outer = program(f, scalar, scalar);
  EXPECT_EQ(operands, 2u);
  EXPECT_EQ(inner.inputs().size(), 3u);
  EXPECT_EQ(count(inner), (Counts{{"mul", 2}, {"add", 1}}));
  // In the outer program z and x are one: the products are one step.
  EXPECT_EQ(evaluate(outer, {2.0, 5.0})[0].item(), 60);
  EXPECT_EQ(Capture::current(), nullptr);
}

TEST(Capture, perturbations_are_not_confused) {
  // J. Siskind and B. Pearlmutter, "Perturbation confusion", 2005: d/dx (x · d/dy (x + y)) at 1 is
  // 1, not 2.
  const auto f = [](Tensor x) { return x * grad([&](Tensor y) { return x + y; })(1.0); };
  EXPECT_EQ(grad(f)(1.0).item(), 1);
  // d/dx [x · d/dy (x·y²)] at x = 3, y = 2: x · 2xy = 2x²y → 4xy.
  const auto g = [](Tensor x) { return x * grad([&](Tensor y) { return x * y * y; })(2.0); };
  EXPECT_EQ(grad(g)(3.0).item(), 24);
  // The same in mixed modes.
  const auto forward = [](Tensor x) {
    return x * jvp([&](Tensor y) { return x * y * y; })(2.0, 1.0).second;
  };
  EXPECT_EQ(grad(forward)(3.0).item(), 24);
  EXPECT_EQ(jvp(g)(3.0, 1.0).second.item(), 24);
  EXPECT_EQ(jvp(forward)(3.0, 1.0).second.item(), 24);
  // The inner variable at the outer point: d/dx [x · (d/dy x·y²)(x)] = d/dx 2x³.
  const auto at_itself = [](Tensor x) { return x * grad([&](Tensor y) { return x * y * y; })(x); };
  EXPECT_EQ(grad(at_itself)(3.0).item(), 54);
}

TEST(Capture, three_levels_nest) {
  // d/dx d/dy d/dz of x²y³z⁴, each inside the other, at (2, 1, 1): 2x · 3y² · 4z³ = 48.
  const auto f = [](Tensor x) {
    return grad([&](Tensor y) {
      return grad([&](Tensor z) { return x * x * y * y * y * z * z * z * z; })(1.0);
    })(1.0);
  };
  EXPECT_EQ(grad(f)(2.0).item(), 48);
  const Program p = program([&](Tensor x) { return grad(f)(x); }, scalar);
  EXPECT_EQ(evaluate(p, {2.0})[0].item(), 48);
}

TEST(Capture, gradients_inside_a_capture_are_ordinary_steps) {
  const auto f = [](Tensor x) { return sin(x) * x; };
  const Program p = program([&](Tensor x) { return grad(f)(x); }, scalar);
  EXPECT_EQ(count(p)["call"], 0);
  EXPECT_DOUBLE_EQ(evaluate(p, {0.7})[0].item(), std::cos(0.7) * 0.7 + std::sin(0.7));
  // Nothing is computed twice: value and gradient share sin x.
  const Program both = program([&](Tensor x) { return std::pair{f(x), grad(f)(x)}; }, scalar);
  EXPECT_EQ(count(both)["sin"], 1);
}

TEST(Capture, a_named_function_is_one_call) {
  const Tensor w = tensor({1.0, 2.0, 3.0});
  const auto affine = named("affine", [&](Tensor x, Tensor b) { return x * w + b; });
  const auto f = [&](Tensor x, Tensor b) { return affine(affine(x, b), b); };
  const Program p = program(f, vec, vec);
  EXPECT_EQ(count(p), (Counts{{"call", 2}}));
  const Program& body = *p.step(0).attributes.program("program");
  EXPECT_EQ(body.name(), "affine");
  EXPECT_EQ(count(body), (Counts{{"captured", 1}, {"mul", 1}, {"add", 1}}));
  EXPECT_EQ(body, *p.step(1).attributes.program("program"));
  EXPECT_EQ(body.step(1).scope, "affine");
  const Tensor x = tensor({1.0, 1.0, 1.0});
  EXPECT_TRUE(array_equal(evaluate(p, {x, x})[0], f(x, x)));
  EXPECT_TRUE(f(x, x).is_concrete());
}

TEST(Capture, equal_calls_are_one_call) {
  const auto square_root = named("root", [](Tensor x) { return sqrt(x); });
  const Program p = program([&](Tensor x) { return square_root(x) + square_root(x); }, scalar);
  EXPECT_EQ(count(p), (Counts{{"call", 1}, {"add", 1}}));
}

TEST(Capture, symbols_that_a_named_function_captures_become_operands_of_the_call) {
  const auto f = [](Tensor x, Tensor y) {
    return named("times_y", [&](Tensor z) { return z * y; })(x + 1);
  };
  const Program p = program(f, scalar, scalar);
  const Program& body = *p.step(p.step_count() - 1).attributes.program("program");
  EXPECT_EQ(body.inputs().size(), 2u);
  EXPECT_EQ(evaluate(p, {2.0, 5.0})[0].item(), 15);
  const auto [dx, dy] = grad(f, wrt<0, 1>)(2.0, 5.0);
  EXPECT_EQ(dx.item(), 5);
  EXPECT_EQ(dy.item(), 3);
}

TEST(Capture, cond_takes_what_both_branches_capture) {
  const Tensor w = 10.0;
  const auto f = [&](Tensor x, Tensor y, Tensor z) {
    return cond(x > 0, [&](Tensor t) { return t * y + w; }, [&](Tensor t) { return t - z * y; }, x);
  };
  const Program p = program(f, scalar, scalar, scalar);
  EXPECT_EQ(count(p)["cond"], 1);
  EXPECT_EQ(count(p)["mul"], 0);
  const auto value = [&](double x, double y, double z) { return evaluate(p, {x, y, z})[0].item(); };
  EXPECT_EQ(value(2, 3, 5), 16);
  EXPECT_EQ(value(-2, 3, 5), -17);
  EXPECT_EQ(f(2.0, 3.0, 5.0).item(), 16);
  EXPECT_EQ(f(-2.0, 3.0, 5.0).item(), -17);
  for (double x : {2.0, -2.0}) {
    const auto [dx, dy, dz] = grad(f, wrt<0, 1, 2>)(x, 3.0, 5.0);
    EXPECT_EQ(dx.item(), x > 0 ? 3 : 1);
    EXPECT_EQ(dy.item(), x > 0 ? x : -5);
    EXPECT_EQ(dz.item(), x > 0 ? 0 : -3);
  }
}

TEST(Capture, only_the_branch_taken_runs) {
  const auto f = [](Tensor x, Tensor i) {
    return cond(
        i < 3, [&](Tensor t) { return take(t, reshape(i, {1})); },
        [](Tensor t) { return t(Range{0, 1}); }, x);
  };
  // The read of the branch not taken would raise.
  const Program p = program(f, vec, i64[{}]);
  EXPECT_EQ(evaluate(p, {tensor({1.0, 2.0, 3.0}), Tensor(std::int64_t{7})})[0].item(), 1);
  EXPECT_EQ(evaluate(p, {tensor({1.0, 2.0, 3.0}), Tensor(std::int64_t{2})})[0].item(), 3);
}

TEST(Capture, leaves_in_a_capture_are_steps_not_arrays) {
  const Program p = program([](Tensor x) { return x + ones({3}) * iota(f64[{3}]); }, vec);
  EXPECT_EQ(p.captured().size(), 0u);
  EXPECT_EQ(count(p)["iota"], 1);
}

TEST(Capture, programs_are_equal_by_structure_not_by_names_or_lines) {
  const auto first = [](Tensor x, Tensor y) { return x * y + 0.5; };
  const auto second = [](Tensor a, Tensor b) {
    const Tensor product = a * b;
    return product + 0.5;
  };
  const Program p = program(first, scalar, scalar);
  const Program q = program(second, scalar, scalar);
  EXPECT_EQ(p, q);
  EXPECT_EQ(p.hash(), q.hash());
  EXPECT_NE(p, program(first, vec, scalar));
  EXPECT_NE(p, program([](Tensor x, Tensor y) { return y * x + 0.5; }, scalar, scalar));
  EXPECT_NE(p, program([](Tensor x, Tensor y) { return x * y + 0.25; }, scalar, scalar));
  EXPECT_NE(p, program([](Tensor x, Tensor y) { return x * y - 0.5; }, scalar, scalar));
  EXPECT_NE(p, program(first, f32[{}], f32[{}]));
  EXPECT_NE(program([](Tensor x) { return sum(x, 0); }, f64[{2, 2}]),
            program([](Tensor x) { return sum(x, 1); }, f64[{2, 2}]));
  EXPECT_NE(program([](Tensor x) { return std::pair{x, -x}; }, scalar),
            program([](Tensor x) { return std::pair{-x, x}; }, scalar));
}

TEST(Capture, every_step_keeps_the_users_line) {
  const auto f = [](Tensor x) { return sin(x); };
  const int line = __LINE__ - 1;
  const Program p = program(f, scalar);
  EXPECT_EQ(static_cast<int>(p.step(0).at.line()), line);
  const Program gradient = program([&](Tensor x) { return grad(f)(x); }, scalar);
  for (std::size_t i = 0; i < gradient.step_count(); ++i) {
    if (gradient.step(i).primitive.name != "cos") continue;
    EXPECT_EQ(static_cast<int>(gradient.step(i).at.line()), line);
  }
}

TEST(Capture, symbols_know_their_type_and_print_it) {
  program(
      [](Tensor x) {
        EXPECT_TRUE(x.is_symbolic());
        EXPECT_EQ(x.dtype(), f32);
        EXPECT_EQ(x.shape(), (Shape{2, 3}));
        EXPECT_EQ(x.extent(-1), 3);
        EXPECT_EQ(to_string(x), "symbol f32[2, 3]");
        return x;
      },
      f32[{2, 3}]);
}

TEST(Capture, a_tensor_copy_is_a_handle) {
  Tensor x = tensor({1.0, 2.0});
  const Tensor y = x;
  EXPECT_EQ(x.array_pointer(), y.array_pointer());
  x += 1;
  EXPECT_EQ(y(0).item(), 1);
  const Tensor view = y(Range{1, 2});
  EXPECT_EQ(view.array().buffer, y.array().buffer);
}

TEST(Capture, threads_capture_independently) {
  const auto f = [](Tensor x) { return sin(x) * x; };
  const Program here = program(f, scalar);
  std::vector<Program> there(4);
  program(
      [&](Tensor outer) {
        std::vector<std::thread> threads;
        threads.reserve(there.size());
        for (Program& p : there) threads.emplace_back([&] { p = program(f, scalar); });
        for (std::thread& thread : threads) thread.join();
        return outer;
      },
      scalar);
  for (const Program& p : there) EXPECT_EQ(p, here);
}

TEST(Capture, a_function_object_with_state_is_captured_as_it_is) {
  struct Counter {
    mutable int calls = 0;
    Tensor operator()(Tensor x) const {
      ++calls;
      return x * calls;
    }
  };
  const Counter counter;
  const Program first = program(counter, scalar);
  EXPECT_EQ(evaluate(first, {1.0})[0].item(), 1);
  EXPECT_EQ(counter.calls, 1);
  EXPECT_EQ(evaluate(program(counter, scalar), {1.0})[0].item(), 2);
}

TEST(Capture, results_may_be_inputs_constants_and_repetitions) {
  const Tensor w = 4.0;
  const Program p =
      program([&](Tensor x) { return std::tuple{x, 2.0, w, x, x * 3, x * 3}; }, scalar);
  std::vector<double> values;
  for (const Tensor& y : evaluate(p, {5.0})) values.push_back(y.item());
  EXPECT_EQ(values, (std::vector<double>{5, 2, 4, 5, 15, 15}));
}

TEST(Capture, the_gradient_of_what_does_not_vary_is_zero) {
  EXPECT_TRUE(array_equal(grad([](Tensor) { return Tensor(2.0); })(ones({3})), zeros({3})));
  EXPECT_TRUE(
      array_equal(grad([](Tensor x) { return sum(stop_gradient(x)); })(ones({3})), zeros({3})));
  EXPECT_TRUE(array_equal(
      grad([](Tensor x, Tensor y) { return sum(y) + 0 * sum(x); })(ones({3}), 1.0), zeros({3})));
}

}  // namespace
