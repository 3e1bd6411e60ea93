// tests/laws/threads_laws_test.cc -- programs shared by several threads give the bits of one
//
// Limits are so low that every loop that may be cut is cut, into pieces as small as they come.
#include <thread>

#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/executable.h>
#include <hom/backends/cpu/jit/interpreter.h>
#include <hom/backends/cpu/jit/native_code.h>
#include <hom/backends/cpu/jit/x86_code.h>
#include <hom/backends/cpu/sharing.h>
#include <hom/backends/nests/memory_plan.h>
#include <hom/backends/nests/sharing.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/hom.h>
#include <hom/tests/laws/plan_reference.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

constexpr nest::SharingOptions tiny{.least_ns = 0, .piece_ns = 1};

class Threads {
 public:
  explicit Threads(int n) { set_threads(n); }
  ~Threads() { set_threads(0); }
};

nest::Plan shared_plan(const Program& program, const nest::SharingOptions& sharing = tiny) {
  nest::Plan plan = nest::lower(optimise(program), eager_routines());
  nest::share_launches(plan, sharing);
  nest::plan_memory(plan);
  for (const nest::Kernel& kernel : plan.kernels) verify(kernel);
  return plan;
}

std::string text_of(const Program& program, const nest::Plan& plan) {
  std::string text = "\n" + to_text(optimise(program)) + to_string(plan);
  for (const nest::Kernel& kernel : plan.kernels) text += "\n" + to_string(kernel);
  return text;
}

enum class Runner : std::uint8_t { interpreter, compiler, machine_code };

std::shared_ptr<const cpu::Code> code_by(Runner runner, const nest::Plan& plan) {
  switch (runner) {
    case Runner::interpreter:
      return cpu::interpret(plan.kernels);
    case Runner::compiler:
      return cpu::native_code(plan).code;
    case Runner::machine_code:
      break;
  }
  // Other processors have no machine code; what they have instead is run here.
  if (!cpu::x86::is_supported()) return cpu::interpret(plan.kernels);
  return cpu::x86::machine_code(plan, cpu::x86::machine_target()).code;
}

std::string shared_equals_eager(const Program& program, const Tensors& inputs, Runner runner,
                                const nest::SharingOptions& sharing = tiny) {
  const nest::Plan plan = shared_plan(program, sharing);
  const std::shared_ptr<const cpu::Code> code = code_by(runner, plan);
  if (code == nullptr) return "there is no code";
  const Tensors want = evaluate(program, inputs);
  const cpu::Executable executable(plan, code);
  for (const int n : {1, 2, 3, 7}) {
    const Threads threads(n);
    for (int run = 0; run < 2; ++run) {
      Tensors given = inputs;
      std::vector<cpu::Executable::Input> list;
      for (Tensor& x : given) list.emplace_back(&x);
      Tensors outputs(want.size());
      executable.run(list, outputs, Location::current());
      std::string wrong = difference_in_bits(outputs, want);
      if (wrong.empty()) wrong = difference_in_bits(given, inputs);
      if (!wrong.empty()) return std::to_string(n) + " threads: " + wrong + text_of(program, plan);
    }
  }
  return "";
}

TEST(ThreadsLaws, random_programs_interpreted_equal_eager_bit_for_bit) {
  for_random_programs("shared, interpreted", 300, 15, {.domain = Domain::wild, .max_size = 3000},
                      [](const RandomProgram& random, Choices&) {
                        return shared_equals_eager(random.program(), random.inputs,
                                                   Runner::interpreter);
                      });
}

TEST(ThreadsLaws, derivatives_interpreted_equal_eager_bit_for_bit) {
  for_random_programs("shared derivatives", 100, 12, {.domain = Domain::tame, .max_size = 2000},
                      [](const RandomProgram& random, Choices& choices) {
                        const LinearAtPoint linear = derivative_at(random.program(), random.inputs);
                        for (const LinearAtPoint& one : {linear, linear.transposed()}) {
                          Tensors inputs = one.residuals;
                          for (const Tensor& dx : random_like(one.domain(), choices))
                            inputs.push_back(dx);
                          if (inputs.size() != one.program.inputs().size()) continue;
                          std::string wrong =
                              shared_equals_eager(one.program, inputs, Runner::interpreter);
                          if (!wrong.empty()) return wrong;
                        }
                        return std::string();
                      });
}

TEST(ThreadsLaws, random_programs_native_equal_eager_bit_for_bit) {
  for_random_programs("shared, native", 25, 25, {.domain = Domain::wild, .max_size = 2000},
                      [](const RandomProgram& random, Choices&) {
                        return shared_equals_eager(random.program(), random.inputs,
                                                   Runner::compiler);
                      });
}

TEST(ThreadsLaws, random_programs_as_machine_code_equal_eager_bit_for_bit) {
  for_random_programs("shared, machine code", 300, 20, {.domain = Domain::wild, .max_size = 3000},
                      [](const RandomProgram& random, Choices&) {
                        return shared_equals_eager(random.program(), random.inputs,
                                                   Runner::machine_code);
                      });
}

/// A function of one vector in several lengths around those of chunks and blocks, by all runners.
template <class F>
void expect_shared_equals_eager(const char* name, const F& f) {
  for (const Dtype dtype : {f64, f32, f16, i32}) {
    for (const std::int64_t length : {2, 64, 65, 127, 128, 129, 1000, 4096, 5001}) {
      const Program program = hom::program(f, dtype[{length}]);
      Choices choices(static_cast<std::uint64_t>(length));
      const Tensors inputs{random_tensor(dtype[{length}], Domain::wild, choices)};
      for (const Runner runner : {Runner::interpreter, Runner::machine_code})
        EXPECT_EQ(shared_equals_eager(program, inputs, runner), "") << name << ", " << length;
      if (length == 5001 || length == 129) {
        EXPECT_EQ(shared_equals_eager(program, inputs, Runner::compiler), "")
            << name << ", " << length;
      }
    }
  }
}

