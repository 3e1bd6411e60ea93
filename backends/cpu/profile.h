// backends/cpu/profile.h -- where the time of a compiled function goes
//
//     const Profile p = profile(step, x, y);
//     std::cout << p;                                 // a table
//     save_trace(p, "step.json");                     // for chrome://tracing and ui.perfetto.dev
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include <hom/backends/cpu/compile.h>

namespace hom {

/// What this machine does at best, with one thread: measured once for each process, in about a
/// tenth of a second.
struct MachinePeak {
  /// a = b + s·c over arrays larger than caches: bytes read and written each second.
  double bytes_per_second = 0;
  /// Fused multiply-adds in registers, two operations each.
  double f32_per_second = 0;
  double f64_per_second = 0;
};
const MachinePeak& machine_peak();

/// A kernel, routine or copy, over all its runs in one call.
struct ProfiledStep {
  std::string name;
  /// The user's last line that it came from.
  std::string line;
  /// Median over the repeated calls.
  double seconds = 0;
  std::int64_t runs = 0;
  /// As `explain` counts them.
  double bytes = 0;
  double flops = 0;

  double bytes_per_second() const { return seconds > 0 ? bytes / seconds : 0; }
  double flops_per_second() const { return seconds > 0 ? flops / seconds : 0; }
};

/// One run of a step, for the trace.
struct TraceEvent {
  /// Number of the step in `Profile::steps`.
  std::size_t step;
  /// From the start of the call.
  double begin_seconds;
  double seconds;
};

struct Profile {
  std::string tier;
  /// Median time of a call that walks kernel by kernel: that of all steps together, and of the
  /// walk.
  double seconds = 0;
  /// In the order of the plan; steps that did not run are left out.
  std::vector<ProfiledStep> steps;
  /// Of the last call; the first 100,000.
  std::vector<TraceEvent> events;
};

struct ProfileOptions {
  /// Calls that are measured, at least 1; one more comes first, to warm caches.
  int repeats = 10;
};

/// Runs the program on these inputs kernel by kernel. Throws `Error` as the program does.
Profile profile_program(const CompiledProgram& program, std::span<const Tensor> inputs,
                        const ProfileOptions& options = {},
                        const Location& at = Location::current());

/// Runs a compiled function on these arguments, compiled if it has not been.
template <class F, class... Args>
Profile profile(const Compiled<F>& f, const Args&... args) {
  std::vector<Tensor> inputs;
  const auto append = [&](const auto& argument) {
    for (Tensor& leaf : leaves(argument)) inputs.push_back(std::move(leaf));
  };
  (append(args), ...);
  return profile_program(f.prepare(args...), inputs);
}

/// A table, the most expensive step first: time, share, GB/s and GFLOP/s, and how far that is from
/// this machine's peak.
std::string to_string(const Profile& profile);
std::ostream& operator<<(std::ostream& out, const Profile& profile);

/// The events as a Chrome trace, JSON.
std::string trace(const Profile& profile);
/// Writes it to a file; throws `Error` where that fails.
void save_trace(const Profile& profile, const std::string& path,
                const Location& at = Location::current());

}  // namespace hom
