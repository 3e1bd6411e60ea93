// backends/optimise/dead_results.cc -- what loops and branches compute, carry or take in vain
//
// Results that nobody uses go, carries that only serve themselves, operands that nobody reads or
// that are there twice; what does not change in a loop is no carry, and literals move inside.
#include <memory>
#include <numeric>
#include <unordered_map>

#include <hom/backends/optimise/everywhere.h>
#include <hom/backends/optimise/loop_parts.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/vocabulary.h>
#include <hom/core/axes.h>
#include <hom/core/primitives/rules.h>

namespace hom::optimiser {
namespace {

using Kind = Source::Kind;

/// Which slots of a program some output needs.
std::vector<bool> live_slots(const Program& program) {
  std::vector<bool> live(program.slot_count());
  for (Slot slot : program.outputs()) live[slot] = true;
  for (std::size_t i = program.step_count(); i-- > 0;) {
    const Step step = program.step(i);
    bool any = false;
    for (std::uint32_t r = 0; r < step.result_count; ++r) any = any || live[step.first_result + r];
    if (!any) continue;
    for (Slot slot : step.operands) live[slot] = true;
  }
  return live;
}

ProgramPtr shared(Program program) { return std::make_shared<const Program>(std::move(program)); }

/// A loop or branch that is made smaller: its step, on operands of the new program.
struct Site {
  Builder& builder;
  const Step& step;
  std::span<const Slot> operands;
  /// Which of its results are used.
  const std::vector<bool>& used;

  Slot append(const Primitive& primitive, std::span<const Slot> on, const Attributes& with) const {
    return builder.append(primitive, with, on, step.at, step.scope);
  }
  Slot literal(const Attribute& value, const TensorType& type) const {
    return append_literal(builder, value, type, step.at, step.scope);
  }
  std::optional<Attribute> literal_of(std::size_t operand) const {
    const Attribute* value = builder.literal(operands[operand]);
    return value ? std::optional(*value) : std::nullopt;
  }
};

/// For each result the slot that stands for it; anything for those that nobody uses.
using Results = std::vector<Slot>;

/// What was met first.
class Firsts {
 public:
  /// The number given with an equal key before, or nothing, and this one is the first.
  std::optional<std::size_t> before(std::uint64_t key, std::size_t number) {
    const auto [found, is_first] = numbers_.emplace(key, number);
    return is_first ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::uint64_t, std::size_t> numbers_;
};

std::uint64_t pair_of(Slot a, Slot b) { return std::uint64_t{a} << 32 | b; }

/// Inputs, in order, whose operands are literals or the same as those of inputs before.
void find_sources(const Builder& builder, std::span<const Slot> operands,
                  const std::vector<std::size_t>& inputs, std::vector<Source>& sources) {
  Firsts firsts;
  for (std::size_t i : inputs) {
    if (sources[i].kind != Kind::input) continue;
    if (const Attribute* value = builder.literal(operands[i])) {
      sources[i] = {Kind::literal, *value, 0};
    } else if (const auto first = firsts.before(operands[i], i)) {
      sources[i] = {Kind::same, {}, *first};
    }
  }
}

// ---- scan ----

class SmallerScan {
 public:
  explicit SmallerScan(const Site& site)
      : site_(site),
        body_(*site.step.attributes.program("body")),
        carries_(site.step.attributes.count("carries")),
        scanned_(site.step.attributes.count("scanned")),
        length_(site.step.attributes.integer("length")),
        operands_(site.operands.begin(), site.operands.end()),
        sources_(body_.inputs().size()),
        results_(site.step.result_count, Slot{0}),
        is_done_(site.step.result_count, false) {}

  Results run() {
    resolve_stacked();
    drop_what_is_not_needed();
    classify_carries();
    classify_scanned();
    merge_constants();
    return append();
  }

 private:
  Slot input(std::size_t i) const { return body_.inputs()[i]; }
  Slot output(std::size_t k) const { return body_.outputs()[k]; }
  bool is_wanted(std::size_t k) const { return site_.used[k] && !is_done_[k]; }
  void resolve(std::size_t k, Slot slot) {
    results_[k] = slot;
    is_done_[k] = true;
  }
  TensorType stacked_type(std::size_t k) const {
    TensorType type = body_.type(output(k));
    type.shape.insert(type.shape.begin(), length_);
    return type;
  }

