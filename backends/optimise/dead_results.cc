// backends/optimise/dead_results.cc -- what loops and branches compute, carry or take in vain
//
// Results that nobody uses go, carries that only serve themselves, operands that nobody reads or
// that are there twice; what does not change in a loop is no carry, and literals move inside.
#include <memory>
#include <numeric>
#include <unordered_map>

#include <hom/backends/optimise/everywhere.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/smaller_loops.h>
#include <hom/backends/optimise/vocabulary.h>

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
      const Results results = p == &w.scan     ? smaller_scan(site)
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
