// core/object.h -- objects: tensor types and products of objects; the unit is the empty product
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hom/core/dtype.h>

namespace hom {

/// A tensor type: dtype and shape, written `f32[64, 10]`; rank 0 is `f64[]`.
struct TensorType {
  Dtype dtype;
  Shape shape;

  friend bool operator==(const TensorType&, const TensorType&) = default;

  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  /// Number of elements (1 for rank 0).
  std::int64_t size() const;
};

/// An object of the category: one tensor type, or a product of labelled objects.
struct Object {
  struct Factor;

  /// Meaningful where `is_tensor`.
  TensorType tensor = {};
  bool is_tensor = false;
  /// The product's factors; empty for the unit.
  std::vector<Factor> factors;

  Object() = default;
  Object(TensorType type);
  static Object product(std::vector<Factor> factors);

  /// The tensor types of the leaves, left to right.
  std::vector<TensorType> leaves() const;
  std::int64_t leaf_count() const;

  friend bool operator==(const Object&, const Object&);
};

struct Object::Factor {
  /// A field's name, or empty for a position.
  std::string label;
  Object object;
};

/// Product of the extents; 1 for rank 0. Throws `Error` where it does not fit 64 bits.
std::int64_t element_count(const Shape& shape);
/// Row-major strides in elements.
Shape row_major_strides(const Shape& shape);

std::string to_string(Dtype dtype);
/// `[64, 10]`
std::string to_string(const Shape& shape);
/// `f32[64, 10]`
std::string to_string(const TensorType& type);
/// `(x: f64[], (weight: f32[3, 2], bias: f32[2]))`, `()` for the unit.
std::string to_string(const Object& object);

}  // namespace hom
