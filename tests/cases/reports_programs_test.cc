// tests/cases/reports_programs_test.cc -- very long programs, symbols that escape, and views beyond
// 2³¹ elements
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <pthread.h>

#include <cmath>
#include <limits>
#include <optional>
#include <thread>

#include "support.h"

namespace hom::cases {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Row 101. Recursion over depth would overflow the stack long before these lengths; a stack of 256
// KiB makes sure.

/// Runs `f` on a thread with a small stack.
template <class F>
void on_a_small_stack(F f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<F*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &f), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Reports, a_chain_of_100000_steps_is_captured_differentiated_printed_and_destroyed) {
  on_a_small_stack([] {
    constexpr int n = 100000;
    const auto chain = [](Tensor x) {
      for (int i = 0; i < n; ++i) x = i % 2 ? x + 0.5 : x * -1.0;
      return x;
    };
    const auto sines = [](Tensor x) {
      for (int i = 0; i < n; ++i) x = sin(x);
      return x;
    };
    const Program captured = program(chain, f64[{}]);
    EXPECT_EQ(operations_of(captured).total, n);
    EXPECT_EQ(operations_of(captured).depth, n);
    EXPECT_TRUE(near(evaluate(captured, {2.0})[0], 2));
    EXPECT_TRUE(near(gradient(chain, 2.0), 1));
    const Program derivative = program(value_and_grad(sines), f64[{}]);
    EXPECT_LE(derivative.step_count(), 4u * n);
    EXPECT_LE(derivative.steps_built(), 10u * n);
    const std::vector<Tensor> results = evaluate(derivative, {1.0});
    double value = 1;
    double slope = 1;
    for (int i = 0; i < n; ++i) {
      slope *= std::cos(value);
      value = std::sin(value);
    }
    EXPECT_TRUE(near(results[0], value));
    EXPECT_TRUE(near(results[1], slope));
    const std::string text = to_text(captured);
    EXPECT_LE(text.size(), 100u * n);
    EXPECT_EQ(parse_program(text), captured);
  });
}

TEST(Reports, a_million_steps_are_captured_and_destroyed) {
  on_a_small_stack([] {
    constexpr int n = 1000000;
    std::optional<Program> p = program(
        [](Tensor x) {
          for (int i = 0; i < n; ++i) x = cos(x);
          return x;
        },
        f64[{}]);
    EXPECT_EQ(p->step_count(), static_cast<std::size_t>(n));
    EXPECT_EQ(p->steps_built(), static_cast<std::size_t>(n));
    p.reset();
  });
}

TEST(Reports, a_chain_of_eager_operations_is_destroyed_without_recursion) {
  on_a_small_stack([] {
    Tensor x = tensor({1.0, 2.0});
    for (int i = 0; i < 100000; ++i) x = x + x * 0.0;
    EXPECT_TRUE(near(x, {1, 2}));
    for (int i = 0; i < 100000; ++i) x = flip(x, {0});
    EXPECT_TRUE(near(x, {1, 2}));
  });
}

TEST(Reports, a_chain_of_split_and_concat_is_differentiated) {
  on_a_small_stack([] {
    constexpr int n = 10000;
    const auto f = [](Tensor x) {
      for (int i = 0; i < n; ++i) {
        const std::vector<Tensor> halves = split(x, 2);
        x = concat({halves[1], sin(halves[0])});
      }
      return sum(x);
    };
    const Tensor x = tensor({0.5, -1.0});
    // Each half goes through n/2 sines.
    std::vector<double> slope;
    for (double value : x.to_vector()) {
      double product = 1;
      for (int i = 0; i < n / 2; ++i) {
        product *= std::cos(value);
        value = std::sin(value);
      }
      slope.push_back(product);
    }
    EXPECT_TRUE(near(grad(f)(x), slope));
    EXPECT_LE(program(value_and_grad(f), x).step_count(), 20u * n);
  });
}

