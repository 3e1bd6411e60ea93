// core/primitives/programs.cc -- what primitives with programs inside share
#include <hom/core/primitives/programs.h>

#include <algorithm>
#include <numeric>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {

ProgramPtr shared(Program program) { return std::make_shared<const Program>(std::move(program)); }

TensorList to_list(std::vector<Tensor> tensors) {
  TensorList list;
  for (Tensor& x : tensors) list.push_back(std::move(x));
  return list;
}

std::vector<Tensor> to_vector(const TensorList& tensors) {
  return {tensors.begin(), tensors.end()};
}

std::vector<bool> present(std::span<const Tensor> tensors) {
  std::vector<bool> mask;
  for (const Tensor& x : tensors) mask.push_back(!x.is_empty());
  return mask;
}

void append_present(std::vector<Tensor>& list, std::span<const Tensor> tensors) {
  for (const Tensor& x : tensors) {
    if (!x.is_empty()) list.push_back(x);
  }
}

std::vector<Tensor> spread(std::span<const Tensor> present_ones, const std::vector<bool>& mask) {
  std::vector<Tensor> list(mask.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) list[i] = present_ones[next++];
  }
  return list;
}

bool any_marked(const std::vector<bool>& mask) {
  return std::find(mask.begin(), mask.end(), true) != mask.end();
}

Program rearranged(const Program& program, std::span<const std::size_t> inputs,
                   std::span<const std::size_t> outputs) {
  Builder builder;
  std::vector<Slot> slots(inputs.size());
  for (std::size_t i : inputs)
    slots[i] = builder.add_input(program.type(program.inputs()[i]), program.input_names()[i]);
  const std::vector<Slot> all = builder.append_program(program, slots);
  std::vector<Slot> chosen;
  for (std::size_t k : outputs) chosen.push_back(all[k]);
  return std::move(builder).finish(std::move(chosen), {program.name(), {}, {}});
}

Program rearranged(const Program& program, std::span<const std::size_t> inputs) {
  std::vector<std::size_t> outputs(program.outputs().size());
  std::iota(outputs.begin(), outputs.end(), std::size_t{0});
  return rearranged(program, inputs, outputs);
}

Program with_outputs(const Program& program, const std::vector<bool>& wanted) {
  Builder builder;
  const std::vector<Slot> all = builder.append_program(program, builder.add_inputs_of(program));
  std::vector<Slot> outputs;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (wanted[k]) outputs.push_back(all[k]);
  }
  return std::move(builder).finish(std::move(outputs), {program.name(), program.domain(), {}});
}

std::vector<bool> nonzero_outputs(const Program& program) {
  std::vector<bool> mask;
  for (Slot slot : program.outputs()) {
    const std::uint32_t step = program.definition(slot);
    const bool literal =
        step != Program::is_none && program.step(step).primitive.name == "constant";
    mask.push_back(!literal || number<double>(program.step(step).attributes.get("value")) != 0);
  }
  return mask;
}

std::vector<bool> dependent_slots(const Program& program, const std::vector<bool>& inputs) {
  std::vector<bool> dependent(program.slot_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) dependent[program.inputs()[i]] = inputs[i];
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    const bool any = std::any_of(step.operands.begin(), step.operands.end(),
                                 [&](Slot slot) { return dependent[slot]; });
    for (std::uint32_t r = 0; r < step.result_count; ++r) dependent[step.first_result + r] = any;
  }
  return dependent;
}

std::vector<bool> dependent_outputs(const Program& program, const std::vector<bool>& inputs) {
  const std::vector<bool> slots = dependent_slots(program, inputs);
  std::vector<bool> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(slots[slot]);
  return outputs;
}

std::vector<bool> with_dependent_carries(const Program& body, std::vector<bool> inputs,
                                         std::size_t carries) {
  for (bool grew = true; grew;) {
    grew = false;
    const std::vector<bool> outputs = dependent_outputs(body, inputs);
    for (std::size_t i = 0; i < carries; ++i) {
      if (outputs[i] && !inputs[i]) inputs[i] = grew = true;
    }
  }
  return inputs;
}

