// categories/graph.cc -- from programs to pictures: what becomes a node, a wire, a box, and what is
// drawn as one
#include <hom/categories/graph.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include <hom/categories/graph_groups.h>
#include <hom/core/primitive.h>
#include <hom/core/text_names.h>

namespace hom {
namespace {

/// Where a wire starts. Constants are drawn anew at each use, so that no long wire leads to them.
struct Source {
  std::uint32_t node = Graph::none;
  std::uint32_t result = Graph::none;
  std::string name = {};
  /// The step that is a constant, and its program.
  const Program* program = nullptr;
  std::size_t constant = 0;
};

std::string place(const Step& step) {
  return to_string(step.at) + (step.scope.empty() ? "" : ", in `" + step.scope + "`");
}

std::string shortened(std::string text, std::size_t length) {
  if (text.size() <= length) return text;
  text.resize(length);
  // Not in the middle of a UTF-8 sequence.
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
  return text + "…";
}

/// Attributes, except programs, which are boxes, and what the result's type says anyhow.
std::string detail(const Step& step) {
  std::string text;
  for (const auto& [name, value] : step.attributes) {
    if (name == "shape" || name == "dtype" || std::holds_alternative<ProgramPtr>(value.value))
      continue;
    if (const auto* list = std::get_if<Shape>(&value.value); list && list->empty()) continue;
    text += (text.empty() ? "" : " ") + std::string(name) + "=" + to_string(value);
  }
  return shortened(std::move(text), 48);
}

using NamedProgram = std::pair<std::string, const Program*>;

std::vector<NamedProgram> programs_of(const Step& step) {
  std::vector<NamedProgram> programs;
  for (const auto& [name, value] : step.attributes) {
    if (const auto* program = std::get_if<ProgramPtr>(&value.value))
      programs.emplace_back(name, program->get());
  }
  return programs;
}

std::string title_of(const Step& step) {
  const bool is_call = step.primitive.name == "call" && step.attributes.has("program");
  if (!is_call || step.attributes.program("program")->name().empty()) return step.primitive.name;
  return "call " + step.attributes.program("program")->name();
}

bool is_constant(const Step& step) { return step.primitive.name == "constant"; }

/// Steps of a program with all programs inside drawn.
class Sizes {
 public:
  explicit Sizes(const Program& program) {
    for (const Program* inner : text_form::programs_inside(program))
      sizes_[inner] = measure(*inner);
  }

  std::size_t inside(const Step& step) const {
    std::size_t total = 0;
    for (const auto& [name, program] : programs_of(step))
      total = std::min(total + sizes_.at(program), limit);
    return total;
  }

 private:
  static constexpr std::size_t limit = std::size_t{1} << 32;

  std::size_t measure(const Program& program) const {
    std::size_t total = program.step_count();
    for (std::size_t i = 0; i < program.step_count(); ++i)
      total = std::min(total + inside(program.step(i)), limit);
    return total;
  }

  std::unordered_map<const Program*, std::size_t> sizes_;
};

class Drawing {
 public:
  Drawing(const Program& program, const GraphOptions& options)
      : options_(options), sizes_(program) {
    graph_.title = program.name();
    const std::vector<Source> inputs = draw_inputs(program);
    const std::vector<Source> outputs = draw_body(program, inputs, Graph::none, options.max_steps);
    draw_outputs(program, outputs);
  }

  Graph finish() && { return std::move(graph_); }

 private:
  std::uint32_t add_node(Graph::Node node) {
    graph_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
  }

  std::uint32_t add_box(Graph::Box box) {
    graph_.boxes.push_back(std::move(box));
    return static_cast<std::uint32_t>(graph_.boxes.size() - 1);
  }

  /// Wires to or from a group are bundled: there is one between two nodes.
  void connect(const Source& source, std::uint32_t to, std::uint32_t operand) {
    Graph::Wire wire{source.node, source.result, to, operand, source.name};
    if (source.program) {
      const Step step = source.program->step(source.constant);
      wire.from = add_node({.kind = Graph::Kind::constant,
                            .title = to_string(step.attributes.get("value")),
                            .results = {to_string(source.program->type(step.first_result))},
                            .tooltip = place(step),
                            .box = graph_.nodes[to].box});
      wire.result = 0;
      wire.name = graph_.nodes[wire.from].results[0];
    }
    const bool is_bundled = wire.result == Graph::none || operand == Graph::none;
    if (is_bundled) {
      const auto [found, is_new] = bundles_.emplace(std::pair(wire.from, to), graph_.wires.size());
      if (!is_new) {
        Graph::Wire& bundle = graph_.wires[found->second];
        ++bundle.count;
        if (bundle.count <= 4) bundle.name += ", " + wire.name;
        if (bundle.count == 5) bundle.name += ", …";
        return;
      }
    }
    graph_.wires.push_back(std::move(wire));
  }

