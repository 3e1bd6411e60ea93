// backends/nests/strips.cc -- groups around routines with slices, then their private memory
#include <hom/backends/nests/strips.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include <hom/backends/nests/arena.h>
#include <hom/backends/nests/dependence.h>
#include <hom/backends/nests/memory_plan.h>
#include <hom/backends/nests/slices.h>

namespace hom::nest {
namespace {

/// How far from a routine, in instructions, others are looked for.
constexpr std::size_t window = 64;
/// Strips are enough for several threads.
constexpr std::int64_t most_strips_wanted = 16;

using Access = BufferAccess;
using Accesses = BufferAccesses;

bool is_fixed(const Address& address) { return address.offset == 0 && address.moves.empty(); }

/// Whether two instructions may run slice by slice, one after the other.
bool agree(const Accesses& a, const Accesses& b) {
  return std::all_of(a.begin(), a.end(), [&](const Access& x) {
    return std::all_of(b.begin(), b.end(), [&](const Access& y) {
      return !conflict(x, y) || (x.slice > 0 && x.slice == y.slice && x.is_fixed && y.is_fixed);
    });
  });
}

/// What is left in a list where an instruction went elsewhere.
Instruction gap() { return {Strips{0, 0, 1, {}, 0}}; }
bool is_gap(const Instruction& instruction) {
  const auto* strips = std::get_if<Strips>(&instruction.is);
  return strips != nullptr && strips->slices == 0;
}
bool ends_window(const Instruction& instruction) {
  return has_instructions_inside(instruction) && !is_gap(instruction);
}

class StripMaker {
 public:
  StripMaker(Plan& plan, const StripOptions& options) : plan_(plan), options_(options) {}

  void run() {
    uses_.assign(plan_.buffers.size(), 0);
    writers_.assign(plan_.buffers.size(), 0);
    count_uses(plan_.body);
    find_groups(plan_.body);
    finish(plan_.body);
  }

 private:
  /// An instruction of a group, or one that may become one.
  struct Member {
    Instruction instruction;
    Accesses accesses;
  };

  // ---- accesses ----

  void add(Accesses& to, const Address& address, bool reads, bool writes,
           std::int64_t slice = 0) const {
    to.push_back({address.buffer, reads, writes, is_fixed(address), slice});
  }

  Accesses accesses_of(const Instruction& instruction) const {
    return nest::accesses_of(plan_, instruction);
  }

  /// With slices, where the instruction may run in `count` of them.
  std::optional<Accesses> sliced(const Instruction& instruction, std::int64_t count) const {
    if (const auto* launch = std::get_if<Launch>(&instruction.is)) return sliced(*launch, count);
    const auto* call = std::get_if<Call>(&instruction.is);
    const auto slices = call ? slices_of(*call) : std::nullopt;
    if (!slices || slices->count != count) return std::nullopt;
    Accesses all;
    const auto element = [&](const Address& at) {
      return static_cast<std::int64_t>(plan_.buffers[at.buffer].type.dtype.size());
    };
    for (std::size_t i = 0; i < call->operands.size(); ++i)
      add(all, call->operands[i], true, false, slices->operands[i] * element(call->operands[i]));
    add(all, call->results[0], false, true, plan_.buffers[call->results[0].buffer].bytes() / count);
    return all;
  }

  std::optional<Accesses> sliced(const Launch& launch, std::int64_t count) const {
    const Kernel& kernel = plan_.kernels[launch.kernel];
    const Loop* const loop = split_loop(kernel);
    // A strip that fails would be reported before an earlier step of a later strip.
    if (loop == nullptr || loop->axes.empty() || kernel.block > 0 || !kernel.failures.empty())
      return std::nullopt;
    const Axis axis = loop->axes[0];
    if (kernel.axes[axis] % count != 0) return std::nullopt;
    const std::int64_t positions = kernel.axes[axis] / count;
    Accesses all;
    for (std::uint32_t i = 0; i < launch.arguments.size(); ++i) {
      const Buffer& buffer = kernel.buffers[i];
      const std::int64_t slice = slice_stride(kernel, i, axis).value_or(0) * positions *
                                 static_cast<std::int64_t>(buffer.dtype.size());
      if (buffer.is_written && slice == 0) return std::nullopt;
      add(all, launch.arguments[i], buffer.is_read, buffer.is_written, slice);
    }
    return agree(all, all) ? std::optional(std::move(all)) : std::nullopt;
  }

