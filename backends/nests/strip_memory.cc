// backends/nests/strip_memory.cc -- whether strips are worth it, and their private memory
#include <algorithm>
#include <vector>

#include <hom/backends/nests/arena.h>
#include <hom/backends/nests/memory_plan.h>
#include <hom/backends/nests/strip_parts.h>

namespace hom::nest {
namespace {

/// Strips are enough for several threads.
constexpr std::int64_t most_strips_wanted = 16;

/// What only the strips need.
struct Private {
  std::uint32_t buffer;
  std::int64_t slice;
  std::uint32_t first, last;
  std::uint32_t uses = 0;
  bool is_written_first = false;
  bool is_sliced = true;
};

std::vector<Private> private_buffers(const Plan& plan, const Strips& strips,
                                     std::span<const std::uint32_t> uses) {
  std::vector<Private> found;
  for (std::uint32_t i = 0; i < strips.body.size(); ++i) {
    const std::optional<BufferAccesses> accesses = sliced(plan, strips.body[i], strips.slices);
    for (const BufferAccess& access : *accesses) {
      auto known = std::find_if(found.begin(), found.end(), [&](const Private& candidate) {
        return candidate.buffer == access.buffer;
      });
      if (known == found.end()) {
        found.push_back({access.buffer, access.slice, i, i, 0, access.writes && !access.reads});
        known = found.end() - 1;
      }
      known->last = i;
      ++known->uses;
      known->is_sliced =
          known->is_sliced && access.slice > 0 && access.slice == known->slice && access.is_fixed;
    }
  }
  std::erase_if(found, [&](const Private& candidate) {
    return plan.buffers[candidate.buffer].place != PlannedBuffer::Place::temporary ||
           !candidate.is_written_first || !candidate.is_sliced ||
           candidate.uses != uses[candidate.buffer] ||
           candidate.slice * strips.slices != plan.buffers[candidate.buffer].bytes();
  });
  return found;
}

/// What makes strips worth it.
struct Worth {
  std::vector<Private> found;
  /// Slices of one strip; 0 where it is not worth it.
  std::int64_t together = 0;
};

Worth worth_of(const Plan& plan, const Strips& strips, std::span<const std::uint32_t> uses,
               const StripOptions& options) {
  Worth worth{private_buffers(plan, strips, uses)};
  std::int64_t bytes = 0;
  for (const Private& one : worth.found) bytes += one.slice;
  if (bytes == 0 || bytes * strips.slices < options.least_bytes) return worth;
  std::int64_t unit = 1;
  for (const Instruction& instruction : strips.body) {
    if (const auto* call = std::get_if<Call>(&instruction.is))
      unit = std::max(unit, slices_of(plan, *call)->unit);
  }
  const std::int64_t most = std::max<std::int64_t>(strips.slices / most_strips_wanted, 1);
  const std::int64_t together =
      std::max(std::clamp<std::int64_t>(options.strip_bytes / bytes, 1, most), unit);
  // Rows of a product are seldom so many, and products of few of them cost more.
  const bool is_panel = unit > 1;
  if (is_panel && (together > 2 * most || together * bytes > 4 * options.strip_bytes)) return worth;
  worth.together = together;
  return worth;
}

}  // namespace

std::int64_t slices_together(const Plan& plan, const Strips& strips,
                             std::span<const std::uint32_t> uses, const StripOptions& options) {
  return worth_of(plan, strips, uses, options).together;
}

bool give_memory(Plan& plan, Strips& strips, std::span<const std::uint32_t> uses,
                 const StripOptions& options) {
  const Worth worth = worth_of(plan, strips, uses, options);
  if (worth.together == 0) return false;
  const std::vector<Private>& found = worth.found;
  const std::int64_t together = strips.together = worth.together;

  constexpr std::int64_t alignment = memory_alignment;
  const auto aligned = [](std::int64_t size) {
    return (size + alignment - 1) / alignment * alignment;
  };
  std::vector<MemoryBlock> blocks;
  for (const Private& one : found)
    blocks.push_back({one.first, one.last, aligned(one.slice * together)});
  for (std::uint32_t i = 0; i < strips.body.size(); ++i) {
    const auto* call = std::get_if<Call>(&strips.body[i].is);
    if (call && call->scratch)
      blocks.push_back({i, i, aligned(plan.buffers[call->scratch->buffer].bytes())});
  }
  const Packing packing = pack(blocks);
  strips.memory = static_cast<std::uint32_t>(plan.buffers.size());
  plan.buffers.push_back(
      {.type = {u8, {packing.bytes}}, .place = PlannedBuffer::Place::temporary, .label = "strip"});

  std::size_t scratch = found.size();
  for (Instruction& instruction : strips.body) {
    if (auto* launch = std::get_if<Launch>(&instruction.is)) {
      const Kernel& kernel = plan.kernels[launch->kernel];
      launch->positions = kernel.axes[split_loop(kernel)->axes[0]] / strips.slices;
    } else {
      auto& call = std::get<Call>(instruction.is);
      call.rows = slices_of(plan, call)->rows;
      if (call.scratch) call.scratch = Address{strips.memory, packing.offsets[scratch++]};
    }
    each_address(instruction, [&](Address& address) {
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].buffer != address.buffer) continue;
        // Each strip of the array lies where the first one does.
        address = {strips.memory, packing.offsets[i], {{strips.id, -found[i].slice * together}}};
        return;
      }
    });
  }
  return true;
}

}  // namespace hom::nest
