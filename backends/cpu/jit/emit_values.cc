// backends/cpu/jit/emit_values.cc -- how values are held: types, literals, numbers, vectors, masks
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include <hom/backends/cpu/jit/emit_expression.h>

namespace hom::cpu {

using nest::Node;
using nest::Value;

namespace {

template <class T>
std::string shortest(T value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string digits(text, end);
  if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
  return digits;
}

/// What is negative stands in parentheses, so that it can follow any operator.
std::string guarded(std::string text) { return text[0] == '-' ? "(" + text + ")" : text; }

}  // namespace

std::string ExpressionPrinter::number_type(Dtype dtype) {
  if (dtype.is_float() && dtype.size() == 2) return "u16";
  return std::string(dtype.name());
}

std::string ExpressionPrinter::vector_type(Dtype dtype) const {
  return number_type(dtype) + "x" + std::to_string(lanes());
}

std::string ExpressionPrinter::mask_type(int bytes) const {
  return "i" + std::to_string(8 * bytes) + "x" + std::to_string(lanes());
}

std::string ExpressionPrinter::type(Dtype dtype, bool is_vector) const {
  return is_vector ? vector_type(dtype) : number_type(dtype);
}

std::string ExpressionPrinter::type_of(Value value) const {
  if (is_vector(value) && dtype(value).is_bool()) return mask_type(mask_bytes(value));
  return type(dtype(value), is_vector(value));
}

std::string ExpressionPrinter::literal(Dtype dtype, std::int64_t bits) {
  switch (dtype.id) {
    case Dtype::Id::boolean:
      return bits != 0 ? "true" : "false";
    case Dtype::Id::i8:
    case Dtype::Id::u8:
      return std::string(dtype.name()) + "(" +
             std::to_string(dtype == i8
                                ? static_cast<std::int8_t>(bits)
                                : static_cast<std::int64_t>(static_cast<std::uint8_t>(bits))) +
             ")";
    case Dtype::Id::i32: {
      const auto value = static_cast<std::int32_t>(bits);
      return value == INT32_MIN ? "i32(-2147483648)" : guarded(std::to_string(value));
    }
    case Dtype::Id::i64:
      return bits == INT64_MIN ? "(-9223372036854775807l - 1)"
                               : guarded(std::to_string(bits) + "l");
    case Dtype::Id::u32:
      return std::to_string(static_cast<std::uint32_t>(bits)) + "u";
    case Dtype::Id::u64:
      return std::to_string(static_cast<std::uint64_t>(bits)) + "ul";
    case Dtype::Id::f16:
    case Dtype::Id::bf16:
      return "u16(" + std::to_string(static_cast<std::uint16_t>(bits)) + ")";
    case Dtype::Id::f32: {
      const auto word = static_cast<std::uint32_t>(bits);
      const float value = std::bit_cast<float>(word);
      if (!std::isfinite(value)) return "as<f32>(" + std::to_string(word) + "u)";
      return guarded(shortest(value) + "f");
    }
    case Dtype::Id::f64:
      break;
  }
  const double value = std::bit_cast<double>(bits);
  if (!std::isfinite(value))
    return "as<f64>(" + std::to_string(static_cast<std::uint64_t>(bits)) + "ul)";
  return guarded(shortest(value));
}

std::string ExpressionPrinter::splat(const std::string& type, const std::string& number,
                                     bool is_vector) const {
  return is_vector ? "splat<" + type + ">(" + number + ")" : number;
}

std::string ExpressionPrinter::number(Value value) const {
  ensure(!is_vector(value), "a vector is not written as a number");
  const Node& what = node(value);
  if (what.kind == Node::Kind::constant) return literal(what.dtype, what.number);
  if (what.kind == Node::Kind::axis) return "i" + std::to_string(what.number);
  return "v" + std::to_string(value);
}

std::string ExpressionPrinter::held(Value value) const {
  if (lanes() == 1) return number(value);
  if (is_vector(value)) return "v" + std::to_string(value);
  if (dtype(value).is_bool()) return mask(value, 1);
  const std::string type = vector_type(dtype(value));
  const std::int64_t along = *stride(value);
  if (along == 0) return "splat<" + type + ">(" + number(value) + ")";
  std::string steps;
  for (int l = 0; l < lanes(); ++l) {
    // Wrapping, as the lanes themselves do.
    const auto step = static_cast<std::int64_t>(static_cast<std::uint64_t>(along) *
                                                static_cast<std::uint64_t>(l));
    const std::int64_t bits = dtype(value) == i32 ? step & 0xffffffff : step;
    steps += (l > 0 ? ", " : "") + literal(dtype(value), bits);
  }
  return "(" + number(value) + " + " + type + "{" + steps + "})";
}

std::string ExpressionPrinter::computed(Value value) const {
  if (lanes() > 1 && !is_vector(value) && dtype(value).is_float() && dtype(value).size() == 2)
    return "splat<" + vector_type(f32) + ">(" + decoded(dtype(value), number(value)) + ")";
  return decoded(dtype(value), held(value));
}

std::string ExpressionPrinter::mask(Value value, int bytes) const {
  if (lanes() == 1) return number(value);
  const std::string type = mask_type(bytes);
  if (!is_vector(value))
    return "splat<" + type + ">(-i" + std::to_string(8 * bytes) + "(" + number(value) + "))";
  const std::string name = "v" + std::to_string(value);
  return mask_bytes(value) == bytes ? name : "convert<" + type + ">(" + name + ")";
}

std::string ExpressionPrinter::lane(Value value, const std::string& lane) const {
  if (is_vector(value)) {
    const std::string element = "v" + std::to_string(value) + "[" + lane + "]";
    return dtype(value).is_bool() ? element + " != 0" : element;
  }
  const std::int64_t along = *stride(value);
  if (along == 0) return number(value);
  return number(value) + " + " + lane + (along == 1 ? "" : " * " + std::to_string(along));
}

}  // namespace hom::cpu