  std::vector<Source> draw_inputs(const Program& program, std::uint32_t box = Graph::none) {
    std::vector<Source> sources;
    const std::size_t count = program.inputs().size();
    const bool is_one = count > options_.max_steps;
    if (is_one)
      add_node(
          {.kind = Graph::Kind::input, .title = std::to_string(count) + " inputs", .box = box});
    for (std::size_t i = 0; i < count; ++i) {
      std::string wire =
          program.input_names()[i] + ": " + to_string(program.type(program.inputs()[i]));
      if (!is_one)
        add_node({.kind = Graph::Kind::input, .title = wire, .results = {wire}, .box = box});
      const auto node = static_cast<std::uint32_t>(graph_.nodes.size() - 1);
      sources.push_back(
          {.node = node, .result = is_one ? Graph::none : 0, .name = std::move(wire)});
    }
    return sources;
  }

  void draw_outputs(const Program& program, const std::vector<Source>& outputs,
                    std::uint32_t box = Graph::none) {
    const bool is_one = outputs.size() > options_.max_steps;
    std::uint32_t node = Graph::none;
    if (is_one)
      node = add_node({.kind = Graph::Kind::output,
                       .title = std::to_string(outputs.size()) + " results",
                       .box = box});
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!is_one) {
        std::string wire = outputs.size() == 1 ? "result: " : "result " + std::to_string(i) + ": ";
        wire += to_string(program.type(program.outputs()[i]));
        node = add_node(
            {.kind = Graph::Kind::output, .title = std::move(wire), .operands = 1, .box = box});
      }
      connect(outputs[i], node, is_one ? Graph::none : 0);
    }
  }

