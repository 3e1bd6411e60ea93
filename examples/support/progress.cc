// examples/support/progress.cc -- when a progress line is due, what it says and how it fits.
#include <hom/examples/support/progress.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <hom/core/error.h>

namespace hom {
namespace {

constexpr int kDefaultWidth = 80;
constexpr int kWidestBar = 40;
constexpr int kNarrowestBar = 8;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The descriptor of a standard stream, or -1.
int descriptor(const std::ostream* out) {
  if (out == &std::cout) return STDOUT_FILENO;
  if (out == &std::cerr || out == &std::clog) return STDERR_FILENO;
  return -1;
}

// The code point at `at`, which moves past it. A byte that begins none stands for itself.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
  char32_t code = more == 0 ? lead : lead & (0x3f >> more);
  for (int i = 0; i < more && at < text.size() && (text[at] & 0xc0) == 0x80; ++i) {
    code = code << 6 | (text[at++] & 0x3f);
  }
  return code;
}

// The columns that a terminal gives a character: two to East Asian ones and emoji, none to
// combining marks.
int cells(char32_t c) {
  if ((c >= 0x300 && c <= 0x36f) || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f)) return 0;
  if ((c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
      (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
      (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
      (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd)) {
    return 2;
  }
  return 1;
}

int cells(std::string_view text) {
  int count = 0;
  for (std::size_t at = 0; at < text.size();) count += cells(next_code_point(text, at));
  return count;
}

// As much of `text` as fits.
std::string_view clip(std::string_view text, int width) {
  int count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    count += cells(next_code_point(text, at));
    if (count > width) return text.substr(0, begin);
  }
  return text;
}

// Replaces control characters (also the two-byte ones, of which a terminal obeys some) by spaces.
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
      out += ' ';
    } else {
      out += text.substr(begin, at - begin);
    }
  }
  return out;
}

std::string two_digits(std::int64_t value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

// "0:07", "12:34", "3:04:05", "2d 03:04:05".
std::string show_time(double seconds) {
  if (!(seconds < 1e9)) return "?";
  const std::int64_t all = std::max<std::int64_t>(0, std::llround(seconds));
  const std::int64_t days = all / 86400;
  const std::int64_t hours = all / 3600 % 24;
  const std::int64_t minutes = all / 60 % 60;
  std::string text;
  if (days > 0) {
    text = std::to_string(days) + "d " + two_digits(hours) + ":" + two_digits(minutes);
  } else if (hours > 0) {
    text = std::to_string(hours) + ":" + two_digits(minutes);
  } else {
    text = std::to_string(minutes);
  }
  return text + ":" + two_digits(all % 60);
}

// A bar of `width` columns, in eighths of a column.
std::string bar(double fraction, int width) {
  static constexpr std::string_view kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(fraction * width * 8);
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  text += kParts[eighths % 8];
  text.append(static_cast<std::size_t>(width - (eighths + 7) / 8), ' ');
  return text;
}

}  // namespace

Progress::Progress(std::string label, std::int64_t total, ProgressOptions options)
    : label_(plain(label)),
      total_(total),
      options_(std::move(options)),
      step_(options_.first_step) {
  if (total < 0) throw Error("progress: a total of " + std::to_string(total) + " steps");
  if (step_ < 0) throw Error("progress: first_step is " + std::to_string(step_));
  if (!(options_.log_percent > 0)) throw Error("progress: log_percent must be above 0");
  if (!options_.out) options_.out = &std::cerr;
  if (!options_.clock) options_.clock = steady_seconds;
  if (!options_.term) {
    const char* term = std::getenv("TERM");
    options_.term = term ? term : "";
  }
  if (!options_.is_tty) {
    const int file = descriptor(options_.out);
    options_.is_tty = file >= 0 && isatty(file) != 0;
  }
  interactive_ = *options_.is_tty && !options_.term->empty() && *options_.term != "dumb";
  start_ = now_ = options_.clock();
  next_redraw_ = start_;
  // The next multiple of log_percent.
  next_percent_ = (std::floor(percent() / options_.log_percent) + 1) * options_.log_percent;
}

