// tests/laws/scheduler_laws_test.cc -- a program as loops has the bits that it has eagerly
//
// Kernels are run position by position, so that neither emitter nor interpreter has a part in it.
#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/plan_reference.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

std::string plan_equals_eager(const Program& program, const Tensors& inputs, bool fuse) {
  nest::LowerOptions options = eager_routines();
  options.fuse = fuse;
  const nest::Plan plan = nest::lower(program, options);
  for (const nest::Kernel& kernel : plan.kernels) nest::verify(kernel);
  cpu::FailureRecord record;
  const Tensors got = run_reference(plan, inputs, record);
  const std::string text = (fuse ? "fused" : "one by one") + std::string("\n") + to_string(plan);
  if (record.failure != 0) return "failure " + std::to_string(record.failure) + ", " + text;
  std::string wrong = difference_in_bits(got, evaluate(program, inputs));
  if (wrong.empty()) return wrong;
  wrong += "\n" + to_text(program) + text;
  for (const nest::Kernel& kernel : plan.kernels) wrong += "\n" + to_string(kernel);
  return wrong;
}

std::string loops_equal_eager(const RandomProgram& random, Choices&) {
  for (bool fuse : {true, false}) {
    if (std::string wrong = plan_equals_eager(random.program(), random.inputs, fuse);
        !wrong.empty())
      return wrong;
  }
  return "";
}

TEST(SchedulerLaws, random_programs_as_loops_equal_eager_bit_for_bit) {
  for_random_programs("as loops", 400, 12, {.domain = Domain::wild}, loops_equal_eager);
}

TEST(SchedulerLaws, long_random_programs_as_loops_equal_eager_bit_for_bit) {
  for_random_programs("as loops, long", 60, 40, {.domain = Domain::wild, .max_size = 300},
                      loops_equal_eager);
}

TEST(SchedulerLaws, derivatives_as_loops_equal_eager_bit_for_bit) {
  for_random_programs("derivatives as loops", 100, 12, {.domain = Domain::tame},
                      [](const RandomProgram& random, Choices& choices) {
                        const LinearAtPoint linear = derivative_at(random.program(), random.inputs);
                        for (const LinearAtPoint& one : {linear, linear.transposed()}) {
                          Tensors inputs = one.residuals;
                          for (const Tensor& dx : random_like(one.domain(), choices))
                            inputs.push_back(dx);
                          if (inputs.size() != one.program.inputs().size()) return std::string();
                          const auto wrong = plan_equals_eager(one.program, inputs, true);
                          if (!wrong.empty()) return wrong;
                        }
                        return std::string();
                      });
}

}  // namespace
}  // namespace hom::laws
