// backends/cpu/jit/x86_address.cc -- indices as sums of multiples, pointers that move with loops
#include <algorithm>
#include <bit>

#include <hom/backends/cpu/jit/x86_kernel.h>

namespace hom::cpu::x86 {

using nest::Function;
using nest::Node;
using nest::Value;

namespace {

/// More terms are computed like any other value.
constexpr std::size_t most_terms = 6;

bool fits(std::int64_t number) { return number >= INT32_MIN / 2 && number <= INT32_MAX / 2; }

/// Whether an address can have a register times so much.
bool is_scale(std::int64_t factor) {
  return factor == 1 || factor == 2 || factor == 4 || factor == 8;
}

std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

// ---- linear values ----

KernelEmitter::Linear KernelEmitter::linear_of(Value value) const {
  if (linear_[value]) return *linear_[value];
  const Node& what = node(value);
  Linear linear;
  if (what.kind == Node::Kind::constant) {
    linear.constant = what.number;
  } else if (what.kind == Node::Kind::axis) {
    linear.terms.push_back({true, static_cast<std::uint32_t>(what.number), 1});
  } else {
    linear.terms.push_back({false, value, 1});
  }
  return linear;
}

KernelEmitter::Places KernelEmitter::places_of(Value index) {
  std::int64_t constant = 0;
  while (is_offset(index)) {
    constant += node(node(index).operands[1]).number;
    index = node(index).operands[0];
  }
  const Operand lanes = remembered(index, Form::places, [&] {
    const int bytes = 8 * this->lanes();
    const Mem slot = m_.slot(bytes);
    m_.store(slot, held_in_register(index), bytes);
    return slot;
  });
  return {lanes.as<Mem>(), constant};
}

/// Wrapping is what i64 does, and addresses too.
void KernelEmitter::find_linear() {
  linear_.resize(kernel_.nodes.size());
  const auto add = [](Linear& to, const Linear& from, std::int64_t factor) {
    to.constant = wrapping_sum(to.constant, wrapping_product(from.constant, factor));
    for (const Linear::Term& term : from.terms) {
      const auto same = std::find_if(to.terms.begin(), to.terms.end(), [&](const auto& other) {
        return other.is_axis == term.is_axis && other.number == term.number;
      });
      if (same == to.terms.end()) {
        to.terms.push_back({term.is_axis, term.number, wrapping_product(term.factor, factor)});
      } else {
        same->factor = wrapping_sum(same->factor, wrapping_product(term.factor, factor));
      }
    }
    std::erase_if(to.terms, [](const auto& term) { return term.factor == 0; });
  };
  for (Value value = 0; value < kernel_.nodes.size(); ++value) {
    const Node& what = node(value);
    if (what.dtype != i64) continue;
    Linear linear;
    const auto operand = [&](std::size_t i, std::int64_t factor) {
      add(linear, linear_of(what.operands[i]), factor);
    };
    const auto constant = [&](std::size_t i) -> const Node* {
      const Node& of = node(what.operands[i]);
      return of.kind == Node::Kind::constant ? &of : nullptr;
    };
    switch (what.kind) {
      case Node::Kind::index_add:
        operand(0, 1);
        operand(1, 1);
        break;
      case Node::Kind::index_scale:
        operand(0, what.number);
        break;
      case Node::Kind::apply:
        if (what.function == Function::add || what.function == Function::sub) {
          operand(0, 1);
          operand(1, what.function == Function::add ? 1 : -1);
        } else if (what.function == Function::neg) {
          operand(0, -1);
        } else if (what.function == Function::mul && constant(1)) {
          operand(0, constant(1)->number);
        } else if (what.function == Function::mul && constant(0)) {
          operand(1, constant(0)->number);
        } else {
          continue;
        }
        break;
      default:
        continue;
    }
    if (linear.terms.size() <= most_terms) linear_[value] = std::move(linear);
  }
}

std::vector<KernelEmitter::Moving> KernelEmitter::moving(const Linear& linear,
                                                         std::int64_t& constant) {
  struct Placed {
    int depth;
    Moving moving;
  };
  std::vector<Placed> placed;
  for (const Linear::Term& term : linear.terms) {
    if (!term.is_axis) {
      placed.push_back(
          {INT32_MAX,
           {integer(term.number), term.factor, -1 - static_cast<std::int64_t>(term.number)}});
      continue;
    }
    const Position& at = positions_[term.number];
    constant = wrapping_sum(constant, wrapping_product(at.number, term.factor));
    if (!at.is_constant) {
      placed.push_back({at.depth, {at.at, term.factor, static_cast<std::int64_t>(term.number)}});
    }
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.depth < b.depth; });
  std::vector<Moving> result;
  for (const Placed& one : placed) result.push_back(one.moving);
  return result;
}

Gp KernelEmitter::lazy_number(Value value) {
  return remembered(value, Form::integer,
                    [&]() -> Operand {
                      const Linear& linear = *linear_[value];
                      std::int64_t constant = linear.constant;
                      const std::vector<Moving> terms = moving(linear, constant);
                      if (terms.empty()) return m_.gp(constant);
                      std::optional<Gp> sum;
                      for (const Moving& term : terms) {
                        if (sum && is_scale(term.factor)) {
                          const Gp next = m_.gp();
                          cc_.lea(next,
                                  asmjit::x86::ptr(*sum, term.at,
                                                   static_cast<std::uint32_t>(std::countr_zero(
                                                       static_cast<unsigned>(term.factor)))));
                          sum = next;
                          continue;
                        }
                        const Gp one = term.factor == 1 ? term.at : m_.scaled(term.at, term.factor);
                        sum = sum ? m_.add(*sum, one) : one;
                      }
                      return m_.plus(*sum, constant);
                    })
      .as<Gp>();
}

// ---- addresses ----

/// The start of a buffer plus the terms, remembered.
Gp KernelEmitter::pointer(std::uint32_t buffer, std::span<const Moving> terms) {
  if (terms.empty()) {
    if (!locals_[buffer]) return buffers_[buffer];
    const Gp start = m_.gp();
    cc_.lea(start, *locals_[buffer]);
    return start;
  }
  std::vector<std::int64_t> key{static_cast<std::int64_t>(buffer)};
  for (const Moving& term : terms) {
    key.push_back(term.key);
    key.push_back(term.factor);
  }
  if (const auto found = pointers_.find(key); found != pointers_.end()) return found->second;
  const Moving& last = terms.back();
  const Gp before = pointer(buffer, terms.first(terms.size() - 1));
  Gp made;
  if (is_scale(last.factor)) {
    made = m_.gp();
    cc_.lea(made, asmjit::x86::ptr(before, last.at,
                                   static_cast<std::uint32_t>(
                                       std::countr_zero(static_cast<unsigned>(last.factor)))));
  } else {
    made = m_.add(before, m_.scaled(last.at, last.factor));
  }
  pointers_.emplace(key, made);
  pointer_keys_.push_back(std::move(key));
  return made;
}

Mem KernelEmitter::address(std::uint32_t buffer, Value index) {
  const auto size = static_cast<std::int64_t>(kernel_.buffers[buffer].dtype.size());
  Linear linear = linear_of(index);
  for (Linear::Term& term : linear.terms) term.factor = wrapping_product(term.factor, size);
  std::int64_t offset = wrapping_product(linear.constant, size);
  const std::vector<Moving> terms = moving(linear, offset);
  if (terms.empty() && locals_[buffer] && fits(offset))
    return Machine::at(*locals_[buffer], offset);
  const std::span<const Moving> all(terms);
  const bool is_far = !fits(offset);
  const auto placed = [&](const Gp& base) { return is_far ? m_.plus(base, offset) : base; };
  const auto displacement = static_cast<std::int32_t>(is_far ? 0 : offset);
  if (!terms.empty() && is_scale(terms.back().factor)) {
    // A pointer that moves with the loop, if there is one, else its start and the position.
    std::vector<std::int64_t> key{static_cast<std::int64_t>(buffer)};
    for (const Moving& term : terms) {
      key.push_back(term.key);
      key.push_back(term.factor);
    }
    if (const auto found = pointers_.find(key); found != pointers_.end())
      return asmjit::x86::ptr(placed(found->second), displacement);
    const Gp base = placed(pointer(buffer, all.first(terms.size() - 1)));
    const auto shift =
        static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(terms.back().factor)));
    return asmjit::x86::ptr(base, terms.back().at, shift, displacement);
  }
  return asmjit::x86::ptr(placed(pointer(buffer, all)), displacement);
}

