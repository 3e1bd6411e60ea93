// tests/unit/jacobian_by_parts_test.cc -- Jacobians of functions that read parts of their inputs,
// and elements at places known beforehand
#include <random>

#include <gtest/gtest.h>

#include <hom/categories/element_reading.h>
#include <hom/hom.h>

namespace hom {
namespace {

Tensor numbers(const Shape& shape, double scale = 0.3) {
  return reshape(sin(arange(element_count(shape), f64) * scale + scale), shape);
}

/// Dense and sparse agree in both arguments; how many passes that took.
template <class F>
std::int64_t passes_of(const F& f, const Tensor& x, const Tensor& w) {
  const auto prepared = sparse_jacobian(f, wrt<0, 1>).prepare(x, w);
  const auto [dx, dw] = jacobian(f, wrt<0, 1>)(x, w);
  const std::int64_t rows = f(x, w).size();
  const Tensor want = concat({reshape(dx, {rows, x.size()}), reshape(dw, {rows, w.size()})}, 1);
  const Tensor got = to_dense(prepared(x, w));
  EXPECT_EQ(got.shape(), want.shape());
  EXPECT_LT(max_or(abs(got - want), 0.0).item(), 1e-13) << got << "\nnot " << want;
  return prepared.passes();
}

const std::vector<std::int64_t> five_of_three{0, 1, 2, 0, 1};

TEST(JacobianByParts, takes_a_pass_for_each_result_of_a_part) {
  const auto one = [](Tensor a, Tensor w) {
    return stack({w * sin(a(0) * a(1)) + a(2), a(3) * w});
  };
  const auto f = [&](Tensor x, Tensor w) { return vmap(one)(take(x, tensor(five_of_three)), w); };
  // Rows of a batch entry share no part with others; a column of x is in all that read it.
  EXPECT_EQ(passes_of(f, numbers({3, 4}), numbers({5}, 0.7)), 2);
}

TEST(JacobianByParts, is_right_where_parts_overlap) {
  const auto one = [](Tensor a, Tensor w) {
    return stack({sum(a(Range{0, 3})) * w, sum(square(a(Range{1, 4}))) * a(2)});
  };
  const auto f = [&](Tensor x, Tensor w) { return vmap(one)(take(x, tensor(five_of_three)), w); };
  EXPECT_EQ(passes_of(f, numbers({3, 4}), numbers({5}, 0.7)), 2);
}

TEST(JacobianByParts, is_right_where_a_row_reads_an_input_twice) {
  const Tensor i = tensor(five_of_three);
  const Tensor j = tensor(std::vector<std::int64_t>{0, 2, 2, 1, 1});
  const auto f = [&](Tensor x, Tensor w) { return sin(take(x, i)) * take(x, j) * w; };
  passes_of(f, numbers({3}), numbers({5}, 0.7));
}

TEST(JacobianByParts, is_right_where_positions_are_arguments) {
  const auto f = [](Tensor x, Tensor i) { return square(take(x, i)); };
  const Tensor x = numbers({3});
  const Tensor i = tensor(five_of_three);
  const auto prepared = sparse_jacobian(f).prepare(f64[{3}], i64[{5}]);
  const Tensor want = jacobian([&](Tensor y) { return f(y, i); })(x);
  EXPECT_TRUE(array_equal(to_dense(prepared(x, i)), want)) << want;
}

TEST(JacobianByParts, is_one_kernel_that_stores_entries_where_they_belong) {
  const auto one = [](Tensor a, Tensor w) {
    return stack({w * sin(a(0) * a(1)) + a(2), a(3) * w});
  };
  std::vector<std::int64_t> of;
  for (std::int64_t k = 0; k < 200; ++k) of.push_back(k % 7);
  const auto f = [&](Tensor x, Tensor w) { return vmap(one)(take(x, tensor(of)), w); };
  const Tensor x = numbers({7, 4});
  const Tensor w = numbers({200}, 0.7);
  const auto prepared = sparse_jacobian(f, wrt<0, 1>).prepare(x, w);
  const auto compiled = compile([&](Tensor y, Tensor v) { return prepared(y, v).values; });
  EXPECT_EQ(explain(compiled, x, w).steps.size(), 1U) << explain(compiled, x, w);
  EXPECT_TRUE(array_equal(compiled(x, w), prepared(x, w).values));
}

TEST(ElementsAt, are_those_of_the_tensors_one_after_the_other) {
  std::mt19937_64 random(1);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int draw = 0; draw < 300; ++draw) {
    std::vector<PlacedTensor> tensors;
    std::vector<double> all;
    for (std::int64_t t = 0; t <= below(3); ++t) {
      const Tensor x = numbers({1 + below(6), 1 + below(4), 1 + below(3)}, 0.1 + 0.01 * draw);
      tensors.push_back({x, static_cast<std::int64_t>(all.size())});
      for (double element : x.to_vector()) all.push_back(element);
    }
    // Periodic ones, some of them zeros, then others.
    std::vector<std::int64_t> places;
    const std::int64_t period = 1 + below(4);
    const std::int64_t step = 1 + below(4);
    const bool has_zeros = below(2) == 0;
    const auto size = static_cast<std::int64_t>(all.size());
    for (std::int64_t r = 0; r * step + period <= size; ++r) {
      for (std::int64_t b = 0; b < period; ++b)
        places.push_back(has_zeros && b == 1 ? -1 : r * step + b);
    }
    if (below(2) == 0) places.push_back(below(size));
    std::vector<double> want;
    for (std::int64_t place : places)
      want.push_back(place < 0 ? 0.0 : all[static_cast<std::size_t>(place)]);
    ASSERT_EQ(elements_at(tensors, places, f64).to_vector(), want) << "draw " << draw;
  }
}

}  // namespace
}  // namespace hom
