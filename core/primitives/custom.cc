// core/primitives/custom.cc -- functions whose derivatives, or kernels, are given: custom_jvp,
// custom_vjp, custom_linear, composite, checkpoint
//
// Their programs take arguments…, then what the closure held.
#include <algorithm>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/programs.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

std::vector<TensorType> program_type(const Typing& typing) {
  const Program& program = *typing.attributes.program("program");
  require_inputs(typing, program, typing.operands);
  return program.output_types();
}

/// By a kernel of the executor's own, or by the decomposition.
TensorList run_composite(const Invocation& step, TensorList operands) {
  if (std::optional<TensorList> results = current_executor().composite(step, operands))
    return std::move(*results);
  return run_call(step, std::move(operands));
}

std::vector<TensorType> floats_of(std::span<const TensorType> types) {
  std::vector<TensorType> list;
  for (const TensorType& type : types) {
    if (type.dtype.is_float()) list.push_back(type);
  }
  return list;
}

void append(std::vector<TensorType>& list, std::span<const TensorType> types) {
  list.insert(list.end(), types.begin(), types.end());
}

/// Throws unless the program has these inputs and outputs.
void require_signature(const Typing& typing, const char* role, const Program& program,
                       const std::vector<TensorType>& inputs,
                       const std::vector<TensorType>& outputs) {
  typing.require(program.input_types() == inputs && program.output_types() == outputs, [&] {
    return Complaint{typing.primitive.name + ": the " + role + " takes (" +
                     list_types(program.input_types()) + ") and returns (" +
                     list_types(program.output_types()) + "), not (" + list_types(inputs) +
                     ") and (" + list_types(outputs) + ")"};
  });
}

/// What a rule takes besides its arguments must not vary: nobody said how it does.
void require_constant_closure(const LinearizingCall& at, std::size_t arguments, const char* name) {
  for (std::size_t i = arguments; i < at.dx.size(); ++i) {
    if (at.dx[i].is_empty()) continue;
    fail({std::string(name) + ": the function holds a tensor " + to_string(at.x[i].type()) +
              " in its closure that is differentiated",
          "the rule covers arguments only: pass the tensor as one of them"},
         LocationScope::current(Location::current()));
  }
}

/// Tangents of the float operands among the first, zeros where they do not vary.
void append_tangents(std::vector<Tensor>& list, const LinearizingCall& at, std::size_t begin,
                     std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (!at.x[i].dtype().is_float()) continue;
    list.push_back(at.dx[i].is_empty() ? zeros_like(at.x[i]) : at.dx[i]);
  }
}

/// Results with a tangent for each float among them.
PrimalAndTangent with_tangents(std::vector<Tensor> y, std::span<const Tensor> tangents) {
  PrimalAndTangent both;
  both.y = std::move(y);
  std::vector<bool> is_float;
  for (const Tensor& result : both.y) is_float.push_back(result.dtype().is_float());
  both.dy = spread(tangents, is_float);
  return both;
}

/// A program batched with all its leading inputs batched, and those of the closure as they are.
ProgramPtr batched_arguments(const Batching& at, const Program& program,
                             std::span<const bool> closure) {
  std::vector<bool> batched(program.inputs().size() - closure.size(), true);
  batched.insert(batched.end(), closure.begin(), closure.end());
  const std::vector<bool> wanted(program.outputs().size(), true);
  const bool masked = !at.alive.is_empty();
  BatchedProgram inner = at.batch(program, batched, masked, &wanted);
  return shared(masked ? mask_last(inner.program) : std::move(inner.program));
}

