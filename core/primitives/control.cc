// core/primitives/control.cc -- primitives with programs inside, and barriers
#include <algorithm>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/programs.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

std::vector<TensorType> call_type(const Typing& typing) {
  const Program& program = *typing.attributes.program("program");
  require_inputs(typing, program, typing.operands);
  return program.output_types();
}

std::vector<TensorType> cond_type(const Typing& typing) {
  typing.require(typing.operands[0] == bool_[{}], [&] {
    return Complaint{"cond: the predicate is " + to_string(typing.operands[0]) + ", not bool[]",
                     "where(condition, a, b) chooses element by element"};
  });
  const Program& then = *typing.attributes.program("then");
  const Program& otherwise = *typing.attributes.program("otherwise");
  require_inputs(typing, then, typing.operands.subspan(1));
  require_inputs(typing, otherwise, typing.operands.subspan(1));
  const std::vector<TensorType> results = then.output_types();
  typing.require(results == otherwise.output_types(), [&] {
    return Complaint{"cond: the branches differ in type: then (" + list_types(results) +
                         "), otherwise (" + list_types(otherwise.output_types()) + ")",
                     "both branches return the same structure, dtypes and shapes"};
  });
  return results;
}

const Primitive& cond() {
  static const Primitive& p = standard_primitives().find("cond");
  return p;
}

TensorList run_cond(const Invocation& step, TensorList operands) {
  const char* branch = operands[0].item<bool>() ? "then" : "otherwise";
  std::vector<Tensor> inputs(std::make_move_iterator(operands.begin() + 1),
                             std::make_move_iterator(operands.end()));
  return to_list(evaluate(*step.attributes.program(branch), std::move(inputs), step.at));
}

/// One predicate for all lanes: they all take the same branch.
std::vector<Tensor> batch_branches(const Batching& at) {
  const std::vector<bool> batched(at.batched.begin() + 1, at.batched.end());
  const bool masked = !at.alive.is_empty();
  const Program& then = *at.attributes.program("then");
  const Program& otherwise = *at.attributes.program("otherwise");
  // Each is batched once, as nested ones would take exponential time otherwise.
  const BatchedProgram first = at.batch(then, batched, masked, nullptr);
  const BatchedProgram second = at.batch(otherwise, batched, masked, nullptr);
  std::vector<bool> wanted = first.output_batched;
  for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k] = wanted[k] || second.output_batched[k];
  const auto branch = [&](const BatchedProgram& program) {
    return Attribute{shared(with_batched_outputs(program, wanted, at.size))};
  };
  std::vector<Tensor> operands = with_mask(at.alive, at.x.subspan(1));
  operands.insert(operands.begin(), at.x[0]);
  const TensorList results =
      apply(cond(), {{"then", branch(first)}, {"otherwise", branch(second)}}, operands, at.at);
  return {results.begin(), results.end()};
}

/// A predicate for each lane: both branches run, each for the lanes that take it.
std::vector<Tensor> batch_cond(const Batching& at) {
  if (!at.batched[0]) return batch_branches(at);
  const std::vector<bool> batched(at.batched.begin() + 1, at.batched.end());
  const Tensor& predicate = at.x[0];
  const auto results_of = [&](const char* branch, const Tensor& taken) {
    const BatchedProgram inner = at.batch(*at.attributes.program(branch), batched, true, nullptr);
    const Tensor alive = at.alive.is_empty() ? taken : taken & at.alive;
    return apply(inner.program, with_mask(alive, at.x.subspan(1)), at.at);
  };
  const std::vector<Tensor> a = results_of("then", predicate);
  const std::vector<Tensor> b = results_of("otherwise", !predicate);
  std::vector<Tensor> results;
  for (std::size_t k = 0; k < a.size(); ++k)
    results.push_back(select_lanes(predicate, a[k], b[k], at.result_types[k]));
  return results;
}

PrimalAndTangent derivative_of_call(const LinearizingCall& at) {
  return linearized_call(at, *at.attributes.program("program"));
}

/// The operands that do not vary, then the cotangents: what the transpose of a program inside
/// takes.
std::vector<Tensor> transposed_operands(const Transposing& at) {
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < at.x.size(); ++i) {
    if (!at.linear[i]) operands.push_back(at.x[i]);
  }
  append_present(operands, at.ct);
  return operands;
}

