// tests/unit/plot_test.cc -- SVG line plots: what is drawn, and odd data, texts and sizes.
#include <hom/examples/support/plot.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include <hom/core/error.h>

namespace hom {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Plot plot_of(std::vector<double> y, bool log_y = false) {
  Plot plot;
  plot.series = {{"loss", {}, std::move(y)}};
  plot.log_y = log_y;
  return plot;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

// What stands between each `open` and the next `close`.
std::vector<std::string> between(const std::string& text, const std::string& open,
                                 const std::string& close) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    at += open.size();
    const std::size_t end = text.find(close, at);
    found.push_back(text.substr(at, end - at));
  }
  return found;
}

// The data of the paths that draw series, then the legend's.
std::vector<std::string> lines(const std::string& svg) {
  std::vector<std::string> found;
  for (const std::string& path : between(svg, "<path d=\"", "/>")) {
    if (count(path, "class=\"line") == 1) found.push_back(path.substr(0, path.find('"')));
  }
  return found;
}

struct Position {
  double x;
  double y;
};

// The corners of a path of M and L.
std::vector<Position> corners(std::string path) {
  std::replace_if(path.begin(), path.end(), [](char c) { return c == 'M' || c == 'L'; }, ' ');
  std::istringstream numbers(path);
  std::vector<Position> found;
  for (Position at; numbers >> at.x >> at.y;) found.push_back(at);
  EXPECT_TRUE(numbers.eof()) << path;
  return found;
}

// Every number in the drawing is finite, and every line inside it.
void expect_inside(const std::string& svg, const Plot& plot) {
  EXPECT_EQ(count(svg, "nan"), 0u);
  EXPECT_EQ(count(svg, "inf"), 0u);
  for (const std::string& path : between(svg, "<path d=\"", "\"")) {
    for (const Position& at : corners(path)) {
      EXPECT_TRUE(at.x >= 0 && at.x <= plot.width && at.y >= 0 && at.y <= plot.height) << path;
    }
  }
}

TEST(PlotTest, ASeriesIsALineWithItsNameInTheLegend) {
  const std::string svg = line_plot(plot_of({1, 2, 4}));
  ASSERT_EQ(lines(svg).size(), 2u) << "the series and its legend entry";
  EXPECT_EQ(count(lines(svg)[0], "M"), 1u);
  EXPECT_EQ(count(lines(svg)[0], "L"), 2u);
  EXPECT_EQ(count(svg, ">loss</text>"), 1u);
  EXPECT_EQ(svg.substr(0, 5), "<svg ");
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  EXPECT_EQ(count(svg, "prefers-color-scheme:dark"), 1u);
}

TEST(PlotTest, TicksAreRoundNumbers) {
  Plot plot = plot_of({0, 1});
  plot.series[0].name = "";
  plot.series[0].x = {0, 1000};
  const std::string svg = line_plot(plot);
  for (const char* label : {"0", "0.2", "0.4", "0.6", "0.8", "1.0", "200", "400", "1000"}) {
    EXPECT_GE(count(svg, std::string(">") + label + "</text>"), 1u) << label;
  }
}

TEST(PlotTest, LargeAndSmallTicksHaveExponents) {
  EXPECT_EQ(count(line_plot(plot_of({0, 1e8})), ">2e7<"), 1u);
  EXPECT_EQ(count(line_plot(plot_of({0, 1e-6})), ">2e-7<"), 1u);
  // Neighbors on a large offset stay apart.
  EXPECT_EQ(count(line_plot(plot_of({1e6, 1e6 + 10})), ">1.000002e6<"), 1u);
}

TEST(PlotTest, ALogarithmicAxisHasPowersOfTen) {
  const std::string svg = line_plot(plot_of({0.001, 1, 1000}, true));
  for (const char* label : {">0.001<", ">0.01<", ">0.1<", ">1<", ">10<", ">100<", ">1000<"}) {
    EXPECT_EQ(count(svg, label), 1u) << label;
  }
  const std::string decade = line_plot(plot_of({1, 9}, true));
  EXPECT_EQ(count(decade, ">5<"), 1u);
  const std::string narrow = line_plot(plot_of({5, 5.5}, true));
  EXPECT_EQ(count(narrow, ">5.2<") + count(narrow, ">5.20<"), 1u);
  // Equal ratios are equal distances.
  const std::vector<Position> at = corners(lines(svg).at(0));
  ASSERT_EQ(at.size(), 3u);
  EXPECT_NEAR(at[0].y - at[1].y, at[1].y - at[2].y, 0.21);
}

TEST(PlotTest, ValuesThatHaveNoPlaceAreGaps) {
  for (const double gap : {kNan, kInf, -kInf, 1e301}) {
    const Plot plot = plot_of({1, 2, gap, 2, 1});
    const std::string svg = line_plot(plot);
    expect_inside(svg, plot);
    EXPECT_EQ(count(lines(svg).at(0), "M"), 2u) << gap;
    EXPECT_EQ(count(lines(svg).at(0), "L"), 2u) << gap;
  }
  for (const double gap : {0.0, -1.0}) {
    const std::string svg = line_plot(plot_of({1, 2, gap, 2, 1}, true));
    EXPECT_EQ(count(lines(svg).at(0), "M"), 2u) << gap;
  }
  Plot plot = plot_of({1, 2, 3});
  plot.series[0].x = {0, kNan, 2};
  EXPECT_EQ(count(line_plot(plot), "<circle"), 2u);
}

