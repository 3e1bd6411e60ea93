// core/primitives/sorting.cc -- sort: elements by size along an axis, and others moved along
//
// The first operand is the key. Its slices along the axis are put in order, stably, and the other
// operands (of any dtype) go where their keys go: positions give the permutation, tangents and
// cotangents follow it. A sort by a permutation is its inverse, and so the transpose.
#include <hom/core/operations/sorting.h>

#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

std::vector<TensorType> sorted_types(const Typing& typing) {
  const TensorType& key = typing.operands[0];
  const std::int64_t axis = typing.attributes.integer("axis");
  typing.require(0 <= axis && axis < key.rank(), [&] {
    return Complaint{"sort: axis " + std::to_string(axis) + " of " + to_string(key)};
  });
  for (const TensorType& operand : typing.operands) {
    typing.require(operand.shape == key.shape, [&] {
      return Complaint{
          "sort: what moves along has another shape than the keys: " + list_types(typing.operands),
          "there is one element for each key; take_along_axis moves other shapes"};
    });
  }
  return {typing.operands.begin(), typing.operands.end()};
}

/// Tangents move with the elements that they belong to.
std::vector<Tensor> derivative_of_sort(const Linearizing& at) {
  std::vector<Tensor> operands{at.x[0]};
  for (const Tensor& dx : at.dx) {
    if (!dx.is_empty()) operands.push_back(dx);
  }
  const TensorList moved = apply(at.primitive, at.attributes, operands, Location::current());
  std::vector<Tensor> dy;
  std::size_t next = 1;
  for (const Tensor& dx : at.dx) dy.push_back(dx.is_empty() ? Tensor() : moved[next++]);
  return dy;
}

/// Position i came from `from[i]`, and sorting by that brings cotangent i back there.
void transpose_sort(const Transposing& at) {
  if (at.linear[0]) at.not_linear("the order depends on the input");
  const Attribute axis = at.attributes.get("axis");
  const Tensor position = iota(i64[at.types[0].shape], std::get<std::int64_t>(axis.value));
  std::vector<Tensor> operands{
      apply(at.primitive, at.attributes, std::vector{at.x[0], position}, at.at)[1]};
  std::vector<std::size_t> owners;
  for (std::size_t i = 1; i < at.types.size(); ++i) {
    if (!at.linear[i] || at.ct[i].is_empty()) continue;
    operands.push_back(at.ct[i]);
    owners.push_back(i);
  }
  if (owners.empty()) return;
  const TensorList back =
      apply(at.primitive, {{"axis", axis}, {"descending", {false}}}, operands, at.at);
  for (std::size_t i = 0; i < owners.size(); ++i) at.add(owners[i], back[i + 1]);
}

}  // namespace

void add_sorting_primitives(PrimitiveTable& table) {
  table.add({.name = "sort",
             .max_operands = INT16_MAX,
             .attributes = {{"axis", Kind::integer}, {"descending", Kind::boolean}},
             .type = sorted_types,
             .derivative = derivative_of_sort,
             .transpose = transpose_sort,
             .batch = batch_along_axis,
             .cost_factor = 5.5,
             .shapes = "keys s, any s … → s, s …",
             .formula = "dx in the order of the keys"});
}

}  // namespace hom
