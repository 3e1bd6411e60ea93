// tests/laws/random_kernel_coverage.cc -- which kinds of nodes and statements have been drawn
#include <algorithm>

#include <hom/backends/nests/nest_functions.h>
#include <hom/tests/laws/random_kernel.h>

namespace hom::laws {
namespace {

using nest::Combine;
using nest::Function;
using nest::Node;

std::string of_dtype(std::string_view what, Dtype dtype) {
  return std::string(what) + " " + std::string(dtype.name());
}

std::string loop_text(const nest::Kernel& kernel, const nest::Loop& loop) {
  std::string text = "loop of " + std::to_string(loop.axes.size()) + " axes";
  if (kernel.vector_axis == loop.axes.back()) text += ", vectorised";
  if (loop.reverse) text += ", down";
  if (!loop.tile.empty()) text += ", in tiles";
  if (!loop.carries.empty()) text += ", carrying";
  if (!loop.reductions.empty()) text += ", reducing";
  return text;
}

/// Whether the next value of a state is another state.
bool exchanges(const nest::Loop& loop) {
  return std::any_of(loop.carries.begin(), loop.carries.end(), [&](const nest::Carry& carry) {
    return std::any_of(loop.carries.begin(), loop.carries.end(), [&](const nest::Carry& other) {
      return carry.state != other.state && carry.next == other.state;
    });
  });
}

template <class Count>
void count_block(const nest::Kernel& kernel, const nest::Block& block,
                 const std::vector<bool>& varies, const Count& count) {
  for (const nest::Statement& statement : block) {
    if (const auto* store = std::get_if<nest::Store>(&statement.is)) {
      count(of_dtype("store " + std::string(name_of(store->combine)),
                     kernel.buffers[store->buffer].dtype));
      if (store->when) count("store where");
      if (kernel.buffers[store->buffer].is_local) count("local buffer");
    } else if (std::get_if<nest::Check>(&statement.is)) {
      count("check");
    } else if (const auto* loop = std::get_if<nest::Loop>(&statement.is)) {
      count(loop_text(kernel, *loop));
      if (exchanges(*loop)) count("states that change places");
      for (const nest::Reduction& reduction : loop->reductions) {
        if (reduction.pairwise) count("reduce pairwise");
        const bool side_by_side = varies[reduction.result] && kernel.axes[*kernel.vector_axis] > 1;
        count(of_dtype((side_by_side ? "reduce side by side " : "reduce ") +
                           std::string(name_of(reduction.combine)),
                       kernel.nodes[reduction.term].dtype));
      }
      count_block(kernel, loop->body, varies, count);
    }
  }
}

}  // namespace

void KernelCoverage::count(const nest::Kernel& kernel) {
  const auto count = [&](const std::string& what) { ++drawn_[what]; };
  for (const Node& node : kernel.nodes) {
    switch (node.kind) {
      case Node::Kind::apply:
        count(of_dtype(name_of(node.function), kernel.nodes[node.operands.back()].dtype));
        break;
      case Node::Kind::load:
        count(of_dtype(node.operands.size() == 2 ? "load where" : "load", node.dtype));
        break;
      case Node::Kind::convert:
        count(
            of_dtype("convert " + std::string(kernel.nodes[node.operands[0]].dtype.name()) + " to",
                     node.dtype));
        break;
      case Node::Kind::bitcast:
        count(of_dtype("bitcast to", node.dtype));
        break;
      case Node::Kind::index_add:
        count("index_add");
        break;
      case Node::Kind::index_scale:
        count("index_scale");
        break;
      case Node::Kind::index_quotient:
        count("index_quotient");
        break;
      case Node::Kind::index_remainder:
        count("index_remainder");
        break;
      case Node::Kind::carried:
        count(of_dtype("carry", node.dtype));
        break;
      case Node::Kind::block:
        count("block");
        break;
      case Node::Kind::axis:
      case Node::Kind::constant:
      case Node::Kind::reduced:
        break;
    }
  }
  if (kernel.is_splittable) count("splittable");
  if (kernel.block > 0) count(kernel.vector_axis ? "in blocks" : "in blocks of numbers");
  if (!kernel.vector_axis) count("not vectorised");
  count_block(kernel, kernel.body, vector_values(kernel), count);
}

std::string KernelCoverage::missing() const {
  std::string text;
  const auto want = [&](const std::string& what) {
    if (!drawn_.contains(what)) text += what + "\n";
  };
  for (const Dtype dtype : all_dtypes) {
    for (std::size_t i = 0; i < nest::function_count; ++i) {
      const auto function = static_cast<Function>(i);
      if (nest::takes(function, dtype)) want(of_dtype(name_of(function), dtype));
    }
    for (int i = 0; i <= static_cast<int>(Combine::argmin); ++i) {
      const auto combine = static_cast<Combine>(i);
      if (!nest::takes(combine, dtype)) continue;
      if (combine <= Combine::or_) want(of_dtype("store " + std::string(name_of(combine)), dtype));
      for (const char* how : {"reduce ", "reduce side by side "}) {
        if (combine != Combine::set) want(of_dtype(how + std::string(name_of(combine)), dtype));
      }
    }
    for (const char* what : {"load", "load where", "bitcast to", "carry"})
      want(of_dtype(what, dtype));
    for (const Dtype from : all_dtypes) {
      if (from != dtype) want(of_dtype("convert " + std::string(from.name()) + " to", dtype));
    }
  }
  for (const char* what : {"index_add",
                           "index_scale",
                           "index_quotient",
                           "index_remainder",
                           "store where",
                           "check",
                           "states that change places",
                           "local buffer",
                           "splittable",
                           "block",
                           "in blocks",
                           "in blocks of numbers",
                           "reduce pairwise",
                           "not vectorised",
                           "loop of 1 axes",
                           "loop of 1 axes, vectorised",
                           "loop of 2 axes, vectorised, reducing",
                           "loop of 3 axes, vectorised",
                           "loop of 1 axes, down",
                           "loop of 1 axes, down, carrying",
                           "loop of 1 axes, carrying, reducing",
                           "loop of 2 axes, in tiles",
                           "loop of 2 axes, vectorised, in tiles",
                           "loop of 2 axes, carrying",
                           "loop of 2 axes, reducing",
                           "loop of 3 axes, reducing"})
    want(what);
  return text;
}

}  // namespace hom::laws