TEST(ThreadsLaws, reductions_of_all_elements_in_two_stages_equal_one) {
  expect_shared_equals_eager("sum", [](Tensor x) { return sum(x * x); });
  expect_shared_equals_eager("prod", [](Tensor x) { return prod(x); });
  expect_shared_equals_eager("extremes", [](Tensor x) { return std::pair{max(x), min(x)}; });
  expect_shared_equals_eager("places",
                             [](Tensor x) { return std::pair{argmax(x, 0), argmin(x, 0)}; });
}

/// Blocks of several chunks, the last of which has any number of them.
TEST(ThreadsLaws, blocks_of_several_chunks_are_one_sum) {
  const auto f = [](Tensor x) { return std::tuple{sum(x * x), max(x), argmax(x, 0)}; };
  for (const Dtype dtype : {f64, f32, f16}) {
    for (std::int64_t chunks = 17; chunks <= 33; ++chunks) {
      const std::int64_t length = 64 * chunks - chunks % 3;
      const Program program = hom::program(f, dtype[{length}]);
      const nest::SharingOptions wide{.least_ns = 0, .piece_ns = 500};
      std::int64_t block = 0;
      for (const nest::Kernel& kernel : shared_plan(program, wide).kernels)
        block = std::max(block, kernel.block);
      ASSERT_GE(block, 8 * 64) << "nothing is in blocks of several chunks, but " << block;
      Choices choices(static_cast<std::uint64_t>(length));
      const Tensors inputs{random_tensor(dtype[{length}], Domain::tame, choices)};
      for (const Runner runner : {Runner::interpreter, Runner::machine_code})
        EXPECT_EQ(shared_equals_eager(program, inputs, runner, wide), "") << length;
      if (chunks == 29) {
        EXPECT_EQ(shared_equals_eager(program, inputs, Runner::compiler, wide), "") << length;
      }
    }
  }
}

TEST(ThreadsLaws, loops_one_after_the_other_become_kernels) {
  const auto normalised = [](Tensor x) {
    const Tensor centred = x - mean(x);
    return centred / sqrt(mean(centred * centred) + 1e-5);
  };
  for (const Dtype dtype : {f64, f32, f16}) {
    for (const std::int64_t length : {100, 640, 3001}) {
      const Program softmax_of = program([](Tensor x) { return softmax(x, 0); }, dtype[{length}]);
      const Program normal_of = program(normalised, dtype[{length}]);
      EXPECT_GT(shared_plan(softmax_of).kernels.size(), 2U);
      Choices choices(7);
      const Tensors inputs{random_tensor(dtype[{length}], Domain::tame, choices)};
      for (const Runner runner : {Runner::interpreter, Runner::compiler, Runner::machine_code}) {
        EXPECT_EQ(shared_equals_eager(softmax_of, inputs, runner), "");
        EXPECT_EQ(shared_equals_eager(normal_of, inputs, runner), "");
      }
    }
  }
}

TEST(ThreadsLaws, what_is_too_little_is_not_shared) {
  nest::Plan plan = nest::lower(program([](Tensor x) { return exp(x); }, f64[{1000}]), {});
  nest::share_launches(plan);
  EXPECT_EQ(std::get<nest::Launch>(plan.body[0].is).grain, 0);
  plan = nest::lower(program([](Tensor x) { return exp(x); }, f64[{1'000'000}]), {});
  nest::share_launches(plan);
  const std::int64_t grain = std::get<nest::Launch>(plan.body[0].is).grain;
  EXPECT_GT(grain, 0);
  EXPECT_LT(grain, 100'000);
  EXPECT_EQ(grain % 64, 0);
}

TEST(ThreadsLaws, the_first_failure_in_order_is_the_one_that_is_told) {
  const cpu::SharingLimitsScope limits({.least_ns = 0, .chunk_ns = 1});
  const auto gather = [](Tensor x, Tensor at) { return take(x, at, 0); };
  std::vector<std::int64_t> positions(10'000, 3);
  positions[4000] = 77;
  positions[9000] = 88;
  positions[4001] = 99;
  for (const Tier tier : {Tier::native, Tier::interpreter}) {
    const auto f = compile(gather, {.tier = tier});
    for (const int n : {1, 2, 7}) {
      const Threads threads(n);
      for (int run = 0; run < 20; ++run) {
        try {
          f(arange(10), tensor(positions));
          FAIL() << "nothing was thrown";
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("77"), std::string::npos) << error.what();
        }
      }
    }
  }
}

TEST(ThreadsLaws, several_callers_of_one_executable_get_their_own_results) {
  const cpu::SharingLimitsScope limits({.least_ns = 0, .chunk_ns = 1});
  const auto f = compile([](Tensor x, Tensor w) { return softmax(matmul(x, w), 1) * sum(x); });
  const Threads threads(3);
  std::vector<std::thread> callers;
  std::vector<std::string> wrong(6);
  f.prepare(f64[{40, 30}], f64[{30, 50}]);
  for (std::size_t c = 0; c < wrong.size(); ++c) {
    callers.emplace_back([&, c] {
      const Tensor x = full({40, 30}, 0.01 * static_cast<double>(c + 1));
      const Tensor w = full({30, 50}, 0.5);
      const Tensor first = f(x, w);
      for (int run = 0; run < 100 && wrong[c].empty(); ++run) {
        const Tensor again = f(x, w);
        wrong[c] = difference_in_bits({&again, 1}, {&first, 1});
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::string& text : wrong) EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace hom::laws
