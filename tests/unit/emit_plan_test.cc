// tests/unit/emit_plan_test.cc -- a plan as one native function: loops, branches, copies, calls
#include <array>
#include <cstdint>
#include <stdexcept>

#include "emit_cpp_support.h"

namespace hom::testing {
namespace {

using nest::Address;
using nest::Function;
using nest::Node;
using nest::Value;

/// to[0] = function(a[0], b[0]) of i64 numbers.
nest::Kernel number_kernel(Function function, Dtype result) {
  KernelSketch sketch;
  const std::uint32_t a = sketch.buffer(i64, 1, false);
  const std::uint32_t b = sketch.buffer(i64, 1, false);
  const std::uint32_t to = sketch.buffer(result, 1, true);
  nest::Block& body = sketch.kernel.body;
  const Value first = sketch.node(Node::Kind::constant, i64);
  const Value x = sketch.load(body, a, first);
  const Value y = sketch.load(body, b, first);
  const Value value = sketch.apply(body, function, result, {x, y});
  body.push_back({nest::Store{to, first, value}});
  return sketch.kernel;
}

/// Runs a plan of i64 buffers as one function.
void run_plan(const nest::Plan& plan, std::vector<std::vector<std::int64_t>>& buffers,
              cpu::PlanHost& host) {
  const cpu::NativeCode native = cpu::native_code(plan);
  ASSERT_NE(native.code, nullptr) << native.why_not;
  std::vector<std::byte*> pointers;
  for (auto& buffer : buffers) pointers.push_back(reinterpret_cast<std::byte*>(buffer.data()));
  native.code->plan()(pointers.data(), &host);
}

TEST(emitted_plan, repeats_with_moving_addresses) {
  // Fibonacci's numbers: b[n + 2] = b[n] + b[n + 1], then backwards into another buffer.
  nest::Plan plan;
  plan.kernels = {number_kernel(Function::add, i64)};
  plan.loop_count = 2;
  const auto at = [](std::uint32_t buffer, std::int64_t offset, nest::LoopId loop,
                     std::int64_t stride) { return Address{buffer, offset, {{loop, stride}}}; };
  nest::Repeat sums{0, 10, {}};
  sums.body.push_back({nest::Launch{0, {at(0, 0, 0, 8), at(0, 8, 0, 8), at(0, 16, 0, 8)}}});
  nest::Repeat backwards{1, 12, {}};
  backwards.body.push_back({nest::Copy{at(1, 88, 1, -8), at(0, 0, 1, 8), 8}});
  plan.body = {{sums}, {backwards}};
  std::vector<std::vector<std::int64_t>> buffers{{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                                 std::vector<std::int64_t>(12)};
  cpu::PlanHost host{};
  run_plan(plan, buffers, host);
  EXPECT_EQ(buffers[0], (std::vector<std::int64_t>{0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89}));
  EXPECT_EQ(buffers[1], (std::vector<std::int64_t>{89, 55, 34, 21, 13, 8, 5, 3, 2, 1, 1, 0}));
}

/// while (x < limit) x = x + step, at most `bound` times.
std::int64_t counted(std::int64_t limit, std::int64_t step, std::int64_t bound) {
  nest::Plan plan;
  plan.kernels = {number_kernel(Function::lt, bool_), number_kernel(Function::add, i64)};
  nest::While loop;
  loop.condition.push_back({nest::Launch{0, {{0}, {1}, {3}}}});
  loop.predicate = {3};
  loop.body.push_back({nest::Launch{1, {{0}, {2}, {0}}}});
  loop.bound = bound;
  plan.body = {{loop}};
  std::vector<std::vector<std::int64_t>> buffers{{0}, {limit}, {step}, {0}};
  cpu::PlanHost host{};
  run_plan(plan, buffers, host);
  return buffers[0][0];
}

TEST(emitted_plan, runs_while_a_condition_holds_and_up_to_its_bound) {
  EXPECT_EQ(counted(10, 3, -1), 12);
  EXPECT_EQ(counted(0, 3, -1), 0);
  EXPECT_EQ(counted(10, 3, 2), 6);
  EXPECT_EQ(counted(10, 3, 0), 0);
}

TEST(emitted_plan, takes_one_branch) {
  for (const bool condition : {false, true}) {
    nest::Plan plan;
    nest::Branch branch;
    branch.predicate = {0};
    branch.then.push_back({nest::Copy{{3}, {1}, 8}});
    branch.otherwise.push_back({nest::Copy{{3}, {2}, 8}});
    nest::Branch without;
    without.predicate = {0};
    without.then.push_back({nest::Copy{{4}, {1}, 8}});
    plan.body = {{branch}, {without}};
    std::vector<std::vector<std::int64_t>> buffers{{condition}, {5}, {6}, {0}, {0}};
    cpu::PlanHost host{};
    run_plan(plan, buffers, host);
    EXPECT_EQ(buffers[3][0], condition ? 5 : 6);
    EXPECT_EQ(buffers[4][0], condition ? 5 : 0);
  }
}

/// Writes what it is called with.
struct RecordingHost : cpu::PlanHost {
  std::vector<std::array<std::int64_t, 5>> calls;
  bool fails = false;

  RecordingHost() : PlanHost{&RecordingHost::run, nullptr, nullptr} {}
  static void run(PlanHost* host, std::uint32_t number, std::byte* const* operands,
                  std::byte* const* results, std::byte* scratch, std::byte* const* epilogue) {
    auto& self = *static_cast<RecordingHost*>(host);
    const auto value = [](const std::byte* at) {
      return at == nullptr ? -1 : *reinterpret_cast<const std::int64_t*>(at);
    };
    self.calls.push_back({number, value(operands[0]), value(operands[1]), value(scratch),
                          epilogue == nullptr ? -1 : value(epilogue[0])});
    *reinterpret_cast<std::int64_t*>(results[0]) = 100 + number;
    if (self.fails) throw std::runtime_error("the routine fails");
  }
};

TEST(emitted_plan, calls_routines_through_the_host_in_the_order_of_the_text) {
  nest::Plan plan;
  plan.kernels = {number_kernel(Function::add, i64)};
  const nest::Call plain{0, {{0}, {1}}, {{2}}};
  nest::Call full = plain;
  full.scratch = Address{1};
  full.epilogue = nest::Launch{0, {{0}}};
  nest::Branch branch;
  branch.predicate = {3};
  branch.then.push_back({plain});
  branch.otherwise.push_back({full});
  plan.body = {{plain}, {branch}, {full}};
  std::vector<std::vector<std::int64_t>> buffers{{7}, {8}, {0}, {0}};
  RecordingHost host;
  run_plan(plan, buffers, host);
  EXPECT_EQ(host.calls, (std::vector<std::array<std::int64_t, 5>>{
                            {0, 7, 8, -1, -1}, {2, 7, 8, 8, 7}, {3, 7, 8, 8, 7}}));
  EXPECT_EQ(buffers[2][0], 103);
  // Errors of routines pass through native code.
  host.fails = true;
  EXPECT_THROW(run_plan(plan, buffers, host), std::runtime_error);
}

TEST(emitted_plan, records_the_first_failure_of_all_kernels) {
  const auto checked = [](std::int64_t limit) {
    KernelSketch sketch;
    sketch.buffer(i64, 40, false);
    sketch.kernel.failures = {{}, {}};
    sketch.kernel.axes = {40};
    sketch.kernel.vector_axis = 0;
    nest::Loop loop;
    loop.axes = {0};
    const Value x = sketch.load(loop.body, 0, sketch.position(0));
    const Value most = sketch.node(Node::Kind::constant, i64, {}, limit);
    const Value ok = sketch.apply(loop.body, Function::lt, bool_, {x, most});
    loop.body.push_back({nest::Check{ok, x, 1}});
    sketch.kernel.body.push_back({loop});
    return sketch.kernel;
  };
  nest::Plan plan;
  plan.kernels = {checked(1000), checked(25), checked(10)};
  plan.body = {{nest::Launch{0, {{0}}}}, {nest::Launch{1, {{0}}}}, {nest::Launch{2, {{0}}}}};
  std::vector<std::vector<std::int64_t>> buffers{{}};
  for (std::int64_t i = 0; i < 40; ++i) buffers[0].push_back(i);
  cpu::PlanHost host{};
  run_plan(plan, buffers, host);
  EXPECT_EQ(host.record.failure, 1 + 2 + 1);
  EXPECT_EQ(host.record.value, 25);
}

TEST(emitted_source, names_the_lines_that_a_kernel_comes_from) {
  nest::Plan plan;
  plan.kernels = {number_kernel(Function::add, i64)};
  plan.kernels[0].name = "add_numbers";
  plan.kernels[0].buffers[0].label = "left\nint injected;\\";
  plan.kernels[0].nodes.back().step = 0;
  nest::Origin origin;
  origin.primitive = "add";
  origin.at = Location::current();
  origin.scope = "forward";
  plan.origins = {origin};
  const cpu::NativeCode native = cpu::native_code(plan);
  ASSERT_NE(native.code, nullptr) << native.why_not;
  const std::string source = native.code->source(0);
  EXPECT_NE(source.find("// kernel 0, add_numbers\n"), std::string::npos) << source;
  EXPECT_NE(source.find(to_string(origin.at) + ", in `forward`: add\n"), std::string::npos)
      << source;
  EXPECT_NE(source.find("// left?int injected;?\n"), std::string::npos) << source;
}

}  // namespace
}  // namespace hom::testing
