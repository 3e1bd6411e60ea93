// tests/unit/indexed_reads_test.cc -- x(i) and x.at(i).get() at integer tensors: values of NumPy,
// dtypes, positions outside
#include <cstdint>

#include "update_support.h"

namespace hom::testing {
namespace {

void expect_read(const Tensor& got, const Shape& shape, const Values& want) {
  EXPECT_EQ(got.shape(), shape) << got;
  EXPECT_EQ(values(got), want) << got;
}

// ---- reading: the numbers are NumPy's (2.4.6), of np.arange(24).reshape(2, 3, 4)[…] ----

TEST(Reading, integer_tensors_index_as_in_numpy) {
  const Tensor x = block();
  const Tensor i = ints({1, 0});
  const Tensor j = ints({2, 0});
  const Tensor m = ints({0, 3, 1, 1}, {2, 2});
  expect_read(x(all, j), {2, 2, 4}, {8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 12, 13, 14, 15});
  expect_read(x(all, all, m), {2, 3, 2, 2}, {0,  3,  1,  1,  4,  7,  5,  5,  8,  11, 9,  9,
                                             12, 15, 13, 13, 16, 19, 17, 17, 20, 23, 21, 21});
  expect_read(x(i, j), {2, 4}, {20, 21, 22, 23, 0, 1, 2, 3});
  expect_read(x(i, all, j), {2, 3}, {14, 18, 22, 0, 4, 8});
  expect_read(x(all, j, i), {2, 2}, {9, 0, 21, 12});
  expect_read(x(0, all, j), {2, 3}, {2, 6, 10, 0, 4, 8});
  expect_read(x(all, 1, j), {2, 2}, {6, 4, 18, 16});
  expect_read(x(1, j), {2, 4}, {20, 21, 22, 23, 12, 13, 14, 15});
  expect_read(x(Range{1, 2}, Range{.step = 2}, i), {1, 2, 2}, {13, 12, 21, 20});
  expect_read(x(i, ellipsis, -1), {2, 3}, {15, 19, 23, 3, 7, 11});
  expect_read(x(newaxis, i, 2, ellipsis), {1, 2, 4}, {20, 21, 22, 23, 8, 9, 10, 11});
  expect_read(x(i, newaxis, j), {2, 1, 4}, {20, 21, 22, 23, 0, 1, 2, 3});
  expect_read(x(all, newaxis, j), {2, 1, 2, 4},
              {8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 12, 13, 14, 15});
  expect_read(x(i, Range{.step = -1}), {2, 3, 4}, {20, 21, 22, 23, 16, 17, 18, 19, 12, 13, 14, 15,
                                                   8,  9,  10, 11, 4,  5,  6,  7,  0,  1,  2,  3});
  expect_read(x(expand_dims(i, 1), j), {2, 2, 4},
              {20, 21, 22, 23, 12, 13, 14, 15, 8, 9, 10, 11, 0, 1, 2, 3});
  expect_read(x(Tensor(1)), {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  expect_read(x[i], {2, 3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                                0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11});
  expect_read(x(ellipsis, 2, j), {2, 2}, {10, 8, 22, 20});
  expect_read(x(i, j, ellipsis, i), {2}, {21, 0});
  expect_read(x(ints({}), 0), {0, 4}, {});
}

TEST(Reading, positions_may_have_any_integer_dtype_and_mix_them) {
  const Tensor x = block();
  for (const Dtype dtype : {i8, i32, i64, u8, u32, u64}) {
    EXPECT_EQ(values(x(ints({1, 0}).astype(dtype), ints({2, 0}), 3)), (Values{23, 3}))
        << to_string(dtype);
  }
  // Beyond the range of i64 is outside, not negative.
  const Tensor far = tensor(std::vector<std::uint64_t>{UINT64_MAX});
  EXPECT_EQ(values(arange(3).at(far).get(Bounds::clip)), (Values{2}));
  EXPECT_EQ(values(arange(300).at(ints({250, 7}).astype(u8)).get()), (Values{250, 7}));
}

TEST(Reading, a_position_outside_raises_unless_asked_otherwise) {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  EXPECT_THROW(x(ints({3})), Error);
  EXPECT_THROW(x(ints({-1})), Error);
  EXPECT_EQ(values(x.at(ints({-1, 3, 1})).get(Bounds::clip)), (Values{1, 3, 2}));
  EXPECT_EQ(values(x.at(ints({-1, 3, 1})).get(Bounds::drop)), (Values{0, 0, 2}));
}

}  // namespace
}  // namespace hom::testing