Progress::~Progress() {
  try {
    finish();
  } catch (...) {  // an ostream that throws: there is nowhere to tell it
    finished_ = true;
  }
}

void Progress::update(std::int64_t step, std::vector<std::string> columns) {
  if (finished_) return;
  step_ = step;
  columns_ = std::move(columns);
  if (due()) print();
}

void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  now_ = options_.clock();
  std::string text;
  if (interactive_) {
    const std::string line = render(true, width() - 1);
    if (line != shown_) text = "\r" + line + "\x1b[K";
    text += "\n";
  } else if (logged_step_ != step_ || logged_columns_ != columns_) {
    text = render(true, 0) + "\n";
  }
  options_.out->write(text.data(), static_cast<std::streamsize>(text.size()));
  options_.out->flush();
}

double Progress::percent() const {
  if (done()) return 100;
  return 100 * std::max(0.0, static_cast<double>(step_) / static_cast<double>(total_));
}

bool Progress::due() {
  if (done()) return true;
  if (!interactive_) return percent() >= next_percent_;
  now_ = options_.clock();
  return now_ >= next_redraw_;
}

void Progress::print() {
  if (done()) {
    finish();
    return;
  }
  std::string text;
  if (interactive_) {
    std::string line = render(false, width() - 1);
    if (line != shown_) text = "\r" + line + "\x1b[K";
    shown_ = std::move(line);
    next_redraw_ = now_ + options_.redraw_seconds;
  } else {
    now_ = options_.clock();
    text = render(false, 0) + "\n";
    logged_step_ = step_;
    logged_columns_ = columns_;
    next_percent_ = (std::floor(percent() / options_.log_percent) + 1) * options_.log_percent;
  }
  options_.out->write(text.data(), static_cast<std::streamsize>(text.size()));
  options_.out->flush();
}

// The line, without a bar and of any width in a log, else of at most `width` columns.
std::string Progress::render(bool final, int width) const {
  std::string percent_text = std::to_string(static_cast<int>(percent())) + "%";
  percent_text.insert(0, 4 - std::min<std::size_t>(4, percent_text.size()), ' ');
  const std::string head = (label_.empty() ? "" : label_ + " ") + percent_text;

  const std::string total_text = std::to_string(total_);
  std::string step_text = std::to_string(std::clamp<std::int64_t>(step_, 0, total_));
  step_text.insert(0, total_text.size() - step_text.size(), ' ');
  const std::string steps = step_text + "/" + total_text;

  const double elapsed = now_ - start_;
  std::string times = "  " + show_time(elapsed);
  const auto steps_done = static_cast<double>(step_ - options_.first_step);
  if (!final) {
    const auto steps_left = static_cast<double>(total_ - step_);
    times += "  eta " + (steps_done > 0 ? show_time(elapsed / steps_done * steps_left) : "?");
  }

  std::vector<std::string> columns;
  for (const std::string& column : columns_) {
    if (!column.empty()) columns.push_back("  " + plain(column));
  }
  const auto join = [&](std::size_t count) {
    std::string tail = steps;
    for (std::size_t i = 0; i < count; ++i) tail += columns[i];
    return tail + times;
  };

  std::string tail = join(columns.size());
  if (!interactive_) return head + " " + tail;
  const int room = width - cells(head) - cells(tail) - 3;
  if (room >= kNarrowestBar) {
    return head + " " + bar(percent() / 100, std::min(room, kWidestBar)) + "  " + tail;
  }
  for (std::size_t count = columns.size(); count > 0 && cells(head) + 1 + cells(tail) > width;) {
    tail = join(--count);
  }
  return std::string(clip(head + " " + tail, std::max(0, width)));
}

int Progress::width() const {
  if (options_.width) return *options_.width;
  winsize size = {};
  const int file = descriptor(options_.out);
  if (file >= 0 && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kDefaultWidth;
}

}  // namespace hom
