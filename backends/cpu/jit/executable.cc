// backends/cpu/jit/executable.cc -- a plan and its code as something to call
#include <hom/backends/cpu/jit/executable.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <optional>

#include <hom/backends/cpu/complaints.h>
#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/jit/parts.h>

namespace hom::cpu {
namespace {

using Place = nest::PlannedBuffer::Place;

const std::byte* data_of(const Array& array) {
  const std::byte* const data = array.buffer->data();
  if (array.offset == 0) return data;
  return data + array.offset * static_cast<std::int64_t>(array.type.dtype.size());
}

/// A power of 2.
std::uint64_t alignment_of(std::int64_t bytes) {
  if (bytes == 0) return 1;
  return std::min<std::uint64_t>(64, std::bit_floor(static_cast<std::uint64_t>(bytes)));
}

}  // namespace

bool is_aligned(const std::byte* data, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % alignment_of(bytes) == 0;
}

/// What a plan as one function calls back. Its frames may be code that exceptions cannot pass: what
/// a routine throws is kept, and the run is left by a jump.
struct Executable::Host : PlanHost {
  const Executable* executable;
  std::exception_ptr error;
  std::jmp_buf escape;

  static void run_call(PlanHost* host, std::uint32_t number, std::byte* const* operands,
                       std::byte* const* results, std::byte* scratch,
                       std::byte* const* epilogue_arguments) {
    auto* const self = static_cast<Host*>(host);
    try {
      self->executable->walker_.call(number, operands, results, scratch, epilogue_arguments,
                                     self->record);
      return;
    } catch (...) {
      self->error = std::current_exception();
    }
    std::longjmp(self->escape, 1);
  }

  static void run_launch(PlanHost* host, KernelFunction kernel, std::byte* const* arguments,
                         std::int64_t extent, std::int64_t grain) {
    // Nothing throws: kernels record what is wrong.
    run_parts(extent, grain, host->record,
              [&](std::int64_t low, std::int64_t high, FailureRecord& own) {
                kernel(arguments, low, high, &own);
              });
  }

  static void run_strips(PlanHost* host, std::uint32_t number, std::byte* const* buffers,
                         const std::int64_t* iterations) {
    auto* const self = static_cast<Host*>(host);
    try {
      self->executable->walker_.strips(number, buffers, iterations, self->record);
      return;
    } catch (...) {
      self->error = std::current_exception();
    }
    std::longjmp(self->escape, 1);
  }
};

class Executable::Lease {
 public:
  explicit Lease(const Executable& executable)
      : executable_(executable), workspace_(executable.workspaces_.take()) {
    if (!workspace_) workspace_ = executable.new_workspace();
  }
  ~Lease() { executable_.workspaces_.give_back(std::move(workspace_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Workspace& operator*() const { return *workspace_; }

 private:
  const Executable& executable_;
  std::unique_ptr<Workspace> workspace_;
};

Executable::Executable(nest::Plan plan, std::shared_ptr<const Code> code)
    : plan_(std::move(plan)),
      code_(std::move(code)),
      walker_(plan_, *code_),
      function_(code_->plan()),
      input_buffers_(plan_.input_count, no_buffer),
      results_(plan_.output_types) {
  for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) {
    const nest::PlannedBuffer& buffer = plan_.buffers[b];
    if (buffer.place == Place::input) input_buffers_[buffer.index] = b;
    if (buffer.place == Place::output) output_buffers_.push_back({b, buffer.index});
    // Nobody writes to constants.
    const bool is_constant = buffer.place == Place::constant;
    constants_.push_back(
        is_constant ? const_cast<std::byte*>(data_of(plan_.constants[buffer.index].array()))
                    : nullptr);
  }
  // For each buffer, the first output that it is.
  std::vector<std::uint32_t> first_output(plan_.buffers.size(), no_buffer);
  for (std::uint32_t o = 0; o < plan_.outputs.size(); ++o) {
    const std::uint32_t b = plan_.outputs[o];
    if (first_output[b] == no_buffer) first_output[b] = o;
    const nest::PlannedBuffer& buffer = plan_.buffers[b];
    switch (buffer.place) {
      case Place::input:
        sources_.push_back({Source::Kind::input, buffer.index});
        break;
      case Place::constant:
        sources_.push_back({Source::Kind::constant, buffer.index});
        break;
      case Place::output: {
        const std::uint32_t first = first_output[b];
        sources_.push_back({first == o ? Source::Kind::computed : Source::Kind::same_as_output,
                            first == o ? buffer.index : first});
        break;
      }
      case Place::temporary:
        ensure(false, "an output of a plan is not a temporary");
    }
    computes_all_ = computes_all_ && sources_.back().kind == Source::Kind::computed;
  }
  is_small_ = function_ && plan_.arena_bytes <= small_arena && plan_.buffers.size() <= small_plan;
  if (is_small_) {
    for (const nest::PlannedBuffer& buffer : plan_.buffers) {
      small_offsets_.push_back(buffer.place == Place::temporary ? buffer.offset : -1);
      small_alignments_.push_back(alignment_of(buffer.bytes()) - 1);
    }
  }
}

Executable::~Executable() = default;

std::unique_ptr<Workspace> Executable::new_workspace() const {
  auto workspace = std::make_unique<Workspace>();
  workspace->arena = Memory(plan_.arena_bytes);
  workspace->copies.resize(plan_.input_count);
  workspace->walk = walker_.memory();
  workspace->buffers = constants_;
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    if (plan_.buffers[b].place == Place::temporary)
      workspace->buffers[b] = workspace->arena.data() + plan_.buffers[b].offset;
  }
  return workspace;
}

void Executable::place_input(Workspace& workspace, std::size_t input, const Array& array) const {
  const std::uint32_t buffer = input_buffers_[input];
  if (buffer == no_buffer) return;
  const std::byte* data = data_of(array);
  const std::int64_t bytes = plan_.buffers[buffer].bytes();
  if (bytes > 0 && !(array.is_row_major() && is_aligned(data, bytes))) {
    Memory& copy = workspace.copies[input];
    if (copy.bytes() < bytes) copy = Memory(bytes);
    copy_elements(array.type.dtype, array.type.shape,
                  Region{copy.data(), row_major_strides(array.type.shape)}, region_of(array));
    data = copy.data();
  }
  // Nobody writes to inputs that are not donated.
  workspace.buffers[buffer] = const_cast<std::byte*>(data);
}

void Executable::place_outputs(Workspace& workspace, std::byte* const* outputs) const {
  for (const OutputBuffer& shown : output_buffers_)
    workspace.buffers[shown.buffer] = outputs[shown.output];
}

void Executable::run(std::span<const Input> inputs, std::span<Tensor> outputs,
                     const Location& at) const {
  ensure(inputs.size() == plan_.input_count && outputs.size() == plan_.outputs.size(),
         "an executable is run with its inputs and outputs");
  if (is_small_ && run_small(inputs, outputs, at)) return;
  const Lease lease(*this);
  Workspace& workspace = *lease;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].tensor) {
      place_input(workspace, i, inputs[i].tensor->array(at));
    } else if (input_buffers_[i] != no_buffer) {
      workspace.buffers[input_buffers_[i]] = const_cast<std::byte*>(inputs[i].bytes);
    }
  }
  take_outputs(workspace.buffers.data(), inputs, outputs, at);
  run(workspace);
}

