// backends/cpu/jit/interpreter_values.cc -- which values are scalars, which are tiles
#include <hom/backends/cpu/jit/interpreter_values.h>

namespace hom::cpu {
namespace {

using nest::Kernel;
using nest::Node;
using nest::Value;

std::optional<std::int64_t> step_of(const InterpretedValues& values, const Kernel& kernel,
                                    Value value) {
  const Node& node = kernel.nodes[value];
  if (!values.varies[value]) return 0;
  if (node.kind == Node::Kind::axis) return 1;
  if (node.kind == Node::Kind::index_add) {
    const auto a = values.step[node.operands[0]];
    const auto b = values.step[node.operands[1]];
    if (a && b) return *a + *b;
  }
  if (node.kind == Node::Kind::index_scale && values.step[node.operands[0]])
    return *values.step[node.operands[0]] * node.number;
  return std::nullopt;
}

/// Values of which statements take elements.
void mark_used(const nest::Block& block, std::vector<bool>& used) {
  for (const nest::Statement& statement : block) {
    if (const auto* store = std::get_if<nest::Store>(&statement.is)) {
      used[store->value] = true;
    } else if (const auto* check = std::get_if<nest::Check>(&statement.is)) {
      used[check->offending] = true;
    } else if (const auto* loop = std::get_if<nest::Loop>(&statement.is)) {
      for (const nest::Reduction& reduction : loop->reductions) used[reduction.term] = true;
      for (const nest::Carry& carry : loop->carries) {
        used[carry.initial] = true;
        used[carry.next] = true;
      }
      mark_used(loop->body, used);
    } else if (const auto* shortcut = std::get_if<nest::Shortcut>(&statement.is)) {
      mark_used(shortcut->full, used);
    }
  }
}

}  // namespace

bool is_index_arithmetic(Node::Kind kind) {
  return kind == Node::Kind::index_add || kind == Node::Kind::index_scale ||
         kind == Node::Kind::index_quotient || kind == Node::Kind::index_remainder;
}

InterpretedValues::InterpretedValues(const Kernel& kernel) : varies(vector_values(kernel)) {
  for (Value value = 0; value < kernel.nodes.size(); ++value)
    step.push_back(step_of(*this, kernel, value));
  is_tile.assign(kernel.nodes.size(), false);
  for (Value value = 0; value < kernel.nodes.size(); ++value) {
    const Node& node = kernel.nodes[value];
    const bool moves = is_index_arithmetic(node.kind) && step[value];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const bool is_address = node.kind == Node::Kind::load && i == 0;
      if (!moves && !is_address) is_tile[node.operands[i]] = true;
    }
  }
  mark_used(kernel.body, is_tile);
}

}  // namespace hom::cpu
