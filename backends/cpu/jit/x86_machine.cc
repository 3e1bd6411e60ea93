// backends/cpu/jit/x86_machine.cc -- registers, memory, and moves between lanes
#include <hom/backends/cpu/jit/x86_machine.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <hom/core/error.h>

namespace hom::cpu::x86 {

namespace {

int log2(int size) { return std::countr_zero(static_cast<unsigned>(size)); }

}  // namespace

// ---- registers and constants ----

Gp Machine::gp(std::int64_t number) {
  const Gp to = gp();
  if (number == 0) {
    cc.xor_(to.r32(), to.r32());
  } else if (number > 0 && number <= UINT32_MAX) {
    cc.mov(to.r32(), Imm(number));
  } else {
    cc.mov(to, Imm(number));
  }
  return to;
}

Gp Machine::copy(const Gp& from) {
  const Gp to = gp();
  cc.mov(to, from);
  return to;
}

Vec Machine::vec(int bytes) {
  if (bytes <= 16) return cc.newXmm();
  if (bytes <= 32) return cc.newYmm();
  ensure(bytes <= 64, "a vector has at most 64 bytes");
  return cc.newZmm();
}

Vec Machine::part(const Vec& whole, int bytes) {
  if (bytes <= 16) return whole.xmm();
  if (bytes <= 32) return whole.ymm();
  return whole;
}

Mem Machine::constant(const void* data, int bytes) {
  std::array<std::byte, 64> padded{};
  std::memcpy(padded.data(), data, static_cast<std::size_t>(bytes));
  const int size = std::max(bytes, 16);
  Mem place =
      cc.newConst(asmjit::ConstPoolScope::kLocal, padded.data(), static_cast<std::size_t>(size));
  place.setSize(static_cast<std::uint32_t>(size));
  return place;
}

Mem Machine::splat(std::int64_t bits, Lanes lanes) {
  std::array<std::byte, 64> all{};
  const int bytes = std::max(lanes.bytes(), 16);
  for (int at = 0; at < bytes; at += lanes.size)
    std::memcpy(all.data() + at, &bits, static_cast<std::size_t>(lanes.size));
  return constant(all.data(), bytes);
}

Vec Machine::in_register(const Operand& what, int bytes) {
  if (what.isReg()) return what.as<Vec>();
  return result(X86::kIdVmovups, bytes, what);
}

Vec Machine::zero(int bytes) {
  const Vec to = vec(bytes);
  cc.emit(X86::kIdVxorps, to, to, to);
  return to;
}

Mem Machine::slot(std::int64_t bytes) {
  ensure(bytes <= INT32_MAX / 4, "local memory of a kernel is small");
  return cc.newStack(static_cast<std::uint32_t>(std::max<std::int64_t>(bytes, 1)), 64);
}

Mem Machine::at(Mem base, std::int64_t offset, int bytes) {
  base.addOffset(offset);
  base.setSize(static_cast<std::uint32_t>(bytes));
  return base;
}

// ---- memory ----

Vec Machine::load(Mem from, int bytes) {
  from.setSize(static_cast<std::uint32_t>(bytes));
  switch (bytes) {
    case 1:
    case 2: {
      const Gp word = gp();
      cc.movzx(word.r32(), from);
      return result(X86::kIdVmovd, 16, word.r32());
    }
    case 4:
      return result(X86::kIdVmovss, 16, from);
    case 8:
      return result(X86::kIdVmovsd, 16, from);
    default:
      return result(X86::kIdVmovups, bytes, from);
  }
}

void Machine::store(Mem to, const Vec& what, int bytes) {
  to.setSize(static_cast<std::uint32_t>(bytes));
  switch (bytes) {
    case 1:
      return op(X86::kIdVpextrb, to, what.xmm(), Imm(0));
    case 2:
      return op(X86::kIdVpextrw, to, what.xmm(), Imm(0));
    case 4:
      return op(X86::kIdVmovss, to, what.xmm());
    case 8:
      return op(X86::kIdVmovsd, to, what.xmm());
    default:
      return op(X86::kIdVmovups, to, part(what, bytes));
  }
}

Gp Machine::load_integer(Mem from, int bytes, bool is_signed) {
  from.setSize(static_cast<std::uint32_t>(bytes));
  const Gp to = gp();
  if (bytes == 8) {
    cc.mov(to, from);
  } else if (bytes == 4) {
    if (is_signed) {
      cc.movsxd(to, from);
    } else {
      cc.mov(to.r32(), from);
    }
  } else if (is_signed) {
    cc.movsx(to, from);
  } else {
    cc.movzx(to.r32(), from);
  }
  return to;
}

void Machine::store_integer(Mem to, const Gp& what, int bytes) {
  to.setSize(static_cast<std::uint32_t>(bytes));
  if (bytes == 8) {
    cc.mov(to, what);
  } else if (bytes == 4) {
    cc.mov(to, what.r32());
  } else if (bytes == 2) {
    cc.mov(to, what.r16());
  } else {
    cc.mov(to, what.r8());
  }
}

// ---- integer registers ----

Gp Machine::add(const Gp& a, const Gp& b) {
  const Gp to = gp();
  cc.lea(to, asmjit::x86::ptr(a, b));
  return to;
}

Gp Machine::scaled(const Gp& a, std::int64_t factor) {
  const Gp to = gp();
  if (factor == 0) {
    cc.xor_(to.r32(), to.r32());
  } else if (factor == 2 || factor == 3 || factor == 5 || factor == 9) {
    const int shift = factor == 2 ? 0 : log2(static_cast<int>(factor) - 1);
    cc.lea(to, asmjit::x86::ptr(a, a, static_cast<std::uint32_t>(shift)));
  } else if (factor > 0 && std::has_single_bit(static_cast<std::uint64_t>(factor))) {
    cc.mov(to, a);
    if (factor != 1) cc.shl(to, Imm(std::countr_zero(static_cast<std::uint64_t>(factor))));
  } else if (factor == -1) {
    cc.mov(to, a);
    cc.neg(to);
  } else if (factor >= INT32_MIN && factor <= INT32_MAX) {
    cc.imul(to, a, Imm(factor));
  } else {
    cc.mov(to, Imm(factor));
    cc.imul(to, a);
  }
  return to;
}

Gp Machine::plus(const Gp& a, std::int64_t number) {
  if (number == 0) return a;
  const Gp to = gp();
  if (number >= INT32_MIN && number <= INT32_MAX) {
    cc.lea(to, asmjit::x86::ptr(a, static_cast<std::int32_t>(number)));
  } else {
    cc.mov(to, Imm(number));
    cc.add(to, a);
  }
  return to;
}

// ---- lanes ----

Gp Machine::bits_of_mask(const Vec& mask, int bytes) {
  const Gp bits = gp();
  if (bytes > 32) {
    const asmjit::x86::KReg k = cc.newKq();
    op(X86::kIdVpmovb2m, k, mask);
    op(X86::kIdKmovq, bits, k);
  } else {
    op(X86::kIdVpmovmskb, bits.r32(), part(mask, bytes));
  }
  return bits;
}

void Machine::jump_unless_all(const Vec& mask, int bytes, const Label& to) {
  const Gp bits = bits_of_mask(mask, bytes);
  if (bytes == 64) {
    cc.cmp(bits, Imm(-1));
    cc.jne(to);
  } else if (bytes == 32) {
    cc.cmp(bits.r32(), Imm(-1));
    cc.jne(to);
  } else {
    cc.not_(bits.r32());
    cc.test(bits.r32(), Imm((1 << bytes) - 1));
    cc.jnz(to);
  }
}

void Machine::jump_unless_any(const Vec& mask, int bytes, const Label& to) {
  const Gp bits = bits_of_mask(mask, bytes);
  if (bytes >= 32) {
    cc.test(bits, bits);
  } else {
    cc.test(bits.r32(), Imm((1 << bytes) - 1));
  }
  cc.jz(to);
}

Vec Machine::broadcast(Lanes lanes, const Vec& from) {
  if (lanes.count == 1) return from;
  constexpr std::array<InstId, 4> ids{X86::kIdVpbroadcastb, X86::kIdVpbroadcastw,
                                      X86::kIdVbroadcastss, X86::kIdVpbroadcastq};
  return result(ids[log2(lanes.size)], lanes.bytes(), from.xmm());
}

Vec Machine::broadcast(Lanes lanes, const Gp& from) {
  const Vec number =
      lanes.size == 8 ? result(X86::kIdVmovq, 16, from) : result(X86::kIdVmovd, 16, from.r32());
  return broadcast(lanes, number);
}

Vec Machine::widen(int lanes, int from, int to, bool is_signed, const Vec& what) {
  if (from == to) return what;
  constexpr InstId none = 0;
  constexpr std::array<std::array<InstId, 4>, 3> with_sign{
      {{none, X86::kIdVpmovsxbw, X86::kIdVpmovsxbd, X86::kIdVpmovsxbq},
       {none, none, X86::kIdVpmovsxwd, X86::kIdVpmovsxwq},
       {none, none, none, X86::kIdVpmovsxdq}}};
  constexpr std::array<std::array<InstId, 4>, 3> with_zero{
      {{none, X86::kIdVpmovzxbw, X86::kIdVpmovzxbd, X86::kIdVpmovzxbq},
       {none, none, X86::kIdVpmovzxwd, X86::kIdVpmovzxwq},
       {none, none, none, X86::kIdVpmovzxdq}}};
  const InstId id = (is_signed ? with_sign : with_zero)[log2(from)][log2(to)];
  // The source is as wide as the instruction reads.
  const int source = std::max(16, std::max(16, to * lanes) / (to / from));
  return result(id, to * lanes, part(what, source));
}

Vec Machine::narrow(int lanes, int from, int to, const Vec& what) {
  if (from == to) return what;
  const int bytes = from * lanes;
  if (bytes > 32) {
    constexpr InstId none = 0;
    constexpr std::array<std::array<InstId, 3>, 4> ids{
        {{none, none, none},
         {X86::kIdVpmovwb, none, none},
         {X86::kIdVpmovdb, X86::kIdVpmovdw, none},
         {X86::kIdVpmovqb, X86::kIdVpmovqw, X86::kIdVpmovqd}}};
    return result(ids[log2(from)][log2(to)], to * lanes, what);
  }
  // The low bytes of each element to the front of their 128 bits, then both together.
  std::array<std::byte, 32> order{};
  order.fill(std::byte{0x80});
  const int kept = 16 / from * to;
  for (int half = 0; half < 32; half += 16) {
    for (int b = 0; b < kept; ++b)
      order[static_cast<std::size_t>(half + b)] = static_cast<std::byte>(b / to * from + b % to);
  }
  const Vec shuffled = result(X86::kIdVpshufb, bytes, part(what, bytes),
                              constant(order.data(), std::max(bytes, 16)));
  if (bytes <= 16) return shuffled;
  const Vec high = result(X86::kIdVextracti128, 16, shuffled, Imm(1));
  const InstId id = kept == 8   ? X86::kIdVpunpcklqdq
                    : kept == 4 ? X86::kIdVpunpckldq
                                : X86::kIdVpunpcklwd;
  return result(id, 16, shuffled.xmm(), high);
}

Vec Machine::upper_half(Lanes lanes, const Vec& what) {
  switch (lanes.bytes()) {
    case 64:
      return result(X86::kIdVextracti64x4, 32, what, Imm(1));
    case 32:
      return result(X86::kIdVextracti128, 16, what, Imm(1));
    default:
      return result(X86::kIdVpsrldq, 16, what.xmm(), Imm(lanes.bytes() / 2));
  }
}

}  // namespace hom::cpu::x86
