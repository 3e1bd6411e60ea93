// examples/support/plot.cc -- axes, ticks and SVG elements of line plots.
#include <hom/examples/support/plot.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include <hom/core/error.h>

namespace hom {
namespace {

constexpr double kLargest = 1e300;
constexpr int kColors = 8;
constexpr double kGlyph = 6.6;  // the mean width of a letter at 12 px
constexpr double kLegendRow = 20;
constexpr std::size_t kLegendLetters = 28;

// Colors that stay apart for color-blind readers too; the second of each pair is for dark schemes.
constexpr std::string_view kPalette[kColors][2] = {
    {"#0067b1", "#58a9e8"}, {"#c8500a", "#f2894a"}, {"#00805a", "#3fc495"}, {"#a3307a", "#e080bd"},
    {"#8a6a00", "#e0b93a"}, {"#0a7f94", "#58c8dc"}, {"#5b4bb5", "#a79bf0"}, {"#5a5a5a", "#b4b4b4"}};

// ---- texts ----------------------------------------------------------------------------------

// Text that no locale changes.
std::string show(double value, std::chars_format format, int precision) {
  char text[512];  // a fixed 1e300 has 301 digits, and a few follow its point
  const auto [end, error] =
      std::to_chars(text, text + sizeof(text), value == 0 ? 0.0 : value, format, precision);
  return error == std::errc() ? std::string(text, end) : "?";
}

// Removes zeros after a decimal point, and the point.
void trim_zeros(std::string& digits) {
  if (digits.find('.') == std::string::npos) return;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
}

// A coordinate, to a tenth of a pixel.
std::string px(double value) {
  std::string text = show(value, std::chars_format::fixed, 1);
  trim_zeros(text);
  return text == "-0" ? "0" : text;
}

// The code point that starts at `at`, and its bytes; one byte and U+FFFD where the text is no UTF-8
// or XML has no such character.
std::pair<char32_t, std::size_t> decode(std::string_view text, std::size_t at) {
  constexpr char32_t kBad = 0xfffd;
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) {
    const bool allowed = lead >= 0x20 || lead == '\t' || lead == '\n' || lead == '\r';
    return {allowed ? lead : kBad, 1};
  }
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + size > text.size()) return {kBad, 1};
  char32_t code = lead & (0x7f >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xc0) != 0x80) return {kBad, 1};
    code = code << 6 | (byte & 0x3f);
  }
  const bool overlong = code < (size == 2 ? 0x80u : size == 3 ? 0x800u : 0x10000u);
  if (overlong || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return {kBad, 1};
  if (code == 0xfffe || code == 0xffff) return {kBad, size};
  return {code, size};
}

// `text` for use between tags or in an attribute, at most `letters` long.
std::string xml(std::string_view text, std::size_t letters) {
  std::size_t total = 0;
  for (std::size_t at = 0; at < text.size(); at += decode(text, at).second) ++total;
  std::string out;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, size] = decode(text, at);
    if (++count == letters && total > letters) return out + "…";
    switch (code) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case 0xfffd:
        out += "\ufffd";
        break;
      default:
        out += text.substr(at, size);
    }
    at += size;
  }
  return out;
}

std::size_t letters_in(double width) {
  return static_cast<std::size_t>(std::max(1.0, width / kGlyph));
}

// ---- axes -----------------------------------------------------------------------------------

struct Tick {
  double value;
  std::string label;
};

// The label of a tick among others that are `step` apart.
std::string tick_label(double value, double step) {
  const double size = std::max(std::abs(value), step);
  if (std::abs(value) < step / 2) return "0";
  const int top = static_cast<int>(std::floor(std::log10(size)));
  const int last = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  if (size < 1e6 && size >= 1e-4) {
    return show(value, std::chars_format::fixed, std::clamp(-last, 0, 20));
  }
  const std::string text =
      show(value, std::chars_format::scientific, std::clamp(top - last, 0, 17));
  const std::size_t e = text.find('e');
  // "1e+06" becomes "1e6", "1e-07" becomes "1e-7".
  const int exponent = std::stoi(text.substr(e + 1));
  return text.substr(0, e) + "e" + std::to_string(exponent);
}

// About `count` (at least 1) steps of 1, 2 or 5 times a power of ten between `low` and `high`.
std::vector<Tick> linear_ticks(double low, double high, int count) {
  const double rough = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double part = rough / power;
  const double step = (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10) * power;
  std::vector<Tick> ticks;
  // Counted by integers: adding steps up would drift, and might not move at all.
  const double first = std::ceil(low / step - 1e-9);
  const double last = std::floor(high / step + 1e-9);
  for (int i = 0; i <= static_cast<int>(std::min(last - first, 100.0)); ++i) {
    const double value = (first + i) * step;
    ticks.push_back({value, tick_label(value, step)});
  }
  return ticks;
}

