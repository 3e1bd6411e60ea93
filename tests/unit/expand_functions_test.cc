// tests/unit/expand_functions_test.cc -- functions that are spelled out mean what they did
#include <hom/backends/nests/expand_functions.h>

#include <algorithm>

#include "nest_support.h"
#include <gtest/gtest.h>

namespace hom::testing {
namespace {

/// y[i] = f(x[i]) …, of each value that `make` gives.
template <class Make>
Kernel map(Dtype dtype, Make make) {
  KernelDraft d;
  const Value i = d.axis(100);
  d.kernel.vector_axis = 0;
  const std::uint32_t x = d.input(dtype, 100, "x");
  const Value element = d.load(x, i);
  std::vector<Value> defined{element};
  std::vector<Value> results = make(d, element);
  defined.insert(defined.end(), results.begin(), results.end());
  Block body = define(defined);
  for (const Value result : results) body = body + set(d.output(dtype, 100), i, result);
  d.kernel.body = {loop({0}, body)};
  return d.kernel;
}

std::size_t count(const Kernel& kernel, Function function) {
  return static_cast<std::size_t>(
      std::count_if(kernel.nodes.begin(), kernel.nodes.end(), [&](const Node& node) {
        return node.kind == Node::Kind::apply && node.function == function;
      }));
}

/// Definitions in all blocks.
std::size_t definitions(const Kernel& kernel) {
  const Loop& loop = std::get<Loop>(kernel.body[0].is);
  return static_cast<std::size_t>(
      std::count_if(loop.body.begin(), loop.body.end(), [](const nest::Statement& statement) {
        return std::holds_alternative<Define>(statement.is);
      }));
}

TEST(ExpandFunctions, gives_well_formed_kernels_of_plain_arithmetic) {
  for (std::size_t f = 0; f < nest::function_count; ++f) {
    const auto function = static_cast<Function>(f);
    if (!nest::is_expanded(function)) continue;
    for (const Dtype dtype : {f16, bf16, f32, f64}) {
      const Kernel kernel = expanded(map(dtype, [&](KernelDraft& d, Value x) {
        return std::vector{nest::arity_of(function) == 1 ? d.apply(function, {x})
                                                         : d.apply(function, {x, x})};
      }));
      ASSERT_NO_THROW(verify(kernel)) << name_of(function);
      const Loop& loop = std::get<Loop>(kernel.body[0].is);
      for (const nest::Statement& statement : loop.body) {
        const auto* define = std::get_if<Define>(&statement.is);
        if (define == nullptr) continue;
        const Node& node = kernel.nodes[define->value];
        EXPECT_TRUE(node.kind != Node::Kind::apply || !nest::is_expanded(node.function));
      }
    }
  }
}

TEST(ExpandFunctions, shares_what_functions_have_in_common) {
  const auto one = [](Function function) {
    return definitions(expanded(
        map(f64, [&](KernelDraft& d, Value x) { return std::vector{d.apply(function, {x})}; })));
  };
  const auto two = [](Function a, Function b) {
    return definitions(expanded(map(f64, [&](KernelDraft& d, Value x) {
      return std::vector{d.apply(a, {x}), d.apply(b, {x})};
    })));
  };
  // One reduction of the angle, both polynomials.
  EXPECT_LT(two(Function::sin, Function::cos), one(Function::sin) + 15);
  EXPECT_EQ(two(Function::exp, Function::exp), one(Function::exp));
  EXPECT_LT(two(Function::sinh, Function::cosh), one(Function::sinh) + one(Function::cosh) - 20);
}

TEST(ExpandFunctions, guards_what_is_rare) {
  const Kernel kernel = expanded(
      map(f32, [](KernelDraft& d, Value x) { return std::vector{d.apply(Function::sin, {x})}; }));
  EXPECT_EQ(count(kernel, Function::far_sin), 1U);
}

TEST(ExpandFunctions, keeps_functions_that_it_does_not_know) {
  const Kernel kernel =
      map(f64, [](KernelDraft& d, Value x) { return std::vector{d.apply(Function::lgamma, {x})}; });
  EXPECT_EQ(to_string(expanded(kernel)), to_string(kernel));
}

}  // namespace
}  // namespace hom::testing
