// core/primitives/loops.cc -- scan and while: a program that runs again and again on its own
// results
//
// The body takes carries…, elements of the scanned operands…, constants… and returns the carries'
// next values…, then what `scan` stacks. A derivative of `scan` is a scan forwards and, transposed,
// a scan backwards; a `while` with a bound is differentiated as a scan.
#include <algorithm>
#include <cstring>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/programs.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

const Primitive& scan() {
  static const Primitive& p = standard_primitives().find("scan");
  return p;
}

std::size_t count(const Attributes& attributes, std::string_view name) {
  return static_cast<std::size_t>(attributes.integer(name));
}

TensorType stacked(const TensorType& element, std::int64_t length) {
  TensorType type = element;
  type.shape.insert(type.shape.begin(), length);
  return type;
}

TensorType element(const TensorType& whole) {
  return {whole.dtype, Shape(whole.shape.begin() + 1, whole.shape.end())};
}

/// The parts of a list of operands or of inputs of the body: carries, scanned, constants.
template <class T>
struct Parts {
  std::span<const T> carries, scanned, constants;

  Parts(std::span<const T> all, std::size_t carry_count, std::size_t scanned_count)
      : carries(all.first(carry_count)),
        scanned(all.subspan(carry_count, scanned_count)),
        constants(all.subspan(carry_count + scanned_count)) {}
};

void require_carries(const Typing& typing, const Program& body,
                     std::span<const TensorType> carries) {
  const std::vector<TensorType> results = body.output_types();
  const bool fits = results.size() >= carries.size() &&
                    std::equal(carries.begin(), carries.end(), results.begin());
  typing.require(fits, [&] {
    return Complaint{typing.primitive.name + ": the body takes carries (" + list_types(carries) +
                         ") and returns (" + list_types(results) + ")",
                     "a carry keeps its dtype and shape; convert with astype or reshape"};
  });
}

std::vector<TensorType> scan_type(const Typing& typing) {
  const Attributes& a = typing.attributes;
  const std::int64_t length = a.integer("length");
  const std::int64_t carries = a.integer("carries");
  const std::int64_t scanned = a.integer("scanned");
  const auto operands = static_cast<std::int64_t>(typing.operands.size());
  typing.require(length >= 0 && carries >= 0 && scanned >= 0 && scanned <= operands - carries, [&] {
    return Complaint{"scan: length " + std::to_string(length) + ", " + std::to_string(carries) +
                     " carries and " + std::to_string(scanned) + " scanned operands of " +
                     std::to_string(operands)};
  });
  const Parts<TensorType> parts(typing.operands, count(a, "carries"), count(a, "scanned"));
  std::vector<TensorType> inputs(parts.carries.begin(), parts.carries.end());
  for (const TensorType& x : parts.scanned) {
    typing.require(x.rank() > 0 && x.shape[0] == length, [&] {
      return Complaint{"scan: " + to_string(x) + " has no " + std::to_string(length) +
                           " elements along its first axis",
                       "what is scanned has the iterations as its first axis"};
    });
    inputs.push_back(element(x));
  }
  inputs.insert(inputs.end(), parts.constants.begin(), parts.constants.end());
  const Program& body = *a.program("body");
  require_inputs(typing, body, inputs);
  require_carries(typing, body, parts.carries);
  std::vector<TensorType> results = body.output_types();
  for (std::size_t k = parts.carries.size(); k < results.size(); ++k)
    results[k] = stacked(results[k], length);
  return results;
}

/// Element i along the first axis: a view.
Tensor element_of(const Tensor& x, std::int64_t i) {
  Array view = x.array();
  view.offset += i * view.strides[0];
  view.type.shape.erase(view.type.shape.begin());
  view.strides.erase(view.strides.begin());
  return Tensor(std::make_shared<const Array>(std::move(view)), x.location());
}

