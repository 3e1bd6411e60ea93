// backends/cpu/compile.cc -- from a program to an executable, and the cache of a compiled function
#include <hom/backends/cpu/compile.h>

#include <algorithm>
#include <iostream>

#include <hom/backends/cpu/jit/executable.h>
#include <hom/backends/cpu/jit/tiers.h>
#include <hom/backends/cpu/kernel.h>
#include <hom/backends/cpu/native_function.h>
#include <hom/backends/cpu/routines/routine.h>
#include <hom/backends/cpu/sharing.h>
#include <hom/backends/nests/lower.h>
#include <hom/backends/nests/memory_plan.h>
#include <hom/backends/nests/sharing.h>
#include <hom/backends/nests/tiles.h>
#include <hom/backends/optimise/optimise.h>

namespace hom {
namespace {

bool has_composite_kernel(const Attributes& attributes) {
  return cpu_kernels().find_composite(attributes.string("name")) != nullptr;
}

nest::Plan planned(const Program& program, const CompileOptions& options) {
  const Program fast = optimise(
      program, {.reassociate = options.reassociate, .keep_composite = [](const Step& step) {
                  return has_composite_kernel(step.attributes);
                }});
  nest::LowerOptions lowering;
  lowering.routine = cpu::routine_for;
  lowering.takes_layout = cpu::takes_layout;
  lowering.has_routine = [](const Invocation& step) {
    return step.primitive.name == "composite" && has_composite_kernel(step.attributes);
  };
  nest::Plan plan = nest::lower(fast, lowering);
  const cpu::SharingLimits limits = cpu::sharing_limits();
  nest::tile_kernels(plan);
  nest::share_launches(plan, {limits.least_ns, limits.chunk_ns});
  nest::plan_memory(plan);
  return plan;
}

std::vector<std::unique_ptr<detail::CallFrame>>& free_frames() {
  thread_local std::vector<std::unique_ptr<detail::CallFrame>> frames;
  return frames;
}

}  // namespace

struct CompiledProgram::Content {
  Program program;
  std::vector<TensorType> input_types;
  cpu::Executable executable;
};

CompiledProgram compile_program(Program program, const CompileOptions& options) {
  nest::Plan plan = planned(program, options);
  std::shared_ptr<const cpu::Code> code = cpu::code_for(plan, options.tier);
  std::vector<TensorType> types = program.input_types();
  // In place, for an executable does not move.
  return CompiledProgram(std::shared_ptr<const CompiledProgram::Content>(
      new CompiledProgram::Content{std::move(program), std::move(types),
                                   cpu::Executable(std::move(plan), std::move(code))}));
}

std::vector<Tensor> CompiledProgram::operator()(std::vector<Tensor> inputs,
                                                const Location& at) const {
  const std::vector<TensorType>& types = content_->input_types;
  require(inputs.size() == types.size(), at, [&] {
    return Complaint{"compiled program: it takes " + std::to_string(types.size()) +
                     " inputs, got " + std::to_string(inputs.size())};
  });
  std::vector<cpu::Executable::Input> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require(inputs[i].array(at).type == types[i], at, [&] {
      return Complaint{"compiled program: input `" + content_->program.input_names()[i] + "` is " +
                           to_string(inputs[i].type()) + ", not " + to_string(types[i]),
                       "compile(f) compiles again where types change"};
    });
    given.emplace_back(&inputs[i]);
  }
  std::vector<Tensor> outputs(content_->program.outputs().size());
  content_->executable.run(given, outputs, at);
  return outputs;
}

const Program& CompiledProgram::program() const { return content_->program; }
std::int64_t CompiledProgram::peak_bytes() const { return content_->executable.plan().arena_bytes; }
std::string CompiledProgram::tier() const { return content_->executable.code().describe(); }
void CompiledProgram::release() const { content_->executable.release(); }
const cpu::Executable& CompiledProgram::executable() const { return content_->executable; }

RawFunction CompiledProgram::raw() const {
  return {[](const void* context, const std::byte* const* inputs, std::byte* const* outputs) {
            static_cast<const cpu::Executable*>(context)->run_raw(inputs, outputs);
          },
          &content_->executable};
}

