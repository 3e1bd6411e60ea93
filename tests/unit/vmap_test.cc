// tests/unit/vmap_test.cc -- vmap of functions: axes, products, nesting, closures, and with
// derivatives
#include <functional>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

struct Layer {
  BOOST_HANA_DEFINE_STRUCT(Layer, (Tensor, weight), (Tensor, bias));
};

Tensor numbers(const Shape& shape, double scale = 0.3) {
  return reshape(sin(arange(element_count(shape), f64) * scale + scale), shape);
}

/// f of each row of x, stacked.
template <class F>
Tensor loop(const F& f, const Tensor& x) {
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < x.extent(0); ++i) rows.push_back(f(x(i)));
  return stack(rows);
}

void expect_equal(const Tensor& got, const Tensor& want) {
  EXPECT_TRUE(array_equal(got, want, true)) << got << "\nnot " << want;
}

void expect_near(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_LT(max_or(abs(got - want), 0.0).item(), 1e-12) << got << "\nnot " << want;
}

const auto forward = [](Layer layer, Tensor x) {
  return tanh(matmul(layer.weight, x) + layer.bias);
};

TEST(Vmap, maps_axis_0_of_every_leaf) {
  const Tensor x = numbers({4, 3});
  const auto f = [](Tensor row) { return cumsum(exp(row)) / sum(row); };
  expect_equal(vmap(f)(x), loop(f, x));
  const auto g = [](std::pair<Tensor, Tensor> p) { return p.first * p.second[1]; };
  const Tensor y = numbers({4, 2});
  const Tensor got = vmap(g)(std::pair{x, y});
  for (std::int64_t i = 0; i < 4; ++i) expect_equal(got(i), g({x(i), y(i)}));
}

TEST(Vmap, arguments_are_mapped_along_their_own_axes_or_not) {
  const Tensor x = numbers({3, 4});
  const Tensor w = numbers({2, 3});
  const auto f = [](Tensor a, Tensor b) { return matmul(a, b); };
  const Tensor want = matmul(w, x);  // [2, 4]
  expect_equal(vmap(f, {unmapped, 1}, 1)(w, x), want);
  expect_equal(vmap(f, {unmapped, -1}, -1)(w, x), want);
  expect_equal(vmap(f, {0, unmapped})(w, x), want);
  expect_equal(vmap(f, {unmapped, 1})(w, x), want.T());
  expect_equal(vmap([](Tensor a) { return a * a; }, 1, 1)(x), x * x);
  expect_equal(vmap([](Tensor a, Tensor b) { return a * b; }, {0, unmapped})(x, 2.0), x * 2);
}

TEST(Vmap, products_may_have_some_leaves_unmapped) {
  const Layer layer{numbers({2, 3}), numbers({4, 2})};
  const Tensor x = numbers({3, 4});
  const Tensor got = vmap(forward, {{unmapped, 0}, 1})(layer, x);
  for (std::int64_t i = 0; i < 4; ++i)
    expect_equal(got(i), forward({layer.weight, layer.bias(i)}, x(all, i)));
  const std::vector<Tensor> list{numbers({2, 4}), numbers({2}), numbers({4})};
  const auto f = [](std::vector<Tensor> v) { return v[0] * v[1] + v[2]; };
  const Tensor of_list = vmap(f, {{1, unmapped, 0}}, 1)(list);
  for (std::int64_t i = 0; i < 4; ++i)
    expect_equal(of_list(all, i), f({list[0](all, i), list[1], list[2](i)}));
}

TEST(Vmap, results_of_any_structure_keep_it) {
  const auto f = [](Tensor x) {
    return std::tuple{Layer{x * 2, sum(x)}, std::map<std::string, Tensor>{{"one", Tensor(1.0)}},
                      std::optional<Tensor>()};
  };
  const Tensor x = numbers({4, 3});
  const auto [layer, map, nothing] = vmap(f, 0, {1, 0, 0})(x);
  expect_equal(layer.weight, (x * 2).T());
  expect_near(layer.bias, sum(x, 1));
  expect_equal(map.at("one"), ones({4}));
  EXPECT_FALSE(nothing.has_value());
}

TEST(Vmap, results_that_do_not_depend_on_the_lanes_are_repeated) {
  const Tensor y = numbers({3});
  expect_equal(vmap([&](Tensor) { return y; })(ones({2})), stack({y, y}));
  expect_equal(vmap([&](Tensor) { return y; }, 0, 1)(ones({2})), stack({y, y}, 1));
}

