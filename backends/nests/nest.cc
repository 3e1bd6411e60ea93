// backends/nests/nest.cc -- what can be read off a kernel
#include <hom/backends/nests/nest.h>

#include <algorithm>
#include <array>

namespace hom::nest {
namespace {

/// Calls f(loop) for each loop of a block, the outer before the inner ones.
template <class F>
void for_each_loop(const Block& block, F&& f) {
  for (const Statement& statement : block) {
    if (const Loop* loop = std::get_if<Loop>(&statement.is)) {
      f(*loop);
      for_each_loop(loop->body, f);
    }
  }
}

bool is_along(const Loop& loop, std::optional<Axis> axis) {
  return axis && std::find(loop.axes.begin(), loop.axes.end(), *axis) != loop.axes.end();
}

}  // namespace

std::string_view name_of(Combine combine) {
  constexpr std::array<std::string_view, 9> names{"set", "sum", "prod",   "max",   "min",
                                                  "and", "or",  "argmax", "argmin"};
  return names[static_cast<std::size_t>(combine)];
}

Shortcut::Shortcut() = default;
Shortcut::Shortcut(const Shortcut&) = default;
Shortcut::Shortcut(Shortcut&&) noexcept = default;
Shortcut& Shortcut::operator=(const Shortcut&) = default;
Shortcut& Shortcut::operator=(Shortcut&&) noexcept = default;
Shortcut::~Shortcut() = default;

std::int64_t Kernel::argument_count() const {
  return std::count_if(buffers.begin(), buffers.end(),
                       [](const Buffer& buffer) { return !buffer.is_local; });
}

const Loop* split_loop(const Kernel& kernel) {
  if (!kernel.is_splittable) return nullptr;
  for (const Statement& statement : kernel.body) {
    if (const Loop* loop = std::get_if<Loop>(&statement.is)) return loop;
  }
  return nullptr;
}

std::vector<bool> vector_values(const Kernel& kernel) {
  std::vector<bool> varies(kernel.nodes.size(), false);
  if (!kernel.vector_axis) return varies;
  // Results and states depend on later nodes, so walk until nothing changes: at most as often as
  // loops carry a dependence back.
  bool changes = true;
  const auto mark = [&](Value value) {
    if (!varies[value]) changes = varies[value] = true;
  };
  while (changes) {
    changes = false;
    for (Value value = 0; value < kernel.nodes.size(); ++value) {
      const Node& node = kernel.nodes[value];
      if (node.kind == Node::Kind::axis && node.number == *kernel.vector_axis) mark(value);
      for (const Value operand : node.operands) {
        if (varies[operand]) mark(value);
      }
    }
    for_each_loop(kernel.body, [&](const Loop& loop) {
      for (const Reduction& reduction : loop.reductions) {
        if (varies[reduction.term] && !is_along(loop, kernel.vector_axis)) mark(reduction.result);
      }
      for (const Carry& carry : loop.carries) {
        if (varies[carry.initial] || varies[carry.next]) mark(carry.state);
      }
    });
  }
  return varies;
}

}  // namespace hom::nest
