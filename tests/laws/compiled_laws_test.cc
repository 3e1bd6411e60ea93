// tests/laws/compiled_laws_test.cc -- everything that runs eagerly runs compiled, in both tiers,
// with the same bits
//
// Contractions and convolutions of f32 and f64 may add in another order, so programs with them are
// compared within their bound (tests/unit/routines_*): here eager executors multiply, and all the
// rest is exact.
#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/executable.h>
#include <hom/backends/cpu/jit/interpreter.h>
#include <hom/backends/cpu/jit/native_code.h>
#include <hom/backends/cpu/jit/tiers.h>
#include <hom/backends/nests/memory_plan.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/categories/batch.h>
#include <hom/hom.h>
#include <hom/tests/laws/plan_reference.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

/// The outputs of a plan by this code, twice: the second run meets used memory.
std::string difference_when_run(const nest::Plan& plan, std::shared_ptr<const cpu::Code> code,
                                const Tensors& inputs, const Tensors& want) {
  const cpu::Executable executable(plan, std::move(code));
  for (int run = 0; run < 2; ++run) {
    Tensors given = inputs;
    std::vector<cpu::Executable::Input> list;
    for (Tensor& x : given) list.emplace_back(&x);
    Tensors outputs(want.size());
    executable.run(list, outputs, Location::current());
    if (std::string wrong = difference_in_bits(outputs, want); !wrong.empty())
      return "run " + std::to_string(run) + ": " + wrong;
    if (std::string wrong = difference_in_bits(given, inputs); !wrong.empty())
      return "an input has changed: " + wrong;
  }
  return "";
}

nest::Plan plan_of(const Program& program) {
  nest::Plan plan = nest::lower(optimise(program), eager_routines());
  nest::plan_memory(plan);
  return plan;
}

/// No primitive that has a loop form runs in a routine.
std::string fallback_in(const nest::Plan& plan) {
  static const std::vector<std::string> routines{"dot_general",
                                                 "conv_general",
                                                 "cholesky",
                                                 "lu",
                                                 "qr",
                                                 "eigh",
                                                 "svd",
                                                 "triangular_solve",
                                                 "lu_solve",
                                                 "determinant",
                                                 "cofactor",
                                                 "pinv",
                                                 "fft",
                                                 "sort",
                                                 "random_bits",
                                                 "reverse_only",
                                                 "window_sum",
                                                 "window_spread",
                                                 "window_max",
                                                 "window_min",
                                                 "window_select_sum",
                                                 "window_select_spread"};
  for (const auto& routine : plan.routines) {
    const std::string name = routine->describe();
    const bool known = std::any_of(routines.begin(), routines.end(), [&](const std::string& one) {
      return name.find(one) != std::string::npos;
    });
    if (!known) return "fell back: " + name;
  }
  return "";
}

std::string compiled_equals_eager(const Program& program, const Tensors& inputs, Tier tier) {
  const nest::Plan plan = plan_of(program);
  if (std::string wrong = fallback_in(plan); !wrong.empty()) return wrong;
  const std::shared_ptr<const cpu::Code> code =
      tier == Tier::portable ? cpu::native_code(plan).code : cpu::code_for(plan, tier);
  if (code == nullptr) return "there is no code";
  std::string wrong = difference_when_run(plan, code, inputs, evaluate(program, inputs));
  if (wrong.empty()) return wrong;
  wrong += "\n" + to_text(optimise(program)) + to_string(plan);
  for (const nest::Kernel& kernel : plan.kernels) wrong += "\n" + to_string(kernel);
  return wrong;
}

TEST(CompiledLaws, random_programs_interpreted_equal_eager_bit_for_bit) {
  for_random_programs(
      "interpreted", 400, 12, {.domain = Domain::wild}, [](const RandomProgram& random, Choices&) {
        return compiled_equals_eager(random.program(), random.inputs, Tier::interpreter);
      });
}

