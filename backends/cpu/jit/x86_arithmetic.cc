// backends/cpu/jit/x86_arithmetic.cc -- what each element size has instructions for, and has not
#include <array>
#include <bit>

#include <hom/backends/cpu/jit/x86_machine.h>

namespace hom::cpu::x86 {

namespace {

std::size_t row(Lanes lanes) {
  return static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(lanes.size)));
}

}  // namespace

Vec Machine::not_(const Vec& a, int bytes) {
  return xor_(a, splat(-1, {8, (bytes + 7) / 8}), bytes);
}

Vec Machine::add(Lanes lanes, const Vec& a, const Operand& b) {
  constexpr std::array<InstId, 4> ids{X86::kIdVpaddb, X86::kIdVpaddw, X86::kIdVpaddd,
                                      X86::kIdVpaddq};
  return result(ids[row(lanes)], lanes.bytes(), a, b);
}

Vec Machine::sub(Lanes lanes, const Vec& a, const Operand& b) {
  constexpr std::array<InstId, 4> ids{X86::kIdVpsubb, X86::kIdVpsubw, X86::kIdVpsubd,
                                      X86::kIdVpsubq};
  return result(ids[row(lanes)], lanes.bytes(), a, b);
}

Vec Machine::shift_left(Lanes lanes, const Vec& a, int bits) {
  constexpr std::array<InstId, 4> ids{0, X86::kIdVpsllw, X86::kIdVpslld, X86::kIdVpsllq};
  return result(ids[row(lanes)], lanes.bytes(), a, Imm(bits));
}

Vec Machine::shift_right(Lanes lanes, const Vec& a, int bits) {
  constexpr std::array<InstId, 4> ids{0, X86::kIdVpsrlw, X86::kIdVpsrld, X86::kIdVpsrlq};
  return result(ids[row(lanes)], lanes.bytes(), a, Imm(bits));
}

Vec Machine::mul(Lanes lanes, const Vec& a, const Operand& b) {
  const int bytes = lanes.bytes();
  switch (lanes.size) {
    case 1: {
      // Even and odd bytes as words.
      const Lanes words{2, (lanes.count + 1) / 2};
      const Vec other = in_register(b, bytes);
      const Vec even = result(X86::kIdVpmullw, bytes, a, other);
      const Vec odd =
          result(X86::kIdVpmullw, bytes, shift_right(words, a, 8), shift_right(words, other, 8));
      const Vec low = and_(even, splat(0x00ff, words), bytes);
      return or_(low, shift_left(words, odd, 8), bytes);
    }
    case 2:
      return result(X86::kIdVpmullw, bytes, a, b);
    case 4:
      return result(X86::kIdVpmulld, bytes, a, b);
    default:
      break;
  }
  if (bytes > 32) return result(X86::kIdVpmullq, bytes, a, b);
  const Vec other = in_register(b, bytes);
  const Vec low = result(X86::kIdVpmuludq, bytes, a, other);
  const Vec cross = add(lanes, result(X86::kIdVpmuludq, bytes, shift_right(lanes, a, 32), other),
                        result(X86::kIdVpmuludq, bytes, a, shift_right(lanes, other, 32)));
  return add(lanes, low, shift_left(lanes, cross, 32));
}

// ---- masks ----

Vec Machine::from_k(Lanes lanes, const asmjit::x86::KReg& k) {
  constexpr std::array<InstId, 4> ids{X86::kIdVpmovm2b, X86::kIdVpmovm2w, X86::kIdVpmovm2d,
                                      X86::kIdVpmovm2q};
  return result(ids[row(lanes)], lanes.bytes(), k);
}

Vec Machine::compare(Dtype dtype, int lanes, Test test, const Vec& a, const Operand& b) {
  const Lanes shape{static_cast<int>(dtype.size()), lanes};
  if (!dtype.is_float()) return integer_compare(shape, dtype.is_signed_integer(), test, a, b);
  // Quiet where that may be; a NaN is unequal to all.
  constexpr std::array<int, 7> predicates{0x00, 0x04, 0x11, 0x12, 0x1e, 0x1d, 0x03};
  const Imm predicate(predicates[static_cast<std::size_t>(test)]);
  const InstId id = dtype == f64 ? X86::kIdVcmppd : X86::kIdVcmpps;
  if (shape.bytes() <= 32) return result(id, shape.bytes(), a, b, predicate);
  const asmjit::x86::KReg k = cc.newKq();
  op(id, k, a, b, predicate);
  return from_k(shape, k);
}

Vec Machine::integer_compare(Lanes lanes, bool is_signed, Test test, const Vec& a,
                             const Operand& b) {
  const int bytes = lanes.bytes();
  const std::size_t size = row(lanes);
  if (bytes > 32) {
    constexpr std::array<InstId, 4> of_signed{X86::kIdVpcmpb, X86::kIdVpcmpw, X86::kIdVpcmpd,
                                              X86::kIdVpcmpq};
    constexpr std::array<InstId, 4> of_unsigned{X86::kIdVpcmpub, X86::kIdVpcmpuw, X86::kIdVpcmpud,
                                                X86::kIdVpcmpuq};
    constexpr std::array<int, 6> predicates{0, 4, 1, 2, 6, 5};
    const asmjit::x86::KReg k = cc.newKq();
    op((is_signed ? of_signed : of_unsigned)[size], k, a, b,
       Imm(predicates[static_cast<std::size_t>(test)]));
    return from_k(lanes, k);
  }
  constexpr std::array<InstId, 4> equal{X86::kIdVpcmpeqb, X86::kIdVpcmpeqw, X86::kIdVpcmpeqd,
                                        X86::kIdVpcmpeqq};
  constexpr std::array<InstId, 4> greater{X86::kIdVpcmpgtb, X86::kIdVpcmpgtw, X86::kIdVpcmpgtd,
                                          X86::kIdVpcmpgtq};
  if (test == Test::eq) return result(equal[size], bytes, a, b);
  if (test == Test::ne) return not_(result(equal[size], bytes, a, b), bytes);
  Vec x = a;
  Vec y = in_register(b, bytes);
  if (!is_signed) {
    const Mem sign =
        splat(static_cast<std::int64_t>(std::uint64_t{1} << (8 * lanes.size - 1)), lanes);
    x = xor_(x, sign, bytes);
    y = xor_(y, sign, bytes);
  }
  switch (test) {
    case Test::gt:
      return result(greater[size], bytes, x, y);
    case Test::lt:
      return result(greater[size], bytes, y, x);
    case Test::le:
      return not_(result(greater[size], bytes, x, y), bytes);
    default:
      return not_(result(greater[size], bytes, y, x), bytes);
  }
}

Vec Machine::select(Lanes lanes, const Vec& mask, const Operand& a, const Vec& b) {
  const int bytes = lanes.bytes();
  if (bytes > 32) {
    const Vec to = vec(bytes);
    op(X86::kIdVmovups, to, mask);
    op(X86::kIdVpternlogd, to, in_register(a, bytes), b, Imm(0xca));
    return to;
  }
  const InstId id = lanes.size == 8   ? X86::kIdVblendvpd
                    : lanes.size == 4 ? X86::kIdVblendvps
                                      : X86::kIdVpblendvb;
  return result(id, bytes, b, a, mask);
}

}  // namespace hom::cpu::x86
