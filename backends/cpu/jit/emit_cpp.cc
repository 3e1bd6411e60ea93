// backends/cpu/jit/emit_cpp.cc -- C++ as a dialect, and the texts of a plan
#include <hom/backends/cpu/jit/emit_cpp.h>

#include <algorithm>
#include <map>
#include <set>

#include <hom/backends/cpu/jit/emit_cpp_prelude.h>
#include <hom/backends/cpu/jit/emit_kernel.h>
#include <hom/backends/cpu/jit/emit_plan.h>
#include <hom/backends/cpu/jit/native_functions.h>
#include <hom/backends/nests/spelled_out.h>

namespace hom::cpu {
namespace {

std::string kernel_declaration(std::size_t number) {
  return "extern \"C\" void hom_kernel_" + std::to_string(number) +
         "(char* const* arguments, i64 low, i64 high, Failure* record)";
}

class CppDialect final : public Dialect {
 public:
  explicit CppDialect(int vector_bytes) : vector_bytes_(vector_bytes) {}

  int vector_bytes() const override { return vector_bytes_; }

  std::string kernel_head(std::size_t number) const override { return kernel_declaration(number); }

  std::optional<std::string> call(nest::Function function, Dtype dtype, std::int64_t parameter,
                                  const std::string& result,
                                  const std::vector<std::string>& operands) const override {
    const std::optional<int> entry = native_function(function, dtype);
    if (!entry) return std::nullopt;
    const bool has_parameter =
        function == nest::Function::polygamma || function == nest::Function::log_gamma_slope;
    const bool is_far = function >= nest::Function::far_sin && function <= nest::Function::far_tan;
    if (is_far) {
      // Hardly ever is one called.
      return "call_far<" + result + ">(" + native_function_name(*entry) + ", " + operands[0] +
             ", " + (dtype == f32 ? "0x1p17f" : "0x1p30") + ")";
    }
    std::string text =
        (has_parameter ? "call_with<" : "call<") + result + ">(" + native_function_name(*entry);
    if (has_parameter) text += ", " + std::to_string(parameter);
    for (const std::string& operand : operands) text += ", " + operand;
    return text + ")";
  }

  std::optional<std::string> call_conversion(Dtype from, Dtype to, const std::string& result,
                                             const std::string& operand) const override {
    const std::optional<int> entry = native_conversion(from, to);
    if (!entry) return std::nullopt;
    return "call<" + result + ">(" + native_function_name(*entry) + ", " + operand + ")";
  }

 private:
  int vector_bytes_;
};

/// Nothing in a comment may end its line or continue it.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\\') c = '?';
  }
  return text;
}

/// The lines of the user that a kernel comes from, with the primitives of each.
std::string comment_of(const nest::Plan& plan, const nest::Kernel& kernel, std::size_t number) {
  constexpr std::size_t most_lines = 12;
  std::vector<std::pair<std::string, std::set<std::string>>> lines;
  for (const nest::Node& node : kernel.nodes) {
    if (node.step == nest::Node::no_step || node.step >= plan.origins.size()) continue;
    const nest::Origin& origin = plan.origins[node.step];
    std::string line = to_string(origin.at);
    if (!origin.scope.empty()) line += ", in `" + origin.scope + "`";
    auto found = std::find_if(lines.begin(), lines.end(),
                              [&](const auto& entry) { return entry.first == line; });
    if (found == lines.end()) found = lines.insert(lines.end(), {std::move(line), {}});
    found->second.insert(origin.primitive);
  }
  std::string text = "// kernel " + std::to_string(number) +
                     (kernel.name.empty() ? "" : ", " + one_line(kernel.name)) + "\n";
  for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i) {
    std::string primitives;
    for (const std::string& name : lines[i].second)
      primitives += (primitives.empty() ? "" : ", ") + name;
    text += "//   " + one_line(lines[i].first + ": " + primitives) + "\n";
  }
  if (lines.size() > most_lines)
    text += "//   and " + std::to_string(lines.size() - most_lines) + " lines more\n";
  return text;
}

/// Names for the entries of the table of functions.
std::string function_names() {
  const int count = native_function_count();
  std::string text = "\nenum : int {\n";
  for (int entry = 0; entry < count; ++entry)
    text += "  " + native_function_name(entry) + " = " + std::to_string(entry) + ",\n";
  return text + "  function_count = " + std::to_string(count) + ",\n};\n";
}

constexpr const char* exports = R"(
#define EXPORT extern "C" __attribute__((visibility("default")))

void* const* hom_functions;
EXPORT void hom_set_functions(void* const* functions) { hom_functions = functions; }
)";

}  // namespace

CppPlan emit_cpp(const nest::Plan& plan, int vector_bytes) {
  const CppDialect dialect(vector_bytes);
  CppPlan text;
  std::int64_t failures = 0;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const nest::Kernel& kernel = plan.kernels[k];
    const nest::Kernel shortened = nest::spelled_out(kernel);
    text.kernels.push_back(KernelPrinter(shortened, dialect, failures).print(k));
    text.comments.push_back(comment_of(plan, kernel, k));
    failures += static_cast<std::int64_t>(kernel.failures.size());
  }
  text.plan = emit_plan(plan);
  return text;
}

std::string emit_cpp_kernel(const nest::Plan& plan, std::size_t number, int vector_bytes) {
  const CppDialect dialect(vector_bytes);
  std::int64_t failures = 0;
  for (std::size_t k = 0; k < number; ++k)
    failures += static_cast<std::int64_t>(plan.kernels[k].failures.size());
  const nest::Kernel& kernel = plan.kernels[number];
  return comment_of(plan, kernel, number) +
         KernelPrinter(nest::spelled_out(kernel), dialect, failures).print(number);
}

std::vector<std::string> translation_units(const CppPlan& text, int vector_bytes, std::size_t most,
                                           std::size_t shortest) {
  std::size_t total = text.plan.size();
  for (const std::string& kernel : text.kernels) total += kernel.size();
  const std::size_t count = std::clamp<std::size_t>(total / std::max<std::size_t>(shortest, 1), 1,
                                                    std::max<std::size_t>(most, 1));
  const std::string prelude = function_names() + cpp_prelude(vector_bytes);
  std::vector<std::string> units(count, prelude);

  std::string declarations = "\n";
  std::string pointers;
  for (std::size_t k = 0; k < text.kernels.size(); ++k) {
    declarations += kernel_declaration(k) + ";\n";
    pointers += "    (void*)hom_kernel_" + std::to_string(k) + ",\n";
  }
  units[0] += exports + declarations + "\n" + text.plan;
  units[0] += "\nEXPORT void* const hom_kernels[] = {\n" + pointers + "    0,\n};\n";
  std::vector<std::size_t> lengths(count, 0);
  lengths[0] = text.plan.size();
  for (const std::string& kernel : text.kernels) {
    const auto shortest_unit = std::min_element(lengths.begin(), lengths.end());
    *shortest_unit += kernel.size();
    units[static_cast<std::size_t>(shortest_unit - lengths.begin())] += "\n" + kernel;
  }
  return units;
}

}  // namespace hom::cpu
