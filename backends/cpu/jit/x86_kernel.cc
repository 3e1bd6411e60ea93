// backends/cpu/jit/x86_kernel.cc -- arguments, stores, checks and shortcuts
#include <hom/backends/cpu/jit/x86_kernel.h>

#include <hom/backends/cpu/jit/code.h>

namespace hom::cpu::x86 {

using nest::Combine;
using nest::Value;

KernelEmitter::KernelEmitter(const nest::Kernel& kernel, asmjit::x86::Compiler& compiler,
                             int vector_bytes, std::int64_t first_failure)
    : ValueForms(kernel),
      m_(compiler),
      cc_(compiler),
      vector_bytes_(vector_bytes),
      first_failure_(first_failure),
      positions_(kernel.axes.size()),
      values_(kernel.nodes.size()) {
  find_linear();
}

asmjit::FuncNode* KernelEmitter::emit() {
  asmjit::FuncSignatureBuilder signature(asmjit::CallConvId::kHost);
  signature.setRet(asmjit::TypeId::kVoid);
  signature.addArg(asmjit::TypeId::kUIntPtr);
  signature.addArg(asmjit::TypeId::kInt64);
  signature.addArg(asmjit::TypeId::kInt64);
  signature.addArg(asmjit::TypeId::kUIntPtr);
  asmjit::FuncNode* const function = cc_.addFunc(signature);
  function->frame().setAvxEnabled();
  if (vector_bytes_ > 32) function->frame().setAvx512Enabled();
  function->frame().setAvxCleanup();
  arguments(function);
  block(kernel_.body);
  cc_.ret();
  cc_.endFunc();
  // What asmjit (2022-12) moves out of the way of a call may get a register that the caller expects
  // to find unchanged, without asmjit's knowing that the function changes it.
  if (calls_) {
    function->frame().addDirtyRegs(asmjit::x86::rbx, asmjit::x86::rbp, asmjit::x86::r12,
                                   asmjit::x86::r13, asmjit::x86::r14, asmjit::x86::r15);
  }
  return function;
}

void KernelEmitter::arguments(asmjit::FuncNode* function) {
  const Gp pointers = m_.gp();
  low_ = m_.gp();
  high_ = m_.gp();
  record_ = m_.gp();
  function->setArg(0, pointers);
  function->setArg(1, low_);
  function->setArg(2, high_);
  function->setArg(3, record_);
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const nest::Buffer& buffer = kernel_.buffers[i];
    if (buffer.is_local) {
      locals_.push_back(m_.slot(std::max<std::int64_t>(buffer.elements, 1) *
                                static_cast<std::int64_t>(buffer.dtype.size())));
      buffers_.push_back(Gp());
    } else {
      const Gp start = m_.gp();
      cc_.mov(start, asmjit::x86::qword_ptr(pointers, static_cast<std::int32_t>(8 * i)));
      buffers_.push_back(start);
      locals_.push_back(std::nullopt);
    }
  }
}

void KernelEmitter::place(const nest::Define& define) { this->define(define.value); }

// ---- stores ----

void KernelEmitter::place(const nest::Store& store) {
  const Label skipped = cc_.newLabel();
  const bool is_guarded = store.when && !is_vector(*store.when);
  if (is_guarded) jump_unless(*store.when, skipped);
  {
    // What is computed where the guard holds is not known after it.
    const Scope scope(*this);
    const bool in_lanes = lanes() > 1 && (varies(store.index) || varies(store.value) ||
                                          (store.when && varies(*store.when)));
    if (in_lanes) {
      store_vector(store);
    } else {
      // What does not vary is combined once for each position all the same.
      const int times = store.combine != Combine::set ? lanes() : 1;
      for (int l = 0; l < times; ++l) store_number(store);
    }
  }
  cc_.bind(skipped);
}

void KernelEmitter::store_element(std::uint32_t buffer, Combine combine, const Mem& to,
                                  const Operand& number) {
  const Dtype dtype = kernel_.buffers[buffer].dtype;
  Operand value = number;
  if (combine != Combine::set)
    value = combined_number(combine, dtype, load_element(buffer, to), number);
  const int size = static_cast<int>(dtype.size());
  if (value.as<asmjit::x86::Reg>().isGp()) {
    m_.store_integer(to, value.as<Gp>(), size);
  } else {
    m_.store(to, value.as<Vec>(), size);
  }
}

void KernelEmitter::store_number(const nest::Store& store) {
  const Operand value = number(store.value);
  store_element(store.buffer, store.combine, address(store.buffer, store.index), value);
}

void KernelEmitter::store_vector(const nest::Store& store) {
  const Dtype dtype = kernel_.buffers[store.buffer].dtype;
  const bool is_masked = store.when && is_vector(*store.when);
  if (is_masked || stride(store.index) != 1) return store_lanes(store);
  const Dtype in = computing(dtype);
  const int bytes = shape(dtype, lanes()).bytes();
  Vec value = dtype.is_bool() ? m_.result(X86::kIdVpabsb, bytes, mask(store.value, 1))
                              : held_in_register(store.value);
  const Mem to = address(store.buffer, store.index);
  if (store.combine != Combine::set) {
    const Vec there = m_.load(to, bytes);
    const bool is_half = in != dtype;
    const Operand term = is_half ? m_.in_register(computed(store.value), 2 * bytes) : value;
    value =
        combined(store.combine, in, lanes(), is_half ? decode(dtype, lanes(), there) : there, term);
    if (is_half) value = encode(dtype, lanes(), value);
  }
  m_.store(to, value, bytes);
}

