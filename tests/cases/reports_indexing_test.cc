// tests/cases/reports_indexing_test.cc -- segments, scatter and gather out of range, windows,
// shapes that differ
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <cmath>
#include <limits>

#include "support.h"

namespace hom::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::array<Dtype, 4> float_dtypes{f64, f32, f16, bf16};

/// 1, 2, 3, … in a shape.
Tensor counting(const Shape& shape, Dtype dtype = f64) {
  return reshape(arange(element_count(shape)) + 1, shape).astype(dtype);
}

// Row 58.

TEST(Reports, segments_drop_ids_out_of_range_in_value_and_gradient) {
  for (const Dtype dtype : float_dtypes) {
    for (const Dtype id_dtype : {i32, i64}) {
      const auto f = [=](Tensor data) {
        return segment_sum(data, tensor({2, 3}).astype(id_dtype), 2);
      };
      const Tensor zero = zeros({2}, dtype);
      EXPECT_TRUE(near(f(zero), {0, 0}));
      EXPECT_TRUE(near(jacobian_in_both_modes(f, zero), {0, 0, 0, 0}));
      EXPECT_TRUE(near(gradient([&](Tensor x) { return sum(f(x)); }, zero), {0, 0}));
      const auto negative = [=](Tensor data) {
        return segment_sum(data, tensor({-1, 1, 0}).astype(id_dtype), 2);
      };
      const Tensor data = vector_of({5, 7, 11}, dtype);
      EXPECT_TRUE(near(negative(data), {11, 7}));
      EXPECT_TRUE(near(jacobian_in_both_modes(negative, data), {0, 0, 1, 0, 1, 0}));
    }
  }
}

