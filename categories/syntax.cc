// categories/syntax.cc -- point-free expressions: what composes, what is factored out of a fork,
// what gets a name
#include <hom/categories/syntax.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include <hom/categories/dominators.h>
#include <hom/core/primitive.h>
#include <hom/core/text_names.h>

namespace hom {
namespace {

using Node = DominatorTree::Node;

/// Where the law (f . h) △ (g . h) = (f △ g) . h applies. Nodes are steps, then the environment,
/// then the result.
struct Sharing {
  Node environment;
  Node result;
  /// factor[m] is the step h that all operands of m come through, if nothing but m comes through h;
  /// else `none`.
  std::vector<Node> factor;
  /// Steps that occur twice even so.
  std::vector<bool> named;

  explicit Sharing(const Program& program)
      : environment(static_cast<Node>(program.step_count())),
        result(environment + 1),
        factor(result + std::size_t{1}, DominatorTree::none),
        named(result + std::size_t{1}) {
    const auto node_of = [&](Slot slot) {
      const std::uint32_t step = program.definition(slot);
      return step == Program::is_none ? environment : step;
    };
    const auto operands = [&](Node node) {
      return node == result ? std::span<const Slot>(program.outputs())
                            : program.step(node).operands;
    };

    // Steps without an input somewhere behind them are arrows from every object, and in nobody's
    // way.
    DominatorTree inwards(factor.size(), environment);
    const auto add_inwards = [&](Node node) {
      Node through = DominatorTree::none;
      for (Slot slot : operands(node)) {
        if (inwards.contains(node_of(slot))) through = inwards.common(through, node_of(slot));
      }
      if (through != DominatorTree::none) inwards.add(node, through);
    };
    for (Node step = 0; step < environment; ++step) add_inwards(step);
    add_inwards(result);

    DominatorTree outwards(factor.size(), result);
    std::vector<Node> users(factor.size(), DominatorTree::none);
    std::vector<std::uint32_t> uses(factor.size());
    const auto add_users = [&](Node node) {
      for (Slot slot : operands(node)) {
        users[node_of(slot)] = outwards.common(users[node_of(slot)], node);
        ++uses[node_of(slot)];
      }
    };
    add_users(result);
    for (Node step = environment; step-- > 0;) {
      outwards.add(step, users[step]);
      add_users(step);
    }

    std::vector<bool> is_factor(factor.size());
    for (Node node = 0; node <= result; ++node) {
      if (node == environment || !inwards.contains(node)) continue;
      const Node through = inwards.parent(node);
      if (through == environment || !outwards.dominates(node, through)) continue;
      factor[node] = through;
      is_factor[through] = true;
    }
    for (Node step = 0; step < environment; ++step)
      named[step] = uses[step] > 1 && !is_factor[step];
  }
};

struct Projection {
  std::string name;
  std::size_t index;
  std::size_t count;
  friend bool operator==(const Projection&, const Projection&) = default;
};
/// From the whole to a part, outermost first; empty for `id`.
using Path = std::vector<Projection>;

std::string position_name(std::size_t index, std::size_t count) {
  if (count == 2) return index == 0 ? "exl" : "exr";
  return "ex" + std::to_string(index);
}

/// The paths of the leaves of an object. Labels of arguments are no projections' names, those of
/// fields are.
void add_paths(const Object& object, bool is_argument_list, Path& path, std::vector<Path>& paths) {
  if (object.is_tensor) {
    paths.push_back(path);
    return;
  }
  const std::size_t count = object.factors.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [label, factor] = object.factors[i];
    const bool is_labelled = !is_argument_list && !label.empty();
    if (count > 1) path.push_back({is_labelled ? label : position_name(i, count), i, count});
    add_paths(factor, false, path, paths);
    if (count > 1) path.pop_back();
  }
}

/// The object, or the flat product of `types` where it says nothing about them.
Object object_or(const Object& object, const std::vector<TensorType>& types) {
  if (object.leaves() == types) return object;
  std::vector<Object::Factor> factors;
  factors.reserve(types.size());
  for (const TensorType& type : types) factors.push_back({"", type});
  return Object::product(std::move(factors));
}

/// exl △ exr = id, for the projections of all factors in order: the path of their product.
std::optional<Path> fork_of(const std::vector<std::optional<Path>>& parts) {
  if (parts.size() == 1) return parts[0];
  std::optional<Path> whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<Path>& part = parts[i];
    if (!part || part->empty()) return std::nullopt;
    Path product = *part;
    const Projection last = product.back();
    product.pop_back();
    if (last.index != i || last.count != parts.size()) return std::nullopt;
    if (whole && *whole != product) return std::nullopt;
    whole = std::move(product);
  }
  return whole;
}