  /// Stacked results that are known without the loop.
  void resolve_stacked() {
    std::unordered_map<Slot, std::size_t> unchanged;
    for (std::size_t j = carries_; j < body_.inputs().size(); ++j) unchanged.emplace(input(j), j);
    for (std::size_t k = carries_; k < results_.size(); ++k) {
      if (!site_.used[k]) continue;
      const TensorType type = stacked_type(k);
      const auto found = unchanged.find(output(k));
      if (const auto value = literal_in(body_, output(k))) {
        resolve(k, site_.literal(*value, type));
      } else if (found != unchanged.end() && found->second < carries_ + scanned_) {
        resolve(k, operands_[found->second]);
      } else if (found != unchanged.end()) {
        const Attributes repeated{{"shape", {type.shape}},
                                  {"axes", {iota_shape(type.shape.size() - 1, 1)}}};
        resolve(k, site_.append(words().broadcast, {&operands_[found->second], 1}, repeated));
      }
    }
  }

  void drop_what_is_not_needed() {
    std::vector<bool> wanted;
    for (std::size_t k = 0; k < results_.size(); ++k) wanted.push_back(is_wanted(k));
    const std::vector<bool> needed = needed_inputs(body_, wanted, carries_);
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      // A carry that is wanted but that the body does not read still starts the loop.
      const bool stays = needed[i] || (i < carries_ && wanted[i]);
      if (!stays) sources_[i].kind = Kind::none;
    }
  }

  void classify_carries() {
    Firsts firsts;
    for (std::size_t i = 0; i < carries_; ++i) {
      if (sources_[i].kind != Kind::input) continue;
      const auto first = site_.literal_of(i);
      const auto next = literal_in(body_, output(i));
      if (first && ((next && *first == *next) || output(i) == input(i))) {
        sources_[i] = {Kind::literal, *first, 0};
        resolve(i, operands_[i]);
      } else if (output(i) == input(i)) {
        becomes_constant(i);
        resolve(i, operands_[i]);
      } else if (const auto j = firsts.before(pair_of(operands_[i], output(i)), i)) {
        sources_[i] = {Kind::same, {}, *j};
        same_carry_.emplace_back(i, *j);
      }
    }
  }

  void classify_scanned() {
    Firsts firsts;
    for (std::size_t i = carries_; i < carries_ + scanned_; ++i) {
      if (sources_[i].kind != Kind::input) continue;
      if (const auto value = site_.literal_of(i)) {
        sources_[i] = {Kind::literal, *value, 0};
      } else if (const auto element = same_in_all_iterations(i)) {
        operands_[i] = *element;
        becomes_constant(i);
      } else if (const auto j = firsts.before(operands_[i], i)) {
        sources_[i] = {Kind::same, {}, *j};
      }
    }
  }

  /// The element of a scanned operand that is repeated along its first axis.
  std::optional<Slot> same_in_all_iterations(std::size_t i) const {
    const auto step = site_.builder.definition(operands_[i]);
    if (!step || &step->primitive != &words().broadcast) return std::nullopt;
    Shape shape = step->attributes.shape("shape");
    Shape axes = step->attributes.shape("axes");
    if (contains(axes, 0)) return std::nullopt;
    shape.erase(shape.begin());
    for (std::int64_t& axis : axes) --axis;
    const Slot source = step->operands[0];
    return site_.append(words().broadcast, {&source, 1}, {{"shape", {shape}}, {"axes", {axes}}});
  }

  void becomes_constant(std::size_t i) {
    is_constant_[i] = true;
    moved_.push_back(i);
  }

  void merge_constants() {
    std::vector<std::size_t> all = moved_;
    for (std::size_t i = carries_ + scanned_; i < sources_.size(); ++i) all.push_back(i);
    find_sources(site_.builder, operands_, all, sources_);
    for (std::size_t i : all) {
      if (sources_[i].kind == Kind::input) constants_.push_back(i);
    }
  }

  Results append() {
    std::vector<std::size_t> order;
    std::vector<Slot> operands;
    std::vector<Slot> outputs;
    std::vector<std::size_t> result_of;  // for each new result, the old one
    const auto take = [&](std::size_t i) {
      order.push_back(i);
      operands.push_back(operands_[i]);
    };
    for (std::size_t i = 0; i < carries_; ++i) {
      if (sources_[i].kind != Kind::input || is_constant_[i]) continue;
      take(i);
      outputs.push_back(output(i));
      result_of.push_back(i);
    }
    const std::size_t carries = order.size();
    for (std::size_t i = carries_; i < carries_ + scanned_; ++i) {
      if (sources_[i].kind == Kind::input && !is_constant_[i]) take(i);
    }
    const std::size_t scanned = order.size() - carries;
    for (std::size_t i : constants_) take(i);
    std::vector<std::pair<std::size_t, std::size_t>> same_result;
    Firsts firsts;
    for (std::size_t k = carries_; k < results_.size(); ++k) {
      if (!is_wanted(k)) continue;
      if (const auto j = firsts.before(output(k), k)) {
        same_result.emplace_back(k, *j);
        continue;
      }
      outputs.push_back(output(k));
      result_of.push_back(k);
    }
    if (!outputs.empty()) append_scan(order, operands, outputs, result_of, carries, scanned);
    for (const auto& [k, j] : same_result) results_[k] = results_[j];
    for (const auto& [i, j] : same_carry_) results_[i] = results_[j];
    return results_;
  }

