// tests/unit/product_test.cc -- C++ products as objects: traversal, structure, gradients of the
// same shape
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace {

using namespace hom;

struct Affine {
  BOOST_HANA_DEFINE_STRUCT(Affine, (Tensor, weight), (Tensor, bias));
};

struct Layer {
  BOOST_HANA_DEFINE_STRUCT(Layer, (Affine, affine), (std::string, activation), (int, times),
                           (std::vector<Tensor>, rest));
};

/// Adapted from outside, with a member that is not listed.
struct Point {
  Tensor x;
  Tensor y;
  int unseen = 0;
};

}  // namespace

BOOST_HANA_ADAPT_STRUCT(Point, x, y);

namespace {

using Strings = std::vector<std::string>;

std::vector<double> numbers_in(const std::vector<Tensor>& list) {
  std::vector<double> values;
  values.reserve(list.size());
  for (const Tensor& x : list) values.push_back(x.item());
  return values;
}

Layer some_layer() { return {{Tensor(1.0), Tensor(2.0)}, "relu", 3, {Tensor(4.0), Tensor(5.0)}}; }

/// A product of every kind inside each other.
auto nested() {
  return std::tuple{
      Tensor(1.0), std::pair{Tensor(2.0), std::array<Tensor, 2>{Tensor(3.0), Tensor(4.0)}},
      std::map<std::string, std::vector<Tensor>>{{"a", {Tensor(5.0)}}, {"b", {}}},
      std::optional<Affine>{Affine{Tensor(6.0), Tensor(7.0)}}, std::optional<Tensor>{}};
}

TEST(Products, what_is_a_product_is_decided_by_type) {
  static_assert(ProductType<Tensor> && ProductType<TensorType> && ProductType<double> &&
                ProductType<int>);
  static_assert(ProductType<std::tuple<>> &&
                ProductType<std::tuple<Tensor, std::pair<int, Tensor>>>);
  static_assert(ProductType<std::array<Tensor, 3>> &&
                ProductType<std::vector<std::vector<Tensor>>>);
  static_assert(ProductType<std::map<int, Tensor>> && ProductType<std::optional<Tensor>>);
  static_assert(ProductType<Affine> && ProductType<Layer> && ProductType<Point> &&
                ProductType<std::vector<Layer>>);
  static_assert(!ProductType<std::string> && !ProductType<int*> &&
                !ProductType<std::tuple<Tensor, std::string>>);
  struct Bare {
    Tensor x;
  };
  static_assert(!ProductType<Bare> && !ProductType<std::vector<Bare>>);
}

TEST(Products, leaves_come_left_to_right) {
  EXPECT_EQ(numbers_in(leaves(nested())), (std::vector<double>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(numbers_in(leaves(some_layer())), (std::vector<double>{1, 2, 4, 5}));
  EXPECT_EQ(numbers_in(leaves(std::tuple{1, 2.5, true})), (std::vector<double>{1, 2.5, 1}));
  EXPECT_TRUE(leaves(std::tuple<>{}).empty());
  EXPECT_TRUE(leaves(Tensor()).empty());
}

TEST(Products, leaves_carry_their_path) {
  EXPECT_EQ(leaf_paths(nested()), (Strings{"x[0]", "x[1][0]", "x[1][1][0]", "x[1][1][1]",
                                           "x[2].a[0]", "x[3].weight", "x[3].bias"}));
  EXPECT_EQ(leaf_paths(some_layer(), "layer"), (Strings{"layer.affine.weight", "layer.affine.bias",
                                                        "layer.rest[0]", "layer.rest[1]"}));
  EXPECT_EQ(leaf_paths(std::map<int, Tensor>{{-1, 1.0}, {7, 2.0}}), (Strings{"x.-1", "x.7"}));
  EXPECT_EQ(leaf_paths(Tensor(1.0), "p"), Strings{"p"});
}

TEST(Products, with_leaves_undoes_leaves) {
  const auto product = nested();
  std::vector<Tensor> doubled;
  for (const Tensor& x : leaves(product)) doubled.push_back(2 * x);
  const auto other = with_leaves(product, doubled);
  EXPECT_EQ(leaf_paths(other), leaf_paths(product));
  EXPECT_EQ(numbers_in(leaves(other)), (std::vector<double>{2, 4, 6, 8, 10, 12, 14}));
  EXPECT_TRUE(std::get<2>(other).contains("b"));
  EXPECT_FALSE(std::get<4>(other).has_value());
  EXPECT_THROW(with_leaves(product, std::vector<Tensor>(8, Tensor(1.0))), Bug);
}

TEST(Products, static_members_stay_as_they_are) {
  const Layer layer = some_layer();
  const Layer other = with_leaves(layer, std::vector<Tensor>(4, Tensor(9.0)));
  EXPECT_EQ(other.activation, "relu");
  EXPECT_EQ(other.times, 3);
  EXPECT_EQ(other.rest.size(), 2u);
  const Layer gradient = grad([](const Layer& l) {
    Tensor total = l.affine.weight * l.affine.bias;
    for (int i = 0; i < l.times; ++i) total += l.rest[0] * l.rest[1];
    return l.activation == "relu" ? total : -total;
  })(layer);
  EXPECT_EQ(numbers_in(leaves(gradient)), (std::vector<double>{2, 1, 15, 12}));
  EXPECT_EQ(gradient.activation, "relu");
  EXPECT_EQ(gradient.times, 3);
}

TEST(Products, structs_adapted_from_outside_keep_what_is_not_listed) {
  const Point p{1.0, 2.0, 7};
  const Point gradient = grad([](const Point& q) { return q.x * q.x * q.y; })(p);
  EXPECT_EQ(gradient.x.item(), 4);
  EXPECT_EQ(gradient.y.item(), 1);
  EXPECT_EQ(gradient.unseen, 7);
  EXPECT_EQ(leaf_paths(p), (Strings{"x.x", "x.y"}));
}

TEST(Products, types_of_results_have_tensors_for_leaves) {
  static_assert(std::same_as<TensorsOf<double>, Tensor> &&
                std::same_as<TensorsOf<TensorType>, Tensor>);
  static_assert(std::same_as<TensorsOf<std::tuple<int, std::pair<double, Tensor>>>,
                             std::tuple<Tensor, std::pair<Tensor, Tensor>>>);
  static_assert(std::same_as<TensorsOf<std::array<float, 2>>, std::array<Tensor, 2>>);
  static_assert(std::same_as<TensorsOf<std::vector<double>>, std::vector<Tensor>>);
  static_assert(std::same_as<TensorsOf<std::map<int, std::optional<double>>>,
                             std::map<int, std::optional<Tensor>>>);
  static_assert(std::same_as<TensorsOf<const Layer&>, Layer>);
}

TEST(Products, objects_have_labels_and_nest) {
  const Program p =
      program([](const Affine& a, Tensor x) { return std::pair{a.weight * x, a.bias}; },
              Affine{zeros({2, 3}), zeros({3})}, f32[{3}]);
  EXPECT_EQ(to_string(p.domain()), "(x: (weight: f64[2, 3], bias: f64[3]), y: f32[3])");
  EXPECT_EQ(to_string(p.codomain()), "(f64[2, 3], f64[3])");
  EXPECT_EQ(p.input_names(), (Strings{"x.weight", "x.bias", "y"}));
  const Program q = program([](const auto& all) { return std::get<0>(all); }, nested());
  EXPECT_EQ(to_string(q.domain()),
            "(x: (f64[], (f64[], (f64[], f64[])), (a: (f64[]), b: ()), (weight: f64[], bias: "
            "f64[]), ()))");
  EXPECT_EQ(to_string(q.codomain()), "f64[]");
}

TEST(Products, example_values_stand_for_their_types) {
  const auto f = [](const Affine& a, Tensor x) { return dot(x, a.weight) + a.bias; };
  const Program by_value = program(f, Affine{zeros({3}), 1.0}, ones({3}));
  const Program by_type = program(f, Affine{ones({3}), 2.0}, f64[{3}]);
  EXPECT_EQ(by_value, by_type);
}

TEST(Products, arguments_and_results_pass_through_programs_in_order) {
  const auto f = [](const auto& all, Tensor z) {
    const auto& [a, rest, m, affine, none] = all;
    return std::tuple{rest.second[1] - z, m, std::pair{affine->bias, a}};
  };
  const Program p = program(f, nested(), f64[{}]);
  std::vector<Tensor> inputs = leaves(nested());
  inputs.emplace_back(10.0);
  EXPECT_EQ(numbers_in(evaluate(p, inputs)), (std::vector<double>{-6, 5, 7, 1}));
}

TEST(Products, a_gradient_has_the_structure_of_its_argument) {
  const auto f = [](const auto& all) {
    const auto& [a, rest, m, affine, none] = all;
    return a * 2 + rest.first * rest.second[0] + rest.second[1] + m.at("a")[0] * 3 +
           affine->weight * affine->bias;
  };
  const auto gradient = grad(f)(nested());
  static_assert(std::same_as<std::remove_cvref_t<decltype(gradient)>, decltype(nested())>);
  EXPECT_EQ(numbers_in(leaves(gradient)), (std::vector<double>{2, 3, 2, 1, 3, 7, 6}));
  EXPECT_EQ(leaf_paths(gradient), leaf_paths(nested()));
}

TEST(Products, integer_leaves_get_the_unit) {
  const std::tuple arguments{Tensor(3.0), Tensor(2),
                             std::pair{tensor({true, false}), Tensor(1.0f)}};
  const auto f = [](const auto& all) {
    const auto& [a, n, rest] = all;
    return a * n + sum(where(rest.first, rest.second, 0));
  };
  const auto gradient = grad(f)(arguments);
  EXPECT_EQ(std::get<0>(gradient).item(), 2);
  EXPECT_TRUE(std::get<1>(gradient).is_empty());
  EXPECT_TRUE(std::get<2>(gradient).first.is_empty());
  EXPECT_EQ(std::get<2>(gradient).second.item(), 1);
  EXPECT_EQ(std::get<2>(gradient).second.dtype(), f32);
  EXPECT_EQ(leaves(gradient).size(), 2u);
  // A step of descent leaves what has no gradient as it is.
  const auto next = tree_map([](Tensor x, Tensor dx) { return x - 0.5 * dx; }, arguments, gradient);
  EXPECT_EQ(std::get<0>(next).item(), 2);
  EXPECT_TRUE(array_equal(std::get<1>(next), Tensor(2)));
  EXPECT_TRUE(array_equal(std::get<2>(next).first, tensor({true, false})));
  EXPECT_EQ(std::get<2>(next).second.item(), 0.5);
}

TEST(Products, empty_leaves_are_the_unit_of_arguments_too) {
  const std::pair<Tensor, Tensor> p{Tensor(), 3.0};
  const auto f = [](const std::pair<Tensor, Tensor>& q) {
    EXPECT_TRUE(q.first.is_empty());
    return q.second * q.second;
  };
  const auto gradient = grad(f)(p);
  EXPECT_TRUE(gradient.first.is_empty());
  EXPECT_EQ(gradient.second.item(), 6);
  EXPECT_EQ(to_string(program(f, p).domain()), "(x: ((), f64[]))");
}

TEST(Products, numbers_are_tensors_of_rank_zero) {
  const auto f = [](Tensor x, Tensor n, Tensor b) { return where(b, x * n, x); };
  const Program p = program(f, 1.5, 2, true);
  EXPECT_EQ(to_string(p.domain()), "(x: f64[], y: i32[], z: bool[])");
  EXPECT_EQ(program([](Tensor x) { return std::pair{x, 1.0f}; }, f64[{}]).output_types()[1],
            f32[{}]);
  EXPECT_EQ(grad(f)(1.5, 2, true).item(), 2);
}

TEST(Products, tree_map_applies_leaf_by_leaf) {
  const auto sum_of_three = [](Tensor x, Tensor y, Tensor z) { return x + 10 * y + 100 * z; };
  const Layer layer = some_layer();
  const Layer result = tree_map(sum_of_three, layer, layer, layer);
  EXPECT_EQ(numbers_in(leaves(result)), (std::vector<double>{111, 222, 444, 555}));
  EXPECT_EQ(result.activation, "relu");
  EXPECT_EQ(tree_map([](Tensor x) { return -x; }, Tensor(2.0)).item(), -2);
  EXPECT_TRUE(tree_map([](Tensor x) { return x; }, std::vector<Tensor>{}).empty());
}

TEST(Products, structures_that_differ_are_named_by_path) {
  const auto add = [](Tensor x, Tensor y) { return x + y; };
  const auto message = [&](const auto& a, const auto& b) {
    try {
      tree_map(add, a, b);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("(no error)");
  };
  Layer longer = some_layer();
  longer.rest.emplace_back(6.0);
  EXPECT_NE(message(some_layer(), longer).find("tree.rest[2]"), std::string::npos);
  EXPECT_NE(message(longer, some_layer()).find("tree.rest[2]"), std::string::npos);
  using Map = std::map<std::string, Tensor>;
  EXPECT_NE(message(Map{{"a", 1.0}, {"b", 1.0}}, Map{{"a", 1.0}, {"c", 1.0}}).find("tree.b"),
            std::string::npos);
  using Maybe = std::pair<Tensor, std::optional<Tensor>>;
  EXPECT_NE(message(Maybe{1.0, std::nullopt}, Maybe{1.0, 2.0}).find("tree[1]"), std::string::npos);
}

TEST(Products, a_returned_product_may_hold_numbers_and_structs) {
  const auto f = [](Tensor x) {
    return std::tuple{Affine{x, x + 1}, 2.0, std::vector<Tensor>{x, x}};
  };
  const auto [value, tangent] = jvp(f)(3.0, 1.0);
  EXPECT_EQ(numbers_in(leaves(value)), (std::vector<double>{3, 4, 2, 3, 3}));
  EXPECT_EQ(numbers_in(leaves(tangent)), (std::vector<double>{1, 1, 0, 1, 1}));
}

TEST(Products, products_pass_through_named_and_cond) {
  const auto swap_fields = [](const Affine& a) { return Affine{a.bias, a.weight}; };
  const auto same = [](const Affine& a) { return a; };
  const auto f = [&](const Affine& a, Tensor c) {
    const Affine once = named("swap_fields", swap_fields)(a);
    return cond(c > 0, same, swap_fields, once);
  };
  EXPECT_EQ(numbers_in(leaves(f(Affine{1.0, 2.0}, 1.0))), (std::vector<double>{2, 1}));
  const Program p = program(f, Affine{1.0, 2.0}, f64[{}]);
  EXPECT_EQ(numbers_in(evaluate(p, {1.0, 2.0, 1.0})), (std::vector<double>{2, 1}));
  EXPECT_EQ(numbers_in(evaluate(p, {1.0, 2.0, -1.0})), (std::vector<double>{1, 2}));
}

TEST(Products, key_is_a_product_like_any_struct) {
  EXPECT_EQ(leaf_paths(key(1), "key"), Strings{"key.words"});
  EXPECT_EQ(program([](const Key& k) { return uniform(k, {3}); }, key(1)).input_types()[0],
            u32[{2}]);
}

}  // namespace
