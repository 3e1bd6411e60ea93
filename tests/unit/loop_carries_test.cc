// tests/unit/loop_carries_test.cc -- structures and dtypes of what loops carry
#include <array>
#include <map>
#include <optional>

#include "loop_support.h"

namespace hom::testing {
namespace {

TEST(Carries, keep_tuples_structs_vectors_maps_and_optionals) {
  const State moved = fori_loop(
      0, 10, [](Tensor, State s) { return State{s.position + 0.1 * s.velocity, s.velocity * 0.5}; },
      State{Tensor(0.0), Tensor(1.0)});
  EXPECT_NEAR(moved.position.item(), 0.2 * (1 - 1.0 / 1024), 1e-15);

  using Parts = std::tuple<Tensor, std::pair<Tensor, std::array<Tensor, 2>>>;
  const Parts nested = fori_loop(
      0, 3,
      [](Tensor i, Parts p) {
        auto& [a, rest] = p;
        return Parts{a + i, {rest.first * 2, {rest.second[1], rest.second[0]}}};
      },
      Parts{Tensor(0L), {Tensor(1.0), {Tensor(3.0), Tensor(4.0)}}});
  EXPECT_EQ(std::get<0>(nested).item<std::int64_t>(), 3);
  EXPECT_EQ(std::get<1>(nested).first.item(), 8);
  EXPECT_EQ(std::get<1>(nested).second[0].item(), 4);

  std::vector<Tensor> list{Tensor(1.0), ones({2})};
  list = fori_loop(
      0, 2, [](Tensor, std::vector<Tensor> v) { return std::vector{v[0] + sum(v[1]), v[1] * 2}; },
      list);
  EXPECT_EQ(list[0].item(), 7);
  EXPECT_EQ(values(list[1]), (Values{4, 4}));
  EXPECT_TRUE(fori_loop(
                  0, 2, [](Tensor, std::vector<Tensor> v) { return v; }, std::vector<Tensor>())
                  .empty());

  using Map = std::map<std::string, Tensor>;
  const Map m = while_loop([](const Map& c) { return c.at("n") < 5; },
                           [](Map c) {
                             c.at("n") += 1;
                             c.at("x") *= 2.0;
                             return c;
                           },
                           Map{{"n", Tensor(0)}, {"x", Tensor(1.0)}});
  EXPECT_EQ(m.at("x").item(), 32);

  using Maybe = std::pair<std::optional<Tensor>, std::optional<Tensor>>;
  const Maybe maybe = fori_loop(
      0, 3, [](Tensor, Maybe c) { return Maybe{std::nullopt, *c.second + 1}; },
      Maybe{std::nullopt, Tensor(0.0)});
  EXPECT_FALSE(maybe.first.has_value());
  EXPECT_EQ(maybe.second->item(), 3);

  const State half_empty = fori_loop(
      0, 3, [](Tensor, State s) { return State{s.position + 1, Tensor()}; },
      State{Tensor(0.0), Tensor()});
  EXPECT_EQ(half_empty.position.item(), 3);
  EXPECT_TRUE(half_empty.velocity.is_empty());

  // No carry at all, and no result.
  const auto [none, squares] = scan([](std::tuple<> c, Tensor x) { return std::pair{c, x * x}; },
                                    std::tuple<>(), tensor({1.0, 2.0}));
  EXPECT_EQ(values(squares), (Values{1, 4}));
  const auto [c, nothing] =
      scan([](Tensor a, Tensor x) { return std::tuple{a + x, std::tuple<>()}; }, 0.0,
           tensor({1.0, 2.0}));
  EXPECT_EQ(c.item(), 3);
  static_cast<void>(none);
  static_cast<void>(nothing);
}

TEST(Carries, of_integers_and_truth_values_have_no_gradient_and_stop_none) {
  const auto f = [](Tensor x) {
    const auto [n, flag, y] = fori_loop(
        0, 4,
        [](Tensor i, Tensor count, Tensor odd, Tensor t) {
          return std::tuple{count + 2, !odd, where(odd, t * t, t + count.astype(f64) * t) + i * 0};
        },
        std::tuple{Tensor(0), Tensor(false), x});
    return y * n.astype(f64) + flag.astype(f64);
  };
  const auto unrolled = [](Tensor x) {
    Tensor y = x;
    for (int i = 0; i < 4; ++i) y = i % 2 ? y * y : y + 2.0 * i * y;
    return y * 8.0;
  };
  expect_same_derivatives(f, unrolled, 0.3, 1e-7);
  const auto gradient = grad([](std::pair<Tensor, Tensor> p) {
    return fori_loop(
               0, 3, [](Tensor, Tensor k, Tensor t) { return std::pair{k + 1, t * k}; }, p)
        .second;
  })(std::pair{Tensor(2), Tensor(1.0)});
  EXPECT_TRUE(gradient.first.is_empty());
  EXPECT_EQ(gradient.second.item(), 24);
}

TEST(Carries, numbers_adopt_nothing_and_start_the_loop_in_their_dtype) {
  EXPECT_EQ(fori_loop(0, 3, [](Tensor, Tensor x) { return x * 2; }, 1.0).dtype(), f64);
  EXPECT_EQ(fori_loop(0, 3, [](Tensor, Tensor x) { return x * 2; }, 1.0f).dtype(), f32);
  EXPECT_EQ(fori_loop(0, 3, [](Tensor, Tensor x) { return x * 2; }, 1).dtype(), i32);
  EXPECT_EQ(fori_loop(0, 3, [](Tensor, Tensor x) { return !x; }, true).item<bool>(), false);
}

}  // namespace
}  // namespace hom::testing
