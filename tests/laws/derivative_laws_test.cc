// tests/laws/derivative_laws_test.cc -- the laws of the two functors, linearize and transpose
//
// Finite differences are the oracle of forward mode, and forward mode that of reverse mode.
// Programs are in f64, at points where they are smooth.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

const Wish smooth{.domain = Domain::smooth, .max_size = 40};
/// Without what has another derivative than it has differences.
const Wish honest{.domain = Domain::smooth, .without = {"stop_gradient"}, .max_size = 40};

struct Checked {
  std::int64_t elements = 0;
  std::int64_t skipped = 0;
};

/// Central differences, extrapolated (L. F. Richardson, 1911); elements whose two estimates
/// disagree are skipped.
std::string equals_finite_differences(const std::function<Tensors(const Tensors&)>& f,
                                      std::span<const Tensor> x, std::span<const Tensor> dx,
                                      std::span<const Tensor> dy, Checked& checked) {
  constexpr double h = 1e-4;
  const auto quotient = [&](double step) {
    const Tensors above = floats_of(f(moved(x, dx, step)));
    const Tensors below = floats_of(f(moved(x, dx, -step)));
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i < above.size(); ++i) {
      std::vector<double> value = above[i].to_vector();
      const std::vector<double> other = below[i].to_vector();
      for (std::size_t k = 0; k < value.size(); ++k) value[k] = (value[k] - other[k]) / (2 * step);
      all.push_back(std::move(value));
    }
    return all;
  };
  const auto coarse = quotient(h);
  const auto fine = quotient(h / 2);
  if (dy.size() != fine.size())
    return std::to_string(dy.size()) + " tangents for " + std::to_string(fine.size()) +
           " float results";
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const std::vector<double> got = dy[i].to_vector();
    if (got.size() != fine[i].size()) return "a tangent has another size than its result";
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double want = (4 * fine[i][k] - coarse[i][k]) / 3;
      const double doubt = std::abs(fine[i][k] - coarse[i][k]);
      checked.elements += 1;
      if (!(doubt <= 1e-3 * (1 + std::abs(want)))) {
        checked.skipped += 1;
      } else if (!(std::abs(got[k] - want) <= 1e-6 * (1 + std::abs(want)) + doubt)) {
        return "result " + std::to_string(i) + ", element " + std::to_string(k) + ": derivative " +
               to_string(got[k]) + ", finite difference " + to_string(want);
      }
    }
  }
  return "";
}

std::string jvp_equals_finite_differences(const RandomProgram& program, Choices& choices,
                                          Checked& checked) {
  const Program captured = program.program();
  const LinearAtPoint derivative = derivative_at(captured, program.inputs);
  const Tensors dx = random_like(derivative.domain(), choices);
  const auto f = [&](const Tensors& x) { return evaluate(captured, x); };
  return equals_finite_differences(f, program.inputs, dx, derivative(dx), checked);
}

/// ⟨ct, L dx⟩ = ⟨Lᵀ ct, dx⟩
std::string is_adjoint(const LinearAtPoint& linear, Choices& choices, double tolerance) {
  const Tensors dx = random_like(linear.domain(), choices);
  const Tensors ct = random_like(linear.codomain(), choices);
  const Tensors dy = linear(dx);
  const Tensors pulled = linear.transposed()(ct);
  const Inner there = inner(ct, dy);
  const Inner back = inner(pulled, dx);
  if (!std::isfinite(there.magnitude + back.magnitude)) return "";
  if (std::abs(there.product - back.product) <= tolerance * (1 + there.magnitude + back.magnitude))
    return "";
  return "<ct, jvp dx> = " + to_string(there.product) +
         ", <vjp ct, dx> = " + to_string(back.product);
}

std::string vjp_is_adjoint_of_jvp(const RandomProgram& program, Choices& choices) {
  const Program captured = program.program();
  return is_adjoint(derivative_at(captured, program.inputs), choices,
                    1e-11 + 16 * coarsest_epsilon(captured) * (coarsest_epsilon(captured) > 1e-9));
}

bool is_differentiable(const Primitive& p) {
  return (p.derivative || p.call_derivative) && p.dtypes.contains(f64);
}

