// backends/cpu/jit/x86_expression.cc -- what nodes compute, as vectors and as numbers
#include <algorithm>

#include <hom/backends/cpu/jit/native_functions.h>
#include <hom/backends/cpu/jit/x86_kernel.h>
#include <hom/backends/nests/nest_functions.h>

namespace hom::cpu::x86 {

using nest::Function;
using nest::Node;
using nest::Value;

namespace {

bool is_half(Dtype dtype) { return dtype.is_float() && dtype.size() == 2; }
bool is_logic(Function function) {
  return function == Function::not_ || function == Function::and_ || function == Function::or_ ||
         function == Function::xor_;
}

Test test_of(Function function) {
  switch (function) {
    case Function::eq:
      return Test::eq;
    case Function::ne:
      return Test::ne;
    case Function::lt:
      return Test::lt;
    case Function::le:
      return Test::le;
    case Function::gt:
      return Test::gt;
    default:
      return Test::ge;
  }
}

/// The bits of 1.
std::int64_t one_of(Dtype dtype) {
  return dtype == f16    ? 0x3c00
         : dtype == bf16 ? 0x3f80
         : dtype == f32  ? 0x3f800000
         : dtype == f64  ? 0x3ff0000000000000
                         : 1;
}

}  // namespace

void KernelEmitter::define(Value value) {
  const Node& what = node(value);
  if (what.kind == Node::Kind::constant || what.kind == Node::Kind::axis) return;
  if (is_vector(value)) {
    if (!is_offset(value)) values_[value] = vector_definition(value);
  } else if (!is_lazy(value)) {
    values_[value] = number_definition(value);
  }
}

Vec KernelEmitter::vector_definition(Value value) {
  const Node& what = node(value);
  switch (what.kind) {
    case Node::Kind::load:
      return load_vector(what);
    case Node::Kind::apply:
      return apply_vector(value);
    case Node::Kind::convert:
      return convert_vector(value);
    case Node::Kind::bitcast:
      return bitcast_vector(value);
    default:
      return index_vector(what);
  }
}

Operand KernelEmitter::number_definition(Value value) {
  const Node& what = node(value);
  switch (what.kind) {
    case Node::Kind::load:
      return load_number(what);
    case Node::Kind::apply:
      return apply_number(value);
    case Node::Kind::convert:
      return convert_number(value);
    case Node::Kind::bitcast:
      return bitcast_number(value);
    case Node::Kind::block:
      return index_part(low_, kernel_.block, false);
    default:
      return index_number(what);
  }
}

// ---- functions ----

Vec KernelEmitter::test_masks(Function function, const Vec& a, const Vec& b, int bytes) {
  switch (function) {
    case Function::eq:
      return m_.not_(m_.xor_(a, b, bytes), bytes);
    case Function::ne:
      return m_.xor_(a, b, bytes);
    case Function::lt:
      return m_.and_not(a, b, bytes);
    case Function::le:
      return m_.or_(m_.not_(a, bytes), b, bytes);
    case Function::gt:
      return m_.and_not(b, a, bytes);
    default:
      return m_.or_(m_.not_(b, bytes), a, bytes);
  }
}

/// and, or, xor, not: of bools or of the bits of integers.
Vec KernelEmitter::logic(const Node& what) {
  const bool is_bool = what.dtype.is_bool();
  int size = is_bool ? 1 : static_cast<int>(what.dtype.size());
  for (const Value operand : what.operands) {
    if (is_bool && is_vector(operand)) size = std::max(size, mask_bytes(operand));
  }
  const int bytes = size * lanes();
  const Vec a = is_bool ? mask(what.operands[0], size) : held_in_register(what.operands[0]);
  if (what.function == Function::not_) return m_.not_(a, bytes);
  const Operand b = is_bool ? Operand(mask(what.operands[1], size)) : held(what.operands[1]);
  if (what.function == Function::and_) return m_.and_(a, b, bytes);
  return what.function == Function::or_ ? m_.or_(a, b, bytes) : m_.xor_(a, b, bytes);
}

Vec KernelEmitter::select_vector(const Node& what) {
  if (!what.dtype.is_bool()) {
    const int size = static_cast<int>(what.dtype.size());
    return m_.select({size, lanes()}, mask(what.operands[0], size), held(what.operands[1]),
                     held_in_register(what.operands[2]));
  }
  int size = 1;
  for (const Value operand : what.operands) {
    if (is_vector(operand)) size = std::max(size, mask_bytes(operand));
  }
  return m_.select({size, lanes()}, mask(what.operands[0], size), mask(what.operands[1], size),
                   mask(what.operands[2], size));
}

Vec KernelEmitter::apply_vector(Value value) {
  const Node& what = node(value);
  if (what.function == Function::select) return select_vector(what);
  if (is_logic(what.function)) return logic(what);
  const Dtype from = dtype(what.operands.back());
  const Dtype in = computing(from);
  if (nest::is_test(what.function) && from.is_bool()) {
    int size = 1;
    for (const Value operand : what.operands) {
      if (is_vector(operand)) size = std::max(size, mask_bytes(operand));
    }
    return test_masks(what.function, mask(what.operands[0], size), mask(what.operands[1], size),
                      size * lanes());
  }
  std::vector<Operand> operands;
  for (const Value operand : what.operands) operands.push_back(computed(operand));
  const Vec first = nest::is_test(what.function)
                        ? m_.in_register(operands[0], shape(in, lanes()).bytes())
                        : Vec();
  if (what.function == Function::is_finite) return is_finite(in, lanes(), first);
  if (nest::is_test(what.function))
    return m_.compare(in, lanes(), test_of(what.function), first, operands[1]);
  const Vec result = arithmetic(what, in, lanes(), operands);
  return is_half(what.dtype) ? encode(what.dtype, lanes(), result) : result;
}

Operand KernelEmitter::select_number(const Node& what) {
  const int size = static_cast<int>(what.dtype.size());
  if (what.dtype == f32 || what.dtype == f64) {
    const Vec otherwise = float_number(what.operands[2]);
    const int lanes_before = lanes();
    set_lanes(1);
    const Vec where = mask(what.operands[0], size);
    set_lanes(lanes_before);
    return m_.select({size, 1}, where, float_number(what.operands[1]), otherwise);
  }
  const Gp condition = integer(what.operands[0]);
  const Gp then = integer(what.operands[1]);
  const Gp otherwise = integer(what.operands[2]);
  const Gp result = m_.copy(otherwise);
  cc_.test(condition.r32(), condition.r32());
  cc_.cmovnz(result, then);
  return result;
}

/// The same one by one, whatever the loop around.
Operand KernelEmitter::apply_number(Value value) {
  const Node& what = node(value);
  if (what.function == Function::select) return select_number(what);
  const Dtype from = dtype(what.operands.back());
  const Dtype in = computing(from);
  if (!from.is_float()) {
    if (const std::optional<int> entry = native_function(what.function, in)) {
      std::vector<Operand> operands;
      for (const Value operand : what.operands)
        operands.push_back(m_.result(X86::kIdVmovq, 16, integer(operand)));
      return integer_in(in, call_host(*entry, std::nullopt, in, in, 1, operands));
    }
    const Gp a = integer(what.operands[0]);
    const Operand b =
        what.operands.size() > 1 ? integer_or_immediate(what.operands[1]) : Operand(a);
    return nest::is_test(what.function) ? integer_test(what.function, from, a, b)
                                        : integer_function(what.function, from, a, b);
  }
  std::vector<Operand> operands;
  for (const Value operand : what.operands) {
    operands.push_back(is_half(from) ? Operand(decode_number(from, integer(operand)))
                       : node(operand).kind == Node::Kind::constant
                           ? Operand(m_.splat(node(operand).number, shape(from, 1)))
                           : Operand(float_number(operand)));
  }
  if (nest::is_test(what.function)) {
    const Vec first = m_.in_register(operands[0], static_cast<int>(in.size()));
    const Vec mask = what.function == Function::is_finite
                         ? is_finite(in, 1, first)
                         : m_.compare(in, 1, test_of(what.function), first, operands[1]);
    return mask;
  }
  const Vec result = arithmetic(what, in, 1, operands);
  return is_half(what.dtype) ? Operand(encode_number(what.dtype, result)) : Operand(result);
}

// ---- conversions ----

Vec KernelEmitter::convert_vector(Value value) {
  const Node& what = node(value);
  const Value operand = what.operands[0];
  const Dtype from = dtype(operand);
  const Dtype to = what.dtype;
  if (from.is_bool()) {
    if (to.is_bool()) return mask(operand, mask_bytes(value));
    const Lanes form = shape(to, lanes());
    return m_.and_(mask(operand, form.size), m_.splat(one_of(to), form), form.bytes());
  }
  if (from == to) return held_in_register(operand);
  const Dtype in = computing(from);
  if (to.is_bool()) {
    const int bytes = shape(in, lanes()).bytes();
    return m_.compare(in, lanes(), Test::ne, m_.in_register(computed(operand), bytes),
                      m_.splat(0, shape(in, lanes())));
  }
  if (const std::optional<int> entry = native_conversion(from, to)) {
    const Operand all[] = {held(operand)};
    return call_host(*entry, std::nullopt, from, to, lanes(), all);
  }
  const Vec source = m_.in_register(computed(operand), shape(in, lanes()).bytes());
  const Vec result = convert(in, computing(to), lanes(), source);
  return is_half(to) ? encode(to, lanes(), result) : result;
}

Operand KernelEmitter::convert_number(Value value) {
  const Node& what = node(value);
  const Value operand = what.operands[0];
  const Dtype from = dtype(operand);
  const Dtype to = what.dtype;
  if (from == to) return number(operand);
  const bool is_float = to == f32 || to == f64;
  if (from.is_bool()) {
    const Gp bit = integer(operand);
    if (!to.is_float()) return bit;
    const Gp all = m_.copy(bit);
    cc_.neg(all);
    const Gp bits = m_.gp(one_of(to));
    cc_.and_(bits, all);
    if (!is_float) return bits;
    return m_.result(X86::kIdVmovq, 16, bits);
  }
  if (const std::optional<int> entry = native_conversion(from, to)) {
    const Operand all[] = {from == f64 ? float_number(operand)
                                       : m_.result(X86::kIdVmovq, 16, integer(operand))};
    return integer_in(to, call_host(*entry, std::nullopt, from, to, 1, all));
  }
  if (!from.is_float()) {
    const Gp x = integer(operand);
    if (to.is_bool()) return integer_test(Function::ne, from, x, Imm(0));
    if (!to.is_float()) return extended(to, x);
    const Vec result = integer_to_float(from, computing(to), x);
    return is_half(to) ? Operand(encode_number(to, result)) : Operand(result);
  }
  const Dtype in = computing(from);
  const Vec x = is_half(from) ? decode_number(from, integer(operand)) : float_number(operand);
  if (to.is_bool()) {
    const Gp bits = integer_in(i32, m_.compare(in, 1, Test::ne, x, m_.splat(0, shape(in, 1))));
    cc_.and_(bits.r32(), Imm(1));
    return bits;
  }
  if (to.is_float()) {
    const Vec result = convert(in, computing(to), 1, x);
    return is_half(to) ? Operand(encode_number(to, result)) : Operand(result);
  }
  if (to.size() == 8) return float_to_integer(in, to, x);
  return integer_in(to, convert(in, to, 1, x));
}

Vec KernelEmitter::bitcast_vector(Value value) {
  const Node& what = node(value);
  const Value operand = what.operands[0];
  const Dtype from = dtype(operand);
  if (from == what.dtype && from.is_bool()) return mask(operand, 1);
  if (what.dtype.is_bool()) {
    return m_.compare(u8, lanes(), Test::ne, held_in_register(operand), m_.splat(0, {1, lanes()}));
  }
  if (from.is_bool()) return m_.result(X86::kIdVpabsb, lanes(), mask(operand, 1));
  return held_in_register(operand);
}

Operand KernelEmitter::bitcast_number(Value value) {
  const Node& what = node(value);
  const Value operand = what.operands[0];
  const Dtype from = dtype(operand);
  const Dtype to = what.dtype;
  if (from == to) return number(operand);
  if (from == f32 || from == f64) return integer_in(to, float_number(operand));
  const Gp bits = integer(operand);
  if (to == f32 || to == f64)
    return m_.result(to == f64 ? X86::kIdVmovq : X86::kIdVmovd, 16, to == f64 ? bits : bits.r32());
  if (to.is_bool()) return integer_test(Function::ne, from, bits, Imm(0));
  return extended(to, bits);
}

// ---- indices ----

Vec KernelEmitter::index_vector(const Node& what) {
  const Lanes form{8, lanes()};
  const Vec a = held_in_register(what.operands[0]);
  if (what.kind == Node::Kind::index_add) return m_.add(form, a, held(what.operands[1]));
  if (what.kind == Node::Kind::index_scale) return m_.mul(form, a, m_.splat(what.number, form));
  const auto by = static_cast<std::uint64_t>(what.number);
  const bool wants_remainder = what.kind == Node::Kind::index_remainder;
  if ((by & (by - 1)) == 0) {
    if (wants_remainder)
      return m_.and_(a, m_.splat(static_cast<std::int64_t>(by - 1), form), form.bytes());
    return m_.shift_right(form, a, __builtin_ctzll(by));
  }
  const Operand all[] = {a};
  return by_lanes(lanes(), i64, i64, all, [&](const std::vector<Mem>& from, const Mem& to) {
    const Gp x = m_.load_integer(from[0], 8, true);
    m_.store_integer(to, index_part(x, what.number, wants_remainder), 8);
  });
}

}  // namespace hom::cpu::x86
