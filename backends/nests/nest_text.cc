// backends/nests/nest_text.cc -- kernels as readable text
//
//     softmax(x: read f32[4096], y: write f32[4096])
//       axes a0 < 32, a1 < 128 (vector)
//       split along a0
//       for a0
//         for a1, v4 = max(v3)
//           v3 = x[128·a0 + a1]
//         …
//
// Constants, axes and arithmetic of indices that is used once stand where they are used.
#include <bit>
#include <unordered_set>

#include <hom/backends/nests/nest.h>
#include <hom/core/attribute.h>

namespace hom::nest {
namespace {

bool is_index_arithmetic(Node::Kind kind) {
  return kind == Node::Kind::index_add || kind == Node::Kind::index_scale ||
         kind == Node::Kind::index_quotient || kind == Node::Kind::index_remainder;
}

std::string number_text(const Node& node) {
  return visit(node.dtype, [&]<class T>() -> std::string {
    if constexpr (dtype_of<T>().is_float() && sizeof(T) == 2) {
      T element;
      element.bits = static_cast<std::uint16_t>(node.number);
      return hom::to_string(static_cast<double>(static_cast<float>(element)));
    } else if constexpr (std::same_as<T, float>) {
      return hom::to_string(
          static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(node.number))));
    } else if constexpr (std::same_as<T, double>) {
      return hom::to_string(std::bit_cast<double>(node.number));
    } else if constexpr (std::same_as<T, bool>) {
      return node.number ? "true" : "false";
    } else {
      return std::to_string(static_cast<T>(node.number));
    }
  });
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel), uses_(kernel.nodes.size(), 0) {
    for (const Node& node : kernel.nodes) {
      for (const Value operand : node.operands) use(operand);
    }
    count(kernel.body);
    name_buffers();
  }

  std::string print() {
    head();
    block(kernel_.body, 1);
    return std::move(out_);
  }

 private:
  void use(Value value) {
    if (value < uses_.size()) ++uses_[value];
  }

  void count(const Block& block) {
    for (const Statement& statement : block) {
      if (const Store* store = std::get_if<Store>(&statement.is)) {
        use(store->index);
        use(store->value);
        if (store->when) use(*store->when);
      } else if (const Check* check = std::get_if<Check>(&statement.is)) {
        use(check->ok);
        use(check->offending);
      } else if (const Loop* loop = std::get_if<Loop>(&statement.is)) {
        for (const Reduction& reduction : loop->reductions) use(reduction.term);
        for (const Carry& carry : loop->carries) {
          use(carry.initial);
          use(carry.next);
        }
        count(loop->body);
      } else if (const Shortcut* shortcut = std::get_if<Shortcut>(&statement.is)) {
        count(shortcut->attempt);
        use(shortcut->holds);
        count(shortcut->quick);
        count(shortcut->full);
      }
    }
  }

  /// By their labels, where these name one buffer alone.
  void name_buffers() {
    std::unordered_set<std::string> taken;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const std::string& label = kernel_.buffers[i].label;
      std::string name = label.empty() ? "b" + std::to_string(i) : label;
      if (!taken.insert(name).second) {
        name += "#" + std::to_string(i);
        taken.insert(name);
      }
      buffer_names_.push_back(std::move(name));
    }
  }

  std::string buffer(std::int64_t number) const {
    const auto i = static_cast<std::size_t>(number);
    return i < buffer_names_.size() ? buffer_names_[i] : "b" + std::to_string(number);
  }

  void head() {
    out_ += kernel_.name + "(";
    bool is_first = true;
    std::string locals;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      const std::string type =
          std::string(buffer.dtype.name()) + "[" + std::to_string(buffer.elements) + "]";
      if (buffer.is_local) {
        locals += "  local " + buffer_names_[i] + ": " + type + "\n";
        continue;
      }
      if (!is_first) out_ += ", ";
      is_first = false;
      out_ += buffer_names_[i] + ": ";
      if (buffer.is_read) out_ += "read ";
      if (buffer.is_written) out_ += "write ";
      out_ += type;
    }
    out_ += ")\n" + locals;
    if (!kernel_.axes.empty()) {
      out_ += "  axes ";
      for (std::size_t i = 0; i < kernel_.axes.size(); ++i) {
        if (i > 0) out_ += ", ";
        out_ += "a" + std::to_string(i) + " < " + std::to_string(kernel_.axes[i]);
        if (kernel_.vector_axis == i) out_ += " (vector)";
      }
      out_ += "\n";
    }
    if (const Loop* loop = split_loop(kernel_); loop != nullptr && !loop->axes.empty())
      out_ += "  split along a" + std::to_string(loop->axes[0]) +
              (kernel_.block > 0 ? " in blocks of " + std::to_string(kernel_.block) : "") + "\n";
  }

  bool is_inlined(Value value) const {
    if (value >= kernel_.nodes.size()) return false;
    const Node::Kind kind = kernel_.nodes[value].kind;
    return kind == Node::Kind::axis || kind == Node::Kind::constant ||
           (is_index_arithmetic(kind) && uses_[value] == 1);
  }

  std::string operand(Value value) const {
    return is_inlined(value) ? expression(value) : "v" + std::to_string(value);
  }

  /// As a factor: sums in parentheses.
  std::string factor(Value value) const {
    const std::string text = operand(value);
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
  }

  std::string operands(const Node& node) const {
    std::string text;
    for (const Value value : node.operands) {
      if (!text.empty()) text += ", ";
      text += operand(value);
    }
    return text;
  }

  /// Kernels that are not well-formed are printed too: their operands may be missing.
  std::string operand_of(const Node& node, std::size_t i) const {
    return i < node.operands.size() ? operand(node.operands[i]) : "?";
  }
  std::string factor_of(const Node& node) const {
    return node.operands.empty() ? "?" : factor(node.operands[0]);
  }

  std::string expression(Value value) const {
    const Node& node = kernel_.nodes[value];
    switch (node.kind) {
      case Node::Kind::axis:
        return "a" + std::to_string(node.number);
      case Node::Kind::constant:
        return number_text(node);
      case Node::Kind::load: {
        std::string text = buffer(node.number) + "[" + operand_of(node, 0) + "]";
        if (node.operands.size() > 1) text += " where " + operand(node.operands[1]);
        return text;
      }
      case Node::Kind::apply: {
        std::string text = std::string(name_of(node.function));
        if (node.function == Function::polygamma || node.function == Function::log_gamma_slope)
          text += "{" + std::to_string(node.number) + "}";
        return text + "(" + operands(node) + ")";
      }
      case Node::Kind::convert:
        return std::string(node.dtype.name()) + "(" + operands(node) + ")";
      case Node::Kind::bitcast:
        return "bits as " + std::string(node.dtype.name()) + "(" + operands(node) + ")";
      case Node::Kind::index_add:
        return operand_of(node, 0) + " + " + operand_of(node, 1);
      case Node::Kind::index_scale:
        return std::to_string(node.number) + "·" + factor_of(node);
      case Node::Kind::index_quotient:
        return "⌊" + factor_of(node) + "/" + std::to_string(node.number) + "⌋";
      case Node::Kind::index_remainder:
        return "(" + factor_of(node) + " mod " + std::to_string(node.number) + ")";
      case Node::Kind::block:
        return "block";
      case Node::Kind::reduced:
        return "reduced";
      case Node::Kind::carried:
        break;
    }
    return "carried";
  }

  void line(int depth, const std::string& text) {
    out_.append(static_cast<std::size_t>(2 * depth), ' ');
    out_ += text + "\n";
  }

  void block(const Block& statements, int depth) {
    for (const Statement& statement : statements) {
      std::visit([&](const auto& is) { print(is, depth); }, statement.is);
    }
  }

  void print(const Define& define, int depth) {
    if (is_inlined(define.value)) return;
    const std::string name = "v" + std::to_string(define.value);
    line(depth,
         name + " = " + (define.value < kernel_.nodes.size() ? expression(define.value) : "?"));
  }

  void print(const Store& store, int depth) {
    std::string text = buffer(store.buffer) + "[" + operand(store.index) + "] = ";
    if (store.combine == Combine::set) {
      text += operand(store.value);
    } else {
      text += std::string(name_of(store.combine)) + "(it, " + operand(store.value) + ")";
    }
    if (store.when) text += " where " + operand(*store.when);
    line(depth, text);
  }

  void print(const Check& check, int depth) {
    line(depth, "check " + operand(check.ok) + ", else failure " + std::to_string(check.failure) +
                    " with " + operand(check.offending));
  }

  void print(const Loop& loop, int depth) {
    std::string text = "for ";
    for (std::size_t i = 0; i < loop.axes.size(); ++i) {
      if (i > 0) text += " ";
      text += "a" + std::to_string(loop.axes[i]);
    }
    if (loop.reverse) text += " down";
    if (!loop.tile.empty()) {
      text +=
          " in tiles of " + std::to_string(loop.tile[0]) + " by " + std::to_string(loop.tile[1]);
    }
    for (const Reduction& reduction : loop.reductions) {
      text += ", v" + std::to_string(reduction.result) + " = " +
              std::string(name_of(reduction.combine)) + (reduction.pairwise ? " pairwise(" : "(") +
              operand(reduction.term) + ")";
    }
    for (const Carry& carry : loop.carries) {
      text += ", v" + std::to_string(carry.state) + " from " + operand(carry.initial) + " to " +
              operand(carry.next);
    }
    line(depth, text);
    block(loop.body, depth + 1);
  }

  void print(const Shortcut& shortcut, int depth) {
    line(depth, "attempt");
    block(shortcut.attempt, depth + 1);
    line(depth, "if " + operand(shortcut.holds));
    block(shortcut.quick, depth + 1);
    line(depth, "else");
    block(shortcut.full, depth + 1);
  }

  const Kernel& kernel_;
  std::vector<int> uses_;
  std::vector<std::string> buffer_names_;
  std::string out_;
};

}  // namespace

std::string to_string(const Kernel& kernel) { return Printer(kernel).print(); }

}  // namespace hom::nest
