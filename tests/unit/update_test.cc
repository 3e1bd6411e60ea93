// tests/unit/update_test.cc -- x.at(i) against loops over elements: every kind of index, dtype and
// way to combine; variables
#include <algorithm>

#include "update_support.h"

namespace hom::testing {
namespace {

double combine_numbers(Combine combine, double old, double value) {
  switch (combine) {
    case Combine::set:
      return value;
    case Combine::add:
      return old + value;
    case Combine::mul:
      return old * value;
    case Combine::min:
      return std::min(old, value);
    case Combine::max:
      break;
  }
  return std::max(old, value);
}

/// The update by a loop over elements, in row-major order of x(i…). `places` holds the number of
/// each element of x, from 1; 0 is dropped.
Values updated_by_loop(const Tensor& x, const Tensor& places, Combine combine, const Tensor& v) {
  Values result = values(x);
  const Values where = values(places);
  const Values value = values(broadcast_to(v, places.shape()));
  for (std::size_t k = 0; k < where.size(); ++k) {
    if (where[k] == 0) continue;
    double& element = result[static_cast<std::size_t>(where[k]) - 1];
    element = combine_numbers(combine, element, value[k]);
  }
  return result;
}

void expect_as_loop(const Kind& kind, Dtype dtype, Bounds bounds) {
  const Tensor x = (block() % 5).astype(dtype);
  const Bounds reading = bounds == Bounds::check ? Bounds::check : bounds;
  const Tensor places = kind.read(block() + 1, reading);
  // Whole, and broadcast from the last axis.
  std::vector<Tensor> operands{(reshape(arange(places.size()), places.shape()) % 3).astype(dtype)};
  operands.push_back(full({1, 1, 1, 1, 1, 1, 1}, 2).astype(dtype));
  if (places.rank() > 0 && places.extent(-1) > 0)
    operands.push_back((arange(places.extent(-1)) % 4).astype(dtype));
  for (const Tensor& v : operands) {
    const Tensor trimmed = v.rank() == 7 ? reshape(v, {}) : v;
    for (const Combine combine : every_combine) {
      if (dtype == bool_ && combine != Combine::set) continue;
      const Tensor got = kind.update(x, combine, v, bounds);
      EXPECT_EQ(got.type(), x.type());
      EXPECT_EQ(values(got), updated_by_loop(x, places, combine, trimmed))
          << kind.name << ", " << to_string(dtype) << ", " << static_cast<int>(combine);
      // And in a captured program.
      const auto f = [&](Tensor t, Tensor u) { return kind.update(t, combine, u, bounds); };
      EXPECT_TRUE(array_equal(
          apply(program(f, x.type(), v.type()), std::vector<Tensor>{x, v}, Location::current())[0],
          got))
          << kind.name;
    }
  }
}

constexpr Dtype every_dtype_here[] = {bool_, i8, i32, i64, u8, u32, u64, f16, bf16, f32, f64};

TEST(Update, every_kind_of_index_dtype_and_combination_is_a_loop_over_elements) {
  for (const Kind& kind : inside_kinds()) {
    for (const Dtype dtype : every_dtype_here) {
      for (const Bounds bounds : {Bounds::drop, Bounds::check, Bounds::clip})
        expect_as_loop(kind, dtype, bounds);
    }
  }
}

TEST(Update, positions_outside_are_dropped_or_clipped_or_raise) {
  for (const Kind& kind : kinds_that_leave()) {
    for (const Dtype dtype : {bool_, i64, u8, f32}) {
      expect_as_loop(kind, dtype, Bounds::drop);
      expect_as_loop(kind, dtype, Bounds::clip);
    }
    const Tensor x = block();
    const Tensor v(1);
    EXPECT_THROW(kind.update(x, Combine::set, v, Bounds::check), Error) << kind.name;
    const auto f = [&](Tensor t) { return kind.update(t, Combine::add, v, Bounds::check); };
    EXPECT_THROW(apply(program(f, x.type()), std::vector{x}, Location::current()), Error);
  }
}

TEST(Update, of_many_lanes_is_an_update_of_each) {
  constexpr std::int64_t lanes = 3;
  std::vector<Kind> kinds = kinds_that_leave();
  for (Kind& each : inside_kinds()) kinds.push_back(std::move(each));
  for (const Kind& kind : kinds) {
    const TensorType type = f64[{2, 3, 4}];
    const Tensor many = sin(reshape(arange(lanes * 24).astype(f64), {lanes, 2, 3, 4}));
    const Shape shape = kind.read(block(), Bounds::drop).shape();
    Shape all_shape{lanes};
    all_shape.insert(all_shape.end(), shape.begin(), shape.end());
    const Tensor values_of_many =
        cos(reshape(arange(element_count(all_shape)).astype(f64), all_shape));
    for (const Combine combine : every_combine) {
      const auto f = [&](Tensor t, Tensor u) { return kind.update(t, combine, u, Bounds::drop); };
      const BatchedProgram all = batch(program(f, type, f64[shape]), {true, true}, lanes);
      const Tensor got =
          apply(all.program, std::vector{many, values_of_many}, Location::current())[0];
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        EXPECT_TRUE(array_equal(got(lane), f(many(lane), values_of_many(lane))))
            << kind.name << ", " << static_cast<int>(combine);
      }
    }
  }
}

TEST(Update, works_on_no_elements_and_on_one) {
  const Tensor none = zeros({0});
  EXPECT_EQ(none.at(all).set(1.0).size(), 0);
  EXPECT_EQ(none.at(ints({0, 5})).add(1.0).size(), 0);
  EXPECT_EQ(none.at(Tensor(0)).set(1.0).size(), 0);
  EXPECT_EQ(none.at(Tensor(0)).set(1.0, Bounds::clip).size(), 0);
  EXPECT_EQ(none.at(none != 0).set(1.0).size(), 0);
  EXPECT_THROW(none.at(Tensor(0)).set(1.0, Bounds::check), Error);
  const Tensor wide = zeros({3, 0});
  EXPECT_EQ(wide.at(ints({1, 1})).set(1.0).shape(), (Shape{3, 0}));
  EXPECT_EQ(wide.at(Tensor(2)).max(1.0).shape(), (Shape{3, 0}));
  const Tensor one = 3.0;
  EXPECT_EQ(one.at(ellipsis).set(4.0).item(), 4);
  EXPECT_EQ(one.at(newaxis).mul(4.0).item(), 12);
  EXPECT_EQ(one.at(one > 2).add(1.0).item(), 4);
  EXPECT_EQ(values(ones({1}).at(Tensor(0)).add(4.0)), (Values{5}));
  EXPECT_EQ(values(ones({1}).at(ints({0, 0, 0})).add(4.0)), (Values{13}));
}

TEST(Update, a_mask_chooses_leading_axes) {
  const Tensor x = reshape(arange(6).astype(f64), {2, 3});
  EXPECT_EQ(values(x.at(x > 2).set(-1.0)), (Values{0, 1, 2, -1, -1, -1}));
  EXPECT_EQ(values(x.at(x > 2).add(10.0)), (Values{0, 1, 2, 13, 14, 15}));
  EXPECT_EQ(values(x.at(x > 2).mul(2.0)), (Values{0, 1, 2, 6, 8, 10}));
  EXPECT_EQ(values(x.at(x > 2).min(4.0)), (Values{0, 1, 2, 3, 4, 4}));
  EXPECT_EQ(values(x.at(x > 2).max(4.0)), (Values{0, 1, 2, 4, 4, 5}));
  const Tensor rows = tensor({false, true});
  EXPECT_EQ(values(x.at(rows).set(tensor({7.0, 8.0, 9.0}))), (Values{0, 1, 2, 7, 8, 9}));
  EXPECT_EQ(values(x.at(rows).set(tensor({{7.0, 8.0, 9.0}}))), (Values{0, 1, 2, 7, 8, 9}));
  Tensor y = x;
  y.at(y > 2) = 0.0;
  y.at(y > 1) /= 4.0;
  EXPECT_EQ(values(y), (Values{0, 1, 0.5, 0, 0, 0}));
  EXPECT_THROW(x.at(tensor({true, false, true})).set(0.0), Error);
  EXPECT_THROW(x.at(rows).set(tensor({1.0, 2.0})), Error);
  EXPECT_THROW(x(rows), Error);
}

TEST(Update, values_adopt_the_dtype_of_what_they_update) {
  const Tensor x = zeros({3}, i32);
  EXPECT_EQ(x.at(0).set(true).dtype(), i32);
  EXPECT_EQ(zeros({3}, f32).at(0).set(0.1).dtype(), f32);
  EXPECT_THROW(x.at(0).set(0.5), Error);
  EXPECT_THROW(x.at(ints({0})).add(tensor({1.0})), Error);
  EXPECT_THROW(zeros({3}, u8).at(0).set(300), Error);
  EXPECT_THROW(zeros({3}, bool_).at(0).add(true), Error);
}

// ---- variables ----

TEST(Update, a_variable_is_given_a_new_tensor_and_its_copies_keep_theirs) {
  Tensor x = reshape(arange(6).astype(f64), {2, 3});
  const Tensor before = x;
  x.at(0, 1) = 10.0;
  x.at(1) += tensor({1.0, 2.0, 3.0});
  x.at(all, 0) *= 2.0;
  x.at(all, ints({2, 2})) -= 1.0;
  x.at(1, Range{1, 3}) /= 2.0;
  EXPECT_EQ(values(x), (Values{0, 10, 0, 8, 3, 3}));
  EXPECT_EQ(values(before), (Values{0, 1, 2, 3, 4, 5}));
  // Of itself, and of parts of itself.
  x.at(0) = x.at(1);
  EXPECT_EQ(values(x), (Values{8, 3, 3, 8, 3, 3}));
  x.at(ellipsis) = x;
  x.at(0, Range{.step = -1}) = x(0);
  EXPECT_EQ(values(x), (Values{3, 3, 8, 8, 3, 3}));
  x.at(1) = before.at(0);
  EXPECT_EQ(values(x), (Values{3, 3, 8, 0, 1, 2}));
  EXPECT_THROW(x.at(0) += x, Error);
}

TEST(Update, a_variable_keeps_its_value_where_an_update_throws) {
  Tensor x = tensor({1.0, 2.0});
  EXPECT_THROW(x.at(2) = 0.0, Error);
  EXPECT_THROW(x.at(0) = tensor({1.0, 2.0}), Error);
  EXPECT_THROW((x.at(tensor({0.5})) = 1.0), Error);
  EXPECT_THROW((x.at(0) += Tensor()), Error);
  EXPECT_EQ(values(x), (Values{1, 2}));
}

TEST(Update, differences_and_quotients_work_for_every_dtype) {
  for (const Dtype dtype : {i32, u8, f16, f64}) {
    Tensor x = tensor({7.0, 8.0, 9.0}).astype(dtype);
    x.at(0) -= 2;
    x.at(ints({1, 1})) -= tensor({1.0, 2.0}).astype(dtype);
    x.at(2) /= 2;
    x.at(ints({1, 1})) /= tensor({2.0, 2.0}).astype(dtype);
    const bool rounds = dtype.is_integer();
    EXPECT_EQ(values(x), (rounds ? Values{5, 1, 4} : Values{5, 1.25, 4.5})) << to_string(dtype);
  }
}

}  // namespace
}  // namespace hom::testing
