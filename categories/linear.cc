// categories/linear.cc -- which operations are linear in the operands that vary
#include <hom/categories/linear.h>

#include <algorithm>

namespace hom::categories {
namespace {

bool one_of(const Operation& operation, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return operation.is(name); });
}

/// Whether operand i says where or which, not what: an index, a start or a condition.
bool selects(const Operation& operation, std::size_t i) {
  if (operation.is("select")) return i == 0;
  if (one_of(operation, {"gather", "dynamic_slice", "scatter"})) return i == 1;
  if (one_of(operation, {"window_select_sum", "window_select_spread"})) return i < 2;
  // Keys that are floats are results too, so that the step would be affine.
  if (operation.is("sort")) return i == 0 && !operation.types[0].dtype.is_float();
  return operation.is("dynamic_update_slice") && i == 2;
}

}  // namespace

std::string lacks_linear(const Primitive& primitive) {
  return primitive.transpose || is_decomposed(primitive) ? ""
                                                         : "it is linear in none of its operands";
}

bool all_zero(const Tensor& x) {
  const std::vector<double> values = x.to_vector();
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

std::string why_not_linear(const Operation& operation) {
  const std::size_t varying = operation.varying().size();
  if (one_of(operation, {"mul", "scale", "dot_general", "conv_general"}))
    return varying == 1 ? "" : "both factors vary, and a product is linear in each one alone";
  if (operation.is("div")) return operation.varies(1) ? "the divisor varies" : "";
  if (one_of(operation, {"triangular_solve", "lu_solve"})) {
    const bool only_right_side = varying == 1 && operation.varies(operation.types.size() - 1);
    return only_right_side ? "" : "the matrix varies";
  }
  if (operation.is("scatter")) {
    const std::string& combine = operation.attributes.string("combine");
    if (combine != "set" && combine != "add") return "updates combine by " + combine;
  }
  for (std::size_t i = 0; i < operation.types.size(); ++i) {
    if (selects(operation, i)) {
      if (operation.varies(i)) return "an operand that selects varies";
    } else if (!operation.varies(i) && !all_zero(operation.known[i])) {
      return "an operand is constant and not 0, so that it is only affine";
    }
  }
  return "";
}

}  // namespace hom::categories
