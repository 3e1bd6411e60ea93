// backends/nests/shortcuts.cc -- products guarded together instead of one by one
#include <hom/backends/nests/shortcuts.h>

#include <algorithm>
#include <map>
#include <set>

namespace hom::nest {
namespace {

/// Fewer guards cost less than the test for all of them.
constexpr std::size_t fewest_guards = 3;

/// Whether the result is NaN wherever an operand is.
bool passes_nan(Function function) {
  switch (function) {
    case Function::neg:
    case Function::abs:
    case Function::add:
    case Function::sub:
    case Function::mul:
    case Function::div:
    case Function::sqrt:
    case Function::rsqrt:
    case Function::scale:
      return true;
    default:
      return false;
  }
}

class ShortcutMaker {
 public:
  explicit ShortcutMaker(Kernel kernel) : kernel_(std::move(kernel)) {}

  Kernel run() && {
    visit(kernel_.body);
    return std::move(kernel_);
  }

 private:
  void visit(Block& block) {
    for (Statement& statement : block) {
      Loop* loop = std::get_if<Loop>(&statement.is);
      if (loop == nullptr) continue;
      const bool is_innermost = std::none_of(
          loop->body.begin(), loop->body.end(),
          [](const Statement& inside) { return std::holds_alternative<Loop>(inside.is); });
      if (!is_innermost) {
        visit(loop->body);
      } else if (is_suited(*loop)) {
        shorten(loop->body);
      }
    }
  }

  bool is_suited(const Loop& loop) const {
    // What is not done several at once is the rest of what is.
    if (kernel_.vector_axis && *kernel_.vector_axis != loop.axes.back()) return false;
    return loop.reductions.empty() && loop.carries.empty();
  }

  bool is_guard(Value value) const {
    const Node& node = kernel_.nodes[value];
    return node.kind == Node::Kind::apply && node.function == Function::scale;
  }

  void shorten(Block& block);
  /// What depends on guards, in the order of the block; empty where the block is not of a kind that
  /// can be split in two.
  std::vector<Value> guarded(const Block& block) const;
  Value attempted(Value value) const {
    const auto found = attempt_of_.find(value);
    return found == attempt_of_.end() ? value : found->second;
  }
  Value add_node(Node node, Block& block) {
    const auto value = static_cast<Value>(kernel_.nodes.size());
    kernel_.nodes.push_back(std::move(node));
    block.push_back({Define{value}});
    return value;
  }
  Value apply(Function function, Dtype dtype, SmallVector<Value, 3> operands, Block& block) {
    return add_node({.kind = Node::Kind::apply,
                     .function = function,
                     .dtype = dtype,
                     .operands = std::move(operands)},
                    block);
  }
  std::vector<Value> to_test(const Block& block, const std::vector<Value>& values) const;
  Value none_is_nan(const std::vector<Value>& values, Block& block);

