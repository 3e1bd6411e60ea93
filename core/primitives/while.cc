// core/primitives/while.cc -- while: a program that runs on its own results as long as another says
//
// Condition and body take carries…, constants…; the body returns the carries' next values. With a
// bound it is differentiated as a scan.
#include <algorithm>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/loops.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

std::vector<TensorType> while_type(const Typing& typing) {
  const std::int64_t carries = typing.attributes.integer("carries");
  const auto operands = static_cast<std::int64_t>(typing.operands.size());
  typing.require(0 <= carries && carries <= operands && typing.attributes.integer("bound") >= -1,
                 [&] {
                   return Complaint{"while: " + std::to_string(carries) + " carries of " +
                                    std::to_string(operands) + " operands, bound " +
                                    std::to_string(typing.attributes.integer("bound"))};
                 });
  const Program& condition = *typing.attributes.program("condition");
  const Program& body = *typing.attributes.program("body");
  require_inputs(typing, condition, typing.operands);
  require_inputs(typing, body, typing.operands);
  const std::vector<TensorType> test = condition.output_types();
  typing.require(test.size() == 1 && test[0] == bool_[{}], [&] {
    return Complaint{"while_loop: the condition gives " + list_types(test) + ", not bool[]",
                     "all_of(…) and any_of(…) make one truth value of many"};
  });
  const std::span<const TensorType> types =
      typing.operands.first(static_cast<std::size_t>(carries));
  require_carries(typing, body, types);
  typing.require(body.outputs().size() == types.size(), [&] {
    return Complaint{"while_loop: the body returns " + list_types(body.output_types()) + ", not (" +
                     list_types(types) + ")"};
  });
  return {types.begin(), types.end()};
}

TensorList run_while(const Invocation& step, TensorList operands) {
  const Attributes& a = step.attributes;
  const std::size_t carries = a.count("carries");
  const std::int64_t bound = a.integer("bound");
  const Evaluation condition(*a.program("condition"));
  const Evaluation body(*a.program("body"));
  std::vector<Tensor> carry(std::make_move_iterator(operands.begin()),
                            std::make_move_iterator(operands.begin() + carries));
  for (std::int64_t n = 0; bound < 0 || n < bound; ++n) {
    std::vector<Tensor> inputs = carry;
    inputs.insert(inputs.end(), operands.begin() + carries, operands.end());
    if (!condition(inputs, step.at)[0].item<bool>()) break;
    carry.clear();  // so that the body may overwrite what dies in it
    carry = body(std::move(inputs), step.at);
  }
  return to_list(std::move(carry));
}

Attributes while_attributes(Program condition, Program body, std::size_t carries,
                            std::int64_t bound) {
  return {{"condition", {shared(std::move(condition))}},
          {"body", {shared(std::move(body))}},
          {"carries", {static_cast<std::int64_t>(carries)}},
          {"bound", {bound}}};
}

}  // namespace

Program bounded_while_as_scan(const Attributes& a, std::span<const TensorType> types) {
  static const Primitive& cond = standard_primitives().find("cond");
  const Location at = LocationScope::current(Location::current());
  const std::size_t carries = a.count("carries");
  // carries…, constants… ↦ whether the loop goes on, or the next carries…
  const auto stop = [&] {
    Capture capture(at);
    capture.inputs(types);
    const Tensor no = full({}, 0, bool_, at);
    return Attribute{shared(capture.finish({&no, 1}, {"stop", {}, {}}, at).program)};
  };
  const auto keep = [&] {
    Capture capture(at);
    const std::vector<Tensor> x = capture.inputs(types);
    return Attribute{shared(capture.finish({x.data(), carries}, {"keep", {}, {}}, at).program)};
  };
  // The condition is asked before each iteration, as the loop does: not after the last one that
  // there may be, and not once it has failed, where it may raise.
  const auto iteration = [&] {
    Capture capture(at);
    std::vector<TensorType> with_flag{bool_[{}]};
    with_flag.insert(with_flag.end(), types.begin(), types.end());
    std::vector<Tensor> x = capture.inputs(with_flag);
    x[0] = apply(cond, {{"then", a.get("condition")}, {"otherwise", stop()}}, x, at)[0];
    const TensorList y = apply(cond, {{"then", a.get("body")}, {"otherwise", keep()}}, x, at);
    std::vector<Tensor> next{x[0]};
    next.insert(next.end(), y.begin(), y.end());
    return capture.finish(next, {a.program("body")->name(), {}, {}}, at).program;
  };
  Capture capture(at);
  std::vector<Tensor> x = capture.inputs(types);
  x.insert(x.begin(), full({}, 1, bool_, at));
  const TensorList y =
      scan_step(shared(iteration()), {carries + 1, 0, a.integer("bound"), false}, x, at);
  return capture.finish({y.data() + 1, carries}, {}, at).program;
}

