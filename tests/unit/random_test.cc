// tests/unit/random_test.cc -- keys, bits and uniform floats
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

TEST(Random, bits_of_an_element_depend_on_key_and_position_alone) {
  const std::vector<std::uint32_t> few = random_bits(key(3), {7}).to_vector<std::uint32_t>();
  const std::vector<std::uint32_t> many = random_bits(key(3), {5, 5}).to_vector<std::uint32_t>();
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(few, random_bits(key(4), {7}).to_vector<std::uint32_t>());
}

TEST(Random, known_answer_of_threefry) {
  // The test vector of the Random123 distribution for threefry2x32, 20 rounds: counter 0, key 0.
  EXPECT_EQ(random_bits(key(0), {1}, u64).item<std::uint64_t>(), 0x99ba4efe6b200159u);
}

TEST(Random, a_captured_program_draws_the_same_bits) {
  const Program p = program([](Key k) { return uniform(k, {4, 3}, -1, 1); }, key(11));
  EXPECT_TRUE(array_equal(evaluate(p, {key(11).words})[0], uniform(key(11), {4, 3}, -1, 1)));
}

TEST(Random, uniform_floats_fill_their_range_evenly) {
  for (Dtype dtype : {f16, bf16, f32, f64}) {
    const std::vector<double> values = uniform(key(5), {100000}, 0, 1, dtype).to_vector();
    std::vector<int> bins(10);
    for (double value : values) {
      ASSERT_GE(value, 0);
      ASSERT_LT(value, 1) << to_string(dtype);
      ++bins[static_cast<std::size_t>(value * 10)];
    }
    // χ² with 9 degrees of freedom: 33.7 is exceeded once in 10⁴ seeds. 8 bits of bf16 do not
    // divide evenly into tenths.
    double chi_square = 0;
    for (int i = 0; i < 10; ++i) {
      const double share =
          dtype == bf16 ? (std::ceil((i + 1) * 25.6) - std::ceil(i * 25.6)) / 256 : 0.1;
      chi_square += (bins[static_cast<std::size_t>(i)] - 1e5 * share) *
                    (bins[static_cast<std::size_t>(i)] - 1e5 * share) / (1e5 * share);
    }
    EXPECT_LT(chi_square, 33.7) << to_string(dtype);
  }
}

TEST(Random, split_keys_differ_from_each_other_and_from_their_parent) {
  std::set<std::vector<std::uint32_t>> seen{key(1).words.to_vector<std::uint32_t>()};
  for (const Key& child : split(key(1), 100))
    EXPECT_TRUE(seen.insert(child.words.to_vector<std::uint32_t>()).second);
}

TEST(Random, a_wrong_key_or_dtype_is_refused) {
  EXPECT_THROW(random_bits(Key{tensor({1, 2})}, {3}), Error);
  EXPECT_THROW(random_bits(key(1), {3}, i32), Error);
  EXPECT_THROW(uniform(key(1), {3}, 0, 1, i32), Error);
}

}  // namespace
}  // namespace hom
