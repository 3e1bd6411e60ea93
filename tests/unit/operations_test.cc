// tests/unit/operations_test.cc -- whose line a composition carries, which numbers a dtype takes,
// and functions of shape, against values worked out by hand
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace {

using namespace hom;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// An expression on x f64[3, 4], y f64[3, 4] and i i32[3], and the line on which it is written.
struct Composite {
  const char* text;
  std::function<Tensor(Tensor, Tensor, Tensor)> function;
  std::uint32_t line;
};
#define COMPOSITE(expression)                                                                 \
  Composite {                                                                                 \
    #expression,                                                                              \
        []([[maybe_unused]] Tensor x, [[maybe_unused]] Tensor y, [[maybe_unused]] Tensor i) { \
          return expression;                                                                  \
        },                                                                                    \
        Location::current().line()                                                            \
  }

const std::vector<Composite>& composites() {
  static const std::vector<Composite> all{
      COMPOSITE(relu(x)),
      COMPOSITE(sigmoid(x)),
      COMPOSITE(log_sigmoid(x)),
      COMPOSITE(softplus(x, 2)),
      COMPOSITE(silu(x)),
      COMPOSITE(gelu(x)),
      COMPOSITE(hypot(x, y)),
      COMPOSITE(sinc(x)),
      COMPOSITE(square(x)),
      COMPOSITE(logsumexp(x)),
      COMPOSITE(logsumexp(x, 1)),
      COMPOSITE(logaddexp(x, y)),
      COMPOSITE(logcumsumexp(x, 1)),
      COMPOSITE(softmax(x)),
      COMPOSITE(log_softmax(x)),
      COMPOSITE(cross_entropy(x, i)),
      COMPOSITE(cross_entropy(x, y)),
      COMPOSITE(mean_squared_error(x, y)),
      COMPOSITE(layer_norm(x)),
      COMPOSITE(batch_norm(x)),
      COMPOSITE(attention(x, y, y)),
      COMPOSITE(attention(x, y, y, i < 2)),
      COMPOSITE(uniform(Key{bitcast(i(Range{0, 2}), u32)}, {3})),
      COMPOSITE(uniform(Key{bitcast(i(Range{0, 2}), u32)}, {3}, -1, 1, f64)),
      COMPOSITE(split(Key{bitcast(i(Range{0, 2}), u32)})[1].words),
      COMPOSITE(mean(x, 0)),
      COMPOSITE(variance(x, 0)),
      COMPOSITE(standard_deviation(x)),
      COMPOSITE(norm(x, 1)),
      COMPOSITE(max_or(x, 0, 1)),
      COMPOSITE(min_or(x, 0, 1, Keep::yes)),
      COMPOSITE(matmul(x, transpose(y))),
      COMPOSITE(clamp(x, 0, y)),
      COMPOSITE(where(x > 0, x, 0)),
      COMPOSITE(log2(x)),
      COMPOSITE(log10(x)),
      COMPOSITE(is_inf(x)),
      COMPOSITE(is_nan(x)),
      COMPOSITE(one_hot(i, 4)),
      COMPOSITE(tril(x) + triu(x)),
      COMPOSITE(diagonal(x)),
      COMPOSITE(roll(x, 1, 0)),
      COMPOSITE(stack({x, y}, 1)),
      COMPOSITE(concat({x, y}, 1)),
      COMPOSITE(tile(x, {2, 1})),
      COMPOSITE(repeat(x, 2, 1)),
      COMPOSITE(ravel(x)),
      COMPOSITE(move_axis(x, 0, 1)),
      COMPOSITE(x + full_like(x, 2)),
      COMPOSITE(take(x, i)),
      COMPOSITE(take_along_axis(x, expand_dims(i, 1), 1)),
      COMPOSITE(segment_sum(x, i, 2)),
      COMPOSITE(segment_max(x, i, 2)),
      COMPOSITE(x(Range{0, 2}, 1)),
      COMPOSITE(eye(3) + linspace(0, 1, 3) + arange(0, 6, 2) + arange(0.0, 1.5, 0.5)),
  };
  return all;
}

Program program_of(const Composite& composite) {
  return program(composite.function, f64[{3, 4}], f64[{3, 4}], i32[{3}]);
}

TEST(Lines, every_step_of_a_composition_carries_the_line_of_its_caller) {
  for (const Composite& composite : composites()) {
    const Program p = program_of(composite);
    EXPECT_GT(p.step_count(), 0u) << composite.text;
    for (std::size_t i = 0; i < p.step_count(); ++i) {
      const Step step = p.step(i);
      EXPECT_EQ(step.at.line(), composite.line) << composite.text << ": " << step.primitive.name;
      EXPECT_TRUE(says(step.at.file_name(), "operations_test.cc"))
          << composite.text << ": " << step.primitive.name << " at " << to_string(step.at);
    }
  }
}

TEST(Lines, tooltips_of_a_graph_name_the_line_of_the_caller) {
  for (const Composite& composite : composites()) {
    const auto drawn = graph(program_of(composite));
    int placed = 0;
    for (const auto& node : drawn.nodes) {
      EXPECT_FALSE(says(node.tooltip, "core/")) << composite.text << ": " << node.tooltip;
      placed += says(node.tooltip, "operations_test.cc:" + std::to_string(composite.line));
    }
    EXPECT_GT(placed, 0) << composite.text;
  }
}

TEST(Lines, an_error_inside_a_nested_composition_names_the_line_of_the_caller) {
  const Tensor x = ones({2});
  const Tensor y = ones({3});
  const std::string here = ":" + std::to_string(Location::current().line() + 1);
  EXPECT_TRUE(says(error_of([&] { mean_squared_error(x, y); }), "operations_test.cc" + here));
  const std::string there = ":" + std::to_string(Location::current().line() + 1);
  EXPECT_TRUE(says(error_of([&] { log_sigmoid(ones({2}, i32)); }), "operations_test.cc" + there));
}

TEST(Lines, a_step_made_by_an_arrow_carries_the_line_of_its_operand) {
  const auto both = fork(arrows::sin, arrows::cos) >> arrows::add >> arrows::relu;
  const auto joined = join(arrows::exp, arrows::neg);
  std::uint32_t line = 0;
  const auto body = [&](Tensor x, Tensor y) {
    line = Location::current().line() + 1;
    const Tensor a = x * 2, b = y * 2;
    return both(a) + joined(a, b) + arrows::jam(a, b) + arrows::where(arrows::lt(a, b), a, b) +
           arrows::mean(arrows::matmul(arrows::transpose(a), b)) + arrows::softmax(b);
  };
  const Program p = program(body, f64[{3}], f64[{3}]);
  for (std::size_t i = 0; i < p.step_count(); ++i) {
    const Step step = p.step(i);
    EXPECT_FALSE(says(step.at.file_name(), "arrow.h")) << step.primitive.name;
    EXPECT_TRUE(line <= step.at.line() && step.at.line() <= line + 2) << step.primitive.name;
  }
  const std::string error = error_of([&] {
    line = Location::current().line() + 1;
    program([](Tensor x) { return arrows::matmul(x + 1, arrows::sum(x)); }, f64[{3}]);
  });
  EXPECT_TRUE(says(error, "operations_test.cc:")) << error;
}

TEST(Lines, an_arrow_on_concrete_tensors_names_the_line_of_its_operand) {
  const Tensor x = ones({2});
  const std::string here = ":" + std::to_string(Location::current().line() + 1);
  const Tensor y = ones({3});
  const std::string error = error_of([&] { arrows::add(x, y); });
  EXPECT_TRUE(says(error, "shapes do not broadcast")) << error;
  EXPECT_TRUE(says(error, "operations_test.cc" + here)) << error;
}

TEST(Arrows, are_the_functions_of_their_names) {
  const Tensor x = tensor({1.0, 4.0, -2.0});
  const Tensor y = tensor({1.0, 3.0, 5.0});
  EXPECT_EQ(arrows::eq(x, y).to_vector<int>(), (std::vector{1, 0, 0}));
  EXPECT_EQ(arrows::ne(x, y).to_vector<int>(), (std::vector{0, 1, 1}));
  EXPECT_EQ(arrows::lt(x, y).to_vector<int>(), (std::vector{0, 0, 1}));
  EXPECT_EQ(arrows::le(x, y).to_vector<int>(), (std::vector{1, 0, 1}));
  EXPECT_EQ(arrows::gt(x, y).to_vector<int>(), (std::vector{0, 1, 0}));
  EXPECT_EQ(arrows::ge(x, y).to_vector<int>(), (std::vector{1, 1, 0}));
  EXPECT_EQ(arrows::max(x).item(), 4);
  EXPECT_EQ(arrows::min(x).item(), -2);
  EXPECT_EQ(arrows::prod(x).item(), -8);
  EXPECT_EQ(arrows::mean(x).item(), 1);
  EXPECT_EQ(arrows::relu(x).to_vector(), (std::vector{1.0, 4.0, 0.0}));
  EXPECT_EQ(arrows::transpose(tensor({{1, 2}})).to_vector<int>(), (std::vector{1, 2}));
  EXPECT_EQ(arrows::transpose(tensor({{1, 2}})).shape(), (Shape{2, 1}));
  EXPECT_EQ(arrows::softmax(tensor({{0.0, 0.0}})).to_vector(), (std::vector{0.5, 0.5}));
  EXPECT_EQ(arrows::jam(x, 1).to_vector(), (std::vector{2.0, 5.0, -1.0}));
  EXPECT_EQ(arrows::jam(1, 2), 3);
}

TEST(Numbers, an_integer_tensor_takes_whole_numbers_of_its_range_only) {
  const Tensor x = tensor({1, 2, 3});
  const Tensor places = tensor({{1}});
  for (double bad : {0.5, -1.25, nan, infinity, -infinity, 2147483648.0, -2147483649.0, 1e300}) {
    const std::vector<std::function<void()>> uses{
        [&] { scatter(x, places, bad, {0}, Combine::add); },
        [&] { pad(x, bad, {1}, {1}); },
        [&] { max_or(x, bad); },
        [&] { min_or(x, bad, 0); },
        [&] { full({2}, bad, i32); },
        [&] { full_like(x, bad); },
        [&] { update_slice(Tensor(1), bad, {}, {}); },
    };
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const std::string error = error_of(uses[i]);
      EXPECT_TRUE(says(error, "does not fit i32")) << i << " of " << bad << ": " << error;
      EXPECT_TRUE(says(error, "astype(f64)")) << error;
      EXPECT_TRUE(says(error, "operations_test.cc")) << error;
    }
  }
  EXPECT_TRUE(says(error_of([&] { pad(x, 0.5, {1}, {1}); }), "the number 0.5 does not fit i32"));
  EXPECT_EQ(pad(x, -7.0, {1}, {0}).to_vector<int>(), (std::vector{-7, 1, 2, 3}));
  EXPECT_EQ(max_or(x, 2147483647.0).item<std::int64_t>(), 2147483647);
  EXPECT_EQ(full({1}, -2147483648.0, i32).item<std::int64_t>(), -2147483648);
}