/// Adds the cotangents of the linear operands for which `mask` holds.
void add_present(const Transposing& at, const std::vector<bool>& mask,
                 std::span<const Tensor> contributions) {
  std::size_t varying = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < at.linear.size(); ++i) {
    if (at.linear[i] && mask[varying++]) at.add(i, contributions[next++]);
  }
}

/// Where each branch keeps its residuals in a list that serves both: residuals of one type share a
/// place.
struct MergedResiduals {
  std::vector<TensorType> types;
  std::vector<std::size_t> then_places;
  std::vector<std::size_t> otherwise_places;
};

std::vector<TensorType> residual_types(const Linearization& lin) {
  const std::vector<TensorType> inputs = lin.linear.input_types();
  return {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(lin.residual_count)};
}

MergedResiduals merged(const Linearization& then, const Linearization& otherwise) {
  MergedResiduals all;
  all.types = residual_types(then);
  for (std::size_t i = 0; i < all.types.size(); ++i) all.then_places.push_back(i);
  std::vector<bool> taken(all.types.size());
  for (const TensorType& type : residual_types(otherwise)) {
    std::size_t place = 0;
    while (place < taken.size() && (taken[place] || all.types[place] != type)) ++place;
    if (place == taken.size()) {
      taken.push_back(false);
      all.types.push_back(type);
    }
    taken[place] = true;
    all.otherwise_places.push_back(place);
  }
  return all;
}

Slot append_zeros(Builder& builder, const TensorType& type) {
  return append_literal(builder, {0.0}, type, LocationScope::current(Location::current()),
                        NameScope::current());
}

/// x… ↦ y…, residuals at their places; the other places hold zeros, which are views and take no
/// memory.
Program primal_branch(const Linearization& lin, const MergedResiduals& residuals,
                      const std::vector<std::size_t>& places) {
  Builder builder;
  std::vector<Slot> inputs;
  for (const TensorType& type : lin.primal.input_types())
    inputs.push_back(builder.add_input(type, "x" + std::to_string(inputs.size())));
  const std::vector<Slot> results = builder.append_program(lin.primal, inputs);
  const std::size_t outputs = lin.output_varies.size();
  std::vector<Slot> all(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(outputs));
  for (std::size_t place = 0; place < residuals.types.size(); ++place) {
    const auto found = std::find(places.begin(), places.end(), place);
    if (found != places.end()) {
      all.push_back(results[outputs + static_cast<std::size_t>(found - places.begin())]);
    } else {
      all.push_back(append_zeros(builder, residuals.types[place]));
    }
  }
  return std::move(builder).finish(std::move(all), {lin.primal.name(), {}, {}});
}

/// residuals at their places…, dx… ↦ dy… for the outputs marked, zeros where this branch's do not
/// vary.
Program linear_branch(const Linearization& lin, const MergedResiduals& residuals,
                      const std::vector<std::size_t>& places, const std::vector<bool>& varies) {
  Builder builder;
  std::vector<Slot> residual_slots;
  for (const TensorType& type : residuals.types) {
    residual_slots.push_back(
        builder.add_input(type, "residual" + std::to_string(residual_slots.size())));
  }
  std::vector<Slot> inputs;
  for (std::size_t place : places) inputs.push_back(residual_slots[place]);
  const std::vector<TensorType> types = lin.linear.input_types();
  for (std::size_t i = lin.residual_count; i < types.size(); ++i) {
    inputs.push_back(builder.add_input(types[i], "dx" + std::to_string(i - lin.residual_count)));
  }
  const std::vector<Slot> own = builder.append_program(lin.linear, inputs);
  const std::vector<TensorType> results = lin.primal.output_types();
  std::vector<Slot> outputs;
  std::size_t next = 0;
  for (std::size_t k = 0; k < varies.size(); ++k) {
    if (lin.output_varies[k]) {
      outputs.push_back(own[next++]);
    } else if (varies[k]) {
      outputs.push_back(append_zeros(builder, results[k]));
    }
  }
  return std::move(builder).finish(std::move(outputs), {lin.linear.name(), {}, {}});
}

