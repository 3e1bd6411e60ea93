// tests/unit/loops_test.cc -- loops: values, structures of carries, derivatives of all orders, what
// they keep and cost, batches
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <new>
#include <optional>

#include <gtest/gtest.h>
#include <malloc.h>

#include <hom/categories/linearize.h>
#include <hom/hom.h>

namespace {
std::int64_t bytes_allocated = 0;
std::int64_t bytes_held = 0;
std::int64_t most_bytes_held = 0;
}  // namespace

// Buffers of tensors come from here (core/tensor.cc), but for the smallest.
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  bytes_allocated += static_cast<std::int64_t>(bytes);
  bytes_held += static_cast<std::int64_t>(malloc_usable_size(memory));
  most_bytes_held = std::max(most_bytes_held, bytes_held);
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept {
  bytes_held -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

namespace hom {
namespace {

/// Bytes of buffers that f allocates, and the most that it holds at once.
struct Allocated {
  std::int64_t all;
  std::int64_t at_once;
};
template <class F>
Allocated allocated_by(const F& f) {
  const std::int64_t all = bytes_allocated;
  const std::int64_t held = most_bytes_held = bytes_held;
  f();
  return {bytes_allocated - all, most_bytes_held - held};
}

struct State {
  BOOST_HANA_DEFINE_STRUCT(State, (Tensor, position), (Tensor, velocity));
};

std::vector<double> values(const Tensor& x) { return x.to_vector(); }
using Values = std::vector<double>;

Tensor numbers(const Shape& shape, double scale = 0.3) {
  return reshape(sin(arange(element_count(shape), f64) * scale + scale), shape);
}

void expect_equal(const Tensor& got, const Tensor& want) {
  EXPECT_TRUE(array_equal(got, want, true)) << got << "\nnot " << want;
}

void expect_near(const Tensor& got, const Tensor& want, double tolerance = 1e-12) {
  ASSERT_EQ(got.type(), want.type());
  EXPECT_LT(max_or(abs(got - want), 0.0).item(), tolerance) << got << "\nnot " << want;
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

/// f of each row of x, stacked.
template <class F>
Tensor rows(const F& f, const Tensor& x) {
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < x.extent(0); ++i) all.push_back(f(x(i)));
  return stack(all);
}

/// f eagerly, and as a program: which must agree bit for bit, and survive its text.
template <class F>
void expect_value(const F& f, const Tensor& x, const Tensor& want) {
  expect_near(f(x), want);
  const Program p = program(f, x);
  expect_equal(evaluate(p, {x})[0], f(x));
  EXPECT_EQ(parse_program(to_text(p), captured_tensors(p)), p);
  expect_equal(evaluate(parse_program(to_text(p), captured_tensors(p)), {x})[0], f(x));
}

/// The first three derivatives of a function of one number, in every order of the two modes, equal
/// those of another one.
template <class F, class G>
void expect_same_derivatives(const F& f, const G& oracle, double x, double tolerance = 1e-9) {
  const auto forward = [](auto h) { return [h](Tensor t) { return jvp(h)(t, 1.0).second; }; };
  const auto reverse = [](auto h) { return grad(h); };
  const double first = grad(oracle)(x).item();
  const double second = grad(grad(oracle))(x).item();
  const double third = grad(grad(grad(oracle)))(x).item();
  EXPECT_NEAR(f(Tensor(x)).item(), oracle(Tensor(x)).item(), tolerance);
  EXPECT_NEAR(reverse(f)(x).item(), first, tolerance);
  EXPECT_NEAR(forward(f)(Tensor(x)).item(), first, tolerance);
  EXPECT_NEAR(reverse(reverse(f))(x).item(), second, tolerance);
  EXPECT_NEAR(reverse(forward(f))(x).item(), second, tolerance);
  EXPECT_NEAR(forward(reverse(f))(Tensor(x)).item(), second, tolerance);
  EXPECT_NEAR(forward(forward(f))(Tensor(x)).item(), second, tolerance);
  EXPECT_NEAR(reverse(reverse(reverse(f)))(x).item(), third, tolerance);
  EXPECT_NEAR(forward(reverse(reverse(f)))(Tensor(x)).item(), third, tolerance);
  EXPECT_NEAR(reverse(forward(reverse(f)))(x).item(), third, tolerance);
  EXPECT_NEAR(reverse(reverse(forward(f)))(x).item(), third, tolerance);
  EXPECT_NEAR(forward(forward(forward(f)))(Tensor(x)).item(), third, tolerance);
}

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

Tensor sums_by_scan(const Tensor& x, const ScanOptions& options = {}) {
  return scan([](Tensor sum, Tensor t) { return std::pair{sum + t, sum + t}; },
              zeros_like(sum(x, 0)), x, options)
      .second;
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

// --- structures of carries ---

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

// --- derivatives ---

TEST(Derivatives, of_each_loop_equal_those_of_the_unrolled_loop_to_third_order) {
  const auto unrolled = [](Tensor x) {
    Tensor y = x;
    for (int i = 0; i < 5; ++i) y = sin(y) * x + 0.1 * i;
    return y;
  };
  const auto step = [](Tensor x) {
    return [x](Tensor i, Tensor y) { return sin(y) * x + 0.1 * i; };
  };
  for (bool checkpoint : {false, true}) {
    expect_same_derivatives(
        [&](Tensor x) { return fori_loop(0, 5, step(x), x, {.checkpoint = checkpoint}); }, unrolled,
        0.8);
  }
  expect_same_derivatives(
      [&](Tensor x) { return fori_loop(Tensor(0), Tensor(5), step(x), x, {.bound = 5}); }, unrolled,
      0.8);
  expect_same_derivatives(
      [&](Tensor x) { return fori_loop(Tensor(0), Tensor(5), step(x), x, {.bound = 9}); }, unrolled,
      0.8);
  expect_same_derivatives(
      [&](Tensor x) {
        return scan([&](Tensor y, Tensor i) { return std::pair{step(x)(i, y), y}; }, x, arange(5))
            .first;
      },
      unrolled, 0.8);
  expect_same_derivatives(
      [&](Tensor x) {
        return scan([&](Tensor y, Tensor i) { return std::pair{step(x)(i, y), y}; }, x,
                    flip(arange(5), {0}), {.reverse = true})
            .first;
      },
      unrolled, 0.8);
  expect_same_derivatives(
      [](Tensor x) {
        return sum(map([&](Tensor t) { return sin(t * x) * t; }, stack({x, x * x, 2 * x})));
      },
      [](Tensor x) { return sin(x * x) * x + sin(x * x * x) * x * x + sin(2 * x * x) * 2 * x; },
      0.8);
}

TEST(Derivatives, in_scanned_operands_initial_carries_and_closures) {
  const Tensor xs = numbers({6, 2});
  const Tensor w = numbers({2, 2}, 0.7);
  const Tensor start = numbers({2}, 0.2);
  for (const ScanOptions& options :
       {ScanOptions{}, ScanOptions{.reverse = true}, ScanOptions{.checkpoint = true},
        ScanOptions{.reverse = true, .checkpoint = true}}) {
    const auto looped = [&](Tensor c, Tensor x, Tensor m) {
      const auto [last, ys] = scan(
          [&](Tensor h, Tensor t) {
            const Tensor next = tanh(matmul(m, h) + t);
            return std::pair{next, sum(next * next)};
          },
          c, x, options);
      return sum(last) + sum(ys * arange(6));
    };
    const auto unrolled = [&](Tensor c, Tensor x, Tensor m) {
      Tensor total = Tensor(0.0);
      for (std::int64_t n = 0; n < 6; ++n) {
        const std::int64_t i = options.reverse ? 5 - n : n;
        c = tanh(matmul(m, c) + x(i));
        total = total + i * sum(c * c);
      }
      return sum(c) + total;
    };
    const auto got = grad(looped, wrt<0, 1, 2>)(start, xs, w);
    const auto want = grad(unrolled, wrt<0, 1, 2>)(start, xs, w);
    expect_near(std::get<0>(got), std::get<0>(want));
    expect_near(std::get<1>(got), std::get<1>(want));
    expect_near(std::get<2>(got), std::get<2>(want));
    expect_near(hessian(looped)(start, xs, w), hessian(unrolled)(start, xs, w));
    expect_near(jacobian(grad(looped, wrt<2>), wrt<1>)(start, xs, w),
                jacobian(grad(unrolled, wrt<2>), wrt<1>)(start, xs, w));
    EXPECT_TRUE(check_derivatives(looped, start, xs, w).ok());
  }
}

TEST(Derivatives, of_loops_of_no_and_of_one_iteration) {
  const auto f = [](std::int64_t n) {
    return [n](Tensor x) { return fori_loop(0, n, [&](Tensor, Tensor y) { return y * x; }, x); };
  };
  EXPECT_EQ(grad(f(0))(3.0).item(), 1);
  EXPECT_EQ(grad(f(1))(3.0).item(), 6);
  EXPECT_EQ(grad(grad(f(0)))(3.0).item(), 0);
  EXPECT_EQ(grad(grad(f(1)))(3.0).item(), 2);
  EXPECT_EQ(jvp(f(0))(3.0, 2.0).second.item(), 2);
  EXPECT_EQ(jvp(f(1))(3.0, 2.0).second.item(), 12);
  const auto sums = [](Tensor x) { return sum(sums_by_scan(x)); };
  EXPECT_EQ(grad(sums)(zeros({0})).type(), f64[{0}]);
  EXPECT_EQ(values(grad(sums)(zeros({1}))), (Values{1}));
  EXPECT_EQ(values(grad(sums)(zeros({3}))), (Values{3, 2, 1}));
}

TEST(Derivatives, of_a_carry_that_starts_as_a_literal_or_is_only_read) {
  const auto power = [](Tensor x) {
    return fori_loop(0, 4, [&](Tensor, Tensor y) { return y * x; }, 1.0);
  };
  expect_same_derivatives(power, [](Tensor x) { return x * x * x * x; }, 1.5);
  const auto from_zero = [](Tensor x) {
    return fori_loop(0, 4, [&](Tensor, Tensor y) { return y + x * x; }, 0.0);
  };
  expect_same_derivatives(from_zero, [](Tensor x) { return 4 * x * x; }, 1.5);
  // One carry that never varies, one that comes to vary late, one that is not used.
  const auto late = [](Tensor x) {
    const auto [a, b, c, unused] = fori_loop(
        0, 4,
        [&](Tensor, Tensor constant, Tensor first, Tensor second, Tensor lost) {
          return std::tuple{constant * 2, first * x, second + first * constant, lost + x};
        },
        std::tuple{Tensor(1.0), Tensor(1.0), Tensor(0.0), Tensor(0.0)});
    static_cast<void>(a);
    static_cast<void>(b);
    static_cast<void>(unused);
    return c;
  };
  expect_same_derivatives(
      late, [](Tensor x) { return 1 + 2 * x + 4 * x * x + 8 * x * x * x; }, 0.5);
  // Carries that change places every iteration.
  const auto rotating = [](Tensor x) {
    const auto [a, b, c] = fori_loop(
        0, 4, [](Tensor, Tensor p, Tensor q, Tensor r) { return std::tuple{q, r * p, p}; },
        std::tuple{Tensor(2.0), x, Tensor(3.0)});
    return a + b * c;
  };
  const auto rotated = [](Tensor x) {
    Tensor p = Tensor(2.0);
    Tensor q = x;
    Tensor r = Tensor(3.0);
    for (int i = 0; i < 4; ++i) {
      const Tensor old = p;
      p = q;
      q = r * old;
      r = old;
    }
    return p + q * r;
  };
  expect_same_derivatives(rotating, rotated, 0.9, 1e-6);
}

TEST(Derivatives, a_linear_loop_with_a_carry_of_its_own_is_transposed_either_way) {
  // y = Σ cᵢ xᵢ, with cᵢ a carry that grows from one iteration to the next.
  for (bool reverse : {false, true}) {
    const auto weighted = [&](Tensor x) {
      using Carry = std::pair<Tensor, Tensor>;
      const auto step = [](Carry c, Tensor e) {
        return std::pair{Carry{2 * c.first + 1, c.second + c.first * e}, std::tuple<>()};
      };
      return scan(step, Carry{1.0, 0 * sum(x)}, x, {.reverse = reverse}).first.second;
    };
    const Tensor weights = reverse ? tensor({7.0, 3.0, 1.0}) : tensor({1.0, 3.0, 7.0});
    expect_equal(transpose(weighted, f64[{3}])(1.0), weights);
  }
}

TEST(Derivatives, forward_mode_of_a_while_loop_needs_no_bound) {
  const auto halvings = [](Tensor x) {
    return while_loop([](Tensor y) { return y > 1; }, [](Tensor y) { return sin(y) * y / 2; }, x);
  };
  const auto unrolled = [](Tensor x) {
    Tensor y = x;
    for (int i = 0; i < 1; ++i) y = sin(y) * y / 2;
    return y;
  };
  const auto forward = [](auto h) { return [h](Tensor t) { return jvp(h)(t, 1.0).second; }; };
  EXPECT_NEAR(forward(halvings)(Tensor(2.5)).item(), grad(unrolled)(2.5).item(), 1e-12);
  EXPECT_NEAR(forward(forward(halvings))(Tensor(2.5)).item(), grad(grad(unrolled))(2.5).item(),
              1e-12);
  EXPECT_NEAR(forward(forward(forward(halvings)))(Tensor(2.5)).item(),
              grad(grad(grad(unrolled)))(2.5).item(), 1e-12);
  EXPECT_NEAR(jacobian(halvings, Mode::forward)(Tensor(2.5)).item(), grad(unrolled)(2.5).item(),
              1e-12);
  const std::string message = message_of([&] { grad(halvings)(2.5); });
  EXPECT_NE(message.find("{.bound = n}"), std::string::npos) << message;
  EXPECT_NE(message.find("loops_test.cc"), std::string::npos) << message;
  // Where the loop does not depend on the argument there is nothing to turn round.
  const auto beside = [&](Tensor x) { return x * x * stop_gradient(halvings(x)); };
  EXPECT_NEAR(grad(beside)(2.5).item(), 5 * halvings(Tensor(2.5)).item(), 1e-12);
}

TEST(Derivatives, ask_the_condition_as_often_as_the_loop_does) {
  // Beyond its bound, and once it has failed, the condition would raise: there is no such element.
  const Tensor table = tensor({1.0, 2.0, 3.0});
  for (std::int64_t bound : {0, 1, 3}) {
    const auto power = [&](Tensor start, Tensor x) {
      const auto goes_on = [&](Tensor i, Tensor) { return table(i) > 0; };
      const auto step = [&](Tensor i, Tensor y) { return std::pair{i + 1, y * x}; };
      return while_loop(goes_on, step, std::pair{start, x}, {.bound = bound}).second;
    };
    const auto of = [&](Tensor x) { return power(Tensor(0), x); };
    const double slope = static_cast<double>(bound + 1) * std::pow(2.0, bound);
    expect_equal(grad(of)(2.0), slope);
    expect_equal(jvp(of)(2.0, 1.0).second, slope);
    const Tensor starts = tensor({0, 0});
    const Tensor xs = tensor({2.0, 3.0});
    expect_equal(vmap(power)(starts, xs), pow(xs, static_cast<double>(bound + 1)));
    expect_near(vmap(grad(power, wrt<1>))(starts, xs)(0), slope);
    const auto total = [&](Tensor x) { return sum(vmap(power)(starts, x)); };
    expect_near(grad(total)(xs)(0), slope);
    if (bound == 0) expect_equal(vmap(power)(tensor({3, 4}), xs), xs);
  }
}

TEST(Derivatives, switch_runs_one_branch_and_clamps) {
  const auto f = [](Tensor i) {
    return [i](Tensor x) {
      return switch_(i,
                     std::tuple{[](Tensor t) { return t * t; }, [](Tensor t) { return sin(t); },
                                [&](Tensor t) { return t * x * 3; }},
                     x);
    };
  };
  const Values by_index{4, std::sin(2.0), 12};
  const Values slopes{4, std::cos(2.0), 12};
  for (int i = -2; i < 6; ++i) {
    const auto branch = static_cast<std::size_t>(std::clamp(i, 0, 2));
    EXPECT_NEAR(f(Tensor(i))(Tensor(2.0)).item(), by_index[branch], 1e-15);
    EXPECT_NEAR(evaluate(program(f(Tensor(i)), f64[{}]), {Tensor(2.0)})[0].item(), by_index[branch],
                1e-15);
    EXPECT_NEAR(grad(f(Tensor(i)))(2.0).item(), slopes[branch], 1e-15);
    EXPECT_NEAR(jvp(f(Tensor(i)))(2.0, 1.0).second.item(), slopes[branch], 1e-15);
  }
  const auto traced = [&](Tensor i, Tensor x) { return f(i)(x); };
  const Tensor indices = tensor({-1, 0, 1, 2, 3});
  const Tensor got = vmap(traced, {0, unmapped})(indices, Tensor(2.0));
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(got(i).item(), f(indices(i))(Tensor(2.0)).item());
  // Unsigned and narrow indices, and one branch.
  EXPECT_EQ(f(tensor(255, u8))(Tensor(2.0)).item(), 12);
  EXPECT_EQ(f(tensor(-100, i8))(Tensor(2.0)).item(), 4);
  EXPECT_EQ(switch_(7, std::tuple{[](Tensor t) { return t; }}, 5.0).item(), 5);
  // A branch that does not run does not raise.
  const auto guarded =
      switch_(0, std::tuple{[](Tensor t) { return t; }, [](Tensor t) { return take(t, 9) * t; }},
              ones({2}));
  EXPECT_EQ(values(guarded), (Values{1, 1}));
}

// --- what they keep ---

/// Whether the slot is an input, or a view of one, or known without any.
bool is_there_already(const Program& p, Slot slot) {
  for (;;) {
    if (p.definition(slot) == Program::is_none) return true;
    const Step step = p.step(p.definition(slot));
    if (step.operands.empty()) return true;
    if (step.primitive.name != "reshape" && step.primitive.name != "slice") return false;
    slot = step.operands[0];
  }
}

/// Bytes of the residuals that a linearised program hands to its linear part, for each type; those
/// that take no memory of their own are left out.
std::map<std::string, std::int64_t> residuals_of(const Program& p) {
  const Linearization lin = linearize(p, std::vector<bool>(p.inputs().size(), true));
  std::map<std::string, std::int64_t> bytes;
  for (std::size_t r = p.outputs().size(); r < lin.primal.outputs().size(); ++r) {
    const Slot slot = lin.primal.outputs()[r];
    if (is_there_already(lin.primal, slot)) continue;
    const TensorType& type = lin.primal.type(slot);
    bytes[to_string(type)] += type.size() * static_cast<std::int64_t>(type.dtype.size());
  }
  return bytes;
}
std::int64_t total(const std::map<std::string, std::int64_t>& bytes) {
  std::int64_t sum = 0;
  for (const auto& [type, size] : bytes) sum += size;
  return sum;
}

TEST(Memory, loop_invariants_are_not_stacked) {
  constexpr std::int64_t n = 10;
  constexpr std::int64_t d = 32;
  const auto rnn = [](Tensor w, Tensor u, Tensor b, Tensor h, Tensor xs) {
    return scan(
               [&](Tensor state, Tensor x) {
                 const Tensor next = tanh(matmul(w, state) + matmul(u, x) + exp(b));
                 return std::pair{next, next};
               },
               h, xs)
        .second;
  };
  const auto kept =
      residuals_of(program(rnn, f64[{d, d}], f64[{d, d}], f64[{d}], f64[{d}], f64[{n, d}]));
  // The states and the slopes of tanh, a few numbers for each; W, U, exp(b) and x once or not at
  // all.
  EXPECT_LE(total(kept), 3 * 8 * n * d + 8 * d);
  for (const auto& [type, bytes] : kept) EXPECT_NE(type, "f64[10, 32, 32]");
}

const auto wave = [](const ScanOptions& options) {
  return [options](Tensor c, Tensor xs) {
    return scan(
               [](Tensor h, Tensor x) {
                 const Tensor next = sin(h * x) + cos(h) * tanh(x);
                 return std::pair{next, std::tuple<>()};
               },
               c, xs, options)
        .first;
  };
};

TEST(Memory, checkpoint_keeps_the_carries_of_root_n_iterations) {
  constexpr std::int64_t d = 8;
  constexpr std::int64_t carry = 8 * d;
  const auto kept_by = [](std::int64_t n, const ScanOptions& options) {
    return total(residuals_of(program(wave(options), f64[{d}], f64[{n, d}])));
  };
  for (std::int64_t n : {100, 400, 1600, 101, 1000, 2, 3, 5}) {
    SCOPED_TRACE(n);
    EXPECT_GE(kept_by(n, {}), n * carry);
    const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
    for (bool reverse : {false, true}) {
      // One for each stretch, and that in which what is left over starts.
      EXPECT_LE(kept_by(n, {.reverse = reverse, .checkpoint = true}), (root + 1) * carry);
    }
  }
  EXPECT_EQ(kept_by(1600, {.checkpoint = true}), 40 * carry);
}

TEST(Memory, a_gradient_with_checkpoint_holds_root_n_carries_when_it_runs) {
  constexpr std::int64_t d = 512;
  constexpr std::int64_t n = 400;
  const auto held_by = [](const ScanOptions& options) {
    const auto f = [&](Tensor c) {
      return sum(fori_loop(0, n, [](Tensor, Tensor h) { return sin(h) * cos(h); }, c, options));
    };
    const Program p = program(grad(f), f64[{d}]);
    const std::vector<Tensor> x{ones({d}) + 0.0};
    return allocated_by([&] { evaluate(p, x); }).at_once;
  };
  constexpr std::int64_t carry = 8 * d;
  EXPECT_GE(held_by({}), n * carry);
  // Two or three residuals for each iteration of a stretch, and the carry of each stretch.
  EXPECT_LE(held_by({.checkpoint = true}), 6 * 20 * carry);
}

TEST(Memory, checkpointed_gradients_are_the_same_bit_for_bit) {
  const Tensor c = numbers({4});
  const Tensor xs = numbers({23, 4});
  for (bool reverse : {false, true}) {
    const auto f = [&](bool checkpoint) {
      return [=](Tensor a, Tensor b) {
        return sum(wave({.reverse = reverse, .checkpoint = checkpoint})(a, b));
      };
    };
    const auto plain = value_and_grad(f(false), wrt<0, 1>)(c, xs);
    const auto again = value_and_grad(f(true), wrt<0, 1>)(c, xs);
    expect_equal(again.first, plain.first);
    expect_equal(std::get<0>(again.second), std::get<0>(plain.second));
    expect_equal(std::get<1>(again.second), std::get<1>(plain.second));
  }
}

TEST(Memory, cond_keeps_the_residuals_of_the_branch_taken) {
  constexpr std::int64_t d = 4096;
  const auto f = [](Tensor flag, Tensor x) {
    return cond(
        flag, [](Tensor t) { return sum(sin(exp(t)) * tanh(t) * sin(t)); },
        [](Tensor t) { return sum(t); }, x);
  };
  const Program p = program(f, bool_[{}], f64[{d}]);
  const Linearization lin = linearize(p, {false, true});
  const auto bytes_of_residuals = [&](bool flag) {
    const std::vector<Tensor> all = evaluate(lin.primal, {Tensor(flag), ones({d}) + 0.0});
    std::int64_t bytes = 0;
    for (std::size_t r = 1; r < all.size(); ++r)
      bytes += static_cast<std::int64_t>(all[r].array().buffer->bytes());
    return bytes;
  };
  EXPECT_GE(bytes_of_residuals(true), 8 * d);
  // The places of the other branch hold zeros, each a view of one number.
  EXPECT_LE(bytes_of_residuals(false), 8 * 16);
}

TEST(Memory, reads_of_single_elements_in_a_scan_cost_their_number_in_reverse_mode) {
  const auto bytes = [](std::int64_t n) {
    const auto f = [n](Tensor x) {
      return fori_loop(
          0, n, [&](Tensor i, Tensor s) { return s + x(i) * x((i + 1) % n); }, Tensor(0.0));
    };
    const Program p = program(grad(f), f64[{n}]);
    const Tensor x = numbers({n});
    const Tensor got = evaluate(p, {x})[0];
    expect_near(got, roll(x, 1, 0) + roll(x, -1, 0));
    return allocated_by([&] { evaluate(p, {x}); }).all;
  };
  // n copies of the gradient would be 8 n² bytes: 32 MiB.
  EXPECT_LE(bytes(2048), 40 * 8 * 2048);
  EXPECT_LE(bytes(2048), 5 * bytes(512));
}

TEST(Memory, a_hundred_thousand_iterations_run_in_constant_memory) {
  constexpr std::int64_t n = 100'000;
  const auto body = [](Tensor, Tensor x) { return x * 0.9999 + 1e-4; };
  Tensor last;
  const Tensor start = zeros({64}) + 0.0;
  const auto by_while = [&](Tensor x) { return fori_loop(Tensor(0L), Tensor(n), body, x); };
  const Allocated held = allocated_by([&] { last = by_while(start); });
  EXPECT_LE(held.at_once, 64 * 1024);
  EXPECT_NEAR(last(0).item(), 1 - std::pow(0.9999, n), 1e-9);
  // A count that is known lists its positions.
  const Allocated counted = allocated_by([&] { last = fori_loop(0, n, body, start); });
  EXPECT_LE(counted.at_once, 8 * n + 64 * 1024);
  // Reverse mode keeps what it needs; here that is nothing, or √n carries.
  const auto f = [&](Tensor x) {
    return sum(fori_loop(0, n, [](Tensor, Tensor y) { return y + 1e-5 * sin(y); }, x,
                         {.checkpoint = true}));
  };
  Tensor gradient;
  const Allocated reverse = allocated_by([&] { gradient = grad(f)(ones({16})); });
  EXPECT_LE(reverse.at_once, 32 * 8 * n);
  const double end =
      fori_loop(0, n, [](Tensor, Tensor y) { return y + 1e-5 * sin(y); }, 1.0).item();
  EXPECT_NEAR(gradient(3).item(), std::sin(end) / std::sin(1.0), 1e-4);
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

// --- batches ---

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
}  // namespace hom