/// Writes `y` at place i of `whole`, which nobody else holds.
void write_element(Tensor& whole, std::int64_t i, const Tensor& y, const Location& at) {
  const Array& source = y.array();
  if (source.is_row_major()) {
    const auto bytes = static_cast<std::size_t>(source.type.size()) * source.type.dtype.size();
    const auto from = static_cast<std::size_t>(source.offset) * source.type.dtype.size();
    if (bytes == 0) return;
    std::memcpy(whole.array().buffer->data() + static_cast<std::size_t>(i) * bytes,
                source.buffer->data() + from, bytes);
    return;
  }
  static const Primitive& update = standard_primitives().find("update_slice");
  Shape start(whole.array().type.shape.size(), 0);
  start[0] = i;
  const TensorType type = whole.array().type;
  const Attributes attributes{
      {"start", {start}}, {"step", {Shape(start.size(), 1)}}, {"combine", {std::string("set")}}};
  TensorList operands{std::move(whole), expand_dims(y, 0)};
  whole = execute({update, attributes, {&type, 1}, at}, std::move(operands))[0];
}

TensorList run_scan(const Invocation& step, TensorList operands) {
  const Attributes& a = step.attributes;
  const std::size_t carries = count(a, "carries");
  const std::size_t scanned = count(a, "scanned");
  const std::int64_t length = a.integer("length");
  const Evaluation body(*a.program("body"));
  std::vector<Tensor> results(std::make_move_iterator(operands.begin()),
                              std::make_move_iterator(operands.begin() + carries));
  for (std::size_t k = carries; k < step.result_types.size(); ++k)
    results.emplace_back(Array::allocate(step.result_types[k]));
  std::vector<Tensor> inputs;
  for (std::int64_t n = 0; n < length; ++n) {
    const std::int64_t i = a.boolean("reverse") ? length - 1 - n : n;
    inputs.clear();
    for (std::size_t k = 0; k < carries; ++k) inputs.push_back(std::move(results[k]));
    for (std::size_t k = 0; k < scanned; ++k)
      inputs.push_back(element_of(operands[carries + k], i));
    for (std::size_t k = carries + scanned; k < operands.size(); ++k) inputs.push_back(operands[k]);
    std::vector<Tensor> outputs = body(std::move(inputs), step.at);
    for (std::size_t k = 0; k < carries; ++k) results[k] = std::move(outputs[k]);
    for (std::size_t k = carries; k < outputs.size(); ++k)
      write_element(results[k], i, outputs[k], step.at);
  }
  return to_list(std::move(results));
}

Attributes scan_attributes(Program body, std::size_t carries, std::size_t scanned,
                           std::int64_t length, bool reverse) {
  return {{"body", {shared(std::move(body))}},
          {"carries", {static_cast<std::int64_t>(carries)}},
          {"scanned", {static_cast<std::int64_t>(scanned)}},
          {"length", {length}},
          {"reverse", {reverse}}};
}

/// Where a residual of the body of a scan comes from when the linear scan runs.
struct Residuals {
  /// For each residual, the scanned operand that it is, or `none`.
  std::vector<std::size_t> element_of;
  /// For each, whether it is the same in all iterations.
  std::vector<bool> is_invariant;
  static constexpr std::size_t none = SIZE_MAX;

  bool is_stacked(std::size_t r) const { return element_of[r] == none && !is_invariant[r]; }
};

Residuals residuals_of(const Program& primal, std::size_t first, std::size_t carries,
                       std::size_t scanned) {
  std::vector<bool> changing(primal.inputs().size(), false);
  std::fill_n(changing.begin(), carries + scanned, true);
  const std::vector<bool> varies = dependent_slots(primal, changing);
  Residuals all;
  for (std::size_t r = first; r < primal.outputs().size(); ++r) {
    const Slot slot = primal.outputs()[r];
    const auto begin = primal.inputs().begin() + static_cast<std::ptrdiff_t>(carries);
    const auto end = begin + static_cast<std::ptrdiff_t>(scanned);
    const auto found = std::find(begin, end, slot);
    all.element_of.push_back(found == end ? Residuals::none
                                          : static_cast<std::size_t>(found - begin));
    all.is_invariant.push_back(!varies[slot]);
  }
  return all;
}

