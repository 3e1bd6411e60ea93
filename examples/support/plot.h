// examples/support/plot.h -- line plots as SVG text.
#pragma once

#include <string>
#include <vector>

namespace hom {

/// A line through the points (x[i], y[i]), in their order.
///
/// A point with a coordinate that is NaN, infinite or beyond ±1e300 is a gap in the line, as is one
/// at or below 0 on a logarithmic axis. A point between two gaps is drawn as a dot.
struct Series {
  /// In the legend; an empty name has no entry there.
  std::string name;
  /// As many as `y`, or none for 0, 1, 2, …
  std::vector<double> x;
  std::vector<double> y;
};

/// What a plot shows. Texts are UTF-8; what XML forbids in them is replaced.
struct Plot {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::vector<Series> series = {};
  /// Whether the y axis is logarithmic.
  bool log_y = false;
  /// Size in CSS pixels, each from 200 to 10000.
  int width = 800;
  int height = 480;
};

/// The plot as a standalone SVG document, which may also be put into an HTML page as it is. Its
/// colors follow the reader's preference for a light or dark scheme. Many points that share a pixel
/// column are drawn by their extremes. The same plot always gives the same text.
///
/// Throws `Error` if a series has x but not as many as y, or a size is out of range.
std::string line_plot(const Plot& plot);

/// Writes `text` to the file `path`, in place of what was there. Throws `Error` if it can't.
void save_text(const std::string& path, const std::string& text);

}  // namespace hom
