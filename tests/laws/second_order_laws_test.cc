// tests/laws/second_order_laws_test.cc -- derivatives of derivatives, and derivatives beside
// infinities and NaN
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/drawing.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

const Wish smooth{.domain = Domain::smooth, .without = {"stop_gradient"}, .max_size = 24};

/// x… ↦ Σ of all float results, each with a weight of its own for every element: a function of rank
/// 0 whose gradient sees all of them.
Program scalar_program(const RandomProgram& random) {
  Capture capture(Location::current());
  Tensors arguments;
  for (const Tensor& x : random.inputs)
    arguments.push_back(capture.input(x.type(), "x" + std::to_string(arguments.size())));
  Tensor total = full({}, 0.0);
  for (const Tensor& y : floats_of(random(arguments))) {
    if (y.dtype() != f64) continue;
    const Tensor weight = cos(arange(y.size(), f64) + 1.0);
    total = total + dot(weight, reshape(y, {y.size()}));
  }
  return capture.finish(std::vector{total}, {}, Location::current()).program;
}

std::vector<bool> every(const Program& program) {
  return std::vector<bool>(program.inputs().size(), true);
}

/// x… ↦ ∇f, without the value.
Program gradient_of(const Program& f) {
  const Program both = value_and_gradient(f, every(f), Location::current());
  Builder builder;
  std::vector<Slot> inputs;
  for (std::size_t i = 0; i < f.inputs().size(); ++i)
    inputs.push_back(builder.add_input(f.input_types()[i], f.input_names()[i]));
  std::vector<Slot> outputs = builder.append_program(both, inputs);
  outputs.erase(outputs.begin());
  return std::move(builder).finish(std::move(outputs), {});
}

/// x… ↦ Σ ⟨output i, vᵢ⟩ for outputs from `first` on, with v in the closure.
Program paired(const Program& f, std::size_t first, const Tensors& v) {
  Capture capture(Location::current());
  Tensors arguments;
  for (std::size_t i = 0; i < f.inputs().size(); ++i)
    arguments.push_back(capture.input(f.input_types()[i], f.input_names()[i]));
  const Tensors results = apply(f, arguments, Location::current());
  Tensor total = full({}, 0.0);
  for (std::size_t i = 0; i < v.size(); ++i) total = total + sum(scale(v[i], results[first + i]));
  return capture.finish(std::vector{total}, {}, Location::current()).program;
}

/// x… ↦ df(x)(v), with v in the closure.
Program directional(const Program& f, const Tensors& v) {
  const Program both = pushforward(f, every(f));
  Capture capture(Location::current());
  Tensors arguments;
  for (std::size_t i = 0; i < f.inputs().size(); ++i)
    arguments.push_back(capture.input(f.input_types()[i], f.input_names()[i]));
  Tensors operands = arguments;
  operands.insert(operands.end(), v.begin(), v.end());
  const Tensors results = apply(both, operands, Location::current());
  return capture.finish(std::vector{results.back()}, {}, Location::current()).program;
}

Tensors after(Tensors all, std::size_t count) {
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  return all;
}

std::vector<TensorType> types_of(const Tensors& tensors) {
  std::vector<TensorType> types;
  for (const Tensor& x : tensors) types.push_back(x.type());
  return types;
}

/// H·v by three ways, and by finite differences of the gradient; vᵀ·H·w = wᵀ·H·v.
std::string second_derivatives_exist(const RandomProgram& random, Choices& choices) {
  const Program f = scalar_program(random);
  const Tensors& x = random.inputs;
  const Tensors v = random_like(types_of(floats_of(x)), choices);
  const Tensors w = random_like(types_of(floats_of(x)), choices);
  if (v.empty()) return "";
  const Program gradient = gradient_of(f);
  const Program forward_over_reverse = pushforward(gradient, every(f));
  const auto hessian_times = [&](const Tensors& direction) {
    Tensors arguments = x;
    arguments.insert(arguments.end(), direction.begin(), direction.end());
    return after(evaluate(forward_over_reverse, arguments), direction.size());
  };
  const Tensors product = hessian_times(v);
  double magnitude = 1;
  for (const Tensor& part : product) {
    for (double value : part.to_vector()) magnitude = std::max(magnitude, std::abs(value));
  }
  if (!(magnitude < 1e6))
    return std::isfinite(magnitude) ? "" : "the second derivative is not finite";

  const Tensors reverse_over_reverse = evaluate(gradient_of(paired(gradient, 0, v)), x);
  if (std::string wrong = difference(reverse_over_reverse, product, 1e-9); !wrong.empty())
    return "reverse over reverse: " + wrong;
  const Tensors reverse_over_forward = evaluate(gradient_of(directional(f, v)), x);
  if (std::string wrong = difference(reverse_over_forward, product, 1e-9); !wrong.empty())
    return "reverse over forward: " + wrong;

  const Inner one = inner(w, product);
  const Inner other = inner(v, hessian_times(w));
  if (std::abs(one.product - other.product) > 1e-9 * (1 + one.magnitude + other.magnitude))
    return "the hessian is not symmetric";

  constexpr double h = 1e-4;
  const auto quotient = [&](double step) {
    const Tensors above = evaluate(gradient, moved(x, v, step));
    const Tensors below = evaluate(gradient, moved(x, v, -step));
    Tensors all;
    for (std::size_t i = 0; i < above.size(); ++i)
      all.push_back((above[i] - below[i]) / (2 * step));
    return all;
  };
  const Tensors coarse = quotient(h);
  const Tensors fine = quotient(h / 2);
  for (std::size_t i = 0; i < product.size(); ++i) {
    const std::vector<double> got = product[i].to_vector();
    const std::vector<double> a = coarse[i].to_vector();
    const std::vector<double> b = fine[i].to_vector();
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double want = (4 * b[k] - a[k]) / 3;
      const double doubt = std::abs(a[k] - b[k]);
      if (doubt > 1e-3 * magnitude) continue;
      if (std::abs(got[k] - want) > 2e-6 * magnitude + doubt) {
        return "hvp " + to_string(got[k]) + ", finite difference of the gradient " +
               to_string(want);
      }
    }
  }
  return "";
}