  void append_scan(const std::vector<std::size_t>& order, const std::vector<Slot>& operands,
                   const std::vector<Slot>& outputs, const std::vector<std::size_t>& result_of,
                   std::size_t carries, std::size_t scanned) {
    const bool is_as_it_was = order.size() == sources_.size() &&
                              outputs.size() == results_.size() && carries == carries_ &&
                              scanned == scanned_;
    Attributes attributes = site_.step.attributes;
    if (!is_as_it_was) {
      attributes.set("body",
                     {shared(rebuilt_body(body_, sources_, order, outputs, site_.step.at))});
      attributes.set("carries", {static_cast<std::int64_t>(carries)});
      attributes.set("scanned", {static_cast<std::int64_t>(scanned)});
    }
    const Slot first = site_.append(words().scan, operands, attributes);
    for (std::size_t n = 0; n < result_of.size(); ++n)
      results_[result_of[n]] = first + static_cast<Slot>(n);
  }

  const Site& site_;
  const Program& body_;
  std::size_t carries_, scanned_;
  std::int64_t length_;
  std::vector<Slot> operands_;
  std::vector<Source> sources_;
  Results results_;
  std::vector<bool> is_done_;
  std::vector<bool> is_constant_ = std::vector<bool>(sources_.size(), false);
  /// Carries and scanned operands that became constants, in order.
  std::vector<std::size_t> moved_;
  /// All constants that stay inputs, in order.
  std::vector<std::size_t> constants_;
  std::vector<std::pair<std::size_t, std::size_t>> same_carry_;
};

// ---- while ----

Results smaller_while(const Site& site) {
  const Attributes& a = site.step.attributes;
  const Program& condition = *a.program("condition");
  const Program& body = *a.program("body");
  const std::size_t carries = a.count("carries");
  std::vector<Source> sources(body.inputs().size());
  Results results(carries, Slot{0});

  // Needed: what is used, what the condition reads, and what these need.
  const std::vector<bool> tested = needed_inputs(condition, {true}, 0);
  std::vector<bool> wanted = site.used;
  for (std::size_t i = 0; i < carries; ++i) wanted[i] = wanted[i] || tested[i];
  const std::vector<bool> needed = needed_inputs(body, wanted, carries);
  std::vector<std::size_t> constants;
  std::vector<bool> is_constant(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool is_carry = i < carries;
    if (!needed[i] && !tested[i] && !(is_carry && wanted[i])) {
      sources[i].kind = Kind::none;
    } else if (is_carry && body.outputs()[i] == body.inputs()[i]) {
      results[i] = site.operands[i];
      is_constant[i] = true;
    } else if (!is_carry) {
      is_constant[i] = true;
    }
    if (is_constant[i]) constants.push_back(i);
  }
  std::vector<std::size_t> order;
  std::vector<Slot> outputs;
  for (std::size_t i = 0; i < carries; ++i) {
    if (sources[i].kind == Kind::none || is_constant[i]) continue;
    order.push_back(i);
    outputs.push_back(body.outputs()[i]);
  }
  // Without carries it ends at once, or never does.
  if (outputs.empty()) return results;
  const std::size_t kept_carries = order.size();
  find_sources(site.builder, site.operands, constants, sources);
  for (std::size_t i : constants) {
    if (sources[i].kind == Kind::input) order.push_back(i);
  }
  std::vector<Slot> operands;
  for (std::size_t i : order) operands.push_back(site.operands[i]);
  Attributes attributes = a;
  if (order.size() != sources.size() || kept_carries != carries) {
    attributes.set(
        "condition",
        {shared(rebuilt_body(condition, sources, order, condition.outputs(), site.step.at))});
    attributes.set("body", {shared(rebuilt_body(body, sources, order, outputs, site.step.at))});
    attributes.set("carries", {static_cast<std::int64_t>(kept_carries)});
  }
  const Slot first = site.append(words().while_, operands, attributes);
  for (std::size_t n = 0; n < kept_carries; ++n) results[order[n]] = first + static_cast<Slot>(n);
  return results;
}

// ---- cond ----

std::vector<std::size_t> iota(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

Results smaller_cond(const Site& site) {
  const Attributes& a = site.step.attributes;
  const Program& then = *a.program("then");
  const Program& otherwise = *a.program("otherwise");
  const std::size_t inputs = then.inputs().size();
  Results results(site.step.result_count, Slot{0});
  std::vector<bool> wanted = site.used;
  std::vector<std::pair<std::size_t, std::size_t>> same;
  std::unordered_map<std::uint64_t, std::size_t> unchanged;
  for (std::size_t i = 0; i < inputs; ++i)
    unchanged.emplace(pair_of(then.inputs()[i], otherwise.inputs()[i]), i);
  Firsts firsts;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!wanted[k]) continue;
    const Slot x = then.outputs()[k];
    const Slot y = otherwise.outputs()[k];
    const auto found = unchanged.find(pair_of(x, y));
    const auto x_value = literal_in(then, x);
    const auto y_value = literal_in(otherwise, y);
    wanted[k] = false;
    if (found != unchanged.end()) {
      results[k] = site.operands[found->second + 1];
    } else if (x_value && y_value && *x_value == *y_value) {
      results[k] = site.literal(*x_value, then.type(x));
    } else if (const auto j = firsts.before(pair_of(x, y), k)) {
      same.emplace_back(k, *j);
    } else {
      wanted[k] = true;
    }
  }
  std::vector<std::size_t> result_of;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (wanted[k]) result_of.push_back(k);
  }
  if (!result_of.empty()) {
    const std::vector<bool> read = needed_inputs(then, wanted, 0);
    const std::vector<bool> read_otherwise = needed_inputs(otherwise, wanted, 0);
    std::vector<Source> sources(inputs);
    for (std::size_t i = 0; i < inputs; ++i) {
      if (!read[i] && !read_otherwise[i]) sources[i].kind = Kind::none;
    }
    find_sources(site.builder, site.operands.subspan(1), iota(inputs), sources);
    std::vector<std::size_t> order;
    std::vector<Slot> operands{site.operands[0]};
    for (std::size_t i = 0; i < inputs; ++i) {
      if (sources[i].kind != Kind::input) continue;
      order.push_back(i);
      operands.push_back(site.operands[i + 1]);
    }
    Attributes attributes = a;
    if (order.size() != inputs || result_of.size() != wanted.size()) {
      const auto branch = [&](const Program& program) {
        std::vector<Slot> outputs;
        for (std::size_t k : result_of) outputs.push_back(program.outputs()[k]);
        return Attribute{shared(rebuilt_body(program, sources, order, outputs, site.step.at))};
      };
      attributes.set("then", branch(then));
      attributes.set("otherwise", branch(otherwise));
    }
    const Slot first = site.append(words().cond, operands, attributes);
    for (std::size_t n = 0; n < result_of.size(); ++n)
      results[result_of[n]] = first + static_cast<Slot>(n);
  }
  for (const auto& [k, j] : same) results[k] = results[j];
  return results;
}