/// The step with all arguments batched, and its programs likewise: a rule written for one lane
/// holds for each.
std::vector<Tensor> batch_custom(const Batching& at, std::size_t arguments) {
  const std::size_t closure_size = at.x.size() - arguments;
  const auto closure = std::make_unique<bool[]>(closure_size);
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < at.x.size(); ++i) {
    operands.push_back(i < arguments ? at.lifted(i) : at.x[i]);
    if (i >= arguments) closure[i - arguments] = at.batched[i];
  }
  if (!at.alive.is_empty()) operands.push_back(at.alive);
  Attributes attributes;
  for (const auto& [name, value] : at.attributes) {
    const auto* program = std::get_if<ProgramPtr>(&value.value);
    attributes.set(
        name, program ? Attribute{batched_arguments(at, **program, {closure.get(), closure_size})}
                      : value);
  }
  return to_vector(apply(at.primitive, attributes, operands, at.at));
}

// custom_jvp: the rule takes arguments…, results…, tangents of the float arguments…, closure… and
// returns tangents of the float results…

std::vector<TensorType> custom_jvp_type(const Typing& typing) {
  std::vector<TensorType> results = program_type(typing);
  const std::size_t arguments = typing.attributes.count("arguments");
  std::vector<TensorType> inputs;
  append(inputs, typing.operands.first(arguments));
  append(inputs, results);
  append(inputs, floats_of(typing.operands.first(arguments)));
  append(inputs, typing.operands.subspan(arguments));
  require_signature(typing, "rule", *typing.attributes.program("rule"), inputs, floats_of(results));
  return results;
}

/// The rule for some of the tangents, the others being zero. Being linear it is its own derivative,
/// which knows which tangents are absent: zeros would look like constants that are added.
std::vector<Tensor> rule_in_part(const LinearizingCall& at, const Program& rule,
                                 std::vector<Tensor> operands, std::size_t first_tangent,
                                 const std::vector<bool>& varies) {
  std::vector<bool> active(operands.size(), false);
  std::copy(varies.begin(), varies.end(),
            active.begin() + static_cast<std::ptrdiff_t>(first_tangent));
  std::vector<Tensor> tangents;
  for (std::size_t i = 0; i < varies.size(); ++i) {
    Tensor& dx = operands[first_tangent + i];
    if (!varies[i]) continue;
    tangents.push_back(dx);
    dx = zeros_like(dx);
  }
  const std::vector<bool> wanted(rule.outputs().size(), true);
  const Linearization lin = at.linearize(rule, active, &wanted);
  const std::vector<Tensor> primal = apply(lin.primal, operands, Location::current());
  std::vector<Tensor> linear(primal.begin() + static_cast<std::ptrdiff_t>(wanted.size()),
                             primal.end());
  linear.insert(linear.end(), tangents.begin(), tangents.end());
  return apply(lin.linear, linear, Location::current());
}

PrimalAndTangent derivative_of_custom_jvp(const LinearizingCall& at) {
  static const Primitive& p = standard_primitives().find("custom_jvp");
  const std::size_t arguments = at.attributes.count("arguments");
  require_constant_closure(at, arguments, "custom_jvp");
  std::vector<Tensor> y = to_vector(apply(p, at.attributes, at.x, Location::current()));
  std::vector<Tensor> operands(at.x.begin(), at.x.begin() + static_cast<std::ptrdiff_t>(arguments));
  operands.insert(operands.end(), y.begin(), y.end());
  const std::size_t first_tangent = operands.size();
  append_tangents(operands, at, 0, arguments);
  operands.insert(operands.end(), at.x.begin() + static_cast<std::ptrdiff_t>(arguments),
                  at.x.end());
  std::vector<bool> varies;
  for (std::size_t i = 0; i < arguments; ++i) {
    if (at.x[i].dtype().is_float()) varies.push_back(!at.dx[i].is_empty());
  }
  const Program& rule = *at.attributes.program("rule");
  const bool all = std::find(varies.begin(), varies.end(), false) == varies.end();
  const std::vector<Tensor> dy =
      all ? apply(rule, operands, Location::current())
          : rule_in_part(at, rule, std::move(operands), first_tangent, varies);
  return with_tangents(std::move(y), dy);
}

// custom_linear: forward takes residuals…, x…, closure… and returns y…, linear in x; transposed
// takes residuals…, cotangents of y…, closure… and returns cotangents of x….

