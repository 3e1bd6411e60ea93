// tests/unit/loops_test.cc -- loops: values, nesting and closures, programs
#include <map>

#include "loop_support.h"

namespace hom::testing {
namespace {

// --- values ---

TEST(Loops, fibonacci_numbers_by_each_loop) {
  const auto next = [](Tensor a, Tensor b) { return std::pair{b, a + b}; };
  const auto by_count = [&](Tensor n) {
    return fori_loop(
               Tensor(0), n, [&](Tensor, Tensor a, Tensor b) { return next(a, b); },
               std::pair{Tensor(0L), Tensor(1L)})
        .first;
  };
  EXPECT_EQ(by_count(Tensor(10)).item<std::int64_t>(), 55);
  EXPECT_EQ(by_count(Tensor(0)).item<std::int64_t>(), 0);
  EXPECT_EQ(by_count(Tensor(-3)).item<std::int64_t>(), 0);
  EXPECT_EQ(by_count(Tensor(90)).item<std::int64_t>(), 2880067194370816120);
  const auto [a, b] =
      fori_loop(0, 10, [&](Tensor, Tensor x, Tensor y) { return next(x, y); }, std::pair{0, 1});
  EXPECT_EQ(a.item<std::int64_t>(), 55);
  EXPECT_EQ(b.item<std::int64_t>(), 89);
  const auto [below, above] =
      while_loop([](Tensor, Tensor y) { return y < 100; }, next, std::pair{Tensor(0), Tensor(1)});
  EXPECT_EQ(below.item<std::int64_t>(), 89);
  EXPECT_EQ(above.item<std::int64_t>(), 144);
  const auto [last, all] = scan([&](std::pair<Tensor, Tensor> c,
                                    Tensor) { return std::pair{next(c.first, c.second), c.first}; },
                                std::pair{Tensor(0), Tensor(1)}, zeros({8}));
  EXPECT_EQ(values(all), (Values{0, 1, 1, 2, 3, 5, 8, 13}));
  EXPECT_EQ(last.first.item<std::int64_t>(), 21);
}

TEST(Loops, square_roots_by_newton) {
  const auto root = [](Tensor a) {
    return while_loop([&](Tensor x) { return abs(x * x - a) > 1e-14 * a; },
                      [&](Tensor x) { return (x + a / x) / 2; }, a);
  };
  for (double a : {1.0, 2.0, 1e6}) expect_value(root, Tensor(a), sqrt(Tensor(a)));
}

TEST(Loops, greatest_common_divisors) {
  const auto gcd = [](Tensor a, Tensor b) {
    return while_loop([](Tensor, Tensor y) { return y != 0; },
                      [](Tensor x, Tensor y) { return std::pair{y, x % y}; }, std::pair{a, b})
        .first;
  };
  EXPECT_EQ(gcd(Tensor(1071), Tensor(462)).item<std::int64_t>(), 21);
  EXPECT_EQ(gcd(Tensor(7), Tensor(0)).item<std::int64_t>(), 7);
}

TEST(Loops, cumulative_sums_by_scan_either_way_with_and_without_checkpoint) {
  for (const Shape& shape : {Shape{0}, Shape{1}, Shape{2}, Shape{7}, Shape{10}, Shape{5, 3},
                             Shape{0, 3}, Shape{3, 0}, Shape{17, 2, 2}}) {
    const Tensor x = numbers(shape);
    for (bool checkpoint : {false, true}) {
      SCOPED_TRACE(to_string(x.type()) + (checkpoint ? " checkpoint" : ""));
      expect_value([&](Tensor t) { return sums_by_scan(t, {.checkpoint = checkpoint}); }, x,
                   cumsum(x, 0));
      expect_value(
          [&](Tensor t) { return sums_by_scan(t, {.reverse = true, .checkpoint = checkpoint}); }, x,
          flip(cumsum(flip(x, {0}), 0), {0}));
    }
  }
}

TEST(Loops, scans_over_views_and_with_results_that_are_views) {
  const Tensor x = numbers({3, 4});
  const auto transposed_rows = [](Tensor t) {
    return scan([](Tensor c, Tensor r) { return std::pair{c, std::pair{r, flip(r, {0})}}; },
                Tensor(0.0), t.T())
        .second;
  };
  expect_equal(transposed_rows(x).first, x.T());
  expect_equal(transposed_rows(x).second, flip(x.T(), {1}));
  // A result that is a broadcast, and one that is the carry, which goes on changing.
  const auto [last, ys] = scan(
      [](Tensor c, Tensor i) {
        const Tensor next = c.at(i).add(1.0);
        return std::pair{next, std::pair{c, broadcast_to(c(0), {2})}};
      },
      zeros({2}), tensor({0, 1, 0}));
  EXPECT_EQ(values(last), (Values{2, 1}));
  EXPECT_EQ(values(ys.first), (Values{0, 0, 1, 0, 1, 1}));
  EXPECT_EQ(values(ys.second), (Values{0, 0, 1, 1, 1, 1}));
}

TEST(Loops, the_tensors_that_go_in_keep_their_values) {
  const Tensor start = ones({3});
  const Tensor xs = ones({4, 3});
  const Tensor end =
      fori_loop(0, 4, [](Tensor i, Tensor y) { return y.at(i % 3).set(i.astype(f64)); }, start);
  EXPECT_EQ(values(start), (Values{1, 1, 1}));
  EXPECT_EQ(values(end), (Values{3, 1, 2}));
  const auto [carry, ys] =
      scan([](Tensor c, Tensor x) { return std::pair{c + x, x.at(0).set(5.0)}; }, start, xs);
  EXPECT_EQ(values(start), (Values{1, 1, 1}));
  expect_equal(xs, ones({4, 3}));
  EXPECT_EQ(values(ys(0)), (Values{5, 1, 1}));
  EXPECT_EQ(values(carry), (Values{5, 5, 5}));
}

TEST(Loops, map_is_a_loop_over_elements) {
  const Tensor x = numbers({4, 3});
  const auto f = [](Tensor row) { return cumsum(exp(row)) / sum(row); };
  expect_value([&](Tensor t) { return map(f, t); }, x, rows(f, x));
  expect_equal(map(f, x), vmap(f)(x));
  EXPECT_EQ(map(f, zeros({0, 3})).type(), f64[(Shape{0, 3})]);
  // Of several leaves, whole or spread over parameters, and with results of any structure.
  const auto got =
      map([](Tensor a, Tensor b) { return State{a * b, a + 1}; }, std::pair{x(0), x(1)});
  expect_near(got.position, x(0) * x(1));
  expect_near(got.velocity, x(0) + 1);
  expect_near(
      map([](std::pair<Tensor, Tensor> p) { return p.first - p.second; }, std::pair{x(0), x(1)}),
      x(0) - x(1));
  EXPECT_EQ(values(map([](Tensor) { return 7; }, arange(3))), (Values{7, 7, 7}));
}

TEST(Loops, a_range_may_be_empty_negative_or_computed) {
  const auto add = [](Tensor i, Tensor sum) { return sum + i; };
  EXPECT_EQ(fori_loop(2, 6, add, 0L).item<std::int64_t>(), 14);
  EXPECT_EQ(fori_loop(-2, 1, add, 0L).item<std::int64_t>(), -3);
  EXPECT_EQ(fori_loop(3, 3, add, 9L).item<std::int64_t>(), 9);
  EXPECT_EQ(fori_loop(5, 3, add, 9L).item<std::int64_t>(), 9);
  EXPECT_EQ(fori_loop(Tensor(-2), Tensor(1), add, 0L).item<std::int64_t>(), -3);
  EXPECT_EQ(fori_loop(Tensor(5), Tensor(3), add, 9L).item<std::int64_t>(), 9);
  // The counter has the dtype of the bounds.
  const auto counters = [](Tensor i, Tensor) { return i; };
  EXPECT_EQ(fori_loop(Tensor(0), Tensor(3), counters, 7).dtype(), i32);
  const Tensor u = fori_loop(tensor(0, u8), tensor(255, u8), counters, tensor(0, u8));
  EXPECT_EQ(u.dtype(), u8);
  EXPECT_EQ(u.item(), 254);
}

TEST(Loops, a_bound_stops_a_while_loop_early_exactly_or_not_at_all) {
  const auto run = [](std::int64_t bound) {
    return [bound](Tensor x) {
      return while_loop([](Tensor t) { return t < 100; }, [](Tensor t) { return t * 2; }, x,
                        {.bound = bound});
    };
  };
  // From 1 it takes seven iterations to 128.
  for (const auto& [bound, want] : std::map<std::int64_t, double>{
           {-1, 128}, {0, 1}, {1, 2}, {6, 64}, {7, 128}, {8, 128}, {1000, 128}}) {
    SCOPED_TRACE(bound);
    EXPECT_EQ(run(bound)(Tensor(1.0)).item(), want);
    EXPECT_EQ(evaluate(program(run(bound), f64[{}]), {Tensor(1.0)})[0].item(), want);
    EXPECT_EQ(jvp(run(bound))(1.0, 1.0).second.item(), want);
    if (bound < 0) continue;
    EXPECT_EQ(grad(run(bound))(1.0).item(), want);
    EXPECT_EQ(value_and_grad(run(bound))(1.0).first.item(), want);
    EXPECT_EQ(grad(run(bound))(200.0).item(), 1);
    EXPECT_EQ(grad(grad(run(bound)))(1.0).item(), 0);
  }
}

// --- nesting and closures ---

TEST(Nesting, loops_in_loops) {
  // Σ_{i<4} Σ_{j<=i} x^j
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 4,
        [&](Tensor i, Tensor total) {
          return fori_loop(Tensor(0L), i + 1,
                           [&](Tensor, Tensor power, Tensor sum) {
                             return std::pair{power * x, sum + power};
                           },
                           std::pair{Tensor(1.0), total}, {.bound = 4})
              .second;
        },
        0.0);
  };
  const auto closed = [](Tensor x) { return 4.0 + 3 * x + 2 * x * x + x * x * x; };
  expect_value(f, Tensor(0.7), closed(Tensor(0.7)));
  expect_same_derivatives(f, closed, 0.7);
  const auto table = [](Tensor x) {
    return map([&](Tensor a) { return map([&](Tensor b) { return a * b; }, x); }, x);
  };
  expect_value(table, numbers({3}), outer(numbers({3}), numbers({3})));
}

