// backends/cpu/jit/x86_numbers.cc -- integers, one at a time
//
// A number is held in 64 bits, extended as its dtype says, so that 64-bit instructions serve all
// dtypes and only results that may leave the range are extended again.
#include <bit>

#include <hom/backends/cpu/jit/x86_kernel.h>

namespace hom::cpu::x86 {

using nest::Combine;
using nest::Function;

namespace {

Gp in_register(Machine& m, const Operand& b) {
  return b.isImm() ? m.gp(b.as<Imm>().value()) : b.as<Gp>();
}

}  // namespace

Gp KernelEmitter::integer_function(Function function, Dtype dtype, const Gp& a, const Operand& b) {
  const auto with = [&](InstId id) {
    const Gp to = m_.copy(a);
    m_.op(id, to, b);
    return to;
  };
  switch (function) {
    case Function::neg: {
      const Gp to = m_.copy(a);
      cc_.neg(to);
      return extended(dtype, to);
    }
    case Function::abs: {
      if (dtype.is_unsigned_integer()) return a;
      const Gp to = m_.copy(a);
      cc_.neg(to);
      cc_.cmovs(to, a);
      return extended(dtype, to);
    }
    case Function::sign: {
      const Gp positive = m_.copy(a);
      cc_.neg(positive);
      cc_.shr(positive, Imm(63));
      const Gp to = m_.copy(a);
      if (dtype == u64) {
        const Gp bit = m_.gp(std::int64_t{0});
        cc_.test(a, a);
        cc_.setne(bit.r8());
        return bit;
      }
      cc_.sar(to, Imm(63));
      cc_.or_(to, positive);
      return to;
    }
    case Function::not_: {
      const Gp to = m_.copy(a);
      if (dtype.is_bool()) {
        cc_.xor_(to, Imm(1));
        return to;
      }
      cc_.not_(to);
      return extended(dtype, to);
    }
    case Function::add:
      return extended(dtype, with(X86::kIdAdd));
    case Function::sub:
      return extended(dtype, with(X86::kIdSub));
    case Function::mul: {
      if (b.isImm()) return extended(dtype, m_.scaled(a, b.as<Imm>().value()));
      return extended(dtype, with(X86::kIdImul));
    }
    case Function::and_:
      return with(X86::kIdAnd);
    case Function::or_:
      return with(X86::kIdOr);
    case Function::xor_:
      return with(X86::kIdXor);
    case Function::div:
    case Function::rem:
      return quotient(dtype, a, b, function == Function::rem);
    case Function::max:
    case Function::min:
      return integer_extreme(function == Function::max, dtype, a, b);
    case Function::shift_left:
    case Function::shift_right:
      break;
    default:
      throw Bug("no instructions for " + std::string(name_of(function)) + " of " +
                std::string(dtype.name()));
  }
  // By any amount: 0, or the sign, where it is not one of 0 … width − 1.
  const auto width = static_cast<std::int64_t>(8 * dtype.size());
  const Gp amount = in_register(m_, b);
  const Gp none = m_.gp(std::int64_t{0});
  const Gp to = m_.gp();
  if (function == Function::shift_right && dtype.is_signed_integer()) {
    const Gp most = m_.gp(std::int64_t{63});
    cc_.cmp(amount, Imm(63));
    cc_.cmovbe(most, amount);
    cc_.sarx(to, a, most);
    return to;
  }
  if (function == Function::shift_left) {
    cc_.shlx(to, a, amount);
  } else {
    cc_.shrx(to, a, amount);
  }
  cc_.cmp(amount, Imm(width));
  cc_.cmovae(to, none);
  return extended(dtype, to);
}

/// The floor of a/b, or what is left; 0 and a where b is 0.
Gp KernelEmitter::quotient(Dtype dtype, const Gp& a, const Operand& b, bool wants_remainder) {
  const Gp by = in_register(m_, b);
  const bool is_signed = dtype.is_signed_integer();
  const bool is_wide = dtype.size() == 8;
  const Gp result = m_.gp(std::int64_t{0});
  const Label end = cc_.newLabel();
  const Label regular = cc_.newLabel();
  if (wants_remainder) cc_.mov(result, a);
  cc_.test(by, by);
  cc_.jz(end);
  if (is_signed) {
    cc_.cmp(by, Imm(-1));
    cc_.jne(regular);
    if (wants_remainder) {
      cc_.mov(result, Imm(0));
    } else {
      cc_.mov(result, a);
      cc_.neg(result);
    }
    cc_.jmp(end);
    cc_.bind(regular);
  }
  const Gp low = m_.copy(a);
  const Gp high = m_.gp();
  if (is_signed) {
    if (is_wide) {
      cc_.cqo(high, low);
      cc_.idiv(high, low, by);
    } else {
      cc_.cdq(high.r32(), low.r32());
      cc_.idiv(high.r32(), low.r32(), by.r32());
    }
    const Label exact = cc_.newLabel();
    const Gp signs = m_.copy(high);
    if (is_wide) {
      cc_.test(high, high);
      cc_.jz(exact);
      cc_.xor_(signs, by);
    } else {
      cc_.test(high.r32(), high.r32());
      cc_.jz(exact);
      cc_.xor_(signs.r32(), by.r32());
    }
    cc_.jns(exact);
    if (wants_remainder) {
      cc_.add(high, by);
    } else {
      cc_.dec(low);
    }
    cc_.bind(exact);
  } else {
    cc_.xor_(high.r32(), high.r32());
    if (is_wide) {
      cc_.div(high, low, by);
    } else {
      cc_.div(high.r32(), low.r32(), by.r32());
    }
  }
  cc_.mov(result, wants_remainder ? high : low);
  cc_.bind(end);
  return extended(dtype, result);
}

Gp KernelEmitter::integer_test(Function function, Dtype dtype, const Gp& a, const Operand& b) {
  const Gp bit = m_.gp(std::int64_t{0});
  m_.op(X86::kIdCmp, a, b);
  // Narrower ones are not negative in 64 bits.
  const bool is_unsigned = dtype == u64;
  switch (function) {
    case Function::eq:
      cc_.sete(bit.r8());
      break;
    case Function::ne:
      cc_.setne(bit.r8());
      break;
    case Function::lt:
      is_unsigned ? cc_.setb(bit.r8()) : cc_.setl(bit.r8());
      break;
    case Function::le:
      is_unsigned ? cc_.setbe(bit.r8()) : cc_.setle(bit.r8());
      break;
    case Function::gt:
      is_unsigned ? cc_.seta(bit.r8()) : cc_.setg(bit.r8());
      break;
    default:
      is_unsigned ? cc_.setae(bit.r8()) : cc_.setge(bit.r8());
      break;
  }
  return bit;
}

Gp KernelEmitter::integer_extreme(bool is_maximum, Dtype dtype, const Gp& a, const Operand& b) {
  const Gp to = m_.copy(a);
  const Gp other = in_register(m_, b);
  cc_.cmp(to, other);
  if (dtype == u64) {
    is_maximum ? cc_.cmovb(to, other) : cc_.cmova(to, other);
  } else {
    is_maximum ? cc_.cmovl(to, other) : cc_.cmovg(to, other);
  }
  return to;
}

Gp KernelEmitter::combined_integer(Combine combine, Dtype dtype, const Gp& a, const Operand& b) {
  switch (combine) {
    case Combine::sum:
      return integer_function(Function::add, dtype, a, b);
    case Combine::prod:
      return integer_function(Function::mul, dtype, a, b);
    case Combine::max:
    case Combine::min:
      return integer_extreme(combine == Combine::max, dtype, a, b);
    case Combine::and_:
      return integer_function(Function::and_, dtype, a, b);
    default:
      return integer_function(Function::or_, dtype, a, b);
  }
}

Operand KernelEmitter::combined_number(Combine combine, Dtype dtype, const Operand& a,
                                       const Operand& b) {
  if (!dtype.is_float()) return combined_integer(combine, dtype, a.as<Gp>(), b);
  if (dtype.size() > 2) return combined(combine, dtype, 1, a.as<Vec>(), b);
  return encode_number(dtype, combined(combine, f32, 1, decode_number(dtype, a.as<Gp>()),
                                       decode_number(dtype, b.as<Gp>())));
}

Gp KernelEmitter::index_number(const nest::Node& what) {
  const Gp a = integer(what.operands[0]);
  if (what.kind == nest::Node::Kind::index_add) return m_.add(a, integer(what.operands[1]));
  if (what.kind == nest::Node::Kind::index_scale) return m_.scaled(a, what.number);
  return index_part(a, what.number, what.kind == nest::Node::Kind::index_remainder);
}

/// ⌊a/number⌋ or a mod number, of a ≥ 0.
Gp KernelEmitter::index_part(const Gp& a, std::int64_t number, bool wants_remainder) {
  const auto by = static_cast<std::uint64_t>(number);
  const Gp to = m_.copy(a);
  if (std::has_single_bit(by)) {
    if (!wants_remainder) {
      cc_.shr(to, Imm(std::countr_zero(by)));
    } else if (by <= INT32_MAX) {
      cc_.and_(to, Imm(static_cast<std::int64_t>(by) - 1));
    } else {
      cc_.and_(to, m_.gp(static_cast<std::int64_t>(by) - 1));
    }
    return to;
  }
  // a·m / 2^(63 + l), where 2^(l−1) < number < 2^l and m is 2^(63 + l) / number rounded up: exact
  // for a < 2^63 (Granlund and Montgomery, Division by Invariant Integers using Multiplication).
  const int l = std::bit_width(by);
  const auto power = static_cast<unsigned __int128>(1) << (63 + l);
  const auto factor = static_cast<std::uint64_t>(power / by + 1);
  const Gp low = m_.gp(static_cast<std::int64_t>(factor));
  const Gp high = m_.gp();
  cc_.mul(high, low, a);
  if (l > 1) cc_.shr(high, Imm(l - 1));
  if (!wants_remainder) return high;
  const Gp whole = m_.scaled(high, number);
  cc_.sub(to, whole);
  return to;
}

}  // namespace hom::cpu::x86