TEST(Numbers, ranges_end_where_the_dtype_ends) {
  EXPECT_EQ(full({1}, 18446744073709549568.0, u64).item<std::uint64_t>(), 18446744073709549568u);
  EXPECT_THROW(full({1}, 18446744073709551616.0, u64), Error);
  EXPECT_EQ(full({1}, -9223372036854775808.0, i64).item<std::int64_t>(), INT64_MIN);
  EXPECT_THROW(full({1}, 9223372036854775808.0, i64), Error);
  EXPECT_THROW(full({1}, -1.0, u8), Error);
  EXPECT_THROW(full({1}, -1, u8), Error);
  EXPECT_THROW(full({1}, 256, u8), Error);
  EXPECT_EQ(full({1}, 255.0, u8).item<int>(), 255);
  EXPECT_EQ(full({1}, -0.0, u8).item<int>(), 0);
  // Floats round, and overflow to an infinity.
  EXPECT_EQ(full({1}, 1e300, f32).item(), infinity);
  EXPECT_TRUE(std::isnan(full({1}, nan, f16).item()));
}

TEST(Numbers, truth_values_are_0_and_1) {
  EXPECT_EQ(full({1}, 1, bool_).item<bool>(), true);
  EXPECT_EQ(full({1}, 0.0, bool_).item<bool>(), false);
  const std::string error = error_of([] { full({1}, 0.5, bool_); });
  EXPECT_TRUE(says(error, "the number 0.5 does not fit bool")) << error;
  EXPECT_TRUE(says(error, "x != 0")) << error;
  EXPECT_THROW(full({1}, 2, bool_), Error);
  EXPECT_THROW(pad(full({1}, true), nan, {1}, {1}), Error);
}

