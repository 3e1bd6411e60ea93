// categories/transpose.cc -- one walk over the steps, backwards
#include <hom/categories/transpose.h>

#include <algorithm>

#include <hom/core/capture.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

struct Walk {
  const Program& program;
  Capture capture{Location::current()};
  std::vector<bool> linear;
  /// Values of the slots that are not linear.
  std::vector<Tensor> value;
  std::vector<Tensor> cotangent;

  explicit Walk(const Program& p)
      : program(p), linear(p.slot_count()), value(p.slot_count()), cotangent(p.slot_count()) {}

  bool depends_on_input(const Step& step) const {
    return std::any_of(step.operands.begin(), step.operands.end(),
                       [&](Slot slot) { return linear[slot]; });
  }

  void forward(const Step& step);
  void backward(const Step& step);
};

void Walk::forward(const Step& step) {
  if (depends_on_input(step)) {
    for (std::uint32_t r = 0; r < step.result_count; ++r) linear[step.first_result + r] = true;
    return;
  }
  Builder& builder = capture.builder();
  SmallVector<Slot, 4> operands;
  SmallVector<TensorType, 4> types;
  std::vector<bool> zero;
  for (Slot slot : step.operands) {
    operands.push_back(value[slot].slot());
    types.push_back(program.type(slot));
    zero.push_back(builder.is_zero(operands.back()));
  }
  const LocationScope line(step.at);
  if (is_zero_by_linearity(step.primitive, {types.data(), types.size()}, zero)) {
    // Known to be zero, so that a sum with it is linear and not only affine.
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      value[step.first_result + r] = zeros(program.type(step.first_result + r));
    return;
  }
  const Slot first = builder.append_step(program, step, {operands.data(), operands.size()});
  for (std::uint32_t r = 0; r < step.result_count; ++r)
    value[step.first_result + r] = capture.symbol(first + r, step.at);
}

void Walk::backward(const Step& step) {
  if (!linear[step.first_result]) return;
  const std::span<const Tensor> ct(&cotangent[step.first_result], step.result_count);
  // Cotangents without elements are as good as absent.
  bool any = false;
  for (std::uint32_t r = 0; r < step.result_count; ++r) {
    any = any || (!ct[r].is_empty() && program.type(step.first_result + r).size() > 0);
  }
  if (!any) return;
  const LocationScope line(step.at);
  std::optional<NameScope> scope;
  if (!step.scope.empty()) scope.emplace(step.scope);

  TensorList x;
  SmallVector<TensorType, 4> types;
  std::vector<bool> varies;
  for (Slot slot : step.operands) {
    x.push_back(value[slot]);
    types.push_back(program.type(slot));
    varies.push_back(linear[slot]);
  }
  // The first mention of an operand takes its cotangent so far, so that a step which names it twice
  // adds in one place.
  TensorList accumulators(step.operands.size());
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    if (varies[i]) accumulators[i] = std::exchange(cotangent[step.operands[i]], Tensor());
  }
  const Transposing context{
      step.primitive,
      step.attributes,
      {x.data(), x.size()},
      {types.data(), types.size()},
      varies,
      ct,
      {accumulators.data(), accumulators.size()},
      step.at,
      [](const Program& inner, const std::vector<bool>& marked, const std::vector<bool>& started) {
        return transpose(inner, marked, started);
      }};
  if (!step.primitive.transpose) context.not_linear("it has no transpose");
  step.primitive.transpose(context);
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    if (!varies[i] || accumulators[i].is_empty()) continue;
    Tensor& sum = cotangent[step.operands[i]];
    sum = sum.is_empty() ? accumulators[i]
                         : Operand(sum, step.at) + Operand(accumulators[i], step.at);
  }
}

/// The line of the step that defines the slot; for an input, none is better than this file's.
const Location& line_of(const Program& program, Slot slot) {
  static const Location here = Location::current();
  const std::uint32_t step = program.definition(slot);
  return step == Program::is_none ? LocationScope::current(here) : program.step(step).at;
}

}  // namespace

Program transpose(const Program& program, const std::vector<bool>& linear_inputs,
                  const std::vector<bool>& accumulated) {
  Walk walk(program);
  for (std::size_t i = 0; i < program.inputs().size(); ++i) {
    const Slot slot = program.inputs()[i];
    if (linear_inputs[i]) {
      walk.linear[slot] = true;
    } else {
      walk.value[slot] = walk.capture.input(program.type(slot), program.input_names()[i]);
    }
  }
  std::vector<Tensor> seeds;
  for (std::size_t k = 0; k < program.outputs().size(); ++k) {
    seeds.push_back(
        walk.capture.input(program.type(program.outputs()[k]), "ct" + std::to_string(k)));
  }
  for (std::size_t i = 0; i < accumulated.size(); ++i) {
    const Slot slot = program.inputs()[i];
    if (accumulated[i]) {
      walk.cotangent[slot] =
          walk.capture.input(program.type(slot), "ct_" + program.input_names()[i]);
    }
  }
  for (std::size_t i = 0; i < program.step_count(); ++i) walk.forward(program.step(i));
  for (std::size_t k = 0; k < program.outputs().size(); ++k) {
    const Slot slot = program.outputs()[k];
    Tensor& sum = walk.cotangent[slot];
    const bool zero = !walk.linear[slot] && walk.capture.builder().is_zero(walk.value[slot].slot());
    if (!walk.linear[slot] && !zero) {
      fail({"transpose: output " + std::to_string(k) +
                " does not depend on the inputs linearly: it is constant",
            "transpose takes linear functions; differentiate others with vjp or grad"},
           walk.value[slot].location());
    }
    const LocationScope line(line_of(program, slot));
    sum = sum.is_empty() ? seeds[k] : sum + seeds[k];
  }
  for (std::size_t i = program.step_count(); i-- > 0;) walk.backward(program.step(i));

  std::vector<Tensor> results;
  for (std::size_t i = 0; i < program.inputs().size(); ++i) {
    if (!linear_inputs[i]) continue;
    const Slot slot = program.inputs()[i];
    // Without outputs there is no line to name.
    std::optional<LocationScope> line;
    if (!program.outputs().empty()) line.emplace(line_of(program, program.outputs()[0]));
    results.push_back(walk.cotangent[slot].is_empty() ? zeros(program.type(slot))
                                                      : walk.cotangent[slot]);
  }
  const std::string name = program.name().empty() ? "" : program.name() + "_transposed";
  return walk.capture.finish(results, {name, {}, {}}, Location::current()).program;
}

}  // namespace hom