namespace detail {

CallFrameScope::CallFrameScope() {
  auto& free = free_frames();
  if (free.empty()) {
    frame_ = std::make_unique<CallFrame>();
  } else {
    frame_ = std::move(free.back());
    free.pop_back();
  }
}

CallFrameScope::~CallFrameScope() {
  frame_->clear();
  free_frames().push_back(std::move(frame_));
}

CompileCache::CompileCache(CompileOptions options, const Location& at)
    : options_(std::move(options)), at_(at) {
  require(options_.cache > 0, at, [] {
    return Complaint{"compile: a cache of 0 signatures", "CompileOptions::cache is at least 1"};
  });
}

CompileCache::EntryPtr CompileCache::find_locked(const CallSignature& signature) {
  const auto is_same = [&](const EntryPtr& entry) {
    return entry->words == signature.words &&
           std::equal(entry->statics.begin(), entry->statics.end(), signature.statics.begin(),
                      signature.statics.end(), [](const StaticValue& a, const StaticValue& b) {
                        return a.equal(a.value, b.value);
                      });
  };
  const auto found = std::find_if(entries_.begin(), entries_.end(), is_same);
  if (found == entries_.end()) return nullptr;
  std::rotate(entries_.begin(), found, found + 1);
  return entries_.front();
}

CompileCache::EntryPtr CompileCache::find(const CallSignature& signature) {
  const std::scoped_lock lock(mutex_);
  return find_locked(signature);
}

CompileCache::EntryPtr CompileCache::compile(const CallSignature& signature,
                                             const std::function<CapturedCall()>& capture) {
  const std::scoped_lock compiling(compiling_);
  if (EntryPtr entry = find(signature)) return entry;
  std::optional<NameScope> scope;
  if (!options_.name.empty()) scope.emplace(options_.name);
  CapturedCall captured = capture();
  std::vector<std::shared_ptr<const void>> copies;
  std::vector<StaticValue> statics = signature.statics;
  for (StaticValue& value : statics) {
    copies.push_back(value.copy(value.value));
    value.value = copies.back().get();
  }
  const std::size_t output_count = captured.program.outputs().size();
  const auto entry =
      std::make_shared<const Entry>(Entry{signature.words, std::move(statics), std::move(copies),
                                          compile_program(std::move(captured.program), options_),
                                          output_count, std::move(captured.skeleton)});
  const std::scoped_lock lock(mutex_);
  ++compilations_;
  if (!entries_.empty() && compilations_ >= std::min(thrashing, options_.cache + 1) &&
      !has_hinted_) {
    has_hinted_ = true;
    hint(*entries_.front(), *entry);
  }
  entries_.insert(entries_.begin(), entry);
  if (entries_.size() > options_.cache) entries_.pop_back();
  return entry;
}

void CompileCache::hint(const Entry& before, const Entry& now) const {
  const Program& old_program = before.program.program();
  const Program& new_program = now.program.program();
  const std::vector<TensorType> old_types = old_program.input_types();
  const std::vector<TensorType> new_types = new_program.input_types();
  std::string change;
  if (old_types.size() != new_types.size()) {
    change = "the arguments went from " + std::to_string(old_types.size()) + " tensors to " +
             std::to_string(new_types.size());
  }
  for (std::size_t i = 0; i < new_types.size() && change.empty(); ++i) {
    if (old_types[i] != new_types[i]) {
      change = "argument `" + new_program.input_names()[i] + "` went from " +
               to_string(old_types[i]) + " to " + to_string(new_types[i]);
    }
  }
  if (change.empty()) change = "a static member of an argument changed";
  std::cerr << "hom: " << (options_.name.empty() ? "a function" : "`" + options_.name + "`")
            << ", compiled at " << to_string(at_) << ", has been compiled " << compilations_
            << " times; at last " << change
            << ". Each change compiles anew: pad to a few shapes, or leave it uncompiled.\n";
}

std::vector<CompiledProgram> CompileCache::programs() const {
  const std::scoped_lock lock(mutex_);
  std::vector<CompiledProgram> programs;
  for (const EntryPtr& entry : entries_) programs.push_back(entry->program);
  return programs;
}

std::size_t CompileCache::compilations() const {
  const std::scoped_lock lock(mutex_);
  return compilations_;
}

void CompileCache::clear() {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

void run_entry(const CompileCache::Entry& entry, CallFrame& frame, const Location& at) {
  const std::size_t count = frame.leaves.size();
  frame.inputs.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    CallLeaf& leaf = frame.leaves[i];
    frame.inputs[i] = leaf.borrowed != nullptr ? CallInput(leaf.borrowed)
                      : !leaf.given.is_empty() ? CallInput(&leaf.given)
                                               : CallInput(leaf.number.data());
  }
  frame.outputs.resize(entry.output_count);
  entry.program.executable().run(frame.inputs, frame.outputs, at);
}

void require_number_results(const Program& program, const std::vector<Dtype>& dtypes,
                            const Location& at) {
  const std::vector<TensorType> types = program.output_types();
  bool same = types.size() == dtypes.size();
  for (std::size_t i = 0; same && i < types.size(); ++i) same = types[i] == dtypes[i][{}];
  require(same, at, [&] {
    std::string given;
    std::string wanted;
    for (const TensorType& type : types) given += (given.empty() ? "" : ", ") + to_string(type);
    for (const Dtype dtype : dtypes) wanted += (wanted.empty() ? "" : ", ") + to_string(dtype[{}]);
    return Complaint{
        "native: the function gives (" + given + "), its signature says (" + wanted + ")",
        "the numbers of the signature are the results in order; convert with astype, "
        "or call compile(f) for arrays"};
  });
}

void fail_no_slot(std::size_t slots, const Location& at) {
  fail({"native: " + std::to_string(slots) +
            " functions of this signature are alive, and there is no plain pointer for more",
        "drop some of them, or call the compiled function itself: compile(f) has no such bound"},
       at);
}

}  // namespace detail

}  // namespace hom
