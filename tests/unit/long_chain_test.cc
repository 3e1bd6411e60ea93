// tests/unit/long_chain_test.cc -- a million steps are captured, differentiated, run, printed and
// destroyed flat
//
// Everything runs on a thread with a stack of 256 KiB, where recursion over a million steps would
// end in a crash. That cost is linear is asserted by counting steps, never by the clock.
#include <pthread.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <hom/categories/linearize.h>
#include <hom/categories/transpose.h>
#include <hom/core/text.h>
#include <hom/hom.h>

namespace {

using namespace hom;

// The sanitizers' stack frames are larger.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t stack_bytes = 1024 * 1024;
#else
constexpr std::size_t stack_bytes = 256 * 1024;
#endif

struct Job {
  std::function<void()> run;
  std::exception_ptr failure;
};

void* run_job(void* job) {
  auto& own = *static_cast<Job*>(job);
  try {
    own.run();
  } catch (...) {
    own.failure = std::current_exception();
  }
  return nullptr;
}

/// Runs `f` on a thread with a small stack.
void on_a_small_stack(std::function<void()> f) {
  Job job{std::move(f), nullptr};
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, run_job, &job), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  if (job.failure) std::rethrow_exception(job.failure);
}

constexpr std::size_t million = 1'000'000;

/// x ↦ sin(sin(… x …)·c)·c, with `steps` steps, alternately sin and mul by the second argument.
auto chain(std::size_t steps) {
  return [steps](Tensor x, Tensor c) {
    for (std::size_t i = 0; i < steps; i += 2) x = sin(x) * c;
    return x;
  };
}

/// Value and derivative of the chain in x, from the recurrence.
std::pair<double, double> chain_by_hand(std::size_t steps, double x, double c) {
  double slope = 1;
  for (std::size_t i = 0; i < steps; i += 2) {
    slope *= std::cos(x) * c;
    x = std::sin(x) * c;
  }
  return {x, slope};
}

TEST(LongChain, a_million_steps_are_captured_run_and_destroyed) {
  on_a_small_stack([] {
    auto p = std::make_unique<Program>(program(chain(million), f64[{}], f64[{}]));
    EXPECT_EQ(p->step_count(), million);
    EXPECT_EQ(p->steps_built(), million);
    EXPECT_EQ(p->slot_count(), million + 2);
    const double value = evaluate(*p, {0.5, 0.999999})[0].item();
    EXPECT_DOUBLE_EQ(value, chain_by_hand(million, 0.5, 0.999999).first);
    Program copy = *p;
    p.reset();
    EXPECT_EQ(copy, program(chain(million), f64[{}], f64[{}]));
  });
}

TEST(LongChain, a_million_steps_are_differentiated) {
  on_a_small_stack([] {
    const auto [value, slope] = value_and_grad(chain(million))(1.0, 1.000001);
    const auto [by_hand, slope_by_hand] = chain_by_hand(million, 1.0, 1.000001);
    EXPECT_DOUBLE_EQ(value.item(), by_hand);
    EXPECT_NEAR(slope.item(), slope_by_hand, 1e-9 * std::abs(slope_by_hand));
  });
}

