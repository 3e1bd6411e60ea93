// backends/cpu/jit/x86_convert.cc -- between dtypes: integers modulo 2^width, floats rounded once,
// floats to integers truncated, at the ends of the range beyond them, 0 for NaN
#include <bit>
#include <limits>

#include <hom/backends/cpu/jit/x86_kernel.h>

namespace hom::cpu::x86 {

namespace {

std::int64_t bits_of(Dtype dtype, double number) {
  if (dtype == f32) return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return std::bit_cast<std::int64_t>(number);
}

}  // namespace

/// Of elements in the dtype that they are computed in; without bools and the 16-bit floats.
Vec KernelEmitter::convert(Dtype from, Dtype to, int lanes, const Vec& what) {
  if (from == to) return what;
  if (to.is_float()) return to_float(from, to, lanes, what);
  if (from.is_float()) return to_integer(from, to, lanes, what);
  const int have = static_cast<int>(from.size());
  const int want = static_cast<int>(to.size());
  return have < want ? m_.widen(lanes, have, want, from.is_signed_integer(), what)
                     : m_.narrow(lanes, have, want, what);
}

Vec KernelEmitter::to_float(Dtype from, Dtype to, int lanes, const Vec& what) {
  const int bytes = shape(to, lanes).bytes();
  const Lanes words{4, lanes};
  const auto from_words = [&](const Vec& all) {
    if (to == f32) return m_.result(X86::kIdVcvtdq2ps, bytes, all);
    return m_.result(X86::kIdVcvtdq2pd, bytes, Machine::part(all, std::max(16, bytes / 2)));
  };
  if (from == f32) {
    return m_.result(X86::kIdVcvtps2pd, bytes, Machine::part(what, std::max(16, bytes / 2)));
  }
  if (from == f64) return m_.result(X86::kIdVcvtpd2ps, bytes, what);
  if (from.size() == 1) return from_words(m_.widen(lanes, 1, 4, from.is_signed_integer(), what));
  if (from == i32) return from_words(what);
  if (from == u32 && to == f64) {
    const Vec flipped = m_.xor_(what, m_.splat(0x80000000, words), words.bytes());
    return m_.result(X86::kIdVaddpd, bytes, from_words(flipped),
                     m_.splat(bits_of(f64, 0x1p31), shape(f64, lanes)));
  }
  if (from == u32) {
    // Both halves are exact, so only their sum is rounded.
    const Vec high = from_words(m_.shift_right(words, what, 16));
    const Vec low = from_words(m_.and_(what, m_.splat(0xffff, words), bytes));
    const Vec scaled =
        m_.result(X86::kIdVmulps, bytes, high, m_.splat(bits_of(f32, 0x1p16), words));
    return m_.result(X86::kIdVaddps, bytes, scaled, low);
  }
  return wide_to_float(from, to, lanes, what);
}

/// i64 and u64.
Vec KernelEmitter::wide_to_float(Dtype from, Dtype to, int lanes, const Vec& what) {
  const Lanes wide{8, lanes};
  const int bytes = wide.bytes();
  if (to == f32) {
    const Operand all[] = {what};
    return by_lanes(lanes, from, to, all, [&](const std::vector<Mem>& element, const Mem& place) {
      m_.store(place, integer_to_float(from, to, m_.load_integer(element[0], 8, true)), 4);
    });
  }
  if (bytes > 32)
    return m_.result(from == i64 ? X86::kIdVcvtqq2pd : X86::kIdVcvtuqq2pd, bytes, what);
  // The low half as 2^52 + low, the high one as 2^84 + 2^32 high; their sum is rounded once.
  const bool is_signed = from == i64;
  const Vec base = m_.in_register(m_.splat(0x4330000000000000, wide), bytes);
  const Vec low = m_.result(X86::kIdVpblendd, bytes, base, what, Imm(0x55));
  const std::int64_t above = is_signed ? 0x4530000080000000 : 0x4530000000000000;
  const std::int64_t all = is_signed ? 0x4530000080100000 : 0x4530000000100000;
  const Vec high = m_.xor_(m_.shift_right(wide, what, 32), m_.splat(above, wide), bytes);
  const Vec difference = m_.result(X86::kIdVsubpd, bytes, high, m_.splat(all, wide));
  return m_.result(X86::kIdVaddpd, bytes, difference, low);
}

Vec KernelEmitter::to_integer(Dtype from, Dtype to, int lanes, const Vec& what) {
  const Lanes form = shape(from, lanes);
  const Lanes words{4, lanes};
  const int bytes = form.bytes();
  const bool is_double = from == f64;
  if (to.size() == 8) {
    const Operand all[] = {what};
    return by_lanes(lanes, from, to, all, [&](const std::vector<Mem>& element, const Mem& place) {
      m_.store_integer(place, float_to_integer(from, to, m_.load(element[0], form.size)), 8);
    });
  }
  const auto constant = [&](double number) { return m_.splat(bits_of(from, number), form); };
  const auto truncated = [&](const Vec& x) {
    return m_.result(is_double ? X86::kIdVcvttpd2dq : X86::kIdVcvttps2dq, words.bytes(), x);
  };
  const auto of = [&](InstId single, InstId wide, const Vec& x, double number) {
    return m_.result(is_double ? wide : single, bytes, x, constant(number));
  };
  const Vec x = m_.and_(what, m_.compare(from, lanes, Test::eq, what, what), bytes);
  const auto clamped = [&](double low, double high) {
    const Vec above = of(X86::kIdVmaxps, X86::kIdVmaxpd, x, low);
    return of(X86::kIdVminps, X86::kIdVminpd, above, high);
  };
  if (to == i8) return m_.narrow(lanes, 4, 1, truncated(clamped(-128, 127)));
  if (to == u8) return m_.narrow(lanes, 4, 1, truncated(clamped(0, 255)));
  const Mem top = m_.splat(0x80000000, words);
  if (is_double) {
    if (to == i32) return truncated(clamped(-0x1p31, 0x1p31 - 1));
    // What lies between integers is taken away first, so that the difference is exact.
    const InstId id = bytes > 32 ? X86::kIdVrndscalepd : X86::kIdVroundpd;
    const Vec whole = m_.result(id, bytes, clamped(0, 0x1p32 - 1), Imm(11));
    const Vec lowered = m_.result(X86::kIdVsubpd, bytes, whole, constant(0x1p31));
    return m_.xor_(truncated(lowered), top, words.bytes());
  }
  if (to == i32) {
    const Vec is_above = m_.compare(f32, lanes, Test::ge, x, constant(0x1p31));
    return m_.select(words, is_above, m_.splat(INT32_MAX, words), truncated(x));
  }
  const Vec y = m_.result(X86::kIdVmaxps, bytes, x, m_.splat(0, words));
  const Vec is_big = m_.compare(f32, lanes, Test::ge, y, constant(0x1p31));
  const Vec lowered = m_.result(X86::kIdVsubps, bytes, y, m_.and_(is_big, constant(0x1p31), bytes));
  const Vec inside = m_.xor_(truncated(lowered), m_.and_(is_big, top, bytes), bytes);
  return m_.or_(inside, m_.compare(f32, lanes, Test::ge, y, constant(0x1p32)), bytes);
}

// ---- one number ----

Vec KernelEmitter::integer_to_float(Dtype from, Dtype to, const Gp& number) {
  const InstId id = to == f64 ? X86::kIdVcvtsi2sd : X86::kIdVcvtsi2ss;
  if (from != u64) return m_.result(id, 16, m_.zero(16), number);
  const Vec result = m_.vec(16);
  const Label big = cc_.newLabel();
  const Label end = cc_.newLabel();
  cc_.test(number, number);
  cc_.js(big);
  m_.op(id, result, m_.zero(16), number);
  cc_.jmp(end);
  cc_.bind(big);
  // Half of it, where the last bit remembers the one that goes: rounds as all of it does.
  const Gp half = m_.copy(number);
  const Gp last = m_.copy(number);
  cc_.shr(half, Imm(1));
  cc_.and_(last.r32(), Imm(1));
  cc_.or_(half, last);
  const Vec of_half = m_.result(id, 16, m_.zero(16), half);
  m_.op(to == f64 ? X86::kIdVaddsd : X86::kIdVaddss, result, of_half, of_half);
  cc_.bind(end);
  return result;
}

/// To i64 and u64.
Gp KernelEmitter::float_to_integer(Dtype from, Dtype to, const Vec& number) {
  const bool is_double = from == f64;
  const InstId truncate = is_double ? X86::kIdVcvttsd2si : X86::kIdVcvttss2si;
  const InstId compare = is_double ? X86::kIdVucomisd : X86::kIdVucomiss;
  const int size = static_cast<int>(from.size());
  const auto constant = [&](double value) {
    return Machine::at(m_.splat(bits_of(from, value), {size, 1}), 0, size);
  };
  const Label end = cc_.newLabel();
  const Gp result = m_.gp(std::int64_t{0});
  const Gp inside = m_.gp();
  if (to == i64) {
    m_.op(compare, number, number);
    cc_.jp(end);
    cc_.mov(result, Imm(INT64_MAX));
    m_.op(compare, number, constant(0x1p63));
    cc_.jae(end);
    m_.op(truncate, inside, number);
    cc_.mov(result, inside);
  } else {
    // Also where it is NaN.
    m_.op(compare, number, constant(0));
    cc_.jbe(end);
    cc_.mov(result, Imm(-1));
    m_.op(compare, number, constant(0x1p64));
    cc_.jae(end);
    const Label big = cc_.newLabel();
    m_.op(compare, number, constant(0x1p63));
    cc_.jae(big);
    m_.op(truncate, inside, number);
    cc_.mov(result, inside);
    cc_.jmp(end);
    cc_.bind(big);
    const Vec lowered =
        m_.result(is_double ? X86::kIdVsubsd : X86::kIdVsubss, 16, number, constant(0x1p63));
    m_.op(truncate, inside, lowered);
    cc_.mov(result, Imm(INT64_MIN));
    cc_.xor_(result, inside);
  }
  cc_.bind(end);
  return result;
}

}  // namespace hom::cpu::x86