// An axis from `low` to `high`; both are logarithms (base 10) on a logarithmic one.
struct Axis {
  double low;
  double high;
  bool log;

  bool shows(double value) const {
    return std::abs(value) <= kLargest && (!log || value > 0);  // false for NaN
  }
  double scale(double value) const { return log ? std::log10(value) : value; }
  double fraction(double value) const { return (scale(value) - low) / (high - low); }
};

// An axis around `values`, all of which it can show. `padding` is the free part at both ends.
Axis make_axis(const std::vector<double>& values, bool log, double padding) {
  if (values.empty()) return {0, 1, log};
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  Axis axis{0, 0, log};
  axis.low = axis.scale(*least);
  axis.high = axis.scale(*greatest);
  // What the range is small against; a logarithm is a ratio already.
  const double size = log ? 1 : std::max(std::abs(axis.low), std::abs(axis.high));
  const double range = axis.high - axis.low;
  if (range > size * 1e-9 && range > 1e-290) {
    axis.low -= range * padding;
    axis.high += range * padding;
  } else {  // one value, or as good as one: it goes to the middle
    const double margin = log ? 0.5 : size > 1e-280 ? size * 0.1 : 1;
    axis.low -= margin;
    axis.high += margin;
  }
  return axis;
}

std::vector<Tick> log_ticks(const Axis& axis, int count) {
  // The padding of an axis may go past the powers that a double can hold.
  const int first = std::max(-307, static_cast<int>(std::ceil(axis.low - 1e-9)));
  const int last = std::min(307, static_cast<int>(std::floor(axis.high + 1e-9)));
  std::vector<Tick> ticks;
  if (last - first >= 2) {  // powers of ten, or every so many of them
    const int stride = (last - first) / (2 * count) + 1;
    for (int i = first; i <= last; ++i) {
      if (i % stride == 0)
        ticks.push_back({std::pow(10, i), tick_label(std::pow(10, i), std::pow(10, i))});
    }
    return ticks;
  }
  for (int i = first - 1; i <= last; ++i) {  // 1, 2 and 5 times powers of ten
    for (const int digit : {1, 2, 5}) {
      const double step = std::pow(10, i);
      const double at = std::log10(digit * step);
      if (at >= axis.low - 1e-9 && at <= axis.high + 1e-9) {
        ticks.push_back({digit * step, tick_label(digit * step, step)});
      }
    }
  }
  // Within a small part of a decade a logarithm is all but straight.
  if (ticks.size() < 3) {
    ticks = linear_ticks(std::pow(10, axis.low), std::pow(10, axis.high), count);
  }
  return ticks;
}

// ---- lines ----------------------------------------------------------------------------------

struct Point {
  double x;
  double y;
};

// The part of a line without gaps, with at most four points in each half pixel of width: where it
// enters, its lowest and highest points, and where it leaves. What is left out would be covered.
std::vector<Point> thin(const std::vector<Point>& points) {
  const auto column = [](const Point& point) { return std::floor(point.x * 2); };
  std::vector<Point> kept;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin + 1;
    while (end < points.size() && column(points[end]) == column(points[begin])) ++end;
    std::size_t low = begin;
    std::size_t high = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (points[i].y < points[low].y) low = i;
      if (points[i].y > points[high].y) high = i;
    }
    std::size_t picks[4] = {begin, std::min(low, high), std::max(low, high), end - 1};
    for (int i = 0; i < 4; ++i) {
      if (i == 0 || picks[i] != picks[i - 1]) kept.push_back(points[picks[i]]);
    }
    begin = end;
  }
  return kept;
}