std::vector<TensorType> custom_linear_type(const Typing& typing) {
  const std::size_t residuals = typing.attributes.count("residuals");
  const std::size_t linear = typing.attributes.count("linear");
  const Program& forward = *typing.attributes.program("forward");
  require_inputs(typing, forward, typing.operands);
  std::vector<TensorType> results = forward.output_types();
  std::vector<TensorType> inputs;
  append(inputs, typing.operands.first(residuals));
  append(inputs, results);
  append(inputs, typing.operands.subspan(residuals + linear));
  const std::span<const TensorType> x = typing.operands.subspan(residuals, linear);
  require_signature(typing, "transposed function", *typing.attributes.program("transposed"), inputs,
                    {x.begin(), x.end()});
  return results;
}

PrimalAndTangent derivative_of_custom_linear(const LinearizingCall& at) {
  static const Primitive& p = standard_primitives().find("custom_linear");
  const std::size_t residuals = at.attributes.count("residuals");
  const std::size_t end = residuals + at.attributes.count("linear");
  bool linear_varies = false;
  bool others_vary = false;
  for (std::size_t i = 0; i < at.dx.size(); ++i) {
    bool& varies = residuals <= i && i < end ? linear_varies : others_vary;
    varies = varies || !at.dx[i].is_empty();
  }
  std::vector<Tensor> y = to_vector(apply(p, at.attributes, at.x, Location::current()));
  std::vector<Tensor> dy(y.size());
  if (linear_varies) {
    std::vector<Tensor> operands(at.x.begin(), at.x.end());
    for (std::size_t i = residuals; i < end; ++i)
      operands[i] = at.dx[i].is_empty() ? zeros_like(at.x[i]) : at.dx[i];
    dy = to_vector(apply(p, at.attributes, operands, Location::current()));
  }
  if (others_vary) {
    // In what it is not linear in, as any program.
    std::vector<Tensor> dx(at.dx.begin(), at.dx.end());
    for (std::size_t i = residuals; i < end; ++i) dx[i] = Tensor();
    const PrimalAndTangent other = linearized_call({at.attributes, at.x, dx, at.linearize, {}},
                                                   *at.attributes.program("forward"));
    for (std::size_t k = 0; k < dy.size(); ++k) {
      if (other.dy[k].is_empty()) continue;
      dy[k] = dy[k].is_empty() ? other.dy[k] : dy[k] + other.dy[k];
    }
  }
  return {std::move(y), std::move(dy)};
}

void transpose_custom_linear(const Transposing& at) {
  const std::size_t residuals = at.attributes.count("residuals");
  const std::size_t end = residuals + at.attributes.count("linear");
  std::vector<Tensor> operands(at.x.begin(), at.x.begin() + static_cast<std::ptrdiff_t>(residuals));
  const std::vector<TensorType> results = at.attributes.program("forward")->output_types();
  for (std::size_t k = 0; k < results.size(); ++k)
    operands.push_back(at.ct[k].is_empty() ? zeros(results[k]) : at.ct[k]);
  operands.insert(operands.end(), at.x.begin() + static_cast<std::ptrdiff_t>(end), at.x.end());
  for (std::size_t i = 0; i < at.linear.size(); ++i) {
    const bool is_linear_operand = residuals <= i && i < end;
    if (at.linear[i] && !is_linear_operand) at.not_linear("a residual depends on the input");
    if (is_linear_operand && !at.linear[i] && !is_zero(at.x[i]))
      at.not_linear("one operand does not depend on the input, so the result is only affine");
  }
  const TensorList contributions = apply(at.primitive,
                                         {{"forward", at.attributes.get("transposed")},
                                          {"transposed", at.attributes.get("forward")},
                                          {"residuals", at.attributes.get("residuals")},
                                          {"linear", {static_cast<std::int64_t>(results.size())}}},
                                         operands, at.at);
  for (std::size_t i = residuals; i < end; ++i) {
    if (at.linear[i]) at.add(i, contributions[i - residuals]);
  }
}

