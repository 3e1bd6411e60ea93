// core/text_names.cc -- names in the text form
#include <hom/core/text_names.h>

#include <algorithm>
#include <unordered_set>

namespace hom::text_form {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t word_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && (is_letter(text[n]) || is_digit(text[n]))) ++n;
  return n;
}

std::size_t digits_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

void add_paths(const Object& object, const std::string& path, std::vector<std::string>& paths) {
  if (object.is_tensor) {
    paths.push_back(path);
    return;
  }
  for (std::size_t i = 0; i < object.factors.size(); ++i) {
    const auto& [label, factor] = object.factors[i];
    const std::string step = label.empty() ? "[" + std::to_string(i) + "]" : "." + label;
    add_paths(factor, path + step, paths);
  }
}

void add_programs(const Attribute& attribute, std::vector<const Program*>& found) {
  if (const auto* program = std::get_if<ProgramPtr>(&attribute.value)) {
    found.push_back(program->get());
  } else if (const auto* list = std::get_if<AttributeList>(&attribute.value)) {
    for (const Attribute& entry : *list) add_programs(entry, found);
  }
}

std::vector<const Program*> programs_directly_inside(const Program& program) {
  std::vector<const Program*> found;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    for (const auto& [name, value] : program.step(i).attributes) add_programs(value, found);
  }
  return found;
}

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && word_length(name) == name.size();
}

std::size_t path_length(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return 0;
  std::size_t length = word_length(text);
  while (length < text.size()) {
    const std::string_view rest = text.substr(length + 1);
    if (text[length] == '.' && word_length(rest) > 0) {
      length += 1 + word_length(rest);
    } else if (const std::size_t digits = digits_length(rest);
               text[length] == '[' && digits > 0 && rest.substr(digits).starts_with(']')) {
      length += digits + 2;
    } else {
      break;
    }
  }
  return length;
}

std::vector<std::string> input_paths(const Object& domain) {
  std::vector<std::string> paths;
  if (domain.is_tensor) return {"x"};
  for (std::size_t i = 0; i < domain.factors.size(); ++i) {
    const auto& [label, factor] = domain.factors[i];
    add_paths(factor, label.empty() ? "x" + std::to_string(i) : label, paths);
  }
  return paths;
}

bool describes(const Object& object, const std::vector<TensorType>& types) {
  return object == Object() || object.leaves() == types;
}

std::vector<const Program*> programs_inside(const Program& program) {
  std::vector<const Program*> ordered;
  std::unordered_set<const Program*> seen;
  struct Visit {
    const Program* program;
    std::vector<const Program*> inside;
    std::size_t next = 0;
  };
  std::vector<Visit> stack;
  stack.push_back({&program, programs_directly_inside(program)});
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.next < top.inside.size()) {
      const Program* inner = top.inside[top.next++];
      if (seen.insert(inner).second) stack.push_back({inner, programs_directly_inside(*inner)});
      continue;
    }
    if (top.program != &program) ordered.push_back(top.program);
    stack.pop_back();
  }
  return ordered;
}

}  // namespace hom::text_form
