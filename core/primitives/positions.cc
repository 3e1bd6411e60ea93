// core/primitives/positions.cc -- attributes, checks and coordinates of positions
#include <hom/core/primitives/positions.h>

#include <hom/core/operations/shaping.h>

namespace hom {

Bounds bounds_of(const Attributes& attributes) {
  const std::string& mode = attributes.string("mode");
  return mode == "check" ? Bounds::check : mode == "clip" ? Bounds::clip : Bounds::drop;
}

void require_one_of(const Typing& typing, const char* attribute,
                    std::initializer_list<const char*> values) {
  const std::string& value = typing.attributes.string(attribute);
  bool known = false;
  for (const char* candidate : values) known = known || value == candidate;
  typing.require(known, [&] {
    return Complaint{typing.primitive.name + ": unknown " + attribute + " \"" + value + "\""};
  });
}

void require_integer(const Typing& typing, const TensorType& indices) {
  typing.require(indices.dtype.is_integer(), [&] {
    return Complaint{
        typing.primitive.name + ": indices are " + to_string(indices) + ", not integers",
        "convert with astype(i64)"};
  });
}

void require_joint(const Transposing& at, std::size_t operand) {
  if (!at.linear[operand] && !is_zero(at.x[operand])) {
    at.not_linear("one operand does not depend on the input, so the result is only affine");
  }
}

bool checks(const Batching& at) { return at.attributes.string("mode") == "check"; }

Tensor with_lane_coordinate(const Tensor& coordinates) {
  TensorType column = coordinates.type();
  column.shape.back() = 1;
  return concat({iota(column, 0), coordinates}, -1);
}

}  // namespace hom
