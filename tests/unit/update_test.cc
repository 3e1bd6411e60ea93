// tests/unit/update_test.cc -- x.at(i) against loops over elements: every kind of index, dtype, way
// to combine and mode; what is copied; gradients
#include <cmath>
#include <cstdint>
#include <functional>
#include <new>
#include <numeric>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace {
std::int64_t bytes_allocated = 0;
}  // namespace

// Buffers of tensors come from here (core/tensor.cc), but for the smallest.
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  bytes_allocated += static_cast<std::int64_t>(bytes);
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }

namespace hom {
namespace {

using Numbers = std::vector<double>;

template <class F>
std::int64_t bytes_of(F&& f) {
  const std::int64_t before = bytes_allocated;
  f();
  return bytes_allocated - before;
}

Numbers values(const Tensor& x) { return x.to_vector(); }
Tensor ints(const std::vector<std::int64_t>& values, const Shape& shape) {
  return tensor(values, shape);
}
Tensor ints(const std::vector<std::int64_t>& values) { return tensor(values); }
Tensor block() { return reshape(arange(24), {2, 3, 4}); }

void expect_read(const Tensor& got, const Shape& shape, const Numbers& want) {
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
    EXPECT_EQ(values(x(ints({1, 0}).astype(dtype), ints({2, 0}), 3)), (Numbers{23, 3}))
        << to_string(dtype);
  }
  // Beyond the range of i64 is outside, not negative.
  const Tensor far = tensor(std::vector<std::uint64_t>{UINT64_MAX});
  EXPECT_EQ(values(arange(3).at(far).get(Bounds::clip)), (Numbers{2}));
  EXPECT_EQ(values(arange(300).at(ints({250, 7}).astype(u8)).get()), (Numbers{250, 7}));
}

TEST(Reading, a_position_outside_raises_unless_asked_otherwise) {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  EXPECT_THROW(x(ints({3})), Error);
  EXPECT_THROW(x(ints({-1})), Error);
  EXPECT_EQ(values(x.at(ints({-1, 3, 1})).get(Bounds::clip)), (Numbers{1, 3, 2}));
  EXPECT_EQ(values(x.at(ints({-1, 3, 1})).get(Bounds::drop)), (Numbers{0, 0, 2}));
}

// ---- writing ----

/// One way to name elements of block(): `read` reads them, `update` combines values in.
struct Kind {
  std::string name;
  std::function<Tensor(const Tensor&, Bounds)> read;
  std::function<Tensor(const Tensor&, Combine, const Tensor&, Bounds)> update;
};

template <class... Indices>
Kind kind(std::string name, Indices... indices) {
  return {std::move(name),
          [=](const Tensor& x, Bounds bounds) { return x.at(indices...).get(bounds); },
          [=](const Tensor& x, Combine combine, const Tensor& v, Bounds bounds) {
            const Elements e = x.at(indices...);
            return combine == Combine::set   ? e.set(v, bounds)
                   : combine == Combine::add ? e.add(v, bounds)
                   : combine == Combine::mul ? e.mul(v, bounds)
                   : combine == Combine::min ? e.min(v, bounds)
                                             : e.max(v, bounds);
          }};
}

std::vector<Kind> inside_kinds() {
  const Tensor i = ints({1, 0});
  const Tensor j = ints({2, 0});
  const Tensor twice = ints({2, 0, 2, 2});
  const Tensor m = ints({0, 3, 1, 1}, {2, 2});
  return {
      kind("integer", 1),
      kind("negative integers", -1, -2, -4),
      kind("range", all, Range{1, 3}),
      kind("empty range", all, Range{2, 1}),
      kind("range of one", all, all, Range{3, 4}),
      kind("steps", Range{.step = -1}, Range{.step = 2}, Range{3, 0, -2}),
      kind("ellipsis", ellipsis),
      kind("ellipsis, integer", ellipsis, 2),
      kind("newaxis", newaxis, all, newaxis, 1),
      kind("scalar", Tensor(1)),
      kind("scalars", Tensor(1), Tensor(2), Tensor(3)),
      kind("scalar and range", Tensor(1), Range{1, 3}, 2),
      kind("scalar and steps", Tensor(0), Range{.step = 2}, Range{.step = -1}),
      kind("scalar in the middle", all, Tensor(2), newaxis),
      kind("list", i),
      kind("repeated", all, twice),
      kind("repeated, one element each", 0, twice, twice),
      kind("matrix", all, all, m),
      kind("two lists", i, j),
      kind("separated lists", i, all, j),
      kind("list and integer", 0, all, j),
      kind("list and ranges", Range{1, 2}, Range{.step = 2}, twice),
      kind("list and negative step", ints({1, 0, 1, 1}).astype(u8), Range{.step = -1}),
      kind("outer", expand_dims(i, 1), twice, Range{1, 3}),
      kind("list between new axes", newaxis, all, newaxis, j, newaxis, Range{2, 4}),
      kind("no positions", all, ints({})),
  };
}

std::vector<Kind> kinds_that_leave() {
  return {
      kind("scalar below", Tensor(-1)),
      kind("scalar above, range", all, Tensor(3), Range{1, 3}),
      kind("two scalars, one outside", Tensor(1), Tensor(100)),
      kind("list", all, ints({-5, 1, 3, 2})),
      kind("two lists", ints({2, 1, -1}), ints({0, 1, 1})),
      kind("list and steps", Range{.step = -1}, ints({1, 9}), Range{.step = 2}),
  };
}

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

constexpr Combine every_combine[] = {Combine::set, Combine::add, Combine::mul, Combine::min,
                                     Combine::max};

/// The update by a loop over elements, in row-major order of x(i…). `places` holds the number of
/// each element of x, from 1; 0 is dropped.
Numbers updated_by_loop(const Tensor& x, const Tensor& places, Combine combine, const Tensor& v) {
  Numbers result = values(x);
  const Numbers where = values(places);
  const Numbers value = values(broadcast_to(v, places.shape()));
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
  EXPECT_EQ(values(ones({1}).at(Tensor(0)).add(4.0)), (Numbers{5}));
  EXPECT_EQ(values(ones({1}).at(ints({0, 0, 0})).add(4.0)), (Numbers{13}));
}

TEST(Update, a_mask_chooses_leading_axes) {
  const Tensor x = reshape(arange(6).astype(f64), {2, 3});
  EXPECT_EQ(values(x.at(x > 2).set(-1.0)), (Numbers{0, 1, 2, -1, -1, -1}));
  EXPECT_EQ(values(x.at(x > 2).add(10.0)), (Numbers{0, 1, 2, 13, 14, 15}));
  EXPECT_EQ(values(x.at(x > 2).mul(2.0)), (Numbers{0, 1, 2, 6, 8, 10}));
  EXPECT_EQ(values(x.at(x > 2).min(4.0)), (Numbers{0, 1, 2, 3, 4, 4}));
  EXPECT_EQ(values(x.at(x > 2).max(4.0)), (Numbers{0, 1, 2, 4, 4, 5}));
  const Tensor rows = tensor({false, true});
  EXPECT_EQ(values(x.at(rows).set(tensor({7.0, 8.0, 9.0}))), (Numbers{0, 1, 2, 7, 8, 9}));
  EXPECT_EQ(values(x.at(rows).set(tensor({{7.0, 8.0, 9.0}}))), (Numbers{0, 1, 2, 7, 8, 9}));
  Tensor y = x;
  y.at(y > 2) = 0.0;
  y.at(y > 1) /= 4.0;
  EXPECT_EQ(values(y), (Numbers{0, 1, 0.5, 0, 0, 0}));
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
  EXPECT_EQ(values(x), (Numbers{0, 10, 0, 8, 3, 3}));
  EXPECT_EQ(values(before), (Numbers{0, 1, 2, 3, 4, 5}));
  // Of itself, and of parts of itself.
  x.at(0) = x.at(1);
  EXPECT_EQ(values(x), (Numbers{8, 3, 3, 8, 3, 3}));
  x.at(ellipsis) = x;
  x.at(0, Range{.step = -1}) = x(0);
  EXPECT_EQ(values(x), (Numbers{3, 3, 8, 8, 3, 3}));
  x.at(1) = before.at(0);
  EXPECT_EQ(values(x), (Numbers{3, 3, 8, 0, 1, 2}));
  EXPECT_THROW(x.at(0) += x, Error);
}

TEST(Update, a_variable_keeps_its_value_where_an_update_throws) {
  Tensor x = tensor({1.0, 2.0});
  EXPECT_THROW(x.at(2) = 0.0, Error);
  EXPECT_THROW(x.at(0) = tensor({1.0, 2.0}), Error);
  EXPECT_THROW((x.at(tensor({0.5})) = 1.0), Error);
  EXPECT_THROW((x.at(0) += Tensor()), Error);
  EXPECT_EQ(values(x), (Numbers{1, 2}));
}

TEST(Update, differences_and_quotients_work_for_every_dtype) {
  for (const Dtype dtype : {i32, u8, f16, f64}) {
    Tensor x = tensor({7.0, 8.0, 9.0}).astype(dtype);
    x.at(0) -= 2;
    x.at(ints({1, 1})) -= tensor({1.0, 2.0}).astype(dtype);
    x.at(2) /= 2;
    x.at(ints({1, 1})) /= tensor({2.0, 2.0}).astype(dtype);
    const bool rounds = dtype.is_integer();
    EXPECT_EQ(values(x), (rounds ? Numbers{5, 1, 4} : Numbers{5, 1.25, 4.5})) << to_string(dtype);
  }
}

// ---- in place: what n updates of n elements allocate ----

constexpr std::int64_t n = 512;
// One copy of the n elements is 8 n bytes; n copies would be 8 n².
constexpr std::int64_t few_copies = 16 * 8 * n;

TEST(InPlace, n_updates_of_a_variable_copy_nothing) {
  Tensor x = zeros({n}) + 0.0;
  const std::byte* const memory = x.array().buffer->data();
  const std::int64_t bytes = bytes_of([&] {
    for (std::int64_t i = 0; i < n; ++i) {
      x.at(i) = 3.0;
      x.at(i) += x((i + 1) % n) + 1.0;
      x.at(i) = x(i);
      x.at(i) *= 2.0;
      x.at(Range{i, i + 1}) -= 0.5;
      x.at(Tensor(i)) += 1.0;
      x.at(ints({i, i})) += tensor({1.0, 1.0});
      x = std::move(x).at(i).max(1.0);
      x = std::move(x).at(Tensor(i)).min(9.0, Bounds::check);
    }
  });
  EXPECT_EQ(x.array().buffer->data(), memory);
  EXPECT_LE(bytes, few_copies);
  EXPECT_EQ(values(x), Numbers(n, 9));
}

TEST(InPlace, a_copy_of_a_variable_costs_one_copy_of_its_elements) {
  Tensor x = zeros({n}) + 0.0;
  const Tensor before = x;
  const std::int64_t bytes = bytes_of([&] {
    for (std::int64_t i = 0; i < n; ++i) x.at(i) = 3.0;
  });
  EXPECT_GE(bytes, 8 * n);
  EXPECT_LE(bytes, 2 * 8 * n);
  EXPECT_EQ(values(before), Numbers(n, 0));
}

template <class F>
void expect_linear(const char* what, const F& f) {
  const Tensor x = arange(n).astype(f64);
  const Program p = program(f, x);
  const std::int64_t bytes = bytes_of([&] { apply(p, std::vector{x}, Location::current()); });
  EXPECT_LE(bytes, few_copies) << what;
}

TEST(InPlace, n_updates_in_a_program_copy_once) {
  expect_linear("set", [](Tensor x) {
    for (std::int64_t i = 0; i < n; ++i) x.at(i) = 3.0;
    return x;
  });
  expect_linear("add", [](Tensor x) {
    for (std::int64_t i = 0; i < n; ++i) x = x.at(i).add(x((i + 1) % n));
    return x;
  });
  expect_linear("mul", [](Tensor x) {
    for (std::int64_t i = 1; i < n; ++i) x.at(i) *= x(i - 1);
    return x;
  });
  expect_linear("computed", [](Tensor x) {
    for (std::int64_t i = 0; i < n; ++i) x = x.at(Tensor(i)).max(1.0).at(ints({i, i})).add(2.0);
    return x;
  });
}

template <class Body>
auto loop(const Body& body) {
  return [body](Tensor x) { return fori_loop(0, n, body, x); };
}

TEST(InPlace, a_loop_of_n_updates_copies_once) {
  expect_linear("set", loop([](Tensor i, Tensor x) { return x.at(i).set(1.0); }));
  expect_linear("add", loop([](Tensor i, Tensor x) { return x.at(i).add(x((i + 1) % n)); }));
  expect_linear("mul", loop([](Tensor i, Tensor x) { return x.at(i).mul(2.0); }));
  expect_linear("list", loop([](Tensor i, Tensor x) {
                  return x.at(stack({i, n - 1 - i})).add(tensor({1.0, 2.0}));
                }));
  expect_linear("static", loop([](Tensor i, Tensor x) { return x.at(0).set(i.astype(f64)); }));
  expect_linear("while", [](Tensor x) {
    return fori_loop(Tensor(0), Tensor(n), [](Tensor i, Tensor y) { return y.at(i).set(1.0); }, x);
  });
}

TEST(InPlace, the_gradient_of_n_updates_copies_a_few_times) {
  const auto of = [](auto f) { return grad([f](Tensor x) { return sum(sin(f(x))); }); };
  expect_linear("set", of([](Tensor x) {
                  for (std::int64_t i = 0; i < n; ++i) x.at(i) = x((i + 1) % n) * 3.0;
                  return x;
                }));
  expect_linear("add", of([](Tensor x) {
                  for (std::int64_t i = 0; i < n; ++i) x.at(i) += x((i + 1) % n) * 3.0;
                  return x;
                }));
  expect_linear("mul", of([](Tensor x) {
                  for (std::int64_t i = 1; i < n; ++i) x.at(i) *= x(i - 1);
                  return x;
                }));
  expect_linear("computed", of([](Tensor x) {
                  for (std::int64_t i = 0; i < n; ++i) x = x.at(Tensor(i)).set(x(0) + 1.0);
                  return x;
                }));
  expect_linear("computed add", of([](Tensor x) {
                  for (std::int64_t i = 0; i < n; ++i) x = x.at(ints({i, i})).add(x(0));
                  return x;
                }));
}

TEST(InPlace, the_gradient_of_a_loop_of_n_updates_copies_a_few_times) {
  const auto of = [](auto body) {
    return grad([body](Tensor x) { return sum(sin(loop(body)(x))); });
  };
  expect_linear("set", of([](Tensor i, Tensor x) { return x.at(i).set(2.0 * x(i)); }));
  expect_linear("add", of([](Tensor i, Tensor x) { return x.at(i).add(x((i + 1) % n)); }));
  expect_linear("mul", of([](Tensor i, Tensor x) { return x.at(i).mul(2.0); }));
}

// ---- gradients ----

/// The gradient of Σ w·f against central differences, element by element.
void expect_gradient(const std::string& what, const std::function<Tensor(Tensor)>& f,
                     const Tensor& at) {
  const auto loss = [&](Tensor x) {
    const Tensor y = f(x);
    return sum(y * reshape(cos(arange(y.size()).astype(f64)) + 2.0, y.shape()));
  };
  const Numbers got = values(grad(loss)(at));
  const Numbers forward = values(jacobian(loss, Mode::forward)(at));
  const double h = 1e-6;
  for (std::int64_t k = 0; k < at.size(); ++k) {
    const Tensor step = reshape((arange(at.size()) == k).astype(f64) * h, at.shape());
    const double want = (loss(at + step).item() - loss(at - step).item()) / (2 * h);
    EXPECT_NEAR(got[static_cast<std::size_t>(k)], want, 1e-6) << what << ", element " << k;
    EXPECT_NEAR(forward[static_cast<std::size_t>(k)], want, 1e-6) << what << ", forward, " << k;
  }
}

TEST(Gradients, of_every_kind_of_index_and_combination_agree_with_differences) {
  const Tensor x = reshape(sin(arange(24).astype(f64) * 1.7) + 0.1, {2, 3, 4});
  for (const Bounds bounds : {Bounds::drop, Bounds::clip}) {
    std::vector<Kind> kinds = kinds_that_leave();
    for (Kind& each : inside_kinds()) kinds.push_back(std::move(each));
    for (const Kind& kind : kinds) {
      const Tensor places = kind.read(x, bounds);
      const Tensor v = reshape(cos(arange(places.size()).astype(f64) * 1.3), places.shape());
      for (const Combine combine : every_combine) {
        const std::string what =
            kind.name + ", combine " + std::to_string(static_cast<int>(combine));
        expect_gradient(
            what + " in x", [&](Tensor t) { return kind.update(t, combine, v, bounds); }, x);
        if (v.size() > 0) {
          expect_gradient(
              what + " in v", [&](Tensor t) { return kind.update(x, combine, t, bounds); }, v);
        }
      }
      expect_gradient(kind.name + ", read", [&](Tensor t) { return kind.read(t, bounds); }, x);
    }
  }
}

TEST(Gradients, of_masks_and_of_variables_agree_with_differences) {
  const Tensor x = tensor({0.5, -1.0, 2.0, 0.25});
  const auto with_mask = [](Tensor t) {
    t.at(t > 0.4) *= t(1) * 2.0;
    t.at(Range{0, 2}) += t(Range{2, 4});
    t.at(3) = t(0) * t(2);
    t.at(ints({0, 0})) /= tensor({2.0, 3.0});
    t.at(ints({1, 1})) -= t(Range{2, 4});
    return t;
  };
  expect_gradient("variables", with_mask, x);
}

TEST(Gradients, of_repeated_positions_the_last_value_wins_or_all_add) {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const Tensor twice = ints({1, 1});
  const Tensor v = tensor({5.0, 7.0});
  const auto slopes = [&](auto f) { return values(grad([&](Tensor t) { return sum(f(t)); })(v)); };
  EXPECT_EQ(values(x.at(twice).set(v)), (Numbers{1, 7, 3}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).set(t); }), (Numbers{0, 1}));
  EXPECT_EQ(values(x.at(twice).add(v)), (Numbers{1, 14, 3}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).add(t); }), (Numbers{1, 1}));
  EXPECT_EQ(values(x.at(twice).mul(v)), (Numbers{1, 70, 3}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).mul(t); }), (Numbers{14, 10}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).max(t); }), (Numbers{0, 1}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).min(t); }), (Numbers{0, 0}));
  // Ties share.
  EXPECT_EQ(slopes([&](Tensor t) { return (x + 4.0).at(0).max(t(0)); }), (Numbers{0.5, 0}));
}

}  // namespace
}  // namespace hom
