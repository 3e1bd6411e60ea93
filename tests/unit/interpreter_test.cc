// tests/unit/interpreter_test.cc -- kernels written by hand, whose results are known
#include <hom/backends/cpu/jit/interpreter.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <random>

#include "nest_support.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hom/backends/cpu/scalar_rows.h>
#include <hom/backends/nests/nest_functions.h>
#include <hom/hom.h>

namespace {
std::int64_t allocations = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace hom::testing {
namespace {

/// Runs the only kernel on vectors, whole.
template <class... T>
cpu::FailureRecord launch(const Kernel& kernel, std::vector<T>&... arguments) {
  const auto code = cpu::interpret({&kernel, 1});
  std::byte* const pointers[] = {reinterpret_cast<std::byte*>(arguments.data())...};
  std::int64_t extent = 0;
  if (kernel.is_splittable) extent = kernel.axes[std::get<Loop>(kernel.body[0].is).axes[0]];
  cpu::FailureRecord record;
  code->launch(0, pointers, 0, extent, record);
  return record;
}

std::vector<float> random_floats(std::size_t n) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> x(n);
  for (float& element : x) element = normal(random);
  return x;
}

template <Element T>
std::vector<T> elements_of(const Tensor& x) {
  const Tensor dense = x + zeros(x.shape(), x.dtype());
  const T* data = reinterpret_cast<const T*>(dense.array().buffer->data()) + dense.array().offset;
  return std::vector<T>(data, data + x.size());
}

TEST(Interpreter, softmax_is_one_kernel_and_equals_eager) {
  for (const std::int64_t columns : {1, 7, 128, 512, 513, 2000}) {
    std::vector<float> x = random_floats(static_cast<std::size_t>(5 * columns));
    std::vector<float> y(x.size());
    launch(softmax(5, columns), x, y);
    const Tensor t = tensor<float>(x, {5, columns});
    const Tensor power = exp(t - max(t, {1}, Keep::yes));
    EXPECT_EQ(y, elements_of<float>(power / sum(power, {1}, Keep::yes))) << columns;
  }
}

/// Σ over the rows of a matrix, for each column.
Kernel column_sums(Dtype dtype, std::int64_t rows, std::int64_t columns) {
  KernelDraft d;
  const auto x = d.input(dtype, rows * columns);
  const auto y = d.output(dtype, columns);
  const Value row = d.axis(rows);
  const Value column = d.axis(columns);
  const Value start = d.times(row, columns);
  const Value index = d.plus(start, column);
  const Value element = d.load(x, index);
  const Value total = d.reduced(dtype);
  d.kernel.body = {loop(
      {1}, Block{loop({0}, define({start, index, element}), {{Combine::sum, element, total}})} +
               set(y, column, total))};
  d.kernel.vector_axis = 1;
  d.kernel.is_splittable = true;
  return d.kernel;
}

TEST(Interpreter, column_sums_equal_eager) {
  for (const std::int64_t rows : {1, 3, 64, 1000}) {
    for (const std::int64_t columns : {1, 5, 128, 300}) {
      std::vector<float> x = random_floats(static_cast<std::size_t>(rows * columns));
      std::vector<float> y(static_cast<std::size_t>(columns));
      launch(column_sums(f32, rows, columns), x, y);
      EXPECT_EQ(y, elements_of<float>(sum(tensor<float>(x, {rows, columns}), {0})));

      std::vector<bfloat16> narrow;
      for (const float element : x) narrow.emplace_back(element);
      std::vector<bfloat16> sums(y.size());
      launch(column_sums(bf16, rows, columns), narrow, sums);
      const std::vector<bfloat16> want =
          elements_of<bfloat16>(sum(tensor<bfloat16>(narrow, {rows, columns}), {0}));
      for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i].bits, want[i].bits);
    }
  }
}

