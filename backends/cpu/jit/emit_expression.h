// backends/cpu/jit/emit_expression.h -- the values of a kernel as C++ expressions, one number or
// one vector at a time
//
// In a vectorised loop, values that do not depend on the vector axis stay numbers, and so do
// indices that move with it by a constant stride: they are written for the first lane. All others
// are vectors, a bool as a mask of 0 and -1 as wide as what it is made of. A 16-bit float is held
// as its bits, and computed in f32.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hom/backends/cpu/jit/emit_dialect.h>

namespace hom::cpu {

class ExpressionPrinter {
 public:
  ExpressionPrinter(const nest::Kernel& kernel, const Dialect& dialect);

  /// Lanes of the loop that is being printed; 1 outside vectorised ones.
  int lanes() const { return lanes_; }
  void set_lanes(int lanes) { lanes_ = lanes; }

  /// Whether a value is held as a vector now.
  bool is_vector(nest::Value value) const;
  /// What is added from lane to lane; nothing for vectors.
  std::optional<std::int64_t> stride(nest::Value value) const;
  /// Whether the value depends on the vector axis at all.
  bool varies(nest::Value value) const { return strides_[value] != 0; }
  /// Whether it is an index that is held as the number of the first lane.
  bool is_strided(nest::Value value) const { return strides_[value] && dtype(value) == i64; }
  /// Bytes of a lane where it is a vector.
  int bytes_of(nest::Value value) const;

  /// The type of a value held as a number or a vector; the type that its elements are computed in.
  std::string type_of(nest::Value value) const;
  static std::string number_type(Dtype dtype);
  std::string vector_type(Dtype dtype) const;
  std::string mask_type(int bytes) const;
  /// i64 where `is_vector`: i64x8.
  std::string type(Dtype dtype, bool is_vector) const;
  /// The dtype that elements of `dtype` are computed in: f32 for the 16-bit floats.
  static Dtype computing(Dtype dtype);

  /// A number: of vectors that of no lane (a bug), of strided indices that of the first lane.
  std::string number(nest::Value value) const;
  /// As a vector, in a vectorised loop; else as a number.
  std::string held(nest::Value value) const;
  /// The same in the type to compute in: 16-bit floats decoded.
  std::string computed(nest::Value value) const;
  /// A bool as a mask with so many bytes a lane; outside vectorised loops as it is.
  std::string mask(nest::Value value, int bytes) const;
  /// Bytes a lane of a bool that is held as a mask.
  int mask_bytes(nest::Value value) const { return mask_bytes_[value]; }
  /// The number in the lane called `lane`.
  std::string lane(nest::Value value, const std::string& lane) const;

  /// What a node computes, in the form in which it is held.
  std::string definition(nest::Value value) const;
  /// `a` and `b` as one, both in the type to compute in.
  static std::string combined(nest::Combine combine, const std::string& a, const std::string& b);
  /// What was computed, as it is stored: 16-bit floats encoded.
  static std::string encoded(Dtype dtype, const std::string& computed);
  static std::string decoded(Dtype dtype, const std::string& stored);

  /// An element from its bits, as an expression of its type.
  static std::string literal(Dtype dtype, std::int64_t bits);
  /// `splat<f32x8>(x)`, or `x` itself.
  std::string splat(const std::string& type, const std::string& number, bool is_vector) const;
  static std::string buffer(std::int64_t number) { return "b" + std::to_string(number); }

 private:
  const nest::Node& node(nest::Value value) const { return kernel_.nodes[value]; }
  Dtype dtype(nest::Value value) const { return node(value).dtype; }
  std::string load(const nest::Node& load, bool as_vector) const;
  std::string apply(const nest::Node& apply, bool as_vector) const;
  std::string test(nest::Function function, Dtype dtype, bool as_vector, const std::string& a,
                   const std::string& b) const;
  std::string arithmetic(const nest::Node& apply, bool as_vector) const;
  std::string logic(const nest::Node& apply, bool as_vector) const;
  std::string convert(const nest::Node& convert, bool as_vector) const;
  std::string bitcast(const nest::Node& bitcast, bool as_vector) const;
  std::string index(const nest::Node& index, bool as_vector) const;

  const nest::Kernel& kernel_;
  const Dialect& dialect_;
  std::vector<std::optional<std::int64_t>> strides_;
  std::vector<int> mask_bytes_;
  int lanes_ = 1;
};

}  // namespace hom::cpu