std::vector<bool> lasting_zeros(const Program& body, std::vector<bool> inputs,
                                std::size_t carries) {
  for (bool shrank = true; shrank;) {
    shrank = false;
    const std::vector<bool> outputs = zero_outputs(body, inputs);
    for (std::size_t i = 0; i < carries; ++i) {
      if (inputs[i] && !outputs[i]) {
        inputs[i] = false;
        shrank = true;
      }
    }
  }
  return inputs;
}

namespace {

/// Which results of a step are zero where the operands marked are. It looks into programs: linear
/// parts of functions with a name are calls.
std::vector<bool> zero_results(const Program& program, const Step& step,
                               const std::vector<bool>& zero_operands) {
  const Attributes& a = step.attributes;
  const std::string& name = step.primitive.name;
  if (name == "call" || name == "checkpoint" || name == "composite")
    return zero_outputs(*a.program("program"), zero_operands);
  if (name == "custom_linear") return zero_outputs(*a.program("forward"), zero_operands);
  if (name == "scan") {
    const Program& body = *a.program("body");
    return zero_outputs(body, lasting_zeros(body, zero_operands, a.count("carries")));
  }
  if (name == "cond") {
    const std::vector<bool> rest(zero_operands.begin() + 1, zero_operands.end());
    std::vector<bool> both = zero_outputs(*a.program("then"), rest);
    const std::vector<bool> otherwise = zero_outputs(*a.program("otherwise"), rest);
    for (std::size_t k = 0; k < both.size(); ++k) both[k] = both[k] && otherwise[k];
    return both;
  }
  if (name == "constant") return {number<double>(a.get("value")) == 0};
  std::vector<TensorType> types;
  for (Slot slot : step.operands) types.push_back(program.type(slot));
  return std::vector<bool>(step.result_count,
                           is_zero_by_linearity(step.primitive, types, zero_operands));
}

}  // namespace

std::vector<bool> zero_outputs(const Program& program, const std::vector<bool>& inputs) {
  std::vector<bool> zero(program.slot_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) zero[program.inputs()[i]] = inputs[i];
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    std::vector<bool> of_operands;
    for (Slot slot : step.operands) of_operands.push_back(zero[slot]);
    const std::vector<bool> results = zero_results(program, step, of_operands);
    std::copy(results.begin(), results.end(), zero.begin() + step.first_result);
  }
  std::vector<bool> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(zero[slot]);
  return outputs;
}

Program restricted(const Program& program, const std::vector<bool>& inputs,
                   const std::vector<Slot>& outputs) {
  std::vector<bool> others = inputs;
  others.flip();
  const std::vector<bool> left_out = dependent_slots(program, others);
  Builder builder;
  std::vector<Slot> moved(program.slot_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Slot slot = program.inputs()[i];
    if (inputs[i]) moved[slot] = builder.add_input(program.type(slot), program.input_names()[i]);
  }
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    if (left_out[step.first_result]) continue;
    operands.clear();
    for (Slot slot : step.operands) operands.push_back(moved[slot]);
    const Slot first = builder.append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) moved[step.first_result + r] = first + r;
  }
  std::vector<Slot> results;
  for (Slot slot : outputs) {
    ensure(!left_out[slot], "restricted: an output needs an input that is left out");
    results.push_back(moved[slot]);
  }
  return std::move(builder).finish(std::move(results), {program.name(), {}, {}});
}

void require_inputs(const Typing& typing, const Program& program,
                    std::span<const TensorType> operands) {
  const std::vector<TensorType> inputs = program.input_types();
  typing.require(std::equal(inputs.begin(), inputs.end(), operands.begin(), operands.end()), [&] {
    return Complaint{typing.primitive.name + ": the program takes (" + list_types(inputs) +
                     "), got (" + list_types(operands) + ")"};
  });
}

PrimalAndTangent linearized_call(const LinearizingCall& at, const Program& program) {
  static const Primitive& call = standard_primitives().find("call");
  Linearization lin = at.linearize(program, present(at.dx), nullptr);
  const auto outputs = static_cast<std::ptrdiff_t>(lin.output_varies.size());
  const TensorList primal =
      apply(call, {{"program", {shared(std::move(lin.primal))}}}, at.x, Location::current());
  PrimalAndTangent both;
  both.y.assign(primal.begin(), primal.begin() + outputs);
  both.dy.resize(lin.output_varies.size());
  if (!any_marked(lin.output_varies)) return both;
  std::vector<Tensor> operands(primal.begin() + outputs, primal.end());
  append_present(operands, at.dx);
  const TensorList tangents =
      apply(call, {{"program", {shared(std::move(lin.linear))}}}, operands, Location::current());
  both.dy = spread({tangents.data(), tangents.size()}, lin.output_varies);
  return both;
}