PrimalAndTangent derivative_of_cond(const LinearizingCall& at) {
  const std::vector<bool> active = present(at.dx.subspan(1));
  const Linearization then = at.linearize(*at.attributes.program("then"), active, nullptr);
  const Linearization otherwise =
      at.linearize(*at.attributes.program("otherwise"), active, nullptr);
  std::vector<bool> varies = then.output_varies;
  for (std::size_t k = 0; k < varies.size(); ++k) {
    varies[k] = varies[k] || otherwise.output_varies[k];
  }
  const MergedResiduals residuals = merged(then, otherwise);
  const std::size_t outputs = then.output_varies.size();
  const TensorList primal = apply(
      cond(),
      {{"then", {shared(primal_branch(then, residuals, residuals.then_places))}},
       {"otherwise", {shared(primal_branch(otherwise, residuals, residuals.otherwise_places))}}},
      at.x, Location::current());
  PrimalAndTangent both;
  both.y.assign(primal.begin(), primal.begin() + static_cast<std::ptrdiff_t>(outputs));
  both.dy.resize(outputs);
  if (std::find(varies.begin(), varies.end(), true) == varies.end()) return both;
  std::vector<Tensor> operands{at.x[0]};
  operands.insert(operands.end(), primal.begin() + static_cast<std::ptrdiff_t>(outputs),
                  primal.end());
  append_present(operands, at.dx);
  const TensorList tangents =
      apply(cond(),
            {{"then", {shared(linear_branch(then, residuals, residuals.then_places, varies))}},
             {"otherwise",
              {shared(linear_branch(otherwise, residuals, residuals.otherwise_places, varies))}}},
            operands, Location::current());
  both.dy = spread({tangents.data(), tangents.size()}, varies);
  return both;
}

void transpose_cond(const Transposing& at) {
  if (at.linear[0]) at.not_linear("the predicate depends on the input");
  const std::vector<bool> linear(at.linear.begin() + 1, at.linear.end());
  const auto transposed = [&](const char* branch) {
    return at.transpose(with_outputs(*at.attributes.program(branch), present(at.ct)), linear, {});
  };
  const Program then = transposed("then");
  const Program otherwise = transposed("otherwise");
  std::vector<bool> mask = nonzero_outputs(then);
  const std::vector<bool> other = nonzero_outputs(otherwise);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = mask[i] || other[i];
  const TensorList results = apply(cond(),
                                   {{"then", {shared(with_outputs(then, mask))}},
                                    {"otherwise", {shared(with_outputs(otherwise, mask))}}},
                                   transposed_operands(at), Location::current());
  add_present(at, mask, {results.data(), results.size()});
}

}  // namespace

void add_control_primitives(PrimitiveTable& table) {
  table.add({.name = "call",
             .min_operands = 0,
             .max_operands = INT32_MAX,
             .attributes = {{"program", Kind::program}},
             .type = call_type,
             .call_derivative = derivative_of_call,
             .transpose = transpose_call,
             .batch = batch_call,
             .partial = true,
             .run = run_call,
             .cost_factor = 4,
             .shapes = "the program's",
             .formula = "call of the linearised program"});
  table.add({.name = "cond",
             .max_operands = INT32_MAX,
             .attributes = {{"then", Kind::program}, {"otherwise", Kind::program}},
             .type = cond_type,
             .call_derivative = derivative_of_cond,
             .transpose = transpose_cond,
             .batch = batch_cond,
             .partial = true,
             .run = run_cond,
             .cost_factor = 4,
             .shapes = "bool [], operands of both programs → their results",
             .formula = "cond of the linearised programs"});
  table.add(
      {.name = "barrier",
       .max_operands = INT32_MAX,
       .type =
           [](const Typing& typing) {
             return std::vector<TensorType>(typing.operands.begin(), typing.operands.end());
           },
       .derivative =
           [](const Linearizing& at) { return std::vector<Tensor>(at.dx.begin(), at.dx.end()); },
       .transpose =
           [](const Transposing& at) {
             for (std::size_t i = 0; i < at.ct.size(); ++i) {
               if (at.linear[i] && !at.ct[i].is_empty()) at.add(i, at.ct[i]);
             }
           },
       .batch = [](const Batching& at) -> std::vector<Tensor> {
         const TensorList results = apply(at.primitive, at.attributes, at.x, at.at);
         return {results.begin(), results.end()};
       },
       .cost_factor = 2,
       .shapes = "s… → s…",
       .formula = "dx…"});
}

}  // namespace hom