TEST(CompiledLaws, long_random_programs_interpreted_equal_eager_bit_for_bit) {
  for_random_programs("interpreted, long", 60, 40, {.domain = Domain::wild, .max_size = 3000},
                      [](const RandomProgram& random, Choices&) {
                        return compiled_equals_eager(random.program(), random.inputs,
                                                     Tier::interpreter);
                      });
}

TEST(CompiledLaws, derivatives_interpreted_equal_eager_bit_for_bit) {
  for_random_programs("derivatives interpreted", 100, 12, {.domain = Domain::tame},
                      [](const RandomProgram& random, Choices& choices) {
                        const LinearAtPoint linear = derivative_at(random.program(), random.inputs);
                        for (const LinearAtPoint& one : {linear, linear.transposed()}) {
                          Tensors inputs = one.residuals;
                          for (const Tensor& dx : random_like(one.domain(), choices))
                            inputs.push_back(dx);
                          if (inputs.size() != one.program.inputs().size()) continue;
                          std::string wrong =
                              compiled_equals_eager(one.program, inputs, Tier::interpreter);
                          if (!wrong.empty()) return wrong;
                        }
                        return std::string();
                      });
}

TEST(CompiledLaws, batches_interpreted_equal_eager_bit_for_bit) {
  for_random_programs("batches interpreted", 100, 10, {.domain = Domain::tame},
                      [](const RandomProgram& random, Choices&) {
                        const Program program = random.program();
                        const std::int64_t lanes = 5;
                        const BatchedProgram batched =
                            batch(program, std::vector<bool>(random.inputs.size(), true), lanes);
                        Tensors inputs;
                        for (const Tensor& x : random.inputs) {
                          Shape shape = x.shape();
                          shape.insert(shape.begin(), lanes);
                          inputs.push_back(copy(broadcast_to(x, shape)));
                        }
                        return compiled_equals_eager(batched.program, inputs, Tier::interpreter);
                      });
}

TEST(CompiledLaws, random_programs_native_equal_eager_bit_for_bit) {
  for_random_programs("native", 60, 25, {.domain = Domain::wild, .max_size = 2000},
                      [](const RandomProgram& random, Choices&) {
                        return compiled_equals_eager(random.program(), random.inputs,
                                                     Tier::portable);
                      });
}

TEST(CompiledLaws, random_programs_as_machine_code_equal_eager_bit_for_bit) {
  for_random_programs("machine code", 400, 12, {.domain = Domain::wild, .max_size = 2000},
                      [](const RandomProgram& random, Choices&) {
                        return compiled_equals_eager(random.program(), random.inputs, Tier::native);
                      });
}

TEST(CompiledLaws, derivatives_as_machine_code_equal_eager_bit_for_bit) {
  for_random_programs("derivatives as machine code", 100, 12, {.domain = Domain::tame},
                      [](const RandomProgram& random, Choices& choices) {
                        const LinearAtPoint linear = derivative_at(random.program(), random.inputs);
                        for (const LinearAtPoint& one : {linear, linear.transposed()}) {
                          Tensors inputs = one.residuals;
                          for (const Tensor& dx : random_like(one.domain(), choices))
                            inputs.push_back(dx);
                          if (inputs.size() != one.program.inputs().size()) continue;
                          std::string wrong =
                              compiled_equals_eager(one.program, inputs, Tier::native);
                          if (!wrong.empty()) return wrong;
                        }
                        return std::string();
                      });
}

TEST(CompiledLaws, a_sum_of_what_is_shared_many_times_takes_linear_time) {
  // As a tree, and not as what is shared, its terms would be 2^200 values.
  const auto f = [](Tensor x) {
    for (int i = 0; i < 200; ++i) x = sin(x) + x * 0.5;
    return sum(x);
  };
  const Program program = value_and_gradient(hom::program(f, f64[{100}]), {true}, {});
  Choices choices(1);
  const Tensors inputs{random_tensor(f64[{100}], Domain::tame, choices)};
  for (const Tier tier : {Tier::interpreter, Tier::portable, Tier::native})
    EXPECT_EQ(compiled_equals_eager(program, inputs, tier), "");
}

}  // namespace
}  // namespace hom::laws