/// One list of inputs in the order of the linear scan and, for each input of the body's linear
/// part, where it stands there.
class LinearBody {
 public:
  explicit LinearBody(const Program& linear) : linear_(linear), slots_(linear.inputs().size()) {}

  /// The next input is this one of the linear part.
  void take(std::size_t input) {
    const Slot slot = linear_.inputs()[input];
    slots_[input] = builder_.add_input(linear_.type(slot), linear_.input_names()[input]);
  }
  Program finish() && {
    std::vector<Slot> outputs = builder_.append_program(linear_, slots_);
    return std::move(builder_).finish(std::move(outputs), {linear_.name(), {}, {}});
  }

 private:
  const Program& linear_;
  Builder builder_;
  std::vector<Slot> slots_;
};

PrimalAndTangent derivative_of_scan(const LinearizingCall& at) {
  const Attributes& a = at.attributes;
  const Program& body = *a.program("body");
  const std::size_t carries = count(a, "carries");
  const std::size_t scanned = count(a, "scanned");
  const std::int64_t length = a.integer("length");
  const bool reverse = a.boolean("reverse");
  const std::vector<TensorType> types = body.input_types();

  // Carries that come to vary have a tangent from the start on.
  std::vector<bool> active = with_dependent_carries(body, present(at.dx), carries);
  std::vector<bool> wanted = dependent_outputs(body, active);
  for (std::size_t i = 0; i < active.size(); ++i)
    active[i] = active[i] && types[i].dtype.is_float();
  for (std::size_t i = 0; i < carries; ++i) wanted[i] = active[i];
  const Linearization lin = at.linearize(body, active, &wanted);
  const std::vector<bool>& varies = lin.output_varies;
  const std::size_t outputs = varies.size();
  const Residuals residuals = residuals_of(lin.primal, outputs, carries, scanned);

  std::vector<bool> kept(outputs, true);
  for (std::size_t r = 0; r < lin.residual_count; ++r) kept.push_back(residuals.is_stacked(r));
  const TensorList primal = apply(
      scan(), scan_attributes(with_outputs(lin.primal, kept), carries, scanned, length, reverse),
      at.x, Location::current());
  PrimalAndTangent both;
  both.y.assign(primal.begin(), primal.begin() + static_cast<std::ptrdiff_t>(outputs));
  both.dy.resize(outputs);
  if (!any_marked(varies)) return both;

  // What does not change is computed once, outside.
  std::vector<bool> constants(types.size(), false);
  std::fill(constants.begin() + static_cast<std::ptrdiff_t>(carries + scanned), constants.end(),
            true);
  std::vector<Slot> invariant;
  for (std::size_t r = 0; r < lin.residual_count; ++r) {
    if (residuals.is_invariant[r]) invariant.push_back(lin.primal.outputs()[outputs + r]);
  }
  const std::vector<Tensor> invariants =
      apply(restricted(lin.primal, constants, invariant), at.x.subspan(carries + scanned),
            Location::current());

  LinearBody linear(lin.linear);
  std::vector<Tensor> operands;
  std::size_t next = lin.residual_count;  // the linear part's next tangent
  const auto take_tangents = [&](std::size_t begin, std::size_t end) {
    std::size_t taken = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!active[i]) continue;
      linear.take(next++);
      operands.push_back(at.dx[i].is_empty() ? zeros_like(at.x[i]) : at.dx[i]);
      ++taken;
    }
    return taken;
  };
  const std::size_t linear_carries = take_tangents(0, carries);
  std::size_t linear_scanned = take_tangents(carries, carries + scanned);
  std::size_t stacked_residual = outputs;
  for (std::size_t r = 0; r < lin.residual_count; ++r) {
    if (residuals.is_invariant[r]) continue;
    linear.take(r);
    const std::size_t place = residuals.element_of[r];
    operands.push_back(place == Residuals::none ? primal[stacked_residual++]
                                                : at.x[carries + place]);
    ++linear_scanned;
  }
  take_tangents(carries + scanned, types.size());
  std::size_t next_invariant = 0;
  for (std::size_t r = 0; r < lin.residual_count; ++r) {
    if (!residuals.is_invariant[r]) continue;
    linear.take(r);
    operands.push_back(invariants[next_invariant++]);
  }
  const TensorList tangents = apply(
      scan(),
      scan_attributes(std::move(linear).finish(), linear_carries, linear_scanned, length, reverse),
      operands, Location::current());
  both.dy = spread({tangents.data(), tangents.size()}, varies);
  return both;
}