TEST(Numbers, arithmetic_with_a_float_number_still_promotes) {
  EXPECT_EQ((0.5 * tensor({1, 2})).type(), f64[{2}]);
  EXPECT_EQ((0.5 * tensor({1, 2})).to_vector(), (std::vector{0.5, 1.0}));
}

TEST(Numbers, a_tensor_of_a_wider_dtype_is_refused_where_it_would_be_narrowed) {
  const Tensor x = tensor({1, 2, 3});
  const Tensor half = Tensor(0.5);
  const auto refuses = [](const std::string& error, const std::string& text) {
    EXPECT_TRUE(says(error, text)) << error;
    EXPECT_TRUE(says(error, "operations_test.cc")) << error;
  };
  refuses(error_of([&] { pad(x, half, {1}, {1}); }),
          "pad: a value of dtype f64 does not fit a tensor of i32");
  refuses(error_of([&] { max_or(x, half); }),
          "max_or: an initial value of dtype f64 does not fit a tensor of i32");
  refuses(error_of([&] { min_or(ones({2}, f32), half); }),
          "min_or: an initial value of dtype f64 does not fit a tensor of f32");
  refuses(error_of([&] { full_like(x, half); }),
          "full_like: a value of dtype f64 does not fit a tensor of i32");
  EXPECT_EQ(pad(ones({1}), Tensor(3), {0}, {1}).to_vector(), (std::vector{1.0, 3.0}));
}

