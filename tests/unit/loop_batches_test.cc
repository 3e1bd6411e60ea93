// tests/unit/loop_batches_test.cc -- batches of loops are loops over lanes
#include "loop_support.h"

namespace hom::testing {
namespace {

TEST(Batches, of_each_loop_equal_the_loop_over_lanes) {
  const Tensor x = numbers({5, 3});
  const Tensor w = numbers({3}, 0.9);
  const auto expect_batched = [&](const auto& f) {
    expect_equal(vmap(f)(x), rows(f, x));
    const auto scalar = [&](Tensor t) { return sum(sin(f(t))); };
    expect_near(vmap(grad(scalar))(x), rows(grad(scalar), x));
    expect_near(grad([&](Tensor t) { return sum(vmap(scalar)(t)); })(x), rows(grad(scalar), x));
    expect_near(vmap(hessian(scalar))(x), rows(hessian(scalar), x));
    const Program p = program(vmap(grad(scalar)), x);
    EXPECT_EQ(parse_program(to_text(p), captured_tensors(p)), p);
  };
  for (bool reverse : {false, true}) {
    for (bool checkpoint : {false, true}) {
      expect_batched([=](Tensor t) {
        return sums_by_scan(t * t, {.reverse = reverse, .checkpoint = checkpoint});
      });
    }
  }
  expect_batched([&](Tensor t) {
    return fori_loop(0, 4, [&](Tensor i, Tensor y) { return sin(y) * w + t(i % 3); }, w);
  });
  expect_batched([&](Tensor t) { return map([&](Tensor e) { return e * t; }, w); });
  expect_batched([&](Tensor t) { return map([&](Tensor e) { return e * w; }, t); });
  // Stops at a different time in each lane.
  expect_batched([](Tensor t) {
    return while_loop([](Tensor y) { return sum(y * y) < 20; },
                      [](Tensor y) { return 1.5 * y + 0.1 * sin(y); }, t, {.bound = 60});
  });
  expect_batched([](Tensor t) {
    return fori_loop(Tensor(0L), (t(0) * 10).astype(i64), [&](Tensor, Tensor y) { return y * t; },
                     t, {.bound = 5});
  });
  expect_batched([](Tensor t) {
    return switch_((t(1) * 3).astype(i64),
                   std::tuple{[](Tensor y) { return y; }, [](Tensor y) { return y * y; },
                              [](Tensor y) { return exp(y); }},
                   t);
  });
}

TEST(Batches, of_a_while_loop_whose_lanes_stop_at_different_times) {
  const auto halvings = [](Tensor n) {
    return while_loop([](Tensor m, Tensor) { return m > 1; },
                      [](Tensor m, Tensor k) { return std::pair{m / 2, k + 1}; },
                      std::pair{n, Tensor(0)})
        .second;
  };
  const Tensor n = tensor({0, 1, 2, 3, 4, 1000, 1 << 30});
  EXPECT_EQ(values(vmap(halvings)(n)), (Values{0, 0, 1, 1, 2, 9, 30}));
  EXPECT_EQ(vmap(halvings)(zeros({0}, i32)).shape(), (Shape{0}));
  // In two dimensions, one loop in the other.
  const auto collatz = [&](Tensor m) {
    return while_loop([](Tensor a, Tensor) { return a != 1; },
                      [&](Tensor a, Tensor k) {
                        return std::pair{where(a % 2 == 0, a / 2, 3 * a + 1), k + halvings(a)};
                      },
                      std::pair{m, Tensor(0)})
        .second;
  };
  const Tensor starts = tensor({{1, 2, 3}, {27, 5, 6}});
  const Tensor got = vmap(vmap(collatz))(starts);
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(got(i, j).item(), collatz(starts(i, j)).item());
  }
}

TEST(Batches, dead_lanes_neither_loop_for_ever_nor_raise) {
  // From a value that is not positive the loop would not end.
  const auto to_hundred = [](Tensor y) {
    return while_loop([](Tensor t) { return t < 100; }, [](Tensor t) { return t * 2; }, y);
  };
  const auto guarded = [&](Tensor x) {
    return cond(x > 0, to_hundred, [](Tensor y) { return -y; }, x);
  };
  const Tensor x = tensor({-3.0, 0.0, 1.0, 3.0, 200.0});
  const Tensor want = tensor({3.0, 0.0, 128.0, 192.0, 200.0});
  expect_equal(vmap(guarded)(x), want);
  expect_equal(vmap(guarded)(tensor({-1.0, -2.0})), tensor({1.0, 2.0}));
  const auto slope = [&](Tensor t) { return jvp(guarded)(t, 1.0).second; };
  expect_equal(vmap(slope)(x), tensor({-1.0, -1.0, 128.0, 64.0, 1.0}));
  expect_equal(jvp(vmap(guarded))(x, ones({5})).second, tensor({-1.0, -1.0, 128.0, 64.0, 1.0}));
  // Nested in another loop, in another branch, and in another batch.
  const auto nested = [&](Tensor t) {
    return fori_loop(
        0, 2,
        [&](Tensor, Tensor y) { return cond(y < 150, guarded, [](Tensor z) { return z - 1; }, y); },
        t);
  };
  expect_equal(vmap(nested)(x), rows(nested, x));
  const Tensor table = stack({x, -x, x + 50});
  expect_equal(vmap(vmap(nested))(table),
               stack({rows(nested, x), rows(nested, -x), rows(nested, x + 50)}));
  // The loop does not depend on the lanes, but whether it runs does.
  const auto shared_loop = [&](Tensor t, Tensor start) {
    return cond(t > 0, [&](Tensor) { return to_hundred(start); }, [](Tensor y) { return y; }, t);
  };
  const auto together = vmap(shared_loop, {0, unmapped});
  expect_equal(together(tensor({-1.0, -2.0}), -1.0), tensor({-1.0, -2.0}));
  expect_equal(together(tensor({-1.0, 2.0}), 1.0), tensor({-1.0, 128.0}));
  // A read outside, in a loop of a branch that some lanes do not take.
  const Tensor w = ones({2});
  const auto reads = [&](Tensor n) {
    return cond(
        n <= 2,
        [&](Tensor k) {
          return fori_loop(Tensor(0L), k, [&](Tensor i, Tensor s) { return s + w(i); }, 0.0);
        },
        [](Tensor k) { return -k.astype(f64); }, n);
  };
  expect_equal(vmap(reads)(tensor({0L, 2L, 7L})), tensor({0.0, 2.0, -7.0}));
}

}  // namespace
}  // namespace hom::testing
