// tests/unit/executable_test.cc -- runs of executables: memory, ownership, threads, failures
#include <hom/backends/cpu/jit/executable.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/interpreter.h>
#include <hom/backends/nests/memory_plan.h>
#include <hom/hom.h>

// Everything that asks the C library for memory, operator new too, is counted.
namespace {
std::atomic<std::int64_t> allocations = 0;
}  // namespace
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void* malloc(std::size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  ++allocations;
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : 12;
}
}

namespace hom::testing {
namespace {

using cpu::Executable;

const std::byte* data_of(const Tensor& x) {
  return x.array().buffer->data() + x.array().offset * static_cast<std::int64_t>(x.dtype().size());
}

/// Both tiers: the walked plan, and the plan as one function.
class Tiers : public ::testing::TestWithParam<Tier> {
 protected:
  CompileOptions options() const { return {.tier = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Both, Tiers, ::testing::Values(Tier::interpreter, Tier::native),
                         [](const auto& tier) {
                           return tier.param == Tier::native ? "native" : "interpreter";
                         });

Tensor some(const Shape& shape, double first = 0.25) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    values.push_back(first + 0.5 * static_cast<double>(i % 17));
  return tensor(values, shape);
}

TEST_P(Tiers, repeated_calls_allocate_nothing) {
  const auto f = [](Tensor w, Tensor x, Tensor rate) {
    const auto loss = [&](Tensor v) { return sum(square(tanh(matmul(x, v)))); };
    auto [l, g] = value_and_grad(loss)(w);
    const Tensor last = fori_loop(0, 3, [](Tensor, Tensor s) { return cumsum(s, 0) * 0.5; }, g);
    return std::tuple{l, w - rate * g, last};
  };
  const auto step = compile(f, options());
  const Tensor w = some({8, 4});
  const Tensor x = some({16, 8});
  const Tensor strided = transpose(some({8, 16}));  // copied to scratch memory each time
  for (int i = 0; i < 3; ++i) {
    step(w, x, 0.1);
    step(w, strided, 0.1);
  }
  const std::int64_t before = allocations;
  for (int i = 0; i < 10; ++i) {
    const auto results = step(w, i % 2 ? x : strided, 0.1);
    EXPECT_EQ(std::get<1>(results).extent(0), 8);
  }
  EXPECT_EQ(allocations - before, 0);
  // A training loop: results replace what they came from.
  Tensor p = w;
  for (int i = 0; i < 3; ++i) p = std::get<1>(step(p, x, 0.1));
  const std::int64_t start = allocations;
  for (int i = 0; i < 10; ++i) p = std::get<1>(step(p, x, 0.1));
  for (int i = 0; i < 10; ++i) p = std::get<1>(step(std::move(p), x, 0.1));
  EXPECT_EQ(allocations - start, 0);
}

TEST_P(Tiers, results_that_somebody_holds_stay) {
  const auto twice = compile([](Tensor x) { return x * 2.0; }, options());
  std::vector<Tensor> results;
  for (int i = 0; i < 40; ++i) results.push_back(twice(full({5}, static_cast<double>(i))));
  for (int i = 0; i < 40; ++i)
    EXPECT_TRUE(array_equal(results[static_cast<std::size_t>(i)], full({5}, 2.0 * i)));
  // A view holds the memory too.
  Tensor view = twice(some({5}))(Range{1, 3});
  const std::vector<double> values = view.to_vector();
  for (int i = 0; i < 20; ++i) twice(full({5}, static_cast<double>(i)));
  EXPECT_EQ(view.to_vector(), values);
}

TEST_P(Tiers, results_that_nobody_holds_are_used_again) {
  const auto twice = compile([](Tensor x) { return x * 2.0; }, options());
  const Tensor x = some({100});
  const std::byte* const first = data_of(twice(x));
  EXPECT_EQ(data_of(twice(x)), first);
  twice.programs()[0].release();
  EXPECT_TRUE(array_equal(twice(x), x * 2.0));
}

TEST_P(Tiers, inputs_may_lie_anyhow) {
  const auto f = [](Tensor x) { return sin(x) + x; };
  const auto compiled = compile(f, options());
  const Tensor base = some({6, 10});
  const auto same = [&](const Tensor& x) {
    EXPECT_TRUE(array_equal(compiled(x), f(x)));
    EXPECT_TRUE(array_equal(compiled(x), f(copy(x))));
  };
  same(transpose(base));
  same(base(Range{1, 5}, Range{3, 8}));
  same(base(3));  // row-major, but its address is not aligned
  same(base(3)(Range{1, 2}));
  same(flip(base, {1}));
  same(broadcast_to(base(0), {4, 10}));
  same(zeros({0, 3}));
  same(Tensor(0.5));
  EXPECT_TRUE(array_equal(base, some({6, 10})));
}

TEST_P(Tiers, a_given_argument_with_no_other_owner_is_overwritten) {
  const auto step = compile([](Tensor x, Tensor y) { return x + y; }, options());
  const Tensor y = some({64}, 1.0);
  Tensor x = some({64});
  const std::byte* const memory = data_of(x);
  const Tensor sum = step(std::move(x), y);
  EXPECT_EQ(data_of(sum), memory);
  EXPECT_TRUE(x.is_empty());
  EXPECT_TRUE(array_equal(sum, some({64}) + y));
}

TEST_P(Tiers, nothing_else_is_overwritten) {
  const auto step = compile([](Tensor x, Tensor y) { return x + y; }, options());
  const Tensor y = some({64}, 1.0);
  Tensor x = some({64});
  const auto is_kept = [&](const Tensor& result, const Tensor& kept) {
    EXPECT_NE(data_of(result), data_of(kept));
    EXPECT_TRUE(array_equal(kept, some({64})));
    EXPECT_TRUE(array_equal(result, some({64}) + y));
  };
  is_kept(step(x, y), x);
  Tensor copy_of_x = x;  // shares the array
  is_kept(step(std::move(copy_of_x), y), x);
  Tensor view = reshape(x, {8, 8});
  view = reshape(view, {64});  // another array on the same memory
  is_kept(step(std::move(view), y), x);
  const Tensor constant = x;
  is_kept(step(std::move(constant), y), x);  // NOLINT: a const tensor cannot be given away
  Tensor both = copy(x);
  const Tensor twice = step(both, std::move(both));
  EXPECT_TRUE(array_equal(twice, x + x));
}

TEST_P(Tiers, structures_are_given_away_leaf_by_leaf) {
  const auto step = compile(
      [](const std::vector<Tensor>& p) {
        std::vector<Tensor> next;
        for (const Tensor& x : p) next.push_back(x * 0.5);
        return next;
      },
      options());
  std::vector<Tensor> p{some({32}), some({16, 4})};
  const std::byte* const first = data_of(p[0]);
  const Tensor held = p[1];
  const std::vector<Tensor> next = step(std::move(p));
  EXPECT_EQ(data_of(next[0]), first);
  EXPECT_NE(data_of(next[1]), data_of(held));
  EXPECT_TRUE(array_equal(held, some({16, 4})));
  EXPECT_TRUE(array_equal(next[1], held * 0.5));
}

TEST_P(Tiers, outputs_that_are_inputs_or_constants_are_shared) {
  const Tensor constant = some({7});
  const auto f = compile(
      [&](Tensor x, Tensor y) {
        const Tensor z = x + y;
        return std::tuple{x, constant, z, z, y};
      },
      options());
  const Tensor x = transpose(some({2, 7}))(all, 0);
  Tensor y = some({7}, 2.0);
  const std::byte* const memory = data_of(y);
  const auto [a, b, c, d, e] = f(x, std::move(y));
  EXPECT_EQ(a.array_pointer(), x.array_pointer());
  EXPECT_EQ(b.array_pointer(), constant.array_pointer());
  EXPECT_EQ(c.array_pointer(), d.array_pointer());
  EXPECT_EQ(data_of(e), memory);
  EXPECT_TRUE(array_equal(c, x + e));
  // A number has no tensor to share.
  const auto id = compile([](Tensor x) { return x; }, options());
  EXPECT_EQ(id(2.5).item(), 2.5);
}

TEST_P(Tiers, concurrent_calls_are_safe) {
  const auto f = [](Tensor x, Tensor s) { return cumsum(exp(sin(x)) * s, 0) + sum(x); };
  const auto compiled = compile(f, options());
  constexpr int threads = 4;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] {
      const Tensor x = some({257}, 0.1 * t);
      const Tensor want = f(x, Tensor(1.0 + t));
      Tensor held;
      for (int i = 0; i < 200; ++i) {
        const Tensor got = compiled(x, 1.0 + t);
        if (!array_equal(got, want)) ++wrong;
        if (i % 7 == 0) held = got;
        if (!array_equal(held, want)) ++wrong;
      }
    });
  }
  for (std::thread& thread : pool) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(compiled.compilations(), 1U);
}

