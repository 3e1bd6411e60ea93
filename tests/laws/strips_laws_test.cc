// tests/laws/strips_laws_test.cc -- batches run strip by strip give the bits of whole batches
//
// The same plan with strips and without them, by all kinds of code and on several threads.
#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/executable.h>
#include <hom/backends/cpu/jit/interpreter.h>
#include <hom/backends/cpu/jit/native_code.h>
#include <hom/backends/cpu/jit/x86_code.h>
#include <hom/backends/cpu/routines/routine.h>
#include <hom/backends/nests/memory_plan.h>
#include <hom/backends/nests/sharing.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/hom.h>
#include <hom/tests/laws/plan_reference.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

class Threads {
 public:
  explicit Threads(int n) { set_threads(n); }
  ~Threads() { set_threads(0); }
};

std::int64_t strips_in(const nest::Instructions& instructions) {
  std::int64_t count = 0;
  for (const nest::Instruction& instruction : instructions) {
    if (std::holds_alternative<nest::Strips>(instruction.is)) ++count;
    if (const auto* repeat = std::get_if<nest::Repeat>(&instruction.is))
      count += strips_in(repeat->body);
  }
  return count;
}

nest::Plan plan_of(const Program& program, const nest::StripOptions& strips) {
  nest::LowerOptions options;
  options.routine = cpu::routine_for;
  options.takes_layout = cpu::takes_layout;
  options.strips = strips;
  nest::Plan plan = nest::lower(optimise(program), options);
  nest::share_launches(plan, {.least_ns = 0, .piece_ns = 1});
  nest::plan_memory(plan);
  for (const nest::Kernel& kernel : plan.kernels) verify(kernel);
  return plan;
}

constexpr nest::StripOptions never{.least_bytes = INT64_MAX};

enum class Runner : std::uint8_t { interpreter, compiler, machine_code };

std::shared_ptr<const cpu::Code> code_by(Runner runner, const nest::Plan& plan) {
  if (runner == Runner::compiler) return cpu::native_code(plan).code;
  // Other processors have no machine code; what they have instead is run here.
  if (runner == Runner::interpreter || !cpu::x86::is_supported())
    return cpu::interpret(plan.kernels);
  return cpu::x86::machine_code(plan, cpu::x86::machine_target()).code;
}

Tensors run(const cpu::Executable& executable, Tensors inputs, std::size_t outputs) {
  std::vector<cpu::Executable::Input> list;
  for (Tensor& x : inputs) list.emplace_back(&x);
  Tensors results(outputs);
  executable.run(list, results, Location::current());
  return results;
}

/// Strips of the plan that was run.
std::int64_t expect_strips_change_nothing(const Program& program, const Tensors& inputs,
                                          const nest::StripOptions& options, Runner runner) {
  const nest::Plan whole = plan_of(program, never);
  const nest::Plan plan = plan_of(program, options);
  EXPECT_EQ(strips_in(whole.body), 0);
  const std::size_t outputs = program.outputs().size();
  const cpu::Executable expected(whole, code_by(runner, whole));
  const Threads one(1);
  const Tensors want = run(expected, inputs, outputs);
  const cpu::Executable executable(plan, code_by(runner, plan));
  for (const int n : {1, 2, 3}) {
    const Threads threads(n);
    // The second run meets used memory.
    for (int time = 0; time < 2; ++time) {
      EXPECT_EQ(difference_in_bits(run(executable, inputs, outputs), want), "")
          << n << " threads, " << to_text(optimise(program)) << to_string(plan);
    }
  }
  return strips_in(plan.body);
}

/// A scalar of batches of matrices [b, m, k]: products, elementwise steps, reductions within a
/// matrix and over the batch, drawn anew each time that it is called with equal choices.
Tensor drawn(Choices choices, const Tensor& x, const Tensor& y, const Tensor& w) {
  Tensors values{x, y};
  for (int step = 0; step < 8; ++step) {
    const Tensor a = choices.among(values);
    const Tensor b = choices.among(values);
    switch (choices.below(9)) {
      case 0:
      case 1:
        if (a.extent(2) == b.extent(1)) values.push_back(matmul(a, b));
        if (a.extent(2) == b.extent(2)) values.push_back(matmul(a, swap_axes(b, 1, 2)));
        break;
      case 2:
        values.push_back(matmul(swap_axes(a, 1, 2), a));
        break;
      case 3:
        values.push_back(sin(a) * 0.5 + a);
        break;
      case 4:
        values.push_back(a - expand_dims(mean(a, 2), 2));
        break;
      case 5:
        values.push_back(softmax(a, 2));
        break;
      case 6:  // one matrix for all
        if (a.extent(2) == w.extent(0)) values.push_back(matmul(a, w));
        break;
      case 7:
        values.push_back(a - mean(a, 0));
        break;
      default:
        values.push_back(a * expand_dims(sum(a, 1), 1));
    }
  }
  Tensor total = sum(values.back());
  for (const Tensor& value : values) total = total + mean(square(value));
  return total;
}

