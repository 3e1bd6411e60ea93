// tests/laws/transformation_pairs_test.cc -- every ordered pair of transformations, on every
// control-flow and custom primitive
//
// Each subject is a function of a vector with a plain twin, of elementwise operations only. A
// transformation makes a function of a vector of another; its oracle does the same by other means
// (a loop over lanes, Jacobians by columns of forward mode), on the twin. A pair then gives what
// the pair of oracles gives, or throws an `Error` that names the operation.
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom::laws {
namespace {

using Function = std::function<Tensor(Tensor)>;

struct Subject {
  std::string name;
  Function function;
  /// Absent where there is none: the pair then has to run or to throw.
  Function plain;
  /// What an error has to say, where one is allowed.
  std::string may_complain = {};
};

Tensor weights() { return tensor({0.7, -0.4, 1.1}); }
Tensor wave(const Tensor& x, const Tensor& y) { return sin(x) * y + 0.3 * x; }

std::vector<Subject> subjects() {
  const auto step = [](Tensor y, Tensor w) { return sin(y) * w + 0.5 * y; };
  const Function looped = [=](Tensor x) {
    for (int i = 0; i < 3; ++i) x = step(x, weights() * (i + 1));
    return x;
  };
  const auto by_count = [=](const ScanOptions& options) -> Function {
    return [=](Tensor x) {
      return fori_loop(
          0, 3, [&](Tensor i, Tensor y) { return step(y, weights() * (i + 1)); }, x, options);
    };
  };
  const auto by_scan = [=](const ScanOptions& options) -> Function {
    return [=](Tensor x) {
      const auto f = [&](Tensor y, Tensor w) { return std::pair{step(y, w * x), y * w}; };
      const auto [last, all] =
          scan(f, x, stack({weights(), 2 * weights(), x, 3 * weights()}), options);
      return last + sum(all, 0);
    };
  };
  const auto scanned = [=](bool reverse) -> Function {
    return [=](Tensor x) {
      std::vector<Tensor> ws{weights(), 2 * weights(), x, 3 * weights()};
      if (reverse) ws = {ws[3], ws[2], ws[1], ws[0]};
      Tensor y = x;
      Tensor total = zeros({3});
      for (const Tensor& w : ws) {
        total = total + y * w;
        y = step(y, w * x);
      }
      return y + total;
    };
  };
  const auto grow = [](Tensor y) { return 1.4 * y + 0.1 * sin(y); };
  const auto small = [](Tensor y) { return sum(y * y) < 9; };
  // From where it starts below it takes three iterations, in each lane.
  const Function grown = [=](Tensor x) {
    const auto twice = grow(grow(x));
    return grow(twice);
  };
  const auto to_nine = [=](const WhileOptions& options) -> Function {
    return [=](Tensor x) {
      return while_loop([](Tensor i, Tensor) { return i < 3; },
                        [&](Tensor i, Tensor y) { return std::pair{i + 1, grow(y)}; },
                        std::pair{Tensor(0), x}, options)
          .second;
    };
  };
  const Function waved = [](Tensor x) { return wave(x, weights()); };
  const Function waved_twice = [](Tensor x) { return wave(wave(x, weights()), x); };
  const auto rule = [](Tensor x, Tensor, Tensor dx) { return cos(x) * weights() * dx + 0.3 * dx; };
  const auto ruled = custom_jvp([](Tensor x) { return wave(x, weights()); }, rule);
  const auto turned = custom_vjp([](Tensor x) { return wave(x, weights()); },
                                 [](Tensor x) { return std::pair{wave(x, weights()), cos(x)}; },
                                 [](Tensor c, Tensor ct) { return (c * weights() + 0.3) * ct; });
  const auto clipped =
      custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair{x * x, x}; },
                 [](Tensor x, Tensor ct) { return clamp(2 * x * ct, -1, 1); });
  const auto scaling = custom_linear([](Tensor a, Tensor x) { return flip(a * x, {0}); },
                                     [](Tensor a, Tensor ct) { return a * flip(ct, {0}); });
  // x³ + x = a, by Newton; and in closed form for the twin.
  const auto cube_root = implicit(
      [](Tensor a) {
        return fori_loop(
            0, 40, [&](Tensor, Tensor x) { return x - (x * x * x + x - a) / (3 * x * x + 1); }, a);
      },
      [](Tensor x, Tensor a) { return x * x * x + x - a; });
  const Function cardano = [](Tensor a) {
    const Tensor root = sqrt(a * a / 4 + 1.0 / 27);
    const auto cbrt = [](Tensor t) { return exp(log(t) / 3); };
    return cbrt(root + a / 2) - cbrt(root - a / 2);
  };
  const auto halved = fixed_point([](Tensor x, Tensor a) { return x / 4 + a * sin(a); }, zeros({3}),
                                  {.tolerance = 1e-16});
  return {
      {"call", named("f", waved), waved},
      {"cond", [=](Tensor x) { return cond(sum(x) < 5, waved, [](Tensor y) { return y; }, x); },
       waved},
      {"cond, other branch",
       [=](Tensor x) { return cond(sum(x) > 5, [](Tensor y) { return exp(y); }, waved, x); },
       waved},
      {"switch_",
       [=](Tensor x) {
         return switch_(sum(x).astype(i64),
                        std::tuple{waved, waved, waved_twice, waved, waved, waved}, x);
       },
       nullptr},
      {"fori_loop", by_count({}), looped},
      {"fori_loop with checkpoint", by_count({.checkpoint = true}), looped},
      {"scan", by_scan({}), scanned(false)},
      {"reversed scan", by_scan({.reverse = true}), scanned(true)},
      {"scan with checkpoint", by_scan({.checkpoint = true}), scanned(false)},
      {"map", [](Tensor x) { return map([&](Tensor t) { return sin(t) * sum(x); }, x); },
       [](Tensor x) { return sin(x) * sum(x); }},
      {"while_loop with a bound", to_nine({.bound = 3}), grown},
      {"while_loop with a loose bound", to_nine({.bound = 5}), grown},
      {"while_loop without a bound", to_nine({}), grown, "while_loop"},
      {"while_loop that stops by its values",
       [=](Tensor x) { return while_loop(small, grow, x, {.bound = 12}); }, nullptr},
      {"updates in a loop",
       [](Tensor x) {
         return fori_loop(
             0, 3, [&](Tensor i, Tensor y) { return y.at(i).add(sin(x((i + 1) % 3))); }, x);
       },
       [](Tensor x) { return x + sin(roll(x, -1, 0)); }},
      {"custom_jvp", ruled, waved},
      {"custom_vjp", turned, waved},
      {"custom_vjp that clips", clipped, nullptr, "custom_vjp"},
      {"custom_linear", [=](Tensor x) { return scaling(x, sin(x)); },
       [](Tensor x) { return flip(x * sin(x), {0}); }},
      {"composite", composite("waves", waved), waved},
      {"checkpoint", checkpoint(waved), waved},
      {"barrier",
       [](Tensor x) {
         const auto [a, b] = barrier(std::pair{sin(x), 0.3 * x});
         return a * weights() + b;
       },
       waved},
      {"implicit", [=](Tensor x) { return cube_root(x); }, cardano},
      {"fixed_point", [=](Tensor x) { return halved(x); },
       [](Tensor a) { return a * sin(a) * 4 / 3; }},
      {"all in each other", checkpoint([=](Tensor x) {
         return fori_loop(
             0, 2,
             [&](Tensor i, Tensor y) {
               return cond(
                   i < 5, [&](Tensor t) { return ruled(turned(t)); }, [](Tensor t) { return t; },
                   y);
             },
             x);
       }),
       [=](Tensor x) { return waved(waved(waved(waved(x)))); }},
  };
}

