// backends/optimise/rewriting.cc -- the engine under passes that are tables of rules
#include <hom/backends/optimise/rewriting.h>

#include <algorithm>
#include <bit>

#include <hom/backends/optimise/everywhere.h>
#include <hom/core/primitives/rules.h>

namespace hom::optimiser {

// ---- what rules see ----

TensorType Rewriting::type(Slot slot) const { return rewriter.builder().type(slot); }

bool Rewriting::is(Slot slot, const Primitive& wanted) const {
  const Program& program = rewriter.builder().program();
  const std::uint32_t step = program.definition(slot);
  return step != Program::is_none && &program.step(step).primitive == &wanted;
}

std::optional<Definition> Rewriting::match(Slot slot, const Primitive& wanted) const {
  if (!is(slot, wanted)) return std::nullopt;
  const std::optional<Step> step = rewriter.builder().definition(slot);
  return Definition{step->attributes, {step->operands.begin(), step->operands.end()}};
}

std::optional<Attribute> Rewriting::literal_of(Slot slot) const {
  const Attribute* value = rewriter.builder().literal(slot);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> Rewriting::number_of(Slot slot) const {
  const Attribute* value = rewriter.builder().literal(slot);
  return value ? std::optional(number<double>(*value)) : std::nullopt;
}

bool Rewriting::is_literal(Slot slot, double value) const {
  return rewriter.builder().is_literal(slot, value);
}

Facts Rewriting::facts(Slot slot) const { return rewriter.facts(slot); }
bool Rewriting::is_used_once(Slot slot) const { return rewriter.uses(slot) <= 1; }
bool Rewriting::reassociates() const { return rewriter.options().reassociate; }

Slot Rewriting::append(const Primitive& other, std::span<const Slot> on,
                       const Attributes& with) const {
  return rewriter.append(other, with, on, at, scope, depth + 1);
}

Slot Rewriting::append(const Primitive& other, std::initializer_list<Slot> on,
                       const Attributes& with) const {
  return append(other, std::span<const Slot>(on.begin(), on.size()), with);
}

Slot Rewriting::literal(const Attribute& value, const TensorType& type) const {
  return append_literal(rewriter.mutable_builder(), value, type, at, scope);
}

// ---- tables ----

void add_rule(Rules& rules, std::initializer_list<const Primitive*> primitives,
              const RuleDescription& text, std::optional<Slot> (*apply)(const Rewriting&)) {
  for (const Primitive* primitive : primitives) rules.push_back({primitive, text, apply});
}

std::vector<RuleDescription> descriptions_of(const Rules& rules) {
  std::vector<RuleDescription> all;
  for (const Rule& rule : rules) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const RuleDescription& text) {
      return text.formula == rule.text.formula;
    });
    if (!known) all.push_back(rule.text);
  }
  return all;
}

namespace {

Rewriter::Table table_of(const Rules& rules, const OptimiseOptions& options) {
  Rewriter::Table table;
  for (const Rule& rule : rules) {
    if (!rule.text.reassociates || options.reassociate) table[rule.primitive].push_back(&rule);
  }
  return table;
}

/// Whether any step, here or inside, is of a primitive that has rules.
bool has_anything_to_do(const Program& program, const Rewriter::Table& table) {
  const auto any = [&](const Program& p) {
    for (std::size_t i = 0; i < p.step_count(); ++i) {
      if (table.contains(&p.step(i).primitive)) return true;
    }
    return false;
  };
  if (any(program)) return true;
  for (const ProgramPtr& inside : programs_inside(program)) {
    if (any(*inside)) return true;
  }
  return false;
}

}  // namespace

Program rewritten(const Program& program, const Rules& rules, const OptimiseOptions& options) {
  const Rewriter::Table table = table_of(rules, options);
  if (!has_anything_to_do(program, table)) return program;
  return everywhere(program, [&](const Program& p) { return Rewriter(p, table, options).run(); });
}

Pass pass_of_rules(std::string name, std::string description, const Rules& rules) {
  return {std::move(name), std::move(description),
          [&rules](const Program& program, const OptimiseOptions& options) {
            return rewritten(program, rules, options);
          },
          descriptions_of(rules)};
}

// ---- the walk ----

Rewriter::Rewriter(const Program& program, const Table& rules, const OptimiseOptions& options)
    : program_(program), rules_(rules), options_(options) {
  count_uses();
}

void Rewriter::count_uses() {
  old_uses_.assign(program_.slot_count(), 0);
  for (Slot slot : program_.outputs()) ++old_uses_[slot];
  for (std::size_t i = 0; i < program_.step_count(); ++i) {
    for (Slot slot : program_.step(i).operands) ++old_uses_[slot];
  }
}

Slot Rewriter::append(const Primitive& primitive, const Attributes& attributes,
                      std::span<const Slot> operands, const Location& at, const std::string& scope,
                      int depth) {
  // Rules make programs smaller, or steps cheaper; that they come to an end is tested, and that
  // they do not come to the end of the stack is seen to here.
  constexpr int deepest = 32;
  const auto found = rules_.find(&primitive);
  if (found == rules_.end() || depth > deepest)
    return builder_.append(primitive, attributes, operands, at, scope);
  SmallVector<TensorType, 4> types;
  for (Slot slot : operands) types.push_back(builder_.type(slot));
  const std::vector<TensorType> results =
      result_types(primitive, attributes, {types.data(), types.size()}, at);
  const Rewriting step{*this, primitive, attributes, operands, results.at(0), at, scope, depth};
  for (const Rule* rule : found->second) {
    if (const std::optional<Slot> slot = rule->apply(step)) return *slot;
  }
  return builder_.append(primitive, attributes, operands, at, scope);
}

Program Rewriter::run() {
  std::vector<Slot> slots(program_.slot_count());
  const auto stands_for = [&](Slot slot, Slot old) {
    slots[old] = slot;
    if (slot >= uses_.size()) uses_.resize(slot + 1, 0);
    uses_[slot] += old_uses_[old];
  };
  const std::vector<Slot> inputs = builder_.add_inputs_of(program_);
  for (std::size_t i = 0; i < inputs.size(); ++i) stands_for(inputs[i], program_.inputs()[i]);
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < program_.step_count(); ++i) {
    const Step step = program_.step(i);
    operands.clear();
    for (Slot slot : step.operands) operands.push_back(slots[slot]);
    const Slot first =
        &step.primitive == &words().captured
            ? builder_.append_step(program_, step, operands)
            : append(step.primitive, step.attributes, operands, step.at, step.scope, 0);
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      stands_for(first + r, step.first_result + r);
  }
  std::vector<Slot> outputs;
  for (Slot slot : program_.outputs()) outputs.push_back(slots[slot]);
  return std::move(builder_).finish(std::move(outputs), signature_of(program_));
}

}  // namespace hom::optimiser
