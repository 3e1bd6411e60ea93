// backends/nests/affine.cc -- affine coefficients, from operands to results
#include <hom/backends/nests/affine.h>

#include <algorithm>
#include <variant>

namespace hom::nest {
namespace {

using Stride = std::optional<std::int64_t>;

/// What depends on other values in other ways than through operands.
struct Links {
  struct Reduced {
    Value result;
    Value term;
  };
  std::vector<Reduced> reductions;
  std::vector<Carry> carries;
};

void collect(const Block& block, Axis axis, Links& links) {
  for (const Statement& statement : block) {
    const auto* loop = std::get_if<Loop>(&statement.is);
    if (loop == nullptr) continue;
    const bool is_along = std::find(loop->axes.begin(), loop->axes.end(), axis) != loop->axes.end();
    for (const Reduction& reduction : loop->reductions) {
      if (!is_along) links.reductions.push_back({reduction.result, reduction.term});
    }
    links.carries.insert(links.carries.end(), loop->carries.begin(), loop->carries.end());
    collect(loop->body, axis, links);
  }
}

Stride sum(Stride a, Stride b, std::int64_t sign) {
  if (!a || !b) return std::nullopt;
  std::int64_t result = 0;
  if (__builtin_mul_overflow(*b, sign, &result) || __builtin_add_overflow(*a, result, &result))
    return std::nullopt;
  return result;
}

Stride scaled(Stride a, std::int64_t factor) {
  std::int64_t result = 0;
  if (!a || __builtin_mul_overflow(*a, factor, &result)) return std::nullopt;
  return result;
}

/// Of a node that depends on the axis: at least one operand does, or it is the position itself.
Stride stride_of(const Node& node, Axis axis, const std::vector<Stride>& strides,
                 const std::vector<Node>& nodes) {
  const auto of = [&](std::size_t i) { return strides[node.operands[i]]; };
  switch (node.kind) {
    case Node::Kind::axis:
      return node.number == static_cast<std::int64_t>(axis) ? 1 : 0;
    case Node::Kind::index_add:
      return sum(of(0), of(1), 1);
    case Node::Kind::index_scale:
      return scaled(of(0), node.number);
    case Node::Kind::apply: {
      // The user's own arithmetic on positions wraps, and so does what is spelled for it.
      if (node.dtype != i64 && node.dtype != i32) return std::nullopt;
      const auto constant = [&](std::size_t i) -> const Node* {
        const Node& operand = nodes[node.operands[i]];
        return operand.kind == Node::Kind::constant ? &operand : nullptr;
      };
      if (node.function == Function::add) return sum(of(0), of(1), 1);
      if (node.function == Function::sub) return sum(of(0), of(1), -1);
      if (node.function == Function::neg) return scaled(of(0), -1);
      if (node.function == Function::mul && constant(1)) return scaled(of(0), constant(1)->number);
      if (node.function == Function::mul && constant(0)) return scaled(of(1), constant(0)->number);
      return std::nullopt;
    }
    case Node::Kind::convert: {
      // The low bits of a sum are the sum of the low bits.
      const Dtype from = nodes[node.operands[0]].dtype;
      return node.dtype == i32 && from == i64 ? of(0) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<Stride> strides_along(const Kernel& kernel, Axis axis) {
  Links links;
  collect(kernel.body, axis, links);
  // Whether reductions and states depend on the axis; grows until nothing changes.
  std::vector<bool> varies(kernel.nodes.size(), false);
  std::vector<Stride> strides(kernel.nodes.size());
  for (bool changes = true; changes;) {
    for (std::size_t v = 0; v < kernel.nodes.size(); ++v) {
      const Node& node = kernel.nodes[v];
      const bool is_linked = node.kind == Node::Kind::reduced || node.kind == Node::Kind::carried;
      const bool is_fixed =
          is_linked ? !varies[v]
                    : node.kind != Node::Kind::axis &&
                          std::all_of(node.operands.begin(), node.operands.end(),
                                      [&](Value operand) { return strides[operand] == 0; });
      strides[v] = is_fixed ? Stride(0) : stride_of(node, axis, strides, kernel.nodes);
    }
    changes = false;
    const auto link = [&](Value to, Value from) {
      if (strides[from] != 0 && !varies[to]) varies[to] = changes = true;
    };
    for (const Links::Reduced& reduction : links.reductions) link(reduction.result, reduction.term);
    for (const Carry& carry : links.carries) {
      link(carry.state, carry.initial);
      link(carry.state, carry.next);
    }
  }
  return strides;
}

namespace {

template <class F>
bool any_store(const Block& block, const F& is_so) {
  return std::any_of(block.begin(), block.end(), [&](const Statement& statement) {
    if (const auto* store = std::get_if<Store>(&statement.is)) return is_so(*store);
    if (const auto* loop = std::get_if<Loop>(&statement.is)) return any_store(loop->body, is_so);
    const auto* shortcut = std::get_if<Shortcut>(&statement.is);
    return shortcut != nullptr && any_store(shortcut->full, is_so);
  });
}

}  // namespace

bool stores_meet(const Kernel& kernel, const Loop& loop) {
  if (kernel.axes[loop.axes[0]] < 2) return false;
  const std::vector<Stride> strides = strides_along(kernel, loop.axes[0]);
  return any_store(loop.body, [&](const Store& store) {
    const bool is_apart = strides[store.index] && *strides[store.index] != 0;
    // Local memory is each run's own.
    return store.combine != Combine::set || (!is_apart && !kernel.buffers[store.buffer].is_local);
  });
}

}  // namespace hom::nest
