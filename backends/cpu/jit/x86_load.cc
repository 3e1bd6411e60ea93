// backends/cpu/jit/x86_load.cc -- elements from memory: one, consecutive, strided, gathered
#include <hom/backends/cpu/jit/x86_kernel.h>

namespace hom::cpu::x86 {

using nest::Node;
using nest::Value;

Operand KernelEmitter::load_element(std::uint32_t buffer, const Mem& from) {
  const Dtype dtype = kernel_.buffers[buffer].dtype;
  const int size = static_cast<int>(dtype.size());
  if (dtype == f32 || dtype == f64) return m_.load(from, size);
  if (!dtype.is_bool()) return m_.load_integer(from, size, dtype.is_signed_integer());
  const Gp bit = m_.gp(std::int64_t{0});
  Mem byte = from;
  byte.setSize(1);
  cc_.cmp(byte, Imm(0));
  cc_.setne(bit.r8());
  return bit;
}

Operand KernelEmitter::load_number(const Node& load) {
  const auto buffer = static_cast<std::uint32_t>(load.number);
  if (load.operands.size() == 1) return load_element(buffer, address(buffer, load.operands[0]));
  // Where the condition does not hold, the place may be none.
  const bool is_float = load.dtype == f32 || load.dtype == f64;
  const Operand result = is_float ? Operand(m_.zero(16)) : Operand(m_.gp(std::int64_t{0}));
  const Label none = cc_.newLabel();
  jump_unless(load.operands[1], none);
  {
    const Scope scope(*this);
    move(result, load_element(buffer, address(buffer, load.operands[0])));
  }
  cc_.bind(none);
  return result;
}

/// Elements at any places, one by one: all, or those of the lanes where a mask holds, and zero
/// elsewhere.
Vec KernelEmitter::load_each(const Node& load, std::optional<Value> where) {
  const auto buffer = static_cast<std::uint32_t>(load.number);
  const Value index = load.operands[0];
  const int size = static_cast<int>(load.dtype.size());
  const Lanes lanes{size, this->lanes()};
  const std::optional<std::int64_t> along = stride(index);
  std::optional<Gp> bits;
  if (where) {
    const int bytes = mask_bytes(*where);
    bits = m_.bits_of_mask(mask(*where, bytes), bytes * lanes.count);
  }
  Mem first;
  Places places{};
  if (along) {
    // Its place may be none, but nothing is read there.
    const Gp start = m_.gp();
    cc_.lea(start, address(buffer, index));
    first = asmjit::x86::ptr(start);
  } else {
    places = places_of(index);
  }
  std::uint32_t shift = 0;
  while ((1 << shift) < size) ++shift;
  Gp base = pointer(buffer, {});
  auto offset = static_cast<std::int32_t>(places.constant * size);
  if (places.constant > INT32_MAX / size || places.constant < INT32_MIN / size) {
    const Gp moved = m_.gp(places.constant * size);
    base = m_.add(base, moved);
    offset = 0;
  }
  const auto place = [&](int l) -> Mem {
    if (along && *along * size * l <= INT32_MAX && *along * size * l >= INT32_MIN)
      return Machine::at(first, *along * size * l, size);
    const Gp at =
        along ? m_.gp(*along * l) : m_.load_integer(Machine::at(places.lanes, 8 * l), 8, true);
    if (along) cc_.lea(at, asmjit::x86::ptr(first.baseReg().as<Gp>(), at, shift));
    return along ? asmjit::x86::ptr(at, 0, static_cast<std::uint32_t>(size))
                 : asmjit::x86::ptr(base, at, shift, offset, static_cast<std::uint32_t>(size));
  };
  if (where) {
    const Mem result = scratch(1);
    m_.store(result, m_.zero(lanes.bytes()), lanes.bytes());
    for (int l = 0; l < lanes.count; ++l) {
      const Label none = cc_.newLabel();
      cc_.bt(*bits, Imm(l * mask_bytes(*where)));
      cc_.jnc(none);
      m_.store_integer(Machine::at(result, l * size), m_.load_integer(place(l), size, false), size);
      cc_.bind(none);
    }
    return m_.load(result, lanes.bytes());
  }
  if (size < 4 || lanes.bytes() > 32) {
    const Mem result = scratch(1);
    for (int l = 0; l < lanes.count; ++l)
      m_.store_integer(Machine::at(result, l * size), m_.load_integer(place(l), size, false), size);
    return m_.load(result, lanes.bytes());
  }
  // In registers: pairs, then halves.
  const auto quarter = [&](int l, int count) {
    Vec part = m_.load(place(l), size);
    if (size == 8) {
      if (count > 1) part = m_.result(X86::kIdVmovhpd, 16, part, place(l + 1));
      return part;
    }
    for (int i = 1; i < count; ++i)
      part = m_.result(X86::kIdVinsertps, 16, part, place(l + i), Imm(i << 4));
    return part;
  };
  const int in_half = 16 / size;
  if (lanes.count <= in_half) return quarter(0, lanes.count);
  const Vec low = quarter(0, in_half);
  const Vec high = quarter(in_half, lanes.count - in_half);
  return m_.result(X86::kIdVinsertf128, 32, low.ymm(), high, Imm(1));
}

Vec KernelEmitter::load_vector(const Node& load) {
  const auto buffer = static_cast<std::uint32_t>(load.number);
  const Value index = load.operands[0];
  const Lanes lanes = shape(load.dtype, this->lanes());
  const int bytes = lanes.bytes();
  const bool has_condition = load.operands.size() == 2;
  const bool is_masked = has_condition && varies(load.operands[1]);
  const bool is_run = stride(index) == 1;
  const auto all = [&] {
    return is_run ? m_.load(address(buffer, index), bytes) : load_each(load, std::nullopt);
  };
  const auto as_mask = [&](const Vec& loaded) {
    if (!load.dtype.is_bool()) return loaded;
    return m_.compare(u8, lanes.count, Test::ne, loaded, m_.zero(bytes));
  };
  if (!has_condition) return as_mask(all());
  const Vec result = m_.zero(bytes);
  const Label end = cc_.newLabel();
  if (!is_masked) {
    jump_unless(load.operands[1], end);
    const Scope scope(*this);
    move(result, all());
  } else if (!is_run) {
    const Scope scope(*this);
    return as_mask(load_each(load, load.operands[1]));
  } else {
    const Label some = cc_.newLabel();
    const int wide = mask_bytes(load.operands[1]);
    const Vec where = mask(load.operands[1], wide);
    m_.jump_unless_all(where, wide * lanes.count, some);
    {
      const Scope scope(*this);
      move(result, all());
      cc_.jmp(end);
    }
    cc_.bind(some);
    const Scope scope(*this);
    move(result, load_each(load, load.operands[1]));
  }
  cc_.bind(end);
  return as_mask(result);
}

}  // namespace hom::cpu::x86
