// tests/unit/threefry_test.cc -- the known answers that Random123 publishes, and their place in
// random_bits
#include <hom/backends/cpu/threefry.h>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

struct KnownAnswer {
  scalar::TwoWords counter;
  scalar::TwoWords key;
  scalar::TwoWords bits;
};

/// `threefry 2x32 20` of kat_vectors in the Random123 distribution: zeros, ones, digits of π.
constexpr KnownAnswer known_answers[] = {
    {{0, 0}, {0, 0}, {0x6b200159, 0x99ba4efe}},
    {{0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x1cb996fc, 0xbb002be7}},
    {{0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}, {0xc4923a9c, 0x483df7a0}},
};

TEST(Threefry, gives_the_published_known_answers) {
  for (const KnownAnswer& row : known_answers) {
    const scalar::TwoWords bits = scalar::threefry2x32(row.counter, row.key);
    EXPECT_EQ(bits.first, row.bits.first);
    EXPECT_EQ(bits.second, row.bits.second);
    static_assert(scalar::threefry2x32({0, 0}, {0, 0}).first == 0x6b200159);
  }
}

TEST(Threefry, element_i_of_random_bits_is_the_answer_to_counter_i) {
  const Key k = key(0x13198a2e03707344);
  const auto words = random_bits(k, {300}, u64).to_vector<std::uint64_t>();
  const auto halves = random_bits(k, {300}, u32).to_vector<std::uint32_t>();
  const auto bytes = random_bits(k, {300}, u8).to_vector<std::uint8_t>();
  for (std::uint32_t i = 0; i < 300; ++i) {
    const scalar::TwoWords bits = scalar::threefry2x32({i, 0}, {0x13198a2e, 0x03707344});
    EXPECT_EQ(words[i], bits.first | std::uint64_t{bits.second} << 32);
    EXPECT_EQ(halves[i], bits.first);
    EXPECT_EQ(bytes[i], bits.first & 0xff);
  }
}

}  // namespace
}  // namespace hom