Program without_dead_results(const Program& program) {
  const Vocabulary& w = words();
  bool any = false;
  for (std::size_t i = 0; i < program.step_count() && !any; ++i) {
    const Primitive* p = &program.step(i).primitive;
    any = p == &w.scan || p == &w.while_ || p == &w.cond;
  }
  if (!any) return program;
  const std::vector<bool> live = live_slots(program);
  Builder builder(Builder::Zeros::exact);
  std::vector<Slot> slots(program.slot_count());
  const std::vector<Slot> inputs = builder.add_inputs_of(program);
  for (std::size_t i = 0; i < inputs.size(); ++i) slots[program.inputs()[i]] = inputs[i];
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    operands.clear();
    for (Slot slot : step.operands) operands.push_back(slots[slot]);
    const Primitive* p = &step.primitive;
    if (p == &w.scan || p == &w.while_ || p == &w.cond) {
      std::vector<bool> used;
      for (std::uint32_t r = 0; r < step.result_count; ++r)
        used.push_back(live[step.first_result + r]);
      const Site site{builder, step, operands, used};
      const Results results = p == &w.scan     ? SmallerScan(site).run()
                              : p == &w.while_ ? smaller_while(site)
                                               : smaller_cond(site);
      for (std::uint32_t r = 0; r < step.result_count; ++r)
        slots[step.first_result + r] = results[r];
      continue;
    }
    const Slot first = builder.append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) slots[step.first_result + r] = first + r;
  }
  std::vector<Slot> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(slots[slot]);
  return std::move(builder).finish(std::move(outputs), signature_of(program));
}

}  // namespace

Pass dead_results() {
  return {"dead_results",
          "what loops and branches compute, carry or take in vain",
          [](const Program& program, const OptimiseOptions&) {
            return everywhere(program, without_dead_results);
          },
          {{"no result without use",
            "of scan, while and cond: with what only it needs; carries that only serve themselves"},
           {"no operand without reader, and none twice", "literals move inside"},
           {"a carry that is its own next value is a constant",
            "likewise a scanned operand that is repeated along its first axis"},
           {"a result that is an operand, or a literal",
            "stacked elements of a scanned operand are that operand; branches may agree"}}};
}

}  // namespace hom::optimiser