TEST(Numbers, segments_of_integers_start_at_the_ends_of_their_range) {
  const Tensor data = tensor({5, -7});
  const Tensor ids = tensor({1, 1});
  EXPECT_EQ(segment_max(data, ids, 2).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{INT32_MIN, 5}));
  EXPECT_EQ(segment_min(data, ids, 2).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{INT32_MAX, -7}));
  EXPECT_EQ(segment_prod(data, ids, 2).to_vector<int>(), (std::vector{1, -35}));
  EXPECT_THROW(segment_sum(data, ids, -1), Error);
}

TEST(Indexing, huge_steps_take_one_element) {
  const Tensor x = tensor({10, 11, 12, 13});
  const auto elements = [&](Range range) { return x(range).to_vector<int>(); };
  EXPECT_EQ(elements({1, Range::end, INT64_MAX}), (std::vector{11}));
  EXPECT_EQ(elements({Range::end, Range::end, INT64_MIN}), (std::vector{13}));
  EXPECT_EQ(elements({2, Range::end, INT64_MIN + 1}), (std::vector{12}));
  EXPECT_EQ(elements({INT64_MIN, INT64_MAX - 1, INT64_MAX - 1}), (std::vector{10}));
  EXPECT_EQ(elements({3, 0, INT64_MAX}), (std::vector<int>{}));
  EXPECT_EQ(elements({Range::end, Range::end, -3}), (std::vector{13, 10}));
}

