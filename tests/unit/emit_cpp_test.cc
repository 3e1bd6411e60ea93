// tests/unit/emit_cpp_test.cc -- emitted functions, conversions, loads and stores give the bits of
// the eager executor, on every target that this processor runs
#include "emit_cpp_support.h"

#include <hom/backends/nests/nest_functions.h>
#include <hom/core/operations/shaping.h>

namespace hom::testing {
namespace {

using nest::Function;
using nest::Kernel;
using nest::Node;
using nest::Value;

class emitted_cpp : public ::testing::TestWithParam<cpu::Target> {};

/// Not a multiple of any number of lanes, and more than the most of them.
constexpr std::int64_t size = 203;

/// Edges of the dtype, then random elements; exponents of integers are not negative.
template <Element T>
Tensor edges_and_others(Random& random, std::size_t operand, bool is_exponent) {
  std::vector<T> edges;
  if constexpr (dtype_of<T>().is_float()) {
    using Limits = std::numeric_limits<std::conditional_t<sizeof(T) == 8, double, float>>;
    const double tiny = sizeof(T) == 2 ? (std::same_as<T, float16> ? 0x1p-24 : 0x1p-133)
                                       : static_cast<double>(Limits::denorm_min());
    for (const double x :
         {0.0, 1.0, 0.5, 1.5, 2.5, 0.49999997, 0.3, 1e-5, 3.0, 1e4, 1e30, tiny,
          static_cast<double>(Limits::max()), static_cast<double>(Limits::infinity()),
          static_cast<double>(Limits::quiet_NaN())}) {
      edges.push_back(narrow<T>(x));
      edges.push_back(narrow<T>(-x));
    }
  } else if constexpr (std::same_as<T, bool>) {
    edges = {false, true};
  } else {
    using Limits = std::numeric_limits<T>;
    edges = {T(0),
             T(1),
             T(2),
             T(-1),
             T(7),
             T(8),
             T(31),
             T(32),
             T(63),
             T(64),
             T(65),
             Limits::min(),
             T(Limits::min() + 1),
             Limits::max(),
             T(Limits::max() - 1)};
  }
  auto array = Array::allocate(dtype_of<T>()[{size}]);
  T* data = reinterpret_cast<T*>(array->buffer->data());
  const std::size_t n = edges.size();
  for (std::size_t i = 0; i < size; ++i) {
    // The first operand runs through the edges, the second meets each with several.
    const std::size_t at = operand == 0 ? i % n : (i / n * 7 + i) % n;
    T value = i < 180 ? edges[at] : random_element<T>(random);
    if (operand == 2) value = random_element<T>(random);
    if constexpr (!dtype_of<T>().is_float()) {
      if (is_exponent && value < T{}) value = T(1);
    }
    data[i] = value;
  }
  return Tensor(std::move(array));
}

Tensor operand_of(Dtype dtype, Random& random, std::size_t operand, bool is_exponent = false) {
  return visit(dtype, [&]<class T>() { return edges_and_others<T>(random, operand, is_exponent); });
}

/// result[i] = function(operands[i] …), or of one operand without its position: `uniform`.
Kernel map_kernel(Function function, const std::vector<Tensor>& operands, Dtype result,
                  std::int64_t parameter, std::size_t uniform) {
  KernelSketch sketch;
  for (const Tensor& operand : operands) sketch.buffer(operand.dtype(), size, false);
  const std::uint32_t to = sketch.buffer(result, size, true);
  nest::Loop loop;
  loop.axes = {sketch.axis(size)};
  sketch.kernel.vector_axis = 0;
  const Value i = sketch.position(0);
  const Value first = sketch.node(Node::Kind::constant, i64);
  SmallVector<Value, 3> values;
  for (std::uint32_t k = 0; k < operands.size(); ++k)
    values.push_back(sketch.load(loop.body, k, k == uniform ? first : i));
  const Value value = sketch.apply(loop.body, function, result, values, parameter);
  loop.body.push_back({nest::Store{to, i, value}});
  sketch.kernel.body.push_back({loop});
  sketch.kernel.is_splittable = true;
  return sketch.kernel;
}

void add_function(KernelBatch& batch, Random& random, Function function, Dtype dtype,
                  std::size_t uniform) {
  std::vector<Tensor> operands;
  const bool is_select = function == Function::select;
  const int arity = nest::arity_of(function);
  if (is_select) operands.push_back(operand_of(bool_, random, 2));
  while (static_cast<int>(operands.size()) < arity) {
    const std::size_t k = operands.size() - (is_select ? 1 : 0);
    operands.push_back(operand_of(dtype, random, k, function == Function::pow && k == 1));
  }
  Attributes attributes;
  std::int64_t parameter = 0;
  if (function == Function::polygamma) attributes = {{"n", {parameter = 2}}};
  if (function == Function::log_gamma_slope) attributes = {{"k", {parameter = 1}}};
  TensorList list;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    list.push_back(k == uniform ? broadcast_to(operands[k](0), {size}) : operands[k]);
  }
  const std::string primitive(name_of(function));
  const Tensor wanted = compute(primitive, attributes, std::move(list))[0];
  batch.add(primitive + " of " + std::string(dtype.name()) + ", uniform operand " +
                std::to_string(uniform),
            map_kernel(function, operands, wanted.dtype(), parameter, uniform), operands, {wanted});
}

TEST_P(emitted_cpp, functions_of_every_dtype) {
  Random random(1);
  KernelBatch batch;
  // Those that are primitives; random kernels have the others.
  for (std::size_t f = 0; f <= static_cast<std::size_t>(Function::select); ++f) {
    const auto function = static_cast<Function>(f);
    for (const Dtype dtype : all_dtypes) {
      if (!nest::takes(function, dtype)) continue;
      // No operand uniform, then one of them.
      const auto arity = static_cast<std::size_t>(nest::arity_of(function));
      add_function(batch, random, function, dtype, arity);
      if (arity > 1) add_function(batch, random, function, dtype, random() % arity);
    }
  }
  batch.check(GetParam());
}

/// result[i] = convert(x[i]), or bitcast.
Kernel conversion_kernel(Node::Kind kind, Dtype from, Dtype to) {
  KernelSketch sketch;
  sketch.buffer(from, size, false);
  sketch.buffer(to, size, true);
  nest::Loop loop;
  loop.axes = {sketch.axis(size)};
  sketch.kernel.vector_axis = 0;
  const Value i = sketch.position(0);
  const Value x = sketch.load(loop.body, 0, i);
  const Value value = sketch.define(loop.body, kind, to, {x});
  loop.body.push_back({nest::Store{1, i, value}});
  sketch.kernel.body.push_back({loop});
  return sketch.kernel;
}

TEST_P(emitted_cpp, conversions_between_all_dtypes) {
  Random random(2);
  KernelBatch batch;
  for (const Dtype from : all_dtypes) {
    for (const Dtype to : all_dtypes) {
      const std::string pair =
          " from " + std::string(from.name()) + " to " + std::string(to.name());
      const Tensor x = operand_of(from, random, 0);
      batch.add("convert" + pair, conversion_kernel(Node::Kind::convert, from, to), {x},
                {run("convert", {{"dtype", {to}}}, x)});
      if (from.size() != to.size() || from.is_bool() != to.is_bool()) continue;
      batch.add("bitcast" + pair, conversion_kernel(Node::Kind::bitcast, from, to), {x},
                {row_major(run("bitcast", {{"dtype", {to}}}, x))});
    }
  }
  batch.check(GetParam());
}

/// Conversions meet every float between two edges of an integer range too.
TEST_P(emitted_cpp, every_16_bit_float_converts) {
  KernelBatch batch;
  for (const Dtype from : {f16, bf16}) {
    std::vector<std::int32_t> bits(1 << 16);
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::int32_t>(i);
    auto array = Array::allocate(from[{1 << 16}]);
    auto* data = reinterpret_cast<std::uint16_t*>(array->buffer->data());
    for (std::size_t i = 0; i < bits.size(); ++i) data[i] = static_cast<std::uint16_t>(i);
    const Tensor x{std::shared_ptr<const Array>(array)};
    for (const Dtype to : {f32, f16, bf16, i8, u32}) {
      Kernel kernel = conversion_kernel(Node::Kind::convert, from, to);
      kernel.axes[0] = 1 << 16;
      batch.add("all of " + std::string(from.name()) + " to " + std::string(to.name()), kernel, {x},
                {run("convert", {{"dtype", {to}}}, x)});
    }
  }
  batch.check(GetParam());
}

/// y[i·step + first] = x[i·step' + first'], for strides of all kinds.
TEST_P(emitted_cpp, strides_of_loads_and_stores) {
  Random random(3);
  KernelBatch batch;
  for (const Dtype dtype : {bool_, i8, f16, f32, i64}) {
    for (const std::int64_t step : {1, -1, 3, 0}) {
      for (const std::int64_t to_step : {1, -1, 2}) {
        constexpr std::int64_t n = 45;
        KernelSketch sketch;
        sketch.buffer(dtype, 3 * n, false);
        sketch.buffer(dtype, 2 * n, true);
        nest::Loop loop;
        loop.axes = {sketch.axis(n)};
        sketch.kernel.vector_axis = 0;
        const Value i = sketch.position(0);
        const auto moved = [&](std::int64_t by) {
          const Value scaled = sketch.define(loop.body, Node::Kind::index_scale, i64, {i}, by);
          const Value first =
              sketch.node(Node::Kind::constant, i64, {}, by < 0 ? -by * (n - 1) : 0);
          return sketch.define(loop.body, Node::Kind::index_add, i64, {scaled, first});
        };
        const Value x = sketch.load(loop.body, 0, moved(step));
        // What is stored nowhere keeps what was there, so everything is.
        loop.body.push_back({nest::Store{1, moved(to_step), x}});
        const Tensor input =
            visit(dtype, [&]<class T>() { return random_row<T>(random, Shape{3 * n}); });
        nest::Loop fill;
        fill.axes = {sketch.axis(2 * n)};
        const Value zero = sketch.node(Node::Kind::constant, dtype);
        fill.body.push_back({nest::Store{1, sketch.position(1), zero}});
        sketch.kernel.body = {{fill}, {loop}};
        const Tensor wanted = visit(dtype, [&]<class T>() {
          const std::vector<T> all = elements<T>(input);
          Grid<T> result(Shape{2 * n}, T{});
          for (std::int64_t k = 0; k < n; ++k) {
            result.at({to_step * k + (to_step < 0 ? n - 1 : 0)}) =
                all[static_cast<std::size_t>(step * k + (step < 0 ? n - 1 : 0))];
          }
          auto array = Array::allocate(dtype[{2 * n}]);
          for (std::size_t k = 0; k < 2 * n; ++k)
            reinterpret_cast<T*>(array->buffer->data())[k] = result.values[k];
          return Tensor(std::move(array));
        });
        batch.add(std::string(dtype.name()) + " by " + std::to_string(step) + " to " +
                      std::to_string(to_step),
                  sketch.kernel, {input}, {wanted});
      }
    }
  }
  batch.check(GetParam());
}

INSTANTIATE_TEST_SUITE_P(targets, emitted_cpp, ::testing::ValuesIn(cpu::host_targets()),
                         target_name);

}  // namespace
}  // namespace hom::testing