struct Transformation {
  std::string name;
  std::function<Function(Function)> apply;
  std::function<Function(Function)> oracle;
};

Tensor direction(const Tensor& x) { return cos(x) + tensor({0.1, -0.2, 0.3}); }

/// Σ sin fᵢ, the scalar function whose gradient and Hessian are taken.
Function scalar(const Function& f) {
  return [f](Tensor x) { return sum(sin(f(x))); };
}

/// Column j is the derivative along axis j.
Tensor columns(const Function& f, const Tensor& x) {
  std::vector<Tensor> all;
  for (std::int64_t j = 0; j < 3; ++j) all.push_back(jvp(f)(x, one_hot(Tensor(j), 3)).second);
  return stack(all, -1);
}

std::vector<Transformation> transformations() {
  const auto gradient = [](Function f) -> Function {
    return [s = scalar(f)](Tensor x) { return columns(s, x); };
  };
  const auto forward = [](Function f) -> Function {
    return [f](Tensor x) { return sum(columns(f, x) * direction(x), 1); };
  };
  const auto backward = [](Function f) -> Function {
    return [f](Tensor x) { return sum(columns(f, x) * expand_dims(direction(x), 1), 0); };
  };
  const auto itself = [](Function f) { return f; };
  return {
      {"grad", [](Function f) -> Function { return grad(scalar(f)); }, gradient},
      {"jvp",
       [](Function f) -> Function {
         return [f](Tensor x) { return jvp(f)(x, direction(x)).second; };
       },
       forward},
      {"vjp",
       [](Function f) -> Function {
         return [f](Tensor x) { return vjp(f)(x).second(direction(x)); };
       },
       backward},
      {"linearize",
       [](Function f) -> Function {
         return [f](Tensor x) { return linearize(f)(x).second(direction(x)); };
       },
       forward},
      {"transpose",
       [](Function f) -> Function {
         return [f](Tensor x) {
           const auto along = [f, x](Tensor dx) { return jvp(f)(x, dx).second; };
           return transpose(along, x)(direction(x));
         };
       },
       backward},
      {"vmap",
       [](Function f) -> Function {
         return [f](Tensor x) { return sum(vmap(f)(stack({x, 0.9 * x})), 0); };
       },
       [](Function f) -> Function { return [f](Tensor x) { return f(x) + f(0.9 * x); }; }},
      {"checkpoint", [](Function f) -> Function { return checkpoint(f); }, itself},
      {"named", [](Function f) -> Function { return named("g", f); }, itself},
      {"jacobian",
       [](Function f) -> Function {
         return [f](Tensor x) {
           return matmul(jacobian(f, Mode::reverse)(x) + jacobian(f, Mode::forward)(x),
                         direction(x));
         };
       },
       [=](Function f) -> Function { return [g = forward(f)](Tensor x) { return 2 * g(x); }; }},
      {"hessian",
       [](Function f) -> Function {
         return [h = hessian(scalar(f))](Tensor x) { return matmul(h(x), direction(x)); };
       },
       [=](Function f) { return forward(gradient(f)); }},
  };
}