// ---- what a loop moves ----

void KernelEmitter::collect_accesses(const nest::Block& block,
                                     std::vector<std::pair<std::uint32_t, Value>>& to) const {
  for (const nest::Statement& statement : block) {
    if (const auto* define = std::get_if<nest::Define>(&statement.is)) {
      const Node& what = node(define->value);
      if (what.kind == Node::Kind::load)
        to.emplace_back(static_cast<std::uint32_t>(what.number), what.operands[0]);
    } else if (const auto* store = std::get_if<nest::Store>(&statement.is)) {
      to.emplace_back(store->buffer, store->index);
    } else if (const auto* loop = std::get_if<nest::Loop>(&statement.is)) {
      collect_accesses(loop->body, to);
    } else if (const auto* shortcut = std::get_if<nest::Shortcut>(&statement.is)) {
      collect_accesses(shortcut->full, to);
    }
  }
}

/// Where the position of an axis would have to be multiplied, or where inner loops go on from
/// there, a pointer is kept and moved.
std::vector<KernelEmitter::Induction> KernelEmitter::begin_pointers(nest::Axis axis,
                                                                    const Range& range,
                                                                    const Gp& position,
                                                                    const nest::Loop& loop) {
  constexpr std::size_t most = 10;
  std::vector<std::pair<std::uint32_t, Value>> accesses;
  collect_accesses(loop.body, accesses);
  std::vector<Induction> result;
  for (const auto& [buffer, index] : accesses) {
    const auto size = static_cast<std::int64_t>(kernel_.buffers[buffer].dtype.size());
    Linear here;
    bool goes_on = false;
    std::int64_t factor = 0;
    for (Linear::Term term : linear_of(index).terms) {
      term.factor = wrapping_product(term.factor, size);
      if (!term.is_axis || !positions_[term.number].is_open) {
        goes_on = true;
        continue;
      }
      if (positions_[term.number].is_constant) continue;
      if (term.number == axis) factor = term.factor;
      here.terms.push_back(term);
    }
    if (factor == 0 || (!goes_on && is_scale(factor))) continue;
    std::int64_t constant = 0;
    const std::vector<Moving> terms = moving(here, constant);
    if (terms.back().key != static_cast<std::int64_t>(axis)) continue;
    std::vector<std::int64_t> key{static_cast<std::int64_t>(buffer)};
    for (const Moving& term : terms) {
      key.push_back(term.key);
      key.push_back(term.factor);
    }
    if (pointers_.contains(key)) continue;
    if (result.size() == most) break;
    // Made for the first position, then moved: not shared with what is computed from it.
    const Gp before = pointer(buffer, std::span<const Moving>(terms).first(terms.size() - 1));
    const Gp moved = m_.gp();
    if (range.from) {
      cc_.mov(moved, m_.add(before, m_.scaled(position, factor)));
    } else {
      cc_.mov(moved, m_.plus(before, wrapping_product(range.first, factor)));
    }
    pointers_.emplace(key, moved);
    pointer_keys_.push_back(std::move(key));
    result.push_back({moved, wrapping_product(range.step, factor)});
  }
  return result;
}

}  // namespace hom::cpu::x86