  /// Draws the steps of `program` and returns where its outputs start. At most `budget` nodes stand
  /// for steps.
  std::vector<Source> draw_body(const Program& program, const std::vector<Source>& inputs,
                                std::uint32_t box, std::size_t budget) {
    std::vector<Source> sources(program.slot_count());
    for (std::size_t i = 0; i < inputs.size(); ++i) sources[program.inputs()[i]] = inputs[i];
    // Constants are drawn where they are used, be it as outputs of a body without other steps.
    for (std::size_t i = 0; i < program.step_count(); ++i) {
      const Step step = program.step(i);
      if (is_constant(step)) sources[step.first_result] = {.program = &program, .constant = i};
    }
    const std::vector<StepRun> runs = group_steps(program, budget);
    const std::vector<bool> opened = open_calls(program, runs, budget);
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const bool is_group = runs[k].count > 1;
      const std::uint32_t group = is_group ? add_group(program, runs[k], box) : Graph::none;
      for (std::size_t i = runs[k].begin; i < runs[k].end; ++i) {
        const Step step = program.step(i);
        if (is_constant(step)) continue;
        if (is_group) {
          draw_in_group(program, step, group, sources);
        } else if (opened[k]) {
          draw_opened(program, step, sources, box);
        } else {
          draw_operation(program, step, sources, box);
        }
      }
    }
    std::vector<Source> outputs;
    for (Slot slot : program.outputs()) outputs.push_back(sources[slot]);
    return outputs;
  }

  /// Which steps with programs inside have room for them: the smallest first.
  std::vector<bool> open_calls(const Program& program, const std::vector<StepRun>& runs,
                               std::size_t budget) const {
    std::vector<bool> opened(runs.size());
    std::vector<std::pair<std::size_t, std::size_t>> sized;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      if (runs[k].count > 1) continue;
      const Step step = program.step(runs[k].begin);
      if (!programs_of(step).empty()) sized.emplace_back(sizes_.inside(step), k);
    }
    std::sort(sized.begin(), sized.end());
    std::size_t drawn = runs.size();
    for (const auto& [size, k] : sized) {
      if (drawn + size > budget) break;
      drawn += size;
      opened[k] = true;
    }
    return opened;
  }

  std::uint32_t add_group(const Program& program, const StepRun& run, std::uint32_t box) {
    return add_node({.kind = Graph::Kind::group,
                     .title = run_title(program, run) + " ×" + std::to_string(run.count) + " steps",
                     .detail = run_contents(program, run),
                     .tooltip = run_place(program, run),
                     .box = box});
  }

  /// Wires within the group are not drawn, and neither are its constants.
  void draw_in_group(const Program& program, const Step& step, std::uint32_t group,
                     std::vector<Source>& sources) {
    for (Slot slot : step.operands) {
      const Source& source = sources[slot];
      if (source.node != group && !source.program) connect(source, group, Graph::none);
    }
    set_results(program, step, group, true, sources);
  }

  static std::string wire_name(const Program& program, Slot slot) {
    return "v" + std::to_string(slot) + ": " + to_string(program.type(slot));
  }

  static void set_results(const Program& program, const Step& step, std::uint32_t node,
                          bool is_group, std::vector<Source>& sources) {
    for (Slot r = 0; r < step.result_count; ++r) {
      const Slot slot = step.first_result + r;
      sources[slot] = {
          .node = node, .result = is_group ? Graph::none : r, .name = wire_name(program, slot)};
    }
  }

  /// The node of a step, with a wire from each of `operands`.
  void draw_node(const Program& program, const Step& step, const std::vector<Source>& operands,
                 std::vector<Source>& sources, std::uint32_t box) {
    Graph::Node node{
        .kind = step.primitive.name == "captured" ? Graph::Kind::captured : Graph::Kind::operation,
        .title = title_of(step),
        .detail = detail(step),
        .operands = static_cast<std::uint32_t>(operands.size()),
        .tooltip = place(step),
        .box = box};
    for (Slot r = 0; r < step.result_count; ++r)
      node.results.push_back(wire_name(program, step.first_result + r));
    const std::uint32_t added = add_node(std::move(node));
    for (std::uint32_t i = 0; i < operands.size(); ++i) connect(operands[i], added, i);
    set_results(program, step, added, false, sources);
  }

  static std::vector<Source> operand_sources(const Step& step, const std::vector<Source>& sources) {
    std::vector<Source> operands;
    for (Slot slot : step.operands) operands.push_back(sources[slot]);
    return operands;
  }

  void draw_operation(const Program& program, const Step& step, std::vector<Source>& sources,
                      std::uint32_t box) {
    draw_node(program, step, operand_sources(step, sources), sources, box);
  }

  /// A step with the programs inside: a call is its body; the branches of a `cond` end in a node
  /// that chooses; other bodies are shown beside the node of the step, since they run on what only
  /// the step knows.
  void draw_opened(const Program& program, const Step& step, std::vector<Source>& sources,
                   std::uint32_t box) {
    const std::vector<Source> operands = operand_sources(step, sources);
    const std::vector<NamedProgram> bodies = programs_of(step);
    const std::string& kind = step.primitive.name;
    if (kind == "call") {
      const Program& body = *bodies.front().second;
      const std::string& name = body.name();
      const std::vector<Source> results =
          draw_inside(body, &operands, add_box({name.empty() ? kind : name, place(step), box}));
      for (Slot r = 0; r < step.result_count; ++r) sources[step.first_result + r] = results[r];
      return;
    }
    const std::uint32_t frame = add_box({kind, place(step), box});
    std::vector<Source> choices(operands.begin(), operands.begin() + (operands.empty() ? 0 : 1));
    const std::vector<Source> passed(operands.begin() + (operands.empty() ? 0 : 1), operands.end());
    for (const auto& [role, body] : bodies) {
      const std::string title = role + (body->name().empty() ? "" : ": " + body->name());
      const std::uint32_t inner = add_box({title, place(step), frame});
      if (kind == "cond") {
        const std::vector<Source> results = draw_inside(*body, &passed, inner);
        choices.insert(choices.end(), results.begin(), results.end());
      } else {
        draw_outputs(*body, draw_inside(*body, nullptr, inner), inner);
      }
    }
    draw_node(program, step, kind == "cond" ? choices : operands, sources, frame);
  }

  /// The body of a program inside a step; its inputs get wires from `operands` where they are
  /// these.
  std::vector<Source> draw_inside(const Program& body, const std::vector<Source>* operands,
                                  std::uint32_t box) {
    const std::vector<Source> inputs = draw_inputs(body, box);
    if (operands && operands->size() == inputs.size()) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool is_one = inputs[i].result == Graph::none;
        if (!is_one) graph_.nodes[inputs[i].node].operands = 1;
        connect((*operands)[i], inputs[i].node, is_one ? Graph::none : 0);
      }
    }
    return draw_body(body, inputs, box, options_.max_steps);
  }

  const GraphOptions& options_;
  Sizes sizes_;
  Graph graph_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> bundles_;
};

}  // namespace

Graph graph(const Program& program, const GraphOptions& options) {
  return Drawing(program, options).finish();
}

}  // namespace hom
