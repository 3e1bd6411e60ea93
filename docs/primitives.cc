// docs/primitives.cc -- prints docs/primitives.md
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <hom/backends/cpu/kernel.h>
#include <hom/core/primitive.h>

using namespace hom;

namespace {

const char* kind_name(AttributeSpec::Kind kind) {
  switch (kind) {
    case AttributeSpec::Kind::boolean:
      return "bool";
    case AttributeSpec::Kind::integer:
      return "integer";
    case AttributeSpec::Kind::number:
      return "number";
    case AttributeSpec::Kind::string:
      return "string";
    case AttributeSpec::Kind::dtype:
      return "dtype";
    case AttributeSpec::Kind::shape:
      return "list of integers";
    case AttributeSpec::Kind::program:
      return "program";
    case AttributeSpec::Kind::list:
      break;
  }
  return "list";
}

std::string attributes(const Primitive& p) {
  std::string text;
  for (const AttributeSpec& attribute : p.attributes) {
    text += (text.empty() ? "" : ", ") + attribute.name + ": " + kind_name(attribute.kind);
  }
  return text;
}

/// The cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void row(const std::vector<std::string>& cells) {
  for (const std::string& text : cells) std::cout << "| " << cell(text) << " ";
  std::cout << "|\n";
}

void header(const std::vector<std::string>& names) {
  row(names);
  for (std::size_t i = 0; i < names.size(); ++i) std::cout << "|---";
  std::cout << "|\n";
}

std::string fixed(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

bool has_derivative(const Primitive& p) { return p.derivative || p.call_derivative; }

void declarations(const std::vector<const Primitive*>& primitives) {
  header({"primitive", "operands → results", "dtypes", "attributes", "derivative", "cost"});
  for (const Primitive* p : primitives) {
    const std::string derivative = has_derivative(*p) ? p->formula : "none: " + p->no_derivative;
    row({"`" + p->name + "`", p->shapes, to_string(p->dtypes), attributes(*p), derivative,
         has_derivative(*p) ? fixed(p->cost_factor) : "–"});
  }
}

/// How `evaluate` runs a primitive: by a kernel of the eager CPU executor, or by itself.
std::string evaluated(const Primitive& p) {
  static const std::set<std::string> by_core{"call", "cond", "captured"};
  if (cpu_kernels().find(p.name)) return "kernel";
  return by_core.contains(p.name) ? "core" : "**missing**";
}

/// Whether `vmap` has a rule; what has no operands is the same for all lanes.
std::string batched(const Primitive& p) {
  if (p.batch) return p.partial ? "yes, spares dead lanes" : "yes";
  return p.max_operands == 0 ? "–" : "**missing**";
}

void categories(const std::vector<const Primitive*>& primitives) {
  header({"primitive", "evaluate (CPU)", "linearize", "transpose", "batch"});
  for (const Primitive* p : primitives) {
    row({"`" + p->name + "`", evaluated(*p), has_derivative(*p) ? "yes" : "–",
         p->transpose ? "yes" : "–", batched(*p)});
  }
}

void promotion() {
  std::vector<std::string> names{""};
  for (const Dtype dtype : all_dtypes) names.push_back("**" + to_string(dtype) + "**");
  header(names);
  for (const Dtype a : all_dtypes) {
    std::vector<std::string> cells{"**" + to_string(a) + "**"};
    for (const Dtype b : all_dtypes) cells.push_back(to_string(promote(a, b)));
    row(cells);
  }
}

void weak_promotion() {
  header({"tensor", "`true`", "`1`", "`1u`", "`std::int64_t{1}`", "`1.0f`", "`1.0`"});
  for (const Dtype a : all_dtypes) {
    std::vector<std::string> cells{"**" + to_string(a) + "**"};
    for (const Dtype number : {bool_, i32, u32, i64, f32, f64}) {
      cells.push_back(to_string(promote_weak(a, number)));
    }
    row(cells);
  }
}

}  // namespace

int main() {
  const std::vector<const Primitive*> primitives = standard_primitives().all();
  std::cout
      << "# Primitives\n\n"
         "<!-- Generated: bazel run -c opt //docs:primitives > docs/primitives.md -->\n\n"
         "The "
      << primitives.size()
      << " primitives of `core/primitives/`, in the order of their declaration. Everything else in "
         "Hom is a\ncomposition of them. This page is printed from the table itself "
         "(`docs/primitives.cc`).\n\n"
         "## Declarations\n\n"
         "`s`, `t` are shapes, `[]` is rank 0, and `…` repeats. Operands of elementwise "
         "primitives have one dtype and\none shape: operations promote and broadcast before. "
         "In derivatives `x` (and `y`, where there are two operands)\nare operands, the result is "
         "`y` where there is one operand, and `·` multiplies by `scale`, which is 0 where\na "
         "factor is "
         "exactly 0. *Cost* bounds the work and the steps of `value_and_grad` of one step over "
         "those of the\nstep; for `reduce_prod`, `cumprod`, `cummax` and `cummin` it is the factor "
         "up to 16 "
         "elements along the axes, and\ngrows with their logarithm.\n\n";
  declarations(primitives);
  std::cout << "\n## Which category has it\n\n"
               "Evaluation, `linearize`, `transpose` and `batch` (`vmap`) have a rule for each "
               "primitive; those that may raise when they\nrun spare lanes in which a batched "
               "`cond` does not take their branch. `text`, `syntax`, `graph` and `cost` read\nany "
               "step alike, so they have all of them, and those that "
               "users add.\n\n";
  categories(primitives);
  std::cout << "\n## Dtypes of two tensors\n\n";
  promotion();
  std::cout << "\n## Dtypes of a tensor and a C++ number\n\n"
               "Numbers are weak: they adopt the tensor's dtype where it can hold their kind.\n\n";
  weak_promotion();
}
