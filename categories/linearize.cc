// categories/linearize.cc -- one walk over the steps, then the split into primal and linear parts
#include <hom/categories/linearize.h>

#include <algorithm>

#include <hom/categories/transpose.h>
#include <hom/core/capture.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

/// Records f and f′ in one capture, each derivative step on behalf of the line of its primal step.
struct Walk {
  Capture capture{Location::current()};
  std::vector<Tensor> primal;
  std::vector<Tensor> tangent;
  std::vector<Slot> tangent_inputs;

  void step(const Program& program, std::size_t index);
  void call(const Step& step, std::span<const Tensor> x, std::span<const Tensor> dx);
};

void require_derivative(const Step& step, bool has_rule) {
  require(has_rule, step.at, [&] {
    return Complaint{step.primitive.name + ": has no derivative: " + step.primitive.no_derivative,
                     "stop_gradient(x) declares that an operand does not vary"};
  });
}

void Walk::call(const Step& step, std::span<const Tensor> x, std::span<const Tensor> dx) {
  const PrimalAndTangent both = step.primitive.call_derivative(
      {step.attributes, x, dx,
       [](const Program& inner, const std::vector<bool>& active, const std::vector<bool>* wanted) {
         return linearize(inner, active, wanted);
       },
       [](const Program& inner, const std::vector<bool>& linear) {
         return transpose(inner, linear);
       }});
  for (std::uint32_t r = 0; r < step.result_count; ++r) {
    primal[step.first_result + r] = both.y[r];
    const bool varies = !both.dy[r].is_empty() && !capture.builder().is_zero(both.dy[r].slot());
    if (varies) tangent[step.first_result + r] = both.dy[r];
  }
}

void Walk::step(const Program& program, std::size_t index) {
  const Step step = program.step(index);
  const LocationScope line(step.at);
  std::optional<NameScope> scope;
  if (!step.scope.empty()) scope.emplace(step.scope);
  TensorList x;
  TensorList dx;
  bool varies = false;
  for (Slot slot : step.operands) {
    x.push_back(primal[slot]);
    dx.push_back(tangent[slot]);
    varies = varies || !tangent[slot].is_empty();
  }
  if (varies && step.primitive.call_derivative) {
    call(step, {x.data(), x.size()}, {dx.data(), dx.size()});
    return;
  }

  Builder& builder = capture.builder();
  SmallVector<Slot, 4> operands;
  for (const Tensor& operand : x) operands.push_back(operand.slot());
  const Slot first = builder.append_step(program, step, {operands.data(), operands.size()});
  bool float_result = false;
  for (std::uint32_t r = 0; r < step.result_count; ++r) {
    primal[step.first_result + r] = capture.symbol(first + r, step.at);
    float_result = float_result || builder.type(first + r).dtype.is_float();
  }
  if (!varies || !float_result) return;
  require_derivative(step, static_cast<bool>(step.primitive.derivative));
  const std::vector<Tensor> dy =
      step.primitive.derivative({step.primitive,
                                 step.attributes,
                                 {x.data(), x.size()},
                                 {&primal[step.first_result], step.result_count},
                                 {dx.data(), dx.size()}});
  for (std::uint32_t r = 0; r < step.result_count; ++r) {
    // A tangent that cancelled to zero, as that of x·0, or that has no elements, is absent: later
    // steps need not be linear in it.
    const bool varying = builder.type(first + r).dtype.is_float() && !dy[r].is_empty() &&
                         !builder.is_zero(dy[r].slot());
    if (varying) tangent[step.first_result + r] = dy[r];
  }
}

/// Which slots of the joint program depend on a tangent.
std::vector<bool> linear_slots(const Program& joint, const std::vector<Slot>& tangent_inputs) {
  std::vector<bool> linear(joint.slot_count());
  for (Slot slot : tangent_inputs) linear[slot] = true;
  for (std::size_t i = 0; i < joint.step_count(); ++i) {
    const Step step = joint.step(i);
    const bool any = std::any_of(step.operands.begin(), step.operands.end(),
                                 [&](Slot slot) { return linear[slot]; });
    if (!any) continue;
    for (std::uint32_t r = 0; r < step.result_count; ++r) linear[step.first_result + r] = true;
  }
  return linear;
}

/// Leaves are repeated in the linear part instead of becoming residuals: they cost nothing to make
/// again.
bool is_leaf(const Program& program, Slot slot) {
  const std::uint32_t step = program.definition(slot);
  return step != Program::is_none && program.step(step).operands.empty();
}

/// What the linear part of a joint program consists of.
struct LinearPart {
  /// The slots that it needs.
  std::vector<bool> needed;
  std::vector<bool> linear;
  /// What it needs of the rest, in order.
  std::vector<Slot> residuals;

