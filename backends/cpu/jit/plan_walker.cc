// backends/cpu/jit/plan_walker.cc -- the instructions of a plan, run one by one
#include <hom/backends/cpu/jit/plan_walker.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include <hom/backends/cpu/jit/parts.h>
#include <hom/backends/cpu/sharing.h>
#include <hom/backends/cpu/threads.h>

namespace hom::cpu {
namespace {

/// Positions along the first axis of the loop that is all of a splittable kernel.
std::int64_t rows_of(const nest::Kernel& kernel) {
  if (!kernel.is_splittable) return 0;
  for (const nest::Statement& statement : kernel.body) {
    if (const auto* loop = std::get_if<nest::Loop>(&statement.is))
      return loop->axes.empty() ? 0 : kernel.axes[loop->axes[0]];
  }
  return 0;
}

}  // namespace

/// One run.
struct PlanWalker::Walk {
  const PlanWalker& walker;
  std::byte* const* buffers;
  /// Of each loop: the iteration.
  std::int64_t* iterations;
  /// For one launch or call.
  std::byte** pointers;
  FailureRecord& record;
  WalkObserver* observer;
  /// In strips: which slices, and memory in the place of a buffer.
  std::int64_t low_slice = 0;
  std::int64_t high_slice = 0;
  std::uint32_t own_buffer = UINT32_MAX;
  std::byte* own = nullptr;

  std::byte* at(const nest::Address& address) const {
    std::int64_t offset = address.offset;
    for (const nest::Address::Move& move : address.moves)
      offset += iterations[move.loop] * move.stride;
    return (address.buffer == own_buffer ? own : buffers[address.buffer]) + offset;
  }

  std::byte** place(const std::vector<nest::Address>& addresses, std::byte** to) const {
    for (const nest::Address& address : addresses) *to++ = at(address);
    return to;
  }

  void run(const nest::Instructions& instructions) const {
    for (const nest::Instruction& instruction : instructions) {
      if (const auto* repeat = std::get_if<nest::Repeat>(&instruction.is)) {
        std::int64_t& iteration = iterations[repeat->id];
        for (iteration = 0; iteration < repeat->count; ++iteration) run(repeat->body);
        iteration = 0;
      } else if (const auto* loop = std::get_if<nest::While>(&instruction.is)) {
        run(loop->condition);
        for (std::int64_t i = 0; holds(loop->predicate) && (loop->bound < 0 || i < loop->bound);
             ++i) {
          run(loop->body);
          run(loop->condition);
        }
      } else if (const auto* branch = std::get_if<nest::Branch>(&instruction.is)) {
        run(holds(branch->predicate) ? branch->then : branch->otherwise);
      } else if (const auto* strips = std::get_if<nest::Strips>(&instruction.is)) {
        walker.strips(*strips, buffers, iterations, record, observer);
      } else {
        if (observer) observer->begin(instruction);
        leaf(instruction);
        if (observer) observer->end(instruction);
      }
    }
  }

  bool holds(const nest::Address& predicate) const {
    return *reinterpret_cast<const bool*>(at(predicate));
  }

