// backends/cpu/jit/emit_expression.cc -- functions, conversions and loads as expressions
#include <hom/backends/cpu/jit/emit_expression.h>

#include <algorithm>

#include <hom/backends/nests/nest_functions.h>

namespace hom::cpu {

using nest::Combine;
using nest::Function;
using nest::Node;
using nest::Value;

namespace {

bool is_half(Dtype dtype) { return dtype.is_float() && dtype.size() == 2; }

std::string call(const std::string& function, const std::string& a) {
  return function + "(" + a + ")";
}
std::string call(const std::string& function, const std::string& a, const std::string& b) {
  return function + "(" + a + ", " + b + ")";
}

}  // namespace

std::string ExpressionPrinter::definition(Value value) const {
  const bool as_vector = is_vector(value);
  const Node& what = node(value);
  switch (what.kind) {
    case Node::Kind::load:
      return load(what, as_vector);
    case Node::Kind::apply:
      return apply(what, as_vector);
    case Node::Kind::convert:
      return convert(what, as_vector);
    case Node::Kind::bitcast:
      return bitcast(what, as_vector);
    default:
      return index(what, as_vector);
  }
}

std::string ExpressionPrinter::index(const Node& what, bool as_vector) const {
  const auto of = [&](std::size_t i) {
    return as_vector ? held(what.operands[i]) : number(what.operands[i]);
  };
  const std::string by = as_vector ? literal(i64, what.number) : std::to_string(what.number);
  switch (what.kind) {
    case Node::Kind::block:
      return "low / " + std::to_string(kernel_.block);
    case Node::Kind::index_add:
      return of(0) + " + " + of(1);
    case Node::Kind::index_scale:
      return of(0) + " * " + by;
    case Node::Kind::index_quotient:
      return of(0) + " / " + by;
    default:
      return of(0) + " % " + by;
  }
}

std::string ExpressionPrinter::load(const Node& what, bool as_vector) const {
  const Value index = what.operands[0];
  const std::string from = buffer(what.number);
  const bool is_bool = what.dtype.is_bool();
  if (!as_vector) {
    const std::string element =
        from + "[" + number(index) + "]" + (is_bool ? " != 0" : std::string());
    if (what.operands.size() == 1) return element;
    return number(what.operands[1]) + " ? " + element + " : " + literal(what.dtype, 0);
  }
  const std::string type = is_bool ? vector_type(u8) : vector_type(what.dtype);
  const std::string test = is_bool ? " != 0" : "";
  const std::optional<std::int64_t> along = stride(index);
  const bool is_masked = what.operands.size() == 2 && varies(what.operands[1]);
  const std::string masked = is_masked ? "_where<" : "<";
  const std::string where =
      is_masked ? mask(what.operands[1], mask_bytes(what.operands[1])) + ", " : "";
  std::string result;
  if (!along) {
    result = "gather" + masked + type + ">(" + where + from + ", " + held(index) + ")";
  } else if (*along == 1) {
    result = "load" + masked + type + ">(" + where + from + " + " + number(index) + ")";
  } else {
    result = "strided" + masked + type + ">(" + where + from + " + " + number(index) + ", " +
             std::to_string(*along) + ")";
  }
  if (what.operands.size() == 1 || is_masked) return result + test;
  return "(" + number(what.operands[1]) + " ? " + result + " : " + type + "{})" + test;
}

std::string ExpressionPrinter::test(Function function, Dtype dtype, bool as_vector,
                                    const std::string& a, const std::string& b) const {
  const bool is_mask = as_vector && dtype.is_bool();
  switch (function) {
    case Function::eq:
      return is_mask ? "~(" + a + " ^ " + b + ")" : a + " == " + b;
    case Function::ne:
      return is_mask ? a + " ^ " + b : a + " != " + b;
    case Function::lt:
      return is_mask ? "~" + a + " & " + b : a + " < " + b;
    case Function::le:
      return is_mask ? "~" + a + " | " + b : a + " <= " + b;
    case Function::gt:
      return is_mask ? a + " & ~" + b : a + " > " + b;
    default:
      return is_mask ? a + " | ~" + b : a + " >= " + b;
  }
}

/// and, or, xor, not: of bools or of the bits of integers.
std::string ExpressionPrinter::logic(const Node& what, bool as_vector) const {
  const bool is_bool = what.dtype.is_bool();
  const bool as_mask = is_bool && as_vector;
  int bytes = 1;
  for (const Value operand : what.operands) {
    if (as_mask && is_vector(operand)) bytes = std::max(bytes, mask_bytes(operand));
  }
  const auto of = [&](std::size_t i) {
    const Value operand = what.operands[i];
    if (as_mask) return mask(operand, bytes);
    return as_vector ? held(operand) : number(operand);
  };
  switch (what.function) {
    case Function::and_:
      return of(0) + " & " + of(1);
    case Function::or_:
      return of(0) + " | " + of(1);
    case Function::xor_:
      return of(0) + " ^ " + of(1);
    default:
      return (is_bool && !as_mask ? "!" : "~") + of(0);
  }
}

std::string ExpressionPrinter::apply(const Node& what, bool as_vector) const {
  const Dtype from = dtype(what.operands.back());
  // Operands in the form of the result.
  const auto of = [&](Value operand, bool decode) {
    if (!as_vector) {
      return decode ? decoded(dtype(operand), number(operand)) : number(operand);
    }
    return decode ? computed(operand) : held(operand);
  };
  if (what.function == Function::select) {
    const Value condition = what.operands[0];
    const bool is_mask = as_vector && varies(condition);
    if (as_vector && what.dtype.is_bool()) {
      int bytes = is_mask ? mask_bytes(condition) : 1;
      for (std::size_t i = 1; i < 3; ++i) {
        if (is_vector(what.operands[i])) bytes = std::max(bytes, mask_bytes(what.operands[i]));
      }
      return (is_mask ? mask(condition, bytes) : number(condition)) + " ? " +
             mask(what.operands[1], bytes) + " : " + mask(what.operands[2], bytes);
    }
    return (is_mask ? mask(condition, static_cast<int>(from.size())) : number(condition)) + " ? " +
           of(what.operands[1], false) + " : " + of(what.operands[2], false);
  }
  if (what.function == Function::is_finite) {
    const Dtype in = computing(from);
    const std::string largest = in == f32 ? "0x1.fffffep127f" : "0x1.fffffffffffffp1023";
    return "absolute(" + of(what.operands[0], true) +
           ") <= " + splat(type(in, as_vector), largest, as_vector);
  }
  if (nest::is_test(what.function)) {
    if (as_vector && from.is_bool()) {
      int bytes = 1;
      for (const Value operand : what.operands) {
        if (is_vector(operand)) bytes = std::max(bytes, mask_bytes(operand));
      }
      return test(what.function, from, true, mask(what.operands[0], bytes),
                  mask(what.operands[1], bytes));
    }
    return test(what.function, from, as_vector, of(what.operands[0], true),
                of(what.operands[1], true));
  }
  if (what.function == Function::not_ || what.function == Function::and_ ||
      what.function == Function::or_ || what.function == Function::xor_) {
    return logic(what, as_vector);
  }
  return encoded(what.dtype, arithmetic(what, as_vector));
}

/// In the type to compute in.
std::string ExpressionPrinter::arithmetic(const Node& what, bool as_vector) const {
  std::vector<std::string> operands;
  for (const Value operand : what.operands) {
    operands.push_back(as_vector ? computed(operand) : decoded(dtype(operand), number(operand)));
  }
  const Dtype in = computing(what.dtype);
  const std::string result = type(in, as_vector);
  if (const auto called = dialect_.call(what.function, in, what.number, result, operands))
    return *called;
  const std::string& a = operands[0];
  const std::string& b = operands.back();
  switch (what.function) {
    case Function::neg:
      return "-" + a;
    case Function::abs:
      return call("absolute", a);
    case Function::sign:
      return call("sign_of", a);
    case Function::round:
      return call("round_to_even", a);
    case Function::floor:
      return call("round_down", a);
    case Function::ceil:
      return call("round_up", a);
    case Function::sqrt:
      return call("square_root", a);
    case Function::rsqrt:
      return splat(result, in == f32 ? "1.0f" : "1.0", as_vector) + " / " + call("square_root", a);
    case Function::add:
      return a + " + " + b;
    case Function::sub:
      return a + " - " + b;
    case Function::mul:
      return a + " * " + b;
    case Function::div:
      return in.is_float() ? a + " / " + b : call("quotient", a, b);
    case Function::rem:
      return call("remainder", a, b);
    case Function::max:
      return call("maximum", a, b);
    case Function::min:
      return call("minimum", a, b);
    case Function::scale:
      return call("scale", a, b);
    case Function::fma:
      return "fused(" + a + ", " + operands[1] + ", " + b + ")";
    case Function::shift_left:
      return call("shift_left", a, b);
    case Function::shift_right:
      return call("shift_right", a, b);
    default:
      throw Bug("no C++ for the function " + std::string(name_of(what.function)) + " of " +
                std::string(in.name()));
  }
}

std::string ExpressionPrinter::combined(Combine combine, const std::string& a,
                                        const std::string& b) {
  switch (combine) {
    case Combine::sum:
      return a + " + " + b;
    case Combine::prod:
      return a + " * " + b;
    case Combine::max:
      return call("maximum", a, b);
    case Combine::min:
      return call("minimum", a, b);
    case Combine::and_:
      return a + " & " + b;
    case Combine::or_:
      return a + " | " + b;
    default:
      return b;
  }
}

std::string ExpressionPrinter::convert(const Node& what, bool as_vector) const {
  const Value operand = what.operands[0];
  const Dtype from = dtype(operand);
  const Dtype to = what.dtype;
  const std::string stored = as_vector ? held(operand) : number(operand);
  if (from == to) return stored;
  const std::string result = type(to, as_vector);
  if (from.is_bool()) {
    const std::string condition =
        as_vector ? mask(operand, static_cast<int>(to.size())) : number(operand);
    const std::int64_t one = to == f16    ? 0x3c00
                             : to == bf16 ? 0x3f80
                             : to == f32  ? 0x3f800000
                             : to == f64  ? 0x3ff0000000000000
                                          : 1;
    return condition + " ? " + splat(result, literal(to, one), as_vector) + " : " +
           splat(result, literal(to, 0), as_vector);
  }
  const std::string in = decoded(from, stored);
  const Dtype computed_from = computing(from);
  if (to.is_bool()) {
    return in +
           " != " + splat(type(computed_from, as_vector), literal(computed_from, 0), as_vector);
  }
  if (to.is_float()) {
    if (const auto called = dialect_.call_conversion(from, to, type(to, as_vector), stored))
      return *called;
    const Dtype computed_to = computing(to);
    const std::string number = computed_from == computed_to
                                   ? in
                                   : call("convert<" + type(computed_to, as_vector) + ">", in);
    return encoded(to, number);
  }
  return call((from.is_float() ? "saturate<" : "convert<") + result + ">", in);
}

std::string ExpressionPrinter::bitcast(const Node& what, bool as_vector) const {
  const Value operand = what.operands[0];
  const Dtype from = dtype(operand);
  const std::string stored = as_vector ? held(operand) : number(operand);
  if (from == what.dtype || (is_half(from) && is_half(what.dtype))) return stored;
  const std::string result = type(what.dtype, as_vector);
  if (what.dtype.is_bool()) {
    return stored + " != " + splat(type(from, as_vector), literal(from, 0), as_vector);
  }
  if (from.is_bool()) {
    if (!as_vector) return call("convert<" + result + ">", stored);
    return "as<" + result + ">(-" + mask(operand, 1) + ")";
  }
  return call("as<" + result + ">", stored);
}

std::string ExpressionPrinter::encoded(Dtype dtype, const std::string& computed) {
  if (!is_half(dtype)) return computed;
  return call(dtype == f16 ? "encode_f16" : "encode_bf16", computed);
}

std::string ExpressionPrinter::decoded(Dtype dtype, const std::string& stored) {
  if (!is_half(dtype)) return stored;
  return call(dtype == f16 ? "decode_f16" : "decode_bf16", stored);
}

}  // namespace hom::cpu