/// On the stack, where no input has to be copied.
bool Executable::run_small(std::span<const Input> inputs, std::span<Tensor> outputs,
                           const Location& at) const {
  alignas(64) std::byte arena[small_arena];
  std::byte* buffers[small_plan];
  place_small(arena, buffers);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::uint32_t buffer = input_buffers_[i];
    if (buffer == no_buffer) continue;
    const std::byte* data = inputs[i].bytes;
    if (inputs[i].tensor) {
      const Array& array = inputs[i].tensor->array(at);
      data = data_of(array);
      const bool is_number = array.type.shape.empty();
      if (!is_number && !array.is_row_major()) return false;
      if ((reinterpret_cast<std::uintptr_t>(data) & small_alignments_[buffer]) != 0) return false;
    }
    buffers[buffer] = const_cast<std::byte*>(data);
  }
  take_outputs(buffers, inputs, outputs, at);
  run_function(buffers);
  return true;
}

void Executable::place_small(std::byte* arena, std::byte** buffers) const {
  for (std::size_t b = 0; b < small_offsets_.size(); ++b)
    buffers[b] = small_offsets_[b] >= 0 ? arena + small_offsets_[b] : constants_[b];
}

void Executable::take_outputs(std::byte** buffers, std::span<const Input> inputs,
                              std::span<Tensor> outputs, const Location& at) const {
  // Outputs that are inputs first, for donation takes inputs away.
  if (!computes_all_) {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const Source source = sources_[o];
      if (source.kind == Source::Kind::input) {
        const Input& input = inputs[source.index];
        outputs[o] = input.tensor ? Tensor(input.tensor->array_pointer(), at)
                                  : tensor_from_bytes(input.bytes, plan_.output_types[o]);
      } else if (source.kind == Source::Kind::constant) {
        outputs[o] = Tensor(plan_.constants[source.index].array_pointer(), at);
      }
    }
  }
  SmallVector<std::byte*, 16> memory(outputs.size(), nullptr);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Source source = sources_[o];
    if (source.kind != Source::Kind::computed) continue;
    std::shared_ptr<Array> array;
    const std::uint32_t donor =
        plan_.donations.empty() ? nest::Plan::not_donated : plan_.donations[o];
    if (donor != nest::Plan::not_donated && inputs[donor].given) {
      // A copy of the input is read, not its own memory: there is nothing to be gained.
      const std::byte* const own = data_of(inputs[donor].given->array());
      if (buffers[input_buffers_[donor]] == own) array = results_.donated(o, *inputs[donor].given);
    }
    if (!array) array = results_.take(o);
    memory[source.index] = const_cast<std::byte*>(data_of(*array));
    outputs[o] = Tensor(std::move(array), at);
  }
  if (!computes_all_) {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (sources_[o].kind == Source::Kind::same_as_output) outputs[o] = outputs[sources_[o].index];
    }
  }
  for (const OutputBuffer& shown : output_buffers_) buffers[shown.buffer] = memory[shown.output];
}