  void leaf(const nest::Instruction& instruction) const {
    if (const auto* launch = std::get_if<nest::Launch>(&instruction.is)) {
      place(launch->arguments, pointers);
      if (launch->positions > 0) {
        walker.code_.launch(launch->kernel, pointers, low_slice * launch->positions,
                            high_slice * launch->positions, record);
      } else {
        walker.launch(*launch, pointers, record);
      }
    } else if (const auto* call = std::get_if<nest::Call>(&instruction.is)) {
      std::byte** const results = place(call->operands, pointers);
      std::byte** const epilogue = place(call->results, results);
      if (call->rows > 0) {
        const nest::Routine& routine = *walker.plan_.routines[call->routine];
        return routine.run_rows({pointers, call->operands.size()}, results[0],
                                call->scratch ? at(*call->scratch) : nullptr,
                                low_slice * call->rows, high_slice * call->rows);
      }
      if (call->epilogue) place(call->epilogue->arguments, epilogue);
      walker.call(*call, instruction.step, pointers, results,
                  call->scratch ? at(*call->scratch) : nullptr, epilogue, record);
    } else {
      const auto& copy = std::get<nest::Copy>(instruction.is);
      std::byte* const to = at(copy.to);
      const std::byte* const from = at(copy.from);
      if (to != from && copy.bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(copy.bytes));
    }
  }
};

PlanWalker::PlanWalker(const nest::Plan& plan, const Code& code) : plan_(plan), code_(code) {
  for (const nest::Kernel& kernel : plan.kernels) rows_.push_back(rows_of(kernel));
  find_calls(plan.body);
}

void PlanWalker::find_calls(const nest::Instructions& instructions) {
  for (const nest::Instruction& instruction : instructions) {
    if (const auto* launch = std::get_if<nest::Launch>(&instruction.is)) {
      most_pointers_ = std::max(most_pointers_, launch->arguments.size());
    } else if (const auto* call = std::get_if<nest::Call>(&instruction.is)) {
      calls_.push_back(&instruction);
      const std::size_t epilogue = call->epilogue ? call->epilogue->arguments.size() : 0;
      most_pointers_ =
          std::max(most_pointers_, call->operands.size() + call->results.size() + epilogue);
    } else if (const auto* repeat = std::get_if<nest::Repeat>(&instruction.is)) {
      find_calls(repeat->body);
    } else if (const auto* loop = std::get_if<nest::While>(&instruction.is)) {
      find_calls(loop->condition);
      find_calls(loop->body);
    } else if (const auto* branch = std::get_if<nest::Branch>(&instruction.is)) {
      find_calls(branch->then);
      find_calls(branch->otherwise);
    } else if (const auto* strips = std::get_if<nest::Strips>(&instruction.is)) {
      strips_.push_back(strips);
      const std::size_t calls = calls_.size();
      find_calls(strips->body);
      calls_.resize(calls);
    }
  }
}

WalkMemory PlanWalker::memory() const {
  return {std::vector<std::int64_t>(plan_.loop_count), std::vector<std::byte*>(most_pointers_)};
}

void PlanWalker::run(std::byte* const* buffers, WalkMemory& memory, FailureRecord& record,
                     WalkObserver* observer) const {
  Walk{*this, buffers, memory.positions.data(), memory.pointers.data(), record, observer}.run(
      plan_.body);
}

void PlanWalker::strips(std::size_t number, std::byte* const* buffers,
                        const std::int64_t* iterations, FailureRecord& record) const {
  strips(*strips_[number], buffers, iterations, record, nullptr);
}

void PlanWalker::strips(const nest::Strips& strips, std::byte* const* buffers,
                        const std::int64_t* iterations, FailureRecord& record,
                        WalkObserver* observer) const {
  const auto run = [&](std::int64_t low, std::int64_t high, std::byte* memory,
                       FailureRecord& failures) {
    SmallVector<std::int64_t, 16> own_iterations(iterations, iterations + plan_.loop_count);
    SmallVector<std::byte*, 32> pointers(most_pointers_, nullptr);
    Walk walk{*this, buffers, own_iterations.data(), pointers.data(), failures, observer};
    walk.own_buffer = strips.memory;
    walk.own = memory;
    std::int64_t& iteration = own_iterations[strips.id];
    for (iteration = low; iteration < high; ++iteration) {
      walk.low_slice = iteration * strips.together;
      walk.high_slice = std::min(walk.low_slice + strips.together, strips.slices);
      walk.run(strips.body);
    }
  };
  const bool is_shared = strips.grain > 0 && observer == nullptr && !is_in_chunk() && threads() > 1;
  if (!is_shared) return run(0, strips.count(), buffers[strips.memory], record);
  run_parts(strips.count(), strips.grain, record,
            [&](std::int64_t low, std::int64_t high, FailureRecord& own) {
              run(low, high, chunk_scratch(plan_.buffers[strips.memory].bytes()), own);
            });
}

void PlanWalker::launch(const nest::Launch& launch, std::byte* const* arguments,
                        FailureRecord& record) const {
  const std::int64_t extent = rows_[launch.kernel];
  if (launch.grain == 0) return code_.launch(launch.kernel, arguments, 0, extent, record);
  run_parts(extent, launch.grain, record,
            [&](std::int64_t low, std::int64_t high, FailureRecord& own) {
              code_.launch(launch.kernel, arguments, low, high, own);
            });
}

void PlanWalker::call(std::size_t number, std::byte* const* operands, std::byte* const* results,
                      std::byte* scratch, std::byte* const* epilogue_arguments,
                      FailureRecord& record) const {
  const nest::Instruction& instruction = *calls_[number];
  call(std::get<nest::Call>(instruction.is), instruction.step, operands, results, scratch,
       epilogue_arguments, record);
}

void PlanWalker::call(const nest::Call& call, std::uint32_t step, std::byte* const* operands,
                      std::byte* const* results, std::byte* scratch,
                      std::byte* const* epilogue_arguments, FailureRecord& record) const {
  const nest::Routine& routine = *plan_.routines[call.routine];
  // A routine that raises answers for the user's line and the function around it.
  std::optional<LocationScope> line;
  std::optional<NameScope> scope;
  if (step < plan_.origins.size()) {
    const nest::Origin& origin = plan_.origins[step];
    if (origin.at.line() != 0) line.emplace(origin.at);
    if (!origin.scope.empty()) scope.emplace(origin.scope);
  }
  const std::span<const std::byte* const> reads(operands, call.operands.size());
  if (!call.epilogue || !routine.has_rows()) {
    routine.run(reads, {results, call.results.size()}, scratch);
    if (call.epilogue) {
      code_.launch(call.epilogue->kernel, epilogue_arguments, 0, rows_[call.epilogue->kernel],
                   record);
    }
    return;
  }
  const std::int64_t positions = call.positions_per_row;
  const std::int64_t rows = rows_[call.epilogue->kernel] / positions;
  std::int64_t panel = std::max<std::int64_t>(routine.panel(), 1);
  const auto run = [&](std::byte* memory, std::int64_t low, std::int64_t high,
                       FailureRecord& failures) {
    routine.run_rows(reads, results[0], memory, low, high);
    code_.launch(call.epilogue->kernel, epilogue_arguments, low * positions, high * positions,
                 failures);
  };
  const int threads = is_in_chunk() ? 1 : hom::threads();
  const nest::Work work = routine.work();
  if (threads == 1 || work.flops / 60 < sharing_limits().least_ns) {
    for (std::int64_t low = 0; low < rows; low += panel)
      run(scratch, low, std::min(rows, low + panel), record);
    return;
  }
  // Even shares, where that changes no bit.
  if (routine.has_free_rows()) {
    const std::int64_t share = (rows + 2 * threads - 1) / (2 * threads);
    panel = std::min(panel, std::max<std::int64_t>((share + 11) / 12 * 12, 48));
  }
  run_parts(rows, panel, record, [&](std::int64_t low, std::int64_t high, FailureRecord& own) {
    run(chunk_scratch(routine.scratch_bytes()), low, high, own);
  });
}

}  // namespace hom::cpu