  Kernel kernel_;
  /// Of each value that depends on a guard, the same with products.
  std::map<Value, Value> attempt_of_;
};

std::vector<Value> ShortcutMaker::guarded(const Block& block) const {
  std::vector<Value> values;
  std::vector<bool> depends(kernel_.nodes.size(), false);
  std::vector<bool> is_stored(kernel_.buffers.size(), false);
  std::size_t guards = 0;
  for (const Statement& statement : block) {
    if (const auto* define = std::get_if<Define>(&statement.is)) {
      const Node& node = kernel_.nodes[define->value];
      const bool is_load = node.kind == Node::Kind::load;
      // It will be loaded before the stores.
      if (is_load && is_stored[static_cast<std::size_t>(node.number)]) return {};
      const bool is_here = std::any_of(node.operands.begin(), node.operands.end(),
                                       [&](Value operand) { return depends[operand]; });
      if (is_load && is_here) return {};
      if (is_guard(define->value)) ++guards;
      if (!is_here && !is_guard(define->value)) continue;
      depends[define->value] = true;
      values.push_back(define->value);
    } else if (const auto* store = std::get_if<Store>(&statement.is)) {
      if (depends[store->index] || (store->when && depends[*store->when])) return {};
      if (store->combine != Combine::set) return {};
      is_stored[store->buffer] = true;
    } else if (const auto* check = std::get_if<Check>(&statement.is)) {
      if (depends[check->ok] || depends[check->offending]) return {};
    } else {
      return {};
    }
  }
  if (guards < fewest_guards) return {};
  return values;
}

/// Values that are NaN where any product is: each leads, through operations that pass it on, to one
/// that is stored or that something else is made of.
std::vector<Value> ShortcutMaker::to_test(const Block& block,
                                          const std::vector<Value>& values) const {
  std::map<Value, bool> leads_on;
  for (Value value : values) leads_on.emplace(value, false);
  std::vector<Value> ends;
  for (const Statement& statement : block) {
    if (const auto* store = std::get_if<Store>(&statement.is)) {
      if (leads_on.contains(store->value)) ends.push_back(store->value);
    }
  }
  // From users to operands.
  std::map<Value, bool> is_covered;
  for (Value end : ends) is_covered[end] = kernel_.nodes[end].dtype.is_float();
  for (std::size_t i = values.size(); i-- > 0;) {
    const Value value = values[i];
    const Node& node = kernel_.nodes[value];
    if (!is_covered[value]) {
      // Nothing after it would show that it is NaN.
      if (!node.dtype.is_float()) continue;
      ends.push_back(value);
      is_covered[value] = true;
    }
    if (node.kind != Node::Kind::apply || !passes_nan(node.function)) continue;
    for (Value operand : node.operands) is_covered[operand] = true;
  }
  std::erase_if(ends, [&](Value value) { return !kernel_.nodes[value].dtype.is_float(); });
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

/// A sum is NaN where a term is; opposite infinities only make it look so.
Value ShortcutMaker::none_is_nan(const std::vector<Value>& values, Block& block) {
  std::map<Dtype::Id, std::vector<Value>> by_dtype;
  for (Value value : values) by_dtype[kernel_.nodes[value].dtype.id].push_back(value);
  std::optional<Value> all;
  for (auto& [id, terms] : by_dtype) {
    const Dtype dtype = kernel_.nodes[terms[0]].dtype;
    while (terms.size() > 1) {
      std::vector<Value> sums;
      for (std::size_t i = 0; i + 1 < terms.size(); i += 2)
        sums.push_back(apply(Function::add, dtype, {terms[i], terms[i + 1]}, block));
      if (terms.size() % 2 == 1) sums.push_back(terms.back());
      terms = sums;
    }
    const Value holds = apply(Function::eq, bool_, {terms[0], terms[0]}, block);
    all = all ? apply(Function::and_, bool_, {*all, holds}, block) : holds;
  }
  return *all;
}

void ShortcutMaker::shorten(Block& block) {
  const std::vector<Value> values = guarded(block);
  if (values.empty()) return;
  attempt_of_.clear();
  const std::set<Value> is_guarded(values.begin(), values.end());
  Shortcut shortcut;
  Block before;
  for (Statement& statement : block) {
    const auto* define = std::get_if<Define>(&statement.is);
    if (define == nullptr) {
      (std::holds_alternative<Check>(statement.is) ? before : shortcut.full)
          .push_back(std::move(statement));
      continue;
    }
    const Value value = define->value;
    if (!is_guarded.contains(value)) {
      before.push_back(std::move(statement));
      continue;
    }
    shortcut.full.push_back(std::move(statement));
    Node node = kernel_.nodes[value];
    if (is_guard(value)) node.function = Function::mul;
    for (Value& operand : node.operands) operand = attempted(operand);
    const Value attempt = add_node(std::move(node), shortcut.attempt);
    attempt_of_.emplace(value, attempt);
  }
  std::vector<Value> tested;
  for (Value value : to_test(shortcut.full, values)) tested.push_back(attempted(value));
  shortcut.holds = none_is_nan(tested, shortcut.attempt);
  for (const Statement& statement : shortcut.full) {
    const auto* store = std::get_if<Store>(&statement.is);
    if (store == nullptr) continue;
    Store quick = *store;
    quick.value = attempted(quick.value);
    shortcut.quick.push_back({quick});
  }
  before.push_back({std::move(shortcut)});
  block = std::move(before);
}

}  // namespace

Kernel with_shortcuts(Kernel kernel) { return ShortcutMaker(std::move(kernel)).run(); }

}  // namespace hom::nest