void expect_near(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.type(), want.type());
  const Tensor size = maximum(1.0, abs(want));
  EXPECT_LT(max(abs(got - want) / size).item(), tolerance) << got << "\nnot " << want;
}

class Pairs : public testing::TestWithParam<Subject> {};

TEST_P(Pairs, give_what_their_oracles_give_or_name_the_operation) {
  const Subject& subject = GetParam();
  const Tensor x = tensor({0.3, 0.9, 0.5});
  int complaints = 0;
  for (const Transformation& outer : transformations()) {
    for (const Transformation& inner : transformations()) {
      SCOPED_TRACE(outer.name + " of " + inner.name + " of " + subject.name);
      Tensor got;
      try {
        got = outer.apply(inner.apply(subject.function))(x);
      } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_FALSE(subject.may_complain.empty()) << message;
        EXPECT_NE(message.find(subject.may_complain), std::string::npos) << message;
        EXPECT_NE(message.find("transformation_pairs_test.cc"), std::string::npos) << message;
        ++complaints;
        continue;
      }
      if (subject.plain) expect_near(got, outer.oracle(inner.oracle(subject.plain))(x), 1e-7);
    }
  }
  // One mode is missing, and not both.
  EXPECT_EQ(complaints > 0, !subject.may_complain.empty());
  EXPECT_LE(complaints, 75);
  if (complaints) std::cout << complaints << " of 100 pairs name " << subject.may_complain << "\n";
}

TEST_P(Pairs, start_from_functions_that_are_equal_and_whose_differences_are_their_derivatives) {
  const Subject& subject = GetParam();
  const Tensor x = tensor({0.3, 0.9, 0.5});
  if (subject.plain) expect_near(subject.function(x), subject.plain(x), 1e-12);
  const Function f = subject.plain ? subject.plain : subject.function;
  if (!subject.may_complain.empty() && !subject.plain) return;
  const double h = 1e-5;
  const Tensor differences = (f(x + h * direction(x)) - f(x - h * direction(x))) / (2 * h);
  expect_near(jvp(subject.function)(x, direction(x)).second, differences, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Subjects, Pairs, testing::ValuesIn(subjects()), [](const auto& info) {
  std::string name;
  for (char c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace hom::laws