TEST(Interpreter, a_carried_sum_counts_down) {
  KernelDraft d;
  const auto x = d.input(i32, 5);
  const auto y = d.output(i32, 5);
  const auto last = d.output(i32, 1);
  const Value i = d.axis(5);
  const Value element = d.load(x, i);
  const Value state = d.carried(i32);
  const Value next = d.apply(Function::add, {state, element});
  d.kernel.body = {{Loop{.axes = {0},
                         .carries = {{state, d.constant(std::int32_t{100}), next}},
                         .reverse = true,
                         .body = define({element, next}) + set(y, i, next)}},
                   set(last, d.index(0), state)};
  std::vector<std::int32_t> from{1, 2, 3, 4, 5}, to(5), end(1);
  launch(d.kernel, from, to, end);
  EXPECT_EQ(to, (std::vector<std::int32_t>{115, 114, 112, 109, 105}));
  EXPECT_EQ(end, std::vector<std::int32_t>{115});
}

TEST(Interpreter, states_change_all_at_once) {
  // Fibonacci numbers: (a, b) becomes (b, a + b), in 200 lanes that begin with (lane, 1).
  KernelDraft d;
  const auto y = d.output(i64, 200);
  const Value lane = d.axis(200);
  d.axis(10);
  const Value a = d.carried(i64);
  const Value b = d.carried(i64);
  const Value next = d.apply(Function::add, {a, b});
  d.kernel.body = {loop({0}, Block{{Loop{.axes = {1},
                                         .carries = {{a, lane, b}, {b, d.index(1), next}},
                                         .body = define({next})}}} +
                                 set(y, lane, a))};
  d.kernel.vector_axis = 0;
  std::vector<std::int64_t> numbers(200);
  launch(d.kernel, numbers);
  for (std::int64_t i = 0; i < 200; ++i)
    EXPECT_EQ(numbers[static_cast<std::size_t>(i)], 34 * i + 55);
}

TEST(Interpreter, stores_that_combine_meet_in_order) {
  KernelDraft d;
  const auto places = d.input(i32, 1000);
  const auto x = d.input(f32, 1000);
  const auto y = d.buffer(f32, 3, true, true);
  const Value i = d.axis(1000);
  const Value place = d.load(places, i);
  const Value index = d.convert(i64, place);
  const Value element = d.load(x, i);
  const Value fits = d.apply(Function::lt, {index, d.index(3)});
  d.kernel.body = {loop({0}, define({place, index, element, fits}) +
                                 nest::Statement{Store{y, index, element, Combine::sum, fits}})};
  d.kernel.vector_axis = 0;
  std::vector<float> from = random_floats(1000), to{1, 2, 3}, want = to;
  std::vector<std::int32_t> at(1000);
  for (std::size_t k = 0; k < at.size(); ++k) {
    at[k] = static_cast<std::int32_t>(k * k % 5);
    if (at[k] == 4) at[k] = 1 << 30;
    if (at[k] < 3) want[static_cast<std::size_t>(at[k])] += from[k];
  }
  launch(d.kernel, at, from, to);
  EXPECT_EQ(to, want);
}

TEST(Interpreter, argmax_is_the_first_largest_and_the_first_nan) {
  KernelDraft d;
  const auto x = d.input(f64, 4 * 600);
  const auto y = d.output(i64, 4);
  const Value row = d.axis(4);
  const Value column = d.axis(600);
  const Value start = d.times(row, 600);
  const Value index = d.plus(start, column);
  const Value element = d.load(x, index);
  const Value place = d.reduced(i64);
  d.kernel.body = {
      loop({0}, define({start}) +
                    loop({1}, define({index, element}), {{Combine::argmax, element, place}}) +
                    set(y, row, place))};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool is_vectorised : {false, true}) {
    d.kernel.vector_axis = is_vectorised ? std::optional<Axis>(1) : std::nullopt;
    std::vector<double> from(4 * 600, 1.0);
    from[0 * 600 + 550] = 2, from[0 * 600 + 551] = 2;
    from[1 * 600 + 599] = nan, from[1 * 600 + 3] = INFINITY;
    from[2 * 600 + 520] = nan, from[2 * 600 + 521] = nan;
    std::vector<std::int64_t> to(4);
    launch(d.kernel, from, to);
    EXPECT_EQ(to, (std::vector<std::int64_t>{550, 599, 520, 0}));
  }
}