void Executable::run_raw(const std::byte* const* inputs, std::byte* const* outputs) const {
  if (is_small_) {
    alignas(64) std::byte arena[small_arena];
    std::byte* buffers[small_plan];
    place_small(arena, buffers);
    run_raw(buffers, inputs, outputs, [&] { run_function(buffers); });
    return;
  }
  const Lease lease(*this);
  run_raw((*lease).buffers.data(), inputs, outputs, [&] { run(*lease); });
}

template <class Run>
void Executable::run_raw(std::byte** buffers, const std::byte* const* inputs,
                         std::byte* const* outputs, const Run& run) const {
  for (std::size_t i = 0; i < plan_.input_count; ++i) {
    if (input_buffers_[i] != no_buffer)
      buffers[input_buffers_[i]] = const_cast<std::byte*>(inputs[i]);
  }
  for (const OutputBuffer& shown : output_buffers_) buffers[shown.buffer] = outputs[shown.output];
  run();
  if (computes_all_) return;
  for (std::size_t o = 0; o < plan_.outputs.size(); ++o) {
    const std::byte* const from = buffers[plan_.outputs[o]];
    const std::int64_t bytes = plan_.buffers[plan_.outputs[o]].bytes();
    if (from != outputs[o] && bytes > 0)
      std::memcpy(outputs[o], from, static_cast<std::size_t>(bytes));
  }
}

void Executable::observe(std::span<const Tensor> inputs, WalkObserver& observer) const {
  const Lease lease(*this);
  Workspace& workspace = *lease;
  for (std::size_t i = 0; i < inputs.size(); ++i) place_input(workspace, i, inputs[i].array());
  std::vector<std::shared_ptr<Array>> arrays(plan_.outputs.size());
  std::vector<std::byte*> memory(plan_.outputs.size());
  for (std::size_t o = 0; o < arrays.size(); ++o) {
    if (sources_[o].kind != Source::Kind::computed) continue;
    arrays[o] = results_.take(o);
    memory[sources_[o].index] = arrays[o]->buffer->data();
  }
  place_outputs(workspace, memory.data());
  FailureRecord record;
  walker_.run(workspace.buffers.data(), workspace.walk, record, &observer);
  if (record.failure != 0) fail(record);
}

void Executable::run(Workspace& workspace) const {
  if (function_) {
    run_function(workspace.buffers.data());
    return;
  }
  FailureRecord record;
  try {
    walker_.run(workspace.buffers.data(), workspace.walk, record);
  } catch (const Error&) {
    if (record.failure == 0) throw;
  }
  // A check that failed before a routine threw is what an eager run would have met first.
  if (record.failure != 0) [[unlikely]] {
    fail(record);
  }
}

void Executable::run_function(std::byte* const* buffers) const {
  Host host;
  host.call = Host::run_call;
  host.launch = Host::run_launch;
  host.strips = Host::run_strips;
  host.executable = this;
  // Without routines nothing throws.
  if (walker_.call_count() == 0 || setjmp(host.escape) == 0) function_(buffers, &host);
  if (host.record.failure != 0) [[unlikely]] {
    fail(host.record);
  }
  if (host.error) [[unlikely]] {
    std::rethrow_exception(host.error);
  }
}

void Executable::fail(const FailureRecord& record) const {
  // Failures are counted over all kernels.
  std::int64_t number = record.failure - 1;
  const nest::Failure* failure = nullptr;
  for (const nest::Kernel& kernel : plan_.kernels) {
    const auto count = static_cast<std::int64_t>(kernel.failures.size());
    if (number < count) {
      failure = &kernel.failures[static_cast<std::size_t>(number)];
      break;
    }
    number -= count;
  }
  ensure(failure != nullptr, "a failed check is one of the plan's");
  const nest::Origin& origin = plan_.origins[failure->step];
  std::optional<NameScope> scope;
  if (!origin.scope.empty()) scope.emplace(origin.scope);
  const LocationScope line(origin.at);
  const auto axis = static_cast<std::size_t>(failure->axis);
  if (origin.primitive == "pow") hom::fail(negative_exponent(record.value), origin.at);
  if (!origin.window.empty()) {
    hom::fail(window_out_of_range(origin.primitive, origin.window[axis], record.value,
                                  failure->axis, origin.operand.shape[axis]),
              origin.at);
  }
  hom::fail(index_out_of_range(origin.primitive, record.value, failure->axis, origin.operand),
            origin.at);
}

void Executable::release() const {
  results_.clear();
  workspaces_.clear();
}

}  // namespace hom::cpu
