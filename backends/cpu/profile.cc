// backends/cpu/profile.cc -- where the time of a compiled function goes
#include <hom/backends/cpu/profile.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>
#include <ostream>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hom/backends/cpu/explain.h>
#include <hom/backends/cpu/jit/executable.h>

namespace hom {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Numbers the steps of a plan as `explain` does.
void number_steps(const nest::Instructions& instructions,
                  std::unordered_map<const nest::Instruction*, std::size_t>& numbers) {
  for (const nest::Instruction& instruction : instructions) {
    if (const auto* repeat = std::get_if<nest::Repeat>(&instruction.is)) {
      number_steps(repeat->body, numbers);
    } else if (const auto* loop = std::get_if<nest::While>(&instruction.is)) {
      number_steps(loop->condition, numbers);
      number_steps(loop->body, numbers);
    } else if (const auto* branch = std::get_if<nest::Branch>(&instruction.is)) {
      number_steps(branch->then, numbers);
      number_steps(branch->otherwise, numbers);
    } else if (const auto* strips = std::get_if<nest::Strips>(&instruction.is)) {
      number_steps(strips->body, numbers);
    } else {
      numbers.emplace(&instruction, numbers.size());
    }
  }
}

/// Adds up the time of each step in one call.
class StepTimer : public cpu::WalkObserver {
 public:
  explicit StepTimer(const nest::Plan& plan) {
    number_steps(plan.body, numbers_);
    start();
  }

  void start() {
    seconds.assign(numbers_.size(), 0);
    runs.assign(numbers_.size(), 0);
    events.clear();
    start_ = Clock::now();
  }
  void begin(const nest::Instruction&) override { begin_ = Clock::now(); }
  void end(const nest::Instruction& instruction) override {
    const Clock::time_point now = Clock::now();
    const std::size_t number = numbers_.at(&instruction);
    const double spent = seconds_between(begin_, now);
    seconds[number] += spent;
    ++runs[number];
    constexpr std::size_t most_events = 100'000;
    if (events.size() < most_events)
      events.push_back({number, seconds_between(start_, begin_), spent});
  }
  double since_start() const { return seconds_between(start_, Clock::now()); }

  std::vector<double> seconds;
  std::vector<std::int64_t> runs;
  std::vector<TraceEvent> events;

 private:
  std::unordered_map<const nest::Instruction*, std::size_t> numbers_;
  Clock::time_point start_;
  Clock::time_point begin_;
};

}  // namespace

Profile profile_program(const CompiledProgram& program, std::span<const Tensor> inputs,
                        const ProfileOptions& options, const Location& at) {
  require(options.repeats > 0, at, [] {
    return Complaint{"profile: no call is measured", "ProfileOptions::repeats is at least 1"};
  });
  // Throws for inputs of other types.
  static_cast<void>(program({inputs.begin(), inputs.end()}, at));
  const cpu::Executable& executable = program.executable();
  const Explanation explanation = explain(program);
  StepTimer timer(executable.plan());
  std::vector<std::vector<double>> times(explanation.steps.size());
  std::vector<double> calls;
  for (int call = -1; call < options.repeats; ++call) {
    timer.start();
    executable.observe(inputs, timer);
    if (call < 0) continue;  // to warm caches
    calls.push_back(timer.since_start());
    for (std::size_t i = 0; i < times.size(); ++i) times[i].push_back(timer.seconds[i]);
  }
  Profile profile;
  profile.tier = explanation.tier;
  profile.seconds = median(calls);
  std::vector<std::size_t> kept(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const ExplainedStep& step = explanation.steps[i];
    kept[i] = profile.steps.size();
    if (timer.runs[i] == 0) continue;
    const auto runs = static_cast<double>(timer.runs[i]);
    profile.steps.push_back({.name = step.name,
                             .line = step.lines.empty() ? "" : step.lines.back(),
                             .seconds = median(times[i]),
                             .runs = timer.runs[i],
                             .bytes = step.bytes * runs,
                             .flops = step.flops * runs});
  }
  for (const TraceEvent& event : timer.events)
    profile.events.push_back({kept[event.step], event.begin_seconds, event.seconds});
  return profile;
}

std::string to_string(const Profile& profile) {
  const MachinePeak& peak = machine_peak();
  double sum = 0;
  for (const ProfiledStep& step : profile.steps) sum += step.seconds;
  std::vector<std::size_t> order(profile.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double x = profile.steps[a].seconds;
    const double y = profile.steps[b].seconds;
    return x != y ? x > y : a < b;
  });
  std::string text = fmt::format(
      "{:.1f} µs a call by {}; this machine: {:.1f} GB/s, {:.0f} GFLOP/s in f32, {:.0f} in f64\n",
      profile.seconds * 1e6, profile.tier, peak.bytes_per_second / 1e9, peak.f32_per_second / 1e9,
      peak.f64_per_second / 1e9);
  text += fmt::format("{:>10} {:>6} {:>8} {:>8} {:>6} {:>9}  {}\n", "µs", "share", "runs", "GB/s",
                      "peak", "GFLOP/s", "step");
  for (const std::size_t i : order) {
    const ProfiledStep& step = profile.steps[i];
    text += fmt::format(
        "{:10.2f} {:5.1f}% {:8} {:8.2f} {:5.0f}% {:9.2f}  {}{}\n", step.seconds * 1e6,
        sum > 0 ? 100 * step.seconds / sum : 0, step.runs, step.bytes_per_second() / 1e9,
        100 * step.bytes_per_second() / peak.bytes_per_second, step.flops_per_second() / 1e9,
        step.name, step.line.empty() ? "" : "  (" + step.line + ")");
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Profile& profile) {
  return out << to_string(profile);
}

std::string trace(const Profile& profile) {
  nlohmann::json events = nlohmann::json::array();
  for (const TraceEvent& event : profile.events) {
    const ProfiledStep& step = profile.steps[event.step];
    const auto runs = static_cast<double>(step.runs);
    events.push_back(
        {{"name", step.name},
         {"cat", "compiled"},
         {"ph", "X"},
         {"ts", event.begin_seconds * 1e6},
         {"dur", event.seconds * 1e6},
         {"pid", 1},
         {"tid", 1},
         {"args",
          {{"line", step.line}, {"bytes", step.bytes / runs}, {"flops", step.flops / runs}}}});
  }
  return nlohmann::json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}.dump(
      1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void save_trace(const Profile& profile, const std::string& path, const Location& at) {
  std::ofstream file(path);
  file << trace(profile) << '\n';
  file.close();
  require(static_cast<bool>(file), at, [&] {
    return Complaint{"save_trace: cannot write `" + path + "`",
                     "name a file in a folder that exists and may be written to"};
  });
}

}  // namespace hom
