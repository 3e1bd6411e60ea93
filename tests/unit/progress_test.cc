// tests/unit/progress_test.cc -- progress lines on a made-up terminal, clock and log.
#include <hom/examples/support/progress.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include <hom/core/error.h>

namespace hom {
namespace {

using Columns = std::vector<std::string>;

class ProgressTest : public testing::Test {
 protected:
  ProgressOptions terminal(int width) {
    ProgressOptions options = log();
    options.is_tty = true;
    options.width = width;
    return options;
  }

  ProgressOptions log() {
    ProgressOptions options;
    options.out = &out_;
    options.clock = [this] { return time_; };
    options.is_tty = false;
    options.term = "xterm";
    return options;
  }

  // What the output grew by since the last call.
  std::string printed() {
    std::string text = out_.str();
    out_.str("");
    return text;
  }

  std::ostringstream out_;
  double time_ = 100;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

std::size_t code_points(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST_F(ProgressTest, ATerminalGetsOneLineThatIsRedrawn) {
  Progress progress("train", 1000, terminal(80));
  EXPECT_EQ(printed(), "");
  time_ += 12;
  progress.update(400, Columns{"loss 0.123", "accuracy 97.1%"});
  EXPECT_EQ(printed(),
            "\rtrain  40% █████▏          400/1000  loss 0.123  accuracy 97.1%  0:12  eta 0:18"
            "\x1b[K");
  time_ += 18;
  progress.update(1000, Columns{"loss 0.1"});
  EXPECT_EQ(printed(),
            "\rtrain 100% ████████████████████████████████████████  1000/1000  loss 0.1  0:30"
            "\x1b[K\n");
}

TEST_F(ProgressTest, ATerminalIsUpdatedTenTimesASecond) {
  Progress progress("train", 1000000, terminal(80));
  for (int i = 1; i <= 1000; ++i) {
    time_ += 0.001;
    progress.update(i);
  }
  const std::string text = printed();
  EXPECT_GE(count(text, "\r"), 9u);
  EXPECT_LE(count(text, "\r"), 11u);
  EXPECT_EQ(count(text, "\n"), 0u);
}

TEST_F(ProgressTest, ColumnsAreOnlyMadeWhenTheyArePrinted) {
  int made = 0;
  const auto columns = [&] {
    ++made;
    return Columns{"loss 1"};
  };
  Progress on_terminal("a", 1000, terminal(80));
  for (int i = 1; i <= 1000; ++i) on_terminal.update(i, columns);
  EXPECT_EQ(made, 2) << "the first and the last";
  made = 0;
  Progress in_log("a", 1000, log());
  for (int i = 1; i <= 1000; ++i) in_log.update(i, columns);
  EXPECT_EQ(made, 10);
  in_log.update(1000, columns);
  EXPECT_EQ(made, 10) << "a finished loop makes none";
}

TEST_F(ProgressTest, ALineNeverExceedsTheTerminal) {
  for (int width = 0; width <= 130; ++width) {
    for (const int step : {0, 1, 399, 999, 1000}) {
      time_ = 100;
      Progress progress("größe", 1000, terminal(width));
      time_ = 107;
      progress.update(step, Columns{"loss 0.123", "accuracy 97.1%", "12345 examples/s"});
      progress.finish();
      const std::string text = printed();
      if (text == "\n") continue;  // no room, no line
      ASSERT_EQ(text[0], '\r');
      const std::string line = text.substr(1, text.find('\x1b') - 1);
      EXPECT_LE(code_points(line), static_cast<std::size_t>(std::max(0, width - 1))) << line;
    }
  }
}

TEST_F(ProgressTest, TheBarGivesWayFirstThenTheLastColumns) {
  const auto line = [&](int width) {
    time_ = 100;
    Progress progress("a", 10, terminal(width));
    time_ = 105;
    progress.update(5, Columns{"loss 1", "speed 2"});
    const std::string text = printed();
    progress.finish();
    printed();
    return text.substr(1, text.find('\x1b') - 1);
  };
  EXPECT_EQ(line(58), "a  50% █████        5/10  loss 1  speed 2  0:05  eta 0:05");
  EXPECT_EQ(line(50), "a  50%  5/10  loss 1  speed 2  0:05  eta 0:05");
  EXPECT_EQ(line(45), "a  50%  5/10  loss 1  0:05  eta 0:05");
  EXPECT_EQ(line(31), "a  50%  5/10  0:05  eta 0:05");
  EXPECT_EQ(line(11), "a  50%  5/");
}

TEST_F(ProgressTest, WideCharactersTakeTwoColumns) {
  Progress progress("訓練", 10, terminal(13));
  progress.update(5);
  EXPECT_EQ(printed(), "\r訓練  50%  5\x1b[K");
}

TEST_F(ProgressTest, ALogGetsPlainLines) {
  Progress progress("train", 1000, log());
  for (int i = 1; i <= 1000; ++i) {
    time_ += 0.1;
    progress.update(i, Columns{"loss " + std::to_string(i)});
  }
  progress.finish();
  const std::string text = printed();
  EXPECT_EQ(count(text, "\n"), 10u);
  EXPECT_EQ(text.substr(0, text.find('\n')), "train  10%  100/1000  loss 100  0:10  eta 1:30");
  EXPECT_EQ(text.substr(text.rfind("train")), "train 100% 1000/1000  loss 1000  1:40\n");
  for (const char c : text) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << static_cast<int>(c);
  }
}

TEST_F(ProgressTest, ADumbTerminalIsALog) {
  for (const char* term : {"dumb", ""}) {
    ProgressOptions options = terminal(80);
    options.term = term;
    Progress progress("a", 2, options);
    progress.update(1);
    progress.update(2);
    EXPECT_EQ(printed(), "a  50% 1/2  0:00  eta 0:00\na 100% 2/2  0:00\n");
  }
}

TEST_F(ProgressTest, LogLinesKeepTheirDistance) {
  ProgressOptions options = log();
  options.log_percent = 25;
  Progress progress("a", 100, options);
  for (const int step : {10, 26, 49, 51, 52, 60, 99, 100}) progress.update(step);
  const std::string text = printed();
  EXPECT_EQ(count(text, "\n"), 4u) << text;
  for (const char* percent : {"26%", "51%", "99%", "100%"}) EXPECT_EQ(count(text, percent), 1u);
}

TEST_F(ProgressTest, ALoopThatStopsEarlyKeepsItsLastLine) {
  {
    Progress progress("a", 100, log());
    progress.update(10, Columns{"loss 3"});
    printed();
    progress.update(15, Columns{"loss 2"});
    EXPECT_EQ(printed(), "");
    progress.finish();
    EXPECT_EQ(printed(), "a  15%  15/100  loss 2  0:00\n");
    progress.finish();
    progress.update(16, Columns{"loss 2"});
  }
  EXPECT_EQ(printed(), "");
}

TEST_F(ProgressTest, NothingIsPrintedTwice) {
  {
    Progress progress("a", 100, log());
    progress.update(50, Columns{"loss 3"});
    EXPECT_EQ(printed(), "a  50%  50/100  loss 3  0:00  eta 0:00\n");
  }
  EXPECT_EQ(printed(), "") << "the log already ends with this step";
  {
    Progress progress("a", 100, terminal(80));
    progress.update(50);
    EXPECT_EQ(count(printed(), "50/100"), 1u);
    time_ += 1;
    progress.update(50);
    printed();
    time_ += 1;
    progress.update(100);
    EXPECT_EQ(count(printed(), "100/100"), 1u);
    progress.update(100);
    progress.finish();
  }
  EXPECT_EQ(printed(), "");
}

TEST_F(ProgressTest, AnUnchangedLineIsNotRedrawn) {
  ProgressOptions options = terminal(80);
  options.redraw_seconds = 0;
  Progress progress("a", 100, options);
  progress.update(10);
  EXPECT_EQ(count(printed(), "\r"), 1u);
  progress.update(10);
  EXPECT_EQ(printed(), "");
  progress.finish();
  EXPECT_EQ(count(printed(), "\r"), 1u) << "the eta goes";
}

TEST_F(ProgressTest, AnErrorInTheLoopGetsItsOwnLine) {
  const auto loop = [&] {
    Progress progress("a", 100, terminal(80));
    progress.update(50);
    throw std::runtime_error("loss is not finite");
  };
  EXPECT_THROW(loop(), std::runtime_error);
  EXPECT_EQ(out_.str().back(), '\n');
}

TEST_F(ProgressTest, ALoopWithoutStepsStillHasALine) {
  {
    Progress progress("a", 0, log());
  }
  EXPECT_EQ(printed(), "a 100% 0/0  0:00\n");
  {
    Progress progress("", 5, log());
  }
  EXPECT_EQ(printed(), "  0% 0/5  0:00\n");
}

TEST_F(ProgressTest, AResumedLoopCountsOnlyItsOwnTime) {
  ProgressOptions options = log();
  options.first_step = 500;
  Progress progress("a", 1000, options);
  time_ += 10;
  progress.update(501);
  EXPECT_EQ(printed(), "") << "half of the steps were done before";
  progress.update(600);
  EXPECT_EQ(printed(), "a  60%  600/1000  0:10  eta 0:40\n");
}

TEST_F(ProgressTest, TimesGrowToDays) {
  Progress progress("a", 10, log());
  time_ += 59.7;
  progress.update(1);
  EXPECT_EQ(printed(), "a  10%  1/10  1:00  eta 8:57\n");
  time_ += 3600;
  progress.update(2);
  EXPECT_EQ(printed(), "a  20%  2/10  1:01:00  eta 4:03:59\n");
  time_ += 86400;
  progress.update(3);
  EXPECT_EQ(printed(), "a  30%  3/10  1d 01:01:00  eta 2d 10:22:19\n");
}

TEST_F(ProgressTest, ControlCharactersBecomeSpaces) {
  Progress progress("a\nb", 2, log());
  progress.update(1, Columns{"x\r\x1b[31my", "", "z\u0085"});
  EXPECT_EQ(printed(), "a b  50% 1/2  x  [31my  z   0:00  eta 0:00\n");
}

TEST_F(ProgressTest, StepsOutOfRangeAreClamped) {
  Progress progress("a", 10, terminal(80));
  progress.update(-5);
  EXPECT_EQ(count(printed(), "  0% "), 1u);
  progress.update(12);
  EXPECT_EQ(count(printed(), "10/10"), 1u);
}

TEST_F(ProgressTest, WrongOptionsAreErrors) {
  EXPECT_THROW(Progress("a", -1, log()), Error);
  ProgressOptions options = log();
  options.log_percent = 0;
  EXPECT_THROW(Progress("a", 1, options), Error);
  options = log();
  options.first_step = -1;
  EXPECT_THROW(Progress("a", 1, options), Error);
}

}  // namespace
}  // namespace hom
