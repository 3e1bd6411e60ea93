// tests/unit/nest_text_test.cc -- what kernels look like, what they do, and their functions
#include "nest_support.h"
#include <gtest/gtest.h>

#include <hom/backends/nests/nest_functions.h>
#include <hom/backends/nests/plan.h>
#include <hom/core/primitive.h>

namespace hom::testing {
namespace {

TEST(KernelText, reads_as_loops) {
  EXPECT_EQ(to_string(softmax(3, 128)),
            "softmax(x: read f32[384], y: write f32[384])\n"
            "  axes a0 < 3, a1 < 128 (vector)\n"
            "  split along a0\n"
            "  for a0\n"
            "    for a1, v5 = max(v4)\n"
            "      v3 = 128·a0 + a1\n"
            "      v4 = x[v3]\n"
            "    for a1, v8 = sum(v7)\n"
            "      v3 = 128·a0 + a1\n"
            "      v4 = x[v3]\n"
            "      v6 = sub(v4, v5)\n"
            "      v7 = exp(v6)\n"
            "    for a1\n"
            "      v3 = 128·a0 + a1\n"
            "      v4 = x[v3]\n"
            "      v6 = sub(v4, v5)\n"
            "      v7 = exp(v6)\n"
            "      v9 = div(v7, v8)\n"
            "      y[v3] = v9\n");
}

TEST(KernelText, inlines_what_is_used_once_and_shows_every_statement) {
  KernelDraft d;
  d.kernel.name = "all";
  const auto x = d.input(f16, 12);
  const auto y = d.buffer(f16, 9, true, true);
  const auto kept = d.local(f16, 2, "kept");
  const Value i = d.axis(4);
  const Value three = d.times(i, 3);
  const Value one = d.index(1);
  const Value index = d.plus(three, one);
  const Value quotient = d.add({Node::Kind::index_quotient, {}, i64, {index}, 2});
  const Value remainder = d.add({Node::Kind::index_remainder, {}, i64, {i}, 2});
  const Value is_there = d.apply(Function::lt, {i, d.index(3)});
  const Value element = d.load_where(x, quotient, is_there);
  const Value half = d.constant(float16(0.5f));
  const Value state = d.carried(f16);
  const Value next = d.apply(Function::mul, {state, element});
  const Value bits = d.add({Node::Kind::bitcast, {}, u8, {is_there}});
  const Value number = d.convert(i64, bits);
  const Value gamma = d.add({Node::Kind::apply, Function::polygamma, f16, {next}, 2});
  d.kernel.failures.push_back({7, 0});
  d.kernel.body = {
      {Loop{.axes = {0},
            .carries = {{state, half, next}},
            .reverse = true,
            .body = define({three, index, quotient, remainder, is_there, element, next, bits,
                            number, gamma}) +
                    nest::Statement{Store{y, remainder, gamma, Combine::sum, is_there}} +
                    set(kept, d.index(0), next) + nest::Statement{Check{is_there, number, 0}}}}};
  verify(d.kernel);
  EXPECT_EQ(to_string(d.kernel),
            "all(b0: read f16[12], b1: read write f16[9])\n"
            "  local kept: f16[2]\n"
            "  axes a0 < 4\n"
            "  for a0 down, v10 from 0.5 to v11\n"
            "    v7 = lt(a0, 3)\n"
            "    v8 = b0[⌊(3·a0 + 1)/2⌋] where v7\n"
            "    v11 = mul(v10, v8)\n"
            "    v12 = bits as u8(v7)\n"
            "    v13 = i64(v12)\n"
            "    v14 = polygamma{2}(v11)\n"
            "    b1[(a0 mod 2)] = sum(it, v14) where v7\n"
            "    kept[0] = v11\n"
            "    check v7, else failure 0 with v13\n");
}

TEST(KernelText, names_buffers_apart) {
  KernelDraft d;
  d.kernel.name = "twice";
  d.input(f32, 1, "x");
  d.output(f64, 1, "x");
  EXPECT_EQ(to_string(d.kernel), "twice(x: read f32[1], x#1: write f64[1])\n");
}

TEST(KernelWork, counts_functions_and_the_memory_that_a_perfect_cache_moves) {
  const nest::Work work = work_of(softmax(3, 128));
  // sub and exp twice, div once, two reductions.
  EXPECT_EQ(work.flops, 3 * 128 * (2 + 2 + 1 + 2));
  // x is read three times, and counts once.
  EXPECT_EQ(work.bytes_read, 3 * 128 * 4);
  EXPECT_EQ(work.bytes_written, 3 * 128 * 4);

  KernelDraft d;  // one element of many, and a local buffer
  const auto x = d.input(f64, 1000);
  const auto y = d.buffer(f64, 1000, true, true);
  const auto kept = d.local(f64, 4);
  const Value i = d.axis(5);
  const Value element = d.load(x, i);
  d.kernel.body = {loop({0}, define({element}) + set(kept, d.index(0), element) +
                                 combine(y, d.index(9), element, Combine::sum))};
  const nest::Work few = work_of(d.kernel);
  EXPECT_EQ(few.flops, 5);
  EXPECT_EQ(few.bytes_read, 2 * 5 * 8);
  EXPECT_EQ(few.bytes_written, 5 * 8);
}

TEST(VectorValues, follow_operands_terms_and_states) {
  const Kernel kernel = softmax(3, 128);
  // Nodes in the order of `softmax`: results of loops along the vector axis are scalars.
  EXPECT_EQ(vector_values(kernel),
            (std::vector<bool>{false, true, false, true, true, false, true, true, false, true}));

  KernelDraft d;
  const auto x = d.input(f32, 50);
  const Value lane = d.axis(10);
  const Value i = d.axis(5);
  const Value index = d.plus(lane, d.times(i, 10));
  const Value element = d.load(x, index);
  const Value state = d.carried(f32);
  const Value next = d.apply(Function::add, {state, element});
  const Value count = d.carried(i64);
  const Value more = d.plus(count, d.index(1));
  const Value sum = d.reduced(f32);
  d.kernel.body = {loop(
      {0},
      {{Loop{.axes = {1},
             .reductions = {{Combine::sum, element, sum}},
             .carries = {{state, d.constant(0.0f), next}, {count, d.index(0), more}},
             .body = define({d.kernel.nodes[index].operands[1], index, element, next, more})}}})};
  d.kernel.vector_axis = 0;
  verify(d.kernel);
  const std::vector<bool> varies = vector_values(d.kernel);
  for (const Value value : {lane, index, element, state, next, sum}) EXPECT_TRUE(varies[value]);
  for (const Value value : {i, count, more}) EXPECT_FALSE(varies[value]);
  d.kernel.vector_axis = std::nullopt;
  EXPECT_EQ(vector_values(d.kernel), std::vector<bool>(d.kernel.nodes.size(), false));
}

TEST(KernelFunctions, are_primitives_of_their_name) {
  for (std::size_t i = 0; i < nest::function_count; ++i) {
    const auto function = static_cast<Function>(i);
    if (function <= Function::select) {
      EXPECT_EQ(nest::function_named(name_of(function)), function);
      EXPECT_NO_THROW(standard_primitives().find(name_of(function)));
    }
    EXPECT_GE(nest::cost_of(function), 1) << name_of(function);
  }
  EXPECT_EQ(nest::function_named("reshape"), std::nullopt);
  EXPECT_EQ(nest::function_named("fma"), std::nullopt);
  EXPECT_EQ(nest::arity_of(Function::exp), 1);
  EXPECT_EQ(nest::arity_of(Function::log_gamma_slope), 2);
  EXPECT_EQ(nest::arity_of(Function::select), 3);
  EXPECT_LT(nest::cost_of(Function::add), nest::cost_of(Function::div));
  EXPECT_LT(nest::cost_of(Function::div), nest::cost_of(Function::exp));
  EXPECT_LT(nest::cost_of(Function::exp), nest::cost_of(Function::polygamma));
}

TEST(PlanText, shows_buffers_and_instructions) {
  nest::Plan plan;
  plan.kernels.push_back(softmax(2, 4));
  plan.input_count = 1;
  using Place = nest::PlannedBuffer::Place;
  plan.buffers = {{f32[{2, 4}], Place::input, 0, 0, "x"},
                  {f32[{2, 4}], Place::output, 0, 0, "y"},
                  {f32[{2, 4}], Place::temporary, 0, 128, ""},
                  {bool_[{}], Place::constant, 3, 0, "go"}};
  plan.outputs = {1};
  plan.output_types = {f32[{2, 4}]};
  plan.donations = {0};
  plan.arena_bytes = 192;
  plan.live_bytes = 32;
  const nest::Launch launch{0, {{0}, {2, -32, {{0, 32}}}}};
  plan.body = {{nest::Repeat{0, 5, {{launch}, {nest::Copy{{1}, {2, 64}, 32}}}}},
               {nest::While{{{launch}}, {3}, {{launch}}, 9}},
               {nest::Branch{{3}, {{launch}}, {}}}};
  EXPECT_EQ(to_string(plan),
            "plan of 1 inputs, 1 outputs, 1 kernels, 0 routines; arena 192 bytes, 32 live\n"
            "  b0 x: f32[2, 4], input 0\n"
            "  b1 y: f32[2, 4], output 0\n"
            "  b2: f32[2, 4], temporary at 128\n"
            "  b3 go: bool[], constant 3\n"
            "  return b1 (in input 0 where it is donated)\n"
            "\n"
            "  repeat l0, 5 times\n"
            "    softmax(b0, b2 - 32 + 32·l0)\n"
            "    b1 = b2 + 64, 32 bytes\n"
            "  loop, at most 9 times\n"
            "    softmax(b0, b2 - 32 + 32·l0)\n"
            "  while b3\n"
            "    softmax(b0, b2 - 32 + 32·l0)\n"
            "  if b3\n"
            "    softmax(b0, b2 - 32 + 32·l0)\n"
            "  else\n");
}

TEST(Routine, computes_rows_only_where_it_can) {
  struct Whole : nest::Routine {
    void run(std::span<const std::byte* const>, std::span<std::byte* const>,
             std::byte*) const override {}
    std::string describe() const override { return "nothing by nobody"; }
    nest::Work work() const override { return {}; }
  };
  const Whole routine;
  EXPECT_FALSE(routine.has_rows());
  EXPECT_THROW(routine.run_rows({}, nullptr, nullptr, 0, 1), Bug);
}

}  // namespace
}  // namespace hom::testing