using Labels = std::unordered_map<const Program*, std::string>;

std::string subscript(const Attribute& attribute, const Labels& labels) {
  if (const auto* program = std::get_if<ProgramPtr>(&attribute.value))
    return labels.at(program->get());
  if (const auto* list = std::get_if<AttributeList>(&attribute.value)) {
    std::string text = "{";
    for (const Attribute& entry : *list)
      text += (text.size() > 1 ? ", " : "") + subscript(entry, labels);
    return text + "}";
  }
  return to_string(attribute);
}

/// The arrow of a primitive: `mul`, `reduce_sum[axes=[0]]`, `const 2.0`, the name of a called
/// program.
std::string arrow_of(const Step& step, const Labels& labels) {
  const std::string& name = step.primitive.name;
  if (name == "constant") return "const " + to_string(step.attributes.get("value"));
  if (name == "captured") return "captured[" + to_string(step.attributes.get("index")) + "]";
  if (name == "call") return labels.at(step.attributes.program("program").get());
  if (step.attributes.empty()) return name;
  std::string text = name + "[";
  for (const auto& [key, value] : step.attributes) {
    if (text.back() != '[') text += ", ";
    text += std::string(key) + "=" + subscript(value, labels);
  }
  return text + "]";
}

/// Writes one program. What is still to be written waits on a stack of our own, so depth costs no
/// call.
class Writer {
 public:
  Writer(const Program& program, const SyntaxOptions& options, const Labels& labels)
      : program_(program), options_(options), labels_(labels), sharing_(program) {
    Path path;
    const Object domain = object_or(program.domain(), program.input_types());
    add_paths(domain, !domain.is_tensor, path, input_paths_);
  }