std::string style() {
  std::string text =
      "<style>\n"
      ".hom-plot{font:12px system-ui,sans-serif}\n"
      ".hom-plot .bg{fill:#fff}\n"
      ".hom-plot text{fill:#333}\n"
      ".hom-plot .title{font-size:16px;font-weight:600}\n"
      ".hom-plot .grid{stroke:#e4e4e4;stroke-width:1}\n"
      ".hom-plot .axis{stroke:#888;stroke-width:1;fill:none}\n"
      ".hom-plot .line{stroke-width:1.8;fill:none;stroke-linejoin:round;stroke-linecap:round}\n";
  std::string dark =
      "@media(prefers-color-scheme:dark){\n"
      ".hom-plot .bg{fill:#161616}\n"
      ".hom-plot text{fill:#ddd}\n"
      ".hom-plot .grid{stroke:#333}\n"
      ".hom-plot .axis{stroke:#888}\n";
  for (int i = 0; i < kColors; ++i) {
    const std::string name = ".hom-plot .s" + std::to_string(i);
    for (int scheme = 0; scheme < 2; ++scheme) {
      std::string& out = scheme == 0 ? text : dark;
      const std::string_view color = kPalette[i][scheme];
      out.append(name).append("{stroke:").append(color).append("}");
      out.append(name).append(".dot{fill:").append(color).append("}\n");
    }
  }
  return text + dark + "}\n</style>\n";
}

// The class and, where the colors start again, the dashes of a series.
std::string look(std::size_t series) {
  static constexpr std::string_view kDashes[] = {"", "6 3", "2 3", "8 3 2 3"};
  const std::string_view dashes = kDashes[series / kColors % std::size(kDashes)];
  return "class=\"line s" + std::to_string(series % kColors) + "\"" +
         (dashes.empty() ? "" : " stroke-dasharray=\"" + std::string(dashes) + "\"");
}

std::string line(double x1, double y1, double x2, double y2, const std::string& attributes) {
  return "<path d=\"M" + px(x1) + " " + px(y1) + "L" + px(x2) + " " + px(y2) + "\" " + attributes +
         "/>\n";
}

std::string text_at(double x, double y, const std::string& attributes, const std::string& escaped) {
  return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\"" + attributes + ">" + escaped + "</text>\n";
}

// One series: a path with a piece for each part without gaps, and dots for lone points.
std::string draw(const std::vector<std::vector<Point>>& pieces, std::size_t series) {
  std::string path;
  std::string dots;
  for (const std::vector<Point>& piece : pieces) {
    if (piece.size() == 1) {
      dots += "<circle cx=\"" + px(piece[0].x) + "\" cy=\"" + px(piece[0].y) +
              "\" r=\"2.5\" class=\"dot s" + std::to_string(series % kColors) + "\"/>\n";
      continue;
    }
    char command = 'M';
    for (const Point& point : thin(piece)) {
      path += command + px(point.x) + " " + px(point.y);
      command = 'L';
    }
  }
  return (path.empty() ? "" : "<path d=\"" + path + "\" " + look(series) + "/>\n") + dots;
}

void check(const Plot& plot) {
  for (const int size : {plot.width, plot.height}) {
    if (size < 200 || size > 10000) {
      throw Error("plot: a size of " + std::to_string(plot.width) + " by " +
                  std::to_string(plot.height) + " pixels; each must be from 200 to 10000");
    }
  }
  for (const Series& series : plot.series) {
    if (!series.x.empty() && series.x.size() != series.y.size()) {
      throw Error("plot: series '" + series.name + "' has " + std::to_string(series.x.size()) +
                  " x and " + std::to_string(series.y.size()) + " y");
    }
  }
}

}  // namespace

