// docs/primitives.cc -- prints docs/primitives.md
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <hom/backends/cpu/kernel.h>
#include <hom/categories/decomposition.h>
#include <hom/categories/gad.h>
#include <hom/categories/interval.h>
#include <hom/categories/matrices.h>
#include <hom/categories/programs.h>
#include <hom/categories/sparsity.h>
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

/// How `evaluate` runs a primitive: by a kernel of the eager CPU executor, or by the programs
/// inside it.
std::string evaluated(const Primitive& p) {
  if (cpu_kernels().find(p.name)) return "kernel";
  return p.run || p.name == "captured" ? "core" : "**missing**";
}

/// Whether `vmap` has a rule; what has no operands is the same for all lanes.
std::string batched(const Primitive& p) {
  if (p.batch) return p.partial ? "yes, spares dead lanes" : "yes";
  return p.max_operands == 0 ? "–" : "**missing**";
}

/// How a category of categories/ reads it.
template <class C>
std::string read_in(const C& c, const Primitive& p) {
  if (categories::is_decomposed(p)) return "its program";
  return c.lacks(p).empty() ? "yes" : "–";
}

/// Whether there is a rule for sparsity patterns; without one any element may depend on any.
std::string sparsity_of(const Primitive& p) {
  if (categories::is_decomposed(p)) return "its program";
  const bool is_exact = p.max_operands == 0 || !has_derivative(p) || p.name == "cond" ||
                        p.name == "barrier" || categories::sparsity_rules().contains(p.name);
  return is_exact ? "yes" : "everything";
}

void categories_of(const std::vector<const Primitive*>& primitives) {
  header({"primitive", "evaluate (CPU)", "linearize", "transpose", "batch", "intervals", "sparsity",
          "additive functions, matrices, Dual, Cont, Begin"});
  for (const Primitive* p : primitives) {
    row({"`" + p->name + "`", evaluated(*p), has_derivative(*p) ? "yes" : "–",
         p->transpose ? "yes" : "–", batched(*p), read_in(categories::Intervals{}, *p),
         sparsity_of(*p), read_in(categories::Matrices{}, *p)});
  }
}

/// One row for each reason: the primitives for which `why_not` gives it.
void reasons(const std::string& category, const std::vector<const Primitive*>& primitives,
             const std::function<std::string(const Primitive&)>& why_not) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const Primitive* p : primitives) {
    const std::string reason = why_not(*p);
    if (reason.empty()) continue;
    auto entry = std::find_if(found.begin(), found.end(),
                              [&](const auto& known) { return known.first == reason; });
    if (entry == found.end()) entry = found.insert(found.end(), {reason, ""});
    entry->second += (entry->second.empty() ? "`" : ", `") + p->name + "`";
  }
  for (const auto& [reason, names] : found) row({category, names, reason});
}

/// Why a category of categories/ does not read it.
template <class C>
void reasons_of(const C& c, const std::string& name,
                const std::vector<const Primitive*>& primitives) {
  reasons(name, primitives, [&](const Primitive& p) {
    return categories::is_decomposed(p) ? std::string() : std::string(c.lacks(p));
  });
}

void why_not(const std::vector<const Primitive*>& primitives) {
  header({"category", "has no arrow for", "because"});
  reasons("linearize", primitives,
          [](const Primitive& p) { return has_derivative(p) ? "" : p.no_derivative; });
  reasons_of(categories::Functions<categories::Arrays>{}, "functions on arrays", primitives);
  reasons_of(categories::Programs{}, "programs", primitives);
  reasons_of(categories::GAD<categories::Matrices>{}, "GAD", primitives);
  reasons_of(categories::Intervals{}, "intervals", primitives);
  reasons_of(categories::Matrices{}, "transpose; additive functions, matrices, Dual, Cont, Begin",
             primitives);
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
  std::cout
      << "\n## Which category has it\n\n"
         "Evaluation and `batch` (`vmap`) have every primitive; those that may raise when they "
         "run spare lanes in which a\nbatched `cond` does not take their branch. `text`, "
         "`syntax`, `graph` and `cost` read any step alike, and so do functions on\narrays, "
         "`Programs` and `GAD`: they have all of them, and those that users add. *Its program* "
         "stands for a step with a program inside\nthat is read instead: a loop unrolled, a "
         "`while` where it has a bound. What has a linear arrow is linear in some of its\n"
         "operands, as a product is. *Everything* stands\nfor a primitive without a rule for "
         "sparsity patterns, each element of whose result may depend on every element of its "
         "operands; the\npattern of a derivative meets linear steps only.\n\n";
  categories_of(primitives);
  std::cout << "\n### Why not\n\n"
               "A step that a category does not have is an error at the user's line, with this "
               "reason.\n\n";
  why_not(primitives);
  std::cout << "\n## Dtypes of two tensors\n\n";
  promotion();
  std::cout << "\n## Dtypes of a tensor and a C++ number\n\n"
               "Numbers are weak: they adopt the tensor's dtype where it can hold their kind.\n\n";
  weak_promotion();
}
