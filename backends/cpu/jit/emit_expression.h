// backends/cpu/jit/emit_expression.h -- the values of a kernel as C++ expressions, one number or
// one vector at a time
//
// Values are held as emit_forms.h says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hom/backends/cpu/jit/emit_dialect.h>
#include <hom/backends/cpu/jit/emit_forms.h>

namespace hom::cpu {

class ExpressionPrinter : public ValueForms {
 public:
  ExpressionPrinter(const nest::Kernel& kernel, const Dialect& dialect)
      : ValueForms(kernel), dialect_(dialect) {}

  /// The type of a value held as a number or a vector; the type that its elements are computed in.
  std::string type_of(nest::Value value) const;
  static std::string number_type(Dtype dtype);
  std::string vector_type(Dtype dtype) const;
  std::string mask_type(int bytes) const;
  /// i64 where `is_vector`: i64x8.
  std::string type(Dtype dtype, bool is_vector) const;

  /// A number: of vectors that of no lane (a bug), of strided indices that of the first lane.
  std::string number(nest::Value value) const;
  /// As a vector, in a vectorised loop; else as a number.
  std::string held(nest::Value value) const;
  /// The same in the type to compute in: 16-bit floats decoded.
  std::string computed(nest::Value value) const;
  /// A bool as a mask with so many bytes a lane; outside vectorised loops as it is.
  std::string mask(nest::Value value, int bytes) const;
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
  std::string load(const nest::Node& load, bool as_vector) const;
  std::string apply(const nest::Node& apply, bool as_vector) const;
  std::string test(nest::Function function, Dtype dtype, bool as_vector, const std::string& a,
                   const std::string& b) const;
  std::string arithmetic(const nest::Node& apply, bool as_vector) const;
  std::string logic(const nest::Node& apply, bool as_vector) const;
  std::string convert(const nest::Node& convert, bool as_vector) const;
  std::string bitcast(const nest::Node& bitcast, bool as_vector) const;
  std::string index(const nest::Node& index, bool as_vector) const;

  const Dialect& dialect_;
};

}  // namespace hom::cpu
