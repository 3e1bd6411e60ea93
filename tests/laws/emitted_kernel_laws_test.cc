// tests/laws/emitted_kernel_laws_test.cc -- emitted C++ computes what kernels mean, bit for bit
#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/native_code.h>
#include <hom/tests/laws/random_kernel_reference.h>

namespace hom::laws {
namespace {

/// Compiles so many random kernels as one plan and runs each.
void compare(std::uint64_t first_seed, std::uint64_t count, const KernelWish& wish,
             const cpu::Target& target) {
  nest::Plan plan;
  std::vector<KernelCase> tests;
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    Choices choices(seed);
    tests.push_back(random_kernel(choices, wish));
    plan.kernels.push_back(tests.back().kernel);
  }
  const cpu::NativeCode native = native_code(plan, target);
  ASSERT_NE(native.code, nullptr) << native.why_not;
  std::int64_t failures = 0;
  for (std::size_t k = 0; k < tests.size(); ++k) {
    const auto launch = [&](std::byte* const* arguments, std::int64_t low, std::int64_t high,
                            cpu::FailureRecord& record) {
      // The plan counts failures of all its kernels.
      cpu::FailureRecord of_plan = record;
      if (of_plan.failure != 0) of_plan.failure += failures;
      native.code->launch(k, arguments, low, high, of_plan);
      record = of_plan;
      if (record.failure != 0) record.failure -= failures;
    };
    ASSERT_EQ(difference_from_reference(tests[k], launch), "")
        << "seed " << first_seed + k << ", " << target.name << "\n"
        << native.code->source(k);
    failures += static_cast<std::int64_t>(tests[k].kernel.failures.size());
  }
}

class emitted_kernels : public ::testing::TestWithParam<cpu::Target> {};

TEST_P(emitted_kernels, equal_the_reference) {
  for (std::uint64_t batch = 0; batch < 4; ++batch) compare(100 * batch, 60, {}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(targets, emitted_kernels, ::testing::ValuesIn(cpu::host_targets()),
                         [](const auto& target) {
                           std::string name = target.param.name;
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace hom::laws
