// backends/cpu/explain.cc -- what a compiled function consists of
#include <hom/backends/cpu/explain.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <hom/backends/cpu/jit/executable.h>

namespace hom {
namespace {

using Place = nest::PlannedBuffer::Place;

std::string where(const nest::Origin& origin) {
  std::string text = origin.at.line() == 0 ? "" : to_string(origin.at);
  if (!origin.scope.empty()) text += ", in `" + origin.scope + "`";
  return text;
}

const char* name_of(Place place) {
  switch (place) {
    case Place::input:
      return "an input";
    case Place::output:
      return "an output";
    case Place::constant:
      return "a constant";
    case Place::temporary:
      break;
  }
  return "temporary";
}

/// Whether both are the same memory.
bool is_shared(const nest::PlannedBuffer& a, const nest::PlannedBuffer& b) {
  if (a.place != b.place || a.bytes() == 0) return false;
  return a.place == Place::temporary ? a.offset == b.offset : a.index == b.index;
}

class Explainer {
 public:
  explicit Explainer(const cpu::Executable& executable)
      : plan_(executable.plan()), code_(executable.code()) {}

  Explanation run() {
    explanation_.tier = code_.describe();
    explanation_.plan = nest::to_string(plan_);
    walk(plan_.body, 0, 1);
    memory();
    return std::move(explanation_);
  }

 private:
  void walk(const nest::Instructions& instructions, int depth, std::int64_t runs) {
    for (const nest::Instruction& instruction : instructions) {
      ExplainedStep step;
      step.depth = depth;
      step.runs = runs;
      if (const auto* launch = std::get_if<nest::Launch>(&instruction.is)) {
        step.name = plan_.kernels[launch->kernel].name;
        explain(*launch, step);
      } else if (const auto* call = std::get_if<nest::Call>(&instruction.is)) {
        explain(*call, instruction.step, step);
      } else if (const auto* copy = std::get_if<nest::Copy>(&instruction.is)) {
        explain(*copy, instruction.step, step);
      } else {
        walk_inside(instruction, depth + 1, runs);
        continue;
      }
      explanation_.steps.push_back(std::move(step));
    }
  }

  void walk_inside(const nest::Instruction& instruction, int depth, std::int64_t runs) {
    if (const auto* repeat = std::get_if<nest::Repeat>(&instruction.is)) {
      walk(repeat->body, depth, runs < 0 ? runs : runs * repeat->count);
    } else if (const auto* strips = std::get_if<nest::Strips>(&instruction.is)) {
      const std::size_t first = explanation_.steps.size();
      walk(strips->body, depth, runs < 0 ? runs : runs * strips->count());
      for (std::size_t i = first; i < explanation_.steps.size(); ++i) {
        explanation_.steps[i].flops /= static_cast<double>(strips->count());
        explanation_.steps[i].bytes /= static_cast<double>(strips->count());
      }
    } else if (const auto* loop = std::get_if<nest::While>(&instruction.is)) {
      walk(loop->condition, depth, -1);
      walk(loop->body, depth, -1);
    } else {
      const auto& branch = std::get<nest::Branch>(instruction.is);
      walk(branch.then, depth, -1);
      walk(branch.otherwise, depth, -1);
    }
  }

  void explain(const nest::Launch& launch, ExplainedStep& step) {
    const nest::Kernel& kernel = plan_.kernels[launch.kernel];
    step.loops = nest::to_string(kernel);
    step.source = code_.source(launch.kernel);
    std::set<std::string> seen(step.lines.begin(), step.lines.end());
    for (const nest::Node& node : kernel.nodes) {
      if (node.step >= plan_.origins.size()) continue;
      const nest::Origin& origin = plan_.origins[node.step];
      std::string line =
          origin.at.line() == 0 ? origin.primitive : to_string(origin.at) + " " + origin.primitive;
      if (!origin.scope.empty()) line += ", in `" + origin.scope + "`";
      if (seen.insert(line).second) step.lines.push_back(std::move(line));
    }
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const nest::Buffer& buffer = kernel.buffers[i];
      const char* const verb = buffer.is_read && buffer.is_written ? "updates "
                               : buffer.is_read                    ? "reads "
                                                                   : "writes ";
      add_buffer(verb, launch.arguments[i], step);
    }
    const nest::Work work = nest::work_of(kernel);
    step.flops += work.flops;
    step.bytes += work.bytes_read + work.bytes_written;
    find_in_place(launch, step.name);
  }

