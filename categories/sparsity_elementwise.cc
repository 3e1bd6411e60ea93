// categories/sparsity_elementwise.cc -- rules for functions of one element at a time
#include <hom/categories/sparsity_rule.h>
#include <hom/core/operations/shaping.h>

namespace hom::categories {
namespace {

/// For each element whether the known tensor is 0 there.
std::vector<bool> zeros_in(const Tensor& known) {
  std::vector<bool> zero;
  for (double value : known.to_vector()) zero.push_back(value == 0);
  return zero;
}

/// A product: what is multiplied by a zero that is known does not vary.
Tensor product_sparsity(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (x[i].known.is_empty()) continue;
    const std::vector<bool> zero = zeros_in(x[i].known);
    const Tensor other = row_major(x[1 - i].sets);
    SetTensor result(step.results[0].shape);
    for (std::int64_t k = 0; k < result.size(); ++k) {
      const auto place = static_cast<std::size_t>(k);
      result[k] = zero[place] ? IndexSets::none : ids(other)[place];
    }
    return result.tensor();
  }
  return elementwise_sparsity(sets, step, x);
}

/// By a predicate that is known as values are; otherwise either.
Tensor select_sparsity(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  if (x[0].known.is_empty()) return united(sets, x[1].sets, x[2].sets);
  return executed(step, {x[0].known, sets_of(x[1]), sets_of(x[2])}, u32);
}

}  // namespace

Tensor united(IndexSets& sets, const Tensor& a, const Tensor& b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  const Tensor x = row_major(a);
  const Tensor y = row_major(b);
  const auto from_x = ids(x);
  const auto from_y = ids(y);
  SetTensor result(a.shape());
  for (std::size_t k = 0; k < from_x.size(); ++k) {
    // Neighbours are often alike.
    const bool again = k > 0 && from_x[k] == from_x[k - 1] && from_y[k] == from_y[k - 1];
    const auto place = static_cast<std::int64_t>(k);
    result[place] = again ? result[place - 1] : sets.unite(from_x[k], from_y[k]);
  }
  return result.tensor();
}

Tensor elementwise_sparsity(IndexSets& sets, const Operation&, std::span<const Dependences> x) {
  Tensor all;
  for (const Dependences& operand : x) all = united(sets, all, operand.sets);
  return all;
}

Tensor no_sparsity(IndexSets&, const Operation&, std::span<const Dependences>) { return {}; }

void add_elementwise_sparsity(SparsityRules& rules) {
  for (const char* name : {"neg",
                           "abs",
                           "sqrt",
                           "rsqrt",
                           "exp",
                           "expm1",
                           "log",
                           "log1p",
                           "sin",
                           "cos",
                           "tan",
                           "asin",
                           "acos",
                           "atan",
                           "sinh",
                           "cosh",
                           "tanh",
                           "asinh",
                           "acosh",
                           "atanh",
                           "logistic",
                           "erf",
                           "convert",
                           "add",
                           "sub",
                           "div",
                           "rem",
                           "pow",
                           "max",
                           "min",
                           "atan2",
                           "erfc",
                           "erfcx",
                           "erf_inv",
                           "erfc_inv",
                           "lgamma",
                           "log_gamma_slope",
                           "polygamma"})
    rules[name] = elementwise_sparsity;
  for (const char* name : {"sign", "round", "floor", "ceil", "stop_gradient"})
    rules[name] = no_sparsity;
  rules["mul"] = product_sparsity;
  rules["scale"] = product_sparsity;
  rules["select"] = select_sparsity;
}

}  // namespace hom::categories