TEST(Laws, second_derivatives_exist_wherever_first_do) {
  for (const Primitive* p : standard_primitives().all()) {
    if (!(p->derivative || p->call_derivative) || !p->dtypes.contains(f64) ||
        p->name == "stop_gradient")
      continue;
    for (SizeClass size : all_size_classes) {
      Choices choices(run_seed() * 15485863 + static_cast<std::uint64_t>(size));
      int found = 0;
      for (int attempt = 0; attempt < 40 && found < 3 * case_factor(); ++attempt) {
        const auto random = single_step(*p, f64[random_shape(size, choices)], smooth, choices);
        if (!random) continue;
        ++found;
        std::string wrong;
        try {
          wrong = second_derivatives_exist(*random, choices);
        } catch (const std::exception& error) {
          wrong = error.what();
        }
        ASSERT_EQ(wrong, "") << p->name << "\n" << text_of(*random);
      }
    }
  }
  for_random_programs("second_derivatives_exist_wherever_first_do", 750, 14, smooth,
                      second_derivatives_exist);
}

// ---- infinities and NaN where the derivative must not see them ----

constexpr double infinity = std::numeric_limits<double>::infinity();
const double poison[] = {std::nan(""), infinity, -infinity, 0.0,  -0.0, 1.0,
                         -1.0,         1e300,    -1e300,    -0.5, 2.0};

/// Elementwise steps alone.
Wish elementwise_wish() {
  Wish wish = smooth;
  for (const Primitive* p : standard_primitives().all()) {
    const bool unary_or_binary =
        p->attributes.empty() && p->min_operands == p->max_operands && p->max_operands <= 2;
    if (p->derivative && unary_or_binary && !is_for_matrices(p->name) && p->dtypes.contains(f64) &&
        p->name != "stop_gradient")
      wish.primitives.push_back(p->name);
  }
  wish.without.clear();
  return wish;
}

/// Σ where(mask, f(x), 0)·weight over the float results of `random`, all of one shape.
Program masked_program(const RandomProgram& random, const Tensor& mask) {
  Capture capture(Location::current());
  Tensors arguments;
  for (const Tensor& x : random.inputs)
    arguments.push_back(capture.input(x.type(), "x" + std::to_string(arguments.size())));
  Tensor total = full({}, 0.0);
  for (const Tensor& y : floats_of(random(arguments))) {
    if (y.shape() != mask.shape()) continue;
    total = total + sum(where(mask, y * cos(reshape(arange(y.size(), f64), y.shape())), 0.0));
  }
  return capture.finish(std::vector{total}, {}, Location::current()).program;
}