/// Lane by lane, in order, because places may meet.
void KernelEmitter::store_lanes(const nest::Store& store) {
  const Dtype dtype = kernel_.buffers[store.buffer].dtype;
  const int size = static_cast<int>(dtype.size());
  const Lanes form{size, lanes()};
  const bool is_masked = store.when && is_vector(*store.when);
  const std::optional<std::int64_t> along = stride(store.index);
  std::optional<Gp> bits;
  if (is_masked) {
    const int wide = mask_bytes(*store.when);
    bits = m_.bits_of_mask(mask(*store.when, wide), wide * form.count);
  }
  const Mem elements = scratch(0);
  const Vec value = dtype.is_bool() ? m_.result(X86::kIdVpabsb, form.bytes(), mask(store.value, 1))
                                    : held_in_register(store.value);
  m_.store(elements, value, form.bytes());
  const Mem indices = scratch(1);
  std::optional<Gp> first;
  const Gp base = pointer(store.buffer, {});
  if (along) {
    first = m_.gp();
    cc_.lea(*first, address(store.buffer, store.index));
  } else {
    m_.store(indices, held_in_register(store.index), 8 * form.count);
  }
  std::uint32_t shift = 0;
  while ((1 << shift) < size) ++shift;
  for (int l = 0; l < form.count; ++l) {
    const Label next = cc_.newLabel();
    if (is_masked) {
      cc_.bt(*bits, Imm(l * mask_bytes(*store.when)));
      cc_.jnc(next);
    }
    const Gp at = along ? m_.gp(static_cast<std::int64_t>(static_cast<std::uint64_t>(*along) *
                                                          static_cast<std::uint64_t>(l)))
                        : m_.load_integer(Machine::at(indices, 8 * l), 8, true);
    const Mem to =
        asmjit::x86::ptr(along ? *first : base, at, shift, 0, static_cast<std::uint32_t>(size));
    const Mem from = Machine::at(elements, static_cast<std::int64_t>(l) * size, size);
    store_element(store.buffer, store.combine, to,
                  dtype == f32 || dtype == f64
                      ? Operand(m_.load(from, size))
                      : Operand(m_.load_integer(from, size, dtype.is_signed_integer())));
    cc_.bind(next);
  }
}

// ---- checks ----

void KernelEmitter::record_failure(std::int64_t number, const Gp& value) {
  cc_.mov(asmjit::x86::qword_ptr(record_), Imm(number));
  cc_.mov(asmjit::x86::qword_ptr(record_, 8), value);
}

void KernelEmitter::place(const nest::Check& check) {
  const std::int64_t number = first_failure_ + check.failure + 1;
  if (lanes() > 1) return check_lanes(check, number);
  const Label holds = cc_.newLabel();
  const Scope scope(*this);
  const Gp ok = integer(check.ok);
  cc_.test(ok.r32(), ok.r32());
  cc_.jnz(holds);
  // The first failed check is kept.
  cc_.cmp(asmjit::x86::qword_ptr(record_), Imm(0));
  cc_.jne(holds);
  record_failure(number, integer(check.offending));
  cc_.bind(holds);
}

/// One position after the other, an earlier lane would have failed first.
void KernelEmitter::check_lanes(const nest::Check& check, std::int64_t number) {
  const Label holds = cc_.newLabel();
  const Scope scope(*this);
  const Gp lane = m_.gp(std::int64_t{0});
  if (!is_vector(check.ok)) {
    const Gp ok = integer(check.ok);
    cc_.test(ok.r32(), ok.r32());
    cc_.jnz(holds);
  } else {
    const int size = mask_bytes(check.ok);
    const int bytes = size * lanes();
    const Gp bits = m_.bits_of_mask(mask(check.ok, size), bytes);
    cc_.not_(bits);
    if (bytes < 64)
      cc_.and_(bits, m_.gp(static_cast<std::int64_t>((std::uint64_t{1} << bytes) - 1)));
    cc_.test(bits, bits);
    cc_.jz(holds);
    cc_.tzcnt(lane, bits);
    if (size > 1) cc_.shr(lane, Imm(__builtin_ctz(static_cast<unsigned>(size))));
  }
  cc_.cmp(lane, first_failed_);
  cc_.jge(holds);
  cc_.mov(first_failed_, lane);
  if (is_vector(check.offending)) {
    m_.store(scratch(0), held_in_register(check.offending), 8 * lanes());
    record_failure(number, m_.load_integer(lane_of(m_, scratch(0), 8, lane, 0), 8, true));
  } else {
    const Gp moved = m_.scaled(lane, *stride(check.offending));
    record_failure(number, m_.add(integer(check.offending), moved));
  }
  cc_.bind(holds);
}

// ---- shortcuts ----

void KernelEmitter::place(const nest::Shortcut& shortcut) {
  // What is left over after the vectors is seldom worth a second text.
  if (kernel_.vector_axis && lanes() == 1) {
    const Scope scope(*this);
    return block(shortcut.full);
  }
  const Label in_full = cc_.newLabel();
  const Label end = cc_.newLabel();
  {
    const Scope scope(*this);
    block(shortcut.attempt);
    if (is_vector(shortcut.holds)) {
      const int size = mask_bytes(shortcut.holds);
      m_.jump_unless_all(mask(shortcut.holds, size), size * lanes(), in_full);
    } else {
      jump_unless(shortcut.holds, in_full);
    }
    const Scope quick(*this);
    block(shortcut.quick);
    cc_.jmp(end);
  }
  cc_.bind(in_full);
  {
    const Scope scope(*this);
    block(shortcut.full);
  }
  cc_.bind(end);
}

}  // namespace hom::cpu::x86