// custom_vjp: forward takes arguments…, closure… and returns results…, residuals…; backward takes
// residuals…, cotangents of the float results…, closure… and returns cotangents of the float
// arguments….

std::vector<TensorType> custom_vjp_type(const Typing& typing) {
  std::vector<TensorType> results = program_type(typing);
  const std::size_t arguments = typing.attributes.count("arguments");
  const Program& forward = *typing.attributes.program("forward");
  require_inputs(typing, forward, typing.operands);
  const std::vector<TensorType> kept = forward.output_types();
  typing.require(
      kept.size() >= results.size() && std::equal(results.begin(), results.end(), kept.begin()),
      [&] {
        return Complaint{"custom_vjp: forward returns (" + list_types(kept) +
                             "), which does not start with the results (" + list_types(results) +
                             ") of the function",
                         "forward returns the same results and then the residuals"};
      });
  std::vector<TensorType> inputs(kept.begin() + static_cast<std::ptrdiff_t>(results.size()),
                                 kept.end());
  append(inputs, floats_of(results));
  append(inputs, typing.operands.subspan(arguments));
  require_signature(typing, "backward function", *typing.attributes.program("backward"), inputs,
                    floats_of(typing.operands.first(arguments)));
  return results;
}

/// residuals…, tangents…, closure… ↦ tangents of the results: the transpose of `backward`, or
/// nothing where that is not linear in the cotangents.
std::optional<Program> forward_of(const LinearizingCall& at, const Program& backward,
                                  std::size_t residuals, std::size_t closure) {
  const std::size_t inputs = backward.inputs().size();
  std::vector<bool> linear(inputs, false);
  std::fill(linear.begin() + static_cast<std::ptrdiff_t>(residuals),
            linear.end() - static_cast<std::ptrdiff_t>(closure), true);
  try {
    // It takes residuals…, closure…, tangents….
    const Program forward = at.transpose(backward, linear);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < residuals; ++i) order.push_back(i);
    for (std::size_t i = residuals + closure; i < forward.inputs().size(); ++i) order.push_back(i);
    for (std::size_t i = 0; i < closure; ++i) order.push_back(residuals + i);
    return rearranged(forward, order);
  } catch (const Error&) {
    return std::nullopt;
  }
}

PrimalAndTangent derivative_of_custom_vjp(const LinearizingCall& at) {
  static const Primitive& call = standard_primitives().find("call");
  static const Primitive& custom_linear = standard_primitives().find("custom_linear");
  static const Primitive& reverse_only = standard_primitives().find("reverse_only");
  const std::size_t arguments = at.attributes.count("arguments");
  require_constant_closure(at, arguments, "custom_vjp");
  const std::size_t results = at.attributes.program("program")->outputs().size();
  const ProgramPtr& backward = at.attributes.program("backward");
  const TensorList kept =
      apply(call, {{"program", at.attributes.get("forward")}}, at.x, Location::current());
  std::vector<Tensor> y(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(results));
  const std::size_t residuals = kept.size() - results;
  std::vector<Tensor> operands(kept.begin() + static_cast<std::ptrdiff_t>(results), kept.end());
  append_tangents(operands, at, 0, arguments);
  const std::size_t linear = operands.size() - residuals;
  operands.insert(operands.end(), at.x.begin() + static_cast<std::ptrdiff_t>(arguments),
                  at.x.end());
  std::optional<Program> forward = forward_of(at, *backward, residuals, at.x.size() - arguments);
  const Attribute residual_count{static_cast<std::int64_t>(residuals)};
  const Attribute linear_count{static_cast<std::int64_t>(linear)};
  const TensorList dy = forward ? apply(custom_linear,
                                        {{"forward", {shared(std::move(*forward))}},
                                         {"transposed", {backward}},
                                         {"residuals", residual_count},
                                         {"linear", linear_count}},
                                        operands, Location::current())
                                : apply(reverse_only,
                                        {{"transposed", {backward}},
                                         {"residuals", residual_count},
                                         {"linear", linear_count}},
                                        operands, Location::current());
  return with_tangents(std::move(y), {dy.data(), dy.size()});
}