/// A law of every differentiable primitive alone, over sizes and attributes.
void for_each_differentiable_step(const Property& law, const Wish& wish = smooth) {
  for (const Primitive* p : standard_primitives().all()) {
    if (!is_differentiable(*p) || std::count(wish.without.begin(), wish.without.end(), p->name))
      continue;
    int found = 0;
    for (SizeClass size : all_size_classes) {
      Choices choices(run_seed() * 104729 + static_cast<std::uint64_t>(size));
      int of_size = 0;
      for (int attempt = 0; attempt < 60 && of_size < 6 * case_factor(); ++attempt) {
        const auto program = single_step(*p, f64[random_shape(size, choices)], wish, choices);
        if (!program) continue;
        ++of_size;
        std::string wrong;
        try {
          wrong = law(*program, choices);
        } catch (const std::exception& error) {
          wrong = error.what();
        }
        EXPECT_EQ(wrong, "") << p->name << "\n" << text_of(*program);
        if (!wrong.empty()) break;
      }
      found += of_size;
    }
    EXPECT_GE(found, 5) << p->name;
  }
}

TEST(Laws, jvp_equals_finite_differences) {
  Checked checked;
  const auto law = [&](const RandomProgram& program, Choices& choices) {
    return jvp_equals_finite_differences(program, choices, checked);
  };
  for_each_differentiable_step(law, honest);
  EXPECT_LE(checked.skipped * 50, checked.elements);
  checked = {};
  for_random_programs("jvp_equals_finite_differences", 4500, 20, honest, law);
  EXPECT_GE(checked.elements, 1000);
  EXPECT_LE(checked.skipped * 20, checked.elements);
}

TEST(Laws, vjp_is_adjoint_of_jvp) {
  for_each_differentiable_step(vjp_is_adjoint_of_jvp);
  for_random_programs("vjp_is_adjoint_of_jvp", 4500, 24, smooth, vjp_is_adjoint_of_jvp);
  // At ties, kinks and in every float dtype as well.
  for_random_programs("vjp_is_adjoint_of_jvp, of every dtype", 4500, 16, {.domain = Domain::tame},
                      vjp_is_adjoint_of_jvp);
}

std::string transpose_twice_is_identity(const RandomProgram& program, Choices& choices) {
  const LinearAtPoint linear = derivative_at(program.program(), program.inputs);
  const LinearAtPoint twice = linear.transposed().transposed();
  const Tensors dx = random_like(linear.domain(), choices);
  return difference(twice(dx), linear(dx), 1e-11);
}

TEST(Laws, transpose_twice_is_identity) {
  for_each_differentiable_step(transpose_twice_is_identity);
  for_random_programs("transpose_twice_is_identity", 3000, 20, smooth, transpose_twice_is_identity);
}

/// A derivative as a function of its residuals and tangents, at residuals and tangents.
RandomProgram as_function(const LinearAtPoint& linear, std::span<const Tensor> dx) {
  RandomProgram f;
  f.inputs = linear.residuals;
  f.inputs.insert(f.inputs.end(), dx.begin(), dx.end());
  return f;
}

std::string jvp_of_transpose_is_transpose_of_jvp(const RandomProgram& program, Choices& choices) {
  const LinearAtPoint linear = derivative_at(program.program(), program.inputs);
  const LinearAtPoint transposed = linear.transposed();
  const Tensors dx = random_like(linear.domain(), choices);
  const Tensors ct = random_like(linear.codomain(), choices);
  const Tensors residual_tangents = random_like(
      [&] {
        std::vector<TensorType> types;
        for (const Tensor& residual : floats_of(linear.residuals)) types.push_back(residual.type());
        return types;
      }(),
      choices);
  // At fixed residuals: D(Lᵀ) = Lᵀ = (D L)ᵀ.
  const LinearAtPoint of_linear = derivative_at(linear.program, as_function(linear, dx).inputs);
  const LinearAtPoint of_transposed =
      derivative_at(transposed.program, as_function(transposed, ct).inputs);
  const auto with_zeros = [](std::span<const Tensor> residuals,
                             const std::vector<TensorType>& tangents, std::span<const Tensor> dr,
                             std::span<const Tensor> dt) {
    Tensors all;
    std::size_t next = 0;
    for (const Tensor& r : floats_of(residuals))
      all.push_back(dr.empty() ? zeros(r.type()) : dr[next++]);
    for (std::size_t i = 0; i < tangents.size(); ++i)
      all.push_back(dt.empty() ? zeros(tangents[i]) : dt[i]);
    return all;
  };
  const Tensors other_ct = random_like(linear.codomain(), choices);
  const Tensors got = of_transposed(with_zeros(linear.residuals, linear.codomain(), {}, other_ct));
  if (std::string wrong = difference(got, transposed(other_ct), 1e-11); !wrong.empty())
    return "D(Lᵀ) is not Lᵀ: " + wrong;
  const Tensors other_dx = random_like(linear.domain(), choices);
  const Tensors itself = of_linear(with_zeros(linear.residuals, linear.domain(), {}, other_dx));
  if (std::string wrong = difference(itself, linear(other_dx), 1e-11); !wrong.empty())
    return "D L is not L: " + wrong;
  // Along the residuals r: ⟨ct, ∂L/∂r(dr)(dx)⟩ = ⟨∂Lᵀ/∂r(dr)(ct), dx⟩.
  const Inner there =
      inner(ct, of_linear(with_zeros(linear.residuals, linear.domain(), residual_tangents, {})));
  const Inner back = inner(
      of_transposed(with_zeros(linear.residuals, linear.codomain(), residual_tangents, {})), dx);
  if (std::abs(there.product - back.product) <= 1e-10 * (1 + there.magnitude + back.magnitude))
    return "";
  return "<ct, dL dx> = " + to_string(there.product) +
         ", <dLt ct, dx> = " + to_string(back.product);
}