void transpose_by_call(const Primitive& call, const Transposing& at) {
  const Program body =
      at.transpose(with_outputs(*at.attributes.program("program"), present(at.ct)), at.linear, {});
  const std::vector<bool> mask = nonzero_outputs(body);
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < at.x.size(); ++i) {
    if (!at.linear[i]) operands.push_back(at.x[i]);
  }
  append_present(operands, at.ct);
  const TensorList results =
      apply(call, {{"program", {shared(with_outputs(body, mask))}}}, operands, at.at);
  std::size_t varying = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < at.linear.size(); ++i) {
    if (at.linear[i] && mask[varying++]) at.add(i, results[next++]);
  }
}

void transpose_call(const Transposing& at) { transpose_by_call(at.primitive, at); }

std::vector<Tensor> batch_by_call(const Primitive& call, const Batching& at) {
  BatchedProgram inner =
      at.batch(*at.attributes.program("program"), at.batched, !at.alive.is_empty(), nullptr);
  return to_vector(apply(call, {{"program", {shared(std::move(inner.program))}}},
                         with_mask(at.alive, at.x), at.at));
}

std::vector<Tensor> batch_call(const Batching& at) { return batch_by_call(at.primitive, at); }

TensorList run_call(const Invocation& step, TensorList operands) {
  std::vector<Tensor> inputs(std::make_move_iterator(operands.begin()),
                             std::make_move_iterator(operands.end()));
  return to_list(evaluate(*step.attributes.program("program"), std::move(inputs), step.at));
}

std::vector<Tensor> with_mask(const Tensor& alive, std::span<const Tensor> operands) {
  std::vector<Tensor> all;
  if (!alive.is_empty()) all.push_back(alive);
  all.insert(all.end(), operands.begin(), operands.end());
  return all;
}

Program with_batched_outputs(const BatchedProgram& batched, const std::vector<bool>& wanted,
                             std::int64_t size) {
  static const Primitive& broadcast = standard_primitives().find("broadcast_in_dim");
  const Program& program = batched.program;
  Builder builder;
  std::vector<Slot> outputs = builder.append_program(program, builder.add_inputs_of(program));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!wanted[k] || batched.output_batched[k]) continue;
    Shape shape = builder.type(outputs[k]).shape;
    const Shape axes = iota_shape(shape.size(), 1);
    shape.insert(shape.begin(), size);
    outputs[k] = builder.append(broadcast, {{"shape", {shape}}, {"axes", {axes}}}, {outputs[k]},
                                LocationScope::current(Location::current()));
  }
  return std::move(builder).finish(std::move(outputs), {program.name(), program.domain(), {}});
}

BatchedProgram batched_body(const Batching& at, const Program& body, std::vector<bool>& batched,
                            std::size_t carries) {
  // Nearly always right at once, so that nested loops are batched once each.
  batched = with_dependent_carries(body, std::move(batched), carries);
  const bool masked = !at.alive.is_empty();
  for (;;) {
    BatchedProgram inner = at.batch(body, batched, masked, nullptr);
    bool grew = false;
    std::vector<bool> wanted = inner.output_batched;
    for (std::size_t i = 0; i < carries; ++i) {
      if (inner.output_batched[i] && !batched[i]) batched[i] = grew = true;
      wanted[i] = batched[i];
    }
    if (grew) continue;
    inner.program = with_batched_outputs(inner, wanted, at.size);
    if (masked) inner.program = mask_last(inner.program);
    return {std::move(inner.program), std::move(wanted)};
  }
}

Program mask_last(const Program& program) {
  std::vector<std::size_t> order(program.inputs().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::rotate(order.begin(), order.begin() + 1, order.end());
  return rearranged(program, order);
}

Tensor select_lanes(const Tensor& condition, const Tensor& a, const Tensor& b,
                    const TensorType& type) {
  Shape column(type.shape.size() + 1, 1);
  column[0] = condition.shape()[0];
  return where(reshape(condition, column), a, b);
}

}  // namespace hom
