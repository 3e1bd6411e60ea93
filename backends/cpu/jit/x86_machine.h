// backends/cpu/jit/x86_machine.h -- vectors of any element and width as instructions
//
// A thin layer over asmjit's compiler, which allocates registers. Operations are told the bytes of
// an element and the lanes; what is needed of AVX2 or AVX-512 follows from those. A vector of fewer
// than 16 bytes lies in the low part of an xmm register, with anything above it. Masks have 0 or −1
// in each lane, for AVX-512 too.
#pragma once

#include <cstdint>

#include <asmjit/x86.h>

#include <hom/core/object.h>

namespace hom::cpu::x86 {

using asmjit::Imm;
using asmjit::InstId;
using asmjit::Label;
using asmjit::Operand;
using asmjit::x86::Gp;
using asmjit::x86::Mem;
using asmjit::x86::Vec;
namespace X86 = asmjit::x86::Inst;

/// The shape of a vector.
struct Lanes {
  /// Bytes of an element: 1, 2, 4 or 8.
  int size;
  int count;
  int bytes() const { return size * count; }
};

/// Tests of two elements, in this order.
enum class Test : std::uint8_t { eq, ne, lt, le, gt, ge, unordered };

class Machine {
 public:
  explicit Machine(asmjit::x86::Compiler& compiler) : cc(compiler) {}

  asmjit::x86::Compiler& cc;

  template <class... Operands>
  void op(InstId id, const Operands&... operands) {
    cc.emit(id, operands...);
  }

  // ---- registers and constants ----

  Gp gp() { return cc.newInt64(); }
  Gp gp(std::int64_t number);
  Gp copy(const Gp& from);
  /// A register for so many bytes, at most 64.
  Vec vec(int bytes);
  Vec vec(Lanes lanes) { return vec(lanes.bytes()); }
  /// The same register, narrower.
  static Vec part(const Vec& whole, int bytes);
  /// In memory, among the code: element `bits` in each lane; at least 16 bytes.
  Mem splat(std::int64_t bits, Lanes lanes);
  /// So many bytes, at least 16.
  Mem constant(const void* data, int bytes);
  Vec in_register(const Operand& what, int bytes);
  Vec zero(int bytes);
  /// Memory of this run.
  Mem slot(std::int64_t bytes);
  /// The place `offset` bytes further.
  static Mem at(Mem base, std::int64_t offset, int bytes = 0);

  // ---- memory ----

  /// Of exactly so many bytes; what lies above is zero.
  Vec load(Mem from, int bytes);
  void store(Mem to, const Vec& what, int bytes);
  /// An integer element, extended to 64 bits.
  Gp load_integer(Mem from, int bytes, bool is_signed);
  void store_integer(Mem to, const Gp& what, int bytes);

  // ---- integer registers ----

  Gp add(const Gp& a, const Gp& b);
  /// factor·a
  Gp scaled(const Gp& a, std::int64_t factor);
  /// a + number
  Gp plus(const Gp& a, std::int64_t number);

  // ---- vectors ----

  /// One instruction with a new result.
  template <class... Operands>
  Vec result(InstId id, int bytes, const Operands&... operands) {
    const Vec to = vec(bytes);
    cc.emit(id, to, operands...);
    return to;
  }
  Vec and_(const Vec& a, const Operand& b, int bytes) {
    return result(X86::kIdVandps, bytes, a, b);
  }
  /// ~a & b
  Vec and_not(const Vec& a, const Operand& b, int bytes) {
    return result(X86::kIdVandnps, bytes, a, b);
  }
  Vec or_(const Vec& a, const Operand& b, int bytes) { return result(X86::kIdVorps, bytes, a, b); }
  Vec xor_(const Vec& a, const Operand& b, int bytes) {
    return result(X86::kIdVxorps, bytes, a, b);
  }
  Vec not_(const Vec& a, int bytes);
  Vec add(Lanes lanes, const Vec& a, const Operand& b);
  Vec sub(Lanes lanes, const Vec& a, const Operand& b);
  Vec mul(Lanes lanes, const Vec& a, const Operand& b);
  /// By the same number of bits; of 2, 4 or 8 bytes.
  Vec shift_left(Lanes lanes, const Vec& a, int bits);
  Vec shift_right(Lanes lanes, const Vec& a, int bits);

  /// A mask.
  Vec compare(Dtype dtype, int lanes, Test test, const Vec& a, const Operand& b);
  /// mask ? a : b
  Vec select(Lanes lanes, const Vec& mask, const Operand& a, const Vec& b);
  /// The mask as bits, one for each byte.
  Gp bits_of_mask(const Vec& mask, int bytes);
  /// Jumps where no lane, or not every lane, of a mask holds.
  void jump_unless_all(const Vec& mask, int bytes, const Label& to);
  void jump_unless_any(const Vec& mask, int bytes, const Label& to);

  /// The element in the lowest lane in all of them.
  Vec broadcast(Lanes lanes, const Vec& from);
  Vec broadcast(Lanes lanes, const Gp& from);
  /// Integers to more bytes, and to fewer: the low ones of each.
  Vec widen(int lanes, int from, int to, bool is_signed, const Vec& what);
  Vec narrow(int lanes, int from, int to, const Vec& what);
  /// The upper half of the lanes.
  Vec upper_half(Lanes lanes, const Vec& what);

 private:
  Vec integer_compare(Lanes lanes, bool is_signed, Test test, const Vec& a, const Operand& b);
  Vec from_k(Lanes lanes, const asmjit::x86::KReg& k);
};

}  // namespace hom::cpu::x86