  std::optional<Routine::Slices> slices_of(const Call& call) const {
    if (call.results.size() != 1 || !is_fixed(call.results[0]) || call.epilogue)
      return std::nullopt;
    return plan_.routines[call.routine]->slices();
  }

  bool may_fail(const Instruction& instruction) const {
    if (const auto* launch = std::get_if<Launch>(&instruction.is))
      return !plan_.kernels[launch->kernel].failures.empty();
    const auto* call = std::get_if<Call>(&instruction.is);
    return call != nullptr && !slices_of(*call);
  }

  bool is_large(std::uint32_t buffer) const {
    return plan_.buffers[buffer].bytes() >= options_.array_bytes;
  }

  void count_uses(const Instructions& instructions) {
    for (const Instruction& instruction : instructions) {
      for (const Access& access : accesses_of(instruction)) {
        ++uses_[access.buffer];
        if (access.writes) ++writers_[access.buffer];
      }
      if (const auto* repeat = std::get_if<Repeat>(&instruction.is)) {
        count_uses(repeat->body);
      } else if (const auto* loop = std::get_if<While>(&instruction.is)) {
        count_uses(loop->condition);
        ++uses_[loop->predicate.buffer];
        count_uses(loop->body);
      } else if (const auto* branch = std::get_if<Branch>(&instruction.is)) {
        ++uses_[branch->predicate.buffer];
        count_uses(branch->then);
        count_uses(branch->otherwise);
      }
    }
  }

  // ---- groups ----

  void find_groups(Instructions& list) {
    // What is computed around a loop is not computed anew in each iteration.
    auto around = std::exchange(computed_in_strips_, {});
    std::size_t next;
    for (std::size_t i = 0; i < list.size(); i = next) {
      next = i + 1;
      if (auto* repeat = std::get_if<Repeat>(&list[i].is)) {
        find_groups(repeat->body);
      } else if (auto* loop = std::get_if<While>(&list[i].is)) {
        find_groups(loop->condition);
        find_groups(loop->body);
      } else if (auto* branch = std::get_if<Branch>(&list[i].is)) {
        find_groups(branch->then);
        find_groups(branch->otherwise);
      } else if (const auto* call = std::get_if<Call>(&list[i].is)) {
        const auto slices = slices_of(*call);
        const bool moves_much =
            is_large(call->results[0].buffer) ||
            std::any_of(call->operands.begin(), call->operands.end(),
                        [&](const Address& operand) { return is_large(operand.buffer); });
        if (slices && slices->count > 1 && moves_much) next = form_group(list, i, *slices);
      }
    }
    computed_in_strips_ = std::move(around);
  }

  bool agrees(const Accesses& accesses, const std::vector<Member>& group) const {
    return std::all_of(group.begin(), group.end(),
                       [&](const Member& member) { return agree(accesses, member.accesses); });
  }
  static bool conflicts(const Accesses& accesses, const std::vector<Member>& others) {
    return std::any_of(others.begin(), others.end(),
                       [&](const Member& other) { return conflict(accesses, other.accesses); });
  }
  /// Whether `from` writes slices of a large array that `to` reads.
  bool hands_on(const Accesses& from, const Accesses& to) const {
    return std::any_of(from.begin(), from.end(), [&](const Access& x) {
      return x.writes && x.slice > 0 && is_large(x.buffer) &&
             std::any_of(to.begin(), to.end(), [&](const Access& y) {
               return y.reads && y.buffer == x.buffer && y.slice == x.slice;
             });
    });
  }