/// The values with which carries that do not depend on the linear operands enter each iteration,
/// stacked.
std::vector<Tensor> carries_by_iteration(const Transposing& at, const std::vector<bool>& linear) {
  const Attributes& a = at.attributes;
  const Program& body = *a.program("body");
  const std::size_t carries = count(a, "carries");
  const std::size_t scanned = count(a, "scanned");
  std::vector<bool> given = linear;
  given.flip();
  std::vector<Slot> outputs;
  std::size_t own_carries = 0;
  std::size_t own_scanned = 0;
  for (std::size_t i = 0; i < carries; ++i) {
    if (!given[i]) continue;
    outputs.push_back(body.outputs()[i]);
    ++own_carries;
  }
  if (own_carries == 0) return {};
  for (std::size_t i = 0; i < carries; ++i) {
    if (given[i]) outputs.push_back(body.inputs()[i]);
  }
  for (std::size_t i = carries; i < carries + scanned; ++i) own_scanned += given[i];
  const TensorList results =
      apply(scan(),
            scan_attributes(restricted(body, given, outputs), own_carries, own_scanned,
                            a.integer("length"), a.boolean("reverse")),
            filtered(at.x, given), at.at);
  return {results.begin() + static_cast<std::ptrdiff_t>(own_carries), results.end()};
}

/// Float carries that start from zero and stay zero, as cotangents of what is not used do: they are
/// as good as linear.
std::vector<bool> zero_carries(const Transposing& at) {
  const Program& body = *at.attributes.program("body");
  const std::size_t carries = count(at.attributes, "carries");
  std::vector<bool> zero(at.x.size(), false);
  for (std::size_t i = 0; i < carries; ++i)
    zero[i] = at.types[i].dtype.is_float() && !at.linear[i] && is_zero(at.x[i]);
  for (bool shrank = true; shrank;) {
    shrank = false;
    const std::vector<bool> outputs = zero_outputs(body, zero);
    for (std::size_t i = 0; i < carries; ++i) {
      if (zero[i] && !outputs[i]) {
        zero[i] = false;
        shrank = true;
      }
    }
  }
  return zero;
}

