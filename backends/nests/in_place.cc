// backends/nests/in_place.cc -- whether a kernel may write what it reads
#include <hom/backends/nests/in_place.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace hom::nest {
namespace {

/// An index as Σ coefficient · axis + constant.
struct Affine {
  SmallVector<std::pair<Axis, std::int64_t>, 6> terms;

  void add(Axis axis, std::int64_t coefficient) {
    for (auto& [known, sum] : terms) {
      if (known == axis) {
        sum += coefficient;
        return;
      }
    }
    terms.push_back({axis, coefficient});
  }
};

/// Adds factor · value; false where the value is not affine in the axes.
bool add_affine(const Kernel& kernel, Value value, std::int64_t factor, Affine& sum) {
  // Sums of indices are chains, walked without recursion over their length.
  for (;;) {
    const Node& node = kernel.nodes[value];
    switch (node.kind) {
      case Node::Kind::axis:
        sum.add(static_cast<Axis>(node.number), factor);
        return true;
      case Node::Kind::constant:
        return true;
      case Node::Kind::index_scale:
        factor *= node.number;
        value = node.operands[0];
        continue;
      case Node::Kind::index_add:
        if (!add_affine(kernel, node.operands[1], factor, sum)) return false;
        value = node.operands[0];
        continue;
      default:
        return false;
    }
  }
}

/// Whether the value is a function of axes alone: no element of a buffer decides it.
bool is_function_of_axes(const Kernel& kernel, Value value) {
  const Node& node = kernel.nodes[value];
  switch (node.kind) {
    case Node::Kind::axis:
    case Node::Kind::constant:
      return true;
    case Node::Kind::index_add:
    case Node::Kind::index_scale:
    case Node::Kind::index_quotient:
    case Node::Kind::index_remainder:
      return std::all_of(node.operands.begin(), node.operands.end(),
                         [&](Value operand) { return is_function_of_axes(kernel, operand); });
    default:
      return false;
  }
}

}  // namespace

KernelAccesses::KernelAccesses(const Kernel& kernel)
    : kernel_(kernel),
      loads_(kernel.buffers.size()),
      stores_(kernel.buffers.size()),
      defined_(kernel.nodes.size()) {
  walk(kernel.body, outside);
}

void KernelAccesses::use(Value value, Place place) {
  if (defined_[value]) return;
  const Node& node = kernel_.nodes[value];
  if (node.kind == Node::Kind::load) {
    loads_[static_cast<std::size_t>(node.number)].push_back({place, node.operands[0], false});
  }
  for (const Value operand : node.operands) use(operand, place);
}

void KernelAccesses::walk(const Block& block, std::uint32_t loop) {
  std::vector<Value> own;
  const auto define = [&](Value value) {
    if (!defined_[value]) own.push_back(value);
    defined_[value] = true;
  };
  for (const Statement& statement : block) {
    const Place place{loop, statements_++};
    if (const auto* definition = std::get_if<Define>(&statement.is)) {
      use(definition->value, place);
      define(definition->value);
    } else if (const auto* store = std::get_if<Store>(&statement.is)) {
      use(store->index, place);
      use(store->value, place);
      if (store->when) use(*store->when, place);
      stores_[store->buffer].push_back({place, store->index, store->combine != Combine::set});
    } else if (const auto* check = std::get_if<Check>(&statement.is)) {
      use(check->ok, place);
      use(check->offending, place);
    } else {
      const Loop& inner = std::get<Loop>(statement.is);
      for (const Carry& carry : inner.carries) use(carry.initial, place);
      const auto number = static_cast<std::uint32_t>(loops_.size());
      loops_.push_back({place, loop == outside ? 0 : loops_[loop].depth + 1, &inner});
      for (const Carry& carry : inner.carries) define(carry.state);
      walk(inner.body, number);
      for (const Reduction& reduction : inner.reductions) define(reduction.result);
    }
  }
  if (loop != outside) {
    // Terms and next values that no statement of the body defined are computed at its end.
    const Place end{loop, statements_++};
    for (const Reduction& reduction : loops_[loop].loop->reductions) use(reduction.term, end);
    for (const Carry& carry : loops_[loop].loop->carries) use(carry.next, end);
  }
  for (const Value value : own) defined_[value] = false;
}

bool KernelAccesses::precedes(const Site& load, const Site& store) const {
  Place a = load.place;
  Place b = store.place;
  const auto depth = [&](const Place& place) {
    return place.loop == outside ? -1 : static_cast<std::int64_t>(loops_[place.loop].depth);
  };
  while (a.loop != b.loop) {
    Place& deeper = depth(a) >= depth(b) ? a : b;
    deeper = loops_[deeper.loop].place;
  }
  // In one iteration of the loops around both, the load comes first: a statement loads before it
  // stores.
  if (a.statement > b.statement) return false;
  // A kernel that runs in parts loads again for each of them.
  if (a.loop == outside) return !kernel_.is_splittable;
  // In other iterations of these the load meets other elements, if indices are the same function.
  return load.index == store.index && is_injective(store);
}

bool KernelAccesses::is_injective(const Site& store) const {
  bool carries = false;
  SmallVector<Axis, 6> axes;
  for (std::uint32_t loop = store.place.loop; loop != outside; loop = loops_[loop].place.loop) {
    carries = carries || !loops_[loop].loop->carries.empty();
    for (const Axis axis : loops_[loop].loop->axes) {
      if (kernel_.axes[axis] > 1) axes.push_back(axis);
    }
  }
  // Stores of independent iterations do not meet.
  if (!carries && is_function_of_axes(kernel_, store.index)) return true;
  Affine index;
  if (!add_affine(kernel_, store.index, 1, index)) return false;
  SmallVector<std::pair<std::int64_t, std::int64_t>, 6> strides;
  for (const Axis axis : axes) {
    std::int64_t stride = 0;
    for (const auto& [known, coefficient] : index.terms) {
      if (known == axis) stride = std::abs(coefficient);
    }
    strides.push_back({stride, kernel_.axes[axis]});
  }
  std::sort(strides.begin(), strides.end());
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : strides) {
    if (stride <= reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

bool KernelAccesses::may_share(std::uint32_t read, std::uint32_t written) const {
  const bool one_size = kernel_.buffers[read].dtype.size() == kernel_.buffers[written].dtype.size();
  for (const Site& store : stores_[written]) {
    if (store.combines) return false;
    for (const Site& load : loads_[read]) {
      if (!precedes(load, store)) return false;
      // With elements of other sizes one index means other bytes: only loops that are over help.
      if (!one_size) {
        Place a = load.place;
        Place b = store.place;
        while (a.loop != outside) a = loops_[a.loop].place;
        while (b.loop != outside) b = loops_[b.loop].place;
        if (a.statement >= b.statement) return false;
      }
    }
  }
  return stores_[read].empty() && loads_[written].empty();
}

}  // namespace hom::nest
