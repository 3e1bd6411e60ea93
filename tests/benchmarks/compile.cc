// tests/benchmarks/compile.cc -- what each stage of compilation costs, and what memory its plans
// need
//
//     bazel run -c opt //tests/benchmarks:compile                  programs of 10² to 10⁵ steps
//     bazel run -c opt //tests/benchmarks:compile -- --native=0    without the system's compiler
//
// The first tables have µs for each step of the differentiated program, the least of several
// rounds; a stage that is linear has the same figure in every row. `g++` is the system's compiler,
// with an empty cache. The last table compares bytes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <hom/backends/cpu/jit/emit_cpp.h>
#include <hom/backends/cpu/jit/system_compiler.h>
#include <hom/backends/cpu/jit/target.h>
#include <hom/backends/cpu/routines/routine.h>
#include <hom/backends/nests/lower.h>
#include <hom/backends/nests/memory_plan.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/hom.h>

using namespace hom;

namespace {

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

double least(int rounds, const std::function<void()>& work) {
  double best = milliseconds(work);
  for (int i = 1; i < rounds; ++i) best = std::min(best, milliseconds(work));
  return best;
}

using Model = std::function<Tensor(Tensor)>;

/// Scalar arithmetic: n steps of one number.
Model scalars(int n) {
  return [n](Tensor x) {
    for (int i = 0; i < n / 2; ++i) x = sin(x) + x;
    return sum(x);
  };
}

/// Rows that are normalised again and again: reductions, broadcasts and elementwise steps.
Model rows(int n) {
  return [n](Tensor x) {
    for (int i = 0; i < n / 10; ++i) x = softmax(x * 1.5) + tanh(x);
    return sum(x);
  };
}

/// Layers of a perceptron with one weight for all: products, slices and elementwise steps.
Model layers(int n) {
  return [n](Tensor x) {
    const Tensor w = x(Range{0, 64});
    Tensor h = x(Range{64, 128});
    for (int i = 0; i < n / 4; ++i) h = relu(matmul(h, w)) + h;
    return sum(h);
  };
}

nest::LowerOptions lowering() {
  nest::LowerOptions options;
  options.routine = cpu::routine_for;
  options.takes_layout = cpu::takes_layout;
  return options;
}

void stages(const char* name, const std::function<Model(int)>& model, const TensorType& type,
            int most, bool native) {
  std::printf("\n%s, %s; µs per step of the gradient\n\n", name, to_string(type).c_str());
  std::printf(
      "| steps | capture | differentiate | optimise | schedule | memory | together | print | g++ | "
      "kernels | g++, ms |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int n = 100; n <= most; n *= 10) {
    const int rounds = std::clamp(10000 / n, 1, 20);
    const Model f = model(n);
    Program captured, gradient, fast;
    nest::Plan plan;
    const double capture = least(rounds, [&] { captured = program(f, type); });
    const double differentiate = least(
        rounds, [&] { gradient = value_and_gradient(captured, {true}, Location::current()); });
    const double optimised = least(rounds, [&] { fast = optimise(gradient); });
    const double schedule = least(rounds, [&] { plan = nest::lower(fast, lowering()); });
    nest::Plan planned;
    double memory = 1e300;
    for (int i = 0; i < rounds; ++i) {
      planned = plan;
      memory = std::min(memory, milliseconds([&] { nest::plan_memory(planned); }));
    }
    const cpu::Target target = cpu::host_target();
    cpu::CppPlan text;
    const double print = least(rounds, [&] { text = cpu::emit_cpp(planned, target.vector_bytes); });
    double compiled = 0;
    const auto compiler = cpu::find_system_compiler();
    if (native && compiler) {
      compiled = milliseconds([&] {
        const cpu::TemporaryDirectory directory;
        std::vector<std::string> flags = cpu::emission_flags();
        flags.insert(flags.end(), target.flags.begin(), target.flags.end());
        cpu::compile_shared_object(*compiler, cpu::translation_units(text, target.vector_bytes, 16),
                                   flags, directory);
      });
    }
    const double unit = static_cast<double>(gradient.step_count()) / 1000;
    std::printf("| %zu | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %zu | %.0f |\n",
                gradient.step_count(), capture / unit, differentiate / unit, optimised / unit,
                schedule / unit, memory / unit,
                (capture + differentiate + optimised + schedule + memory) / unit, print / unit,
                compiled / unit, planned.kernels.size(), compiled);
    std::fflush(stdout);
  }
}

void memory(const char* name, const Program& program) {
  nest::Plan plan = nest::lower(optimise(program), lowering());
  double sum = 0;
  for (const nest::PlannedBuffer& buffer : plan.buffers) {
    if (buffer.place == nest::PlannedBuffer::Place::temporary)
      sum += static_cast<double>(buffer.bytes());
  }
  // What a program that keeps each result of a step until its last use would hold, at most.
  double every_step = 0;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    for (std::uint32_t r = 0; r < step.result_count; ++r) {
      const TensorType& type = program.type(step.first_result + r);
      every_step += static_cast<double>(type.size()) * static_cast<double>(type.dtype.size());
    }
  }
  nest::plan_memory(plan);
  std::printf("| %s | %.2f | %.2f | %.2f | %.2f | %.3f |\n", name, every_step / 1e6, sum / 1e6,
              static_cast<double>(plan.live_bytes) / 1e6,
              static_cast<double>(plan.arena_bytes) / 1e6,
              plan.live_bytes == 0
                  ? 1.0
                  : static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.live_bytes));
}

Program gradient_of(const Model& f, const TensorType& type) {
  return value_and_gradient(program(f, type), {true}, Location::current());
}

}  // namespace

int main(int argc, char** argv) {
  bool native = true;
  int most = 100'000;
  CLI::App app("Times the stages of compilation, and compares the memory of plans.");
  app.add_option("--native", native, "whether the system's compiler runs too");
  app.add_option("--most", most, "steps of the longest program");
  CLI11_PARSE(app, argc, argv);
  stages("scalars", scalars, f64[{}], most, native);
  stages("rows", rows, f32[{32, 100}], most / 10, native);
  stages("layers", layers, f32[{128, 64}], most / 10, native);
  std::printf(
      "\nmemory of gradients, MB\n\n"
      "| program | results of all steps | temporaries | live at once | arena | arena ÷ live |\n"
      "|---|---|---|---|---|---|\n");
  memory("scalars, 1,000 steps", gradient_of(scalars(1000), f64[{1000}]));
  memory("rows, 1,000 steps", gradient_of(rows(1000), f32[{64, 1000}]));
  memory("layers, 400 steps", gradient_of(layers(400), f32[{128, 64}]));
}