// reverse_only: the linear part of a custom_vjp whose backward function is not linear, so that it
// cannot be turned round: residuals…, tangents…, closure….

std::vector<TensorType> reverse_only_type(const Typing& typing) {
  const std::size_t residuals = typing.attributes.count("residuals");
  const std::size_t linear = typing.attributes.count("linear");
  const std::size_t closure = typing.operands.size() - residuals - linear;
  const std::vector<TensorType> inputs = typing.attributes.program("transposed")->input_types();
  return {inputs.begin() + static_cast<std::ptrdiff_t>(residuals),
          inputs.end() - static_cast<std::ptrdiff_t>(closure)};
}

TensorList run_reverse_only(const Invocation& step, TensorList) {
  fail({"jvp: this function has a custom_vjp whose backward function is not linear in the "
        "cotangent, so it has no forward mode",
        "use grad or vjp, or give the rule by custom_jvp"},
       step.at);
}

void transpose_reverse_only(const Transposing& at) {
  static const Primitive& call = standard_primitives().find("call");
  const std::size_t residuals = at.attributes.count("residuals");
  const std::size_t end = residuals + at.attributes.count("linear");
  const ProgramPtr& backward = at.attributes.program("transposed");
  const std::vector<TensorType> types = backward->input_types();
  std::vector<Tensor> operands(at.x.begin(), at.x.begin() + static_cast<std::ptrdiff_t>(residuals));
  for (std::size_t k = 0; k < at.ct.size(); ++k)
    operands.push_back(at.ct[k].is_empty() ? zeros(types[residuals + k]) : at.ct[k]);
  operands.insert(operands.end(), at.x.begin() + static_cast<std::ptrdiff_t>(end), at.x.end());
  const TensorList contributions = apply(call, {{"program", {backward}}}, operands, at.at);
  for (std::size_t i = residuals; i < end; ++i) {
    if (at.linear[i]) at.add(i, contributions[i - residuals]);
  }
}

// checkpoint: the linear part takes the operands instead of residuals, and computes these again.

PrimalAndTangent derivative_of_checkpoint(const LinearizingCall& at) {
  static const Primitive& p = standard_primitives().find("checkpoint");
  const Program& program = *at.attributes.program("program");
  const std::vector<bool> active = present(at.dx);
  const Linearization lin = at.linearize(program, active, nullptr);
  PrimalAndTangent both;
  both.y = to_vector(apply(p, at.attributes, at.x, Location::current()));
  both.dy.resize(both.y.size());
  if (!any_marked(lin.output_varies)) return both;
  Builder builder;
  const std::vector<Slot> x = builder.add_inputs_of(program);
  const std::vector<Slot> primal = builder.append_program(lin.primal, x);
  std::vector<Slot> linear(primal.begin() + static_cast<std::ptrdiff_t>(both.y.size()),
                           primal.end());
  const std::vector<TensorType> types = lin.linear.input_types();
  for (std::size_t i = lin.residual_count; i < types.size(); ++i)
    linear.push_back(builder.add_input(types[i], lin.linear.input_names()[i]));
  std::vector<Slot> outputs = builder.append_program(lin.linear, linear);
  std::vector<Tensor> operands(at.x.begin(), at.x.end());
  append_present(operands, at.dx);
  const TensorList tangents = apply(
      p,
      {{"program",
        {shared(std::move(builder).finish(std::move(outputs), {lin.linear.name(), {}, {}}))}}},
      operands, Location::current());
  both.dy = spread({tangents.data(), tangents.size()}, lin.output_varies);
  return both;
}

