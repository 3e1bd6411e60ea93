// backends/cpu/jit/x86_plan.cc -- instructions of a plan, with a register for each role
#include <hom/backends/cpu/jit/x86_plan.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include <hom/backends/cpu/jit/code.h>

namespace hom::cpu::x86 {

namespace {

using asmjit::Imm;
using asmjit::Label;
using namespace asmjit::x86;  // registers

/// rbx: the pointers of all buffers; r12: the host. On the stack: pointers for one launch or call,
/// above them the iterations of loops.
class PlanEmitter {
 public:
  PlanEmitter(const nest::Plan& plan, std::span<const Label> kernels, Assembler& to)
      : plan_(plan), kernels_(kernels), to_(to) {}

  Label emit() {
    measure(plan_.body, 0);
    const Label start = to_.newLabel();
    to_.align(asmjit::AlignMode::kCode, 16);
    to_.bind(start);
    to_.push(rbp);
    to_.mov(rbp, rsp);
    to_.push(rbx);
    to_.push(r12);
    const std::size_t words = most_pointers_ + plan_.loop_count + most_whiles_;
    const auto bytes = static_cast<std::int64_t>((8 * words + 15) / 16 * 16);
    if (bytes > 0) to_.sub(rsp, Imm(bytes));
    to_.mov(rbx, rdi);
    to_.mov(r12, rsi);
    instructions(plan_.body, 0);
    if (bytes > 0) to_.add(rsp, Imm(bytes));
    to_.pop(r12);
    to_.pop(rbx);
    to_.pop(rbp);
    to_.ret();
    return start;
  }

 private:
  /// How much of the stack is needed.
  void measure(const nest::Instructions& body, std::size_t whiles) {
    most_whiles_ = std::max(most_whiles_, whiles);
    for (const nest::Instruction& instruction : body) {
      if (const auto* launch = std::get_if<nest::Launch>(&instruction.is)) {
        most_pointers_ = std::max(most_pointers_, launch->arguments.size());
      } else if (const auto* call = std::get_if<nest::Call>(&instruction.is)) {
        most_pointers_ =
            std::max(most_pointers_, call->operands.size() + call->results.size() +
                                         (call->epilogue ? call->epilogue->arguments.size() : 0));
      } else if (const auto* repeat = std::get_if<nest::Repeat>(&instruction.is)) {
        measure(repeat->body, whiles);
      } else if (const auto* loop = std::get_if<nest::While>(&instruction.is)) {
        measure(loop->condition, whiles + 1);
        measure(loop->body, whiles + 1);
      } else if (const auto* branch = std::get_if<nest::Branch>(&instruction.is)) {
        measure(branch->then, whiles);
        measure(branch->otherwise, whiles);
      }
    }
  }

  void instructions(const nest::Instructions& body, std::size_t whiles) {
    for (const nest::Instruction& instruction : body)
      std::visit([&](const auto& is) { run(is, whiles); }, instruction.is);
  }

  Mem word(std::size_t index) const { return qword_ptr(rsp, static_cast<std::int32_t>(8 * index)); }
  Mem loop_at(nest::LoopId loop) const { return word(most_pointers_ + loop); }

  void add(const Gp& to, std::int64_t number) {
    if (number == 0) return;
    if (number >= INT32_MIN && number <= INT32_MAX) {
      to_.add(to, Imm(number));
    } else {
      to_.mov(r11, Imm(number));
      to_.add(to, r11);
    }
  }

  /// Changes r10 and r11.
  void address(const Gp& to, const nest::Address& at) {
    to_.mov(to, qword_ptr(rbx, static_cast<std::int32_t>(8 * at.buffer)));
    add(to, at.offset);
    for (const nest::Address::Move& move : at.moves) {
      to_.mov(r10, loop_at(move.loop));
      if (move.stride >= INT32_MIN && move.stride <= INT32_MAX) {
        to_.imul(r10, r10, Imm(move.stride));
      } else {
        to_.mov(r11, Imm(move.stride));
        to_.imul(r10, r11);
      }
      to_.add(to, r10);
    }
  }

  /// Writes addresses to the stack, and where they begin to a register: null where there are none.
  template <class Addresses>
  void list(const Gp& to, const Addresses& addresses, std::size_t& used) {
    if (addresses.empty()) {
      to_.xor_(to.r32(), to.r32());
      return;
    }
    const std::size_t first = used;
    for (const nest::Address& at : addresses) {
      address(rax, at);
      to_.mov(word(used++), rax);
    }
    to_.lea(to, word(first));
  }

  void run(const nest::Launch& launch, std::size_t) {
    std::size_t used = 0;
    list(rdi, launch.arguments, used);
    const nest::Kernel& kernel = plan_.kernels[launch.kernel];
    if (launch.grain > 0) {
      to_.mov(rdx, rdi);
      to_.mov(rdi, r12);
      to_.lea(rsi, ptr(kernels_[launch.kernel]));
      to_.mov(rcx, Imm(kernel.axes[nest::split_loop(kernel)->axes[0]]));
      to_.mov(r8, Imm(launch.grain));
      to_.call(qword_ptr(r12, static_cast<std::int32_t>(offsetof(PlanHost, launch))));
      return;
    }
    to_.xor_(esi, esi);
    // Positions of the axis that may be split; other kernels ignore them.
    const std::int64_t rows =
        kernel.is_splittable ? kernel.axes[nest::split_loop(kernel)->axes[0]] : 0;
    to_.mov(rdx, Imm(rows));
    to_.lea(rcx, ptr(r12, static_cast<std::int32_t>(offsetof(PlanHost, record))));
    to_.call(kernels_[launch.kernel]);
  }

