// backends/cpu/jit/x86_functions.cc -- functions of vectors, and of single floats
#include <bit>

#include <hom/backends/cpu/jit/native_functions.h>
#include <hom/backends/cpu/jit/x86_host.h>
#include <hom/backends/cpu/jit/x86_kernel.h>

namespace hom::cpu::x86 {

using nest::Combine;
using nest::Function;

namespace {

/// The bits of a number of a float dtype.
std::int64_t bits_of(Dtype dtype, double number) {
  if (dtype == f32) return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return std::bit_cast<std::int64_t>(number);
}

}  // namespace

/// Of a function that hardly ever has anything to do: where no operand is so far from 0, zero.
Vec KernelEmitter::call_far(int entry, Dtype in, int lanes, const Operand& operand) {
  const Lanes form = shape(in, lanes);
  const int bytes = form.bytes();
  const Vec x = m_.in_register(operand, bytes);
  const Vec magnitude = m_.and_(x, m_.splat(in == f64 ? INT64_MAX : 0x7fffffff, form), bytes);
  const Mem limit = m_.splat(bits_of(in, in == f64 ? 0x1p30 : 0x1p17), form);
  const Vec is_far = m_.compare(in, lanes, Test::gt, magnitude, limit);
  const Vec result = m_.zero(bytes);
  const Label near = cc_.newLabel();
  m_.jump_unless_any(is_far, bytes, near);
  const Operand all[] = {x};
  move(result, call_host(entry, std::nullopt, in, in, lanes, all));
  cc_.bind(near);
  return result;
}

/// a·b + c, rounded once.
Vec KernelEmitter::fused(Dtype in, int lanes, std::span<const Operand> operands) {
  const int bytes = shape(in, lanes).bytes();
  const Vec to = m_.vec(bytes);
  // The instruction overwrites one of three; what is in memory comes last.
  Operand a = operands[0];
  Operand b = operands[1];
  if (!a.isReg()) std::swap(a, b);
  const Operand& c = operands[2];
  if (c.isReg()) {
    const Vec first = m_.in_register(a, bytes);
    move(to, c);
    m_.op(in == f64 ? X86::kIdVfmadd231pd : X86::kIdVfmadd231ps, to, first, b);
  } else {
    const Vec first = m_.in_register(a, bytes);
    move(to, first);
    m_.op(in == f64 ? X86::kIdVfmadd213pd : X86::kIdVfmadd213ps, to, m_.in_register(b, bytes), c);
  }
  return to;
}

Vec KernelEmitter::arithmetic(const nest::Node& apply, Dtype in, int lanes,
                              std::span<const Operand> operands) {
  if (apply.function == Function::fma) return fused(in, lanes, operands);
  if (const std::optional<int> entry = native_function(apply.function, in)) {
    const bool has_parameter =
        apply.function == Function::polygamma || apply.function == Function::log_gamma_slope;
    const bool is_far = apply.function >= Function::far_sin && apply.function <= Function::far_tan;
    if (is_far) return call_far(*entry, in, lanes, operands[0]);
    return call_host(*entry, has_parameter ? std::optional(apply.number) : std::nullopt, in, in,
                     lanes, operands);
  }
  const int bytes = shape(in, lanes).bytes();
  Operand a = operands[0];
  Operand b = operands.back();
  const bool commutes = apply.function == Function::add || apply.function == Function::mul;
  if (commutes && !a.isReg()) std::swap(a, b);
  const Vec first = m_.in_register(a, bytes);
  return in.is_float() ? float_arithmetic(apply.function, in, lanes, first, b)
                       : integer_arithmetic(apply.function, in, lanes, first, b);
}

Vec KernelEmitter::float_arithmetic(Function function, Dtype in, int lanes, const Vec& a,
                                    const Operand& b) {
  const Lanes form = shape(in, lanes);
  const int bytes = form.bytes();
  const bool is_double = in == f64;
  const auto of = [&](InstId single, InstId wide) {
    return m_.result(is_double ? wide : single, bytes, a, b);
  };
  const auto rounded = [&](int mode) {
    const InstId id = bytes > 32  ? (is_double ? X86::kIdVrndscalepd : X86::kIdVrndscaleps)
                      : is_double ? X86::kIdVroundpd
                                  : X86::kIdVroundps;
    return m_.result(id, bytes, a, Imm(mode));
  };
  const std::int64_t sign = is_double ? INT64_MIN : 0x80000000;
  switch (function) {
    case Function::neg:
      return m_.xor_(a, m_.splat(sign, form), bytes);
    case Function::abs:
      return m_.and_(a, m_.splat(~sign, form), bytes);
    case Function::sign: {
      const Vec zero = m_.zero(bytes);
      const Vec above = m_.compare(in, lanes, Test::gt, a, zero);
      const Vec below = m_.compare(in, lanes, Test::lt, a, zero);
      const Vec down = m_.select(form, below, m_.splat(bits_of(in, -1), form), a);
      return m_.select(form, above, m_.splat(bits_of(in, 1), form), down);
    }
    // Without exceptions: half to even, down, up.
    case Function::round:
      return rounded(8);
    case Function::floor:
      return rounded(9);
    case Function::ceil:
      return rounded(10);
    case Function::sqrt:
      return m_.result(is_double ? X86::kIdVsqrtpd : X86::kIdVsqrtps, bytes, a);
    case Function::rsqrt: {
      const Vec root = m_.result(is_double ? X86::kIdVsqrtpd : X86::kIdVsqrtps, bytes, a);
      const Vec one = m_.in_register(m_.splat(bits_of(in, 1), form), bytes);
      return m_.result(is_double ? X86::kIdVdivpd : X86::kIdVdivps, bytes, one, root);
    }
    case Function::add:
      return of(X86::kIdVaddps, X86::kIdVaddpd);
    case Function::sub:
      return of(X86::kIdVsubps, X86::kIdVsubpd);
    case Function::mul:
      return of(X86::kIdVmulps, X86::kIdVmulpd);
    case Function::div:
      return of(X86::kIdVdivps, X86::kIdVdivpd);
    case Function::max:
    case Function::min:
      return extreme(function == Function::max, in, lanes, a, b);
    case Function::scale: {
      // The product, or 0 where it is NaN and a factor is 0.
      const Vec other = m_.in_register(b, bytes);
      const Vec product = m_.result(is_double ? X86::kIdVmulpd : X86::kIdVmulps, bytes, a, other);
      const Vec zero = m_.zero(bytes);
      const Vec is_zero = m_.or_(m_.compare(in, lanes, Test::eq, a, zero),
                                 m_.compare(in, lanes, Test::eq, other, zero), bytes);
      const Vec is_nan = m_.compare(in, lanes, Test::unordered, product, product);
      return m_.and_not(m_.and_(is_nan, is_zero, bytes), product, bytes);
    }
    default:
      throw Bug("no instructions for " + std::string(name_of(function)) + " of " +
                std::string(in.name()));
  }
}

/// The first of equals; NaN if either is.
Vec KernelEmitter::extreme(bool is_maximum, Dtype in, int lanes, const Vec& a, const Operand& b) {
  const Lanes form = shape(in, lanes);
  const int bytes = form.bytes();
  if (in.is_float()) {
    // The instructions give their second operand where neither is greater.
    const Vec other = m_.in_register(b, bytes);
    const InstId id = is_maximum ? (in == f64 ? X86::kIdVmaxpd : X86::kIdVmaxps)
                                 : (in == f64 ? X86::kIdVminpd : X86::kIdVminps);
    const Vec most = m_.result(id, bytes, other, a);
    return m_.select(form, m_.compare(in, lanes, Test::unordered, other, other), other, most);
  }
  const bool is_signed = in.is_signed_integer();
  if (form.size == 8) {
    const Vec other = m_.in_register(b, bytes);
    const Vec is_more = m_.compare(in, lanes, is_maximum ? Test::gt : Test::lt, other, a);
    return m_.select(form, is_more, other, a);
  }
  InstId id = 0;
  if (form.size == 1) {
    id = is_maximum ? (is_signed ? X86::kIdVpmaxsb : X86::kIdVpmaxub)
                    : (is_signed ? X86::kIdVpminsb : X86::kIdVpminub);
  } else {
    id = is_maximum ? (is_signed ? X86::kIdVpmaxsd : X86::kIdVpmaxud)
                    : (is_signed ? X86::kIdVpminsd : X86::kIdVpminud);
  }
  return m_.result(id, bytes, a, b);
}

Vec KernelEmitter::integer_arithmetic(Function function, Dtype in, int lanes, const Vec& a,
                                      const Operand& b) {
  const Lanes form = shape(in, lanes);
  const int bytes = form.bytes();
  const bool is_signed = in.is_signed_integer();
  switch (function) {
    case Function::neg:
      return m_.sub(form, m_.zero(bytes), a);
    case Function::abs: {
      if (!is_signed) return a;
      if (form.size == 1) return m_.result(X86::kIdVpabsb, bytes, a);
      if (form.size == 4) return m_.result(X86::kIdVpabsd, bytes, a);
      const Vec zero = m_.zero(bytes);
      return m_.select(form, m_.compare(in, lanes, Test::lt, a, zero), m_.sub(form, zero, a), a);
    }
    case Function::sign: {
      const Vec zero = m_.zero(bytes);
      if (!is_signed)
        return m_.add(form, m_.compare(in, lanes, Test::eq, a, zero), m_.splat(1, form));
      return m_.sub(form, m_.compare(in, lanes, Test::lt, a, zero),
                    m_.compare(in, lanes, Test::gt, a, zero));
    }
    case Function::add:
      return m_.add(form, a, b);
    case Function::sub:
      return m_.sub(form, a, b);
    case Function::mul:
      return m_.mul(form, a, b);
    case Function::max:
    case Function::min:
      return extreme(function == Function::max, in, lanes, a, b);
    case Function::shift_left:
      if (form.size >= 4) {
        return m_.result(form.size == 8 ? X86::kIdVpsllvq : X86::kIdVpsllvd, bytes, a, b);
      }
      break;
    case Function::shift_right:
      if (form.size == 4)
        return m_.result(is_signed ? X86::kIdVpsravd : X86::kIdVpsrlvd, bytes, a, b);
      if (form.size == 8) {
        if (!is_signed) return m_.result(X86::kIdVpsrlvq, bytes, a, b);
        if (bytes > 32) return m_.result(X86::kIdVpsravq, bytes, a, b);
        const Vec signs = m_.compare(in, lanes, Test::lt, a, m_.zero(bytes));
        const Vec shifted = m_.result(X86::kIdVpsrlvq, bytes, m_.xor_(a, signs, bytes), b);
        return m_.xor_(shifted, signs, bytes);
      }
      break;
    default:
      break;
  }
  const Operand both[] = {a, b};
  return by_lanes(lanes, in, in, both, [&](const std::vector<Mem>& from, const Mem& to) {
    const Gp x = m_.load_integer(from[0], form.size, is_signed);
    const Gp y = m_.load_integer(from[1], form.size, is_signed);
    m_.store_integer(to, integer_function(function, in, x, y), form.size);
  });
}

Vec KernelEmitter::combined(Combine combine, Dtype in, int lanes, const Vec& a, const Operand& b) {
  const int bytes = shape(in, lanes).bytes();
  const auto apply = [&](Function function) {
    return in.is_float() ? float_arithmetic(function, in, lanes, a, b)
                         : integer_arithmetic(function, in, lanes, a, b);
  };
  switch (combine) {
    case Combine::sum:
      return apply(Function::add);
    case Combine::prod:
      return apply(Function::mul);
    case Combine::max:
    case Combine::min:
      return extreme(combine == Combine::max, in, lanes, a, b);
    case Combine::and_:
      return m_.and_(a, b, bytes);
    case Combine::or_:
      return m_.or_(a, b, bytes);
    default:
      return m_.in_register(b, bytes);
  }
}

Vec KernelEmitter::is_finite(Dtype in, int lanes, const Vec& a) {
  const Lanes form = shape(in, lanes);
  const std::int64_t magnitude = in == f64 ? INT64_MAX : 0x7fffffff;
  const std::int64_t largest = in == f64 ? 0x7fefffffffffffff : 0x7f7fffff;
  return m_.compare(in, lanes, Test::le, m_.and_(a, m_.splat(magnitude, form), form.bytes()),
                    m_.splat(largest, form));
}

/// One float by the functions of numbers; all else through memory, by those of vectors.
Vec KernelEmitter::call_host(int entry, std::optional<std::int64_t> parameter, Dtype from, Dtype to,
                             int lanes, std::span<const Operand> operands) {
  const auto is_plain = [](Dtype dtype) { return dtype == f32 || dtype == f64; };
  const bool is_number = lanes == 1 && is_plain(from) && is_plain(to);
  void* const function = native_functions()[is_number ? entry : native_function_count() + entry];
  asmjit::FuncSignatureBuilder signature(asmjit::CallConvId::kHost);
  asmjit::InvokeNode* call = nullptr;
  const Imm target(reinterpret_cast<std::uintptr_t>(entrance(function)));
  std::uint32_t argument = 0;
  if (is_number) {
    const auto type = [](Dtype dtype) {
      return dtype == f64 ? asmjit::TypeId::kFloat64 : asmjit::TypeId::kFloat32;
    };
    signature.setRet(type(to));
    if (parameter) signature.addArg(asmjit::TypeId::kInt64);
    for (std::size_t i = 0; i < operands.size(); ++i) signature.addArg(type(from));
    std::vector<Vec> numbers;
    for (const Operand& operand : operands)
      numbers.push_back(m_.in_register(operand, static_cast<int>(from.size())));
    cc_.invoke(&call, target, signature);
    calls_ = true;
    if (parameter) call->setArg(argument++, Imm(*parameter));
    for (const Vec& number : numbers) call->setArg(argument++, number);
    const Vec result = m_.vec(16);
    call->setRet(0, result);
    return result;
  }
  signature.setRet(asmjit::TypeId::kVoid);
  if (parameter) signature.addArg(asmjit::TypeId::kInt64);
  signature.addArg(asmjit::TypeId::kUIntPtr);
  std::vector<Gp> places;
  for (std::size_t i = 0; i <= operands.size(); ++i) {
    const Gp place = m_.gp();
    cc_.lea(place, scratch(i));
    places.push_back(place);
  }
  const int bytes = shape(from, lanes).bytes();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    m_.store(scratch(i + 1), m_.in_register(operands[i], bytes), bytes);
    signature.addArg(asmjit::TypeId::kUIntPtr);
  }
  signature.addArg(asmjit::TypeId::kInt64);
  cc_.invoke(&call, target, signature);
  calls_ = true;
  if (parameter) call->setArg(argument++, Imm(*parameter));
  for (const Gp& place : places) call->setArg(argument++, place);
  call->setArg(argument, Imm(lanes));
  return m_.load(scratch(0), shape(to, lanes).bytes());
}

}  // namespace hom::cpu::x86
