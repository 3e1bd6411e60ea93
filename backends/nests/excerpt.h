// backends/nests/excerpt.h -- some statements of a kernel as a kernel of their own
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// Makes a kernel of statements of another one. Values and buffers have the numbers that they have
/// there, what is added has further ones; at the end nodes and buffers that nothing uses go, and
/// the others are numbered anew.
class Excerpt {
 public:
  explicit Excerpt(const Kernel& from)
      : from_(from), nodes_(from.nodes), buffers_(from.buffers), axes_(from.axes) {}

  Value add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<Value>(nodes_.size() - 1);
  }
  std::uint32_t add(Buffer buffer) {
    buffers_.push_back(std::move(buffer));
    return static_cast<std::uint32_t>(buffers_.size() - 1);
  }
  Axis add_axis(std::int64_t extent) {
    axes_.push_back(extent);
    return static_cast<Axis>(axes_.size() - 1);
  }
  Value position(std::int64_t index) {
    return add(Node{.kind = Node::Kind::constant, .dtype = i64, .number = index});
  }
  const Node& node(Value value) const { return nodes_[value]; }
  /// The value is this node from now on.
  void replace(Value value, Node node) { nodes_[value] = std::move(node); }
  Buffer& buffer(std::uint32_t number) { return buffers_[number]; }
  Block& body() { return body_; }

  /// Values that the body names or needs as operands, each once, operands before what they are
  /// operands of. Operands of values with `stops[value]` are left out.
  std::vector<Value> needed(const std::vector<bool>& stops = {}) const;

  struct Result {
    Kernel kernel;
    /// For each argument, its number here.
    std::vector<std::uint32_t> arguments;
  };
  Result finish(std::string name, bool is_vectorised) const;

 private:
  const Kernel& from_;
  std::vector<Node> nodes_;
  std::vector<Buffer> buffers_;
  std::vector<std::int64_t> axes_;
  Block body_;
};

/// Calls f(value) for each value that statements name, those of loops inside included; f may change
/// it.
template <class Statements, class F>
void for_each_value(Statements& block, const F& f) {
  for (auto& statement : block) {
    if (auto* define = std::get_if<Define>(&statement.is)) {
      f(define->value);
    } else if (auto* store = std::get_if<Store>(&statement.is)) {
      f(store->index);
      f(store->value);
      if (store->when) f(*store->when);
    } else if (auto* check = std::get_if<Check>(&statement.is)) {
      f(check->ok);
      f(check->offending);
    } else if (auto* loop = std::get_if<Loop>(&statement.is)) {
      for (auto& carry : loop->carries) {
        f(carry.initial);
        f(carry.state);
      }
      for_each_value(loop->body, f);
      for (auto& carry : loop->carries) f(carry.next);
      for (auto& reduction : loop->reductions) {
        f(reduction.term);
        f(reduction.result);
      }
    } else {
      auto& shortcut = std::get<Shortcut>(statement.is);
      for_each_value(shortcut.attempt, f);
      f(shortcut.holds);
      for_each_value(shortcut.quick, f);
      for_each_value(shortcut.full, f);
    }
  }
}

/// Calls f(store) for each store of statements, those of loops inside included.
template <class Statements, class F>
void for_each_store(Statements& block, const F& f) {
  for (auto& statement : block) {
    if (auto* store = std::get_if<Store>(&statement.is)) {
      f(*store);
    } else if (auto* loop = std::get_if<Loop>(&statement.is)) {
      for_each_store(loop->body, f);
    } else if (auto* shortcut = std::get_if<Shortcut>(&statement.is)) {
      for_each_store(shortcut->quick, f);
      for_each_store(shortcut->full, f);
    }
  }
}

}  // namespace hom::nest