void transpose_scan(const Transposing& at) {
  const Attributes& a = at.attributes;
  const Program& body = *a.program("body");
  const std::size_t carries = count(a, "carries");
  const std::size_t scanned = count(a, "scanned");
  const std::int64_t length = a.integer("length");
  std::vector<bool> linear = with_dependent_carries(body, at.linear, carries);
  const std::vector<bool> zero = zero_carries(at);
  for (std::size_t i = 0; i < carries; ++i) linear[i] = linear[i] || zero[i];
  for (std::size_t i = 0; i < carries; ++i) {
    if (linear[i] && !at.linear[i] && !is_zero(at.x[i])) {
      at.not_linear("a carry starts from a value that does not depend on the input");
    }
  }

  // The body backwards: other inputs…, cotangents of outputs…, cotangents so far of constants… ↦
  // cotangents of the linear inputs.
  std::vector<bool> wanted;
  for (std::size_t k = 0; k < body.outputs().size(); ++k)
    wanted.push_back(k < carries ? linear[k] : !at.ct[k].is_empty());
  std::vector<bool> accumulated(linear.size(), false);
  for (std::size_t i = carries + scanned; i < linear.size(); ++i) accumulated[i] = linear[i];
  const Program backwards = at.transpose(with_outputs(body, wanted), linear, accumulated);

  // Its inputs, in the order of the scan backwards: first what is carried.
  const std::vector<Tensor> stacked_carries = carries_by_iteration(at, linear);
  std::vector<std::size_t> order;
  std::vector<Tensor> operands;
  const auto other = [&](std::size_t i) {  // the place of an input that is not linear
    return static_cast<std::size_t>(
        std::count(linear.begin(), linear.begin() + static_cast<std::ptrdiff_t>(i), false));
  };
  const auto others = static_cast<std::size_t>(std::count(linear.begin(), linear.end(), false));
  std::size_t next = others;
  std::vector<std::size_t> outputs;  // of the program backwards, carried ones first
  std::vector<std::size_t> elements;
  for (std::size_t i = 0, y = 0; i < linear.size(); ++i) {
    if (!linear[i]) continue;
    (i < carries || i >= carries + scanned ? outputs : elements).push_back(y++);
  }
  for (std::size_t i = 0; i < carries; ++i) {
    if (!linear[i]) continue;
    order.push_back(next++);
    operands.push_back(at.ct[i].is_empty() ? zeros(at.types[i]) : at.ct[i]);
  }
  std::size_t cotangents = next;
  for (std::size_t k = carries; k < wanted.size(); ++k) next += wanted[k];
  for (std::size_t i = carries + scanned; i < linear.size(); ++i) {
    if (!linear[i]) continue;
    order.push_back(next++);
    operands.push_back(at.accumulator(i));
  }
  const std::size_t carried = order.size();
  for (std::size_t i = 0, k = 0; i < carries; ++i) {
    if (linear[i]) continue;
    order.push_back(other(i));
    operands.push_back(stacked_carries[k++]);
  }
  for (std::size_t i = carries; i < carries + scanned; ++i) {
    if (linear[i]) continue;
    order.push_back(other(i));
    operands.push_back(at.x[i]);
  }
  for (std::size_t k = carries; k < wanted.size(); ++k) {
    if (!wanted[k]) continue;
    order.push_back(cotangents++);
    operands.push_back(at.ct[k]);
  }
  const std::size_t own_scanned = order.size() - carried;
  for (std::size_t i = carries + scanned; i < linear.size(); ++i) {
    if (linear[i]) continue;
    order.push_back(other(i));
    operands.push_back(at.x[i]);
  }

  Builder builder;
  std::vector<Slot> inputs(order.size());
  for (std::size_t input : order) {
    const Slot slot = backwards.inputs()[input];
    inputs[input] = builder.add_input(backwards.type(slot), backwards.input_names()[input]);
  }
  const std::vector<Slot> all = builder.append_program(backwards, inputs);
  std::vector<Slot> results;
  for (std::size_t y : outputs) results.push_back(all[y]);
  for (std::size_t y : elements) results.push_back(all[y]);
  const TensorList found = apply(
      scan(),
      scan_attributes(std::move(builder).finish(std::move(results), {backwards.name(), {}, {}}),
                      carried, own_scanned, length, !a.boolean("reverse")),
      operands, at.at);
  std::size_t y = 0;
  for (std::size_t i = 0; i < carries; ++i) {
    if (!linear[i]) continue;
    if (at.linear[i]) at.add(i, found[y]);
    ++y;
  }
  for (std::size_t i = carries + scanned; i < linear.size(); ++i) {
    if (linear[i]) at.accumulators[i] = found[y++];
  }
  for (std::size_t i = carries; i < carries + scanned; ++i) {
    if (linear[i]) at.add(i, found[y++]);
  }
}

