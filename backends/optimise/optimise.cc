// backends/optimise/optimise.cc -- the passes in order, again and again until nothing changes
#include <hom/backends/optimise/optimise.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <unordered_set>

#include <hom/backends/optimise/everywhere.h>
#include <hom/backends/optimise/passes.h>
#include <hom/core/error.h>
#include <hom/core/text.h>

namespace hom {

std::span<const Pass> standard_passes() {
  namespace o = optimiser;
  static const std::vector<Pass> passes{
      o::inline_calls(),  o::dead_results(), o::fold_constants(), o::conversions(),
      o::logic(),         o::views(),        o::slices(),         o::indices(),
      o::arithmetic(),    o::integers(),     o::powers(),         o::named_functions(),
      o::reassociation(), o::reductions(),   o::contractions(),   o::hoist_invariants(),
      o::share_steps()};
  return passes;
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

const Pass& pass_named(std::string_view name) {
  const Pass* nearest = nullptr;
  for (const Pass& pass : standard_passes()) {
    if (pass.name == name) return pass;
    if (!nearest || edit_distance(name, pass.name) < edit_distance(name, nearest->name))
      nearest = &pass;
  }
  throw Error("unknown pass `" + std::string(name) + "`\n  hint: did you mean `" + nearest->name +
              "`?");
}

Program optimise(const Program& program, const OptimiseOptions& options,
                 const PassObserver& observer) {
  Program best = program;
  const std::span<const Pass> passes = standard_passes();
  // A pass that has changed nothing since another one did need not run again.
  std::size_t unchanged = 0;
  for (int round = 0; round < optimisation_rounds; ++round) {
    for (const Pass& pass : passes) {
      if (unchanged == passes.size()) return best;
      Program next = pass.run(best, options);
      if (next == best) {
        ++unchanged;
        continue;
      }
      unchanged = 0;
      if (observer) observer(pass, best, next);
      best = std::move(next);
    }
  }
  return best;
}

std::size_t all_steps(const Program& program) {
  std::size_t steps = program.step_count();
  for (const ProgramPtr& inside : optimiser::programs_inside(program))
    steps += inside->step_count();
  return steps;
}

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Lines of the one that the other lacks, in order.
void append_lines(std::string& report, const char* mark, const std::string& from,
                  const std::string& other) {
  const std::vector<std::string> known = lines_of(other);
  const std::unordered_set<std::string> set(known.begin(), known.end());
  for (const std::string& line : lines_of(from)) {
    if (!set.contains(line)) report += mark + line + "\n";
  }
}

}  // namespace

std::string optimisation_report(const Program& program, const OptimiseOptions& options) {
  std::string report;
  const auto note = [&](const Pass& pass, const Program& before, const Program& after) {
    report += pass.name + ": " + std::to_string(all_steps(before)) + " steps → " +
              std::to_string(all_steps(after)) + "\n";
    const std::string old_text = to_text(before);
    const std::string new_text = to_text(after);
    append_lines(report, "- ", old_text, new_text);
    append_lines(report, "+ ", new_text, old_text);
  };
  const Program result = optimise(program, options, note);
  return report + "all passes: " + std::to_string(all_steps(program)) + " steps → " +
         std::to_string(all_steps(result)) + "\n";
}

}  // namespace hom
