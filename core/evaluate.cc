// core/evaluate.cc -- running steps and programs on concrete tensors
#include <algorithm>
#include <utility>

#include <hom/core/capture.h>
#include <hom/core/executor.h>

namespace hom {
namespace {

thread_local Executor* scoped_executor = nullptr;

TensorList to_list(std::vector<Tensor> tensors) {
  TensorList list;
  for (Tensor& x : tensors) list.push_back(std::move(x));
  return list;
}

std::vector<Tensor> to_vector(TensorList::iterator begin, TensorList::iterator end) {
  return {std::make_move_iterator(begin), std::make_move_iterator(end)};
}

}  // namespace

ExecutorScope::ExecutorScope(Executor& executor)
    : previous_(std::exchange(scoped_executor, &executor)) {}
ExecutorScope::~ExecutorScope() { scoped_executor = previous_; }

Executor& current_executor() { return scoped_executor ? *scoped_executor : default_executor(); }

TensorList execute(const Invocation& step, TensorList operands) {
  static const Primitive* const call = &standard_primitives().find("call");
  static const Primitive* const cond = &standard_primitives().find("cond");
  if (&step.primitive == call) {
    return to_list(evaluate(*step.attributes.program("program"),
                            to_vector(operands.begin(), operands.end()), step.at));
  }
  if (&step.primitive == cond) {
    const char* branch = operands[0].item<bool>() ? "then" : "otherwise";
    return to_list(evaluate(*step.attributes.program(branch),
                            to_vector(operands.begin() + 1, operands.end()), step.at));
  }
  return current_executor().execute(step, std::move(operands));
}

std::vector<Tensor> evaluate(const Program& program, std::vector<Tensor> inputs,
                             const Location& at) {
  static const Primitive* const captured = &standard_primitives().find("captured");
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

  // Mentions of slots as operands are numbered through the program; each slot is moved out at its
  // last one.
  constexpr std::size_t never = SIZE_MAX;
  std::vector<std::size_t> last_mention(program.slot_count(), never);
  std::size_t mention = 0;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    for (Slot slot : program.step(i).operands) last_mention[slot] = mention++;
  }
  for (Slot slot : program.outputs()) last_mention[slot] = never;
  mention = 0;

  std::vector<TensorType> types;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    if (&step.primitive == captured) {
      slots[step.first_result] =
          program.captured()[static_cast<std::size_t>(step.attributes.integer("index"))];
      continue;
    }
    TensorList operands;
    for (Slot slot : step.operands) {
      operands.push_back(last_mention[slot] == mention++ ? std::move(slots[slot]) : slots[slot]);
    }
    types.clear();
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      types.push_back(program.type(step.first_result + r));
    const LocationScope line(step.at);
    std::optional<NameScope> scope;
    if (!step.scope.empty()) scope.emplace(step.scope);
    TensorList results =
        execute(Invocation{step.primitive, step.attributes, types, step.at}, std::move(operands));
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      slots[step.first_result + r] = std::move(results[r]);
  }

  std::vector<Tensor> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(slots[slot]);
  return outputs;
}

}  // namespace hom