/// How many of the programs had strips.
int expect_strips_change_nothing(Runner runner, int programs, std::uint64_t seed) {
  int with_strips = 0;
  for (int i = 0; i < programs; ++i) {
    Choices choices(seed + static_cast<std::uint64_t>(i));
    const Dtype dtype = choices.one_in(2) ? f32 : f64;
    const std::int64_t batch = choices.between(1, 12), m = choices.between(1, 24),
                       k = choices.between(7, 30);
    const Choices steps(choices.bits());
    const auto f = [&](const Tensor& x, const Tensor& y, const Tensor& w) {
      return drawn(steps, x, y, w);
    };
    const TensorType x = dtype[{batch, m, k}], y = dtype[{batch, k, k}], w = dtype[{k, m}];
    const Program program =
        choices.one_in(2) ? hom::program(f, x, y, w) : hom::program(grad(f, wrt<0, 1, 2>), x, y, w);
    Tensors inputs;
    for (const TensorType& type : {x, y, w})
      inputs.push_back(random_tensor(type, Domain::tame, choices));
    const nest::StripOptions options{
        .least_bytes = 1, .strip_bytes = choices.one_in(2) ? 1 : 20'000, .array_bytes = 1};
    if (expect_strips_change_nothing(program, inputs, options, runner) > 0) ++with_strips;
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed + static_cast<std::uint64_t>(i);
      break;
    }
  }
  return with_strips;
}

TEST(StripsLaws, random_batches_as_machine_code) {
  EXPECT_GT(expect_strips_change_nothing(Runner::machine_code, 200, 1), 60);
}

TEST(StripsLaws, random_batches_interpreted) {
  EXPECT_GT(expect_strips_change_nothing(Runner::interpreter, 60, 1000), 20);
}

TEST(StripsLaws, random_batches_by_the_compiler) {
  EXPECT_GT(expect_strips_change_nothing(Runner::compiler, 12, 2000), 3);
}

TEST(StripsLaws, strips_in_loops_move_with_them) {
  const auto step = [](const Tensor& state, const Tensor& w) {
    const Tensor next = matmul(tanh(state), w);
    const Tensor scores = softmax(matmul(next, swap_axes(next, 1, 2)), 2);
    return std::pair{matmul(scores, next), sum(scores, 1)};
  };
  const auto f = [&](const Tensor& x, const Tensor& w) { return scan(step, x, w); };
  for (const Dtype dtype : {f32, f64}) {
    const TensorType x = dtype[{6, 10, 12}], w = dtype[{3, 6, 12, 12}];
    Choices choices(7);
    const Tensors inputs{random_tensor(x, Domain::tame, choices),
                         random_tensor(w, Domain::tame, choices)};
    for (const Runner runner : {Runner::interpreter, Runner::compiler, Runner::machine_code}) {
      const std::int64_t strips = expect_strips_change_nothing(
          hom::program(f, x, w), inputs, {.least_bytes = 1, .strip_bytes = 1, .array_bytes = 1},
          runner);
      EXPECT_GT(strips, 0);
    }
  }
}

TEST(StripsLaws, rows_of_products_and_those_that_are_left_over) {
  const auto f = [](const Tensor& x, const Tensor& v, const Tensor& w) {
    const Tensor scores = matmul(tanh(matmul(x, v)), w);
    return std::tuple{take(w, argmax(scores, 1)), max(scores - mean(scores, 0), 1)};
  };
  for (const Dtype dtype : {f32, f64}) {
    for (const std::int64_t rows : {768, 769, 1000}) {
      const TensorType x = dtype[{rows, 20}], v = dtype[{20, 21}], w = dtype[{21, 21}];
      Choices choices(static_cast<std::uint64_t>(rows));
      Tensors inputs;
      for (const TensorType& type : {x, v, w})
        inputs.push_back(random_tensor(type, Domain::tame, choices));
      for (const Runner runner : {Runner::interpreter, Runner::compiler, Runner::machine_code}) {
        const std::int64_t strips = expect_strips_change_nothing(
            hom::program(f, x, v, w), inputs, {.least_bytes = 1, .array_bytes = 1}, runner);
        EXPECT_GT(strips, 0) << rows;
      }
    }
  }
}

}  // namespace
}  // namespace hom::laws
