// tests/unit/custom_rules_test.cc -- custom rules, loops, branches, checkpoints and batches inside
// each other
#include "custom_rule_support.h"

namespace hom::testing {
namespace {

TEST(Nested, everything_in_everything) {
  const auto cell = [](Tensor h, Tensor x) { return log1pexp(h * x) - 0.5 * h; };
  const auto plain_cell = [](Tensor h, Tensor x) { return log1p(exp(h * x)) - 0.5 * h; };
  const Tensor xs = numbers({4}, 0.8);
  const auto run = [&](const auto& f, const ScanOptions& options) {
    return [&xs, f, options](Tensor t) {
      return scan([&](Tensor h, Tensor x) { return std::pair{f(h, x), h * h}; }, t, xs, options);
    };
  };
  const auto total = [](const auto& f) {
    return [f](Tensor t) {
      const auto [last, all] = f(t);
      return last + sum(all, 0);
    };
  };
  const auto oracle = [&](Tensor t) {
    Tensor squares = zeros_like(t);
    for (std::int64_t i = 0; i < 4; ++i) {
      squares = squares + t * t;
      t = plain_cell(t, xs(i));
    }
    return t + squares;
  };
  const Tensor t = numbers({2});
  expect_same(total(run(cell, {})), oracle, t, 1e-9);
  expect_same(total(run(cell, {.checkpoint = true})), oracle, t, 1e-9);
  expect_same(checkpoint(total(run(checkpoint(cell), {}))), oracle, t, 1e-9);
  expect_same(total(run(composite("cell", cell), {})), oracle, t, 1e-9);
  expect_same(vmap(total(run(cell, {}))), oracle, t, 1e-9);
  const auto guarded = [&](Tensor u) {
    return cond(sum(u) < 100, total(run(cell, {})), [](Tensor v) { return v; }, u);
  };
  expect_same(guarded, oracle, t, 1e-9);
  const auto ruled = custom_jvp(
      oracle, [&](Tensor u, Tensor, Tensor du) { return jvp(total(run(cell, {})))(u, du).second; });
  expect_same(ruled, oracle, t, 1e-9);
  const auto reversed = custom_vjp(
      oracle, [&](Tensor u) { return std::pair{oracle(u), u}; },
      [&](Tensor u, Tensor ct) { return vjp(total(run(cell, {})))(u).second(ct); });
  expect_same(reversed, oracle, t, 1e-9);
}

}  // namespace
}  // namespace hom::testing
