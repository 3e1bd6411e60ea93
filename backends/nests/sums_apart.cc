// backends/nests/sums_apart.cc -- a loop and its reductions become two
#include <hom/backends/nests/sums_apart.h>

#include <algorithm>
#include <utility>

#include <hom/backends/nests/expand_functions.h>

namespace hom::nest {
namespace {

/// Terms that are kept, at most; few, since they are read again at once.
constexpr std::int64_t most_terms = 4096;
constexpr std::size_t most_reductions = 4;
/// No vector has more lanes of the elements that are summed here.
constexpr std::int64_t lanes = 8;

class Splitter {
 public:
  explicit Splitter(Kernel kernel) : kernel_(std::move(kernel)) {}

  Kernel run() && {
    if (kernel_.vector_axis) kernel_.body = block(std::move(kernel_.body));
    return std::move(kernel_);
  }

 private:
  Block block(Block statements) {
    Block result;
    for (Statement& statement : statements) {
      auto* loop = std::get_if<Loop>(&statement.is);
      if (loop == nullptr) {
        result.push_back(std::move(statement));
        continue;
      }
      loop->body = block(std::move(loop->body));
      if (!wants_split(*loop)) {
        result.push_back(std::move(statement));
        continue;
      }
      Loop sums = split(*loop);
      result.push_back(std::move(statement));
      result.emplace_back().is = std::move(sums);
    }
    return result;
  }

  bool wants_split(const Loop& loop) const {
    if (loop.axes.size() != 1 || loop.axes[0] != *kernel_.vector_axis || loop.reverse ||
        !loop.carries.empty() || kernel_.block > 0)
      return false;
    const std::int64_t extent = kernel_.axes[loop.axes[0]];
    if (extent % lanes == 0 || extent < lanes / 2 || extent > most_terms) return false;
    if (loop.reductions.empty() || loop.reductions.size() > most_reductions) return false;
    const bool all_apart = std::all_of(
        loop.reductions.begin(), loop.reductions.end(),
        [](const Reduction& one) { return one.combine < Combine::argmax && !one.pairwise; });
    return all_apart && spelled_weight(loop.body) >= long_body;
  }

  /// As `weight_of`, once functions are spelled out.
  std::int64_t spelled_weight(const Block& block) const {
    constexpr std::int64_t of_a_function = 20;
    std::int64_t sum = weight_of(block);
    for (const Statement& statement : block) {
      const auto* define = std::get_if<Define>(&statement.is);
      if (define == nullptr) continue;
      const Node& node = kernel_.nodes[define->value];
      if (node.kind == Node::Kind::apply && is_expanded(node.function)) sum += of_a_function;
    }
    return sum;
  }

  /// Takes the reductions out of the loop.
  Loop split(Loop& loop) {
    const Value position = axis_value(loop.axes[0]);
    Loop sums;
    sums.axes = loop.axes;
    sums.reductions = std::exchange(loop.reductions, {});
    for (Reduction& reduction : sums.reductions) {
      const Dtype dtype = kernel_.nodes[reduction.term].dtype;
      const auto buffer = static_cast<std::uint32_t>(kernel_.buffers.size());
      kernel_.buffers.push_back({.dtype = dtype,
                                 .elements = kernel_.axes[loop.axes[0]],
                                 .is_read = true,
                                 .is_written = true,
                                 .is_local = true,
                                 .label = "terms" + std::to_string(buffer)});
      loop.body.push_back({Store{buffer, position, reduction.term}});
      const auto term = static_cast<Value>(kernel_.nodes.size());
      kernel_.nodes.push_back({.kind = Node::Kind::load,
                               .dtype = dtype,
                               .operands = {position},
                               .number = static_cast<std::int64_t>(buffer),
                               .step = kernel_.nodes[reduction.term].step});
      sums.body.push_back({Define{term}});
      reduction.term = term;
    }
    return sums;
  }

  Value axis_value(Axis axis) {
    for (Value value = 0; value < kernel_.nodes.size(); ++value) {
      const Node& node = kernel_.nodes[value];
      if (node.kind == Node::Kind::axis && node.number == static_cast<std::int64_t>(axis))
        return value;
    }
    kernel_.nodes.push_back(
        {.kind = Node::Kind::axis, .dtype = i64, .number = static_cast<std::int64_t>(axis)});
    return static_cast<Value>(kernel_.nodes.size() - 1);
  }

  Kernel kernel_;
};

}  // namespace

std::int64_t weight_of(const Block& block) {
  std::int64_t sum = 0;
  for (const Statement& statement : block) {
    const auto* loop = std::get_if<Loop>(&statement.is);
    const auto* shortcut = std::get_if<Shortcut>(&statement.is);
    sum += loop != nullptr ? 4 + weight_of(loop->body) : 1;
    if (shortcut != nullptr)
      sum += weight_of(shortcut->attempt) + weight_of(shortcut->quick) + weight_of(shortcut->full);
  }
  return sum;
}

Kernel with_sums_apart(Kernel kernel) { return Splitter(std::move(kernel)).run(); }

}  // namespace hom::nest