std::string line_plot(const Plot& plot) {
  check(plot);
  const double width = plot.width;
  const double height = plot.height;

  // Axes. A point counts only if both of its coordinates can be shown.
  std::vector<double> xs;
  std::vector<double> ys;
  const Axis any_x{0, 1, false};
  const Axis any_y{0, 1, plot.log_y};
  const auto x_of = [](const Series& series, std::size_t i) {
    return series.x.empty() ? static_cast<double>(i) : series.x[i];
  };
  for (const Series& series : plot.series) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (!any_x.shows(x_of(series, i)) || !any_y.shows(series.y[i])) continue;
      xs.push_back(x_of(series, i));
      ys.push_back(series.y[i]);
    }
  }
  const Axis x_axis = make_axis(xs, false, 0);
  const Axis y_axis = make_axis(ys, plot.log_y, 0.04);

  // Margins.
  std::vector<std::size_t> named;
  std::size_t longest_name = 0;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const std::string& name = plot.series[i].name;
    if (name.empty()) continue;
    named.push_back(i);
    std::size_t letters = 0;
    for (std::size_t at = 0; at < name.size(); at += decode(name, at).second) ++letters;
    longest_name = std::max(longest_name, std::min(letters, kLegendLetters));
  }
  const double top = plot.title.empty() ? 16 : 40;
  const double bottom = height - (plot.x_label.empty() ? 32 : 52);
  const int y_count = static_cast<int>((bottom - top) / 60) + 1;
  const std::vector<Tick> y_ticks =
      plot.log_y ? log_ticks(y_axis, y_count) : linear_ticks(y_axis.low, y_axis.high, y_count);
  std::size_t longest_tick = 1;
  for (const Tick& tick : y_ticks) longest_tick = std::max(longest_tick, tick.label.size());
  const double left = std::min(
      width - 80, (plot.y_label.empty() ? 16 : 38) + kGlyph * static_cast<double>(longest_tick));
  double legend =
      named.empty() ? 0 : std::min(width * 0.4, 44 + kGlyph * static_cast<double>(longest_name));
  if (width - 20 - legend < left + 60) {  // no room for both: the lines matter more
    legend = 0;
    named.clear();
  }
  const double right = width - 20 - legend;
  const std::vector<Tick> x_ticks =
      linear_ticks(x_axis.low, x_axis.high, static_cast<int>((right - left) / 90) + 1);
  const auto to_x = [&](double x) { return left + x_axis.fraction(x) * (right - left); };
  const auto to_y = [&](double y) { return bottom - y_axis.fraction(y) * (bottom - top); };

  const std::string size =
      std::to_string(plot.width) + "\" height=\"" + std::to_string(plot.height);
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"hom-plot\" role=\"img\" width=\"" + size +
      "\" viewBox=\"0 0 " + std::to_string(plot.width) + " " + std::to_string(plot.height) +
      "\">\n";
  if (!plot.title.empty()) svg += "<title>" + xml(plot.title, SIZE_MAX) + "</title>\n";
  svg += style();
  svg += "<rect class=\"bg\" width=\"" + size + "\"/>\n";

  // Grid and ticks.
  for (const Tick& tick : y_ticks) {
    svg += line(left, to_y(tick.value), right, to_y(tick.value), "class=\"grid\"");
    svg +=
        text_at(left - 8, to_y(tick.value) + 4, " text-anchor=\"end\"", xml(tick.label, SIZE_MAX));
  }
  for (const Tick& tick : x_ticks) {
    svg += line(to_x(tick.value), top, to_x(tick.value), bottom, "class=\"grid\"");
    svg += text_at(to_x(tick.value), bottom + 18, " text-anchor=\"middle\"",
                   xml(tick.label, SIZE_MAX));
  }
  svg += "<path class=\"axis\" d=\"M" + px(left) + " " + px(top) + "V" + px(bottom) + "H" +
         px(right) + "\"/>\n";

  // Titles.
  if (!plot.title.empty()) {
    svg += text_at(width / 2, 24, " class=\"title\" text-anchor=\"middle\"",
                   xml(plot.title, letters_in(width * 0.72)));
  }
  if (!plot.x_label.empty()) {
    svg += text_at((left + right) / 2, height - 12, " text-anchor=\"middle\"",
                   xml(plot.x_label, letters_in(right - left)));
  }
  if (!plot.y_label.empty()) {
    svg += text_at(0, 0,
                   " text-anchor=\"middle\" transform=\"translate(18 " + px((top + bottom) / 2) +
                       ") rotate(-90)\"",
                   xml(plot.y_label, letters_in(bottom - top)));
  }

  // Series.
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    const Series& series = plot.series[s];
    std::vector<std::vector<Point>> pieces;
    bool gap = true;
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      const double x = x_of(series, i);
      const bool shown = x_axis.shows(x) && y_axis.shows(series.y[i]);
      if (shown && gap) pieces.emplace_back();
      if (shown) pieces.back().push_back({to_x(x), to_y(series.y[i])});
      gap = !shown;
    }
    svg += draw(pieces, s);
  }

  // Legend: as many rows as fit, the last of which counts the rest.
  const auto rows = static_cast<std::size_t>((bottom - top) / kLegendRow);
  for (std::size_t row = 0; row < std::min(rows, named.size()); ++row) {
    const double y = top + 8 + kLegendRow * static_cast<double>(row);
    if (row + 1 == rows && named.size() > rows) {
      svg += text_at(right + 16, y + 4, "", "+" + std::to_string(named.size() - row) + " more");
      break;
    }
    svg += line(right + 16, y, right + 36, y, look(named[row]));
    svg += text_at(
        right + 42, y + 4, "",
        xml(plot.series[named[row]].name, std::min(kLegendLetters, letters_in(legend - 24))));
  }
  return svg + "</svg>\n";
}

void save_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw Error(path + ": can't be written: " + std::generic_category().message(errno));
}

}  // namespace hom
