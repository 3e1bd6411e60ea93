// tests/laws/random_program.cc -- random programs, each line run as it is drawn
#include <algorithm>

#include <hom/tests/laws/drawing.h>

namespace hom::laws {
namespace {

void add_outputs(Drawing& drawing, Choices& choices) {
  RandomProgram& program = drawing.program;
  std::vector<bool> used(program.types.size());
  for (const RandomProgram::Line& line : program.lines) {
    for (std::size_t operand : line.operands) used[operand] = true;
  }
  std::size_t value = 0;
  for (const RandomProgram::Line& line : program.lines) {
    for (std::size_t r = 0; r < line.results; ++r, ++value) {
      if (line.primitive && !used[value]) program.outputs.push_back(value);
    }
  }
  program.outputs.push_back(drawing.any(choices));
}

}  // namespace

std::vector<Tensor> RandomProgram::values(std::span<const Tensor> arguments) const {
  std::vector<Tensor> all;
  std::size_t next = 0;
  for (const Line& line : lines) {
    if (!line.primitive) {
      all.push_back(arguments[next++]);
    } else if (!line.closure.is_empty()) {
      all.push_back(line.closure);
    } else {
      std::vector<Tensor> operands;
      for (std::size_t value : line.operands) operands.push_back(all[value]);
      for (const Tensor& y : apply(*line.primitive, line.attributes, operands, Location::current()))
        all.push_back(y);
    }
  }
  return all;
}

std::vector<Tensor> RandomProgram::operator()(std::span<const Tensor> arguments) const {
  const std::vector<Tensor> all = values(arguments);
  std::vector<Tensor> results;
  for (std::size_t output : outputs) results.push_back(all[output]);
  return results;
}

Program RandomProgram::program(const std::vector<std::size_t>& wanted) const {
  Capture capture(Location::current());
  std::vector<Tensor> arguments;
  for (const Tensor& x : inputs)
    arguments.push_back(capture.input(x.type(), "x" + std::to_string(arguments.size())));
  const std::vector<Tensor> all = values(arguments);
  std::vector<Tensor> results;
  for (std::size_t output : wanted) results.push_back(all[output]);
  return capture.finish(results, {}, Location::current()).program;
}

Program RandomProgram::program_as_it_stands() const {
  Builder builder;
  std::vector<Slot> slots;
  for (const Line& line : lines) {
    if (!line.primitive) {
      slots.push_back(builder.add_input(types[slots.size()], "x" + std::to_string(slots.size())));
    } else if (!line.closure.is_empty()) {
      slots.push_back(builder.capture(line.closure, Location::current()));
    } else {
      std::vector<Slot> operands;
      for (std::size_t value : line.operands) operands.push_back(slots[value]);
      const Slot first = builder.append_exactly(*line.primitive, line.attributes, operands,
                                                Location::current(), "");
      const std::uint32_t results = builder.definition(first)->result_count;
      for (std::uint32_t r = 0; r < results; ++r) slots.push_back(first + r);
    }
  }
  std::vector<Slot> results;
  for (std::size_t output : outputs) results.push_back(slots[output]);
  return std::move(builder).finish(std::move(results), {});
}

RandomProgram random_program(const Recipe& recipe, const Wish& wish) {
  Drawing drawing(wish);
  Choices inputs(recipe.seeds.empty() ? 0 : recipe.seeds[0]);
  for (const Tensor& x : wish.inputs) drawing.input(x);
  for (std::int64_t more = wish.inputs.empty() ? inputs.between(1, 3) : 0; more > 0; --more) {
    const Dtype dtype =
        wish.domain == Domain::smooth || inputs.one_in(3) ? f64 : inputs.among(all_dtypes);
    drawing.input(
        random_tensor(dtype[random_shape(drawing.size(inputs), inputs)], wish.domain, inputs));
  }
  for (std::size_t i = 1; i < recipe.seeds.size(); ++i) {
    Choices choices(recipe.seeds[i]);
    for (int attempt = 0; attempt < 6; ++attempt) {
      const Primitive& p = drawing.random_primitive(choices);
      if (drawing.step(p, drawing.data_for(p, choices), choices)) break;
    }
  }
  add_outputs(drawing, inputs);
  return std::move(drawing.program);
}

bool only_raises(const Primitive& p) { return p.name == "reverse_only"; }

std::optional<RandomProgram> single_step(const Primitive& p, const TensorType& data,
                                         const Wish& wish, Choices& choices) {
  Drawing drawing(wish);
  const std::size_t x = drawing.input(random_tensor(data, wish.domain, choices));
  if (!drawing.step(p, x, choices)) return std::nullopt;
  const std::size_t results = drawing.program.lines.back().results;
  for (std::size_t i = drawing.count() - results; i < drawing.count(); ++i)
    drawing.program.outputs.push_back(i);
  return std::move(drawing.program);
}

}  // namespace hom::laws
