// backends/nests/strip_slices.cc -- instructions that may run slice by slice
#include <hom/backends/nests/slices.h>
#include <hom/backends/nests/strip_parts.h>

namespace hom::nest {
namespace {

bool is_fixed(const Address& address) { return address.offset == 0 && address.moves.empty(); }

void add(BufferAccesses& to, const Address& address, bool reads, bool writes,
         std::int64_t slice = 0) {
  to.push_back({address.buffer, reads, writes, is_fixed(address), slice});
}

std::optional<BufferAccesses> sliced(const Plan& plan, const Launch& launch, std::int64_t count) {
  const Kernel& kernel = plan.kernels[launch.kernel];
  const Loop* const loop = split_loop(kernel);
  // A strip that fails would be reported before an earlier step of a later strip.
  if (loop == nullptr || loop->axes.empty() || kernel.block > 0 || !kernel.failures.empty())
    return std::nullopt;
  const Axis axis = loop->axes[0];
  if (kernel.axes[axis] % count != 0) return std::nullopt;
  const std::int64_t positions = kernel.axes[axis] / count;
  BufferAccesses all;
  for (std::uint32_t i = 0; i < launch.arguments.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    const std::int64_t slice = slice_stride(kernel, i, axis).value_or(0) * positions *
                               static_cast<std::int64_t>(buffer.dtype.size());
    if (buffer.is_written && slice == 0) return std::nullopt;
    add(all, launch.arguments[i], buffer.is_read, buffer.is_written, slice);
  }
  return agree(all, all) ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace

std::optional<Routine::Slices> slices_of(const Plan& plan, const Call& call) {
  if (call.results.size() != 1 || !is_fixed(call.results[0]) || call.epilogue) return std::nullopt;
  return plan.routines[call.routine]->slices();
}

std::optional<BufferAccesses> sliced(const Plan& plan, const Instruction& instruction,
                                     std::int64_t count) {
  if (const auto* launch = std::get_if<Launch>(&instruction.is))
    return sliced(plan, *launch, count);
  const auto* call = std::get_if<Call>(&instruction.is);
  const auto slices = call ? slices_of(plan, *call) : std::nullopt;
  if (!slices || slices->count != count) return std::nullopt;
  BufferAccesses all;
  const auto element = [&](const Address& at) {
    return static_cast<std::int64_t>(plan.buffers[at.buffer].type.dtype.size());
  };
  for (std::size_t i = 0; i < call->operands.size(); ++i)
    add(all, call->operands[i], true, false, slices->operands[i] * element(call->operands[i]));
  add(all, call->results[0], false, true, plan.buffers[call->results[0].buffer].bytes() / count);
  return all;
}

bool agree(const BufferAccesses& a, const BufferAccesses& b) {
  return std::all_of(a.begin(), a.end(), [&](const BufferAccess& x) {
    return std::all_of(b.begin(), b.end(), [&](const BufferAccess& y) {
      return !conflict(x, y) || (x.slice > 0 && x.slice == y.slice && x.is_fixed && y.is_fixed);
    });
  });
}

}  // namespace hom::nest
