// backends/nests/excerpt.cc -- nodes and buffers that statements need, numbered anew
#include <hom/backends/nests/excerpt.h>

#include <algorithm>

namespace hom::nest {

std::vector<Value> Excerpt::needed(const std::vector<bool>& stops) const {
  std::vector<Value> order;
  std::vector<bool> is_known(nodes_.size(), false);
  // Operands first, without recursion: chains are long.
  std::vector<std::pair<Value, std::size_t>> open;
  const auto need = [&](Value root) {
    if (is_known[root]) return;
    is_known[root] = true;
    open.push_back({root, 0});
    while (!open.empty()) {
      auto& [value, next] = open.back();
      const bool is_end = value < stops.size() && stops[value];
      const auto& operands = nodes_[value].operands;
      if (is_end || next == operands.size()) {
        order.push_back(value);
        open.pop_back();
        continue;
      }
      const Value operand = operands[next++];
      if (is_known[operand]) continue;
      is_known[operand] = true;
      open.push_back({operand, 0});
    }
  };
  for_each_value(body_, need);
  return order;
}

Excerpt::Result Excerpt::finish(std::string name, bool is_vectorised) const {
  Result result;
  Kernel& kernel = result.kernel;
  kernel.name = std::move(name);
  kernel.axes = axes_;
  kernel.failures = from_.failures;
  if (is_vectorised) kernel.vector_axis = from_.vector_axis;
  kernel.body = body_;
  const std::vector<Value> order = needed();

  std::vector<bool> reads(buffers_.size(), false);
  std::vector<bool> writes(buffers_.size(), false);
  for (const Value value : order) {
    if (nodes_[value].kind == Node::Kind::load)
      reads[static_cast<std::size_t>(nodes_[value].number)] = true;
  }
  for_each_store(body_, [&](const Store& store) { writes[store.buffer] = true; });
  std::vector<std::uint32_t> renamed_buffer(buffers_.size(), 0);
  for (const bool is_local : {false, true}) {
    for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
      if (buffers_[b].is_local != is_local || (!reads[b] && !writes[b])) continue;
      renamed_buffer[b] = static_cast<std::uint32_t>(kernel.buffers.size());
      kernel.buffers.push_back(buffers_[b]);
      // A buffer that holds something already, and is written in part, is read as well.
      kernel.buffers.back().is_read = reads[b] || (writes[b] && buffers_[b].is_read);
      kernel.buffers.back().is_written = writes[b];
      if (!is_local) result.arguments.push_back(b);
    }
  }
  std::vector<Value> renamed(nodes_.size(), 0);
  for (const Value value : order) {
    renamed[value] = static_cast<Value>(kernel.nodes.size());
    Node node = nodes_[value];
    for (Value& operand : node.operands) operand = renamed[operand];
    if (node.kind == Node::Kind::load)
      node.number = renamed_buffer[static_cast<std::size_t>(node.number)];
    // Results and states stay distinct.
    if (node.kind == Node::Kind::reduced || node.kind == Node::Kind::carried)
      node.number = renamed[value];
    kernel.nodes.push_back(std::move(node));
  }
  for_each_value(kernel.body, [&](Value& value) { value = renamed[value]; });
  for_each_store(kernel.body, [&](Store& store) { store.buffer = renamed_buffer[store.buffer]; });
  return result;
}

}  // namespace hom::nest
