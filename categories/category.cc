// categories/category.cc -- operations as arrows, objects as lists, and what categories lack
#include <hom/categories/category.h>

#include <map>
#include <optional>

#include <hom/core/capture.h>

namespace hom::categories {

Positions Operation::varying() const {
  Positions list;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (varies(i)) list.push_back(i);
  }
  return list;
}

Environment Operation::domain() const { return factors(types, varying()); }

Tensors Operation::operator()(std::span<const Tensor> arguments) const {
  if (!captured.is_empty()) return {captured};
  const LocationScope line(at);
  std::optional<NameScope> name;
  if (!scope.empty()) name.emplace(scope);
  Tensors operands = known;
  std::size_t next = 0;
  for (Tensor& operand : operands) {
    if (operand.is_empty()) operand = arguments[next++];
  }
  ensure(next == arguments.size(), "an operation takes one argument for each operand that varies");
  const TensorList list = apply(*primitive, attributes, operands, at);
  return {list.begin(), list.end()};
}

Operation operation_of(const Program& program, const Step& step) {
  Operation op;
  op.primitive = &step.primitive;
  op.attributes = step.attributes;
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    op.types.push_back(program.type(step.operands[i]));
    std::size_t first = 0;
    while (step.operands[first] != step.operands[i]) ++first;
    op.same_as.push_back(first);
  }
  op.known.resize(op.types.size());
  for (std::uint32_t r = 0; r < step.result_count; ++r)
    op.results.push_back(program.type(step.first_result + r));
  if (op.is("captured"))
    op.captured = program.captured()[static_cast<std::size_t>(step.attributes.integer("index"))];
  op.at = step.at;
  op.scope = step.scope;
  return op;
}

Operation operation(std::string_view primitive, Attributes attributes,
                    std::vector<TensorType> types, Tensors known, const Location& at) {
  Operation op;
  op.primitive = &standard_primitives().find(primitive);
  op.attributes = std::move(attributes);
  op.at = LocationScope::current(at);
  op.scope = NameScope::current();
  op.results = result_types(*op.primitive, op.attributes, types, op.at);
  op.same_as = range(0, types.size());
  op.types = std::move(types);
  op.known = std::move(known);
  op.known.resize(op.types.size());
  return op;
}

Environment factors(const Environment& a, const Positions& positions) {
  Environment list;
  for (std::size_t position : positions) {
    ensure(position < a.size(), "a position is that of a factor");
    list.push_back(a[position]);
  }
  return list;
}

Environment product(const Environment& a, const Environment& b) {
  Environment both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

Positions range(std::size_t start, std::size_t count) {
  Positions list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(start + i);
  return list;
}

Positions twice(const Environment& a) {
  Positions list = range(0, a.size());
  for (std::size_t i = 0; i < a.size(); ++i) list.push_back(i);
  return list;
}

std::string to_string(const Environment& a) {
  std::string text;
  for (const TensorType& type : a) text += (text.empty() ? "" : ", ") + hom::to_string(type);
  return "(" + text + ")";
}

void fail_operation(const std::string& category, const Operation& operation,
                    const std::string& reason) {
  const LocationScope line(operation.at);
  std::optional<NameScope> name;
  if (!operation.scope.empty()) name.emplace(operation.scope);
  fail({category + ": no arrow for " + operation.primitive->name + ": " + reason,
        "list_primitives(category) says what it has"},
       operation.at);
}

std::string list_primitives(const Lacks& lacks) {
  std::string has;
  std::vector<std::pair<std::string, std::string>> others;
  for (const Primitive* primitive : standard_primitives().all()) {
    const std::string name = "`" + primitive->name + "`";
    const std::string reason = lacks(*primitive);
    std::string* list = &has;
    if (!reason.empty()) {
      auto found = others.begin();
      while (found != others.end() && found->first != reason) ++found;
      if (found == others.end()) found = others.insert(found, {reason, ""});
      list = &found->second;
    }
    *list += (list->empty() ? "" : ", ") + name;
  }
  std::string text = "- has " + has + "\n";
  for (const auto& [reason, names] : others) text += "- lacks " + names + ": " + reason + "\n";
  return text;
}

}  // namespace hom::categories