TEST(Reports, every_segment_reduction_drops_ids_out_of_range) {
  const Tensor ids = tensor({0, -1, 0, 5, -2147483647});
  const Tensor data = tensor({2.0, 100.0, 3.0, 100.0, 100.0});
  const auto product = [&](Tensor x) { return segment_prod(x, ids, 2); };
  const auto largest = [&](Tensor x) { return segment_max(x, ids, 2); };
  const auto smallest = [&](Tensor x) { return segment_min(x, ids, 2); };
  EXPECT_TRUE(near(product(data), {6, 1}));
  EXPECT_TRUE(near(largest(data), {3, -infinity}));
  EXPECT_TRUE(near(smallest(data), {2, infinity}));
  EXPECT_TRUE(near(jacobian_in_both_modes(product, data), {3, 0, 2, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(near(jacobian_in_both_modes(largest, data), {0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(near(jacobian_in_both_modes(smallest, data), {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  // Rows as segments.
  const Tensor rows = segment_sum(counting({3, 2}), tensor({1, 7, 1}), 2);
  EXPECT_TRUE(near(rows, {0, 0, 6, 8}));
}

TEST(Reports, gather_and_scatter_out_of_range_follow_their_mode) {
  const Tensor x = tensor({10.0, 20.0, 30.0});
  const Tensor indices = tensor({{-1}, {1}, {3}});
  const auto read = [&](Bounds bounds) {
    return [&, bounds](Tensor a) { return gather(a, indices, {0}, bounds); };
  };
  EXPECT_TRUE(near(read(Bounds::clip)(x), {10, 20, 30}));
  EXPECT_TRUE(near(read(Bounds::drop)(x), {0, 20, 0}));
  EXPECT_THROW(read(Bounds::check)(x), Error);
  EXPECT_TRUE(near(jacobian_in_both_modes(read(Bounds::clip), x), {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_TRUE(near(jacobian_in_both_modes(read(Bounds::drop), x), {0, 0, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_THROW(jacobian(read(Bounds::check))(x), Error);

  const auto write = [&](Bounds bounds) {
    return [&, bounds](Tensor updates) {
      return scatter(x, indices, updates, {0}, Combine::add, bounds);
    };
  };
  const Tensor updates = tensor({1.0, 2.0, 3.0});
  EXPECT_TRUE(near(write(Bounds::clip)(updates), {11, 22, 33}));
  EXPECT_TRUE(near(write(Bounds::drop)(updates), {10, 22, 30}));
  EXPECT_THROW(write(Bounds::check)(updates), Error);
  EXPECT_TRUE(
      near(jacobian_in_both_modes(write(Bounds::clip), updates), {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_TRUE(
      near(jacobian_in_both_modes(write(Bounds::drop), updates), {0, 0, 0, 0, 1, 0, 0, 0, 0}));
}

// Row 60.

TEST(Reports, scatter_max_with_a_clipped_index_has_a_finite_gradient) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor x = vector_of({1, 2, 3}, dtype);
    const Tensor updates = vector_of({5, 0, 3}, dtype);
    const Tensor indices = tensor({{7}, {0}, {-4}});  // clipped: 2, 0, 0
    const auto f = [&](Tensor a, Tensor b) {
      return sum(scatter(a, indices, b, {0}, Combine::max, Bounds::clip));
    };
    EXPECT_TRUE(near(scatter(x, indices, updates, {0}, Combine::max, Bounds::clip), {3, 2, 5}));
    const auto [dx, dupdates] = gradients(f, x, updates);
    EXPECT_TRUE(near(dx, {0, 1, 0}));
    EXPECT_TRUE(near(dupdates, {1, 0, 1}));
    // Ties with what was there and among updates share.
    const auto [tied_dx, tied_dupdates] = gradients(f, x, vector_of({3, 1, 1}, dtype));
    EXPECT_TRUE(near(tied_dx, {1. / 3, 1, 0.5}));
    EXPECT_TRUE(near(tied_dupdates, {0.5, 1. / 3, 1. / 3}));
  }
}

TEST(Reports, scatter_min_and_mul_with_a_clipped_index_have_finite_gradients) {
  const Tensor x = tensor({1.0, 0.0, 3.0});
  const Tensor updates = tensor({5.0, 0.0, 2.0});
  const Tensor indices = tensor({{9}, {1}, {1}});
  const auto by = [&](Combine combine) {
    return [&, combine](Tensor a, Tensor b) {
      return sum(scatter(a, indices, b, {0}, combine, Bounds::clip));
    };
  };
  const auto least = gradients(by(Combine::min), x, updates);
  EXPECT_TRUE(near(least[0], {1, 0.5, 1}));
  EXPECT_TRUE(near(least[1], {0, 0.5, 0}));
  // Element 1 is 0·0·2: each factor meets another zero. Element 2 is 3·5.
  const auto product = gradients(by(Combine::mul), x, updates);
  EXPECT_TRUE(near(product[0], {1, 0, 5}));
  EXPECT_TRUE(near(product[1], {3, 0, 0}));
}

// Row 61.

TEST(Reports, gradient_of_a_segment_product) {
  const auto f = [](Tensor data) { return sum(segment_prod(data, tensor({0, 0, 1}), 2)); };
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(gradient(f, vector_of({2, 3, 4}, dtype)), {3, 2, 1}));
    // No division: one zero leaves the product of the others, two leave nothing.
    EXPECT_TRUE(near(gradient(f, vector_of({0, 3, 4}, dtype)), {3, 0, 1}));
    EXPECT_TRUE(near(gradient(f, vector_of({0, 0, 4}, dtype)), {0, 0, 1}));
  }
  EXPECT_TRUE(near(second_derivative(f, tensor({2.0, 3.0, 4.0})), {0, 1, 0, 1, 0, 0, 0, 0, 0}));
}

TEST(Reports, gradients_of_products_with_zeros_need_no_division) {
  const auto product = [](Tensor x) { return prod(x); };
  EXPECT_TRUE(near(gradient(product, tensor({2.0, 3.0, 4.0})), {12, 8, 6}));
  EXPECT_TRUE(near(gradient(product, tensor({0.0, 3.0, 4.0})), {12, 0, 0}));
  EXPECT_TRUE(near(gradient(product, tensor({0.0, 3.0, 0.0})), {0, 0, 0}));
  EXPECT_TRUE(
      near(second_derivative(product, tensor({0.0, 3.0, 0.0})), {0, 0, 3, 0, 0, 0, 3, 0, 0}));
  const auto running = [](Tensor x) { return cumprod(x); };
  EXPECT_TRUE(
      near(jacobian_in_both_modes(running, tensor({2.0, 0.0, 4.0})), {1, 0, 0, 0, 2, 0, 0, 8, 0}));
  const auto from_the_end = [](Tensor x) { return cumprod(x, 0, true); };
  EXPECT_TRUE(near(jacobian_in_both_modes(from_the_end, tensor({2.0, 0.0, 4.0})),
                   {0, 8, 0, 0, 4, 0, 0, 0, 1}));
  EXPECT_TRUE(
      near(gradient([](Tensor x) { return sum(prod(x, 0)); }, tensor({{2.0, 0.0}, {3.0, 5.0}})),
           {3, 5, 2, 0}));
}

// Row 63.

TEST(Reports, adding_into_one_column_of_a_batch_has_one_backward_formula) {
  const std::int64_t steps = 4;
  const Tensor weights = counting({2, steps, 3});
  for (std::int64_t t = 0; t < steps; ++t) {
    // Three ways to write zeros(2, T, 3).at[:, t].add(u); u is [2, 3].
    const auto by_slice = [&](Tensor u) {
      return update_slice(zeros({2, steps, 3}, u.dtype()), expand_dims(u, 1), {0, t, 0}, {1, 1, 1},
                          Combine::add);
    };
    const auto by_window = [&](Tensor u) {
      const Tensor start = tensor({std::int64_t{0}, t, std::int64_t{0}});
      return dynamic_update_slice(zeros({2, steps, 3}, u.dtype()), expand_dims(u, 1), start,
                                  Combine::add);
    };
    const auto by_scatter = [&](Tensor u) {
      const Tensor index = tensor(std::vector<std::int64_t>{t}, {1, 1});
      return scatter(zeros({2, steps, 3}, u.dtype()), index, expand_dims(u, 0), {1}, Combine::add);
    };
    const auto check = [&](const auto& f) {
      std::vector<double> value(static_cast<std::size_t>(2 * steps * 3));
      std::vector<double> slope;
      for (std::int64_t batch = 0; batch < 2; ++batch) {
        for (std::int64_t i = 0; i < 3; ++i) {
          const auto at = static_cast<std::size_t>((batch * steps + t) * 3 + i);
          value[at] = static_cast<double>(batch * 3 + i + 1);
          slope.push_back(static_cast<double>(at) + 1);
        }
      }
      for (const Dtype dtype : float_dtypes) {
        const Tensor u = counting({2, 3}, dtype);
        EXPECT_TRUE(near(f(u), value));
        EXPECT_TRUE(near(
            gradient([&](Tensor a) { return sum(weights.astype(a.dtype()) * f(a)); }, u), slope));
      }
    };
    check(by_slice);
    check(by_window);
    check(by_scatter);
  }
}

// Row 65.

TEST(Reports, scatter_along_any_axis_equals_the_loop) {
  const Tensor x = counting({2, 3, 4});
  const std::vector<double> before = x.to_vector();
  const std::vector<std::int64_t> places{3, 0, 3};
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const std::int64_t extent = x.extent(axis);
    std::vector<std::int64_t> inside;
    for (std::int64_t place : places) inside.push_back(place % extent);
    Shape update_shape{3};
    for (std::int64_t other = 0; other < 3; ++other) {
      if (other != axis) update_shape.push_back(x.extent(other));
    }
    const Tensor updates = 100.0 * counting(update_shape);
    const Tensor indices = tensor(inside, {3, 1});
    const auto f = [&](Tensor u) { return scatter(x, indices, u, {axis}, Combine::add); };
    // The loop, by row-major positions.
    std::vector<double> expected = before;
    std::vector<double> slope;
    const std::vector<double> added = updates.to_vector();
    const std::int64_t stride = axis == 0 ? 12 : axis == 1 ? 4 : 1;
    const std::int64_t rest = 24 / extent;
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t r = 0; r < rest; ++r) {
        const std::int64_t outer = r / stride;
        const std::int64_t at =
            (outer * extent + inside[static_cast<std::size_t>(j)]) * stride + r % stride;
        expected[static_cast<std::size_t>(at)] += added[static_cast<std::size_t>(j * rest + r)];
        slope.push_back(before[static_cast<std::size_t>(at)]);
      }
    }
    EXPECT_TRUE(near(f(updates), expected)) << axis;
    EXPECT_TRUE(near(gradient([&](Tensor u) { return sum(x * f(u)); }, updates), slope)) << axis;
  }
}

TEST(Reports, a_map_of_scatters_along_any_axis_equals_the_loop) {
  const Tensor x = counting({2, 3, 4});
  const Tensor indices = tensor({{{1}, {0}}, {{0}, {1}}, {{1}, {1}}});
  const std::pair<std::int64_t, Shape> cases[] = {{0, {1, 2}}, {1, {0, 2}}, {2, {0, 1}}};
  for (const auto& [axis, others] : cases) {
    // The lanes of x are axis `axis`, and a lane is scattered into along each of its axes.
    const std::int64_t lanes = x.extent(axis);
    for (std::int64_t along : {0, 1}) {
      const std::int64_t rest = x.extent(others.begin()[1 - along]);
      const Tensor updates = 100.0 * counting({2, rest});
      const auto f = [&, along = along](Tensor row, Tensor places) {
        return scatter(row, places, updates, {along}, Combine::add);
      };
      const Tensor places = concat({indices, indices})(Range{0, lanes});
      const Tensor got = vmap(f, {axis, 0}, axis)(x, places);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const Tensor want = f(move_axis(x, axis, 0)(lane), places(lane));
        EXPECT_TRUE(array_equal(move_axis(got, axis, 0)(lane), want)) << axis << along << lane;
      }
    }
  }
}

// Row 68.

TEST(Reports, operands_of_different_rank_and_constants_in_a_stack) {
  const auto add_bias = [](Tensor x, Tensor bias) { return sum(square(x + bias)); };
  const auto [dx, dbias] =
      gradients(add_bias, tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}), tensor({10.0, 20.0, 30.0}));
  EXPECT_TRUE(near(dx, {22, 44, 66, 28, 50, 72}));
  EXPECT_TRUE(near(dbias, {50, 94, 138}));
  const auto [dy, dcolumn] = gradients(add_bias, tensor({1.0, 2.0}), tensor({{10.0}, {20.0}}));
  EXPECT_TRUE(near(dy, {64, 68}));
  EXPECT_TRUE(near(dcolumn, {46, 86}));
  const auto stacked = [](Tensor x) { return stack({x, 1.0, x * x, ones({2}, f64)}); };
  EXPECT_TRUE(near(stacked(3.0), {3, 3, 1, 1, 9, 9, 1, 1}));
  EXPECT_TRUE(near(jacobian_in_both_modes(stacked, 3.0), {1, 1, 0, 0, 6, 6, 0, 0}));
  EXPECT_TRUE(near(
      jacobian_in_both_modes([](Tensor x) { return concat({x, zeros({1}, f64)}); }, tensor({2.0})),
      {1, 0}));
  EXPECT_THROW(ones({2, 3}, f64) + ones({2}, f64), Error);
}

TEST(Reports, nested_maps_of_an_index_and_axes_from_the_end) {
  const auto element = [](Tensor x, Tensor i) { return take(x, i); };
  const Tensor x = counting({2, 3});
  const Tensor i = tensor({{2, 0, 1}, {1, 1, 0}});
  const auto of_row = vmap(element, {unmapped, 0});
  EXPECT_TRUE(near(vmap(of_row)(x, i), {3, 1, 2, 5, 5, 4}));
  EXPECT_TRUE(
      near(vmap(vmap(element, {unmapped, 0}), {unmapped, 0})(ones({3}), i), {1, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(near(vmap(of_row, {-1, -1}, -1)(x.T(), i.T()), {3, 5, 1, 5, 2, 4}));
  EXPECT_TRUE(near(vmap([](Tensor row, Tensor bias) { return row + bias; }, {-2, unmapped})(
                       x, tensor({10.0, 20.0, 30.0})),
                   {11, 22, 33, 14, 25, 36}));
  EXPECT_TRUE(
      near(vmap([](Tensor a) { return stack({a, 1.0}); })(tensor({2.0, 3.0})), {2, 1, 3, 1}));
}

// Row 70, without einsum.

TEST(Reports, the_pullback_of_a_trace_is_the_identity) {
  const auto trace = [](Tensor x) { return sum(diagonal(x)); };
  const Tensor x = counting({3, 3});
  EXPECT_TRUE(near(trace(x), 15));
  EXPECT_TRUE(near(gradient(trace, x), {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_TRUE(near(vjp(trace)(x).second(2.5), {2.5, 0, 0, 0, 2.5, 0, 0, 0, 2.5}));
  EXPECT_TRUE(
      near(gradient([](Tensor y) { return sum(y * eye(3)); }, x), {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_TRUE(near(gradient(trace, counting({2, 2, 2})), {1, 0, 0, 1, 1, 0, 0, 1}));
}

// Row 71.

TEST(Reports, the_gradient_of_a_non_scalar_function_is_an_error_that_names_the_shape) {
  const auto f = [](Tensor x) { return 2 * x; };
  for (const std::string& message : {message_of([&] { grad(f)(ones({3, 4})); }),
                                     message_of([&] { value_and_grad(f)(ones({3, 4})); }),
                                     message_of([&] { hessian(f)(ones({3, 4})); })}) {
    EXPECT_NE(message.find("[3, 4]"), std::string::npos) << message;
    EXPECT_NE(message.find("reports_indexing_test.cc"), std::string::npos) << message;
  }
  const std::string tuple = message_of(
      [] { grad([](Tensor x) { return vjp([](Tensor y) { return y; })(x).first; })(ones({2})); });
  EXPECT_NE(tuple.find("[2]"), std::string::npos) << tuple;
}

// Row 75.

TEST(Reports, an_index_computed_from_x_carries_no_gradient) {
  const auto f = [](Tensor x) {
    const Tensor indices = expand_dims(x.astype(i32), 1);
    return sum(scatter(zeros({3}, x.dtype()), indices, x, {0}, Combine::set));
  };
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(gradient(f, vector_of({2.25, 0.5, 1.75}, dtype)), {1, 1, 1}));
  }
  const auto reads = [](Tensor x) {
    return sum(take(x, (x * 2).astype(i64)) * tensor({1.0, 10.0, 100.0}));
  };
  // Elements 2, 1 and 0 are read.
  EXPECT_TRUE(near(gradient(reads, tensor({1.0, 0.5, 0.25})), {100, 10, 1}));
  const auto rounded = [](Tensor x) { return x.astype(i32).astype(f64) * x; };
  EXPECT_TRUE(near(gradient(rounded, 2.75), 2));
  // When several updates set one element, only the last one counts.
  const auto overwritten = [](Tensor x) {
    return sum(scatter(zeros({2}, f64), tensor({{0}, {0}, {1}}), x, {0}, Combine::set));
  };
  EXPECT_TRUE(near(gradient(overwritten, tensor({1.0, 2.0, 3.0})), {0, 1, 1}));
}

TEST(Reports, reversed_views_under_capture_stay_reversed) {
  const auto reversed = [](Tensor x) { return flip(x, {0}); };
  const auto by_range = [](Tensor x) { return x(Range{.step = -1}); };
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const std::vector<double> anti_diagonal{0, 0, 1, 0, 1, 0, 1, 0, 0};
  EXPECT_TRUE(near(jacobian_in_both_modes(reversed, x), anti_diagonal));
  EXPECT_TRUE(near(jacobian_in_both_modes(by_range, x), anti_diagonal));
  EXPECT_TRUE(near(evaluate(program(reversed, x), {x})[0], {3, 2, 1}));
}

}  // namespace
}  // namespace hom::cases