TEST(Nesting, closures_over_tensors_and_over_symbols_of_outer_captures) {
  const Tensor w = numbers({3});
  const auto f = [&](Tensor x) {
    const Tensor y = x * x;
    const auto inner = [&](Tensor z) {
      return sum(
          scan([&](Tensor c, Tensor t) { return std::pair{c * y + t * z, c + y}; }, z, w).second);
    };
    return grad(inner)(x) * y;
  };
  const auto unrolled = [&](Tensor x) {
    const Tensor y = x * x;
    const auto inner = [&](Tensor z) {
      Tensor c = z;
      Tensor total = Tensor(0.0);
      for (std::int64_t i = 0; i < 3; ++i) {
        total = total + c + y;
        c = c * y + w(i) * z;
      }
      return total;
    };
    return grad(inner)(x) * y;
  };
  expect_value(f, Tensor(0.6), unrolled(Tensor(0.6)));
  expect_same_derivatives(f, unrolled, 0.6, 1e-8);
}

TEST(Nesting, the_condition_may_hold_symbols_too) {
  const auto f = [](Tensor limit, Tensor x) {
    return while_loop([&](Tensor t) { return t < limit; }, [&](Tensor t) { return t * x; }, x,
                      {.bound = 50});
  };
  EXPECT_EQ(evaluate(program(f, f64[{}], f64[{}]), {Tensor(100.0), Tensor(2.0)})[0].item(), 128);
  const auto [dl, dx] = grad(f, wrt<0, 1>)(100.0, 2.0);
  EXPECT_EQ(dl.item(), 0);
  EXPECT_EQ(dx.item(), 7 * 64);
}

