// core/primitives/sorting.cc -- sort: elements by size along an axis, and others moved along
//
// The first operand is the key. Its slices along the axis are put in order, stably, and the other
// operands (of any dtype) go where their keys go. Positions that move along are the permutation,
// and a sort by a permutation is its inverse: so tangents and cotangents are moved by sorts, too.
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

/// 0, 1, … along the axis, in the order of the keys: where the elements of the result come from.
Tensor permutation(const Primitive& sort, const Attributes& attributes, const Tensor& keys,
                   const Location& at) {
  const Tensor position = iota(i64[keys.shape()], attributes.integer("axis"), at);
  return apply(sort, attributes, std::vector{keys, position}, at)[1];
}

Attributes ascending(const Attributes& attributes) {
  return {{"axis", attributes.get("axis")}, {"descending", {false}}};
}

/// Tangents move with the elements that they belong to; by integers, so that the step is linear.
std::vector<Tensor> derivative_of_sort(const Linearizing& at) {
  const Location here = Location::current();
  Attributes attributes = at.attributes;
  std::vector<Tensor> operands{at.x[0]};
  if (at.x[0].dtype().is_float()) {
    attributes = ascending(at.attributes);
    const Tensor from = permutation(at.primitive, at.attributes, at.x[0], here);
    operands[0] = permutation(at.primitive, attributes, from, here);
  }
  for (const Tensor& dx : at.dx) {
    if (!dx.is_empty()) operands.push_back(dx);
  }
  const TensorList moved = apply(at.primitive, attributes, operands, here);
  std::vector<Tensor> dy;
  std::size_t next = 1;
  for (const Tensor& dx : at.dx) dy.push_back(dx.is_empty() ? Tensor() : moved[next++]);
  return dy;
}

/// Position i came from `from[i]`, and sorting by that brings cotangent i back there.
void transpose_sort(const Transposing& at) {
  if (at.linear[0]) at.not_linear("the order depends on the input");
  std::vector<Tensor> operands{permutation(at.primitive, at.attributes, at.x[0], at.at)};
  std::vector<std::size_t> owners;
  for (std::size_t i = 1; i < at.types.size(); ++i) {
    if (!at.linear[i] || at.ct[i].is_empty()) continue;
    operands.push_back(at.ct[i]);
    owners.push_back(i);
  }
  if (owners.empty()) return;
  const TensorList back = apply(at.primitive, ascending(at.attributes), operands, at.at);
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
             .cost_factor = 9.5,
             .shapes = "keys s, any s … → s, s …",
             .formula = "dx in the order of the keys"});
}

}  // namespace hom
