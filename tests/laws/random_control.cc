// tests/laws/random_control.cc -- random steps of primitives with programs inside
#include <hom/categories/linearize.h>
#include <hom/categories/transpose.h>
#include <hom/tests/laws/drawing.h>

namespace hom::laws {
namespace {

ProgramPtr shared(Program program) { return std::make_shared<const Program>(std::move(program)); }

Attribute whole(std::size_t number) { return {static_cast<std::int64_t>(number)}; }

/// A derivative at all float inputs, for all float outputs; nothing where there is none.
std::optional<Linearization> linearized(const Program& program) {
  std::vector<bool> wanted;
  for (const TensorType& type : program.output_types()) wanted.push_back(type.dtype.is_float());
  try {
    return linearize(program, std::vector<bool>(program.inputs().size(), true), &wanted);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// x…, y…, dx… ↦ dy…
Program rule_of(const Program& program, const Linearization& lin) {
  Builder builder;
  const std::vector<Slot> x = builder.add_inputs_of(program);
  for (const TensorType& type : program.output_types()) builder.add_input(type, "y");
  const std::vector<Slot> primal = builder.append_program(lin.primal, x);
  std::vector<Slot> linear(primal.begin() + static_cast<std::ptrdiff_t>(program.outputs().size()),
                           primal.end());
  const std::vector<TensorType> types = lin.linear.input_types();
  for (std::size_t i = lin.residual_count; i < types.size(); ++i)
    linear.push_back(builder.add_input(types[i], "dx"));
  return std::move(builder).finish(builder.append_program(lin.linear, linear), {});
}

}  // namespace

std::vector<Tensor> Drawing::values(const std::vector<std::size_t>& list) const {
  std::vector<Tensor> all;
  for (std::size_t value : list) all.push_back(now_[value]);
  return all;
}

std::optional<RandomProgram> Drawing::body(std::vector<Tensor> examples,
                                           const std::vector<TensorType>* results,
                                           Choices& choices) const {
  Wish inner = wish_;
  inner.depth -= 1;
  inner.inputs = std::move(examples);
  Drawing drawing(inner);
  for (const Tensor& x : inner.inputs) drawing.input(x);
  const auto lines = static_cast<std::size_t>(choices.between(1, 4));
  for (std::size_t attempt = 0, drawn = 0; attempt < 4 * lines && drawn < lines; ++attempt) {
    const std::size_t before = drawing.program.inputs.size();
    Drawing saved = drawing;
    const Primitive& q = *choices.among(pool_);
    const std::size_t on = drawing.any(choices);
    // Bodies take no more than the operands.
    if (!q.dtypes.contains(drawing.type(on).dtype) || !drawing.step(q, on, choices) ||
        drawing.program.inputs.size() != before) {
      drawing.program = std::move(saved.program);
      drawing.now_ = std::move(saved.now_);
      drawing.is_input_ = std::move(saved.is_input_);
      continue;
    }
    ++drawn;
  }
  RandomProgram made = std::move(drawing.program);
  if (!results) {
    made.outputs.push_back(made.types.size() - 1);
    for (std::int64_t more = choices.below(2); more > 0; --more) {
      made.outputs.push_back(
          static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(made.types.size()))));
    }
    return made;
  }
  for (const TensorType& wanted : *results) {
    std::size_t i = made.types.size();
    while (i > 0 && made.types[i - 1] != wanted) --i;
    if (i == 0) return std::nullopt;
    made.outputs.push_back(i - 1);
  }
  return made;
}

std::size_t Drawing::predicate(Choices& choices) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < count(); ++i) {
    if (type(i) == bool_[{}]) fitting.push_back(i);
  }
  return fitting.empty() ? input(random_tensor(bool_[{}], wish_.domain, choices))
                         : choices.among(fitting);
}

bool Drawing::draw_cond(std::vector<std::size_t> operands, Choices& choices) {
  const std::optional<RandomProgram> first = body(values(operands), nullptr, choices);
  std::vector<TensorType> results;
  for (std::size_t output : first->outputs) results.push_back(first->types[output]);
  const std::optional<RandomProgram> second = body(values(operands), &results, choices);
  if (!second) return false;
  operands.insert(operands.begin(), predicate(choices));
  return line(primitive("cond"),
              {{"then", {shared(first->program())}}, {"otherwise", {shared(second->program())}}},
              operands)
      .has_value();
}

