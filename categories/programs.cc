// categories/programs.cc -- graphs that are grown together
#include <hom/categories/programs.h>

#include <algorithm>
#include <map>
#include <set>

namespace hom::categories {
namespace {

/// A step by value: the graph that it comes from may grow while it is copied.
struct CopiedStep {
  Operation operation;
  std::vector<Slot> operands;
  Slot first_result;
  std::uint32_t result_count;
};

/// The steps that the outputs of an arrow need, in order. It looks at no others.
std::vector<CopiedStep> steps_of(const Programs::Arrow& f) {
  const Program& program = f.graph->program();
  std::set<std::uint32_t> open;
  const auto need = [&](Slot slot) {
    if (program.definition(slot) != Program::is_none) open.insert(program.definition(slot));
  };
  for (Slot slot : f.outputs) need(slot);
  std::vector<CopiedStep> steps;
  while (!open.empty()) {
    const std::uint32_t last = *open.rbegin();
    open.erase(last);
    const Step step = program.step(last);
    steps.push_back({operation_of(program, step),
                     {step.operands.begin(), step.operands.end()},
                     step.first_result,
                     step.result_count});
    for (Slot slot : step.operands) need(slot);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

Slot append(Builder& graph, const Operation& operation, std::span<const Slot> operands) {
  if (!operation.captured.is_empty()) return graph.capture(operation.captured, operation.at);
  return graph.append(*operation.primitive, operation.attributes, operands, operation.at,
                      operation.scope);
}

/// Appends f to a graph, with these slots for its inputs; the slots of its outputs.
std::vector<Slot> append(Builder& graph, const Programs::Arrow& f, std::span<const Slot> inputs) {
  std::map<Slot, Slot> moved;
  for (std::size_t i = 0; i < inputs.size(); ++i) moved[f.inputs[i]] = inputs[i];
  for (const CopiedStep& step : steps_of(f)) {
    std::vector<Slot> operands;
    for (Slot slot : step.operands) operands.push_back(moved.at(slot));
    const Slot first = append(graph, step.operation, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) moved[step.first_result + r] = first + r;
  }
  std::vector<Slot> outputs;
  for (Slot slot : f.outputs) outputs.push_back(moved.at(slot));
  return outputs;
}

std::vector<Slot> add_inputs(Builder& graph, const Environment& a) {
  std::vector<Slot> slots;
  for (const TensorType& type : a)
    slots.push_back(graph.add_input(type, "x" + std::to_string(slots.size())));
  return slots;
}

/// A graph with the inputs `a` and no steps.
Programs::Arrow fresh(const Environment& a) {
  Programs::Arrow arrow{std::make_shared<Builder>(), {}, {}};
  arrow.inputs = add_inputs(*arrow.graph, a);
  return arrow;
}

Environment types(const Programs::Arrow& f, const std::vector<Slot>& slots) {
  Environment list;
  for (Slot slot : slots) list.push_back(f.graph->type(slot));
  return list;
}

}  // namespace

Environment Programs::domain(const Arrow& f) const { return types(f, f.inputs); }
Environment Programs::codomain(const Arrow& f) const { return types(f, f.outputs); }

Programs::Arrow Programs::id(const Environment& a) const {
  Arrow arrow = fresh(a);
  arrow.outputs = arrow.inputs;
  return arrow;
}

Programs::Arrow Programs::compose(const Arrow& g, const Arrow& f) const {
  ensure(codomain(f) == domain(g), "compose: the codomain of f is the domain of g");
  return {f.graph, f.inputs, append(*f.graph, g, f.outputs)};
}

Programs::Arrow Programs::fork(const Arrow& f, const Arrow& g) const {
  ensure(domain(f) == domain(g), "fork: f and g have one domain");
  Arrow both = f;
  const std::vector<Slot> second = f.graph == g.graph ? g.outputs : append(*f.graph, g, f.inputs);
  both.outputs.insert(both.outputs.end(), second.begin(), second.end());
  return both;
}

Programs::Arrow Programs::project(const Environment& a, const Positions& positions) const {
  Arrow arrow = fresh(a);
  for (std::size_t position : positions) arrow.outputs.push_back(arrow.inputs[position]);
  return arrow;
}

Programs::Arrow Programs::primitive(const Operation& operation) const {
  Arrow arrow = fresh(operation.domain());
  std::vector<Slot> operands;
  std::size_t next = 0;
  for (const Tensor& known : operation.known) {
    operands.push_back(known.is_empty() ? arrow.inputs[next++]
                                        : arrow.graph->capture(known, operation.at));
  }
  const Slot first = append(*arrow.graph, operation, operands);
  for (std::size_t r = 0; r < operation.results.size(); ++r)
    arrow.outputs.push_back(first + static_cast<Slot>(r));
  return arrow;
}

Programs::Arrow Programs::cond(const Arrow& then, const Arrow& otherwise) const {
  const auto shared = [](const Arrow& arrow) {
    return Attribute{std::make_shared<const Program>(to_program(arrow))};
  };
  return primitive(operation("cond", {{"then", shared(then)}, {"otherwise", shared(otherwise)}},
                             product({bool_[{}]}, domain(then))));
}

Programs::Arrow Programs::join(const Arrow& f, const Arrow& g) const {
  const Environment a = domain(f);
  Arrow both = fresh(product(a, domain(g)));
  const std::span<const Slot> inputs = both.inputs;
  const std::vector<Slot> x = append(*both.graph, f, inputs.first(a.size()));
  const std::vector<Slot> y = append(*both.graph, g, inputs.subspan(a.size()));
  const Primitive& add = standard_primitives().find("add");
  for (std::size_t i = 0; i < x.size(); ++i)
    both.outputs.push_back(both.graph->append(add, {}, {x[i], y[i]}, Location::current()));
  return both;
}

Programs::Arrow Programs::inject(const Environment& a, const Positions& positions) const {
  Arrow arrow = fresh(factors(a, positions));
  const Primitive& add = standard_primitives().find("add");
  const Primitive& constant = standard_primitives().find("constant");
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<Slot> terms;
    for (std::size_t k = 0; k < positions.size(); ++k) {
      if (positions[k] == i) terms.push_back(arrow.inputs[k]);
    }
    if (terms.empty()) {
      const Attributes zero{{"value", {0.0}}, {"dtype", {a[i].dtype}}, {"shape", {a[i].shape}}};
      terms.push_back(arrow.graph->append(constant, zero, {}, Location::current()));
    }
    Slot sum = terms[0];
    for (std::size_t k = 1; k < terms.size(); ++k)
      sum = arrow.graph->append(add, {}, {sum, terms[k]}, Location::current());
    arrow.outputs.push_back(sum);
  }
  return arrow;
}

Programs::Arrow Programs::scale(const Tensor& factor) const {
  return primitive(operation("mul", {}, {factor.type(), factor.type()}, {factor, Tensor()}));
}

Program to_program(const Programs::Arrow& arrow) {
  Builder builder;
  const std::vector<Slot> inputs = add_inputs(builder, types(arrow, arrow.inputs));
  std::vector<Slot> outputs = append(builder, arrow, inputs);
  return std::move(builder).finish(std::move(outputs), {});
}

}  // namespace hom::categories