  /// Puts the routine at `seed` and what goes with it into `Strips`, if anything does. The result
  /// is the place in the list where others are to be looked for.
  std::size_t form_group(Instructions& list, std::size_t seed, const Routine::Slices& slices) {
    const std::int64_t count = slices.count;
    const bool is_panel = slices.unit > 1;
    std::vector<Member> group{{list[seed], *sliced(list[seed], count)}};
    if (!agree(group[0].accesses, group[0].accesses)) return seed + 1;

    // Before it: what stays there, nearest first.
    std::vector<Member> before;
    std::size_t low = seed;
    while (low > 0 && seed - low < window && !ends_window(list[low - 1])) {
      const Instruction& instruction = list[--low];
      if (is_gap(instruction)) continue;
      auto accesses = sliced(instruction, count);
      const bool joins = accesses && !conflicts(*accesses, before) && agrees(*accesses, group) &&
                         std::any_of(group.begin(), group.end(), [&](const Member& member) {
                           return hands_on(*accesses, member.accesses);
                         });
      (joins ? group : before)
          .push_back({instruction, joins ? *accesses : accesses_of(instruction)});
    }
    std::reverse(before.begin(), before.end());
    std::reverse(group.begin(), group.end());

    // After it: what need not wait for the group, and what has to.
    std::vector<Member> early;
    std::vector<Member> late;
    bool late_may_fail = false;
    std::size_t high = seed + 1;
    for (; high < list.size() && high - seed < window && !ends_window(list[high]); ++high) {
      const Instruction& instruction = list[high];
      if (is_gap(instruction)) continue;
      Accesses plain = accesses_of(instruction);
      const bool waits = conflicts(plain, late);
      auto accesses = waits ? std::nullopt : sliced(instruction, count);
      if (accesses && agrees(*accesses, group) &&
          std::any_of(group.begin(), group.end(),
                      [&](const Member& member) { return hands_on(member.accesses, *accesses); })) {
        group.push_back({instruction, std::move(*accesses)});
      } else if (waits || conflicts(plain, group) || (late_may_fail && may_fail(instruction))) {
        late_may_fail = late_may_fail || may_fail(instruction);
        late.push_back({instruction, std::move(plain)});
      } else {
        early.push_back({instruction, std::move(plain)});
      }
    }
    if (group.size() == 1) return seed + 1;
    if (!is_panel) {
      run_again(group, count);
      note_computed(group);
    }

    Strips strips{plan_.loop_count++, count, 1, {}, 0};
    for (Member& member : group) strips.body.push_back(std::move(member.instruction));
    // Rows of a product would keep others from the strips of a batch.
    if (is_panel && worth_of(strips).together == 0) {
      --plan_.loop_count;
      return seed + 1;
    }
    const std::uint32_t step = strips.body.front().step;
    std::size_t next = low;
    const auto put = [&](std::vector<Member>& members) {
      for (Member& member : members) list[next++] = std::move(member.instruction);
    };
    put(before);
    const std::size_t place = next;
    put(early);
    list[next++] = {std::move(strips), step};
    put(late);
    while (next < high) list[next++] = gap();
    return place;
  }

  // ---- kernels that are run again ----