// --- programs ---

TEST(Programs, with_loops_are_printed_drawn_and_counted) {
  const auto f = [](Tensor x) {
    const Tensor y = fori_loop(0, 3, [&](Tensor i, Tensor t) { return sin(t) * x + i; }, x);
    const Tensor z = while_loop([](Tensor t) { return sum(t) < 10; },
                                [](Tensor t) { return t * 2 + 1; }, y, {.bound = 7});
    return switch_(1, std::tuple{[](Tensor t) { return t; }, [](Tensor t) { return t * t; }},
                   map([](Tensor t) { return exp(t); }, z));
  };
  for (const Program& p :
       {program(f, f64[{3}]), program([&](Tensor x) { return jvp(f)(x, x); }, f64[{3}]),
        program(grad([&](Tensor x) { return sum(f(x)); }), f64[{3}]), program(vmap(f), f64[{2, 3}]),
        program(hessian([&](Tensor x) { return sum(f(x)); }), f64[{3}])}) {
    EXPECT_EQ(parse_program(to_text(p), captured_tensors(p)), p);
    EXPECT_NE(syntax(p).find("scan"), std::string::npos);
    EXPECT_NE(to_dot(graph(p)).find("scan"), std::string::npos);
    EXPECT_GT(cost(p).work, 0);
  }
  const auto counted = [](std::int64_t n) {
    return cost(program(
                    [n](Tensor x) {
                      return fori_loop(0, n, [](Tensor, Tensor t) { return t * t; }, x);
                    },
                    f64[{3}]))
        .by_primitive.at("mul");
  };
  EXPECT_EQ(counted(1), 9);
  EXPECT_EQ(counted(7), 63);
}

TEST(Programs, the_size_of_a_program_does_not_depend_on_the_number_of_iterations) {
  const auto steps = [](std::int64_t n) {
    return program(grad([n](Tensor x) {
                     return fori_loop(0, n, [](Tensor, Tensor t) { return sin(t); }, x);
                   }),
                   f64[{}])
        .steps_built();
  };
  EXPECT_EQ(steps(10), steps(1'000'000));
}

}  // namespace
}  // namespace hom::testing
