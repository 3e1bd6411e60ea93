// backends/nests/dependence.cc -- the buffers of an instruction
#include <hom/backends/nests/dependence.h>

namespace hom::nest {
namespace {

void add(BufferAccesses& to, const Address& address, bool reads, bool writes) {
  to.push_back({address.buffer, reads, writes, address.offset == 0 && address.moves.empty()});
}

void add(BufferAccesses& to, const Plan& plan, const Launch& launch) {
  const Kernel& kernel = plan.kernels[launch.kernel];
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    add(to, launch.arguments[i], kernel.buffers[i].is_read, kernel.buffers[i].is_written);
}

}  // namespace

BufferAccesses accesses_of(const Plan& plan, const Instruction& instruction) {
  BufferAccesses all;
  if (const auto* launch = std::get_if<Launch>(&instruction.is)) {
    add(all, plan, *launch);
  } else if (const auto* call = std::get_if<Call>(&instruction.is)) {
    for (const Address& operand : call->operands) add(all, operand, true, false);
    for (const Address& result : call->results) add(all, result, false, true);
    if (call->scratch) add(all, *call->scratch, false, true);
    if (call->epilogue) add(all, plan, *call->epilogue);
  } else if (const auto* copy = std::get_if<Copy>(&instruction.is)) {
    add(all, copy->from, true, false);
    add(all, copy->to, false, true);
  }
  return all;
}

bool has_instructions_inside(const Instruction& instruction) {
  return !std::holds_alternative<Launch>(instruction.is) &&
         !std::holds_alternative<Call>(instruction.is) &&
         !std::holds_alternative<Copy>(instruction.is);
}

}  // namespace hom::nest