std::vector<Tensor> batch_scan(const Batching& at) {
  const Attributes& a = at.attributes;
  const std::size_t carries = count(a, "carries");
  const std::size_t scanned = count(a, "scanned");
  std::vector<bool> batched = at.batched;
  BatchedProgram body = batched_body(at, *a.program("body"), batched, carries);
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < at.x.size(); ++i) {
    if (i < carries && batched[i]) {
      operands.push_back(at.lifted(i));
    } else {
      const bool moves = carries <= i && i < carries + scanned && batched[i];
      operands.push_back(moves ? move_axis(at.x[i], 0, 1) : at.x[i]);
    }
  }
  if (!at.alive.is_empty()) operands.push_back(at.alive);
  std::vector<Tensor> results =
      to_vector(apply(scan(),
                      scan_attributes(std::move(body.program), carries, scanned,
                                      a.integer("length"), a.boolean("reverse")),
                      operands, at.at));
  for (std::size_t k = carries; k < results.size(); ++k) {
    if (body.output_batched[k]) results[k] = move_axis(results[k], 1, 0);
  }
  return results;
}

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
  const std::size_t carries = count(a, "carries");
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

/// Inputs for all of `types`, in the capture.
std::vector<Tensor> inputs_of_types(Capture& capture, std::span<const TensorType> types) {
  std::vector<Tensor> inputs;
  for (const TensorType& type : types)
    inputs.push_back(capture.input(type, "x" + std::to_string(inputs.size())));
  return inputs;
}

}  // namespace

Program bounded_while_as_scan(const Attributes& a, std::span<const TensorType> types) {
  static const Primitive& cond = standard_primitives().find("cond");
  const Location at = LocationScope::current(Location::current());
  const Program& condition = *a.program("condition");
  const Program& body = *a.program("body");
  const std::size_t carries = count(a, "carries");
  // carries…, constants… ↦ whether to go on, carries…
  const auto branch = [&](bool goes_on) {
    Capture capture(at);
    std::vector<Tensor> x = inputs_of_types(capture, types);
    std::vector<Tensor> y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(carries));
    Tensor more = full({}, 0, bool_, at);
    if (goes_on) {
      y = apply(body, x, at);
      std::copy(y.begin(), y.end(), x.begin());
      more = apply(condition, x, at)[0];
    }
    y.insert(y.begin(), more);
    return Attribute{shared(capture.finish(y, {goes_on ? "step" : "stop", {}, {}}, at).program)};
  };
  const auto iteration = [&] {
    Capture capture(at);
    std::vector<TensorType> with_flag{bool_[{}]};
    with_flag.insert(with_flag.end(), types.begin(), types.end());
    const std::vector<Tensor> x = inputs_of_types(capture, with_flag);
    const TensorList y = apply(cond, {{"then", branch(true)}, {"otherwise", branch(false)}}, x, at);
    return capture.finish({y.data(), y.size()}, {body.name(), {}, {}}, at).program;
  };
  Capture capture(at);
  std::vector<Tensor> x = inputs_of_types(capture, types);
  x.insert(x.begin(), apply(condition, x, at)[0]);
  const TensorList y =
      apply(scan(), scan_attributes(iteration(), carries + 1, 0, a.integer("bound"), false), x, at);
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
  const std::size_t carries = count(a, "carries");
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
  const std::size_t carries = count(a, "carries");
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < at.x.size(); ++i)
    operands.push_back(i < carries && batched[i] ? at.lifted(i) : at.x[i]);
  if (!at.alive.is_empty()) {
    // Where no lane is alive the loop must not run: it need not end.
    operands.push_back(at.alive);
    condition = mask_last(condition);
    Capture capture(at.at);
    const std::vector<Tensor> x = inputs_of_types(capture, condition.input_types());
    const Tensor goes_on = any_of(x.back()) & apply(condition, x, at.at)[0];
    condition = capture.finish({&goes_on, 1}, {condition.name(), {}, {}}, at.at).program;
  }
  return to_vector(
      apply(at.primitive,
            while_attributes(std::move(condition), std::move(body), carries, a.integer("bound")),
            operands, at.at));
}

