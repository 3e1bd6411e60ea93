// tests/unit/sparse_jacobian_test.cc -- patterns of functions, and sparse Jacobians and Hessians
#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

Tensor numbers(const Shape& shape, double scale = 0.3) {
  return reshape(sin(arange(element_count(shape), f64) * scale + scale), shape);
}

void expect_near(const Tensor& got, const Tensor& want, double tolerance = 1e-12) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_LT(max_or(abs(got - want), 0.0).item(), tolerance) << got << "\nnot " << want;
}

std::string error_of(const std::function<void()>& mistake) {
  try {
    mistake();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
void expect_error(const std::function<void()>& mistake, const std::string& text) {
  const std::string message = error_of(mistake);
  EXPECT_NE(message.find(text), std::string::npos) << message;
}

/// f, and the pattern of its Jacobian in one argument of n elements.
template <class F>
std::string pattern_of(const F& f, std::int64_t n) {
  return to_string(sparsity(f)(f64[{n}]));
}

// ---- patterns ----

TEST(Sparsity, of_elementwise_functions_is_the_diagonal) {
  EXPECT_EQ(pattern_of([](Tensor x) { return sin(x) * exp(x) / (1 + x * x); }, 3),
            "x . .\n. x .\n. . x\n");
}
TEST(Sparsity, of_what_moves_elements_is_where_they_come_from) {
  EXPECT_EQ(pattern_of([](Tensor x) { return flip(x, {0}); }, 3), ". . x\n. x .\nx . .\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return pad(x, 1.0, {1}, {0}); }, 2), ". .\nx .\n. x\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return concat({x(Range{1}), x(Range{0, 1})}); }, 3),
            ". x .\n. . x\nx . .\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return ravel(transpose(reshape(x, {2, 2}))); }, 4),
            "x . . .\n. . x .\n. x . .\n. . . x\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return broadcast_to(x, {2, 2}); }, 2),
            "x .\n. x\nx .\n. x\n");
}
TEST(Sparsity, of_reductions_is_what_is_reduced) {
  EXPECT_EQ(pattern_of([](Tensor x) { return sum(reshape(x, {2, 2}), 1); }, 4),
            "x x . .\n. . x x\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return max(reshape(x, {2, 2}), 0); }, 4),
            "x . x .\n. x . x\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return cumsum(x); }, 3), "x . .\nx x .\nx x x\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return cumprod(x, 0, true); }, 3), "x x x\n. x x\n. . x\n");
}
TEST(Sparsity, of_products_of_matrices) {
  const Tensor a = numbers({2, 2});
  EXPECT_EQ(pattern_of([&](Tensor x) { return matmul(reshape(x, {2, 2}), a); }, 4),
            "x x . .\nx x . .\n. . x x\n. . x x\n");
  const auto square = [](Tensor x) {
    const Tensor m = reshape(x, {2, 2});
    return matmul(m, m);
  };
  EXPECT_EQ(pattern_of(square, 4), "x x x .\nx x . x\nx . x x\n. x x x\n");
  // What a matrix that is known has zeros for is not there.
  const Tensor banded = tensor({{1.0, 2.0, 0.0}, {0.0, 1.0, 2.0}});
  EXPECT_EQ(pattern_of([&](Tensor x) { return matmul(banded, x); }, 3), "x x .\n. x x\n");
  EXPECT_EQ(pattern_of([&](Tensor x) { return matmul(x, transpose(banded)); }, 3),
            "x x .\n. x x\n");
}
TEST(Sparsity, drops_what_has_slope_zero) {
  EXPECT_EQ(pattern_of([](Tensor x) { return floor(x) + sign(x) * stop_gradient(x); }, 2),
            ". .\n. .\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return x.astype(i32).astype(f64); }, 2), ". .\n. .\n");
  const Tensor mask = tensor({0.0, 1.0});
  EXPECT_EQ(pattern_of([&](Tensor x) { return x * mask; }, 2), ". .\n. x\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return where(x > 0, x, 1.0); }, 2), "x .\n. x\n");
  const Tensor first = tensor({true, false});
  EXPECT_EQ(pattern_of([&](Tensor x) { return where(first, x, flip(x, {0})); }, 2), "x .\nx .\n");
}
TEST(Sparsity, at_known_positions_is_exact) {
  const Tensor places = tensor({2, 0, 2});
  EXPECT_EQ(pattern_of([&](Tensor x) { return take(x, places); }, 3), ". . x\nx . .\n. . x\n");
  // Computed, but from nothing that varies.
  EXPECT_EQ(pattern_of([](Tensor x) { return take(x, (arange(3) + 1) % 3); }, 3),
            ". x .\n. . x\nx . .\n");
  EXPECT_EQ(pattern_of([&](Tensor x) { return segment_sum(x, places, 3); }, 3),
            ". x .\n. . .\nx . x\n");
  EXPECT_EQ(pattern_of([&](Tensor x) { return x.at(places).set(x(0)); }, 3),
            "x . .\n. x .\nx . .\n");
  EXPECT_EQ(pattern_of([&](Tensor x) { return dynamic_slice(x, tensor({1}), {2}); }, 3),
            ". x .\n. . x\n");
  EXPECT_EQ(pattern_of([](Tensor x) { return x.at(Range{0, 2}).add(x(2)); }, 3),
            "x . x\n. x x\n. . x\n");
  const auto window = [](Tensor x) {
    return dynamic_update_slice(x, x(Range{0, 1}), tensor({2}), Combine::add);
  };
  EXPECT_EQ(pattern_of(window, 3), "x . .\n. x .\nx . x\n");
}
TEST(Sparsity, at_unknown_positions_is_what_may_be_there) {
  const auto rows = [](Tensor x, Tensor i) { return take(x, i); };
  EXPECT_EQ(to_string(sparsity(rows)(f64[{2, 2}], i64[{1}])), "x . x .\n. x . x\n");
  EXPECT_EQ(to_string(sparsity(rows)(f64[{2, 2}], tensor({1}))), ". . x .\n. . . x\n");
  const auto window = [](Tensor x, Tensor i) { return dynamic_slice(x, i, {1, 2}); };
  EXPECT_EQ(to_string(sparsity(window)(f64[{2, 2}], i64[{2}])), "x . x .\n. x . x\n");
  const auto added = [](Tensor x, Tensor i) { return segment_sum(x, i, 2); };
  EXPECT_EQ(to_string(sparsity(added)(f64[{2}], i64[{2}])), "x x\nx x\n");
  const auto written = [](Tensor x, Tensor i) {
    return dynamic_update_slice(x, reshape(x(0), {1, 2}), i);
  };
  EXPECT_EQ(to_string(sparsity(written)(f64[{2, 2}], i64[{2}])),
            "x . . .\n. x . .\nx . x .\n. x . x\n");
}
TEST(Sparsity, of_branches_is_that_of_the_one_taken_or_of_both) {
  const auto f = [](Tensor x, Tensor c) {
    return cond(c, [](Tensor a) { return a; }, [](Tensor a) { return flip(a, {0}); }, x);
  };
  EXPECT_EQ(to_string(sparsity(f)(f64[{2}], bool_[{}])), "x x\nx x\n");
  EXPECT_EQ(to_string(sparsity(f)(f64[{2}], true)), "x .\n. x\n");
  EXPECT_EQ(to_string(sparsity(f)(f64[{2}], false)), ". x\nx .\n");
}
TEST(Sparsity, of_loops) {
  const auto shift = [](Tensor x) {
    return fori_loop(0, 2, [](Tensor, Tensor c) { return roll(c, 1, 0); }, x);
  };
  EXPECT_EQ(pattern_of(shift, 3), ". x .\n. . x\nx . .\n");
  const auto running = [](Tensor x) {
    return scan([](Tensor c, Tensor e) { return std::pair{c + e, c * e}; }, Tensor(0.0), x).second;
  };
  EXPECT_EQ(pattern_of(running, 3), "x . .\nx x .\nx x x\n");
  // How often is not known: what holds for any number of iterations.
  const auto until = [](Tensor x) {
    return while_loop([](Tensor c) { return c(0) < 10; },
                      [](Tensor c) { return c + concat({Tensor(c(Range{1})), zeros({1})}); }, x);
  };
  EXPECT_EQ(pattern_of(until, 3), "x x x\n. x x\n. . x\n");
}
TEST(Sparsity, of_windows_is_what_lies_in_them) {
  const auto sums = [](Tensor x) { return window_sum(x, {.window = {2}, .stride = {2}}); };
  EXPECT_EQ(pattern_of(sums, 4), "x x . .\n. . x x\n");
  const auto extremes = [](Tensor x) { return window_max(x, {.window = {3}}); };
  EXPECT_EQ(pattern_of(extremes, 4), "x x x .\n. x x x\n");
  // Its transpose, and what second derivatives of extremes are made of.
  const auto back = [](Tensor x) {
    return grad([](Tensor t) { return sum(square(window_sum(t, {.window = {2}}))); })(x);
  };
  EXPECT_EQ(pattern_of(back, 4), "x x . .\nx x x .\n. x x x\n. . x x\n");
}
TEST(Sparsity, of_sorting_is_each_slice) {
  const auto f = [](Tensor x) { return sort(reshape(x, {2, 2}), 1); };
  EXPECT_EQ(pattern_of(f, 4), "x x . .\nx x . .\n. . x x\n. . x x\n");
}
TEST(Sparsity, of_a_convolution_is_what_the_kernel_meets) {
  const Tensor kernel = reshape(tensor({1.0, 0.0, -1.0}), {3, 1, 1});
  const auto f = [&](Tensor x) {
    return conv(reshape(x, {1, 4, 1}), kernel, {.padding = Padding::valid()});
  };
  EXPECT_EQ(pattern_of(f, 4), "x . x .\n. x . x\n");
  const auto g = [](Tensor w) {
    return conv(ones({1, 3, 1}), reshape(w, {3, 1, 1}), {.padding = Padding::same()});
  };
  EXPECT_EQ(pattern_of(g, 3), ". x x\nx x x\nx x .\n");
}
TEST(Sparsity, of_functions_of_matrices_is_that_of_each_matrix) {
  const auto f = [](Tensor x) { return vmap([](Tensor m) { return determinant(m); })(x); };
  EXPECT_EQ(to_string(sparsity(f)(f64[{2, 2, 2}])), "x x x x . . . .\n. . . . x x x x\n");
  const Tensor a = tensor({{2.0, 1.0}, {1.0, 3.0}});
  const auto g = [&](Tensor b) { return solve(a, b); };
  EXPECT_EQ(to_string(sparsity(g)(f64[{2, 2}])), "x . x .\n. x . x\nx . x .\n. x . x\n");
}
TEST(Sparsity, counts_derivatives_that_are_given) {
  const auto rounded =
      custom_jvp([](Tensor x) { return round(x); }, [](Tensor, Tensor, Tensor dx) { return dx; });
  EXPECT_EQ(pattern_of(rounded, 2), "x .\n. x\n");
}
TEST(Sparsity, of_products_is_in_the_order_of_leaves) {
  const auto f = [](std::pair<Tensor, Tensor> p, Tensor k) {
    return std::tuple{p.second * 2, sum(p.first) * k};
  };
  const auto pattern = sparsity(f)(std::pair{f64[{2}], f64[{1}]}, f64[{}]);
  EXPECT_EQ(to_string(pattern), ". . x\nx x .\n");
  EXPECT_EQ(to_string(sparsity(f, wrt<0, 1>)(std::pair{f64[{2}], f64[{1}]}, f64[{}])),
            ". . x .\nx x . x\n");
  EXPECT_EQ(to_string(sparsity(f, wrt<1>)(std::pair{f64[{2}], f64[{1}]}, f64[{}])), ".\nx\n");
}
TEST(Sparsity, of_a_primitive_without_a_rule_is_everything) {
  const categories::SparsityRules before = categories::sparsity_rules();
  categories::sparsity_rules().erase("sin");
  EXPECT_EQ(pattern_of([](Tensor x) { return sin(sin(x)); }, 2), "x .\n. x\n");
  categories::sparsity_rules().erase("scale");
  EXPECT_EQ(pattern_of([](Tensor x) { return sin(x); }, 2), "x x\nx x\n");
  categories::sparsity_rules() = before;
  EXPECT_EQ(pattern_of([](Tensor x) { return sin(x); }, 2), "x .\n. x\n");
}

TEST(Sparsity, every_function_of_one_element_has_a_rule) {
  int seen = 0;
  for (const Primitive* p : standard_primitives().all()) {
    if (!p->derivative || (p->shapes != "s → s" && p->shapes != "s, s → s")) continue;
    ++seen;
    EXPECT_TRUE(categories::sparsity_rules().contains(p->name)) << p->name;
  }
  EXPECT_GE(seen, 40);
}
TEST(Sparsity, every_linear_primitive_has_a_rule) {
  // The pattern of a derivative is read from linear steps.
  for (const Primitive* p : standard_primitives().all()) {
    if (!p->transpose || p->run || p->name == "barrier") continue;
    EXPECT_TRUE(categories::sparsity_rules().contains(p->name)) << p->name;
  }
}

// ---- Jacobians ----

const auto differences = [](Tensor x) { return square(x(Range{1})) - x(Range{0, -1}); };

TEST(SparseJacobian, is_the_dense_one_in_as_many_passes_as_colours) {
  const Tensor x = numbers({50});
  const auto J = sparse_jacobian(differences).prepare(x);
  EXPECT_EQ(J.passes(), 2);
  EXPECT_TRUE(J.is_forward());
  const Csr d = J(x);
  EXPECT_EQ(d.shape, (Shape{49, 50}));
  EXPECT_EQ(d.rows.type(), i64[{50}]);
  EXPECT_EQ(d.columns.type(), i64[{98}]);
  EXPECT_EQ(d.values.type(), f64[{98}]);
  EXPECT_TRUE(array_equal(d.rows, arange(50) * 2));
  expect_near(to_dense(d), jacobian(differences)(x), 1e-15);
  expect_near(to_dense(sparse_jacobian(differences)(x)), jacobian(differences)(x), 1e-15);
}
TEST(SparseJacobian, runs_one_batch_of_that_many_directions) {
  // The only arrays of the program beyond places: the tangents, a row for each colour.
  const auto J =
      sparse_jacobian([](Tensor x) { return sin(x) + cos(roll(x, 1, 0)); }).prepare(f64[{40}]);
  EXPECT_EQ(J.passes(), 2);
  std::vector<TensorType> seeds;
  for (const Tensor& captured : J.program().captured()) {
    if (captured.dtype().is_float()) seeds.push_back(captured.type());
  }
  EXPECT_EQ(seeds, (std::vector<TensorType>{f64[{2, 40}]}));
  // The cost does not grow with the square of the size.
  const auto work = [](std::int64_t n) {
    const auto prepared = sparse_jacobian(differences).prepare(f64[{n}]);
    return static_cast<double>(cost(prepared.program()).work);
  };
  EXPECT_LT(work(4000) / work(1000), 4.2);
}
TEST(SparseJacobian, chooses_the_direction_with_fewer_passes) {
  const auto total = [](Tensor x) { return sum(square(x)); };
  const auto row = sparse_jacobian(total).prepare(f64[{30}]);
  EXPECT_EQ(row.passes(), 1);
  EXPECT_FALSE(row.is_forward());
  const Tensor x = numbers({30});
  expect_near(to_dense(row(x)), reshape(2 * x, {1, 30}), 1e-15);
  const auto spread = [](Tensor x) { return exp(x * arange(30, f64)); };
  const auto column = sparse_jacobian(spread).prepare(f64[{}]);
  EXPECT_EQ(column.passes(), 1);
  EXPECT_TRUE(column.is_forward());
  const auto forced = sparse_jacobian(spread, {.mode = Mode::reverse}).prepare(f64[{}]);
  EXPECT_EQ(forced.passes(), 29);  // the first row is 0
  EXPECT_FALSE(forced.is_forward());
  expect_near(to_dense(forced(0.1)), to_dense(column(0.1)), 1e-14);
}
TEST(SparseJacobian, stores_zeros_that_are_asked_for) {
  const Tensor x = numbers({3});
  const auto diagonal = [](Tensor t) { return square(t); };
  const SparsityPattern corner = sparsity_pattern(3, 3, {{0, 2}});
  const Csr d = sparse_jacobian(diagonal, {.stored = corner})(x);
  EXPECT_TRUE(array_equal(d.columns, tensor<std::int64_t>({0, 2, 1, 2})));
  EXPECT_TRUE(array_equal(d.rows, tensor<std::int64_t>({0, 2, 3, 4})));
  EXPECT_EQ(d.values(1).item(), 0);
  expect_near(to_dense(d), jacobian(diagonal)(x), 1e-15);
}
TEST(SparseJacobian, of_nothing_has_no_entries) {
  const auto constant = [](Tensor x) { return floor(x); };
  const Csr d = sparse_jacobian(constant)(numbers({3}));
  EXPECT_EQ(d.values.type(), f64[{0}]);
  EXPECT_TRUE(array_equal(to_dense(d), zeros({3, 3})));
  const Csr none = sparse_jacobian(constant)(zeros({0}));
  EXPECT_TRUE(array_equal(to_dense(none), zeros({0, 0})));
}
TEST(SparseJacobian, of_products_of_several_dtypes) {
  const auto f = [](std::pair<Tensor, Tensor> p, Tensor k) {
    return std::tuple{p.second * p.second, sum(p.first) * k};
  };
  const std::pair p{numbers({2}).astype(f32), numbers({3})};
  const Csr d = sparse_jacobian(f, wrt<0, 1>)(p, 3.0);
  EXPECT_EQ(d.shape, (Shape{4, 6}));
  EXPECT_EQ(d.values.dtype(), f64);
  const auto [second, first] = jacobian(f, wrt<0, 1>)(p, 3.0);
  const Tensor want = concat({concat({std::get<0>(second).first, std::get<0>(second).second,
                                      reshape(std::get<1>(second), {3, 1})},
                                     1),
                              reshape(concat({std::get<0>(first).first, std::get<0>(first).second,
                                              reshape(std::get<1>(first), {1})}),
                                      {1, 6})});
  expect_near(to_dense(d), want, 1e-6);
}
TEST(SparseJacobian, under_vmap_of_an_indexed_residual) {
  const Tensor from = tensor({0, 1, 2, 0});
  const Tensor to = tensor({1, 2, 3, 3});
  const auto f = [&](Tensor x) {
    return vmap([&](Tensor a, Tensor b) { return square(x(a) - x(b)) + x(a); })(from, to);
  };
  const Tensor x = numbers({4});
  const auto J = sparse_jacobian(f).prepare(x);
  EXPECT_EQ(to_string(J.pattern()), "x x . .\n. x x .\n. . x x\nx . . x\n");
  expect_near(to_dense(J(x)), jacobian(f)(x), 1e-14);
}
TEST(SparseJacobian, is_a_program_to_capture_differentiate_and_batch) {
  const Tensor x = numbers({6});
  const auto J = sparse_jacobian(differences).prepare(x);
  const Program p = program([&](Tensor t) { return J(t); }, f64[{6}]);
  EXPECT_TRUE(array_equal(evaluate(p, {x})[2], J(x).values));
  // The function object itself too: values are symbols, places are not.
  const auto total = [](Tensor t) { return sum(square(sparse_jacobian(differences)(t).values)); };
  const auto dense = [](Tensor t) { return sum(square(jacobian(differences)(t))); };
  expect_near(grad(total)(x), grad(dense)(x), 1e-13);
  const Tensor many = numbers({3, 6}, 0.7);
  const Tensor batched = vmap([&](Tensor t) { return to_dense(J(t)); })(many);
  for (std::int64_t i = 0; i < 3; ++i)
    expect_near(batched(i), jacobian(differences)(many(i)), 1e-14);
}
TEST(SparseJacobian, takes_symbols_of_an_enclosing_capture) {
  const auto f = [](Tensor x, Tensor k) {
    return to_dense(sparse_jacobian([&](Tensor t) { return k * square(t); })(x));
  };
  const Program p = program(f, f64[{2}], f64[{}]);
  EXPECT_TRUE(array_equal(evaluate(p, {tensor({1.0, 2.0}), Tensor(3.0)})[0],
                          tensor({{6.0, 0.0}, {0.0, 12.0}})));
}
TEST(SparseJacobian, prepared_for_integers_refuses_others) {
  const auto f = [](Tensor x, Tensor i) { return take(x, i); };
  const auto J = sparse_jacobian(f).prepare(f64[{3}], tensor({1, 2}));
  const Tensor x = numbers({3});
  expect_near(to_dense(J(x, tensor({1, 2}))), jacobian(f)(x, tensor({1, 2})));
  expect_error([&] { J(x, tensor({0, 2})); }, "differs from the integers that the pattern is for");
  const auto any = sparse_jacobian(f).prepare(f64[{3}], i32[{2}]);
  EXPECT_EQ(any.passes(), 2);
  expect_near(to_dense(any(x, tensor({0, 2}))), jacobian(f)(x, tensor({0, 2})));
}
TEST(SparseJacobian, of_a_rule_for_reverse_mode_only) {
  // The rule clips, so it has no forward mode, and what it depends on is not known.
  const auto clipped =
      custom_vjp([](Tensor x) { return x; }, [](Tensor x) { return std::pair{x, std::tuple<>()}; },
                 [](std::tuple<>, Tensor ct) { return clamp(ct, -1.0, 1.0); });
  const auto f = [&](Tensor x) { return clipped(3 * x); };
  const auto J = sparse_jacobian(f, {.mode = Mode::reverse}).prepare(f64[{3}]);
  EXPECT_EQ(J.passes(), 3);
  expect_near(to_dense(J(numbers({3}))), 3 * eye(3));
}
TEST(SparseJacobian, names_what_is_wrong) {
  const auto J = sparse_jacobian(differences).prepare(f64[{3}]);
  expect_error([&] { J(ones({4})); },
               "sparse_jacobian: argument 0 is f64[4], and the pattern is for f64[3]");
  expect_error([&] { J(ones({3}), ones({3})); }, "prepared for 1 tensors, called with 2");
  expect_error([&] { sparse_jacobian([](Tensor x) { return x > 0; })(ones({3})); },
               "sparse_jacobian: the function returns bool[3], and only floats have derivatives");
  expect_error(
      [&] { sparse_jacobian(differences, {.stored = sparsity_pattern(2, 2, {})})(ones({3})); },
      "sparse_jacobian: the pattern to be stored is [2, 2], and the matrix [2, 3]");
  expect_error([&] { sparse_jacobian(differences)(tensor({1, 2, 3})); }, "no float");
}

// ---- Hessians ----

TEST(SparseHessian, of_a_sum_over_neighbours_takes_three_passes) {
  const auto rosenbrock = [](Tensor x) {
    const Tensor a = x(Range{0, -1});
    const Tensor b = x(Range{1});
    return sum(100 * square(b - a * a) + square(1 - a));
  };
  const Tensor x = numbers({40});
  const auto H = sparse_hessian(rosenbrock).prepare(x);
  EXPECT_EQ(H.passes(), 3);
  EXPECT_EQ(H.pattern().entry_count(), 3 * 40 - 2);
  const Tensor dense = to_dense(H(x));
  expect_near(dense, hessian(rosenbrock)(x), 1e-9);
  EXPECT_TRUE(array_equal(dense, transpose(dense)));
}
TEST(SparseHessian, of_an_arrow_takes_two_passes) {
  const auto f = [](Tensor x) { return x(0) * sum(sin(x)) + sum(cos(x) * x); };
  const Tensor x = numbers({25});
  const auto H = sparse_hessian(f).prepare(x);
  EXPECT_EQ(H.passes(), 2);
  EXPECT_EQ(H.pattern().entry_count(), 25 + 2 * 24);
  expect_near(to_dense(H(x)), hessian(f)(x), 1e-12);
}
TEST(SparseHessian, of_a_linear_function_has_no_entries) {
  const auto f = [](Tensor x) { return sum(x * arange(5, f64)); };
  const auto H = sparse_hessian(f).prepare(f64[{5}]);
  EXPECT_EQ(H.passes(), 0);
  EXPECT_TRUE(array_equal(to_dense(H(ones({5}))), zeros({5, 5})));
}
TEST(SparseHessian, in_several_arguments) {
  const auto f = [](Tensor x, Tensor y) { return sum(x * x * y) + sum(exp(y)); };
  const Tensor x = numbers({3});
  const Tensor y = numbers({3}, 0.5);
  const Csr h = sparse_hessian(f, wrt<0, 1>)(x, y);
  const Tensor zero = zeros({3, 3});
  const auto on_diagonal = [](const Tensor& d) { return d * eye(3); };
  const Tensor want = concat({concat({on_diagonal(2 * y), on_diagonal(2 * x)}, 1),
                              concat({on_diagonal(2 * x), on_diagonal(exp(y)) + zero}, 1)});
  expect_near(to_dense(h), want, 1e-14);
}

}  // namespace
}  // namespace hom