TEST(LongChain, forward_mode_agrees) {
  on_a_small_stack([] {
    const auto [value, slope] = jvp(chain(200'000))(1.0, 1.000001, 1.0);
    const auto [by_hand, slope_by_hand] = chain_by_hand(200'000, 1.0, 1.000001);
    EXPECT_DOUBLE_EQ(value.item(), by_hand);
    EXPECT_NEAR(slope.item(), slope_by_hand, 1e-9 * std::abs(slope_by_hand));
  });
}

TEST(LongChain, steps_of_the_gradient_grow_linearly) {
  const auto gradient_of = [](std::size_t steps) {
    const Program p = program(chain(steps), f64[{}], f64[{}]);
    return value_and_gradient(p, {true, true}, Location::current());
  };
  on_a_small_stack([&] {
    const Program small = gradient_of(1000);
    const Program large = gradient_of(100'000);
    // sin: cos and one product; mul: two products and, for the shared factor, one sum.
    EXPECT_LE(large.step_count(), 4 * 100'000u);
    EXPECT_LE(large.steps_built(), 4 * 100'000u);
    // Linear, and not merely below a bound: each further step costs what the first ones do.
    EXPECT_NEAR(static_cast<double>(large.step_count()),
                100.0 * static_cast<double>(small.step_count()), 1000);
    EXPECT_NEAR(static_cast<double>(large.steps_built()),
                100.0 * static_cast<double>(small.steps_built()), 1000);
  });
}

TEST(LongChain, a_third_derivative_stays_linear) {
  on_a_small_stack([] {
    const std::size_t steps = 10'000;
    const auto third = grad(grad(grad(chain(steps))));
    const Program p = program([&](Tensor x, Tensor c) { return third(x, c); }, f64[{}], f64[{}]);
    const Program tenth =
        program([&](Tensor x, Tensor c) { return grad(grad(grad(chain(steps / 10))))(x, c); },
                f64[{}], f64[{}]);
    EXPECT_NEAR(static_cast<double>(p.step_count()), 10.0 * static_cast<double>(tenth.step_count()),
                1000);
  });
}

TEST(LongChain, many_linear_steps_are_transposed) {
  on_a_small_stack([] {
    constexpr std::size_t steps = 200'000;
    const auto linear = [](Tensor x, Tensor c) {
      for (std::size_t i = 0; i < steps / 2; ++i) x = -(x * c);
      return x;
    };
    const Program p = program(linear, f64[{}], f64[{}]);
    EXPECT_EQ(p.step_count(), steps);
    const Program transposed = transpose(p, {true, false});
    EXPECT_LE(transposed.steps_built(), 2 * steps);
    EXPECT_EQ(evaluate(transposed, {1.0, 3.0})[0].item(), 3.0);
  });
}

TEST(LongChain, text_of_a_long_chain_is_linear_and_reads_back) {
  on_a_small_stack([] {
    constexpr std::size_t steps = 200'000;
    const Program p = program(chain(steps), f64[{}], f64[{}]);
    const std::string text = to_text(p);
    EXPECT_LE(text.size(), 50 * steps);
    EXPECT_EQ(parse_program(text), p);
  });
}

TEST(LongChain, a_wide_sum_is_as_flat_as_a_deep_one) {
  on_a_small_stack([] {
    // Both arguments of each sum are as deep as can be, so that a tree of them would have 2^n
    // leaves.
    const auto doubling = [](Tensor x) {
      for (int i = 0; i < 1000; ++i) x = (x + x * 0.25) * 0.8;
      return x;
    };
    EXPECT_EQ(program(doubling, f64[{}]).step_count(), 3002u);
    EXPECT_NEAR(grad(doubling)(1.0).item(), 1, 1e-9);
  });
}

TEST(LongChain, parts_are_split_off_and_joined_in_linear_steps) {
  on_a_small_stack([] {
    const std::size_t rounds = 10'000;
    const auto f = [&](Tensor x) {
      for (std::size_t i = 0; i < rounds; ++i) {
        const std::vector<Tensor> halves = split(x, 2);
        x = concat({halves[1] * 0.5, halves[0] * 2.0});
      }
      return sum(x * tensor({1.0, 2.0, 3.0, 4.0}));
    };
    const Program p = program(f, f64[{4}]);
    EXPECT_LE(p.step_count(), 5 * rounds + 8);
    const Program gradient = value_and_gradient(p, {true}, Location::current());
    EXPECT_LE(gradient.steps_built(), 16 * rounds);
    // Two rounds multiply either half by 0.5·2.
    EXPECT_TRUE(array_equal(grad(f)(ones({4})), tensor({1.0, 2.0, 3.0, 4.0})));
  });
}

TEST(LongChain, reads_of_single_elements_cost_one_step_each) {
  on_a_small_stack([] {
    const std::int64_t n = 10'000;
    const auto f = [&](Tensor x) {
      Tensor total = 0.0;
      for (std::int64_t i = 0; i < n; ++i) total += x(i) * x(i);
      return total;
    };
    const Program p = program(f, f64[{n}]);
    const Program gradient = value_and_gradient(p, {true}, Location::current());
    EXPECT_LE(gradient.steps_built(), 16 * static_cast<std::size_t>(n));
    // No step makes an array of n elements except the ones that add into the accumulator.
    std::size_t arrays = 0;
    for (std::size_t i = 0; i < gradient.step_count(); ++i) {
      const Step step = gradient.step(i);
      if (gradient.type(step.first_result).size() != n) continue;
      arrays += step.primitive.name != "update_slice";
    }
    EXPECT_LE(arrays, 1u);
    EXPECT_TRUE(array_equal(grad(f)(arange(n).astype(f64)), 2.0 * arange(n).astype(f64)));
  });
}

TEST(LongChain, captures_of_closures_cost_one_step_each) {
  on_a_small_stack([] {
    const std::size_t count = 100'000;
    // Programs captured one after the other, each holding a tensor of its closure.
    std::size_t steps = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Tensor w = static_cast<double>(i);
      steps += program([&](Tensor x) { return x * w; }, f64[{}]).step_count();
    }
    EXPECT_EQ(steps, 2 * count);
    // One program that holds as many tensors.
    std::vector<Tensor> weights(count, 1.0);
    for (std::size_t i = 0; i < count; ++i) weights[i] = Tensor(static_cast<double>(i));
    const auto f = [&](Tensor x) {
      Tensor total = x;
      for (const Tensor& w : weights) total += x * w;
      return total;
    };
    const Program p = program(f, f64[{}]);
    EXPECT_EQ(p.step_count(), 3 * count);
    EXPECT_EQ(p.captured().size(), count);
    EXPECT_EQ(grad(f)(1.0).item(),
              1 + 0.5 * static_cast<double>(count) * static_cast<double>(count - 1));
  });
}

TEST(LongChain, captured_symbols_of_an_outer_capture_stay_linear) {
  on_a_small_stack([] {
    const std::size_t count = 10'000;
    // Each inner capture uses a symbol of the outer one, which becomes its operand.
    const auto f = [&](Tensor x) {
      Tensor total = x;
      for (std::size_t i = 0; i < count; ++i)
        total = grad([&](Tensor y) { return sin(y) * total; })(x);
      return total;
    };
    const Program p = program(f, f64[{}]);
    EXPECT_LE(p.steps_built(), 8 * count);
    EXPECT_NEAR(evaluate(p, {0.01})[0].item(),
                0.01 * std::pow(std::cos(0.01), static_cast<double>(count)), 1e-12);
  });
}

TEST(LongChain, one_capture_with_many_captured_symbols_is_linear) {
  on_a_small_stack([] {
    const std::size_t count = 30'000;
    const auto f = [&](Tensor x) {
      std::vector<Tensor> outer{x};
      for (std::size_t i = 1; i < count; ++i) outer.push_back(sin(outer.back()));
      return grad([&](Tensor y) {
        for (const Tensor& symbol : outer) y = y * symbol;
        return y;
      })(x);
    };
    EXPECT_LE(program(f, f64[{}]).steps_built(), 8 * count);
  });
}

TEST(LongChain, long_eager_chains_keep_one_array) {
  on_a_small_stack([] {
    Tensor x = 0.5;
    for (std::size_t i = 0; i < million; i += 2) x = sin(x) * 0.999999;
    EXPECT_DOUBLE_EQ(x.item(), chain_by_hand(million, 0.5, 0.999999).first);
  });
}

TEST(LongChain, many_products_nest_without_recursion_over_steps) {
  on_a_small_stack([] {
    const std::vector<Tensor> xs(10'000, Tensor(1.0));
    const auto f = [](const std::vector<Tensor>& v) {
      Tensor total = 0.0;
      for (const Tensor& x : v) total += x * x;
      return total;
    };
    const std::vector<Tensor> gradient = grad(f)(xs);
    ASSERT_EQ(gradient.size(), xs.size());
    EXPECT_EQ(gradient.back().item(), 2);
  });
}

}  // namespace