namespace {

/// Without a bound the residuals of all iterations have no place, so the linear part runs the loop
/// again, value and tangent side by side. It cannot be transposed.
PrimalAndTangent derivative_of_while(const LinearizingCall& at) {
  static const Primitive& loop = standard_primitives().find("while");
  const Attributes& a = at.attributes;
  const Program& condition = *a.program("condition");
  const Program& body = *a.program("body");
  const std::size_t carries = a.count("carries");
  const std::vector<TensorType> types = body.input_types();
  if (a.integer("bound") >= 0) return linearized_call(at, bounded_while_as_scan(a, types));

  std::vector<bool> active = with_dependent_carries(body, present(at.dx), carries);
  for (std::size_t i = 0; i < active.size(); ++i)
    active[i] = active[i] && types[i].dtype.is_float();
  const std::vector<bool> wanted(active.begin(),
                                 active.begin() + static_cast<std::ptrdiff_t>(carries));
  const Linearization lin = at.linearize(body, active, &wanted);

  PrimalAndTangent both;
  both.y = to_vector(apply(loop, a, at.x, Location::current()));
  both.dy.resize(carries);
  if (!any_marked(wanted)) return both;

  // carries…, their tangents…, constants…, their tangents…
  Builder condition_builder;
  Builder body_builder;
  std::vector<Slot> tested;
  std::vector<Slot> values;
  std::vector<Slot> tangents;
  std::vector<Tensor> operands;
  const auto take = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string& name = body.input_names()[i];
      tested.push_back(condition_builder.add_input(types[i], name));
      values.push_back(body_builder.add_input(types[i], name));
      operands.push_back(at.x[i]);
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (!active[i]) continue;
      condition_builder.add_input(types[i], "d" + body.input_names()[i]);
      tangents.push_back(body_builder.add_input(types[i], "d" + body.input_names()[i]));
      operands.push_back(at.dx[i].is_empty() ? zeros_like(at.x[i]) : at.dx[i]);
    }
  };
  take(0, carries);
  const std::size_t all_carries = operands.size();
  take(carries, types.size());
  std::vector<Slot> test = condition_builder.append_program(condition, tested);
  const std::vector<Slot> primal = body_builder.append_program(lin.primal, values);
  std::vector<Slot> linear(primal.begin() + static_cast<std::ptrdiff_t>(carries), primal.end());
  linear.insert(linear.end(), tangents.begin(), tangents.end());
  std::vector<Slot> outputs(primal.begin(), primal.begin() + static_cast<std::ptrdiff_t>(carries));
  for (Slot dy : body_builder.append_program(lin.linear, linear)) outputs.push_back(dy);
  const TensorList results =
      apply(loop,
            while_attributes(
                std::move(condition_builder).finish(std::move(test), {condition.name(), {}, {}}),
                std::move(body_builder).finish(std::move(outputs), {body.name(), {}, {}}),
                all_carries, -1),
            operands, Location::current());
  both.dy = spread({results.data() + carries, results.size() - carries}, wanted);
  return both;
}

void transpose_while(const Transposing& at) {
  fail({"grad: a while_loop without a bound has no reverse mode, because the number of iterations "
        "whose values it would keep is not known",
        "give a bound: while_loop(condition, body, init, {.bound = n}); or use fori_loop or scan "
        "with a fixed length; or, for an iteration to a fixed point, implicit(…), which "
        "differentiates the solution and not the iteration"},
       at.at);
}

/// One predicate for all lanes.
std::vector<Tensor> batch_while_together(const Batching& at, const std::vector<bool>& batched,
                                         Program condition, Program body) {
  const Attributes& a = at.attributes;
  const std::size_t carries = a.count("carries");
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < at.x.size(); ++i)
    operands.push_back(i < carries && batched[i] ? at.lifted(i) : at.x[i]);
  if (!at.alive.is_empty()) {
    // Where no lane is alive the loop must not run: it need not end.
    operands.push_back(at.alive);
    condition = mask_last(condition);
    Capture capture(at.at);
    const std::vector<Tensor> x = capture.inputs(condition.input_types());
    const Tensor goes_on = any_of(x.back()) & apply(condition, x, at.at)[0];
    condition = capture.finish({&goes_on, 1}, {condition.name(), {}, {}}, at.at).program;
  }
  return to_vector(
      apply(at.primitive,
            while_attributes(std::move(condition), std::move(body), carries, a.integer("bound")),
            operands, at.at));
}

