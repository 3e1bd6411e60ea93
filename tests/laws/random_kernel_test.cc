// tests/laws/random_kernel_test.cc -- random kernels are well-formed, and all kinds are drawn
#include <gtest/gtest.h>

#include <hom/tests/laws/random_kernel_reference.h>

namespace hom::laws {
namespace {

TEST(random_kernels, are_well_formed_and_stay_within_their_buffers) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Choices choices(seed);
    const KernelCase test = random_kernel(choices, {.iterations = 300});
    ASSERT_NO_THROW(verify(test.kernel)) << "seed " << seed;
    const auto reference = [&](std::byte* const* arguments, std::int64_t low, std::int64_t,
                               cpu::FailureRecord& record) {
      if (low == 0) run_reference(test.kernel, arguments, record);
    };
    ASSERT_EQ(difference_from_reference(test, reference), "") << "seed " << seed;
  }
}

TEST(random_kernels, are_of_every_kind) {
  KernelCoverage coverage;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    Choices choices(seed);
    coverage.count(random_kernel(choices).kernel);
  }
  EXPECT_EQ(coverage.missing(), "");
}

}  // namespace
}  // namespace hom::laws
