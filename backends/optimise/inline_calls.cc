// backends/optimise/inline_calls.cc -- calls become the steps of what they call
//
// Programs that are called are walked with a stack of our own, so that the depth of calls costs
// nothing but their steps. Loops of at most one iteration and branches that are known are calls
// too.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <hom/backends/optimise/everywhere.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/vocabulary.h>
#include <hom/core/axes.h>
#include <hom/core/primitives/rules.h>

namespace hom::optimiser {
namespace {

using Inlined = std::unordered_map<const Program*, ProgramPtr>;

class Inliner {
 public:
  Inliner(const OptimiseOptions& options, const Inlined& bodies)
      : options_(options), bodies_(bodies) {}

  Program run(const Program& program) {
    enter(program, builder_.add_inputs_of(program), Frame::from_outside);
    while (!stack_.empty()) {
      // References into the stack move when it grows.
      const std::size_t top = stack_.size() - 1;
      if (stack_[top].next < stack_[top].program->step_count()) {
        take_step(top);
      } else {
        leave();
      }
    }
    return std::move(builder_).finish(std::move(outputs_), signature_of(program));
  }

 private:
  /// A program that is being appended.
  struct Frame {
    const Program* program;
    std::vector<Slot> slots;
    std::size_t next = 0;
    /// The step of the frame below whose results these are.
    std::size_t caller;
    static constexpr std::size_t from_outside = SIZE_MAX;
  };

  void enter(const Program& program, std::vector<Slot> inputs, std::size_t caller) {
    Frame frame{&program, std::vector<Slot>(program.slot_count()), 0, caller};
    for (std::size_t i = 0; i < inputs.size(); ++i) frame.slots[program.inputs()[i]] = inputs[i];
    stack_.push_back(std::move(frame));
  }

  void leave() {
    const Frame done = std::move(stack_.back());
    stack_.pop_back();
    std::vector<Slot> outputs;
    for (Slot slot : done.program->outputs()) outputs.push_back(done.slots[slot]);
    if (done.caller == Frame::from_outside) {
      outputs_ = std::move(outputs);
      return;
    }
    Frame& frame = stack_.back();
    set_results(frame, frame.program->step(done.caller), std::move(outputs));
  }

  /// Results of a step; those of a loop of one iteration are stacked.
  void set_results(Frame& frame, const Step& step, std::vector<Slot> results) {
    const Vocabulary& w = words();
    if (&step.primitive == &w.scan) {
      for (std::size_t k = step.attributes.count("carries"); k < results.size(); ++k) {
        Shape shape = frame.program->type(step.first_result + static_cast<Slot>(k)).shape;
        results[k] = builder_.append(w.reshape, {{"shape", {shape}}},
                                     std::span<const Slot>(&results[k], 1), step.at, step.scope);
      }
    }
    for (std::size_t k = 0; k < results.size(); ++k)
      frame.slots[step.first_result + static_cast<Slot>(k)] = results[k];
  }

  void take_step(std::size_t top) {
    const std::size_t index = stack_[top].next++;
    const Program& program = *stack_[top].program;
    const Step step = program.step(index);
    std::vector<Slot> operands;
    for (Slot slot : step.operands) operands.push_back(stack_[top].slots[slot]);
    const Vocabulary& w = words();
    const Primitive* p = &step.primitive;
    const Attributes& a = step.attributes;
    if (p == &w.call || p == &w.custom_jvp || p == &w.custom_vjp ||
        (p == &w.composite && !(options_.keep_composite && options_.keep_composite(step)))) {
      return enter(*a.program("program"), std::move(operands), index);
    }
    if (p == &w.custom_linear) return enter(*a.program("forward"), std::move(operands), index);
    if (p == &w.checkpoint) {
      return enter(*a.program("program"), behind_barrier(step, std::move(operands)), index);
    }
    if (p == &w.cond) {
      const ProgramPtr& then = a.program("then");
      const ProgramPtr& otherwise = a.program("otherwise");
      const Attribute* known = builder_.literal(operands[0]);
      if (known || *then == *otherwise) {
        const bool holds = !known || number<bool>(*known);
        operands.erase(operands.begin());
        return enter(holds ? *then : *otherwise, std::move(operands), index);
      }
    }
    if (p == &w.scan && a.integer("length") <= 1)
      return take_short_scan(top, index, step, operands);
    if (p == &w.while_ && a.integer("bound") == 0) {
      operands.resize(a.count("carries"));
      return set_results(stack_[top], step, std::move(operands));
    }
    append(top, step, operands);
  }

  /// As it stands, with the programs inside inlined.
  void append(std::size_t top, const Step& step, std::span<const Slot> operands) {
    const Program& program = *stack_[top].program;
    const bool has_bodies = step.primitive.run != nullptr;
    const Slot first =
        has_bodies ? builder_.append(step.primitive,
                                     with_programs(step.attributes,
                                                   [&](const ProgramPtr& inside) {
                                                     const auto found = bodies_.find(inside.get());
                                                     return found == bodies_.end() ? inside
                                                                                   : found->second;
                                                   }),
                                     operands, step.at, step.scope)
                   : builder_.append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      stack_[top].slots[step.first_result + r] = first + r;
  }

