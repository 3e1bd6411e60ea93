// categories/graph.h -- the category of pictures: an arrow is a graph of named boxes and wires
//
//     save_svg(graph(f, f64[{}], f64[{}]), "f.svg");
//
// After C. Elliott, Compiling to Categories (ICFP 2017), section 7: a primitive is a box,
// composition joins wires, a product is wires side by side. Wires carry their name, dtype and shape
// where they start; boxes show the user's line when pointed at. Programs that are called are drawn
// inside a titled box.
//
// At most `GraphOptions::max_steps` steps are drawn. Above that, called programs are drawn as one
// node each, the largest first; then runs of steps of one line, the longest first, become one node
// `×N steps`; then runs of steps of one function (`named`), and then stretches of equal length.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <hom/core/function.h>
#include <hom/core/program.h>

namespace hom {

/// A picture, before anybody has decided where things go: plain data, so that other drawers than
/// graphviz can read it.
struct Graph {
  static constexpr std::uint32_t none = UINT32_MAX;

  enum class Kind : std::uint8_t { input, output, constant, captured, operation, group };

  struct Node {
    Kind kind;
    /// The operation, the value of a constant, or the wire of an input or output.
    std::string title;
    /// Attributes that the types of the wires do not tell: `axes=[0]`; what a group consists of.
    std::string detail = {};
    /// How many wires end here; they are numbered from the left.
    std::uint32_t operands = 0;
    /// The wires that start here, as `v3: f32[64, 10]`; none for a group, whose wires only have
    /// their ends.
    std::vector<std::string> results = {};
    /// `train.cc:23, in `forward``
    std::string tooltip = {};
    /// The box around it, or `none`.
    std::uint32_t box = none;
  };

  struct Wire {
    std::uint32_t from;
    /// The result of `from`, or `none` where it is a group.
    std::uint32_t result;
    std::uint32_t to;
    /// The operand of `to`, or `none` where it is a group.
    std::uint32_t operand;
    std::string name;
    /// How many wires of the program it stands for.
    std::uint32_t count = 1;
  };

  /// A frame around the body of a called program.
  struct Box {
    std::string title;
    std::string tooltip;
    std::uint32_t parent = none;
  };

  std::string title;
  std::vector<Node> nodes;
  std::vector<Wire> wires;
  std::vector<Box> boxes;
};

struct GraphOptions {
  /// Steps that are drawn one by one; also the most inputs, and outputs, that are.
  std::size_t max_steps = 150;
};

/// The picture of `program`.
Graph graph(const Program& program, const GraphOptions& options = {});

/// The picture of a function at arguments.
HOM_READING(Graph, graph, graph)

/// The picture in graphviz's language. Equal programs give equal text.
std::string to_dot(const Graph& graph);

/// The picture as SVG, laid out by graphviz. Throws `Error` where `dot` is not installed or fails.
std::string to_svg(const Graph& graph, const Location& at = Location::current());

/// Write files; throw `Error` where that fails.
void save_dot(const Graph& graph, const std::string& path,
              const Location& at = Location::current());
void save_svg(const Graph& graph, const std::string& path,
              const Location& at = Location::current());

}  // namespace hom
