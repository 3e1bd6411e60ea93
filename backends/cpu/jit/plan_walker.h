// backends/cpu/jit/plan_walker.h -- the instructions of a plan, run one by one
#pragma once

#include <span>
#include <vector>

#include <hom/backends/cpu/jit/code.h>

namespace hom::cpu {

/// Hears of each kernel, routine and copy, in the order of the run.
class WalkObserver {
 public:
  virtual ~WalkObserver() = default;
  virtual void begin(const nest::Instruction& instruction) = 0;
  virtual void end(const nest::Instruction& instruction) = 0;
};

/// What a walk writes besides buffers: made once, used for any number of walks, one at a time.
struct WalkMemory {
  /// Of each loop: the iteration.
  std::vector<std::int64_t> positions;
  /// Pointers for one launch or call.
  std::vector<std::byte*> pointers;
};

/// Runs plans by walking their instructions: for code that is not one function, and for whoever
/// wants to look at each step. Refers to plan and code.
class PlanWalker {
 public:
  PlanWalker(const nest::Plan& plan, const Code& code);

  WalkMemory memory() const;
  /// All instructions, on the pointers of all buffers. Allocates nothing.
  void run(std::byte* const* buffers, WalkMemory& memory, FailureRecord& record,
           WalkObserver* observer = nullptr) const;

  /// `Call` instructions in the order of the text, without those in strips.
  std::size_t call_count() const { return calls_.size(); }
  /// Runs one `Strips` instruction, counted in the order of the text too, on the pointers of all
  /// buffers and the iterations of all loops.
  void strips(std::size_t number, std::byte* const* buffers, const std::int64_t* iterations,
              FailureRecord& record) const;
  /// Runs one of them. With an epilogue, and a routine that has rows, panel by panel.
  void call(std::size_t number, std::byte* const* operands, std::byte* const* results,
            std::byte* scratch, std::byte* const* epilogue_arguments, FailureRecord& record) const;

 private:
  struct Walk;

  /// In parts where the launch has a grain.
  void launch(const nest::Launch& launch, std::byte* const* arguments, FailureRecord& record) const;
  void strips(const nest::Strips& strips, std::byte* const* buffers, const std::int64_t* iterations,
              FailureRecord& record, WalkObserver* observer) const;
  void find_calls(const nest::Instructions& instructions);
  void call(const nest::Call& call, std::uint32_t step, std::byte* const* operands,
            std::byte* const* results, std::byte* scratch, std::byte* const* epilogue_arguments,
            FailureRecord& record) const;

  const nest::Plan& plan_;
  const Code& code_;
  std::vector<const nest::Instruction*> calls_;
  std::vector<const nest::Strips*> strips_;
  /// Of each kernel: the extent of the axis that may be split, or 0.
  std::vector<std::int64_t> rows_;
  std::size_t most_pointers_ = 0;
};

}  // namespace hom::cpu
