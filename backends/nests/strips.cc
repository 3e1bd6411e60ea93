// backends/nests/strips.cc -- groups around routines with slices, then their private memory
#include <hom/backends/nests/strips.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include <hom/backends/nests/dependence.h>
#include <hom/backends/nests/strip_parts.h>

namespace hom::nest {
namespace {

/// How far from a routine, in instructions, others are looked for.
constexpr std::size_t window = 64;
using Access = BufferAccess;
using Accesses = BufferAccesses;

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

  Accesses accesses_of(const Instruction& instruction) const {
    return nest::accesses_of(plan_, instruction);
  }

  bool may_fail(const Instruction& instruction) const {
    if (const auto* launch = std::get_if<Launch>(&instruction.is))
      return !plan_.kernels[launch->kernel].failures.empty();
    const auto* call = std::get_if<Call>(&instruction.is);
    return call != nullptr && !slices_of(plan_, *call);
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
        const auto slices = slices_of(plan_, *call);
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
    std::vector<Member> group{{list[seed], *sliced(plan_, list[seed], count)}};
    if (!agree(group[0].accesses, group[0].accesses)) return seed + 1;

    // Before it: what stays there, nearest first.
    std::vector<Member> before;
    std::size_t low = seed;
    while (low > 0 && seed - low < window && !ends_window(list[low - 1])) {
      const Instruction& instruction = list[--low];
      if (is_gap(instruction)) continue;
      auto accesses = sliced(plan_, instruction, count);
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
      auto accesses = waits ? std::nullopt : sliced(plan_, instruction, count);
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
    if (is_panel && slices_together(plan_, strips, uses_, options_) == 0) {
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
        std::optional<Accesses> computed = sliced(plan_, producer, count);
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
      } else if (auto* strips = std::get_if<Strips>(&instruction.is);
                 strips && !give_memory(plan_, *strips, uses_, options_)) {
        std::move(strips->body.begin(), strips->body.end(), std::back_inserter(done));
        continue;
      }
      done.push_back(std::move(instruction));
    }
    list = std::move(done);
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
