// backends/nests/roles.cc -- roles by the primitive's name, and by shape where it depends on that
#include <hom/backends/nests/roles.h>

#include <algorithm>
#include <unordered_map>

#include <hom/backends/nests/index.h>
#include <hom/core/primitive.h>

namespace hom::nest {
namespace {

/// Terms of an unrolled product, and multiplications of one in loops.
constexpr std::int64_t most_terms = 16;
constexpr std::int64_t most_multiplications = 512;
/// So few terms are computed where the product is used, however large it is: a matrix product would
/// wait for memory.
constexpr std::int64_t few_terms = 4;

const std::unordered_map<std::string_view, Role>& roles() {
  static const std::unordered_map<std::string_view, Role> table{
      {"constant", Role::leaf},
      {"iota", Role::leaf},
      {"captured", Role::captured},
      {"slice", Role::view},
      {"reshape", Role::view},
      {"transpose", Role::view},
      {"broadcast_in_dim", Role::view},
      {"stop_gradient", Role::view},
      {"convert", Role::elementwise},
      {"bitcast", Role::elementwise},
      {"reduce_sum", Role::reduction},
      {"reduce_prod", Role::reduction},
      {"reduce_max", Role::reduction},
      {"reduce_min", Role::reduction},
      {"reduce_and", Role::reduction},
      {"reduce_or", Role::reduction},
      {"argmax", Role::reduction},
      {"argmin", Role::reduction},
      {"gather", Role::reading},
      {"dynamic_slice", Role::reading},
      {"pad", Role::reading},
      {"concat", Role::concat},
      {"scatter", Role::update},
      {"update_slice", Role::update},
      {"dynamic_update_slice", Role::update},
      {"cumsum", Role::cumulative},
      {"cumprod", Role::cumulative},
      {"cummax", Role::cumulative},
      {"cummin", Role::cumulative},
      {"barrier", Role::barrier},
      {"scan", Role::control},
      {"while", Role::control},
      {"cond", Role::control},
      {"call", Role::control},
      {"custom_jvp", Role::control},
      {"custom_vjp", Role::control},
      {"custom_linear", Role::control},
      {"composite", Role::control},
      {"checkpoint", Role::control},
  };
  return table;
}

/// Whether all axes along which a static update is not the whole are unrolled.
bool is_short_update(const Program& program, const Step& step) {
  const Shape& part = program.type(step.operands[1]).shape;
  const Shape& whole = program.type(step.first_result).shape;
  if (program.type(step.operands[1]).size() == 0) return false;
  const SmallVector<bool, 4> unrolled = unrolled_axes(whole);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const bool is_whole = part[i] == whole[i] && step.attributes.shape("start")[i] == 0 &&
                          step.attributes.shape("step")[i] == 1;
    if (!is_whole && whole[i] != 1 && !unrolled[i]) return false;
  }
  return true;
}

bool is_short_concat(const Program& program, const Step& step) {
  const TensorType& result = program.type(step.first_result);
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  if (!unrolled_axes(result.shape)[axis]) return false;
  return std::all_of(step.operands.begin(), step.operands.end(),
                     [&](Slot operand) { return program.type(operand).size() > 0; });
}

bool is_short_pad(const Program& program, const Step& step) {
  const Shape& shape = program.type(step.operands[0]).shape;
  const TensorType& result = program.type(step.first_result);
  if (program.type(step.operands[0]).size() == 0) return false;
  const Shape& low = step.attributes.shape("low");
  const Shape& high = step.attributes.shape("high");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_moved = low[i] != 0 || high[i] != 0 || step.attributes.shape("interior")[i] != 0;
    // What is cut off on one side may be added on the other.
    if (is_moved && (shape[i] == result.shape[i] || !unrolled_axes(result.shape)[i])) return false;
  }
  return true;
}

/// Small enough to be done for each element of the result, in loops around.
bool is_small_contraction(const Program& program, const Step& step) {
  const TensorType& lhs = program.type(step.operands[0]);
  const TensorType& rhs = program.type(step.operands[1]);
  const TensorType& result = program.type(step.first_result);
  if (lhs.size() == 0 || rhs.size() == 0) return false;
  std::int64_t terms = 1;
  for (std::int64_t axis : step.attributes.shape("lhs_contract"))
    terms *= lhs.shape[static_cast<std::size_t>(axis)];
  std::int64_t batch = 1;
  for (std::int64_t axis : step.attributes.shape("lhs_batch"))
    batch *= lhs.shape[static_cast<std::size_t>(axis)];
  return terms <= few_terms ||
         (terms <= most_terms && result.size() / batch * terms <= most_multiplications);
}

}  // namespace

Role role_of(const Program& program, const Step& step) {
  const auto found = roles().find(step.primitive.name);
  if (found == roles().end()) {
    if (function_named(step.primitive.name)) return Role::elementwise;
    if (step.primitive.name == "dot_general" && is_small_contraction(program, step))
      return Role::contraction;
    return Role::routine;
  }
  switch (found->second) {
    case Role::concat:
      return is_short_concat(program, step) ? Role::view : Role::concat;
    case Role::reading:
      if (step.primitive.name == "pad" && is_short_pad(program, step)) return Role::view;
      return Role::reading;
    case Role::update:
      if (step.primitive.name == "update_slice" && is_short_update(program, step))
        return Role::chosen;
      return Role::update;
    default:
      return found->second;
  }
}

}  // namespace hom::nest