/// y[i] = x[p[i]] where 0 ≤ p[i] < 10, else failure 1 with p[i]; then failure 0 where y[i] < 0.
Kernel checked_gather(std::int64_t n) {
  KernelDraft d;
  const auto x = d.input(f32, 10);
  const auto places = d.input(i64, n);
  const auto y = d.output(f32, n);
  const Value i = d.axis(n);
  const Value place = d.load(places, i);
  const Value low = d.apply(Function::ge, {place, d.index(0)});
  const Value high = d.apply(Function::lt, {place, d.index(10)});
  const Value ok = d.apply(Function::and_, {low, high});
  const Value element = d.load_where(x, place, ok);
  const Value positive = d.apply(Function::ge, {element, d.constant(0.0f)});
  d.kernel.failures = {{0, 0}, {1, 0}};
  d.kernel.body = {loop({0}, define({place, low, high, ok}) + nest::Statement{Check{ok, place, 1}} +
                                 nest::Statement{Define{element}} +
                                 nest::Statement{Define{positive}} +
                                 nest::Statement{Check{positive, i, 0}} + set(y, i, element))};
  d.kernel.vector_axis = 0;
  return d.kernel;
}

TEST(Interpreter, the_first_failure_in_the_order_of_iterations_is_recorded) {
  std::vector<float> x{0, 1, 2, 3, 4, 5, 6, 7, 8, -9}, y(1000);
  std::vector<std::int64_t> places(1000, 4);
  const Kernel kernel = checked_gather(1000);
  EXPECT_EQ(launch(kernel, x, places, y).failure, 0);
  EXPECT_EQ(y, std::vector<float>(1000, 4));

  places[700] = -1;
  places[999] = std::int64_t{1} << 60;
  cpu::FailureRecord record = launch(kernel, x, places, y);
  EXPECT_EQ(record.failure, 2);
  EXPECT_EQ(record.value, -1);
  EXPECT_EQ(y[700], 0);
  EXPECT_EQ(y[999], 0);

  places[699] = 9;  // another check of an earlier iteration
  record = launch(kernel, x, places, y);
  EXPECT_EQ(record.failure, 1);
  EXPECT_EQ(record.value, 699);

  // Failures are counted through all kernels, and the first one stays.
  const Kernel kernels[] = {kernel, kernel};
  const auto code = cpu::interpret(kernels);
  std::byte* const pointers[] = {reinterpret_cast<std::byte*>(x.data()),
                                 reinterpret_cast<std::byte*>(places.data()),
                                 reinterpret_cast<std::byte*>(y.data())};
  record = {};
  code->launch(1, pointers, 0, 0, record);
  EXPECT_EQ(record.failure, 3);
  code->launch(0, pointers, 0, 0, record);
  EXPECT_EQ(record.failure, 3);
}

TEST(Interpreter, narrow_floats_round_after_each_step) {
  KernelDraft d;
  const auto x = d.input(f16, 300);
  const auto y = d.output(f16, 300);
  const Value i = d.axis(300);
  const Value element = d.load(x, i);
  const Value square = d.apply(Function::mul, {element, element});
  const Value sum = d.apply(Function::add, {square, element});
  const Value root = d.apply(Function::sqrt, {sum});
  d.kernel.body = {loop({0}, define({element, square, sum, root}) + set(y, i, root))};
  for (const bool is_vectorised : {false, true}) {
    d.kernel.vector_axis = is_vectorised ? std::optional<Axis>(0) : std::nullopt;
    std::vector<float16> from, to(300);
    for (const float element : random_floats(300)) from.emplace_back(element);
    launch(d.kernel, from, to);
    bool differs = false;
    for (std::size_t k = 0; k < to.size(); ++k) {
      const float16 x2(from[k] * from[k]);
      const float16 want(std::sqrt(static_cast<float>(float16(x2 + from[k]))));
      const float16 once(std::sqrt(from[k] * from[k] + from[k]));
      if (!std::isnan(static_cast<float>(want))) {
        EXPECT_EQ(to[k].bits, want.bits);
      }
      differs |= want.bits != once.bits;
    }
    EXPECT_TRUE(differs) << "the test shows nothing";
  }
}

