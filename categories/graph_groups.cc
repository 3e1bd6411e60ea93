// categories/graph_groups.cc -- grouping by line, by named function, by length
#include <hom/categories/graph_groups.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include <hom/core/primitive.h>

namespace hom {
namespace {

bool same_line(const Step& a, const Step& b) {
  return a.at.line() == b.at.line() && a.scope == b.scope &&
         std::string_view(a.at.file_name()) == b.at.file_name();
}

bool same_function(const Step& a, const Step& b) { return !a.scope.empty() && a.scope == b.scope; }

/// Joins neighbours that are `same`, the longest stretches of them first, until at most `budget`
/// runs are left.
template <class Same>
void join(std::vector<StepRun>& runs, std::size_t budget, const Program& program, Same same) {
  // Of each stretch: its first run, and the number of runs.
  std::vector<std::pair<std::size_t, std::size_t>> stretches;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const bool continues =
        k > 0 && same(program.step(runs[k - 1].begin), program.step(runs[k].begin));
    continues ? void(++stretches.back().second) : void(stretches.emplace_back(k, 1));
  }
  std::vector<std::size_t> order(stretches.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(stretches[b].second, a) < std::pair(stretches[a].second, b);
  });
  std::vector<bool> joined(stretches.size());
  std::size_t left = runs.size();
  for (std::size_t s : order) {
    if (left <= budget || stretches[s].second == 1) break;
    joined[s] = true;
    left -= stretches[s].second - 1;
  }
  std::vector<StepRun> result;
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    for (std::size_t k = stretches[s].first; k < stretches[s].first + stretches[s].second; ++k) {
      if (joined[s] && k > stretches[s].first) {
        result.back().end = runs[k].end;
        result.back().count += runs[k].count;
      } else {
        result.push_back(runs[k]);
      }
    }
  }
  runs = std::move(result);
}

void join_evenly(std::vector<StepRun>& runs, std::size_t budget) {
  const std::size_t length = (runs.size() + budget - 1) / budget;
  std::vector<StepRun> result;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    if (k % length == 0) {
      result.push_back(runs[k]);
    } else {
      result.back().end = runs[k].end;
      result.back().count += runs[k].count;
    }
  }
  runs = std::move(result);
}

struct Lines {
  bool one_file = true;
  bool one_function = true;
  std::string file;
  std::uint_least32_t first = 0;
  std::uint_least32_t last = 0;
  std::string function;
};

Lines lines_of(const Program& program, const StepRun& run) {
  const Step front = program.step(run.begin);
  Lines lines{true, true, front.at.file_name(), front.at.line(), front.at.line(), front.scope};
  for (std::size_t i = run.begin; i < run.end; ++i) {
    const Step step = program.step(i);
    lines.one_file = lines.one_file && lines.file == step.at.file_name();
    lines.one_function = lines.one_function && lines.function == step.scope;
    lines.first = std::min(lines.first, step.at.line());
    lines.last = std::max(lines.last, step.at.line());
  }
  return lines;
}

std::string place(const Lines& lines, const std::string& file) {
  if (!lines.one_file) return file + " and others";
  std::string text = file + ":" + std::to_string(lines.first);
  if (lines.last > lines.first) text += "–" + std::to_string(lines.last);
  return text;
}

}  // namespace

std::vector<StepRun> group_steps(const Program& program, std::size_t budget) {
  budget = std::max<std::size_t>(budget, 1);
  // Constants stay with the step before them: they are drawn where they are used, and count
  // nowhere.
  std::vector<StepRun> runs;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    if (program.step(i).primitive.name == "constant") continue;
    if (!runs.empty()) runs.back().end = i;
    begin = runs.empty() ? 0 : i;
    runs.push_back({begin, program.step_count(), 1});
  }
  if (runs.size() > budget) join(runs, budget, program, same_line);
  if (runs.size() > budget) join(runs, budget, program, same_function);
  if (runs.size() > budget) join_evenly(runs, budget);
  return runs;
}

std::string run_title(const Program& program, const StepRun& run) {
  const Lines lines = lines_of(program, run);
  if (lines.one_function && !lines.function.empty()) return lines.function;
  return place(lines, lines.file.substr(lines.file.rfind('/') + 1));
}

std::string run_contents(const Program& program, const StepRun& run) {
  std::map<std::string_view, std::size_t> counts;
  for (std::size_t i = run.begin; i < run.end; ++i) ++counts[program.step(i).primitive.name];
  counts.erase("constant");
  std::vector<std::pair<std::string_view, std::size_t>> often(counts.begin(), counts.end());
  std::sort(often.begin(), often.end(), [](const auto& a, const auto& b) {
    return std::pair(b.second, a.first) < std::pair(a.second, b.first);
  });
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(often.size(), 3); ++k) {
    if (k) text += ", ";
    text += often[k].first;
    text += " ×" + std::to_string(often[k].second);
  }
  return text + (often.size() > 3 ? ", …" : "");
}

std::string run_place(const Program& program, const StepRun& run) {
  const Lines lines = lines_of(program, run);
  const bool is_named = lines.one_function && !lines.function.empty();
  return place(lines, lines.file) + (is_named ? ", in `" + lines.function + "`" : "");
}

}  // namespace hom
