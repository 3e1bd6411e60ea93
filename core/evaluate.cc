// core/evaluate.cc -- running steps and programs on concrete tensors
#include <algorithm>
#include <utility>

#include <hom/core/capture.h>
#include <hom/core/executor.h>

namespace hom {
namespace {

thread_local Executor* scoped_executor = nullptr;

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
