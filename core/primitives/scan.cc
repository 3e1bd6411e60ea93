// core/primitives/scan.cc -- scan: a program that runs along the first axis of tensors, its results
// carried on or stacked
//
// The body takes carries…, elements of the scanned operands…, constants… and returns the carries'
// next values…, then what is stacked. A derivative of `scan` is a scan forwards and, transposed, a
// scan backwards.
#include <algorithm>
#include <cstring>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/loops.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

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
  const Parts<TensorType> parts(typing.operands, a.count("carries"), a.count("scanned"));
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
  const std::size_t carries = a.count("carries");
  const std::size_t scanned = a.count("scanned");
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
  const std::size_t carries = a.count("carries");
  const std::size_t scanned = a.count("scanned");
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
  const TensorList primal =
      scan_step(shared(with_outputs(lin.primal, kept)), {carries, scanned, length, reverse}, at.x,
                Location::current());
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
  const TensorList tangents =
      scan_step(shared(std::move(linear).finish()),
                {linear_carries, linear_scanned, length, reverse}, operands, Location::current());
  both.dy = spread({tangents.data(), tangents.size()}, varies);
  return both;
}

/// The values with which carries that do not depend on the linear operands enter each iteration,
/// stacked.
std::vector<Tensor> carries_by_iteration(const Transposing& at, const std::vector<bool>& linear) {
  const Attributes& a = at.attributes;
  const Program& body = *a.program("body");
  const std::size_t carries = a.count("carries");
  const std::size_t scanned = a.count("scanned");
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
      scan_step(shared(restricted(body, given, outputs)),
                {own_carries, own_scanned, a.integer("length"), a.boolean("reverse")},
                filtered(at.x, given), at.at);
  return {results.begin() + static_cast<std::ptrdiff_t>(own_carries), results.end()};
}

/// Float carries that start from zero and stay zero, as cotangents of what is not used do: they are
/// as good as linear.
std::vector<bool> zero_carries(const Transposing& at) {
  const Program& body = *at.attributes.program("body");
  const std::size_t carries = at.attributes.count("carries");
  std::vector<bool> zero(at.x.size(), false);
  for (std::size_t i = 0; i < carries; ++i)
    zero[i] = at.types[i].dtype.is_float() && !at.linear[i] && is_zero(at.x[i]);
  return lasting_zeros(body, std::move(zero), carries);
}

void transpose_scan(const Transposing& at) {
  const Attributes& a = at.attributes;
  const Program& body = *a.program("body");
  const std::size_t carries = a.count("carries");
  const std::size_t scanned = a.count("scanned");
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

  outputs.insert(outputs.end(), elements.begin(), elements.end());
  const TensorList found =
      scan_step(shared(rearranged(backwards, order, outputs)),
                {carried, own_scanned, length, !a.boolean("reverse")}, operands, at.at);
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
  const std::size_t carries = a.count("carries");
  const std::size_t scanned = a.count("scanned");
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
  std::vector<Tensor> results = to_vector(
      scan_step(shared(std::move(body.program)),
                {carries, scanned, a.integer("length"), a.boolean("reverse")}, operands, at.at));
  for (std::size_t k = carries; k < results.size(); ++k) {
    if (body.output_batched[k]) results[k] = move_axis(results[k], 1, 0);
  }
  return results;
}

}  // namespace

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

TensorList scan_step(ProgramPtr body, const ScanShape& shape, std::span<const Tensor> operands,
                     const Location& at) {
  static const Primitive& scan = standard_primitives().find("scan");
  return apply(scan,
               {{"body", {std::move(body)}},
                {"carries", {static_cast<std::int64_t>(shape.carries)}},
                {"scanned", {static_cast<std::int64_t>(shape.scanned)}},
                {"length", {shape.length}},
                {"reverse", {shape.reverse}}},
               operands, at);
}

void add_scan_primitive(PrimitiveTable& table) {
  table.add({.name = "scan",
             .min_operands = 0,
             .max_operands = INT32_MAX,
             .attributes = {{"body", Kind::program},
                            {"carries", Kind::integer},
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
}

}  // namespace hom
