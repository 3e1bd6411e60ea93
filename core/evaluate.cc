// core/evaluate.cc -- running steps and programs on concrete tensors
#include <algorithm>
#include <utility>

#include <hom/core/capture.h>
#include <hom/core/executor.h>

namespace hom {
namespace {

thread_local Executor* scoped_executor = nullptr;

/// Steps whose result shows elements of their operand.
bool is_view(const Primitive& primitive) {
  static const Primitive* const views[] = {
      &standard_primitives().find("slice"), &standard_primitives().find("reshape"),
      &standard_primitives().find("transpose"), &standard_primitives().find("broadcast_in_dim")};
  return std::find(std::begin(views), std::end(views), &primitive) != std::end(views);
}

/// Steps that change a few elements of their first operand.
bool is_update(const Primitive& primitive) {
  static const Primitive* const updates[] = {&standard_primitives().find("update_slice"),
                                             &standard_primitives().find("dynamic_update_slice"),
                                             &standard_primitives().find("scatter")};
  return std::find(std::begin(updates), std::end(updates), &primitive) != std::end(updates);
}

}  // namespace

ExecutorScope::ExecutorScope(Executor& executor)
    : previous_(std::exchange(scoped_executor, &executor)) {}
ExecutorScope::~ExecutorScope() { scoped_executor = previous_; }

Executor& current_executor() { return scoped_executor ? *scoped_executor : default_executor(); }

TensorList execute(const Invocation& step, TensorList operands) {
  if (step.primitive.run) return step.primitive.run(step, std::move(operands));
  return current_executor().execute(step, std::move(operands));
}

Evaluation::Evaluation(const Program& program) : program_(program) {
  // Walking backwards, the first mention of a slot is its last one.
  std::vector<bool> needed(program.slot_count());
  for (Slot slot : program.outputs()) needed[slot] = true;
  std::size_t mentions = 0;
  for (std::size_t i = 0; i < program.step_count(); ++i)
    mentions += program.step(i).operands.size();
  dies_.resize(mentions);
  for (std::size_t i = program.step_count(); i-- > 0;) {
    const std::span<const Slot> operands = program.step(i).operands;
    for (std::size_t k = operands.size(); k-- > 0;) {
      dies_[--mentions] = !needed[operands[k]];
      needed[operands[k]] = true;
    }
  }
  find_detached();
}

void Evaluation::find_detached() {
  const Program& program = program_;
  // The slot whose memory a view shows, and the step that overwrites it, which comes after the
  // view.
  constexpr std::size_t never = 0;
  std::vector<std::size_t> overwritten(program.slot_count(), never);
  std::size_t mention = 0;
  bool any = false;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    if (is_update(step.primitive) && dies_[mention]) {
      overwritten[step.operands[0]] = i;
      any = true;
    }
    mention += step.operands.size();
  }
  if (!any) return;
  std::vector<Slot> shown(program.slot_count());
  for (Slot slot = 0; slot < shown.size(); ++slot) shown[slot] = slot;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    if (is_view(step.primitive)) shown[step.first_result] = shown[step.operands[0]];
  }
  // Backwards: the last step that needs a slot, or a view of it.
  std::vector<std::size_t> last_need(program.slot_count());
  for (Slot slot : program.outputs()) last_need[slot] = program.step_count();
  detached_.resize(program.step_count());
  for (std::size_t i = program.step_count(); i-- > 0;) {
    const Step step = program.step(i);
    for (Slot slot : step.operands) last_need[slot] = std::max(last_need[slot], i);
    if (!is_view(step.primitive)) continue;
    const Slot view = step.first_result;
    const Slot whole = shown[step.operands[0]];
    detached_[i] = overwritten[whole] > i && last_need[view] >= overwritten[whole] &&
                   program.type(view).size() < program.type(whole).size();
    std::size_t& need = last_need[step.operands[0]];
    if (!detached_[i]) need = std::max(need, last_need[view]);
  }
}

std::vector<Tensor> Evaluation::operator()(std::vector<Tensor> inputs, const Location& at) const {
  static const Primitive* const captured = &standard_primitives().find("captured");
  const Program& program = program_;
  require(inputs.size() == program.inputs().size(), at, [&] {
    return Complaint{"evaluate: the program takes " + std::to_string(program.inputs().size()) +
                     " inputs, got " + std::to_string(inputs.size())};
  });
  std::vector<Tensor> slots(program.slot_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& expected = program.type(program.inputs()[i]);
    require(inputs[i].array(at).type == expected, at, [&] {
      return Complaint{"evaluate: input `" + program.input_names()[i] + "` is " +
                       to_string(inputs[i].type()) + ", not " + to_string(expected)};
    });
    slots[program.inputs()[i]] = std::move(inputs[i]);
  }

  std::size_t mention = 0;
  SmallVector<TensorType, 4> types;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    if (&step.primitive == captured) {
      slots[step.first_result] =
          program.captured()[static_cast<std::size_t>(step.attributes.integer("index"))];
      continue;
    }
    TensorList operands;
    for (Slot slot : step.operands) {
      operands.push_back(dies_[mention++] ? std::move(slots[slot]) : slots[slot]);
    }
    types.clear();
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      types.push_back(program.type(step.first_result + r));
    const LocationScope line(step.at);
    std::optional<NameScope> scope;
    if (!step.scope.empty()) scope.emplace(step.scope);
    TensorList results =
        execute(Invocation{step.primitive, step.attributes, {types.data(), types.size()}, step.at},
                std::move(operands));
    if (!detached_.empty() && detached_[i]) results[0] = copy(results[0]);
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      slots[step.first_result + r] = std::move(results[r]);
  }

  std::vector<Tensor> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(slots[slot]);
  return outputs;
}

std::vector<Tensor> evaluate(const Program& program, std::vector<Tensor> inputs,
                             const Location& at) {
  return Evaluation(program)(std::move(inputs), at);
}

}  // namespace hom
