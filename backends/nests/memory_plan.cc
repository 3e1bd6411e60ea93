// backends/nests/memory_plan.cc -- buffers that may be one become one, then memory is packed
#include <hom/backends/nests/memory_plan.h>

#include <algorithm>
#include <optional>

#include <hom/backends/nests/arena.h>
#include <hom/backends/nests/in_place.h>
#include <hom/backends/nests/liveness.h>

namespace hom::nest {
namespace {

using Place = PlannedBuffer::Place;

bool is_fixed(const Address& address) { return address.moves.empty() && address.offset == 0; }

/// Buffers that are one memory.
class Sharing {
 public:
  explicit Sharing(const Plan& plan)
      : plan_(plan), liveness_(plan), group_(plan.buffers.size()), kernels_(plan.kernels.size()) {
    for (std::uint32_t b = 0; b < group_.size(); ++b) {
      group_[b] = b;
      segments_.push_back(liveness_.segments(b));
    }
  }

  const Liveness& liveness() const { return liveness_; }
  const Segments& segments(std::uint32_t group) const { return segments_[group]; }

  std::uint32_t group_of(std::uint32_t buffer) {
    while (group_[buffer] != buffer) {
      group_[buffer] = group_[group_[buffer]];
      buffer = group_[buffer];
    }
    return buffer;
  }

  /// Makes two buffers one where that changes nothing: copies first, since a copy that is left
  /// costs time in every iteration.
  void share() {
    for (Position p = 1; p < liveness_.end(); ++p) {
      const Instruction* instruction = liveness_.instruction(p);
      if (!instruction) continue;
      if (const auto* copy = std::get_if<Copy>(&instruction->is))
        unite(copy->from.buffer, copy->to.buffer);
    }
    for (Position p = 1; p < liveness_.end(); ++p) {
      const Instruction* instruction = liveness_.instruction(p);
      if (!instruction || std::holds_alternative<Copy>(instruction->is)) continue;
      for (const Access& written : liveness_.accesses(p)) {
        if (!written.writes || written.reads) continue;
        for (const Access& read : liveness_.accesses(p)) {
          if (read.buffer != written.buffer && unite(read.buffer, written.buffer)) break;
        }
      }
    }
  }

  /// Whether two groups may be one memory: they are live together at most where one hands over to
  /// the other.
  bool may_share(std::uint32_t a, std::uint32_t b) {
    const Segments& first = segments_[a];
    const Segments& second = segments_[b];
    const Segment* p = first.begin();
    const Segment* q = second.begin();
    while (p != first.end() && q != second.end()) {
      const Position begin = std::max(p->begin, q->begin);
      const Position end = std::min(p->end, q->end);
      if (begin < end) return false;
      if (begin == end) {
        const bool to_second = p->end == begin && q->begin == begin && hands_over(begin, a, b);
        const bool to_first = q->end == begin && p->begin == begin && hands_over(begin, b, a);
        if (!to_second && !to_first) return false;
      }
      (p->end < q->end ? p : q) += 1;
    }
    return true;
  }

 private:
  bool is_ours(std::uint32_t buffer) const {
    return plan_.buffers[buffer].place == Place::temporary ||
           plan_.buffers[buffer].place == Place::output;
  }

  bool unite(std::uint32_t x, std::uint32_t y) {
    if (!is_ours(x) || !is_ours(y)) return false;
    const std::int64_t bytes = plan_.buffers[x].bytes();
    if (bytes == 0 || bytes != plan_.buffers[y].bytes()) return false;
    std::uint32_t a = group_of(x);
    std::uint32_t b = group_of(y);
    if (a == b) return false;
    // A group with an output is known by it.
    if (plan_.buffers[b].place == Place::output) std::swap(a, b);
    if (plan_.buffers[b].place == Place::output || !may_share(a, b)) return false;
    segments_[a] = united(segments_[a], segments_[b]);
    segments_[b] = {};
    group_[b] = a;
    return true;
  }

  /// Whether the instruction reads what it needs of group `from` before it writes group `to` in the
  /// same memory.
  bool hands_over(Position position, std::uint32_t from, std::uint32_t to) {
    const Instruction* instruction = liveness_.instruction(position);
    if (!instruction) return false;
    if (const auto* copy = std::get_if<Copy>(&instruction->is)) {
      return group_of(copy->from.buffer) == from && group_of(copy->to.buffer) == to &&
             is_fixed(copy->from) && is_fixed(copy->to);
    }
    if (const auto* launch = std::get_if<Launch>(&instruction->is))
      return hands_over(*launch, from, to);
    const Call& call = std::get<Call>(instruction->is);
    // A routine reads its operands as long as it writes.
    const auto is_of = [&](const std::vector<Address>& addresses, std::uint32_t group) {
      return std::any_of(addresses.begin(), addresses.end(),
                         [&](const Address& address) { return group_of(address.buffer) == group; });
    };
    if (!call.epilogue || is_of(call.operands, from) || is_of(call.results, to)) return false;
    if (call.scratch) {
      const std::uint32_t scratch = group_of(call.scratch->buffer);
      if (scratch == from || scratch == to) return false;
    }
    return hands_over(*call.epilogue, from, to);
  }

