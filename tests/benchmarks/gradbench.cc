// tests/benchmarks/gradbench.cc -- GradBench's evals: objective and derivative by Hom, and the
// objective as a scalar loop
//
//     bazel run -c opt //tests/benchmarks:gradbench                          small workloads
//     bazel run -c opt //tests/benchmarks:gradbench -- --data=FOLDER         also those of FOLDER
//     bazel run -c opt //tests/benchmarks:gradbench -- --eval=gmm --eval=ba
//
// Prints times in ms, each the least of several runs that alternate. Programs are captured,
// differentiated and, for ba, coloured before (`ready`), then also compiled (`compiled`, all of
// that again and what compilation takes; a second run finds kernels in the cache on disk). The next
// two columns are compiled, `÷` the gradient over the objective, `÷ loop` over the scalar loop.
// That the numbers are right is what tests/gradbench/gradbench_test.cc checks.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <vector>

#include <CLI/CLI.hpp>

#include <hom/tests/gradbench/evals.h>
#include <hom/tests/gradbench/particle.h>
#include <hom/tests/gradbench/saddle.h>

using namespace hom;
using namespace hom::gradbench;

namespace {

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

double least(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

Workload made(Runner runner, const std::function<Workload()>& make) {
  current_runner() = runner;
  Workload workload = make();
  current_runner() = Runner::evaluation;
  return workload;
}

void row(const std::string& name, double seconds, const std::function<Workload()>& make) {
  Workload eager;
  Workload compiled;
  double ready[2];
  ready[0] = milliseconds([&] { eager = made(Runner::evaluation, make); });
  ready[1] = milliseconds([&] { compiled = made(Runner::compiled, make); });
  const std::function<void()> works[] = {[&] { eager.primal(); }, [&] { eager.gradient(); },
                                         [&] { compiled.primal(); }, [&] { compiled.gradient(); },
                                         [&] { eager.by_hand(); }};
  constexpr std::size_t count = std::size(works);
  std::array<std::vector<double>, count> times;
  double total = 0;
  // The first round warms caches and is not counted, unless it takes long.
  for (int round = -1; round < 3 || (total < 1000 * seconds && round < 100); ++round) {
    std::array<double, count> one;
    double all = 0;
    for (std::size_t i = 0; i < count; ++i) all += one[i] = milliseconds(works[i]);
    if (round < 0 && all < 1000 * seconds) continue;
    for (std::size_t i = 0; i < count; ++i) times[i].push_back(one[i]);
    total += all;
    if (total > 5000 * seconds) break;
  }
  std::array<double, count> t;
  for (std::size_t i = 0; i < count; ++i) t[i] = least(times[i]);
  std::printf("| %-34s | %8.1f | %9.3f | %9.3f | %8.1f | %9.4f | %9.4f | %7.2f | %9.4f | %7.2f |\n",
              name.c_str(), ready[0], t[0], t[1], ready[1], t[2], t[3], t[3] / t[2], t[4],
              t[3] / t[4]);
  std::fflush(stdout);
}

/// As the shell meant it: `bazel run` changes the folder.
std::string from_the_shell(const std::string& folder) {
  const char* shell = std::getenv("BUILD_WORKING_DIRECTORY");
  return shell ? (std::filesystem::path(shell) / folder).string() : folder;
}

}  // namespace

int main(int argc, char** argv) {
  std::string data;
  std::vector<std::string> chosen;
  double seconds = 1;
  CLI::App app("Times GradBench's evals; all times in ms.");
  app.add_option("--data", data, "folder with the workloads that are too large to come with Hom");
  app.add_option("--eval", chosen, "only evals or workloads whose name starts so; may be repeated");
  app.add_option("--seconds", seconds, "how long each workload is repeated")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const auto wanted = [&](const std::string& name) {
    return chosen.empty() || std::any_of(chosen.begin(), chosen.end(), [&](const auto& start) {
             return name.starts_with(start);
           });
  };

  std::printf(
      "| %-34s | ready    | objective | gradient  | compiled | objective | gradient  | ÷       | "
      "loop      | ÷ loop  |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      "workload");
  for (const Eval& eval : evals()) {
    const auto run = [&](const std::string& folder, const std::string& name) {
      if (!wanted(name)) return;
      const Records in = Records::read(folder + "/" + name + ".in.txt");
      row(name, seconds, [&] { return eval.make(in); });
    };
    for (const std::string& name : eval.small) run("tests/gradbench/data", name);
    if (data.empty()) continue;
    for (const std::string& name : eval.large) run(from_the_shell(data), name);
  }
  for (const Modes& modes : all_modes) {
    const std::string name = std::string("particle ") + modes.name;
    if (wanted(name)) row(name, seconds, [&] { return particle(modes); });
  }
  for (const Modes& modes : all_modes) {
    const std::string name = std::string("saddle ") + modes.name;
    if (wanted(name)) row(name, seconds, [&] { return saddle(modes); });
  }
}
