// tests/laws/interpreter_laws_test.cc -- the interpreter runs random kernels as they are meant, bit
// for bit
#include <thread>

#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/interpreter.h>
#include <hom/backends/nests/spelled_out.h>
#include <hom/tests/laws/random_kernel_reference.h>

namespace hom::laws {
namespace {

std::string interpreted_wrongly(const KernelCase& test) {
  const std::shared_ptr<const cpu::Code> code = cpu::interpret({&test.kernel, 1});
  return difference_from_reference(
      test, [&](std::byte* const* arguments, std::int64_t low, std::int64_t high,
                cpu::FailureRecord& record) { code->launch(0, arguments, low, high, record); });
}

TEST(interpreter, equals_reference) {
  const std::uint64_t first = run_seed() * 1'000'000;
  const auto cases = static_cast<std::uint64_t>(3000 * case_factor());
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Choices choices(seed);
    ASSERT_EQ(interpreted_wrongly(random_kernel(choices)), "") << "seed " << seed;
  }
}

TEST(interpreter, of_functions_spelled_out_equals_reference) {
  const std::uint64_t first = run_seed() * 1'000'000;
  const auto cases = static_cast<std::uint64_t>(1000 * case_factor());
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Choices choices(seed);
    const KernelCase test = random_kernel(choices, {.slow_functions = false});
    const nest::Kernel spelled_out = nest::spelled_out(test.kernel);
    const std::shared_ptr<const cpu::Code> code = cpu::interpret({&spelled_out, 1});
    const auto launch = [&](std::byte* const* arguments, std::int64_t low, std::int64_t high,
                            cpu::FailureRecord& record) {
      code->launch(0, arguments, low, high, record);
    };
    ASSERT_EQ(difference_from_reference(test, launch), "") << "seed " << seed;
  }
}

TEST(interpreter, equals_reference_where_loops_are_long) {
  const std::uint64_t first = run_seed() * 1'000'000 + 500'000;
  const auto cases = static_cast<std::uint64_t>(100 * case_factor());
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Choices choices(seed);
    const KernelWish wish{.iterations = 60'000, .slow_functions = false};
    ASSERT_EQ(interpreted_wrongly(random_kernel(choices, wish)), "") << "seed " << seed;
  }
}

TEST(interpreter, runs_on_several_threads_at_once) {
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(4);
  std::vector<KernelCase> tests;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Choices choices(seed);
    tests.push_back(random_kernel(choices, {.iterations = 500}));
  }
  std::vector<nest::Kernel> kernels;
  for (const KernelCase& test : tests) kernels.push_back(test.kernel);
  const std::shared_ptr<const cpu::Code> code = cpu::interpret(kernels);
  for (std::string& text : wrong) {
    threads.emplace_back([&] {
      std::int64_t failures = 0;
      for (std::size_t i = 0; i < tests.size(); ++i) {
        // Failures are counted through all kernels of a plan.
        text +=
            difference_from_reference(tests[i], [&](std::byte* const* arguments, std::int64_t low,
                                                    std::int64_t high, cpu::FailureRecord& record) {
              cpu::FailureRecord here = record;
              if (here.failure != 0) here.failure += failures;
              code->launch(i, arguments, low, high, here);
              if (here.failure != 0) here.failure -= failures;
              record = here;
            });
        failures += static_cast<std::int64_t>(kernels[i].failures.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace hom::laws
