// backends/nests/epilogues.cc -- which kernels keep to the rows of what they read
#include <hom/backends/nests/epilogues.h>

#include <algorithm>

namespace hom::nest {
namespace {

/// Smaller results stay in the cache anyway.
constexpr std::int64_t large_result = 256 << 10;

/// An index as coefficients of axes.
struct Affine {
  std::vector<std::int64_t> coefficients;
  std::int64_t constant = 0;
};

/// Adds `factor` times a value; false where it is no affine index.
bool add_to(Affine& sum, const Kernel& kernel, Value value, std::int64_t factor) {
  const Node& node = kernel.nodes[value];
  switch (node.kind) {
    case Node::Kind::axis:
      sum.coefficients[static_cast<std::size_t>(node.number)] += factor;
      return true;
    case Node::Kind::constant:
      sum.constant += factor * node.number;
      return true;
    case Node::Kind::index_add:
      return add_to(sum, kernel, node.operands[0], factor) &&
             add_to(sum, kernel, node.operands[1], factor);
    case Node::Kind::index_scale:
      return add_to(sum, kernel, node.operands[0], factor * node.number);
    default:
      return false;
  }
}

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
  for (const Node& node : kernel.nodes) {
    if (node.kind != Node::Kind::load || node.number != argument) continue;
    Affine index{std::vector<std::int64_t>(kernel.axes.size(), 0)};
    if (!add_to(index, kernel, node.operands[0], 1)) return std::nullopt;
    const std::int64_t stride = index.coefficients[axis];
    // Where in the rows of a position it may read.
    std::int64_t low = index.constant;
    std::int64_t high = index.constant;
    for (Axis other = 0; other < kernel.axes.size(); ++other) {
      if (other == axis) continue;
      const std::int64_t reach = index.coefficients[other] * (kernel.axes[other] - 1);
      (reach < 0 ? low : high) += reach;
    }
    if (stride * scale != columns || low < 0 || high >= std::max<std::int64_t>(stride, 1))
      return std::nullopt;
  }
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
    const auto* launch = std::get_if<Launch>(&instruction.is);
    auto* call = kept.empty() ? nullptr : std::get_if<Call>(&kept.back().is);
    if (launch == nullptr || call == nullptr || !attach(plan, *call, *launch))
      kept.push_back(std::move(instruction));
  }
  instructions = std::move(kept);
}

}  // namespace hom::nest
