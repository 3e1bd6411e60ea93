// core/text.cc -- printing programs as text
#include <hom/core/text.h>

#include <bit>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include <hom/core/text_names.h>

namespace hom {
namespace {

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string name_text(const std::string& name) {
  return text_form::is_identifier(name) ? name : in_quotes(name);
}

std::string object_text(const Object& object) {
  if (object.is_tensor) return to_string(object.tensor);
  std::string text = "(";
  for (const auto& [label, factor] : object.factors) {
    if (text.size() > 1) text += ", ";
    if (!label.empty()) text += name_text(label) + ": ";
    text += object_text(factor);
  }
  return text + ")";
}

std::string number_text(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t quiet_nan = 0x7ff8000000000000;
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if (std::isnan(value) && (bits & ~sign) != quiet_nan) return fmt::format("nan({:#x})", bits);
  return to_string(value);
}

/// Prints one program after the other; labels are those of all programs in the text.
class Printer {
 public:
  Printer(std::string& out, const std::unordered_map<const Program*, std::string>& labels,
          const TextOptions& options)
      : out_(out), labels_(labels), options_(options) {}

  void print(const Program& program) {
    name_slots(program);
    if (program.domain().is_tensor && !out_.ends_with('\n')) out_ += ' ';
    out_ += object_text(program.domain()) + " -> " + object_text(program.codomain()) + " {\n";
    print_inputs(program);
    for (std::size_t i = 0; i < program.step_count(); ++i) print_step(program, program.step(i));
    out_ += "  return";
    for (std::size_t i = 0; i < program.outputs().size(); ++i) {
      out_ += i ? ", " : " ";
      print_slot(program.outputs()[i]);
    }
    out_ += "\n}\n";
  }

 private:
  /// Inputs are called by their own names, except those that do not read as a path, name two, or
  /// look like `v7`.
  void name_slots(const Program& program) {
    input_names_.clear();
    const auto looks_like_a_result = [](const std::string& name) {
      return name.size() > 1 && name[0] == 'v' &&
             name.find_first_not_of("0123456789", 1) == std::string::npos;
    };
    std::unordered_set<std::string_view> taken;
    for (std::size_t i = 0; i < program.inputs().size(); ++i) {
      const std::string& name = program.input_names()[i];
      const bool fits = !name.empty() && text_form::path_length(name) == name.size() &&
                        !looks_like_a_result(name);
      const bool is_free = fits && taken.insert(name).second;
      input_names_.push_back(is_free ? name : "v" + std::to_string(program.inputs()[i]));
    }
  }

  /// Inputs are the first slots of a finished program.
  void print_slot(Slot slot) {
    if (slot < input_names_.size()) {
      out_ += input_names_[slot];
    } else {
      out_ += 'v';
      out_ += std::to_string(slot);
    }
  }

  void print_inputs(const Program& program) {
    const std::vector<TensorType> types = program.input_types();
    if (program.domain().leaves() == types &&
        text_form::input_paths(program.domain()) == program.input_names() &&
        input_names_ == program.input_names()) {
      return;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::string& name = program.input_names()[i];
      out_ += (i ? ", " : "  inputs ") + input_names_[i];
      if (input_names_[i] != name) out_ += " " + in_quotes(name);
      out_ += ": " + to_string(types[i]);
    }
    if (!types.empty()) out_ += '\n';
  }

  void print_step(const Program& program, const Step& step) {
    out_ += "  ";
    for (Slot r = 0; r < step.result_count; ++r) {
      if (r) out_ += ", ";
      print_slot(step.first_result + r);
      out_ += ": ";
      out_ += to_string(program.type(step.first_result + r));
    }
    out_ += " = ";
    out_ += step.primitive.name;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      out_ += i ? ", " : "(";
      print_slot(step.operands[i]);
    }
    if (!step.operands.empty()) out_ += ')';
    bool first = true;
    for (const auto& [name, value] : step.attributes) {
      out_ += std::exchange(first, false) ? " {" : ", ";
      out_ += name;
      out_ += " = ";
      print_attribute(value);
    }
    if (!first) out_ += '}';
    if (options_.lines) {
      out_ += "  # " + to_string(step.at);
      if (!step.scope.empty()) out_ += ", in `" + step.scope + "`";
    }
    out_ += '\n';
  }

  void print_attribute(const Attribute& attribute) {
    if (const auto* number = std::get_if<double>(&attribute.value)) {
      out_ += number_text(*number);
    } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
      out_ += in_quotes(*text);
    } else if (const auto* program = std::get_if<ProgramPtr>(&attribute.value)) {
      out_ += "@" + labels_.at(program->get());
    } else if (const auto* list = std::get_if<AttributeList>(&attribute.value)) {
      out_ += '{';
      for (std::size_t i = 0; i < list->size(); ++i) {
        if (i) out_ += ", ";
        print_attribute((*list)[i]);
      }
      out_ += '}';
    } else {
      out_ += to_string(attribute);
    }
  }

  std::string& out_;
  const std::unordered_map<const Program*, std::string>& labels_;
  const TextOptions& options_;
  std::vector<std::string> input_names_;
};

}  // namespace

std::string to_text(const Program& program, const TextOptions& options) {
  std::string out = "hom " + std::to_string(text_form::version) + "\n";
  std::unordered_map<const Program*, std::string> labels;
  std::map<std::string, int> uses;
  int nameless = 0;
  Printer printer(out, labels, options);
  for (const Program* inner : text_form::programs_inside(program)) {
    const std::string& name = inner->name();
    const bool is_label = text_form::is_identifier(name);
    std::string label = is_label ? name : std::to_string(nameless++);
    if (is_label && uses[name]++ > 0) label += "." + std::to_string(uses[name] - 1);
    out += "program @" + label;
    if (!is_label && !name.empty()) out += " " + in_quotes(name);
    labels.emplace(inner, std::move(label));
    printer.print(*inner);
  }
  if (!program.name().empty()) out += name_text(program.name());
  printer.print(program);
  return out;
}

std::vector<Tensor> captured_tensors(const Program& program) {
  std::vector<Tensor> all;
  for (const Program* inner : text_form::programs_inside(program)) {
    all.insert(all.end(), inner->captured().begin(), inner->captured().end());
  }
  all.insert(all.end(), program.captured().begin(), program.captured().end());
  return all;
}

}  // namespace hom