/// Where the mask is false the inputs hold poison; derivatives there are exactly 0, elsewhere they
/// are the same as without.
std::string masked_poison_is_not_seen(const RandomProgram& random, Choices& choices) {
  Tensors clean;
  for (const Tensor& x : random.inputs) clean.push_back(x);
  const Shape shape = clean[0].shape();
  const Tensor mask = random_tensor(bool_[shape], Domain::tame, choices);
  const std::vector<bool> kept = mask.to_vector<bool>();
  Tensors poisoned;
  std::vector<bool> is_masked_input;
  for (const Tensor& x : clean) {
    std::vector<double> values = x.to_vector();
    const bool masked = x.shape() == shape && x.dtype() == f64;
    for (std::size_t i = 0; masked && i < values.size(); ++i) {
      if (!kept[i]) values[i] = choices.among(poison);
    }
    is_masked_input.push_back(masked);
    poisoned.push_back(masked ? tensor(values, shape) : x);
  }
  const Program f = masked_program(random, mask);
  const Program gradient = gradient_of(f);
  const Tensors v = random_like(types_of(floats_of(clean)), choices);
  const auto with = [](Tensors x, const Tensors& dx) {
    x.insert(x.end(), dx.begin(), dx.end());
    return x;
  };
  const auto derivatives = [&](const Tensors& x) {
    Tensors all = evaluate(gradient, x);
    for (const Tensor& y : evaluate(pushforward(f, every(f)), with(x, v))) all.push_back(y);
    for (const Tensor& y : after(evaluate(pushforward(gradient, every(f)), with(x, v)), v.size()))
      all.push_back(y);
    for (const Tensor& y : evaluate(gradient_of(paired(gradient, 0, v)), x)) all.push_back(y);
    for (const Tensor& y : evaluate(gradient_of(directional(f, v)), x)) all.push_back(y);
    return all;
  };
  const Tensors want = derivatives(clean);
  const Tensors got = derivatives(poisoned);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const std::vector<double> a = got[i].to_vector();
    const std::vector<double> b = want[i].to_vector();
    for (std::size_t k = 0; k < a.size(); ++k) {
      const bool masked = want[i].shape() == shape && !kept.empty() && a.size() == kept.size() &&
                          shape.size() > 0 && !kept[k];
      const double expected = masked ? 0 : b[k];
      if (!std::isfinite(b[k])) continue;
      if (!(std::abs(a[k] - expected) <= 1e-12 * (1 + std::abs(expected)))) {
        std::string text = "derivative " + std::to_string(i) + ", element " + std::to_string(k) +
                           ": got " + to_string(a[k]) + ", want " + to_string(expected) +
                           "\n  mask " + to_string(mask);
        for (const Tensor& x : poisoned) text += "\n  poisoned " + to_string(x);
        return text;
      }
    }
  }
  return "";
}

TEST(Laws, gradient_of_masked_branch_is_never_poisoned) {
  const Wish wish = elementwise_wish();
  ASSERT_GE(wish.primitives.size(), 25u);
  for (const std::string& name : wish.primitives) {
    Choices choices(run_seed() * 32452843);
    for (int i = 0; i < 20 * case_factor(); ++i) {
      const auto random = single_step(standard_primitives().find(name), f64[{16}], smooth, choices);
      if (!random) continue;
      const std::string wrong = masked_poison_is_not_seen(*random, choices);
      EXPECT_EQ(wrong, "") << name << "\n" << text_of(*random);
      if (!wrong.empty()) break;
    }
  }
  // Each step alone, on all of its domain: where it is not masked, values and derivatives are
  // finite or not compared.
  for (const std::string& name : wish.primitives) {
    const Primitive& p = standard_primitives().find(name);
    Choices choices(run_seed() * 49979687);
    for (int i = 0; i < 20 * case_factor(); ++i) {
      RandomProgram random;
      RandomProgram::Line line{.primitive = &p};
      for (int k = 0; k < p.min_operands; ++k) {
        std::vector<double> values(16);
        const double low = i % 2 == 0 ? 0.1 : 1.2;
        for (double& value : values) value = choices.real(low, low + 0.8);
        random.inputs.push_back(tensor(values));
        random.types.push_back(f64[{16}]);
        random.lines.emplace_back();
        line.operands.push_back(static_cast<std::size_t>(k));
      }
      random.types.push_back(f64[{16}]);
      random.lines.push_back(std::move(line));
      random.outputs = {random.inputs.size()};
      const std::string wrong = masked_poison_is_not_seen(random, choices);
      EXPECT_EQ(wrong, "") << name << " alone\n" << text_of(random);
      if (!wrong.empty()) break;
    }
  }
  for_random_programs(
      "gradient_of_masked_branch_is_never_poisoned", 1500, 10, wish,
      [](const RandomProgram& random, Choices& choices) -> std::string {
        return random.inputs[0].shape().empty() ? "" : masked_poison_is_not_seen(random, choices);
      });
}

TEST(Laws, gradient_of_masked_views_is_never_poisoned) {
  // The branch not taken passes through movements of elements as well.
  const Tensor x = tensor({0.0, 4.0, -1.0, 9.0});
  const auto f = [](Tensor t) {
    const Tensor root = sqrt(reshape(flip(t, {0}), {2, 2}).T());
    return sum(where(reshape(flip(t, {0}), {2, 2}).T() > 0, root, 0.0));
  };
  EXPECT_EQ(grad(f)(x).to_vector(), (std::vector{0.0, 0.25, 0.0, 1.0 / 6}));
  EXPECT_EQ(hvp(f)(x, tensor({1.0, 1.0, 1.0, 1.0})).to_vector(),
            (std::vector{0.0, -1.0 / 32, 0.0, -1.0 / 108}));
  EXPECT_EQ(jvp(f)(x, tensor({1.0, 1.0, 1.0, 1.0})).second.item(), 0.25 + 1.0 / 6);
}

}  // namespace
}  // namespace hom::laws