  bool hands_over(const Launch& launch, std::uint32_t from, std::uint32_t to) {
    const Kernel& kernel = plan_.kernels[launch.kernel];
    SmallVector<std::uint32_t, 4> read;
    SmallVector<std::uint32_t, 4> written;
    for (std::uint32_t i = 0; i < launch.arguments.size(); ++i) {
      const std::uint32_t group = group_of(launch.arguments[i].buffer);
      if (group != from && group != to) continue;
      if (!is_fixed(launch.arguments[i])) return false;
      if (kernel.buffers[i].is_read == kernel.buffers[i].is_written) return false;
      if (kernel.buffers[i].is_read != (group == from)) return false;
      (group == from ? read : written).push_back(i);
    }
    // Where a buffer is not touched it is live because of what happens elsewhere.
    if (read.empty() || written.empty()) return false;
    std::optional<KernelAccesses>& accesses = kernels_[launch.kernel];
    if (!accesses) accesses.emplace(kernel);
    return std::all_of(read.begin(), read.end(), [&](std::uint32_t r) {
      return std::all_of(written.begin(), written.end(),
                         [&](std::uint32_t w) { return accesses->may_share(r, w); });
    });
  }

  const Plan& plan_;
  Liveness liveness_;
  std::vector<std::uint32_t> group_;
  std::vector<Segments> segments_;
  std::vector<std::optional<KernelAccesses>> kernels_;
};

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
}

/// The most bytes that groups of temporaries hold at one position.
std::int64_t most_live(const std::vector<std::pair<std::uint32_t, std::int64_t>>& groups,
                       const Sharing& sharing) {
  std::vector<std::int64_t> change(sharing.liveness().end() + 2);
  for (const auto& [group, bytes] : groups) {
    for (const Segment& segment : sharing.segments(group)) {
      change[segment.begin] += bytes;
      change[segment.end + 1] -= bytes;
    }
  }
  std::int64_t live = 0;
  std::int64_t most = 0;
  for (const std::int64_t bytes : change) most = std::max(most, live += bytes);
  return most;
}

void place_temporaries(Plan& plan, Sharing& sharing) {
  // Groups of temporaries, each known by one of its buffers.
  std::vector<std::pair<std::uint32_t, std::int64_t>> groups;
  std::vector<MemoryBlock> blocks;
  std::vector<std::uint32_t> block_of(plan.buffers.size(), UINT32_MAX);
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].place != Place::temporary || plan.buffers[b].bytes() == 0) continue;
    const std::uint32_t group = sharing.group_of(b);
    const Segments& segments = sharing.segments(group);
    if (plan.buffers[group].place != Place::temporary || segments.empty()) continue;
    if (block_of[group] == UINT32_MAX) {
      block_of[group] = static_cast<std::uint32_t>(blocks.size());
      const std::int64_t bytes = aligned(plan.buffers[group].bytes());
      groups.emplace_back(group, bytes);
      blocks.push_back({segments[0].begin, segments.back().end, bytes});
    }
  }
  const Packing packing = pack(blocks);
  plan.arena_bytes = packing.bytes;
  plan.live_bytes = most_live(groups, sharing);
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    const std::uint32_t block = block_of[sharing.group_of(b)];
    if (block != UINT32_MAX) plan.buffers[b].offset = packing.offsets[block];
  }
}

/// Outputs that could be written where an input lies. Each input is given once.
void find_donations(Plan& plan, Sharing& sharing) {
  plan.donations.assign(plan.outputs.size(), Plan::not_donated);
  std::vector<std::uint32_t> inputs;
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].place == Place::input && plan.buffers[b].bytes() > 0) inputs.push_back(b);
  }
  const auto bytes_of = [&](std::uint32_t b) { return plan.buffers[b].bytes(); };
  std::sort(inputs.begin(), inputs.end(), [&](std::uint32_t a, std::uint32_t b) {
    return bytes_of(a) != bytes_of(b) ? bytes_of(a) < bytes_of(b) : a < b;
  });
  std::vector<bool> is_given(inputs.size());
  std::vector<bool> is_known(plan.buffers.size());
  for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
    const std::uint32_t output = plan.outputs[o];
    if (plan.buffers[output].place != Place::output || is_known[output]) continue;
    is_known[output] = true;
    const auto first =
        std::lower_bound(inputs.begin(), inputs.end(), bytes_of(output),
                         [&](std::uint32_t b, std::int64_t bytes) { return bytes_of(b) < bytes; });
    // A bound on tries keeps the search linear where many inputs have one size.
    int tries = 64;
    for (auto i = static_cast<std::size_t>(first - inputs.begin());
         i < inputs.size() && bytes_of(inputs[i]) == bytes_of(output) && tries > 0; ++i) {
      if (is_given[i]) continue;
      --tries;
      if (!sharing.may_share(inputs[i], sharing.group_of(output))) continue;
      is_given[i] = true;
      plan.donations[o] = plan.buffers[inputs[i]].index;
      break;
    }
  }
}

}  // namespace

void plan_memory(Plan& plan) {
  Sharing sharing(plan);
  sharing.share();
  place_temporaries(plan, sharing);
  find_donations(plan, sharing);
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    const PlannedBuffer& shared = plan.buffers[sharing.group_of(b)];
    if (shared.place != Place::output) continue;
    plan.buffers[b].place = Place::output;
    plan.buffers[b].index = shared.index;
  }
}

}  // namespace hom::nest