/// A predicate for each lane: the loop runs while any lane does, and lanes that have stopped keep
/// their values. The carry is (which lanes run, carries…).
std::vector<Tensor> batch_while_by_lane(const Batching& at, std::vector<bool> batched) {
  const Attributes& a = at.attributes;
  const std::size_t carries = count(a, "carries");
  std::fill_n(batched.begin(), carries, true);
  const std::vector<bool> wanted(carries, true);
  const std::vector<bool> yes{true};
  const Program condition = at.batch(*a.program("condition"), batched, true, &yes).program;
  const Program body = at.batch(*a.program("body"), batched, true, &wanted).program;

  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < at.x.size(); ++i)
    operands.push_back(i < carries ? at.lifted(i) : at.x[i]);
  const Tensor alive = at.alive.is_empty() ? full({at.size}, 1, bool_, at.at) : at.alive;
  operands.insert(operands.begin(), alive);
  operands[0] = alive & apply(condition, operands, at.at)[0];
  std::vector<TensorType> types;
  for (const Tensor& x : operands) types.push_back(x.type(at.at));

  const auto any_runs = [&] {
    Capture capture(at.at);
    const Tensor goes_on = any_of(inputs_of_types(capture, types)[0]);
    return capture.finish({&goes_on, 1}, {condition.name(), {}, {}}, at.at).program;
  };
  const auto iteration = [&] {
    Capture capture(at.at);
    std::vector<Tensor> x = inputs_of_types(capture, types);
    const std::vector<Tensor> next = apply(body, x, at.at);
    for (std::size_t i = 0; i < carries; ++i)
      x[i + 1] = select_lanes(x[0], next[i], x[i + 1], at.types[i]);
    x[0] = x[0] & apply(condition, x, at.at)[0];
    return capture.finish({x.data(), carries + 1}, {body.name(), {}, {}}, at.at).program;
  };
  std::vector<Tensor> results = to_vector(apply(
      at.primitive, while_attributes(any_runs(), iteration(), carries + 1, a.integer("bound")),
      operands, at.at));
  results.erase(results.begin());
  return results;
}

std::vector<Tensor> batch_while(const Batching& at) {
  const Attributes& a = at.attributes;
  std::vector<bool> batched = at.batched;
  BatchedProgram body = batched_body(at, *a.program("body"), batched, count(a, "carries"));
  BatchedProgram condition =
      at.batch(*a.program("condition"), batched, !at.alive.is_empty(), nullptr);
  return condition.output_batched[0]
             ? batch_while_by_lane(at, std::move(batched))
             : batch_while_together(at, batched, std::move(condition.program),
                                    std::move(body.program));
}

}  // namespace

void add_loop_primitives(PrimitiveTable& table) {
  const AttributeSpec carries{"carries", Kind::integer};
  const AttributeSpec body{"body", Kind::program};
  table.add({.name = "scan",
             .min_operands = 0,
             .max_operands = INT32_MAX,
             .attributes = {body,
                            carries,
                            {"scanned", Kind::integer},
                            {"length", Kind::integer},
                            {"reverse", Kind::boolean}},
             .type = scan_type,
             .call_derivative = derivative_of_scan,
             .transpose = transpose_scan,
             .batch = batch_scan,
             .partial = true,
             .run = run_scan,
             .cost_factor = 6,
             .shapes = "carries, [length] + s…, constants → carries, [length] + t…",
             .formula = "scan of the linearised body; backwards in reverse mode"});
  table.add({.name = "while",
             .min_operands = 0,
             .max_operands = INT32_MAX,
             .attributes = {{"condition", Kind::program}, body, carries, {"bound", Kind::integer}},
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