  void explain(const nest::Call& call, std::uint32_t origin, ExplainedStep& step) {
    const nest::Routine& routine = *plan_.routines[call.routine];
    step.kind = ExplainedStep::Kind::routine;
    step.name = routine.describe();
    add_line(origin, step);
    for (const nest::Address& operand : call.operands) add_buffer("reads ", operand, step);
    for (const nest::Address& result : call.results) add_buffer("writes ", result, step);
    const nest::Work work = routine.work();
    step.flops += work.flops;
    step.bytes += work.bytes_read + work.bytes_written;
    if (call.epilogue) {
      step.name += ", then " + plan_.kernels[call.epilogue->kernel].name;
      explain(*call.epilogue, step);
    }
  }

  void explain(const nest::Copy& copy, std::uint32_t origin, ExplainedStep& step) {
    step.kind = ExplainedStep::Kind::copy;
    step.name = "copy";
    add_line(origin, step);
    add_buffer("reads ", copy.from, step);
    add_buffer("writes ", copy.to, step);
    const bool is_nothing = is_shared(buffer(copy.from), buffer(copy.to)) &&
                            copy.from.offset == copy.to.offset && copy.from.moves.empty() &&
                            copy.to.moves.empty();
    if (is_nothing) step.name = "copy in place";
    step.bytes = is_nothing ? 0 : 2 * static_cast<double>(copy.bytes);
  }

  const nest::PlannedBuffer& buffer(const nest::Address& address) const {
    return plan_.buffers[address.buffer];
  }

  std::string label(std::uint32_t buffer) const {
    const std::string& own = plan_.buffers[buffer].label;
    return own.empty() ? "b" + std::to_string(buffer) : own;
  }

  void add_line(std::uint32_t origin, ExplainedStep& step) const {
    if (origin >= plan_.origins.size()) return;
    const std::string place = where(plan_.origins[origin]);
    const std::string& primitive = plan_.origins[origin].primitive;
    if (place.empty()) {
      step.lines.push_back(primitive);
      return;
    }
    const std::size_t comma = place.find(", in `");
    step.lines.push_back(place.substr(0, comma) + " " + primitive +
                         (comma == std::string::npos ? "" : place.substr(comma)));
  }

  void add_buffer(const char* verb, const nest::Address& address, ExplainedStep& step) const {
    step.buffers.push_back(verb + label(address.buffer) + ": " + to_string(buffer(address).type) +
                           ", " + name_of(buffer(address).place));
  }

  void find_in_place(const nest::Launch& launch, const std::string& name) {
    const nest::Kernel& kernel = plan_.kernels[launch.kernel];
    for (std::size_t w = 0; w < launch.arguments.size(); ++w) {
      if (!kernel.buffers[w].is_written || kernel.buffers[w].is_read) continue;
      for (std::size_t r = 0; r < launch.arguments.size(); ++r) {
        const std::uint32_t from = launch.arguments[r].buffer;
        const std::uint32_t to = launch.arguments[w].buffer;
        if (!kernel.buffers[r].is_read || from == to) continue;
        if (is_shared(plan_.buffers[from], plan_.buffers[to]))
          explanation_.memory.in_place.push_back(label(to) + " over " + label(from) + ", in " +
                                                 name);
      }
    }
  }

  void memory() {
    ExplainedMemory& memory = explanation_.memory;
    memory.arena_bytes = plan_.arena_bytes;
    memory.live_bytes = plan_.live_bytes;
    std::set<std::uint32_t> outputs(plan_.outputs.begin(), plan_.outputs.end());
    for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      const nest::PlannedBuffer& buffer = plan_.buffers[b];
      // One that shares the memory of an output was a temporary.
      if (buffer.place == Place::temporary ||
          (buffer.place == Place::output && !outputs.contains(b)))
        memory.temporary_bytes += buffer.bytes();
      if (buffer.place == Place::constant) memory.constant_bytes += buffer.bytes();
    }
    std::vector<std::uint32_t> inputs(plan_.input_count);
    for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      if (plan_.buffers[b].place == Place::input) inputs[plan_.buffers[b].index] = b;
    }
    for (std::size_t o = 0; o < plan_.donations.size(); ++o) {
      if (plan_.donations[o] == nest::Plan::not_donated) continue;
      memory.donations.push_back("output " + std::to_string(o) + " may take the memory of input `" +
                                 label(inputs[plan_.donations[o]]) + "`");
    }
  }

  const nest::Plan& plan_;
  const cpu::Code& code_;
  Explanation explanation_;
};