TensorList run_program(const Invocation& step, TensorList operands, const char* attribute) {
  std::vector<Tensor> inputs(std::make_move_iterator(operands.begin()),
                             std::make_move_iterator(operands.end()));
  return to_list(evaluate(*step.attributes.program(attribute), std::move(inputs), step.at));
}

}  // namespace

void add_custom_primitives(PrimitiveTable& table) {
  const AttributeSpec program{"program", Kind::program};
  const AttributeSpec arguments{"arguments", Kind::integer};
  const AttributeSpec residuals{"residuals", Kind::integer};
  const AttributeSpec linear{"linear", Kind::integer};
  const BatchRule batch_arguments = [](const Batching& at) {
    return batch_custom(at, at.attributes.count("arguments"));
  };
  const BatchRule batch_linear = [](const Batching& at) {
    return batch_custom(at, at.attributes.count("residuals") + at.attributes.count("linear"));
  };
  table.add({.name = "custom_jvp",
             .min_operands = 0,
             .max_operands = INT32_MAX,
             .attributes = {program, {"rule", Kind::program}, arguments},
             .type = custom_jvp_type,
             .call_derivative = derivative_of_custom_jvp,
             .batch = batch_arguments,
             .partial = true,
             .run = run_call,
             .shapes = "the program's",
             .formula = "the rule given"});
  table.add(
      {.name = "custom_vjp",
       .min_operands = 0,
       .max_operands = INT32_MAX,
       .attributes = {program, {"forward", Kind::program}, {"backward", Kind::program}, arguments},
       .type = custom_vjp_type,
       .call_derivative = derivative_of_custom_vjp,
       .batch = batch_arguments,
       .partial = true,
       .run = run_call,
       .shapes = "the program's",
       .formula = "the backward function given, transposed"});
  table.add(
      {.name = "custom_linear",
       .min_operands = 0,
       .max_operands = INT32_MAX,
       .attributes = {{"forward", Kind::program}, {"transposed", Kind::program}, residuals, linear},
       .dtypes = floats,
       .type = custom_linear_type,
       .call_derivative = derivative_of_custom_linear,
       .transpose = transpose_custom_linear,
       .batch = batch_linear,
       .partial = true,
       .run = [](const Invocation& step,
                 TensorList operands) { return run_program(step, std::move(operands), "forward"); },
       .shapes = "the program's",
       .formula = "itself on dx; its transpose is given"});
  table.add({.name = "reverse_only",
             .min_operands = 0,
             .max_operands = INT32_MAX,
             .attributes = {{"transposed", Kind::program}, residuals, linear},
             .dtypes = floats,
             .type = reverse_only_type,
             .no_derivative = "its custom_vjp is not linear in the cotangent",
             .transpose = transpose_reverse_only,
             .batch = batch_linear,
             .run = run_reverse_only,
             .shapes = "the program's, turned round"});
  table.add(
      {.name = "composite",
       .min_operands = 0,
       .max_operands = INT32_MAX,
       .attributes = {program, {"name", Kind::string}},
       .type = program_type,
       .call_derivative =
           [](const LinearizingCall& at) {
             return linearized_call(at, *at.attributes.program("program"));
           },
       .transpose =
           [](const Transposing& at) { transpose_by_call(standard_primitives().find("call"), at); },
       .batch =
           [](const Batching& at) {
             // A kernel for the name knows nothing of lanes: the decomposition does.
             return batch_by_call(standard_primitives().find("call"), at);
           },
       .partial = true,
       .run = run_composite,
       .shapes = "the program's",
       .formula = "that of the decomposition"});
  table.add({.name = "checkpoint",
             .min_operands = 0,
             .max_operands = INT32_MAX,
             .attributes = {program},
             .type = program_type,
             .call_derivative = derivative_of_checkpoint,
             .transpose = transpose_call,
             .batch = batch_call,
             .partial = true,
             .run = run_call,
             .cost_factor = 6,
             .shapes = "the program's",
             .formula = "of the program, computed again"});
}

}  // namespace hom