TEST(PlotTest, ALonePointIsADot) {
  EXPECT_EQ(count(line_plot(plot_of({7})), "<circle"), 1u);
  EXPECT_EQ(count(line_plot(plot_of({1, kNan, 7, kNan, 1, 2})), "<circle"), 2u);
  EXPECT_EQ(count(line_plot(plot_of({1, 2})), "<circle"), 0u);
}

TEST(PlotTest, OddDataGivesADrawingOfFiniteNumbers) {
  const double small = std::numeric_limits<double>::denorm_min();
  const std::vector<std::vector<double>> cases = {{},
                                                  {kNan, kInf},
                                                  {0},
                                                  {5, 5, 5},
                                                  {-5, -5},
                                                  {0, 0},
                                                  {small, small},
                                                  {0, small},
                                                  {small, 1e300},
                                                  {1e300, -1e300},
                                                  {1, 1 + 1e-15},
                                                  {1e15, 1e15 + 1},
                                                  {-1e-300, 1e-300},
                                                  {1e300, 1e300},
                                                  {-1, 0, 1},
                                                  {std::numeric_limits<double>::max()}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const bool log_y : {false, true}) {
      SCOPED_TRACE(std::to_string(i) + (log_y ? " log" : " linear"));
      Plot plot = plot_of(cases[i], log_y);
      expect_inside(line_plot(plot), plot);
      plot.series[0].x = cases[i];
      plot.width = plot.height = 200;
      expect_inside(line_plot(plot), plot);
    }
  }
  EXPECT_EQ(count(line_plot(Plot{}), "<svg "), 1u) << "no series at all";
}

TEST(PlotTest, TextsAreEscaped) {
  Plot plot = plot_of({1, 2});
  plot.title = "a<b> & \"c\" 'd'";
  plot.x_label = "x\x01y";
  plot.y_label = "\xff\xc3";
  plot.series[0].name = "größe & co";
  const std::string svg = line_plot(plot);
  EXPECT_EQ(count(svg, "<title>a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;</title>"), 1u);
  EXPECT_EQ(count(svg, ">x\ufffdy<"), 1u);
  EXPECT_EQ(count(svg, ">\ufffd\ufffd<"), 1u);
  EXPECT_EQ(count(svg, ">größe &amp; co<"), 1u);
}

TEST(PlotTest, LongTextsAreCutBetweenLetters) {
  Plot plot = plot_of({1, 2});
  for (int i = 0; i < 400; ++i) plot.series[0].name += "ö";
  plot.title = plot.x_label = plot.y_label = plot.series[0].name;
  const std::string svg = line_plot(plot);
  EXPECT_EQ(count(svg, "ö…"), 4u);
  EXPECT_EQ(count(svg, "\ufffd"), 0u);
  expect_inside(svg, plot);
}

TEST(PlotTest, ManySeriesDifferAndTheLegendCountsTheRest) {
  Plot plot;
  for (int i = 0; i < 100; ++i) plot.series.push_back({"s" + std::to_string(i), {}, {1.0 * i, 2}});
  const std::string svg = line_plot(plot);
  expect_inside(svg, plot);
  EXPECT_EQ(count(svg, " more</text>"), 1u);
  EXPECT_GT(count(svg, "stroke-dasharray=\"2 3\""), 0u);
}

TEST(PlotTest, ManyPointsAreThinnedToTheirExtremes) {
  std::vector<double> y(200000, 0.5);
  y[123456] = 1;
  y[54321] = 0;
  const Plot plot = plot_of(y);
  const std::string svg = line_plot(plot);
  EXPECT_LT(svg.size(), 100000u);
  // Both spikes are there, as high and low as in a plot of nothing else.
  const std::vector<Position> spikes = corners(lines(line_plot(plot_of({0, 1}))).at(0));
  const std::vector<Position> thinned = corners(lines(svg).at(0));
  for (const Position& spike : spikes) {
    EXPECT_EQ(std::count_if(thinned.begin(), thinned.end(),
                            [&](const Position& at) { return at.y == spike.y; }),
              1);
  }
}

TEST(PlotTest, TheSamePlotGivesTheSameText) {
  EXPECT_EQ(line_plot(plot_of({1, 3, 2})), line_plot(plot_of({1, 3, 2})));
}

TEST(PlotTest, WrongPlotsAreErrors) {
  Plot plot = plot_of({1, 2});
  plot.series[0].x = {1};
  EXPECT_THROW(line_plot(plot), Error);
  plot = plot_of({1, 2});
  plot.width = 199;
  EXPECT_THROW(line_plot(plot), Error);
  plot.width = 10001;
  EXPECT_THROW(line_plot(plot), Error);
}

TEST(PlotTest, TextIsSavedOrThePathIsNamed) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "plot_test.svg";
  save_text(path.string(), "a longer text\n");
  save_text(path.string(), "text\n");
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "text\n");
  std::filesystem::remove(path);
  const std::string missing =
      (std::filesystem::path(testing::TempDir()) / "no_such_directory" / "a.svg").string();
  try {
    save_text(missing, "text");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), missing + ": can't be written: No such file or directory");
  }
}

}  // namespace
}  // namespace hom