TEST(Shaping, arange_counts_from_start_to_before_stop) {
  EXPECT_EQ(arange(2, 11, 3).to_vector<int>(), (std::vector{2, 5, 8}));
  EXPECT_EQ(arange(2, 5).to_vector<int>(), (std::vector{2, 3, 4}));
  EXPECT_EQ(arange(2, 5).type(), i64[{3}]);
  EXPECT_EQ(arange(5, 0, -2, u8).type(), u8[{3}]);
  EXPECT_EQ(arange(5, 0, -2, u8).to_vector<int>(), (std::vector{5, 3, 1}));
  EXPECT_EQ(arange(0.0, 1.0, 0.25).to_vector(), (std::vector{0.0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(arange(0.0, 1.0, 0.25).type(), f64[{4}]);
  EXPECT_EQ(arange(1.0, 0, -0.5, f32).type(), f32[{2}]);
  EXPECT_EQ(arange(3, 3).type(), i64[{0}]);
  EXPECT_EQ(arange(3, 0).type(), i64[{0}]);
  EXPECT_EQ(arange(0.5, -1).type(), f64[{0}]);
  EXPECT_EQ(arange(4).to_vector<int>(), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(arange(INT64_MIN, INT64_MAX, INT64_MAX).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_EQ(arange(0, -3, INT64_MIN).to_vector<int>(), (std::vector{0}));
}

TEST(Shaping, arange_refuses_what_it_cannot_count) {
  EXPECT_TRUE(says(error_of([] { arange(0, 5, 0); }), "arange: the step is 0"));
  EXPECT_THROW(arange(0.0, 5.0, 0.0), Error);
  EXPECT_THROW(arange(0.0, infinity), Error);
  EXPECT_THROW(arange(nan, 1.0), Error);
  EXPECT_THROW(arange(0, 300, 1, u8), Error);
  EXPECT_THROW(arange(-1, 3, 1, u32), Error);
  EXPECT_THROW(arange(INT64_MIN, INT64_MAX), Error);
  EXPECT_TRUE(says(error_of([] { arange(0.0, 3.0, 1.0, i32); }), "i32"));
  EXPECT_TRUE(says(error_of([] { linspace(0, 1, 3, i32); }), "linspace: makes floats, not i32"));
}

TEST(Shaping, full_like_has_the_shape_and_dtype_of_its_model) {
  const Tensor x = zeros({2, 3}, f32);
  EXPECT_EQ(full_like(x, 0.5).type(), x.type());
  EXPECT_EQ(full_like(x, 0.5).to_vector(), std::vector<double>(6, 0.5));
  EXPECT_EQ(full_like(x, tensor({1, 2, 3})).to_vector<int>(), (std::vector{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(full_like(zeros({2}, bool_), true).to_vector<int>(), (std::vector{1, 1}));
}

TEST(Shaping, tile_lays_copies_side_by_side) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(tile(tensor({1, 2}), {2}).to_vector<int>(), (std::vector{1, 2, 1, 2}));
  EXPECT_EQ(tile(x, {1, 2}).to_vector<int>(), (std::vector{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(tile(x, {2}).shape(), (Shape{2, 4}));
  EXPECT_EQ(tile(x, {2, 1}).to_vector<int>(), (std::vector{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(tile(tensor({1, 2}), {2, 1}).shape(), (Shape{2, 2}));
  EXPECT_EQ(tile(Tensor(7), {3}).to_vector<int>(), (std::vector{7, 7, 7}));
  EXPECT_EQ(tile(Tensor(7), {}).shape(), (Shape{}));
  EXPECT_EQ(tile(x, {0, 3}).shape(), (Shape{0, 6}));
  EXPECT_TRUE(says(error_of([&] { tile(x, {-1}); }), "tile: "));
  EXPECT_THROW(tile(x, {INT64_MAX, 1}), Error);
}

TEST(Shaping, repeat_copies_each_element) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(repeat(x, 2, 1).to_vector<int>(), (std::vector{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(repeat(x, 2, -2).to_vector<int>(), (std::vector{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(repeat(x, 0, 0).shape(), (Shape{0, 2}));
  EXPECT_TRUE(says(error_of([&] { repeat(x, -1, 0); }), "repeat: "));
  EXPECT_TRUE(says(error_of([&] { repeat(x, 2, 2); }), "repeat: axis 2"));
}

TEST(Shaping, ravel_and_move_axis) {
  EXPECT_EQ(ravel(tensor({{1, 2}, {3, 4}})).type(), i32[{4}]);
  EXPECT_EQ(ravel(Tensor(3)).type(), i32[{1}]);
  EXPECT_EQ(ravel(zeros({2, 0})).type(), f64[{0}]);
  const Tensor x = zeros({2, 3, 4, 5});
  EXPECT_EQ(move_axis(x, 0, 2).shape(), (Shape{3, 4, 2, 5}));
  EXPECT_EQ(move_axis(x, 3, 1).shape(), (Shape{2, 5, 3, 4}));
  EXPECT_EQ(move_axis(x, -1, 0).shape(), (Shape{5, 2, 3, 4}));
  EXPECT_EQ(move_axis(x, 1, -1).shape(), (Shape{2, 4, 5, 3}));
  EXPECT_EQ(move_axis(tensor({{1, 2}, {3, 4}}), 0, 1).to_vector<int>(), (std::vector{1, 3, 2, 4}));
  EXPECT_TRUE(says(error_of([&] { move_axis(x, 0, 4); }), "move_axis: axis 4"));
}

TEST(Shaping, triangles_keep_the_dtype) {
  for (Dtype dtype : all_dtypes) {
    const Tensor lower = tril(ones({2, 2}, dtype));
    const TensorType square = dtype[{2, 2}];
    EXPECT_EQ(lower.type(), square);
    EXPECT_EQ(lower.to_vector<int>(), (std::vector{1, 0, 1, 1}));
    EXPECT_EQ(triu(ones({2, 2}, dtype)).type(), square);
  }
}

TEST(Shaping, gradients_of_tile_and_repeat_count_the_copies) {
  const Tensor weight = tensor({1.0, 2.0, 4.0, 8.0});
  const auto tiled = [&](Tensor x) { return sum(tile(x, {2}) * weight); };
  const auto repeated = [&](Tensor x) { return sum(repeat(x, 2, 0) * weight); };
  EXPECT_EQ(grad(tiled)(tensor({0.0, 0.0})).to_vector(), (std::vector{5.0, 10.0}));
  EXPECT_EQ(grad(repeated)(tensor({0.0, 0.0})).to_vector(), (std::vector{3.0, 12.0}));
}

TEST(Elementwise, infinities_are_found_on_both_sides) {
  const std::vector<int> expected{1, 1, 0, 0};
  for (Dtype dtype : {f16, bf16, f32, f64}) {
    const Tensor x = tensor({infinity, -infinity, nan, 1.0}).astype(dtype);
    EXPECT_EQ(is_inf(x).to_vector<int>(), expected);
  }
  EXPECT_EQ(is_inf(Tensor(1.0)).dtype(), bool_);
  EXPECT_TRUE(says(error_of([] { is_inf(Tensor(1)); }), "is_inf: takes floats"));
}

TEST(Elementwise, logarithms_to_base_2_and_10) {
  for (double value : {0.25, 1.0, 8.0, 10.0, 1000.0, 3e-300, 7.5e200}) {
    EXPECT_NEAR(log2(Tensor(value)).item(), std::log2(value), 5e-16 * std::abs(std::log2(value)));
    EXPECT_NEAR(log10(Tensor(value)).item(), std::log10(value),
                5e-16 * std::abs(std::log10(value)));
  }
  EXPECT_EQ(log2(Tensor(0.0)).item(), -infinity);
  EXPECT_EQ(log2(full({}, 1024, f16)).type(), f16[{}]);
  EXPECT_EQ(log2(full({}, 1024, f16)).item(), 10);
  EXPECT_DOUBLE_EQ(grad([](Tensor x) { return log2(x); })(4.0).item(), 1 / (4 * std::log(2.0)));
  EXPECT_TRUE(says(error_of([] { log10(Tensor(1)); }), "log10: takes floats"));
}

TEST(Elementwise, compound_assignments_leave_copies_alone) {
  Tensor x = tensor({12, 10});
  const Tensor copy = x;
  x &= 10;
  EXPECT_EQ(x.to_vector<int>(), (std::vector{8, 10}));
  x |= tensor({1, 4});
  EXPECT_EQ(x.to_vector<int>(), (std::vector{9, 14}));
  x ^= 3;
  EXPECT_EQ(x.to_vector<int>(), (std::vector{10, 13}));
  x %= 4;
  EXPECT_EQ(x.to_vector<int>(), (std::vector{2, 1}));
  EXPECT_EQ(copy.to_vector<int>(), (std::vector{12, 10}));
  EXPECT_TRUE(says(error_of([&] { x %= ones({3}); }), "operations_test.cc"));
}

TEST(Elementwise, compositions_of_floats_refuse_integers_by_their_own_name) {
  const Tensor x = tensor({1, 2});
  EXPECT_TRUE(says(error_of([&] { softmax(x); }), "softmax: takes floats"));
  EXPECT_TRUE(says(error_of([&] { sigmoid(x); }), "sigmoid: takes floats"));
  EXPECT_TRUE(says(error_of([&] { softplus(x); }), "softplus: takes floats"));
  EXPECT_TRUE(says(error_of([&] { log_sigmoid(x); }), "log_sigmoid: takes floats"));
  EXPECT_TRUE(says(error_of([&] { silu(x); }), "silu: takes floats"));
  EXPECT_TRUE(says(error_of([&] { gelu(x); }), "gelu: takes floats"));
  EXPECT_TRUE(says(error_of([&] { sinc(x); }), "sinc: takes floats"));
  EXPECT_TRUE(says(error_of([&] { hypot(x, 2); }), "hypot: takes floats"));
  EXPECT_TRUE(says(error_of([&] { logaddexp(x, x); }), "logaddexp: takes floats"));
  EXPECT_EQ(hypot(Tensor(3.0), 4).item(), 5);
  EXPECT_TRUE(says(error_of([&] { log_softmax(x); }), "log_softmax: takes floats"));
  EXPECT_TRUE(says(error_of([&] { logsumexp(x); }), "logsumexp: takes floats"));
}

}  // namespace
