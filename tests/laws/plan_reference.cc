// tests/laws/plan_reference.cc -- a walk over a plan's instructions
#include <hom/tests/laws/plan_reference.h>

#include <cstring>
#include <map>

#include <hom/backends/cpu/routines/kernel_routine.h>
#include <hom/tests/laws/random_kernel_reference.h>

namespace hom::laws {
namespace {

class Walker {
 public:
  Walker(const nest::Plan& plan, const std::vector<Tensor>& inputs, cpu::FailureRecord& record)
      : plan_(plan), record_(record), iterations_(plan.loop_count, 0) {
    for (const nest::PlannedBuffer& buffer : plan.buffers) {
      Tensor memory(Array::allocate(buffer.type));
      // Nothing may be read before it is written.
      if (buffer.bytes() > 0)
        std::memset(bytes_of(memory), 0x5a, static_cast<std::size_t>(buffer.bytes()));
      if (buffer.place == nest::PlannedBuffer::Place::input) memory = copy(inputs[buffer.index]);
      if (buffer.place == nest::PlannedBuffer::Place::constant)
        memory = copy(plan.constants[buffer.index]);
      memory_.push_back(std::move(memory));
    }
    std::int64_t failures = 0;
    for (const nest::Kernel& kernel : plan.kernels) {
      first_failure_.push_back(failures);
      failures += static_cast<std::int64_t>(kernel.failures.size());
    }
  }

  std::vector<Tensor> run() {
    walk(plan_.body);
    std::vector<Tensor> outputs;
    for (std::uint32_t buffer : plan_.outputs) outputs.push_back(memory_[buffer]);
    return outputs;
  }

 private:
  static std::byte* bytes_of(const Tensor& x) { return x.array().buffer->data(); }

  std::byte* at(const nest::Address& address) const {
    std::int64_t offset = address.offset;
    for (const nest::Address::Move& move : address.moves)
      offset += iterations_[move.loop] * move.stride;
    return bytes_of(memory_[address.buffer]) + offset;
  }
  std::vector<std::byte*> all(const std::vector<nest::Address>& addresses) const {
    std::vector<std::byte*> pointers;
    for (const nest::Address& address : addresses) pointers.push_back(at(address));
    return pointers;
  }
  bool holds(const nest::Address& predicate) const { return *at(predicate) != std::byte{0}; }

  void walk(const nest::Instructions& instructions) {
    for (const nest::Instruction& instruction : instructions)
      std::visit([&](const auto& is) { run_one(is); }, instruction.is);
  }

  void run_one(const nest::Launch& launch) {
    const nest::Kernel& kernel = plan_.kernels[launch.kernel];
    run_reference(kernel, all(launch.arguments).data(), record_, first_failure_[launch.kernel]);
  }

  void run_one(const nest::Call& call) {
    const nest::Routine& routine = *plan_.routines[call.routine];
    const std::vector<std::byte*> operands = all(call.operands);
    const std::vector<std::byte*> results = all(call.results);
    std::vector<std::byte> scratch(static_cast<std::size_t>(routine.scratch_bytes()) + 64);
    routine.run({operands.data(), operands.size()}, results, scratch.data());
    if (call.epilogue) run_one(*call.epilogue);
  }

  void run_one(const nest::Copy& copy) {
    std::memmove(at(copy.to), at(copy.from), static_cast<std::size_t>(copy.bytes));
  }

  void run_one(const nest::Repeat& repeat) {
    for (std::int64_t i = 0; i < repeat.count; ++i) {
      iterations_[repeat.id] = i;
      walk(repeat.body);
    }
  }

  void run_one(const nest::Strips& /*strips*/) { ensure(false, "eager routines have no slices"); }

  void run_one(const nest::While& loop) {
    for (std::int64_t i = 0; loop.bound < 0 || i < loop.bound; ++i) {
      walk(loop.condition);
      if (!holds(loop.predicate)) break;
      walk(loop.body);
    }
  }

  void run_one(const nest::Branch& branch) {
    walk(holds(branch.predicate) ? branch.then : branch.otherwise);
  }

  const nest::Plan& plan_;
  cpu::FailureRecord& record_;
  std::vector<std::int64_t> iterations_;
  std::vector<Tensor> memory_;
  std::vector<std::int64_t> first_failure_;
};

}  // namespace

std::vector<Tensor> run_reference(const nest::Plan& plan, const std::vector<Tensor>& inputs,
                                  cpu::FailureRecord& record) {
  return Walker(plan, inputs, record).run();
}

nest::LowerOptions eager_routines() {
  nest::LowerOptions options;
  options.routine = [](const Invocation& step, std::span<const nest::Layout> operands) {
    return cpu::kernel_routine(step, operands);
  };
  options.takes_layout = [](const Invocation&, std::size_t, const nest::Layout&) { return true; };
  return options;
}

}  // namespace hom::laws