TEST_P(Tiers, raw_functions_run_on_plain_memory) {
  const auto compiled = compile(
      [](Tensor x, Tensor i) { return std::tuple{x * 2.0, sum(x), i, take(x, i)}; }, options());
  const CompiledProgram program = compiled.prepare(f64[{6}], i64[{2}]);
  alignas(64) const double x[] = {1, 2, 3, 4, 5, 6};
  alignas(64) const std::int64_t i[] = {5, 0};
  alignas(64) double twice[6];
  double total = 0;
  alignas(64) std::int64_t same[2] = {};
  alignas(64) double taken[2];
  const std::byte* const inputs[] = {reinterpret_cast<const std::byte*>(x),
                                     reinterpret_cast<const std::byte*>(i)};
  std::byte* const outputs[] = {
      reinterpret_cast<std::byte*>(twice), reinterpret_cast<std::byte*>(&total),
      reinterpret_cast<std::byte*>(same), reinterpret_cast<std::byte*>(taken)};
  const RawFunction f = program.raw();
  for (int run = 0; run < 3; ++run) {
    f.call(f.context, inputs, outputs);
    EXPECT_EQ(twice[5], 12.0);
    EXPECT_EQ(total, 21.0);
    EXPECT_EQ(same[0], 5);
    EXPECT_EQ(taken[0], 6.0);
    EXPECT_EQ(taken[1], 1.0);
  }
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_P(Tiers, failed_checks_say_what_eager_kernels_say) {
  const Tensor x = some({3, 5});
  const auto alike = [&](const auto& f, const auto&... args) {
    const std::string eager = message_of([&] { f(args...); });
    const std::string compiled = message_of([&] { compile(f, options())(args...); });
    EXPECT_EQ(compiled, eager);
    EXPECT_NE(eager.find("hint"), std::string::npos) << eager;
  };
  alike([](Tensor t, Tensor i) { return take(t, i); }, x, tensor({0, 3, 7}));
  alike([](Tensor t, Tensor i) { return take(t, i, 1); }, x, tensor({-1}));
  alike([](Tensor t, Tensor i) { return dynamic_slice(t, i, {2, 3}); }, x, tensor({2, 0}));
  alike([](Tensor t, Tensor i) { return dynamic_update_slice(t, ones({1, 2}), i); }, x,
        tensor({1, 4}));
  alike([](Tensor n, Tensor k) { return pow(n, k); }, tensor({2, 3}), tensor({1, -4}));
  alike(named("looked_up", [](Tensor t, Tensor i) { return take(t, i) * 2.0; }), x, tensor({9}));
  // The next run is not affected.
  const auto f = compile([](Tensor t, Tensor i) { return take(t, i); }, options());
  EXPECT_THROW(f(x, tensor({3})), Error);
  EXPECT_TRUE(array_equal(f(x, tensor({2})), x(Range{2, 3})));
}

/// A routine that fails where its operand is negative.
class Refusing : public nest::Routine {
 public:
  void run(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
           std::byte*) const override {
    double x;
    std::memcpy(&x, operands[0], sizeof x);
    require(x >= 0, {}, [] { return Complaint{"refusing: negative"}; });
    std::memcpy(results[0], &x, sizeof x);
  }
  std::string describe() const override { return "refusing"; }
  nest::Work work() const override { return {}; }
};

int calls_after_failure = 0;

/// As emitted code would be: calls the routine three times.
void three_calls(std::byte* const* buffers, cpu::PlanHost* host) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    host->call(host, 0, buffers, buffers + 1, nullptr, nullptr);
    ++calls_after_failure;
  }
}
class ThreeCalls : public cpu::Code {
 public:
  void launch(std::size_t, std::byte* const*, std::int64_t, std::int64_t,
              cpu::FailureRecord&) const override {}
  cpu::PlanFunction plan() const override { return three_calls; }
  std::string describe() const override { return "three calls"; }
};

