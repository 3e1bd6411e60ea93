// examples/support/progress.h -- a progress line for loops: a bar on a terminal, plain lines in a
// log.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace hom {

/// How a `Progress` looks, and where it gets its surroundings from. Tests replace the latter.
struct ProgressOptions {
  /// Where the lines go, and which must outlive the `Progress`; null for std::cerr.
  std::ostream* out = nullptr;
  /// The step that the loop starts after, when it resumes; the time of earlier steps isn't known.
  std::int64_t first_step = 0;
  /// On a terminal: at least this many seconds between two updates.
  double redraw_seconds = 0.1;
  /// In a log: at least this many percent between two lines, above 0.
  double log_percent = 10;
  /// Seconds since any fixed moment; empty for the steady clock.
  std::function<double()> clock = {};
  /// Whether `out` is a terminal; unset to find out, which succeeds for std::cout and std::cerr.
  std::optional<bool> is_tty = {};
  /// The terminal's kind; unset for the variable TERM. An empty one and "dumb" get a log's lines.
  std::optional<std::string> term = {};
  /// Columns of the terminal; unset to ask it before every update.
  std::optional<int> width = {};
};

/// Shows how far a loop of a known number of steps is, with columns of the caller's:
///
///     train  40% ███████▊            400/1000  loss 0.123  accuracy 97.1%  0:12  eta 0:18
///
/// On a terminal one line is redrawn in place; it never exceeds the terminal's width: the bar gives
/// way first, then the columns from the last. Elsewhere, lines without bar, carriage returns or
/// escape codes appear each `log_percent`. The last step's line, or that of finish(), stays.
///
///     Progress progress("train", steps);
///     for (std::int64_t step = 1; step <= steps; ++step) {
///       …
///       progress.update(step, [&] { return std::vector<std::string>{"loss " + show(loss)}; });
///     }
///
/// One thread at a time may use a `Progress`.
class Progress {
 public:
  /// `label` may be empty. Throws `Error` for negative `total` or `first_step`, or a `log_percent`
  /// that isn't above 0. Prints nothing yet.
  Progress(std::string label, std::int64_t total, ProgressOptions options = {});
  /// Finishes, if finish() wasn't called: an error that is printed next gets its own line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Tells that `step` of `total` steps are done, and prints if it is time to. The last step
  /// finishes; after that, calls do nothing. A control character in a column becomes a space.
  void update(std::int64_t step, std::vector<std::string> columns = {});

  /// The same, with columns that are only made when they are printed: reading a loss off a device
  /// then costs a few reads a second instead of one a step.
  template <std::invocable Columns>
  void update(std::int64_t step, Columns&& columns) {
    if (finished_) return;
    step_ = step;
    if (due()) {
      columns_ = std::forward<Columns>(columns)();
      print();
    }
  }

  /// Prints the final line, with the columns of the last update that had any made, unless a log
  /// already ends with it. For a loop that stops early.
  void finish();

 private:
  bool done() const { return step_ >= total_; }
  double percent() const;
  bool due();    // whether it is time to print, or this is the last step
  void print();  // prints, and finishes at the last step
  std::string render(bool final, int width) const;
  int width() const;

  std::string label_;
  std::int64_t total_;
  ProgressOptions options_;
  bool interactive_;
  double start_;
  double now_;
  std::int64_t step_;
  std::vector<std::string> columns_;
  double next_redraw_;
  double next_percent_;
  std::string shown_;              // the terminal's line
  std::int64_t logged_step_ = -1;  // of the log's last line
  std::vector<std::string> logged_columns_;
  bool finished_ = false;
};

}  // namespace hom