TEST(Vmap, batches_of_one_and_of_none) {
  const auto f = [](Tensor x, Tensor i) { return take(x, i); };
  const Tensor x = numbers({1, 3});
  expect_equal(vmap(f)(x, tensor({2})), x(all, 2));
  EXPECT_EQ(vmap(f)(zeros({0, 3}), zeros({0, 5}, i64)).type(), f64[(Shape{0, 5})]);
  // No lane runs, and so none raises.
  EXPECT_EQ(vmap(f, {0, unmapped})(zeros({0, 3}), Tensor(7)).type(), f64[{0}]);
  EXPECT_EQ(vmap(grad([](Tensor a) { return sum(a * a); }))(zeros({0, 3})).type(),
            f64[(Shape{0, 3})]);
  EXPECT_EQ(vmap(vmap([](Tensor a) { return sin(a); }))(zeros({3, 0})).type(), f64[(Shape{3, 0})]);
}

TEST(Vmap, nests_and_axes_commute) {
  const Tensor x = numbers({2, 3, 4});
  const auto f = [](Tensor row) { return cumprod(row) - max(row); };
  Tensor want = zeros({2, 3, 4});
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j)
      want = update_slice(want, expand_dims(expand_dims(f(x(i, j)), 0), 0), {i, j, 0}, {1, 1, 1});
  }
  expect_equal(vmap(vmap(f))(x), want);
  expect_equal(vmap(vmap(f, 0, 0), 1, 1)(x), want);
  expect_equal(vmap(vmap(f, 0, 0), 2, 2)(swap_axes(x, 1, 2)), swap_axes(want, 1, 2));
  // The outer product by two maps.
  const auto times = [](Tensor a, Tensor b) { return a * b; };
  const Tensor a = numbers({3});
  const Tensor b = numbers({2});
  expect_equal(vmap(vmap(times, {unmapped, 0}), {0, unmapped})(a, b), outer(a, b));
}

TEST(Vmap, closures_over_tensors_and_outer_lanes) {
  const Tensor x = numbers({3});
  const Tensor y = numbers({4});
  const Tensor w = numbers({2});
  const auto table = vmap([&](Tensor a) { return vmap([&](Tensor b) { return a * b + w; })(y); });
  const Tensor got = table(x);
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) expect_equal(got(i, j), x(i) * y(j) + w);
  }
  // The inner map is over the outer's lanes, too.
  const auto mixed = [&](Tensor a) { return vmap([&](Tensor b) { return sum(a) * b; })(a); };
  const Tensor m = numbers({3, 4});
  expect_equal(vmap(mixed)(m), loop(mixed, m));
}

TEST(Vmap, inside_captures_is_steps_of_the_program) {
  const auto f = vmap([](Tensor x) { return x / sum(x); });
  const Program p = program(f, f64[{2, 3}]);
  const Tensor x = numbers({2, 3});
  expect_equal(evaluate(p, {x})[0], f(x));
  const auto branch = [&](Tensor a) { return vmap([](Tensor row) { return cumsum(row); })(a); };
  const Program q =
      program([&](Tensor c, Tensor a) { return cond(c, branch, [](Tensor b) { return -b; }, a); },
              bool_[{}], f64[{2, 3}]);
  expect_equal(evaluate(q, {Tensor(true), x})[0], cumsum(x, 1));
  const auto scaled = named("scaled", [](Tensor a) { return a * 3; });
  expect_equal(vmap(scaled)(x), x * 3);
  EXPECT_EQ(program(vmap(scaled), f64[{2, 3}]).step(0).primitive.name, "call");
}

TEST(Vmap, a_batched_predicate_selects_and_spares_the_branch_not_taken) {
  // Lane by lane: an element, or 0 where the position is outside.
  const Tensor table = tensor({1.0, 2.0, 3.0});
  const auto safe = [&](Tensor i) {
    return cond(
        i < 3, [&](Tensor k) { return take(table, k); }, [](Tensor) { return Tensor(0.0); }, i);
  };
  expect_equal(vmap(safe)(tensor({0, 7, 2, 3})), tensor({1.0, 0.0, 3.0, 0.0}));
  EXPECT_THROW(vmap([&](Tensor i) { return take(table, i); })(tensor({0, 7})), Error);
  expect_equal(vmap(vmap(safe))(tensor({{0, 7}, {3, 1}})), tensor({{1.0, 0.0}, {0.0, 2.0}}));
  // An index that is the same for all lanes raises only where a lane uses it.
  const auto shared = [&](Tensor use, Tensor i) {
    return cond(
        use, [&](Tensor k) { return take(table, k); }, [](Tensor) { return Tensor(0.0); }, i);
  };
  const auto map = vmap(shared, {0, unmapped});
  expect_equal(map(tensor({false, false}), Tensor(9)), zeros({2}));
  EXPECT_THROW(map(tensor({false, true}), Tensor(9)), Error);
  // A table without elements has no place for dead lanes to read.
  const auto of_nothing = [](Tensor use, Tensor i) {
    return cond(
        use, [](Tensor k) { return take(zeros({0}), k); }, [](Tensor) { return Tensor(1.0); }, i);
  };
  expect_equal(vmap(of_nothing)(tensor({false, false}), tensor({4, 5})), ones({2}));
  EXPECT_THROW(vmap(of_nothing)(tensor({false, true}), tensor({4, 5})), Error);
  // Powers of integers.
  const auto power = [](Tensor n) {
    return cond(
        n >= 0, [](Tensor k) { return pow(Tensor(std::int64_t{2}), k); },
        [](Tensor k) { return -k; }, n);
  };
  expect_equal(vmap(power)(tensor<std::int64_t>({3, -5, 0})), tensor<std::int64_t>({8, 5, 1}));
}

