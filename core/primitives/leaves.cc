// core/primitives/leaves.cc -- primitives without tensor operands: literals, captured tensors,
// positions, random bits
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

std::vector<TensorType> stated_type(const Typing& typing) {
  const TensorType type{typing.attributes.dtype("dtype"), typing.attributes.shape("shape")};
  for (std::int64_t extent : type.shape) {
    typing.require(extent >= 0, [&] {
      return Complaint{typing.primitive.name + ": shape " + to_string(type.shape) +
                       " has a negative extent"};
    });
  }
  return {type};
}

std::vector<TensorType> iota_type(const Typing& typing) {
  const std::vector<TensorType> types = stated_type(typing);
  const std::int64_t axis = typing.attributes.integer("axis");
  typing.require(0 <= axis && axis < types[0].rank(), [&] {
    return Complaint{"iota: axis " + std::to_string(axis) + " of " + to_string(types[0])};
  });
  typing.require(!types[0].dtype.is_bool(),
                 [] { return Complaint{"iota: positions are numbers, not bool"}; });
  return types;
}

std::vector<TensorType> random_bits_type(const Typing& typing) {
  const std::vector<TensorType> types = stated_type(typing);
  const TensorType& key = typing.operands[0];
  typing.require(key.dtype == u32 && key.rank() > 0 && key.shape.back() == 2, [&] {
    return Complaint{"random_bits: the key is " + to_string(key) + ", not u32[2]",
                     "make one with key(seed)"};
  });
  typing.require(unsigned_integers.contains(types[0].dtype), [&] {
    return Complaint{"random_bits: bits come as u8, u32 or u64, not " + to_string(types[0].dtype),
                     "see uniform() for floats"};
  });
  Shape shape(key.shape.begin(), key.shape.end() - 1);
  shape.insert(shape.end(), types[0].shape.begin(), types[0].shape.end());
  return {types[0].dtype[shape]};
}

}  // namespace

void add_leaf_primitives(PrimitiveTable& table) {
  const AttributeSpec dtype{"dtype", Kind::dtype};
  const AttributeSpec shape{"shape", Kind::shape};
  table.add({.name = "constant",
             .min_operands = 0,
             .max_operands = 0,
             .attributes = {{"value", Kind::number}, dtype, shape},
             .type = stated_type,
             .no_derivative = "a constant does not vary",
             .cost_factor = 1,
             .shapes = "() → shape"});
  table.add({.name = "captured",
             .min_operands = 0,
             .max_operands = 0,
             .attributes = {{"index", Kind::integer}, dtype, shape},
             .type = stated_type,
             .no_derivative = "a tensor from the closure does not vary",
             .cost_factor = 1,
             .shapes = "() → shape"});
  table.add({.name = "iota",
             .min_operands = 0,
             .max_operands = 0,
             .attributes = {dtype, shape, {"axis", Kind::integer}},
             .dtypes = numbers,
             .type = iota_type,
             .no_derivative = "positions do not vary",
             .cost_factor = 1,
             .shapes = "() → shape"});
  table.add({.name = "random_bits",
             .attributes = {dtype, shape},
             .dtypes = unsigned_integers,
             .type = random_bits_type,
             .no_derivative = "bits are integers",
             .batch = [](const Batching& at) { return applied(at, at.x); },
             .cost_factor = 1,
             .shapes = "keys u32 […, 2] → […] + shape"});
}

}  // namespace hom