TEST(Reports, the_gradient_of_many_single_reads_is_one_write_each) {
  constexpr int n = 2000;
  const auto f = [](Tensor x) {
    Tensor total = 0.0;
    for (int i = 0; i < n; ++i) total += x[i] * x[i];
    return total;
  };
  const Tensor x = linspace(-1, 1, n);
  EXPECT_TRUE(near(grad(f)(x), (2 * x).to_vector()));
  for (const auto& [name, count] : operations_of(program(value_and_grad(f), x)).count) {
    EXPECT_NE(name, "pad");
    EXPECT_NE(name, "concat");
    EXPECT_LE(count, 3 * n) << name;
  }
}

// Row 103, what needs no compiler.

TEST(Reports, a_maximum_equals_itself_eagerly_and_as_a_program) {
  const auto f = [](Tensor x) { return any_of(x == max(x)); };
  for (const Dtype dtype : {f64, f32, f16, bf16}) {
    const Tensor x = (linspace(0, 1, 1001) * 0.1).astype(dtype) / 3;
    EXPECT_TRUE(f(x).item<bool>());
    EXPECT_TRUE(evaluate(program(f, x), {x})[0].item<bool>());
  }
}

TEST(Reports, is_nan_knows_nan_eagerly_and_as_a_program) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto f = [](Tensor x) { return is_nan(x); };
  for (const Dtype dtype : {f64, f32, f16, bf16}) {
    const Tensor x = vector_of({0, nan, infinity, -nan, -0.0}, dtype);
    EXPECT_TRUE(near(f(x), {0, 1, 0, 1, 0}));
    EXPECT_TRUE(near(evaluate(program(f, x), {x})[0], {0, 1, 0, 1, 0}));
    EXPECT_TRUE(near(is_finite(x), {1, 0, 0, 0, 1}));
  }
}

TEST(Reports, a_symbol_that_outlives_its_capture_is_an_error_that_names_its_line) {
  Tensor kept;
  const auto forward = named("forward", [&](Tensor x) {
    kept = x * 2.0;
    return kept;
  });
  static_cast<void>(program(forward, f64[{}]));
  const std::string used = message_of([&] { static_cast<void>(kept + 1.0); });
  EXPECT_NE(used.find("reports_programs_test.cc:"), std::string::npos) << used;
  EXPECT_NE(used, "(no error)");
  EXPECT_NE(message_of([&] { kept.item(); }), "(no error)");
  // While it is being captured it has no value either, and the error says in which function.
  const auto looks = named("looks", [](Tensor x) { return x * x.item(); });
  const std::string looked = message_of([&] { static_cast<void>(program(looks, f64[{}])); });
  EXPECT_NE(looked.find("looks"), std::string::npos) << looked;
  EXPECT_NE(looked.find("reports_programs_test.cc:"), std::string::npos) << looked;
}

TEST(Reports, a_symbol_on_another_thread_is_an_error) {
  std::string message;
  const auto f = [&](Tensor x) {
    std::thread([&] { message = message_of([&] { static_cast<void>(x + 1.0); }); }).join();
    return x;
  };
  static_cast<void>(program(f, f64[{}]));
  EXPECT_NE(message.find("reports_programs_test.cc:"), std::string::npos) << message;
}

TEST(Reports, shapes_beyond_2_to_31_elements_are_counted_right) {
  const Tensor view = broadcast_to(Tensor(2.0f), {65536, 65536});  // one element of storage
  EXPECT_EQ(view.size(), std::int64_t{1} << 32);
  EXPECT_EQ(reshape(view, {-1}).shape(), (Shape{std::int64_t{1} << 32}));
  EXPECT_EQ(reshape(view, {-1, 1 << 20}).shape(), (Shape{4096, 1 << 20}));
  EXPECT_EQ(reshape(view, {-1})[-1].item(), 2);
  const Program flat = program([](Tensor x) { return reshape(x, {-1}); }, f32[{65536, 65536}]);
  EXPECT_EQ(flat.output_types()[0], (f32[{std::int64_t{1} << 32}]));
}

}  // namespace
}  // namespace hom::cases
