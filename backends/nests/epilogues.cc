// backends/nests/epilogues.cc -- which kernels keep to the rows of what they read
#include <hom/backends/nests/epilogues.h>

#include <algorithm>

#include <hom/backends/nests/dependence.h>
#include <hom/backends/nests/slices.h>

namespace hom::nest {
namespace {

/// Smaller results stay in the cache anyway.
constexpr std::int64_t large_result = 256 << 10;
/// So many instructions before a kernel the routine is looked for.
constexpr std::size_t farthest_call = 4;

/// Positions of the kernel's first axis for each row of its argument, if it reads only elements of
/// a row there.
std::optional<std::int64_t> positions_per_row(const Kernel& kernel, std::uint32_t argument,
                                              std::int64_t rows, std::int64_t columns) {
  const Loop* loop = split_loop(kernel);
  if (loop == nullptr) return std::nullopt;
  const Axis axis = loop->axes[0];
  const std::int64_t extent = kernel.axes[axis];
  if (extent != rows && extent != rows * columns) return std::nullopt;
  const std::int64_t scale = extent / rows;
  const std::optional<std::int64_t> stride = slice_stride(kernel, argument, axis);
  if (!stride || *stride * scale != columns) return std::nullopt;
  return scale;
}

bool mentions(const std::vector<Address>& addresses, std::uint32_t buffer) {
  return std::any_of(addresses.begin(), addresses.end(),
                     [&](const Address& address) { return address.buffer == buffer; });
}

/// Whether the kernel of a launch may follow the call row by row; then it does.
bool attach(const Plan& plan, Call& call, const Launch& launch) {
  const Routine& routine = *plan.routines[call.routine];
  if (!routine.has_rows() || call.results.size() != 1 || call.epilogue) return false;
  const Address& result = call.results[0];
  const PlannedBuffer& buffer = plan.buffers[result.buffer];
  if (result.offset != 0 || !result.moves.empty() || buffer.bytes() < large_result) return false;
  const Shape& shape = buffer.type.shape;
  if (shape.empty()) return false;
  const std::int64_t columns = shape.back();
  const std::int64_t rows = buffer.type.size() / columns;
  if (rows <= routine.panel()) return false;
  const Kernel& kernel = plan.kernels[launch.kernel];
  std::optional<std::int64_t> scale;
  for (std::uint32_t i = 0; i < launch.arguments.size(); ++i) {
    const Address& argument = launch.arguments[i];
    const bool writes = kernel.buffers[i].is_written;
    if (writes && (mentions(call.operands, argument.buffer) || argument.buffer == result.buffer))
      return false;
    if (argument.buffer != result.buffer) continue;
    if (argument.offset != 0 || !argument.moves.empty() || scale) return false;
    scale = positions_per_row(kernel, i, rows, columns);
    if (!scale) return false;
  }
  if (!scale) return false;
  call.epilogue = launch;
  call.positions_per_row = *scale;
  return true;
}

/// Puts a launch into a call shortly before it that it may follow row by row; the call then stands
/// where the launch stood.
bool follows(const Plan& plan, Instructions& kept, const Instruction& instruction) {
  const auto* launch = std::get_if<Launch>(&instruction.is);
  if (launch == nullptr) return false;
  const std::size_t nearest = kept.size();
  for (std::size_t i = nearest; i-- > 0 && nearest - i <= farthest_call;) {
    if (has_instructions_inside(kept[i])) return false;
    auto* call = std::get_if<Call>(&kept[i].is);
    if (call == nullptr || !mentions(launch->arguments, call->results[0].buffer)) continue;
    const BufferAccesses accesses = accesses_of(plan, kept[i]);
    for (std::size_t between = i + 1; between < nearest; ++between) {
      if (conflict(accesses, accesses_of(plan, kept[between]))) return false;
    }
    if (!attach(plan, *call, *launch)) return false;
    std::rotate(kept.begin() + static_cast<std::ptrdiff_t>(i),
                kept.begin() + static_cast<std::ptrdiff_t>(i) + 1, kept.end());
    return true;
  }
  return false;
}

}  // namespace

void attach_epilogues(const Plan& plan, Instructions& instructions) {
  Instructions kept;
  for (Instruction& instruction : instructions) {
    if (auto* repeat = std::get_if<Repeat>(&instruction.is)) attach_epilogues(plan, repeat->body);
    if (auto* loop = std::get_if<While>(&instruction.is)) {
      attach_epilogues(plan, loop->condition);
      attach_epilogues(plan, loop->body);
    }
    if (auto* branch = std::get_if<Branch>(&instruction.is)) {
      attach_epilogues(plan, branch->then);
      attach_epilogues(plan, branch->otherwise);
    }
    if (!follows(plan, kept, instruction)) kept.push_back(std::move(instruction));
  }
  instructions = std::move(kept);
}

}  // namespace hom::nest