/// The operands become carries and constants; what is scanned is of a random type, or stacked
/// values.
bool Drawing::draw_scan(std::vector<std::size_t> operands, Choices& choices) {
  const std::int64_t length = choices.one_in(6) ? 0 : choices.between(1, 3);
  const auto carries =
      static_cast<std::size_t>(choices.between(0, static_cast<std::int64_t>(operands.size())));
  std::vector<Tensor> examples = values(operands);
  std::vector<std::size_t> scanned;
  for (std::int64_t more = choices.below(3); more > 0; --more) {
    const TensorType element = choices.one_in(2)
                                   ? type(operands[0])
                                   : TensorType{f64, random_shape(size(choices), choices)};
    TensorType whole_type = element;
    whole_type.shape.insert(whole_type.shape.begin(), length);
    if (whole_type.shape.size() > 5 || whole_type.size() > wish_.max_size) continue;
    scanned.push_back(find({whole_type}, choices));
    // An example of an element: the first, or any tensor of its type.
    const Tensor first =
        length > 0 ? now_[scanned.back()](0) : random_tensor(element, wish_.domain, choices);
    examples.insert(examples.begin() + static_cast<std::ptrdiff_t>(carries + scanned.size() - 1),
                    first);
  }
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < carries; ++i) types.push_back(type(operands[i]));
  std::optional<RandomProgram> made = body(std::move(examples), &types, choices);
  if (!made) return false;
  for (std::int64_t more = choices.between(carries == 0, 2); more > 0; --more) {
    made->outputs.push_back(
        static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(made->types.size()))));
  }
  operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(carries), scanned.begin(),
                  scanned.end());
  return line(primitive("scan"),
              {{"body", {shared(made->program())}},
               {"carries", whole(carries)},
               {"scanned", whole(scanned.size())},
               {"length", {length}},
               {"reverse", {choices.one_in(2)}}},
              operands)
      .has_value();
}

/// A counter, carries and constants: it counts to at most 3, wherever it starts, or stops earlier
/// at its bound.
bool Drawing::draw_while(std::vector<std::size_t> operands, Choices& choices) {
  const auto carries =
      static_cast<std::size_t>(choices.between(0, static_cast<std::int64_t>(operands.size())));
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < carries; ++i) types.push_back(type(operands[i]));
  const std::optional<RandomProgram> made = body(values(operands), &types, choices);
  if (!made) return false;
  const Program inner = made->program();
  const auto literal = [](Builder& builder, std::int64_t value) {
    return builder.append(primitive("constant"),
                          {{"value", {value}}, {"dtype", {u8}}, {"shape", {Shape{}}}}, {},
                          Location::current());
  };
  Builder condition;
  const Slot tested = condition.add_input(u8[{}], "i");
  condition.add_inputs_of(inner);
  std::vector<Slot> goes_on{condition.append(primitive("lt"), {},
                                             {tested, literal(condition, choices.between(0, 3))},
                                             Location::current())};
  Builder step;
  const Slot i = step.add_input(u8[{}], "i");
  const std::vector<Slot> inputs = step.add_inputs_of(inner);
  std::vector<Slot> next = step.append_program(inner, inputs);
  next.insert(next.begin(),
              step.append(primitive("add"), {}, {i, literal(step, 1)}, Location::current()));
  operands.insert(operands.begin(), input(Tensor(static_cast<std::uint8_t>(choices.below(2)))));
  // Reverse mode needs a bound.
  const bool unbounded = wish_.domain == Domain::wild && choices.one_in(2);
  return line(primitive("while"),
              {{"condition", {shared(std::move(condition).finish(std::move(goes_on), {}))}},
               {"body", {shared(std::move(step).finish(std::move(next), {}))}},
               {"carries", whole(carries + 1)},
               {"bound", {unbounded ? std::int64_t{-1} : choices.between(0, 4)}}},
              operands)
      .has_value();
}

/// Rules that are right, since they are made by linearize and transpose.
bool Drawing::draw_custom(const Primitive& p, const std::vector<std::size_t>& operands,
                          Choices& choices) {
  const Program program = body(values(operands), nullptr, choices)->program();
  const std::optional<Linearization> lin = linearized(program);
  if (!lin) return false;
  const Attribute arguments = whole(operands.size());
  if (p.name == "custom_jvp") {
    return line(p,
                {{"program", {shared(program)}},
                 {"rule", {shared(rule_of(program, *lin))}},
                 {"arguments", arguments}},
                operands)
        .has_value();
  }
  if (p.name == "custom_vjp") {
    return line(p,
                {{"program", {shared(program)}},
                 {"forward", {shared(lin->primal)}},
                 {"backward", {shared(pullback_of(*lin))}},
                 {"arguments", arguments}},
                operands)
        .has_value();
  }
  const std::vector<TensorType> types = lin->linear.input_types();
  if (lin->linear.outputs().empty() || types.size() == lin->residual_count) return false;
  const auto values = line(primitive("call"), {{"program", {shared(lin->primal)}}}, operands);
  if (!values) return false;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < types.size(); ++i) {
    all.push_back(i < lin->residual_count ? *values + program.outputs().size() + i
                                          : find({types[i]}, choices));
  }
  return line(p,
              {{"forward", {shared(lin->linear)}},
               {"transposed", {shared(pullback_of(*lin))}},
               {"residuals", whole(lin->residual_count)},
               {"linear", whole(types.size() - lin->residual_count)}},
              all)
      .has_value();
}

bool Drawing::control(const Primitive& p, std::size_t data, Choices& choices) {
  if (wish_.depth == 0) return false;
  std::vector<std::size_t> operands{data};
  for (std::int64_t more = choices.below(3); more > 0; --more) operands.push_back(any(choices));
  if (p.name == "cond") return draw_cond(operands, choices);
  if (p.name == "scan") return draw_scan(operands, choices);
  if (p.name == "while") return draw_while(operands, choices);
  if (p.name.starts_with("custom_")) return draw_custom(p, operands, choices);
  Attributes attributes{{"program", {shared(body(values(operands), nullptr, choices)->program())}}};
  if (p.name == "composite") attributes.set("name", {std::string("a composite")});
  return line(p, attributes, operands).has_value();
}

}  // namespace hom::laws