TEST(Executables, what_a_routine_throws_ends_the_run) {
  nest::Plan plan;
  plan.buffers.push_back({f64[{}], nest::PlannedBuffer::Place::input, 0});
  plan.buffers.push_back({f64[{}], nest::PlannedBuffer::Place::output, 0});
  plan.input_count = 1;
  plan.outputs = {1};
  plan.output_types = {f64[{}]};
  plan.routines.push_back(std::make_shared<Refusing>());
  plan.body.push_back({nest::Call{0, {{0}}, {{1}}}, 0});
  plan.origins.push_back({"refuse", Location::current(), "inner"});
  nest::plan_memory(plan);
  for (const bool as_function : {true, false}) {
    std::shared_ptr<const cpu::Code> code = std::make_shared<ThreeCalls>();
    if (!as_function) code = cpu::interpret(plan.kernels);
    const Executable executable(plan, code);
    const auto run = [&](double number) {
      Tensor x(number);
      const Executable::Input input{&x};
      Tensor result;
      executable.run({&input, 1}, {&result, 1}, {});
      return result.item();
    };
    EXPECT_EQ(run(2.0), 2.0);
    calls_after_failure = 0;
    const std::string message = message_of([&] { run(-1.0); });
    EXPECT_NE(message.find("refusing: negative"), std::string::npos) << message;
    EXPECT_NE(message.find("executable_test.cc"), std::string::npos) << message;
    EXPECT_NE(message.find("in `inner`"), std::string::npos) << message;
    EXPECT_EQ(calls_after_failure, 0);
    EXPECT_EQ(run(3.0), 3.0);
  }
}

TEST(Executables, alignment_is_that_of_the_elements) {
  alignas(64) const std::byte memory[256] = {};
  EXPECT_TRUE(cpu::is_aligned(memory, 1000));
  EXPECT_FALSE(cpu::is_aligned(memory + 32, 1000));
  EXPECT_TRUE(cpu::is_aligned(memory + 32, 63));
  EXPECT_TRUE(cpu::is_aligned(memory + 16, 24));
  EXPECT_FALSE(cpu::is_aligned(memory + 8, 24));
  EXPECT_TRUE(cpu::is_aligned(memory + 8, 8));
  EXPECT_TRUE(cpu::is_aligned(memory + 1, 0));
}

}  // namespace
}  // namespace hom::testing
