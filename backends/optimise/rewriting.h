// backends/optimise/rewriting.h -- passes that are tables of rules, each of which replaces one step
//
// A program is built anew, step by step. Before a step is appended, the rules for its primitive are
// asked in order, with its operands as they are in the new program; the first that answers gives
// the slot that stands for the result. Steps that rules append are rewritten likewise.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <hom/backends/optimise/facts.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/backends/optimise/vocabulary.h>
#include <hom/core/builder.h>

namespace hom::optimiser {

class Rewriter;

/// The step that defines a slot, copied: what the builder holds moves when it grows.
struct Definition {
  Attributes attributes;
  SmallVector<Slot, 3> operands;

  Slot operator[](std::size_t i) const { return operands[i]; }
};

/// What a rule sees: a step that is about to be appended.
struct Rewriting {
  Rewriter& rewriter;
  const Primitive& primitive;
  const Attributes& attributes;
  std::span<const Slot> operands;
  const TensorType& result;
  const Location& at;
  const std::string& scope;
  int depth;

  Slot operator[](std::size_t i) const { return operands[i]; }
  bool is_float() const { return result.dtype.is_float(); }
  TensorType type(Slot slot) const;
  /// The step that defines `slot`, where it is one of `wanted`.
  std::optional<Definition> match(Slot slot, const Primitive& wanted) const;
  bool is(Slot slot, const Primitive& wanted) const;
  /// The value of a literal; nothing for other slots.
  std::optional<Attribute> literal_of(Slot slot) const;
  std::optional<double> number_of(Slot slot) const;
  /// Whether it is a literal with these bits (0 is not −0).
  bool is_literal(Slot slot, double value) const;
  Facts facts(Slot slot) const;
  /// Whether, as far as is known, no other step needs it: so that it goes where this step goes.
  bool is_used_once(Slot slot) const;
  bool reassociates() const;

  /// A step in place of this one, on its line.
  Slot append(const Primitive& other, std::initializer_list<Slot> on,
              const Attributes& with = {}) const;
  Slot append(const Primitive& other, std::span<const Slot> on, const Attributes& with) const;
  /// A literal, rounded to the dtype.
  Slot literal(const Attribute& value, const TensorType& type) const;
  Slot literal(double value) const { return literal(Attribute{value}, result); }
};

/// A rule for steps of one primitive.
struct Rule {
  const Primitive* primitive;
  RuleDescription text;
  std::optional<Slot> (*apply)(const Rewriting&);
};
using Rules = std::vector<Rule>;

/// One rule for several primitives.
void add_rule(Rules& rules, std::initializer_list<const Primitive*> primitives,
              const RuleDescription& text, std::optional<Slot> (*apply)(const Rewriting&));

/// The program and those inside it, rewritten by the rules.
Program rewritten(const Program& program, const Rules& rules, const OptimiseOptions& options);
/// A pass that is its rules.
Pass pass_of_rules(std::string name, std::string description, const Rules& rules);
/// Descriptions, each once.
std::vector<RuleDescription> descriptions_of(const Rules& rules);

/// Builds one program by rules.
class Rewriter {
 public:
  using Table = std::unordered_map<const Primitive*, std::vector<const Rule*>>;

  Rewriter(const Program& program, const Table& rules, const OptimiseOptions& options);
  Program run();

  const Builder& builder() const { return builder_; }
  const OptimiseOptions& options() const { return options_; }
  Facts facts(Slot slot) { return facts_(slot); }
  std::uint32_t uses(Slot slot) const { return slot < uses_.size() ? uses_[slot] : 0; }
  Slot append(const Primitive& primitive, const Attributes& attributes,
              std::span<const Slot> operands, const Location& at, const std::string& scope,
              int depth);
  Builder& mutable_builder() { return builder_; }

 private:
  void count_uses();

  const Program& program_;
  const Table& rules_;
  const OptimiseOptions& options_;
  Builder builder_{Builder::Zeros::exact};
  FactTable facts_{builder_};
  /// How often slots of the old program are mentioned, outputs included, and those of the new one
  /// that stand for them.
  std::vector<std::uint32_t> old_uses_;
  std::vector<std::uint32_t> uses_;
};

}  // namespace hom::optimiser
