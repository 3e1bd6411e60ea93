// tests/unit/update_gradients_test.cc -- gradients of reads and updates agree with differences
#include <functional>

#include "update_support.h"

namespace hom::testing {
namespace {

/// The gradient of Σ w·f against central differences, element by element.
void expect_gradient(const std::string& what, const std::function<Tensor(Tensor)>& f,
                     const Tensor& at) {
  const auto loss = [&](Tensor x) {
    const Tensor y = f(x);
    return sum(y * reshape(cos(arange(y.size()).astype(f64)) + 2.0, y.shape()));
  };
  const Values got = values(grad(loss)(at));
  const Values forward = values(jacobian(loss, Mode::forward)(at));
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
  EXPECT_EQ(values(x.at(twice).set(v)), (Values{1, 7, 3}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).set(t); }), (Values{0, 1}));
  EXPECT_EQ(values(x.at(twice).add(v)), (Values{1, 14, 3}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).add(t); }), (Values{1, 1}));
  EXPECT_EQ(values(x.at(twice).mul(v)), (Values{1, 70, 3}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).mul(t); }), (Values{14, 10}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).max(t); }), (Values{0, 1}));
  EXPECT_EQ(slopes([&](Tensor t) { return x.at(twice).min(t); }), (Values{0, 0}));
  // Ties share.
  EXPECT_EQ(slopes([&](Tensor t) { return (x + 4.0).at(0).max(t(0)); }), (Values{0.5, 0}));
}

}  // namespace
}  // namespace hom::testing