TEST(Interpreter, local_buffers_keep_what_a_later_loop_reads) {
  // y[r, c] = x[r, 19 − c]·2, by way of a buffer that each row uses again.
  KernelDraft d;
  const auto x = d.input(f64, 3 * 20);
  const auto y = d.output(f64, 3 * 20);
  const Value row = d.axis(3);
  const Value column = d.axis(20);
  const Value start = d.times(row, 20);
  const Value index = d.plus(start, column);
  const Value element = d.load(x, index);
  const Value twice = d.apply(Function::add, {element, element});
  const Value negative = d.times(column, -1);
  const Value back = d.plus(negative, d.index(19));
  const auto kept = d.local(f64, 20);
  const Value recalled = d.load(kept, back);
  d.kernel.body = {loop(
      {0}, define({start}) + loop({1}, define({index, element, twice}) + set(kept, column, twice)) +
               loop({1}, define({index, negative, back, recalled}) + set(y, index, recalled)))};
  for (const bool is_vectorised : {false, true}) {
    d.kernel.vector_axis = is_vectorised ? std::optional<Axis>(1) : std::nullopt;
    std::vector<double> from(60), to(60);
    for (std::size_t k = 0; k < 60; ++k) from[k] = static_cast<double>(k);
    launch(d.kernel, from, to);
    for (std::size_t k = 0; k < 60; ++k)
      EXPECT_EQ(to[k], 2.0 * static_cast<double>(k / 20 * 20 + 19 - k % 20));
  }
}

TEST(Interpreter, small_axes_may_be_unrolled) {
  // The determinant of 2×2 matrices, one a lane.
  KernelDraft d;
  const auto x = d.input(f32, 4 * 130);
  const auto y = d.output(f32, 130);
  const Value i = d.axis(130);
  const Value first = d.times(i, 4);
  std::vector<Value> computed{first};
  std::vector<Value> entries;
  for (std::int64_t k = 0; k < 4; ++k) {
    const Value index = d.plus(first, d.index(k));
    entries.push_back(d.load(x, index));
    computed.insert(computed.end(), {index, entries.back()});
  }
  const Value ad = d.apply(Function::mul, {entries[0], entries[3]});
  const Value bc = d.apply(Function::mul, {entries[1], entries[2]});
  const Value determinant = d.apply(Function::sub, {ad, bc});
  computed.insert(computed.end(), {ad, bc, determinant});
  d.kernel.body = {loop({0}, define(computed) + set(y, i, determinant))};
  d.kernel.vector_axis = 0;
  std::vector<float> from = random_floats(4 * 130), to(130);
  launch(d.kernel, from, to);
  for (std::size_t k = 0; k < 130; ++k) {
    const float* m = &from[4 * k];
    const float left = m[0] * m[3];
    const float right = m[1] * m[2];
    EXPECT_EQ(to[k], left - right);
  }
}

/// y[i] = x[i] + 1
Kernel successor(std::int64_t n) {
  KernelDraft d;
  const auto x = d.input(f32, n);
  const auto y = d.output(f32, n);
  const Value i = d.axis(n);
  const Value element = d.load(x, i);
  const Value more = d.apply(Function::add, {element, d.constant(1.0f)});
  d.kernel.body = {loop({0}, define({element, more}) + set(y, i, more))};
  d.kernel.vector_axis = 0;
  d.kernel.is_splittable = true;
  return d.kernel;
}