TEST(Laws, jvp_of_transpose_is_transpose_of_jvp) {
  for_each_differentiable_step(jvp_of_transpose_is_transpose_of_jvp);
  for_random_programs("jvp_of_transpose_is_transpose_of_jvp", 2250, 16, smooth,
                      jvp_of_transpose_is_transpose_of_jvp);
}

std::string derivative_of_linear_program_is_itself(const RandomProgram& program, Choices& choices) {
  const LinearAtPoint linear = derivative_at(program.program(), program.inputs);
  std::vector<bool> wanted(linear.program.outputs().size(), true);
  const Linearization lin = linearize(linear.program, linear.marked(), &wanted);
  Tensors at = linear.residuals;
  for (const Tensor& x : random_like(linear.domain(), choices)) at.push_back(x);
  const Tensors all = evaluate(lin.primal, at);
  Tensors arguments(all.begin() + static_cast<std::ptrdiff_t>(wanted.size()), all.end());
  const Tensors dx = random_like(linear.domain(), choices);
  arguments.insert(arguments.end(), dx.begin(), dx.end());
  return difference(evaluate(lin.linear, arguments), linear(dx), 1e-12);
}

TEST(Laws, derivative_of_linear_program_is_itself) {
  for_each_differentiable_step(derivative_of_linear_program_is_itself);
  for_random_programs("derivative_of_linear_program_is_itself", 3000, 20, smooth,
                      derivative_of_linear_program_is_itself);
}

/// D (g ∘ f)(x) = D g (f x) ∘ D f (x)
std::string d_of_compose_is_chain_rule(const RandomProgram& program, Choices& choices) {
  const Program f = program.program();
  Wish wish = smooth;
  wish.inputs = evaluate(f, program.inputs);
  Recipe recipe;
  for (std::int64_t lines = choices.between(1, 8); lines >= 0; --lines)
    recipe.seeds.push_back(choices.bits());
  RandomProgram second = random_program(recipe, wish);
  const Program g = second.program();
  // g has inputs of its own, behind those that f feeds.
  Builder builder;
  std::vector<Slot> inputs;
  for (const Tensor& x : program.inputs)
    inputs.push_back(builder.add_input(x.type(), "x" + std::to_string(inputs.size())));
  std::vector<Slot> between = builder.append_program(f, inputs);
  Tensors at = program.inputs;
  for (std::size_t i = wish.inputs.size(); i < second.inputs.size(); ++i) {
    at.push_back(second.inputs[i]);
    between.push_back(builder.add_input(second.inputs[i].type(), "z" + std::to_string(i)));
  }
  const Program composite = [&] {
    std::vector<Slot> outputs = builder.append_program(g, between);
    return std::move(builder).finish(std::move(outputs), {});
  }();

  const LinearAtPoint whole = derivative_at(composite, at);
  const LinearAtPoint df = derivative_at(f, program.inputs);
  const LinearAtPoint dg = derivative_at(g, second.inputs);
  const Tensors dx = random_like(whole.domain(), choices);
  Tensors middle = df({dx.begin(), dx.begin() + static_cast<std::ptrdiff_t>(df.domain().size())});
  middle.insert(middle.end(), dx.begin() + static_cast<std::ptrdiff_t>(df.domain().size()),
                dx.end());
  return difference(whole(dx), dg(middle), 1e-11);
}

TEST(Laws, d_of_compose_is_chain_rule) {
  for_random_programs("d_of_compose_is_chain_rule", 3000, 10, smooth, d_of_compose_is_chain_rule);
}

TEST(Laws, d_of_identity_is_identity) {
  const Program id = program([](Tensor x) { return x; }, f64[{3}]);
  const Tensors x{tensor({1.0, 2.0, 3.0})};
  const Tensors dx{tensor({0.5, -0.0, 1.5})};
  EXPECT_EQ(difference_in_bits(derivative_at(id, x)(dx), dx), "");
  EXPECT_EQ(linearize(id, {true}).linear.step_count(), 0u);
}