  /// The expression, then the arrows that it names as `v7 = …`.
  std::vector<std::string> write() {
    std::vector<std::string> lines;
    write_result();
    lines.push_back(std::move(out_));
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const Chain arrow = pending_[i];
      out_ = name_of(arrow.step) + " = ";
      run(arrow);
      lines.push_back(std::move(out_));
    }
    return lines;
  }

 private:
  /// The arrow from `environment` to a slot.
  struct Value {
    Slot slot;
    Node environment;
    int depth;
  };
  /// The arrow from `environment` to all results of a step, even if it has a name.
  struct Chain {
    Node step;
    Node environment;
    int depth;
  };
  using Todo = std::variant<const char*, Value, Chain>;

  std::string name_of(Node step) const {
    return "v" + std::to_string(program_.step(step).first_result);
  }

  /// The path of `slot` from the results of its step.
  Path result_path(Slot slot) const {
    const Step step = program_.step(program_.definition(slot));
    if (step.result_count == 1) return {};
    const std::size_t index = slot - step.first_result;
    return {{position_name(index, step.result_count), index, step.result_count}};
  }

  /// The path of `slot` from `environment`, where it is a part of it. Inputs are the first slots of
  /// a program.
  std::optional<Path> path_from(Node environment, Slot slot) const {
    const std::uint32_t step = program_.definition(slot);
    if (step == Program::is_none) return input_paths_[slot];
    return step == environment ? std::optional(result_path(slot)) : std::nullopt;
  }

  void write_path(const Path& path) {
    if (path.empty()) out_ += "id";
    for (std::size_t i = path.size(); i-- > 0;) {
      out_ += path[i].name;
      if (i) out_ += " . ";
    }
  }

  void write_result() {
    const Object codomain = object_or(program_.codomain(), program_.output_types());
    const Node through = sharing_.factor[sharing_.result];
    if (through == DominatorTree::none) return write_outputs(codomain, sharing_.environment, 0, 0);
    const auto path = output_path(codomain, through, 0);
    if (!path || !path->empty()) {
      write_outputs(codomain, through, 0, 1);
      out_ += " . ";
    }
    run(Chain{through, sharing_.environment, 0});
  }

  /// The path of the outputs that make up `object`, the first of which is output `first`.
  std::optional<Path> output_path(const Object& object, Node environment, std::size_t first) const {
    if (object.is_tensor) return path_from(environment, program_.outputs()[first]);
    std::vector<std::optional<Path>> parts;
    for (const auto& [label, factor] : object.factors) {
      parts.push_back(output_path(factor, environment, first));
      first += static_cast<std::size_t>(factor.leaf_count());
    }
    return fork_of(parts);
  }

  /// The fork of those outputs, in parentheses unless `depth` is 0.
  void write_outputs(const Object& object, Node environment, std::size_t first, int depth) {
    if (const auto path = output_path(object, environment, first)) return write_path(*path);
    if (object.is_tensor) return run(Value{program_.outputs()[first], environment, depth});
    if (object.factors.size() == 1)
      return write_outputs(object.factors[0].object, environment, first, depth);
    if (object.factors.empty()) {
      out_ += "it";
      return;
    }
    if (depth) out_ += '(';
    bool is_first = true;
    for (const auto& [label, factor] : object.factors) {
      if (!std::exchange(is_first, false)) out_ += " △ ";
      write_outputs(factor, environment, first, depth + 1);
      first += static_cast<std::size_t>(factor.leaf_count());
    }
    if (depth) out_ += ')';
  }

  void run(const Todo& start) {
    todo_.emplace_back(start);
    while (!todo_.empty()) {
      const Todo next = todo_.back();
      todo_.pop_back();
      if (const auto* words = std::get_if<const char*>(&next)) out_ += *words;
      if (const auto* value = std::get_if<Value>(&next)) write_value(*value);
      if (const auto* chain = std::get_if<Chain>(&next)) write_chain(*chain);
    }
  }

  void write_value(const Value& value) {
    if (const auto path = path_from(value.environment, value.slot)) return write_path(*path);
    const Node step = program_.definition(value.slot);
    if (const Path part = result_path(value.slot); !part.empty()) {
      write_path(part);
      out_ += " . ";
    }
    const Chain chain{step, value.environment, value.depth};
    const bool is_leaf = program_.step(step).operands.empty();
    if (is_leaf || (!sharing_.named[step] && value.depth < std::max(options_.max_depth, 1))) {
      todo_.emplace_back(chain);
      return;
    }
    out_ += name_of(step);
    if (seen_.insert(step).second) pending_.push_back({step, value.environment, 0});
  }

  void write_chain(const Chain& chain) {
    const Step step = program_.step(chain.step);
    out_ += arrow_of(step, labels_);
    if (step.operands.empty()) return;
    Node environment = chain.environment;
    if (const Node through = sharing_.factor[chain.step]; through != DominatorTree::none) {
      todo_.emplace_back(Chain{through, environment, chain.depth});
      todo_.emplace_back(" . ");
      environment = through;
    }
    std::vector<std::optional<Path>> parts;
    for (Slot slot : step.operands) parts.push_back(path_from(environment, slot));
    if (const auto path = fork_of(parts)) {
      if (path->empty()) return;
      out_ += " . ";
      return write_path(*path);
    }
    out_ += " . ";
    if (step.operands.size() == 1) {
      todo_.emplace_back(Value{step.operands[0], environment, chain.depth});
      return;
    }
    out_ += '(';
    todo_.emplace_back(")");
    for (std::size_t i = step.operands.size(); i-- > 0;) {
      todo_.emplace_back(Value{step.operands[i], environment, chain.depth + 1});
      if (i) todo_.emplace_back(" △ ");
    }
  }

  const Program& program_;
  const SyntaxOptions& options_;
  const Labels& labels_;
  Sharing sharing_;
  std::vector<Path> input_paths_;
  std::string out_;
  std::vector<Todo> todo_;
  std::vector<Chain> pending_;
  std::unordered_set<Node> seen_;
};

/// Called programs are arrows of their name, of which there may be several, or `f0` … without one.
Labels label_programs(const std::vector<const Program*>& programs) {
  Labels labels;
  std::map<std::string, int> uses;
  int nameless = 0;
  for (const Program* program : programs) {
    std::string label =
        program->name().empty() ? "f" + std::to_string(nameless++) : program->name();
    const int earlier = uses[label]++;
    labels.emplace(program, earlier ? label + "." + std::to_string(earlier) : label);
  }
  return labels;
}

void append_where(std::string& text, const std::vector<std::string>& lines,
                  const std::string& indent) {
  if (lines.empty()) return;
  text += "\n" + indent + "where";
  for (const std::string& line : lines) {
    text += "\n";
    text += indent;
    text += "  ";
    text += line;
  }
}

}  // namespace

std::string syntax(const Program& program, const SyntaxOptions& options) {
  const std::vector<const Program*> inside = text_form::programs_inside(program);
  const Labels labels = label_programs(inside);
  std::vector<std::string> lines = Writer(program, options, labels).write();
  std::string text = std::move(lines.front());
  lines.erase(lines.begin());
  for (const Program* called : inside) {
    std::vector<std::string> body = Writer(*called, options, labels).write();
    std::string definition = labels.at(called) + " = " + body.front();
    body.erase(body.begin());
    append_where(definition, body, "      ");
    lines.push_back(std::move(definition));
  }
  append_where(text, lines, "  ");
  return text;
}

}  // namespace hom
