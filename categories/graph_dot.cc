// categories/graph_dot.cc -- pictures in graphviz's language, and through graphviz as SVG
//
// Colours are chosen to read on white and on black: the background is transparent, nodes bring
// their own, and wires and frames are of a middle grey.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <spawn.h>

#include <hom/categories/graph.h>

namespace hom {
namespace {

/// Within labels of graphviz, which read like HTML.
std::string html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

/// A quoted string of graphviz, which replaces `\N` and the like, and entities as in HTML.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\\')
      result += "\\\\";
    else if (c == '"')
      result += "&quot;";
    else if (c == '&')
      result += "&amp;";
    else
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + "\"";
}

struct Look {
  const char* fill;
  const char* line;
};

Look look_of(Graph::Kind kind) {
  switch (kind) {
    case Graph::Kind::input:
      return {"#d9f2e1", "#2f9e5b"};
    case Graph::Kind::output:
      return {"#fdebc8", "#d08a1d"};
    case Graph::Kind::constant:
      return {"#eef1f5", "#97a1af"};
    case Graph::Kind::captured:
      return {"#ebe3fb", "#8460c9"};
    case Graph::Kind::operation:
      return {"#dbe8fb", "#4a7fd0"};
    case Graph::Kind::group:
      break;
  }
  return {"#c3d6f4", "#2f5fae"};
}

constexpr const char* wire_colour = "#7d8899";
constexpr const char* ink = "#16202e";
constexpr const char* pale_ink = "#4a5768";

class DotWriter {
 public:
  explicit DotWriter(const Graph& graph)
      : graph_(graph), nodes_in_(graph.boxes.size() + 1), boxes_in_(graph.boxes.size() + 1) {
    for (std::uint32_t n = 0; n < graph.nodes.size(); ++n)
      nodes_in_[place_of(graph.nodes[n].box)].push_back(n);
    for (std::uint32_t b = 0; b < graph.boxes.size(); ++b)
      boxes_in_[place_of(graph.boxes[b].parent)].push_back(b);
  }

  std::string write() {
    out_ = "digraph {\n";
    line(
        "graph [bgcolor=transparent, rankdir=TB, nodesep=0.18, ranksep=0.28, "
        "fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, tooltip=" +
        in_quotes(graph_.title.empty() ? "program" : graph_.title) + "]");
    line(
        "node [shape=box, style=\"rounded,filled\", margin=\"0.06,0.01\", height=0, width=0, "
        "fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, fontcolor=\"" +
        std::string(ink) + "\"]");
    line("edge [color=\"" + std::string(wire_colour) + "\", fontcolor=\"" + wire_colour +
         "\", fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, arrowsize=0.5, penwidth=0.9]");
    if (!graph_.title.empty())
      line("label=" + in_quotes(graph_.title) + " labelloc=t fontsize=13 fontcolor=\"" +
           wire_colour + "\"");
    write_contents(0);
    for (const Graph::Wire& wire : graph_.wires) write_wire(wire);
    return out_ + "}\n";
  }

 private:
  std::size_t place_of(std::uint32_t box) const {
    return box == Graph::none ? 0 : box + std::size_t{1};
  }

  void line(const std::string& text) { out_ += indent_ + text + "\n"; }

  /// Recursion is as deep as boxes are nested.
  void write_contents(std::size_t place) {
    for (std::uint32_t n : nodes_in_[place]) write_node(n);
    for (std::uint32_t b : boxes_in_[place]) {
      const Graph::Box& box = graph_.boxes[b];
      line("subgraph cluster_" + std::to_string(b) + " {");
      indent_ += "  ";
      line("label=" + in_quotes(box.title) + " tooltip=" + in_quotes(box.tooltip) +
           " style=rounded color=\"" + wire_colour + "\" bgcolor=\"#7d88991c\" fontcolor=\"" +
           wire_colour + "\" labeljust=l margin=10");
      write_contents(b + std::size_t{1});
      indent_.resize(indent_.size() - 2);
      line("}");
    }
  }

  void write_node(std::uint32_t n) {
    const Graph::Node& node = graph_.nodes[n];
    const Look look = look_of(node.kind);
    std::string label =
        "<<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"1\">";
    // An empty row keeps titles off the rounded border, too.
    const std::uint32_t ports = has_ports(node) ? node.operands : 1;
    if (is_operation(node)) label += cells("i", std::vector<std::string>(ports));
    switch (node.kind) {
      case Graph::Kind::input:
      case Graph::Kind::output:
      case Graph::Kind::constant:
        label += cells("r", {html(node.title)});
        break;
      case Graph::Kind::captured:
      case Graph::Kind::operation:
      case Graph::Kind::group: {
        label += "<TR><TD><B>" + html(node.title) + "</B></TD></TR>";
        if (!node.detail.empty()) label += "<TR><TD>" + small(node.detail) + "</TD></TR>";
        std::vector<std::string> wires;
        wires.reserve(node.results.size());
        for (const std::string& wire : node.results) wires.push_back(small(wire));
        if (!wires.empty()) label += cells("r", wires);
      }
    }
    label += "</TABLE>>";
    line("n" + std::to_string(n) + " [color=\"" + look.line + "\", fillcolor=\"" + look.fill +
         "\", label=" + label +
         ", tooltip=" + in_quotes(node.tooltip.empty() ? node.title : node.tooltip) + "]");
  }

