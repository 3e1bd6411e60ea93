// backends/cpu/jit/executable.h -- a plan and its code as something to call
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <hom/backends/cpu/call_frame.h>
#include <hom/backends/cpu/jit/code.h>
#include <hom/backends/cpu/jit/plan_walker.h>
#include <hom/backends/cpu/jit/results.h>
#include <hom/backends/cpu/jit/workspace.h>
#include <hom/core/tensor.h>

namespace hom::cpu {

/// A program that is ready to run, any number of times, by several threads at once. Repeated runs
/// allocate nothing: workspaces are pooled, and so are results that nobody holds any more.
class Executable {
 public:
  /// The plan has its memory planned; the code is that of its kernels. Several plan buffers may be
  /// one output's.
  Executable(nest::Plan plan, std::shared_ptr<const Code> code);
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  ~Executable();

  /// Elements that are no tensor's are aligned to 64 bytes, or to the largest power of 2 that is
  /// not above their size.
  using Input = detail::CallInput;
  /// Computes all outputs. Those that are inputs or constants of the program are shared with them.
  /// Results know the line `at`. Throws `Error`, after the run, for a failed check.
  void run(std::span<const Input> inputs, std::span<Tensor> outputs, const Location& at) const;

  /// The same on plain memory: row-major elements, aligned as in `Input`. Outputs do not overlap
  /// each other and the inputs; those that are inputs or constants are copied.
  void run_raw(const std::byte* const* inputs, std::byte* const* outputs) const;

  /// Walks the plan kernel by kernel, on the elements of these inputs; results are dropped.
  void observe(std::span<const Tensor> inputs, WalkObserver& observer) const;

  /// Frees the memory that is kept for further runs.
  void release() const;

  const nest::Plan& plan() const { return plan_; }
  const Code& code() const { return *code_; }
  /// The buffer of each input, `no_buffer` where nothing uses it.
  static constexpr std::uint32_t no_buffer = UINT32_MAX;
  std::uint32_t input_buffer(std::size_t input) const { return input_buffers_[input]; }

 private:
  struct Host;
  /// A workspace for one run.
  class Lease;

  std::unique_ptr<Workspace> new_workspace() const;
  /// Sets the pointer of an input; elements that do not lie as the plan wants them are copied.
  void place_input(Workspace& workspace, std::size_t input, const Array& array) const;
  void place_outputs(Workspace& workspace, std::byte* const* outputs) const;
  /// Arrays for all outputs, and the pointers of their buffers.
  void take_outputs(std::byte** buffers, std::span<const Input> inputs, std::span<Tensor> outputs,
                    const Location& at) const;
  /// A run without workspace; false, with nothing done, where an input has to be copied.
  bool run_small(std::span<const Input> inputs, std::span<Tensor> outputs,
                 const Location& at) const;
  /// Pointers of temporaries and constants.
  void place_small(std::byte* arena, std::byte** buffers) const;
  /// Runs the code; throws for a failed check.
  void run(Workspace& workspace) const;
  void run_function(std::byte* const* buffers) const;
  template <class Run>
  void run_raw(std::byte** buffers, const std::byte* const* inputs, std::byte* const* outputs,
               const Run& run) const;
  [[noreturn]] void fail(const FailureRecord& record) const;

  const nest::Plan plan_;
  const std::shared_ptr<const Code> code_;
  const PlanWalker walker_;
  const PlanFunction function_;
  std::vector<std::uint32_t> input_buffers_;
  /// Buffers that show the memory of an output, with its number.
  struct OutputBuffer {
    std::uint32_t buffer;
    std::uint32_t output;
  };
  std::vector<OutputBuffer> output_buffers_;
  /// For each output, where its tensor comes from.
  struct Source {
    enum class Kind : std::uint8_t { computed, same_as_output, input, constant } kind;
    std::uint32_t index = 0;
  };
  std::vector<Source> sources_;
  /// No output is an input, a constant or another output.
  bool computes_all_ = true;
  /// For each buffer, the elements of a constant, or null.
  std::vector<std::byte*> constants_;
  /// Whether runs need no workspace: functions of numbers take some nanoseconds.
  bool is_small_ = false;
  /// Then, for each buffer, its place in the arena, or −1.
  std::vector<std::int64_t> small_offsets_;
  /// And the bits of an address that are 0 there.
  std::vector<std::uint64_t> small_alignments_;
  static constexpr std::int64_t small_arena = 2048;
  static constexpr std::size_t small_plan = 64;
  mutable ResultPool results_;
  mutable WorkspacePool workspaces_;
};

/// Whether elements at this address can be read as those of a buffer of a plan: aligned to 64
/// bytes, or to the largest power of 2 that is not above their size.
bool is_aligned(const std::byte* data, std::int64_t bytes);

}  // namespace hom::cpu
