// tests/laws/machine_code_laws_test.cc -- machine code computes what kernels mean, bit for bit
#include <thread>

#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/x86_code.h>
#include <hom/tests/laws/random_kernel_reference.h>

namespace hom::laws {
namespace {

std::string computed_wrongly(const KernelCase& test, const cpu::Target& target) {
  nest::Plan plan;
  plan.kernels.push_back(test.kernel);
  const cpu::x86::MachineCode made = cpu::x86::machine_code(plan, target);
  if (!made.code) return made.why_not + "\n" + to_string(test.kernel);
  return difference_from_reference(test, [&](std::byte* const* arguments, std::int64_t low,
                                             std::int64_t high, cpu::FailureRecord& record) {
    made.code->launch(0, arguments, low, high, record);
  });
}

class machine_code : public ::testing::TestWithParam<cpu::Target> {
 protected:
  void SetUp() override {
    if (!cpu::x86::is_supported()) GTEST_SKIP() << "this processor has no AVX2";
  }
};

TEST_P(machine_code, equals_the_reference) {
  const std::uint64_t first = run_seed() * 1'000'000;
  const auto cases = static_cast<std::uint64_t>(1500 * case_factor());
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Choices choices(seed);
    ASSERT_EQ(computed_wrongly(random_kernel(choices), GetParam()), "") << "seed " << seed;
  }
}

TEST_P(machine_code, equals_the_reference_where_loops_are_long) {
  const std::uint64_t first = run_seed() * 1'000'000 + 500'000;
  const auto cases = static_cast<std::uint64_t>(60 * case_factor());
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Choices choices(seed);
    const KernelWish wish{.iterations = 60'000, .slow_functions = false};
    ASSERT_EQ(computed_wrongly(random_kernel(choices, wish), GetParam()), "") << "seed " << seed;
  }
}

/// What compiled programs may get; wider vectors are encoded below and run nowhere yet.
std::vector<cpu::Target> targets_in_use() {
  std::vector<cpu::Target> targets = cpu::host_targets();
  std::erase_if(targets, [](const cpu::Target& target) {
    return target.vector_bytes > cpu::x86::machine_target().vector_bytes;
  });
  return targets;
}

INSTANTIATE_TEST_SUITE_P(targets, machine_code, ::testing::ValuesIn(targets_in_use()),
                         [](const auto& target) {
                           return "of_" + std::to_string(target.param.vector_bytes) + "_bytes";
                         });

TEST(machine_code_for_any_processor, can_be_encoded) {
  for (const int bytes : {16, 32, 64}) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Choices choices(seed);
      const KernelCase test = random_kernel(choices);
      std::string text;
      ASSERT_NO_THROW(text = cpu::x86::assembly(test.kernel, bytes))
          << "seed " << seed << ", " << bytes << " bytes\n"
          << to_string(test.kernel);
      ASSERT_FALSE(text.empty());
    }
  }
}

TEST(machine_code_emission, may_be_done_by_several_threads_at_once) {
  if (!cpu::x86::is_supported()) GTEST_SKIP() << "this processor has no AVX2";
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&wrong, t] {
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Choices choices(1000 * t + seed);
        wrong[t] += computed_wrongly(random_kernel(choices, {.iterations = 500}),
                                     cpu::host_targets().front());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace hom::laws