TEST(Laws, what_is_multiplied_by_zero_is_linear_all_the_same) {
  const std::function<Tensor(Tensor)> functions[] = {
      [](Tensor x) { return sum(x * 0.0); },
      [](Tensor x) { return sum(cumsum(x * 0.0)); },
      [](Tensor x) { return dot(x * 0.0, x); },
      [](Tensor x) { return sum(take(x * 0.0, tensor({0, 1}))); },
      [](Tensor x) { return sum(concat({x * 0.0, x * 0.0})); },
      [](Tensor x) { return sum(pad(x * 0.0, 0.0, {1}, {1})); },
      [](Tensor x) {
        return sum(scatter(x * 0.0, tensor({{0}, {1}}), x * 0.0, {0}, Combine::add));
      },
      [](Tensor x) { return sum(dynamic_slice(x * 0.0, tensor({0}), {2})); },
      [](Tensor x) { return sum(flip(x * 0.0, {0}) * x); },
      [](Tensor x) { return max(x * 0.0) * x(0); },
      [](Tensor x) { return sum(named("zero", [](Tensor y) { return y * 0.0; })(x)); },
      [](Tensor x) {
        return sum(cond(
            x(0) > 0.0, [](Tensor y) { return y * 0.0; }, [](Tensor y) { return y * 0.0; }, x));
      },
  };
  for (std::size_t i = 0; i < std::size(functions); ++i) {
    const auto f = [&](Tensor x) { return functions[i](x) + 3.0 * sum(x); };
    const Tensor x = tensor({1.0, 2.0});
    try {
      EXPECT_EQ(grad(f)(x).to_vector(), (std::vector{3.0, 3.0})) << "function " << i;
      EXPECT_EQ(jvp(f)(x, tensor({1.0, 0.5})).second.item(), 4.5) << "function " << i;
      EXPECT_EQ(hvp(f)(x, x).to_vector(), (std::vector{0.0, 0.0})) << "function " << i;
      const auto alone = [&](Tensor t) { return functions[i](t); };
      EXPECT_EQ(grad(alone)(x).to_vector(), (std::vector{0.0, 0.0})) << "function " << i;
    } catch (const Error& error) {
      ADD_FAILURE() << "function " << i << ": " << error.what();
    }
  }
}

TEST(Laws, integer_leaves_get_the_unit) {
  const auto law = [](const RandomProgram& program, Choices&) -> std::string {
    const Program captured = program.program();
    std::vector<TensorType> float_inputs;
    for (const Tensor& x : floats_of(program.inputs)) float_inputs.push_back(x.type());
    const Linearization lin = linearize(captured, std::vector<bool>(program.inputs.size(), true));
    const std::vector<TensorType> all = lin.linear.input_types();
    const std::vector<TensorType> tangents(
        all.begin() + static_cast<std::ptrdiff_t>(lin.residual_count), all.end());
    if (tangents != float_inputs) return "the tangents are not those of the float inputs";
    for (std::size_t i = 0; i < lin.output_varies.size(); ++i) {
      if (lin.output_varies[i] && !captured.output_types()[i].dtype.is_float())
        return "an integer output varies";
    }
    std::vector<bool> linear(lin.residual_count, false);
    linear.resize(all.size(), true);
    if (transpose(lin.linear, linear).output_types() != float_inputs)
      return "the cotangents are not those of the float inputs";
    return "";
  };
  for_random_programs("integer_leaves_get_the_unit", 3000, 16, {.domain = Domain::tame}, law);

  using Leaves = std::tuple<Tensor, std::vector<Tensor>, std::pair<Tensor, Tensor>>;
  const Leaves x{
      tensor({1.0, 2.0}), {tensor({1, 0}), tensor({true, false})}, {Tensor(3), Tensor(0.5)}};
  const auto f = [](const Leaves& p) {
    const auto& [a, list, pair] = p;
    return sum(gather(a, reshape(list[0], {2, 1}), {0}) * pair.second + where(list[1], a, 0.0)) +
           pair.first.astype(f64);
  };
  const auto [value, gradient] = value_and_grad(f)(x);
  const auto& [da, list, pair] = gradient;
  EXPECT_EQ(value.item(), 5.5);
  EXPECT_EQ(da.to_vector(), (std::vector{1.5, 0.5}));
  EXPECT_TRUE(list.at(0).is_empty() && list.at(1).is_empty() && pair.first.is_empty());
  EXPECT_EQ(pair.second.item(), 3);
}

}  // namespace
}  // namespace hom::laws