/// A predicate for each lane: the loop runs while any lane does, and lanes that have stopped keep
/// their values. The carry is (how many iterations are left, which lanes run, carries…); the first
/// is there with a bound only, so that after the last iteration the condition is not asked again.
std::vector<Tensor> batch_while_by_lane(const Batching& at, std::vector<bool> batched) {
  const Attributes& a = at.attributes;
  const std::size_t carries = a.count("carries");
  const std::int64_t bound = a.integer("bound");
  const std::size_t runs = bound >= 0 ? 1 : 0;  // the place of "which lanes run"
  std::fill_n(batched.begin(), carries, true);
  const std::vector<bool> wanted(carries, true);
  const std::vector<bool> yes{true};
  const Program condition = at.batch(*a.program("condition"), batched, true, &yes).program;
  const Program body = at.batch(*a.program("body"), batched, true, &wanted).program;

  std::vector<Tensor> operands;
  if (bound >= 0) operands.push_back(full({}, bound, i64, at.at));
  const Tensor alive = at.alive.is_empty() ? full({at.size}, 1, bool_, at.at) : at.alive;
  operands.push_back(bound == 0 ? full({at.size}, 0, bool_, at.at) : alive);
  for (std::size_t i = 0; i < at.x.size(); ++i)
    operands.push_back(i < carries ? at.lifted(i) : at.x[i]);
  const auto ask = [&](std::vector<Tensor>& x) {
    const std::span<const Tensor> lanes = std::span<const Tensor>(x).subspan(runs);
    const Tensor goes_on = apply(condition, lanes, at.at)[0];
    x[runs] = x[runs] & goes_on;
  };
  ask(operands);
  std::vector<TensorType> types;
  for (const Tensor& x : operands) types.push_back(x.type(at.at));

  const auto any_runs = [&] {
    Capture capture(at.at);
    const Tensor goes_on = any_of(capture.inputs(types)[runs]);
    return capture.finish({&goes_on, 1}, {condition.name(), {}, {}}, at.at).program;
  };
  const auto iteration = [&] {
    Capture capture(at.at);
    std::vector<Tensor> x = capture.inputs(types);
    const std::vector<Tensor> next = apply(body, std::span<const Tensor>(x).subspan(runs), at.at);
    for (std::size_t i = 0; i < carries; ++i) {
      Tensor& carry = x[runs + 1 + i];
      carry = select_lanes(x[runs], next[i], carry, at.types[i]);
    }
    if (bound >= 0) {
      x[0] = x[0] - 1;
      x[runs] = x[runs] & (x[0] > 0);
    }
    ask(x);
    return capture.finish({x.data(), runs + 1 + carries}, {body.name(), {}, {}}, at.at).program;
  };
  std::vector<Tensor> results = to_vector(
      apply(at.primitive, while_attributes(any_runs(), iteration(), runs + 1 + carries, bound),
            operands, at.at));
  results.erase(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(runs + 1));
  return results;
}

std::vector<Tensor> batch_while(const Batching& at) {
  const Attributes& a = at.attributes;
  std::vector<bool> batched = at.batched;
  BatchedProgram body = batched_body(at, *a.program("body"), batched, a.count("carries"));
  BatchedProgram condition =
      at.batch(*a.program("condition"), batched, !at.alive.is_empty(), nullptr);
  return condition.output_batched[0]
             ? batch_while_by_lane(at, std::move(batched))
             : batch_while_together(at, batched, std::move(condition.program),
                                    std::move(body.program));
}

}  // namespace

void add_while_primitive(PrimitiveTable& table) {
  table.add({.name = "while",
             .min_operands = 0,
             .max_operands = INT32_MAX,
             .attributes = {{"condition", Kind::program},
                            {"body", Kind::program},
                            {"carries", Kind::integer},
                            {"bound", Kind::integer}},
             .type = while_type,
             .call_derivative = derivative_of_while,
             .transpose = transpose_while,
             .batch = batch_while,
             .partial = true,
             .run = run_while,
             .cost_factor = 8,
             .shapes = "carries, constants → carries",
             .formula = "with a bound, of the scan that stops early; without, forward only"});
}

}  // namespace hom
