// backends/cpu/jit/code.h -- the kernels of a plan, ready to run: what emitters and interpreters
// give
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <hom/backends/nests/plan.h>

namespace hom::cpu {

/// The first failed check of a run (nest::Check); plain, because emitted text declares it too.
struct FailureRecord {
  /// 0: none. Otherwise 1 + the number of the failure among those of all kernels of the plan, in
  /// order.
  std::int64_t failure = 0;
  /// The value that was wrong.
  std::int64_t value = 0;
};

/// A kernel as code: runs on the pointers of its arguments, positions [low, high) along its first
/// axis where it is splittable (ignored elsewhere).
using KernelFunction = void (*)(std::byte* const* arguments, std::int64_t low, std::int64_t high,
                                FailureRecord* record);

/// What a plan as one function asks of the program that runs it.
struct PlanHost {
  /// Runs `Call` instruction number `number` of the plan, counted in the order of its text (the
  /// condition of a `While` before its body, `then` before `otherwise`). Pointers are those of its
  /// addresses, in order.
  void (*call)(PlanHost* host, std::uint32_t number, std::byte* const* operands,
               std::byte* const* results, std::byte* scratch, std::byte* const* epilogue_arguments);
  /// Runs a kernel whose `Launch` has a grain: all positions [0, extent) of its first axis in
  /// pieces of `grain`, by several threads. Launches without grain call their kernel themselves,
  /// with `record`.
  void (*launch)(PlanHost* host, KernelFunction kernel, std::byte* const* arguments,
                 std::int64_t extent, std::int64_t grain);
  /// Runs `Strips` instruction number `number` of the plan, counted in the order of its text, on
  /// the pointers of all buffers and the iterations of all loops.
  void (*strips)(PlanHost* host, std::uint32_t number, std::byte* const* buffers,
                 const std::int64_t* iterations);
  FailureRecord record = {};
};

/// A whole plan: all instructions, on the pointers of all its buffers in order.
using PlanFunction = void (*)(std::byte* const* buffers, PlanHost* host);

/// The kernels of a plan as code. Thread-safe: kernels keep nothing between runs.
class Code {
 public:
  virtual ~Code() = default;

  /// Runs a kernel of the plan on the pointers of its arguments, positions [low, high) along its
  /// first axis where it is splittable (0 and that axis's extent for all of it; ignored elsewhere).
  virtual void launch(std::size_t kernel, std::byte* const* arguments, std::int64_t low,
                      std::int64_t high, FailureRecord& record) const = 0;
  /// The plan as one function, or null: then its instructions are walked, and kernels launched one
  /// by one.
  virtual PlanFunction plan() const { return nullptr; }
  /// `g++ 12.2, AVX2`, `interpreter`.
  virtual std::string describe() const = 0;
  /// The text of a kernel in the language that it was emitted in; empty where there is none.
  virtual std::string source(std::size_t /*kernel*/) const { return {}; }
};

}  // namespace hom::cpu