/// Whether every step of this primitive could be loops: what is run by other programs, or as code
/// of a library, is not. Programs inside become instructions.
bool has_loops(const std::string& primitive) {
  static const std::set<std::string> others = {"argmax",
                                               "argmin",
                                               "barrier",
                                               "bitcast",
                                               "broadcast_in_dim",
                                               "call",
                                               "checkpoint",
                                               "concat",
                                               "cond",
                                               "convert",
                                               "cummax",
                                               "cummin",
                                               "cumprod",
                                               "cumsum",
                                               "custom_jvp",
                                               "custom_linear",
                                               "custom_vjp",
                                               "dynamic_slice",
                                               "dynamic_update_slice",
                                               "gather",
                                               "implicit",
                                               "iota",
                                               "pad",
                                               "reduce_and",
                                               "reduce_argmax",
                                               "reduce_argmin",
                                               "reduce_max",
                                               "reduce_min",
                                               "reduce_or",
                                               "reduce_prod",
                                               "reduce_sum",
                                               "reshape",
                                               "scan",
                                               "scatter",
                                               "select",
                                               "slice",
                                               "stop_gradient",
                                               "transpose",
                                               "update_slice",
                                               "while"};
  return nest::function_named(primitive).has_value() || others.contains(primitive);
}

void find_fallbacks(const nest::Plan& plan, const nest::Instructions& instructions,
                    std::vector<Fallback>& found) {
  for (const nest::Instruction& instruction : instructions) {
    if (std::holds_alternative<nest::Call>(instruction.is)) {
      if (instruction.step >= plan.origins.size()) continue;
      const nest::Origin& origin = plan.origins[instruction.step];
      if (has_loops(origin.primitive)) found.push_back({origin.primitive, where(origin)});
    } else if (const auto* repeat = std::get_if<nest::Repeat>(&instruction.is)) {
      find_fallbacks(plan, repeat->body, found);
    } else if (const auto* loop = std::get_if<nest::While>(&instruction.is)) {
      find_fallbacks(plan, loop->condition, found);
      find_fallbacks(plan, loop->body, found);
    } else if (const auto* branch = std::get_if<nest::Branch>(&instruction.is)) {
      find_fallbacks(plan, branch->then, found);
      find_fallbacks(plan, branch->otherwise, found);
    } else if (const auto* strips = std::get_if<nest::Strips>(&instruction.is)) {
      find_fallbacks(plan, strips->body, found);
    }
  }
}

/// `1.5 kB`
std::string amount(double value, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < std::size(prefixes)) {
    value /= 1000;
    ++prefix;
  }
  const char* const format = prefix == 0 ? "{:.0f} {}{}" : "{:.3g} {}{}";
  return fmt::format(fmt::runtime(format), value, prefixes[prefix], unit);
}

void append_lines(std::string& text, const std::string& block, const std::string& indentation) {
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) text += indentation + line + "\n";
}

}  // namespace

Explanation explain(const CompiledProgram& program) {
  return Explainer(program.executable()).run();
}

std::vector<Fallback> fallbacks(const nest::Plan& plan) {
  std::vector<Fallback> found;
  find_fallbacks(plan, plan.body, found);
  return found;
}
std::vector<Fallback> fallbacks(const CompiledProgram& program) {
  return fallbacks(program.executable().plan());
}

std::ostream& operator<<(std::ostream& out, const Fallback& fallback) {
  out << fallback.primitive;
  if (!fallback.where.empty()) out << " at " << fallback.where;
  return out;
}

std::string to_string(const Explanation& explanation, bool with_source) {
  std::string text = fmt::format("{} steps by {}\n", explanation.steps.size(), explanation.tier);
  for (const ExplainedStep& step : explanation.steps) {
    const std::string indentation(static_cast<std::size_t>(2 * step.depth), ' ');
    text += fmt::format("{}{}: {}, {}", indentation, step.name, amount(step.flops, "FLOP"),
                        amount(step.bytes, "B"));
    if (step.runs < 0) text += ", as often as values decide";
    if (step.runs != 1 && step.runs >= 0) text += fmt::format(", {} times", step.runs);
    text += '\n';
    for (const std::string& line : step.lines) text += indentation + "  from " + line + "\n";
    for (const std::string& buffer : step.buffers) text += indentation + "  " + buffer + "\n";
    append_lines(text, step.loops, indentation + "    ");
    if (with_source) append_lines(text, step.source, indentation + "    | ");
  }
  const ExplainedMemory& memory = explanation.memory;
  text += fmt::format("memory: {} of temporaries in {}, {} needed at once",
                      amount(static_cast<double>(memory.temporary_bytes), "B"),
                      amount(static_cast<double>(memory.arena_bytes), "B"),
                      amount(static_cast<double>(memory.live_bytes), "B"));
  if (memory.constant_bytes > 0)
    text +=
        fmt::format("; {} of constants", amount(static_cast<double>(memory.constant_bytes), "B"));
  text += '\n';
  for (const std::string& line : memory.in_place) text += "  in place: " + line + "\n";
  for (const std::string& line : memory.donations) text += "  given away: " + line + "\n";
  return text;
}

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) {
  return out << to_string(explanation);
}

}  // namespace hom