TEST(Interpreter, a_result_may_take_the_place_of_its_operand) {
  const Kernel kernel = successor(1000);
  const auto code = cpu::interpret({&kernel, 1});
  std::vector<float> x(1000, 5);
  std::byte* const pointers[] = {reinterpret_cast<std::byte*>(x.data()),
                                 reinterpret_cast<std::byte*>(x.data())};
  cpu::FailureRecord record;
  code->launch(0, pointers, 0, 1000, record);
  EXPECT_EQ(x, std::vector<float>(1000, 6));
}

TEST(Interpreter, parts_touch_their_positions_only) {
  const Kernel kernel = successor(1000);
  const auto code = cpu::interpret({&kernel, 1});
  std::vector<float> x(1000, 5), y(1000, 0);
  std::byte* const pointers[] = {reinterpret_cast<std::byte*>(x.data()),
                                 reinterpret_cast<std::byte*>(y.data())};
  cpu::FailureRecord record;
  code->launch(0, pointers, 10, 10, record);
  EXPECT_EQ(y, std::vector<float>(1000, 0));
  code->launch(0, pointers, 3, 901, record);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], i >= 3 && i < 901 ? 6 : 0) << i;
}

TEST(Interpreter, launches_allocate_nothing_once_a_thread_has_its_memory) {
  const Kernel kernels[] = {softmax(5, 700), column_sums(f32, 70, 300), checked_gather(500)};
  const auto code = cpu::interpret(kernels);
  std::vector<float> x = random_floats(5 * 700 + 70 * 300), y(x.size());
  std::vector<std::int64_t> places(500, 3);
  std::byte* const two[] = {reinterpret_cast<std::byte*>(x.data()),
                            reinterpret_cast<std::byte*>(y.data())};
  std::byte* const three[] = {two[0], reinterpret_cast<std::byte*>(places.data()), two[1]};
  cpu::FailureRecord record;
  const auto run = [&] {
    code->launch(0, two, 0, 5, record);
    code->launch(1, two, 0, 300, record);
    code->launch(2, three, 0, 0, record);
  };
  run();
  const std::int64_t before = allocations;
  for (int i = 0; i < 10; ++i) run();
  EXPECT_EQ(allocations, before);
}

TEST(Interpreter, says_what_it_is_and_refuses_what_is_not_well_formed) {
  Kernel kernel = softmax(2, 8);
  const auto code = cpu::interpret({&kernel, 1});
  EXPECT_EQ(code->describe(), "interpreter");
  EXPECT_EQ(code->source(0), "");
  EXPECT_EQ(code->plan(), nullptr);
  kernel.vector_axis = 0;
  kernel.nodes.pop_back();
  EXPECT_THROW(cpu::interpret({&kernel, 1}), Bug);
}

TEST(ScalarRows, there_is_one_for_each_function_and_dtype_that_kernels_may_have) {
  for (std::size_t i = 0; i < nest::function_count; ++i) {
    const auto function = static_cast<Function>(i);
    for (const Dtype dtype : all_dtypes) {
      bool is_there = false;
      if (function == Function::polygamma) {
        is_there = cpu::polygamma_row_of(dtype) != nullptr;
      } else if (function == Function::log_gamma_slope) {
        is_there = cpu::log_gamma_slope_row_of(dtype) != nullptr;
      } else if (function == Function::select) {
        is_there = cpu::select_row_of(dtype) != nullptr;
      } else if (function == Function::fma) {
        is_there = cpu::fma_row_of(dtype) != nullptr;
      } else if (nest::arity_of(function) == 1) {
        is_there = cpu::unary_row_of(function, dtype) != nullptr;
      } else {
        is_there = cpu::binary_row_of(function, dtype) != nullptr;
      }
      EXPECT_EQ(is_there, nest::takes(function, dtype)) << name_of(function) << " " << dtype.name();
    }
  }
}

}  // namespace
}  // namespace hom::testing