  void take_short_scan(std::size_t top, std::size_t index, const Step& step,
                       std::vector<Slot> operands) {
    const Vocabulary& w = words();
    const std::size_t carries = step.attributes.count("carries");
    const std::size_t scanned = step.attributes.count("scanned");
    if (step.attributes.integer("length") == 0) {
      operands.resize(carries);
      for (std::size_t k = carries; k < step.result_count; ++k) {
        const TensorType type = stack_[top].program->type(step.first_result + static_cast<Slot>(k));
        operands.push_back(append_literal(builder_, {0.0}, type, step.at, step.scope));
      }
      for (std::size_t k = 0; k < operands.size(); ++k)
        stack_[top].slots[step.first_result + static_cast<Slot>(k)] = operands[k];
      return;
    }
    for (std::size_t k = carries; k < carries + scanned; ++k) {
      Shape shape = builder_.type(operands[k]).shape;
      shape.erase(shape.begin());
      operands[k] = builder_.append(w.reshape, {{"shape", {shape}}},
                                    std::span<const Slot>(&operands[k], 1), step.at, step.scope);
    }
    enter(*step.attributes.program("body"), std::move(operands), index);
  }

  /// The operands of a checkpoint. The first time that some operand is met they are taken as they
  /// are: that is the primal. What comes later computes it again, from operands behind a barrier
  /// that it shares with nobody (its own ones, the cotangents, are operands too), so that its steps
  /// are never merged with those of the primal and never run before the cotangents are there.
  std::vector<Slot> behind_barrier(const Step& step, std::vector<Slot> operands) {
    std::vector<Slot> varying;
    bool is_again = false;
    for (Slot slot : operands) {
      if (builder_.literal(slot)) continue;
      varying.push_back(slot);
      is_again = is_again || checkpointed_.contains(slot);
    }
    checkpointed_.insert(varying.begin(), varying.end());
    if (!is_again) return operands;
    const Slot first = builder_.append(words().barrier, {}, varying, step.at, step.scope);
    std::size_t next = 0;
    for (Slot& slot : operands) {
      if (!builder_.literal(slot)) slot = first + static_cast<Slot>(next++);
    }
    return operands;
  }

  const OptimiseOptions& options_;
  const Inlined& bodies_;
  Builder builder_{Builder::Zeros::exact};
  std::vector<Frame> stack_;
  std::vector<Slot> outputs_;
  std::unordered_set<Slot> checkpointed_;
};

/// The programs that stay inside: of loops, branches and composites, not what is called.
std::unordered_set<const Program*> bodies_of(const Program& program,
                                             const std::vector<ProgramPtr>& inside) {
  std::unordered_set<const Program*> bodies;
  const auto look = [&](const Program& p) {
    const Vocabulary& w = words();
    for (std::size_t i = 0; i < p.step_count(); ++i) {
      const Step step = p.step(i);
      if (&step.primitive != &w.scan && &step.primitive != &w.while_ &&
          &step.primitive != &w.cond && &step.primitive != &w.composite)
        continue;
      for (const auto& [name, attribute] : step.attributes) {
        if (const auto* body = std::get_if<ProgramPtr>(&attribute.value))
          bodies.insert(body->get());
      }
    }
  };
  look(program);
  for (const ProgramPtr& p : inside) look(*p);
  return bodies;
}

Program inlined(const Program& program, const OptimiseOptions& options) {
  const std::vector<ProgramPtr> inside = programs_inside(program);
  if (inside.empty()) return program;
  const std::unordered_set<const Program*> bodies = bodies_of(program, inside);
  Inlined done;
  for (const ProgramPtr& p : inside) {
    if (!bodies.contains(p.get())) continue;
    Program result = Inliner(options, done).run(*p);
    done.emplace(p.get(), result == *p ? p : std::make_shared<const Program>(std::move(result)));
  }
  return Inliner(options, done).run(program);
}

}  // namespace

Pass inline_calls() {
  return {
      "inline_calls",
      "calls, custom functions, composites and checkpoints become the steps of their programs",
      inlined,
      {{"call f(x…) = f(x…)",
        "also custom_jvp, custom_vjp, custom_linear, and composite where the executor has no "
        "kernel for it: the rules that they carry are for derivatives"},
       {"checkpoint f(x…) = f(barrier(x…))",
        "where an operand was checkpointed before: what is computed again is not merged with "
        "what it saves"},
       {"cond(true, f, g)(x…) = f(x…)", "a predicate that is known, or branches that are equal"},
       {"scan of one iteration = its body", "of none: its carries; likewise while, bound 0"}}};
}

}  // namespace hom::optimiser