  /// Where a member reads what strips before it have computed with little effort, and those alone
  /// need besides, it is computed here too.
  void run_again(std::vector<Member>& group, std::int64_t count) {
    for (std::size_t m = 0; m < group.size(); ++m) {
      for (std::size_t a = 0; a < group[m].accesses.size(); ++a) {
        const Access read = group[m].accesses[a];
        if (read.writes || read.slice == 0 || !is_large(read.buffer)) continue;
        const auto found = computed_in_strips_.find(read.buffer);
        if (found == computed_in_strips_.end()) continue;
        const auto& [producer, uses] = found->second;
        std::uint32_t here = 0;
        for (const Member& member : group) here += uses_in(member.accesses, read.buffer);
        if (here + uses != uses_[read.buffer] || !is_cheap(producer, read.buffer)) continue;
        std::optional<Accesses> computed = sliced(producer, count);
        if (!computed || !agrees(*computed, group)) continue;
        Accesses accesses = std::move(*computed);
        const auto copy = static_cast<std::uint32_t>(plan_.buffers.size());
        plan_.buffers.push_back(plan_.buffers[read.buffer]);
        uses_.push_back(1);
        writers_.push_back(1);
        Instruction again = producer;
        redirect(again, read.buffer, copy);
        for (Access& access : accesses) {
          ++uses_[access.buffer];
          if (access.buffer != read.buffer) continue;
          --uses_[access.buffer];
          access.buffer = copy;
        }
        for (Member& member : group) {
          for (Access& access : member.accesses) {
            if (access.buffer != read.buffer) continue;
            access.buffer = copy;
            --uses_[read.buffer];
            ++uses_[copy];
          }
          redirect(member.instruction, read.buffer, copy);
        }
        group.insert(group.begin(), {std::move(again), std::move(accesses)});
        ++m;
      }
    }
  }

  static std::uint32_t uses_in(const Accesses& accesses, std::uint32_t buffer) {
    return static_cast<std::uint32_t>(
        std::count_if(accesses.begin(), accesses.end(),
                      [&](const Access& access) { return access.buffer == buffer; }));
  }

  /// Of temporaries that the group computes: by what, and how often it uses them.
  void note_computed(const std::vector<Member>& group) {
    for (const Member& member : group) {
      for (const Access& access : member.accesses) {
        if (!access.writes || access.slice == 0 || !is_large(access.buffer) ||
            writers_[access.buffer] != 1 ||
            plan_.buffers[access.buffer].place != PlannedBuffer::Place::temporary)
          continue;
        std::uint32_t uses = 0;
        for (const Member& other : group) uses += uses_in(other.accesses, access.buffer);
        computed_in_strips_.insert_or_assign(access.buffer, Computed{member.instruction, uses});
      }
    }
  }

  bool is_cheap(const Instruction& instruction, std::uint32_t result) const {
    const auto* launch = std::get_if<Launch>(&instruction.is);
    if (launch == nullptr) return false;
    const PlannedBuffer& written = plan_.buffers[result];
    const Work work = work_of(plan_.kernels[launch->kernel]);
    if (work.bytes_read > static_cast<double>(written.bytes()) / 4 ||
        work.flops > 4 * static_cast<double>(written.type.size()))
      return false;
    const Accesses accesses = accesses_of(instruction);
    return std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      if (access.writes) return access.buffer == result && !access.reads;
      // What it reads is still there.
      const PlannedBuffer::Place place = plan_.buffers[access.buffer].place;
      return access.is_fixed &&
             (place == PlannedBuffer::Place::input || place == PlannedBuffer::Place::constant ||
              writers_[access.buffer] == 1);
    });
  }

  static void redirect(Instruction& instruction, std::uint32_t from, std::uint32_t to) {
    each_address(instruction, [&](Address& address) {
      if (address.buffer == from) address.buffer = to;
    });
  }

  template <class Visit>
  static void each_address(Instruction& instruction, const Visit& visit) {
    if (auto* launch = std::get_if<Launch>(&instruction.is)) {
      for (Address& address : launch->arguments) visit(address);
    } else {
      auto& call = std::get<Call>(instruction.is);
      for (Address& address : call.operands) visit(address);
      for (Address& address : call.results) visit(address);
    }
  }

  // ---- memory ----

  /// Gives strips their memory, and undoes those that are not worth it.
  void finish(Instructions& list) {
    Instructions done;
    for (Instruction& instruction : list) {
      if (is_gap(instruction)) continue;
      if (auto* repeat = std::get_if<Repeat>(&instruction.is)) {
        finish(repeat->body);
      } else if (auto* loop = std::get_if<While>(&instruction.is)) {
        finish(loop->condition);
        finish(loop->body);
      } else if (auto* branch = std::get_if<Branch>(&instruction.is)) {
        finish(branch->then);
        finish(branch->otherwise);
      } else if (auto* strips = std::get_if<Strips>(&instruction.is); strips && !finish(*strips)) {
        std::move(strips->body.begin(), strips->body.end(), std::back_inserter(done));
        continue;
      }
      done.push_back(std::move(instruction));
    }
    list = std::move(done);
  }