  /// Whether the step belongs to it.
  bool has(const Step& step) const {
    for (std::uint32_t r = 0; r < step.result_count; ++r) {
      const Slot slot = step.first_result + r;
      if (needed[slot] && (linear[slot] || step.operands.empty())) return true;
    }
    return false;
  }
};

LinearPart linear_part(const Program& joint, const std::vector<Slot>& tangent_inputs,
                       const std::vector<Slot>& outputs) {
  LinearPart part{std::vector<bool>(joint.slot_count()), linear_slots(joint, tangent_inputs), {}};
  const auto need = [&](Slot slot) {
    if (part.needed[slot]) return;
    part.needed[slot] = true;
    if (!part.linear[slot] && !is_leaf(joint, slot)) part.residuals.push_back(slot);
  };
  for (Slot slot : outputs) need(slot);
  for (std::size_t i = joint.step_count(); i-- > 0;) {
    const Step step = joint.step(i);
    if (!part.has(step)) continue;
    for (Slot slot : step.operands) need(slot);
  }
  std::sort(part.residuals.begin(), part.residuals.end());
  return part;
}

/// residuals…, tangents… ↦ outputs
Program extracted(const Program& joint, const LinearPart& part, std::size_t primal_inputs,
                  const std::vector<Slot>& outputs, std::string name) {
  Builder builder;
  std::vector<Slot> moved(joint.slot_count());
  for (Slot slot : part.residuals) {
    moved[slot] = builder.add_input(joint.type(slot), slot_name(joint, slot));
  }
  for (std::size_t i = primal_inputs; i < joint.inputs().size(); ++i) {
    const Slot slot = joint.inputs()[i];
    moved[slot] = builder.add_input(joint.type(slot), joint.input_names()[i]);
  }
  for (std::size_t i = 0; i < joint.step_count(); ++i) {
    const Step step = joint.step(i);
    if (!part.has(step)) continue;
    SmallVector<Slot, 4> operands;
    for (Slot slot : step.operands) operands.push_back(moved[slot]);
    const Slot first = builder.append_step(joint, step, {operands.data(), operands.size()});
    for (std::uint32_t r = 0; r < step.result_count; ++r) moved[step.first_result + r] = first + r;
  }
  std::vector<Slot> results;
  for (Slot slot : outputs) results.push_back(moved[slot]);
  return std::move(builder).finish(std::move(results), {std::move(name), {}, {}});
}

std::string derivative_name(const Program& program) {
  return program.name().empty() ? "" : "d_" + program.name();
}

}  // namespace

Linearization linearize(const Program& program, const std::vector<bool>& active,
                        const std::vector<bool>* wanted) {
  Walk walk;
  walk.primal.resize(program.slot_count());
  walk.tangent.resize(program.slot_count());
  const std::vector<TensorType> types = program.input_types();
  for (std::size_t i = 0; i < types.size(); ++i) {
    walk.primal[program.inputs()[i]] = walk.capture.input(types[i], program.input_names()[i]);
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!active[i] || !types[i].dtype.is_float()) continue;
    const Tensor dx = walk.capture.input(types[i], "d" + program.input_names()[i]);
    walk.tangent[program.inputs()[i]] = dx;
    walk.tangent_inputs.push_back(dx.slot());
  }
  for (std::size_t i = 0; i < program.step_count(); ++i) walk.step(program, i);

  Linearization result;
  std::vector<Slot> primal_outputs;
  std::vector<Slot> tangent_outputs;
  for (std::size_t k = 0; k < program.outputs().size(); ++k) {
    const Slot slot = program.outputs()[k];
    const Tensor& y = walk.primal[slot];
    const Tensor& dy = walk.tangent[slot];
    primal_outputs.push_back(y.slot());
    const bool is_float = program.type(slot).dtype.is_float();
    result.output_varies.push_back(is_float && (wanted ? (*wanted)[k] : !dy.is_empty()));
    if (!result.output_varies.back()) continue;
    const LocationScope line(y.location());
    tangent_outputs.push_back((dy.is_empty() ? zeros(program.type(slot)) : dy).slot());
  }

  // Split: the linear part takes as residuals what it uses of the primal part.
  const Program& joint = walk.capture.builder().program();
  const LinearPart part = linear_part(joint, walk.tangent_inputs, tangent_outputs);
  result.residual_count = part.residuals.size();
  result.linear = extracted(joint, part, types.size(), tangent_outputs, derivative_name(program));
  primal_outputs.insert(primal_outputs.end(), part.residuals.begin(), part.residuals.end());
  result.primal =
      std::move(walk.capture.builder())
          .finish(std::move(primal_outputs), {program.name(), program.domain(), {}}, types.size());
  return result;
}

}  // namespace hom
