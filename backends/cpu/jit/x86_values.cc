// backends/cpu/jit/x86_values.cc -- values as numbers, vectors and masks
#include <array>
#include <cstring>

#include <hom/backends/cpu/jit/x86_kernel.h>

namespace hom::cpu::x86 {

using nest::Node;
using nest::Value;

namespace {

bool is_half(Dtype dtype) { return dtype.is_float() && dtype.size() == 2; }
bool is_computed_as_stored_float(Dtype dtype) { return dtype == f32 || dtype == f64; }

}  // namespace

// ---- what is known ----

void KernelEmitter::forget(std::size_t values, std::size_t pointers) {
  for (; remembered_keys_.size() > values; remembered_keys_.pop_back())
    remembered_.erase(remembered_keys_.back());
  for (; pointer_keys_.size() > pointers; pointer_keys_.pop_back())
    pointers_.erase(pointer_keys_.back());
}

// ---- numbers ----

Gp KernelEmitter::integer(Value value) {
  ensure(!is_vector(value), "a vector is not one number");
  const Node& what = node(value);
  if (what.kind == Node::Kind::constant) {
    std::int64_t bits = what.number;
    switch (what.dtype.id) {
      case Dtype::Id::boolean:
        bits = bits != 0 ? 1 : 0;
        break;
      case Dtype::Id::i8:
        bits = static_cast<std::int8_t>(bits);
        break;
      case Dtype::Id::u8:
        bits = static_cast<std::uint8_t>(bits);
        break;
      case Dtype::Id::i32:
        bits = static_cast<std::int32_t>(bits);
        break;
      case Dtype::Id::u32:
        bits = static_cast<std::uint32_t>(bits);
        break;
      case Dtype::Id::f16:
      case Dtype::Id::bf16:
        bits = static_cast<std::uint16_t>(bits);
        break;
      default:
        break;
    }
    return m_.gp(bits);
  }
  if (what.kind == Node::Kind::axis) {
    const Position& at = positions_[static_cast<std::size_t>(what.number)];
    return at.is_constant ? m_.gp(at.number) : m_.plus(at.at, at.number);
  }
  if (is_lazy(value)) return lazy_number(value);
  const Operand& known = values_[value];
  if (known.as<asmjit::x86::Reg>().isGp()) return known.as<Gp>();
  // A bool that was computed as a mask of one lane.
  return remembered(value, Form::integer,
                    [&] {
                      const Gp bit = m_.gp();
                      m_.op(X86::kIdVmovmskps, bit.r32(), known.as<Vec>().xmm());
                      cc_.and_(bit.r32(), Imm(1));
                      return bit;
                    })
      .as<Gp>();
}

Operand KernelEmitter::integer_or_immediate(Value value) {
  const Node& what = node(value);
  if (what.kind == Node::Kind::constant && !what.dtype.is_float()) {
    const std::int64_t bits = what.number;
    switch (what.dtype.id) {
      case Dtype::Id::i8:
        return Imm(static_cast<std::int8_t>(bits));
      case Dtype::Id::u8:
        return Imm(static_cast<std::uint8_t>(bits));
      case Dtype::Id::i32:
        return Imm(static_cast<std::int32_t>(bits));
      case Dtype::Id::i64:
        if (bits >= INT32_MIN && bits <= INT32_MAX) return Imm(bits);
        break;
      case Dtype::Id::u32:
      case Dtype::Id::u64:
        if (bits >= 0 && bits <= INT32_MAX) return Imm(bits);
        break;
      default:
        break;
    }
  }
  return integer(value);
}

Vec KernelEmitter::float_number(Value value) {
  const Node& what = node(value);
  if (what.kind == Node::Kind::constant)
    return m_.load(m_.splat(what.number, shape(what.dtype, 1)),
                   static_cast<int>(what.dtype.size()));
  return values_[value].as<Vec>();
}

Operand KernelEmitter::number(Value value) {
  if (is_computed_as_stored_float(dtype(value))) return float_number(value);
  return integer(value);
}

void KernelEmitter::jump_unless(Value condition, const Label& to) {
  const Gp bit = integer(condition);
  cc_.test(bit.r32(), bit.r32());
  cc_.jz(to);
}

// ---- lanes ----

Operand KernelEmitter::held(Value value) {
  const Node& what = node(value);
  const Lanes lanes = shape(what.dtype, this->lanes());
  if (what.kind == Node::Kind::constant) return m_.splat(what.number, lanes);
  if (is_vector(value)) {
    if (!is_offset(value)) return values_[value];
    return remembered(value, Form::held, [&] { return index_vector(what); });
  }
  if (is_computed_as_stored_float(what.dtype)) {
    if (lanes.count == 1) return values_[value];
    return remembered(value, Form::held,
                      [&] { return m_.broadcast(lanes, values_[value].as<Vec>()); });
  }
  return remembered(value, Form::held, [&]() -> Operand {
    const Vec first = m_.broadcast(lanes, integer(value));
    const std::int64_t along = *stride(value);
    if (along == 0) return first;
    std::array<std::byte, 64> steps{};
    const std::size_t size = what.dtype.size();
    for (std::size_t l = 0; l < static_cast<std::size_t>(lanes.count); ++l) {
      // Wrapping, as the lanes themselves do.
      const std::uint64_t step = static_cast<std::uint64_t>(along) * l;
      std::memcpy(steps.data() + l * size, &step, size);
    }
    return m_.add(lanes, first, m_.constant(steps.data(), lanes.bytes()));
  });
}

Vec KernelEmitter::held_in_register(Value value) {
  return m_.in_register(held(value), shape(dtype(value), lanes()).bytes());
}

Operand KernelEmitter::computed(Value value) {
  const Dtype stored = dtype(value);
  if (!is_half(stored)) return held(value);
  return remembered(value, Form::computed, [&]() -> Operand {
    if (is_vector(value)) return decode(stored, lanes(), values_[value]);
    return m_.broadcast(shape(f32, lanes()), decode_number(stored, integer(value)));
  });
}

Vec KernelEmitter::mask(Value value, int bytes) {
  const Lanes lanes{bytes, this->lanes()};
  const Node& what = node(value);
  if (what.kind == Node::Kind::constant)
    return m_.in_register(m_.splat(what.number != 0 ? -1 : 0, lanes), lanes.bytes());
  const Form form = bytes == 1   ? Form::mask1
                    : bytes == 2 ? Form::mask2
                    : bytes == 4 ? Form::mask4
                                 : Form::mask8;
  // A test of floats is a mask of one lane where it is a number.
  const bool is_mask =
      !is_lazy(value) && values_[value].isReg() && !values_[value].as<asmjit::x86::Reg>().isGp();
  if (is_vector(value) || (is_mask && lanes.count == 1)) {
    const int held = mask_bytes(value);
    const Vec known = values_[value].as<Vec>();
    if (held == bytes) return known;
    return remembered(value, form,
                      [&] {
                        return held < bytes ? m_.widen(lanes.count, held, bytes, true, known)
                                            : m_.narrow(lanes.count, held, bytes, known);
                      })
        .as<Vec>();
  }
  return remembered(value, form,
                    [&]() -> Operand {
                      const Gp all = m_.gp();
                      const Gp bit = integer(value);
                      cc_.mov(all, bit);
                      cc_.neg(all);
                      if (lanes.count == 1) return m_.result(X86::kIdVmovq, 16, all);
                      return m_.broadcast(lanes, all);
                    })
      .as<Vec>();
}

// ---- 16-bit floats, and bits ----

Vec KernelEmitter::decode(Dtype dtype, int lanes, const Operand& stored) {
  const Vec bits = m_.in_register(stored, 2 * lanes);
  const Lanes words{4, lanes};
  if (dtype == f16) {
    const int source = std::max(16, words.bytes() / 2);
    return m_.result(X86::kIdVcvtph2ps, words.bytes(), Machine::part(bits, source));
  }
  return m_.shift_left(words, m_.widen(lanes, 2, 4, false, bits), 16);
}

Vec KernelEmitter::encode(Dtype dtype, int lanes, const Vec& computed) {
  const Lanes words{4, lanes};
  const int bytes = words.bytes();
  if (dtype == f16) return m_.result(X86::kIdVcvtps2ph, bytes / 2, computed, Imm(0));
  // Half to even; a NaN stays one.
  const Vec odd = m_.and_(m_.shift_right(words, computed, 16), m_.splat(1, words), bytes);
  const Vec up = m_.add(words, m_.add(words, odd, m_.splat(0x7fff, words)), computed);
  const Vec quiet = m_.or_(computed, m_.splat(0x400000, words), bytes);
  const Vec is_nan = m_.compare(f32, lanes, Test::unordered, computed, computed);
  const Vec word = m_.select(words, is_nan, quiet, up);
  return m_.narrow(lanes, 4, 2, m_.shift_right(words, word, 16));
}

Vec KernelEmitter::decode_number(Dtype dtype, const Gp& bits) {
  return decode(dtype, 1, m_.result(X86::kIdVmovd, 16, bits.r32()));
}

Gp KernelEmitter::integer_in(Dtype dtype, const Vec& lowest) {
  // Not vmovd: where the vector lies in memory, asmjit would have it read that.
  const Gp bits = m_.gp();
  if (dtype.size() == 8) {
    m_.op(X86::kIdVpextrq, bits, lowest.xmm(), Imm(0));
  } else {
    m_.op(X86::kIdVpextrd, bits.r32(), lowest.xmm(), Imm(0));
  }
  return extended(dtype, bits);
}

Gp KernelEmitter::encode_number(Dtype dtype, const Vec& computed) {
  return integer_in(dtype, encode(dtype, 1, computed));
}

Gp KernelEmitter::extended(Dtype dtype, const Gp& what) {
  if (dtype.size() == 8) return what;
  const Gp to = m_.gp();
  switch (dtype.size()) {
    case 1:
      if (dtype == i8) {
        cc_.movsx(to, what.r8());
      } else {
        cc_.movzx(to.r32(), what.r8());
      }
      break;
    case 2:
      cc_.movzx(to.r32(), what.r16());
      break;
    default:
      if (dtype == i32) {
        cc_.movsxd(to, what.r32());
      } else {
        cc_.mov(to.r32(), what.r32());
      }
  }
  return to;
}

Mem KernelEmitter::scratch(std::size_t which) {
  while (scratch_.size() <= which) scratch_.push_back(m_.slot(64));
  return scratch_[which];
}

void KernelEmitter::move(const Operand& to, const Operand& from) {
  if (to.as<asmjit::x86::Reg>().isGp()) {
    m_.op(X86::kIdMov, to, from);
  } else {
    m_.op(X86::kIdVmovaps, to, from);
  }
}

}  // namespace hom::cpu::x86
