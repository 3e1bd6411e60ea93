// categories/linearize.cc -- one walk over the steps, then the split into primal and linear parts
#include <hom/categories/linearize.h>

#include <algorithm>

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

bool is_literal_zero(const Builder& builder, Slot slot) {
  return builder.is_literal(slot, 0.0) || builder.is_literal(slot, -0.0);
}

void Walk::call(const Step& step, std::span<const Tensor> x, std::span<const Tensor> dx) {
  const PrimalAndTangent both = step.primitive.call_derivative(
      {step.attributes, x, dx,
       [](const Program& inner, const std::vector<bool>& active, const std::vector<bool>* wanted) {
         return linearize(inner, active, wanted);
       }});
  for (std::uint32_t r = 0; r < step.result_count; ++r) {
    primal[step.first_result + r] = both.y[r];
    tangent[step.first_result + r] = both.dy[r];
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
  const bool is_captured = step.primitive.name == "captured";
  const Slot first =
      is_captured
          ? builder.capture(
                program.captured()[static_cast<std::size_t>(step.attributes.integer("index"))],
                step.at)
          : builder.append(step.primitive, step.attributes, {operands.data(), operands.size()},
                           step.at, step.scope);
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
    const TensorType& type = builder.type(first + r);
    const bool varying = type.dtype.is_float() && type.size() > 0 && !dy[r].is_empty() &&
                         !is_literal_zero(builder, dy[r].slot());
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
bool is_leaf(const Builder& builder, Slot slot) {
  const auto step = builder.definition(slot);
  return step && step->operands.empty();
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
    primal_outputs.push_back(walk.primal[slot].slot());
    const bool is_float = program.type(slot).dtype.is_float();
    const bool varies = is_float && (wanted ? (*wanted)[k] : !walk.tangent[slot].is_empty());
    result.output_varies.push_back(varies);
    if (!varies) continue;
    const Tensor dy =
        walk.tangent[slot].is_empty() ? zeros(program.type(slot)) : walk.tangent[slot];
    tangent_outputs.push_back(dy.slot());
  }

  // Split: the linear part takes as residuals what it uses of the primal part.
  const Builder& joint_builder = walk.capture.builder();
  const Program& joint = joint_builder.program();
  const std::vector<bool> linear = linear_slots(joint, walk.tangent_inputs);
  std::vector<bool> needed(joint.slot_count());
  std::vector<Slot> residuals;
  const auto need = [&](Slot slot) {
    if (needed[slot]) return;
    needed[slot] = true;
    if (!linear[slot] && !is_leaf(joint_builder, slot)) residuals.push_back(slot);
  };
  for (Slot slot : tangent_outputs) need(slot);
  for (std::size_t i = joint.step_count(); i-- > 0;) {
    const Step step = joint.step(i);
    bool live = false;
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      live = live || (needed[step.first_result + r] && linear[step.first_result + r]);
    if (!live) continue;
    for (Slot slot : step.operands) need(slot);
  }
  std::sort(residuals.begin(), residuals.end());

  Builder linear_builder;
  std::vector<Slot> moved(joint.slot_count());
  for (Slot slot : residuals)
    moved[slot] = linear_builder.add_input(joint.type(slot), slot_name(joint, slot));
  std::size_t next_input = types.size();
  for (Slot slot : walk.tangent_inputs)
    moved[slot] = linear_builder.add_input(joint.type(slot), joint.input_names()[next_input++]);
  for (std::size_t i = 0; i < joint.step_count(); ++i) {
    const Step step = joint.step(i);
    const bool leaf = step.operands.empty() && needed[step.first_result];
    bool live = leaf;
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      live = live || (needed[step.first_result + r] && linear[step.first_result + r]);
    if (!live) continue;
    SmallVector<Slot, 4> operands;
    for (Slot slot : step.operands) operands.push_back(moved[slot]);
    const Slot first =
        step.primitive.name == "captured"
            ? linear_builder.capture(
                  joint.captured()[static_cast<std::size_t>(step.attributes.integer("index"))],
                  step.at)
            : linear_builder.append(step.primitive, step.attributes,
                                    {operands.data(), operands.size()}, step.at, step.scope);
    for (std::uint32_t r = 0; r < step.result_count; ++r) moved[step.first_result + r] = first + r;
  }
  std::vector<Slot> linear_outputs;
  for (Slot slot : tangent_outputs) linear_outputs.push_back(moved[slot]);

  result.residual_count = residuals.size();
  result.linear = std::move(linear_builder)
                      .finish(std::move(linear_outputs), {derivative_name(program), {}, {}});
  primal_outputs.insert(primal_outputs.end(), residuals.begin(), residuals.end());
  result.primal =
      std::move(walk.capture.builder())
          .finish(std::move(primal_outputs), {program.name(), program.domain(), {}}, types.size());
  return result;
}

}  // namespace hom
