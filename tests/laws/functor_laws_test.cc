// tests/laws/functor_laws_test.cc -- linearize and transpose equal Elliott's categories, and what
// hom-objects as data save
#include <cmath>

#include <gtest/gtest.h>

#include <hom/categories/transpose.h>
#include <hom/hom.h>
#include <hom/tests/laws/category_laws.h>

namespace hom::laws {
namespace {

const Wish smooth{.domain = Domain::smooth, .max_size = 20, .depth = 1};

/// The Jacobian of the production functor, column by column.
Matrices::Arrow production(const LinearAtPoint& linear) {
  return matrix_of(Additive{}, {linear.domain(), linear.codomain(), linear});
}

/// What a program's derivative at its point is in GAD k, as a matrix.
template <LinearCategory K>
std::string derivative_in(const K& k, const RandomProgram& program) {
  const Program captured = program.program();
  const auto [value, derivative] = read(GAD<K>{k}, captured)(program.inputs);
  if (std::string wrong = difference(value, evaluate(captured, program.inputs), 1e-12);
      !wrong.empty())
    return "the value: " + wrong;
  return difference(production(derivative_at(captured, program.inputs)), matrix_of(k, derivative));
}

Environment domain_of(const RandomProgram& program) {
  return tangent(program.program().input_types());
}
Environment codomain_of(const RandomProgram& program) {
  return tangent(program.program().output_types());
}

TEST(Functors, linearize_equals_gad_over_additive_functions) {
  for_random_programs(
      "linearize = GAD (-+>)", 3000, 16, smooth,
      [](const RandomProgram& program, Choices&) { return derivative_in(Additive{}, program); });
}

TEST(Functors, jacobian_is_the_matrix_of_gad) {
  for_random_programs(
      "linearize = GAD Matrices", 4000, 16, smooth,
      [](const RandomProgram& program, Choices&) { return derivative_in(Matrices{}, program); });
}

TEST(Functors, linearize_equals_gad_over_programs) {
  for_random_programs(
      "linearize = GAD Programs", 3000, 16, smooth,
      [](const RandomProgram& program, Choices&) { return derivative_in(Programs{}, program); });
}

TEST(Functors, linearize_equals_gad_over_begin) {
  for_random_programs("linearize = GAD (Begin Programs)", 3000, 16, smooth,
                      [](const RandomProgram& program, Choices&) {
                        const Begin<Programs> k{{}, domain_of(program)};
                        return derivative_in(k, program);
                      });
}

TEST(Functors, linearize_equals_gad_over_dual) {
  for_random_programs("linearize = GAD (Dual (-+>))", 2000, 10, smooth,
                      [](const RandomProgram& program, Choices&) {
                        return derivative_in(Dual<Additive>{}, program);
                      });
  for_random_programs("linearize = GAD (Dual Matrices)", 3000, 16, smooth,
                      [](const RandomProgram& program, Choices&) {
                        return derivative_in(Dual<Matrices>{}, program);
                      });
}

TEST(Functors, linearize_equals_gad_over_cont) {
  for_random_programs("linearize = GAD (Cont Matrices)", 3000, 16, smooth,
                      [](const RandomProgram& program, Choices&) {
                        const Cont<Matrices> k{{}, codomain_of(program)};
                        return derivative_in(k, program);
                      });
}

/// Reverse mode with cotangents as data: what transpose does.
TEST(Functors, transpose_of_linearize_equals_gad_over_dual_begin) {
  for_random_programs(
      "transpose . linearize = GAD (Dual (Begin Programs))", 4000, 16, smooth,
      [](const RandomProgram& program, Choices&) {
        const Program captured = program.program();
        const Dual<Begin<Programs>> k{{{}, codomain_of(program)}};
        const auto [value, derivative] =
            read(GAD<Dual<Begin<Programs>>>{k}, captured)(program.inputs);
        const LinearAtPoint pullback = derivative_at(captured, program.inputs).transposed();
        return difference(production(pullback), matrix_of(k.k, derivative.reversed));
      });
}

/// The derivative of a random program, read in a category of linear arrows.
template <LinearCategory K>
std::string reads_linear_programs(const K& k, const RandomProgram& program) {
  const LinearAtPoint linear = derivative_at(program.program(), program.inputs);
  const Matrices::Arrow want = production(linear);
  if (std::string wrong =
          difference(matrix_of(k, read_linear(k, linear.program, linear.residuals)), want);
      !wrong.empty())
    return "L: " + wrong;
  const LinearAtPoint pullback = linear.transposed();
  return difference(
      matrix_of(Dual<K>{k}, read_linear(Dual<K>{k}, linear.program, linear.residuals)),
      transposed(production(pullback)));
}

TEST(Functors, transpose_equals_dual) {
  for_random_programs("transpose = Dual (-+>)", 2000, 10, smooth,
                      [](const RandomProgram& program, Choices&) {
                        return reads_linear_programs(Additive{}, program);
                      });
  for_random_programs("transpose = Dual Matrices", 3000, 16, smooth,
                      [](const RandomProgram& program, Choices&) {
                        return reads_linear_programs(Matrices{}, program);
                      });
}

/// Every primitive alone, over sizes and attributes.
TEST(Functors, every_primitive_has_one_derivative_in_all_categories) {
  int drawn = 0;
  for (const Primitive* p : standard_primitives().all()) {
    for (SizeClass size : {SizeClass::zero, SizeClass::one, SizeClass::small, SizeClass::odd}) {
      Choices choices(run_seed() * 7919 + static_cast<std::uint64_t>(size));
      int of_size = 0;
      for (int attempt = 0; attempt < 40 && of_size < 3 * case_factor(); ++attempt) {
        const auto program = single_step(*p, f64[random_shape(size, choices)], smooth, choices);
        if (!program || tangent(program->program().output_types()).empty()) continue;
        ++of_size;
        ++drawn;
        const auto expect_none = [&](const char* category, const std::string& wrong) {
          EXPECT_EQ(wrong, "") << p->name << " in " << category << "\n" << text_of(*program);
        };
        try {
          expect_none("Additive", derivative_in(Additive{}, *program));
          expect_none("Matrices", derivative_in(Matrices{}, *program));
          expect_none("Dual Matrices", derivative_in(Dual<Matrices>{}, *program));
          expect_none("Dual Programs", derivative_in(Dual<Programs>{}, *program));
          expect_none("transpose", reads_linear_programs(Matrices{}, *program));
        } catch (const std::exception& error) {
          expect_none("all", error.what());
        }
      }
    }
  }
  EXPECT_GE(drawn, 500);
}

TEST(Functors, vjp_is_adjoint_of_jvp) {
  for_random_programs(
      "the matrix of vjp is that of jvp transposed", 3000, 16, smooth,
      [](const RandomProgram& program, Choices&) {
        const LinearAtPoint linear = derivative_at(program.program(), program.inputs);
        return difference(production(linear.transposed()), transposed(production(linear)));
      });
}

TEST(Functors, dual_twice_is_identity) {
  for_random_programs(
      "Dual (Dual Matrices) = Matrices", 3000, 16, smooth,
      [](const RandomProgram& program, Choices&) {
        const Dual<Dual<Matrices>> k;
        const LinearAtPoint linear = derivative_at(program.program(), program.inputs);
        return difference(matrix_of(k, read_linear(k, linear.program, linear.residuals)),
                          read_linear(Matrices{}, linear.program, linear.residuals));
      });
}

/// Reading in the free category gives the program back, with what it calls inside.
TEST(Functors, reading_in_programs_is_identity) {
  for_random_programs("reading in Programs is identity", 500, 20,
                      {.domain = Domain::tame, .max_size = 20},
                      [](const RandomProgram& program, Choices&) {
                        const Program captured = program.program();
                        const Program again = to_program(read(Programs{}, captured));
                        return difference_in_bits(evaluate(again, program.inputs),
                                                  evaluate(captured, program.inputs));
                      });
}

TEST(Functors, interpret_equals_read) {
  for_random_programs(
      "interpret = read, of arrays", 500, 20, {.domain = Domain::tame, .max_size = 20},
      [](const RandomProgram& program, Choices&) {
        const Program captured = program.program();
        const Tensors want = evaluate(captured, program.inputs);
        const Tensors light = interpret(categories::Arrays{}, captured, program.inputs);
        if (std::string wrong = difference_in_bits(light, want); !wrong.empty())
          return "interpret: " + wrong;
        const auto arrow = read(Functions<categories::Arrays>{}, captured);
        return difference_in_bits(arrow(program.inputs), want);
      });
}

/// currying is eliminated at capture, so that programs are first-order and every category is as
/// good as closed: apply ∘ (curry f × id) = f.
TEST(Functors, apply_of_curry_is_the_arrow_in_every_category) {
  const auto f = [](Tensor x, Tensor y) { return sin(x) * y + x; };
  const auto applied = cross(curry(f), arrows::id) >> arrows::apply;
  const Program plain = program(f, f64[{3}], f64[{3}]);
  const Program curried = program(applied, f64[{3}], f64[{3}]);
  const Program uncurried = program(uncurry(curry(f)), f64[{3}], f64[{3}]);
  const Tensors at{tensor({0.5, -1.0, 2.0}), tensor({1.5, 0.25, -2.0})};
  Choices choices(1);
  const GAD<Matrices> gad;
  for (const Program* p : {&curried, &uncurried}) {
    EXPECT_EQ(*p, plain);
    EXPECT_EQ(differ(gad, read(gad, *p), read(gad, plain), at, choices), "");
    EXPECT_EQ(differ(Programs{}, read(Programs{}, *p), read(Programs{}, plain), at, choices), "");
  }
}

// ---- what hom-objects as data save ----

/// x ↦ x + x as jam ∘ (id △ id), n times over.
template <LinearCategory K>
typename K::Arrow doubled(const K& k, int n) {
  const Environment real{f64[{}]};
  typename K::Arrow all = k.id(real);
  const typename K::Arrow twofold = plus(k, k.id(real), k.id(real));
  for (int i = 0; i < n; ++i) all = k.compose(twofold, all);
  return all;
}

TEST(Functors, doubling_functions_calls_them_exponentially_often) {
  const Begin<Additive> k{{}, {f64[{}]}};
  for (int n : {3, 6, 10}) {
    std::int64_t calls = 0;
    const Additive::Arrow counted{{f64[{}]}, {f64[{}]}, [&](const Tensors& x) {
                                    ++calls;
                                    return x;
                                  }};
    const Additive::Arrow all = doubled(k, n).function(counted);
    EXPECT_EQ(all({Tensor(1.0)})[0].item(), std::ldexp(1.0, n));
    EXPECT_EQ(calls, std::int64_t{1} << n);
  }
}

/// An arrow as a function of its point: value of the derivative, forwards or backwards.
TEST(Functors, doubling_data_takes_a_step_each) {
  const Environment real{f64[{}]};
  for (int n : {1, 10, 1000}) {
    const auto steps = static_cast<std::size_t>(n);
    const Begin<Programs> begin{{}, real};
    const Programs::Arrow forward = begin.at_identity(doubled(begin, n));
    EXPECT_EQ(forward.graph->steps_built(), steps) << "Begin";
    const Dual<Begin<Programs>> dual{begin};
    const Programs::Arrow backward = begin.at_identity(doubled(dual, n).reversed);
    EXPECT_EQ(backward.graph->steps_built(), steps) << "Dual (Begin Programs)";
    const Tensors one{Tensor(1.0)};
    EXPECT_EQ(evaluate(to_program(forward), one)[0].item(), std::ldexp(1.0, n));
    EXPECT_EQ(evaluate(to_program(backward), one)[0].item(), std::ldexp(1.0, n));
  }
}

TEST(Functors, reading_n_doublings_takes_n_steps_in_both_modes) {
  const auto f = [](int n) {
    return [n](Tensor x) {
      for (int i = 0; i < n; ++i) x = x + x;
      return x;
    };
  };
  const Environment real{f64[{}]};
  for (int n : {10, 100, 1000}) {
    const Program doubling = program(f(n), f64[{}]);
    ASSERT_EQ(doubling.step_count(), static_cast<std::size_t>(n));
    const Begin<Programs> begin{{}, real};
    const Dual<Begin<Programs>> dual{begin};
    const Programs::Arrow forward = begin.at_identity(read_linear(begin, doubling));
    const Programs::Arrow backward = begin.at_identity(read_linear(dual, doubling).reversed);
    EXPECT_EQ(forward.graph->steps_built(), static_cast<std::size_t>(n));
    EXPECT_EQ(backward.graph->steps_built(), static_cast<std::size_t>(n));
    EXPECT_EQ(cost(to_program(backward)).work, cost(transpose(doubling, {true})).work);
  }
}

/// Reverse mode over data builds in proportion to the program, as the production functors do.
TEST(Functors, gad_over_dual_begin_builds_linearly_many_steps) {
  const auto built = [](int n) {
    const Program p = program(
        [n](Tensor x) {
          Tensor y = x;
          for (int i = 0; i < n; ++i) y = sin(y) * x + y;
          return y;
        },
        f64[{}]);
    const Dual<Begin<Programs>> k{{{}, {f64[{}]}}};
    const auto [value, derivative] = read(GAD<Dual<Begin<Programs>>>{k}, p)({Tensor(0.3)});
    const Programs::Arrow gradient = k.k.at_identity(derivative.reversed);
    const auto want = grad([&](Tensor x) {
      Tensor y = x;
      for (int i = 0; i < n; ++i) y = sin(y) * x + y;
      return y;
    })(0.3);
    EXPECT_NEAR(evaluate(to_program(gradient), {Tensor(1.0)})[0].item(), want.item(),
                1e-9 * std::abs(want.item()));
    return gradient.graph->steps_built();
  };
  // As many for each line of the function, whatever comes before.
  EXPECT_EQ(built(200) - built(100), 10 * (built(20) - built(10)));
}

// ---- what a category cannot express ----

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Functors, what_is_not_linear_fails_at_its_line) {
  const Program p = program([](Tensor x) { return sin(x); }, f64[{}]);
  const std::string text = message([&] { read_linear(Matrices{}, p); });
  EXPECT_NE(text.find("matrices: no arrow for sin: it is linear in none of its operands"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("functor_laws_test.cc"), std::string::npos) << text;

  const Program square = program([](Tensor x) { return x * x; }, f64[{}]);
  const std::string product = message([&] { read_linear(Additive{}, square); });
  EXPECT_NE(product.find("additive functions: no arrow for mul: both factors vary"),
            std::string::npos)
      << product;
  const Program affine = program([](Tensor x) { return x + 1.0; }, f64[{}]);
  const std::string sum = message([&] { read_linear(Dual<Matrices>{}, affine); });
  EXPECT_NE(sum.find("the dual of matrices: no arrow for add: an operand is constant and not 0"),
            std::string::npos)
      << sum;
  const Program constant = program([](Tensor) { return Tensor(3.0); }, f64[{}]);
  const std::string output = message([&] { read_linear(Programs{}, constant); });
  EXPECT_NE(output.find("output 0 is constant and not 0"), std::string::npos) << output;
}

TEST(Functors, a_category_lists_its_primitives) {
  const std::string list = list_primitives(Matrices{});
  EXPECT_EQ(list.find("- has `neg`, "), 0u) << list;
  EXPECT_NE(list.find("- lacks "), std::string::npos) << list;
  EXPECT_NE(list.find("`sin`"), std::string::npos);
  EXPECT_EQ(list_primitives(Programs{}).find("lacks"), std::string::npos);
}

/// The derivative that is given, not that of the function.
TEST(Functors, gad_keeps_derivatives_of_ones_own) {
  const auto f = custom_jvp([](Tensor x) { return x * x; },
                            [](Tensor, Tensor, Tensor dx) { return 100.0 * dx; });
  const auto [y, derivative] =
      read(GAD<Matrices>{}, program([&](Tensor x) { return sin(f(x)); }, f64[{}]))({Tensor(3.0)});
  EXPECT_EQ(y[0].item(), sin(Tensor(9.0)).item());
  EXPECT_NEAR(derivative.at(0, 0), 100.0 * std::cos(9.0), 1e-12);
}

}  // namespace
}  // namespace hom::laws