TEST(Vmap, a_nan_of_the_branch_not_taken_stays_there) {
  const auto root = [](Tensor x) {
    return cond(x > 0, [](Tensor a) { return sqrt(a); }, [](Tensor a) { return a * 0; }, x);
  };
  const Tensor x = tensor({4.0, -4.0, 0.0});
  expect_equal(vmap(root)(x), tensor({2.0, -0.0, 0.0}));
  expect_equal(vmap(grad(root))(x), tensor({0.25, 0.0, 0.0}));
  expect_equal(grad([&](Tensor a) { return sum(vmap(root)(a)); })(x), tensor({0.25, 0.0, 0.0}));
}

TEST(Vmap, conds_nest_under_masks) {
  const Tensor table = tensor({10.0, 20.0});
  const auto f = [&](Tensor i, Tensor deep) {
    return cond(
        i < 2,
        [&](Tensor k, Tensor d) {
          return cond(
              d, [&](Tensor j) { return take(table, j); }, [](Tensor) { return Tensor(-1.0); }, k);
        },
        [](Tensor, Tensor) { return Tensor(0.0); }, i, deep);
  };
  const Tensor i = tensor({0, 1, 5, 6});
  const Tensor deep = tensor({true, false, true, false});
  expect_equal(vmap(f)(i, deep), tensor({10.0, -1.0, 0.0, 0.0}));
  // One predicate for all lanes inside one for each.
  expect_equal(vmap(f, {0, unmapped})(i, Tensor(true)), tensor({10.0, 20.0, 0.0, 0.0}));
  expect_equal(vmap(f, {unmapped, 0})(Tensor(5), deep), zeros({4}));
}

TEST(Vmap, of_grad_is_the_loop_of_grad) {
  const Layer layer{numbers({2, 3}), numbers({2})};
  const Tensor x = numbers({5, 3});
  const auto loss = [](Layer l, Tensor a) { return sum(square(forward(l, a))); };
  const Layer each = vmap(grad(loss), {unmapped, 0})(layer, x);
  for (std::int64_t i = 0; i < 5; ++i) {
    const Layer one = grad(loss)(layer, x(i));
    expect_equal(each.weight(i), one.weight);
    expect_equal(each.bias(i), one.bias);
  }
  // And the sum of them is the gradient of the sum.
  const Layer of_sum = grad([&](Layer l) { return sum(vmap(loss, {unmapped, 0})(l, x)); })(layer);
  expect_near(of_sum.weight, sum(each.weight, 0));
  expect_near(of_sum.bias, sum(each.bias, 0));
}

TEST(Vmap, with_every_derivative_in_any_order) {
  const Tensor x = numbers({4, 3});
  const auto f = [](Tensor a) { return a * cumsum(sin(a)); };
  const auto scalar = [](Tensor a) { return prod(exp(a)) + a[0] * a[2]; };
  const Tensor v = cos(x);

  const Tensor jacobians = vmap(jacobian(f))(x);
  expect_near(jacobians, loop(jacobian(f), x));
  expect_near(vmap(jacobian(f, Mode::reverse))(x), jacobians);
  expect_near(vmap(hessian(scalar))(x), loop(hessian(scalar), x));
  // The Jacobian of a map is block-diagonal.
  const Tensor whole = jacobian(vmap(f))(x);
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      const Tensor block = whole(i, all, j);
      expect_near(block, i == j ? jacobians(i) : zeros({3, 3}));
    }
  }
  const auto [y, dy] = jvp(vmap(f))(x, v);
  const auto [rows, row_tangents] = vmap(jvp(f))(x, v);
  expect_equal(y, rows);
  expect_equal(dy, row_tangents);
  const Tensor ct = numbers({4, 3}, 0.7);
  const Tensor together = vjp(vmap(f))(x).second(ct);
  const Tensor each = vmap([&](Tensor a, Tensor c) { return vjp(f)(a).second(c); })(x, ct);
  expect_equal(together, each);
  expect_near(vmap(hvp(scalar))(x, v),
              vmap([&](Tensor a, Tensor b) { return matmul(hessian(scalar)(a), b); })(x, v));
  const auto second = [&](Tensor a) { return sum(vmap(grad(scalar))(a)); };
  expect_near(grad(second)(x), sum(vmap(hessian(scalar))(x), 1));
}