  /// What only the strips need.
  struct Private {
    std::uint32_t buffer;
    std::int64_t slice;
    std::uint32_t first, last;
    std::uint32_t uses = 0;
    bool is_written_first = false;
    bool is_sliced = true;
  };

  std::vector<Private> private_buffers(const Strips& strips) const {
    std::vector<Private> found;
    for (std::uint32_t i = 0; i < strips.body.size(); ++i) {
      const std::optional<Accesses> accesses = sliced(strips.body[i], strips.slices);
      for (const Access& access : *accesses) {
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
      return plan_.buffers[candidate.buffer].place != PlannedBuffer::Place::temporary ||
             !candidate.is_written_first || !candidate.is_sliced ||
             candidate.uses != uses_[candidate.buffer] ||
             candidate.slice * strips.slices != plan_.buffers[candidate.buffer].bytes();
    });
    return found;
  }

  /// What makes strips worth it.
  struct Worth {
    std::vector<Private> found;
    /// Slices of one strip; 0 where it is not worth it.
    std::int64_t together = 0;
  };

  Worth worth_of(const Strips& strips) const {
    Worth worth{private_buffers(strips)};
    std::int64_t bytes = 0;
    for (const Private& one : worth.found) bytes += one.slice;
    if (bytes == 0 || bytes * strips.slices < options_.least_bytes) return worth;
    std::int64_t unit = 1;
    for (const Instruction& instruction : strips.body) {
      if (const auto* call = std::get_if<Call>(&instruction.is))
        unit = std::max(unit, slices_of(*call)->unit);
    }
    const std::int64_t most = std::max<std::int64_t>(strips.slices / most_strips_wanted, 1);
    const std::int64_t together =
        std::max(std::clamp<std::int64_t>(options_.strip_bytes / bytes, 1, most), unit);
    // Rows of a product are seldom so many, and products of few of them cost more.
    const bool is_panel = unit > 1;
    if (is_panel && (together > 2 * most || together * bytes > 4 * options_.strip_bytes))
      return worth;
    worth.together = together;
    return worth;
  }

  bool finish(Strips& strips) {
    const Worth worth = worth_of(strips);
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
        blocks.push_back({i, i, aligned(plan_.buffers[call->scratch->buffer].bytes())});
    }
    const Packing packing = pack(blocks);
    strips.memory = static_cast<std::uint32_t>(plan_.buffers.size());
    plan_.buffers.push_back({.type = {u8, {packing.bytes}},
                             .place = PlannedBuffer::Place::temporary,
                             .label = "strip"});

    std::size_t scratch = found.size();
    for (Instruction& instruction : strips.body) {
      if (auto* launch = std::get_if<Launch>(&instruction.is)) {
        const Kernel& kernel = plan_.kernels[launch->kernel];
        launch->positions = kernel.axes[split_loop(kernel)->axes[0]] / strips.slices;
      } else {
        auto& call = std::get<Call>(instruction.is);
        call.rows = slices_of(call)->rows;
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

  Plan& plan_;
  const StripOptions& options_;
  /// Temporaries that strips of the list at hand compute.
  struct Computed {
    Instruction by;
    std::uint32_t uses;
  };
  std::unordered_map<std::uint32_t, Computed> computed_in_strips_;
  /// Of each buffer: accesses, and those that write.
  std::vector<std::uint32_t> uses_;
  std::vector<std::uint32_t> writers_;
};

}  // namespace

void form_strips(Plan& plan, const StripOptions& options) { StripMaker(plan, options).run(); }

}  // namespace hom::nest