  void run(const nest::Call& call, std::size_t) {
    std::size_t used = 0;
    list(rdx, call.operands, used);
    list(rcx, call.results, used);
    if (call.epilogue) {
      list(r9, call.epilogue->arguments, used);
    } else {
      to_.xor_(r9d, r9d);
    }
    if (call.scratch) {
      address(r8, *call.scratch);
    } else {
      to_.xor_(r8d, r8d);
    }
    to_.mov(rdi, r12);
    to_.mov(esi, Imm(calls_++));
    to_.call(qword_ptr(r12, static_cast<std::int32_t>(offsetof(PlanHost, call))));
  }

  void run(const nest::Strips& /*strips*/, std::size_t) {
    to_.mov(rdi, r12);
    to_.mov(esi, Imm(strips_++));
    to_.mov(rdx, rbx);
    to_.lea(rcx, loop_at(0));
    to_.call(qword_ptr(r12, static_cast<std::int32_t>(offsetof(PlanHost, strips))));
  }

  void run(const nest::Copy& copy, std::size_t) {
    address(rdi, copy.to);
    address(rsi, copy.from);
    switch (copy.bytes) {
      case 0:
        return;
      case 1:
        to_.mov(al, byte_ptr(rsi));
        return void(to_.mov(byte_ptr(rdi), al));
      case 4:
        to_.mov(eax, dword_ptr(rsi));
        return void(to_.mov(dword_ptr(rdi), eax));
      case 8:
        to_.mov(rax, qword_ptr(rsi));
        return void(to_.mov(qword_ptr(rdi), rax));
      default:
        break;
    }
    // A call costs as much as some moves.
    constexpr std::int64_t most_moved = 256;
    if (copy.bytes >= 16 && copy.bytes <= most_moved) {
      // Sixteen bytes at a time: the halves above stay clean. The last ones overlap those before.
      for (std::int64_t at = 0; at < copy.bytes; at += 16) {
        const auto offset = static_cast<std::int32_t>(std::min(at, copy.bytes - 16));
        to_.vmovups(xmm0, xmmword_ptr(rsi, offset));
        to_.vmovups(xmmword_ptr(rdi, offset), xmm0);
      }
      return;
    }
    to_.mov(rdx, Imm(copy.bytes));
    to_.mov(rax, Imm(reinterpret_cast<std::uintptr_t>(&std::memmove)));
    to_.call(rax);
  }

  void run(const nest::Repeat& repeat, std::size_t whiles) {
    if (repeat.count <= 0) {
      // Its calls are counted all the same.
      count_calls(repeat.body);
      return;
    }
    const Label next = to_.newLabel();
    to_.mov(loop_at(repeat.id), Imm(0));
    to_.bind(next);
    instructions(repeat.body, whiles);
    to_.mov(rax, loop_at(repeat.id));
    to_.inc(rax);
    to_.mov(loop_at(repeat.id), rax);
    to_.mov(r10, Imm(repeat.count));
    to_.cmp(rax, r10);
    to_.jl(next);
  }

  void count_calls(const nest::Instructions& body) {
    for (const nest::Instruction& instruction : body) {
      if (std::holds_alternative<nest::Call>(instruction.is)) {
        ++calls_;
      } else if (std::holds_alternative<nest::Strips>(instruction.is)) {
        ++strips_;
      } else if (const auto* repeat = std::get_if<nest::Repeat>(&instruction.is)) {
        count_calls(repeat->body);
      } else if (const auto* loop = std::get_if<nest::While>(&instruction.is)) {
        count_calls(loop->condition);
        count_calls(loop->body);
      } else if (const auto* branch = std::get_if<nest::Branch>(&instruction.is)) {
        count_calls(branch->then);
        count_calls(branch->otherwise);
      }
    }
  }

  void run(const nest::While& loop, std::size_t whiles) {
    const Mem rounds = word(most_pointers_ + plan_.loop_count + whiles);
    const Label next = to_.newLabel();
    const Label end = to_.newLabel();
    to_.mov(rounds, Imm(0));
    to_.bind(next);
    instructions(loop.condition, whiles + 1);
    address(rax, loop.predicate);
    to_.cmp(byte_ptr(rax), Imm(0));
    to_.je(end);
    if (loop.bound >= 0) {
      to_.mov(rax, Imm(loop.bound));
      to_.cmp(rounds, rax);
      to_.je(end);
    }
    instructions(loop.body, whiles + 1);
    to_.inc(rounds);
    to_.jmp(next);
    to_.bind(end);
  }

  void run(const nest::Branch& branch, std::size_t whiles) {
    const Label otherwise = to_.newLabel();
    const Label end = to_.newLabel();
    address(rax, branch.predicate);
    to_.cmp(byte_ptr(rax), Imm(0));
    to_.je(otherwise);
    instructions(branch.then, whiles);
    to_.jmp(end);
    to_.bind(otherwise);
    instructions(branch.otherwise, whiles);
    to_.bind(end);
  }

  const nest::Plan& plan_;
  std::span<const Label> kernels_;
  Assembler& to_;
  std::size_t most_pointers_ = 0;
  std::size_t most_whiles_ = 0;
  std::uint32_t calls_ = 0;
  std::uint32_t strips_ = 0;
};

}  // namespace

asmjit::Label emit_plan_function(const nest::Plan& plan, std::span<const asmjit::Label> kernels,
                                 asmjit::x86::Assembler& to) {
  return PlanEmitter(plan, kernels, to).emit();
}

}  // namespace hom::cpu::x86