TEST(Vmap, of_linear_maps_is_the_jacobian) {
  const Tensor x = numbers({3});
  const auto f = [](Tensor a) { return a * cumsum(sin(a)); };
  expect_equal(vmap(vjp(f)(x).second)(eye(3)), jacobian(f, Mode::reverse)(x));
  expect_equal(vmap(linearize(f)(x).second, 0, 1)(eye(3)), jacobian(f, Mode::forward)(x));
  const auto linear = vmap([](Tensor a) { return 2 * flip(a, {0}); });
  expect_equal(transpose(linear, f64[{2, 3}])(numbers({2, 3})), linear(numbers({2, 3})));
}

TEST(Vmap, empty_leaves_stay_empty) {
  const auto f = [](std::pair<Tensor, Tensor> p) { return take(p.first, p.second); };
  const std::pair p{numbers({2, 3}), tensor({2, 0})};
  const auto [of_table, of_index] = vmap(grad(f))(p);
  expect_equal(of_table, tensor({{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}}));
  EXPECT_TRUE(of_index.is_empty());
  const auto g = [](std::pair<Tensor, Tensor> q) { return q.first * 2; };
  expect_equal(vmap(g)(std::pair{numbers({2}), Tensor()}), numbers({2}) * 2);
}

TEST(Vmap, a_primitive_without_a_batch_rule_is_named_with_its_line) {
  PrimitiveTable table;
  const Primitive& odd = table.add({.name = "odd", .type = [](const Typing& typing) {
                                      return std::vector{typing.operands[0]};
                                    }});
  const auto f = [&](Tensor x) { return apply_one(odd, {}, {x}, Location::current()); };
  try {
    vmap(f)(ones({2}));
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("vmap: odd has no batch rule"), std::string::npos) << what;
    EXPECT_NE(what.find("vmap_test.cc:"), std::string::npos) << what;
  }
}

TEST(Vmap, an_error_in_a_lane_names_the_function) {
  const auto read = named("read", [](Tensor x, Tensor i) { return take(x, i); });
  try {
    vmap(read, {unmapped, 0})(ones({3}), tensor({0, 5}));
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("index 5 is out of range"), std::string::npos) << what;
    EXPECT_NE(what.find("vmap_test.cc:"), std::string::npos) << what;
  }
}

TEST(Vmap, random_numbers_of_many_keys) {
  const std::vector<Key> keys = split(key(7), 3);
  const Key together{stack({keys[0].words, keys[1].words, keys[2].words})};
  const auto draw = [](Key k) {
    const std::vector<Key> two = split(k);
    return std::pair{uniform(two[0], {2, 5}), random_bits(two[1], {3}, u64)};
  };
  const auto [floats, bits] = vmap(draw)(together);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto [one, some] = draw(keys[static_cast<std::size_t>(i)]);
    expect_equal(floats(i), one);
    expect_equal(bits(i), some);
  }
  const Tensor nested = vmap(vmap([](Key k) { return random_bits(k, {4}); }))(
      Key{stack({together.words, together.words})});
  expect_equal(nested(1, 2), random_bits(keys[2], {4}));
}

TEST(Vmap, windows_that_start_elsewhere_in_each_lane) {
  const Tensor x = numbers({5, 4});
  const Tensor starts = tensor({{0, 0}, {3, 0}, {9, 1}});
  const auto read = [&](Tensor start) { return dynamic_slice(x, start, {2, 4}, Bounds::clip); };
  expect_equal(vmap(read)(starts), loop(read, starts));
  const auto write = [&](Tensor start) {
    return dynamic_update_slice(x, ones({2, 3}), start, Combine::add, Bounds::clip);
  };
  expect_equal(vmap(write)(starts), loop(write, starts));
  // Along an axis that the window fills the start is 0, or an error.
  const auto checked = [&](Tensor start) { return dynamic_slice(x, start, {2, 4}); };
  expect_equal(vmap(checked)(starts(Range{0, 2})), loop(checked, starts(Range{0, 2})));
  EXPECT_THROW(vmap(checked)(tensor({{0, 0}, {0, 1}})), Error);
  EXPECT_THROW(vmap(checked)(tensor({{0, 0}, {4, 0}})), Error);
}

TEST(Vmap, more_lanes_than_a_narrow_index_counts) {
  const Tensor x = numbers({300, 3});
  const Tensor i = (arange(300) % 3).astype(u8);
  const Tensor got = vmap([](Tensor row, Tensor k) { return take(row, k); })(x, i);
  for (std::int64_t lane : {0, 128, 299}) expect_equal(got(lane), x(lane, lane % 3));
}

}  // namespace
}  // namespace hom