  static std::string small(std::string_view text) {
    return "<FONT POINT-SIZE=\"9\" COLOR=\"" + std::string(pale_ink) + "\">" + html(text) +
           "</FONT>";
  }

  /// A row of cells with ports `i0` … or `r0` …, where wires end or start.
  static std::string cells(const char* port, const std::vector<std::string>& contents) {
    std::string row;
    for (std::size_t i = 0; i < contents.size(); ++i) {
      row += "<TD PORT=\"" + (port + std::to_string(i)) + "\"" +
             (contents[i].empty() ? " HEIGHT=\"3\"" : "") + ">" + contents[i] + "</TD>";
    }
    if (contents.size() == 1) return "<TR>" + row + "</TR>";
    return "<TR><TD CELLPADDING=\"0\"><TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
           "CELLPADDING=\"1\"><TR>" +
           row + "</TR></TABLE></TD></TR>";
  }

  void write_wire(const Graph::Wire& wire) {
    std::string text = "n" + std::to_string(wire.from);
    if (wire.result != Graph::none) text += ":r" + std::to_string(wire.result) + ":s";
    text += " -> n" + std::to_string(wire.to);
    if (wire.operand != Graph::none) {
      const bool to_port = has_ports(graph_.nodes[wire.to]);
      text += to_port ? ":i" + std::to_string(wire.operand) + ":n" : ":n";
    }
    text += " [tooltip=" + in_quotes(wire.name);
    if (wire.count > 1) text += ", label=\"×" + std::to_string(wire.count) + "\", penwidth=1.8";
    line(text + "]");
  }

  static bool is_operation(const Graph::Node& node) {
    return node.kind == Graph::Kind::captured || node.kind == Graph::Kind::operation ||
           node.kind == Graph::Kind::group;
  }

  /// Operations with more operands take all wires in the middle.
  static bool has_ports(const Graph::Node& node) {
    constexpr std::uint32_t most = 8;
    return is_operation(node) && node.operands > 0 && node.operands <= most;
  }

  const Graph& graph_;
  // By box, after those outside of all.
  std::vector<std::vector<std::uint32_t>> nodes_in_;
  std::vector<std::vector<std::uint32_t>> boxes_in_;
  std::string out_;
  std::string indent_ = "  ";
};

/// A file that is gone at the end.
class TemporaryFile {
 public:
  TemporaryFile() : path_((std::filesystem::temp_directory_path() / "hom_graph_XXXXXX").string()) {
    descriptor_ = mkstemp(path_.data());
    if (descriptor_ < 0)
      throw Error("cannot make a temporary file like " + path_ + ": " + std::strerror(errno));
  }
  ~TemporaryFile() {
    close(descriptor_);
    unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return std::move(text).str();
  }

 private:
  std::string path_;
  int descriptor_;
};

constexpr const char* install_hint =
    "install graphviz (apt install graphviz, brew install graphviz), or save_dot and draw it "
    "elsewhere";

/// Runs `dot` on files instead of pipes, of which two can wait for each other.
std::string run_dot(const std::string& dot, const Location& at) {
  const TemporaryFile input;
  const TemporaryFile output;
  const TemporaryFile errors;
  std::ofstream(input.path(), std::ios::binary) << dot;

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, input.path().c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.path().c_str(), O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.path().c_str(), O_WRONLY, 0);
  std::string program = "dot";
  std::string format = "-Tsvg";
  const std::array<char*, 3> arguments{program.data(), format.data(), nullptr};
  pid_t process = 0;
  const int problem = posix_spawnp(&process, "dot", &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  require(problem == 0, at, [&] {
    return Complaint{"cannot run graphviz's `dot`: " + std::string(std::strerror(problem)),
                     install_hint};
  });

  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  std::string svg = output.read();
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0 && !svg.empty(), at, [&] {
    return Complaint{"graphviz's `dot` failed: " + errors.read(),
                     "save_dot shows what it was given"};
  });
  return svg;
}

void save(const std::string& text, const std::string& path, const Location& at) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  require(file.good(), at, [&] {
    return Complaint{"cannot write " + path + ": " + std::strerror(errno),
                     "does its folder exist?"};
  });
}

}  // namespace

std::string to_dot(const Graph& graph) { return DotWriter(graph).write(); }

std::string to_svg(const Graph& graph, const Location& at) { return run_dot(to_dot(graph), at); }

void save_dot(const Graph& graph, const std::string& path, const Location& at) {
  save(to_dot(graph), path, at);
}

void save_svg(const Graph& graph, const std::string& path, const Location& at) {
  save(to_svg(graph, at), path, at);
}

}  // namespace hom
