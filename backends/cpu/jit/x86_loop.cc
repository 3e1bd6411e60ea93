// backends/cpu/jit/x86_loop.cc -- loops: plain, unrolled, and several positions at once
#include <algorithm>

#include <hom/backends/cpu/jit/x86_kernel.h>
#include <hom/backends/cpu/jit/x86_reduction.h>

namespace hom::cpu::x86 {

using nest::Loop;
using nest::Node;
using nest::Value;
using Kind = Reductions::Kind;

void KernelEmitter::place(const Loop& loop) {
  const int lanes = lanes_for(loop, vector_bytes_);
  if (!loop.tile.empty()) return tiled_loop(loop, lanes);
  if (lanes > 1) return vector_loop(loop, lanes);
  if (is_worth_unrolling(loop)) return unrolled_loop(loop);
  if (adds_in_chunks(loop, 1)) return chunk_loop(loop);
  plain_loop(loop);
}

// ---- positions ----

template <class Body>
void KernelEmitter::over_positions(nest::Axis axis, const Range& range, const Loop& loop,
                                   Body&& body) {
  Position& position = positions_[axis];
  const Position before = position;
  position.is_open = true;
  position.depth = ++depth_;
  const bool is_single = !range.from && !range.to && !range.may_be_empty &&
                         (range.step > 0 ? range.first + range.step >= range.last
                                         : range.first + range.step < range.last);
  if (is_single) {
    position.is_constant = true;
    position.number = range.first;
    const Scope scope(*this);
    body();
  } else {
    const Scope outside(*this);
    position.is_constant = false;
    position.number = 0;
    position.at = m_.gp();
    if (range.from) {
      cc_.mov(position.at, *range.from);
    } else {
      cc_.mov(position.at, Imm(range.first));
    }
    const std::vector<Induction> pointers = begin_pointers(axis, range, position.at, loop);
    const auto compare = [&] {
      if (range.to) {
        cc_.cmp(position.at, *range.to);
      } else if (range.last == 0) {
        cc_.test(position.at, position.at);
      } else {
        cc_.cmp(position.at, Imm(range.last));
      }
    };
    const Label next = cc_.newLabel();
    const Label end = cc_.newLabel();
    if (range.may_be_empty) {
      compare();
      if (range.step > 0) {
        cc_.jge(end);
      } else {
        cc_.jl(end);
      }
    }
    cc_.bind(next);
    {
      const Scope inside(*this);
      body();
    }
    for (const Induction& one : pointers) {
      if (one.step >= INT32_MIN && one.step <= INT32_MAX) {
        cc_.add(one.pointer, Imm(one.step));
      } else {
        cc_.add(one.pointer, m_.gp(one.step));
      }
    }
    cc_.add(position.at, Imm(range.step));
    compare();
    if (range.step > 0) {
      cc_.jl(next);
    } else {
      cc_.jge(next);
    }
    cc_.bind(end);
  }
  --depth_;
  position = before;
}

/// Axes first … count − 1 of a loop.
template <class Body>
void KernelEmitter::over_axes(const Loop& loop, std::size_t first, std::size_t count, Body&& body) {
  if (first == count) return body();
  const nest::Axis axis = loop.axes[first];
  Range range;
  range.last = extent(axis);
  if (first == 0 && is_split(loop)) {
    range.from = low_;
    range.to = high_;
    range.may_be_empty = true;
  } else if (loop.reverse && first + 1 == loop.axes.size()) {
    range.first = extent(axis) - 1;
    range.last = 0;
    range.step = -1;
  }
  over_positions(axis, range, loop, [&] { over_axes(loop, first + 1, count, body); });
}

// ---- the three forms ----

void KernelEmitter::plain_loop(const Loop& loop) {
  Reductions reductions(*this, loop, Kind::sequence, 1);
  begin_states(loop);
  reductions.begin();
  const Scope scope(*this);
  hoist(loop);
  over_axes(loop, 0, loop.axes.size(), [&] {
    block(loop.body);
    reductions.add();
    advance_states(loop);
  });
  reductions.end();
}

void KernelEmitter::unrolled_loop(const Loop& loop) {
  Reductions reductions(*this, loop, Kind::unrolled, 1);
  begin_states(loop);
  reductions.begin();
  const std::int64_t count = iterations(loop);
  for (std::int64_t n = 0; n < count; ++n) {
    const Scope scope(*this);
    std::int64_t rest = n;
    for (std::size_t k = loop.axes.size(); k-- > 0;) {
      const nest::Axis axis = loop.axes[k];
      const std::int64_t at = rest % extent(axis);
      rest /= extent(axis);
      const bool backwards = loop.reverse && k + 1 == loop.axes.size();
      positions_[axis] = {true, true, backwards ? extent(axis) - 1 - at : at, {}, depth_};
    }
    block(loop.body);
    reductions.add();
    advance_states(loop);
  }
  for (const nest::Axis axis : loop.axes) positions_[axis] = {};
  reductions.end();
}

/// from, from + step, … while below `to`; the body gets a register that it may not change.
template <class Body>
void KernelEmitter::in_steps(const Bound& from, const Bound& to, std::int64_t step, Body&& body) {
  if (!from.at && !to.at && from.number >= to.number) return;
  const Gp at = m_.gp();
  const Label next = cc_.newLabel();
  const Label done = cc_.newLabel();
  const auto compare = [&] {
    if (to.at) {
      cc_.cmp(at, *to.at);
    } else {
      cc_.cmp(at, Imm(to.number));
    }
  };
  if (from.at) {
    cc_.mov(at, *from.at);
  } else {
    cc_.mov(at, Imm(from.number));
  }
  if (from.at || to.at) {
    compare();
    cc_.jge(done);
  }
  cc_.bind(next);
  {
    const Scope scope(*this);
    body(at);
  }
  cc_.add(at, Imm(step));
  compare();
  cc_.jl(next);
  cc_.bind(done);
}

// ---- tiles ----

/// Tile after tile: row after row inside, and of a row as many vectors as fit; what no vector
/// reaches comes last.
void KernelEmitter::tiled_loop(const Loop& loop, int lanes) {
  const nest::Axis row = loop.axes[0];
  const nest::Axis column = loop.axes[1];
  const std::int64_t whole = extent(column) / lanes * lanes;
  // Inside a loop of vectors its lanes stay.
  const int outside = this->lanes();
  const int inside = std::max(lanes, outside);
  const Scope scope(*this);
  set_lanes(inside);
  hoist(loop);
  set_lanes(outside);
  Bound first;
  Bound last{.number = extent(row)};
  if (is_split(loop)) {
    first.at = low_;
    last.at = high_;
  }
  const auto end_of = [&](const Gp& at, std::int64_t size, const Bound& limit) {
    const Gp end = m_.plus(at, size);
    const Gp most = limit.at ? *limit.at : m_.gp(limit.number);
    cc_.cmp(end, most);
    cc_.cmovg(end, most);
    return end;
  };
  in_steps(first, last, loop.tile[0], [&](const Gp& top) {
    const Range rows{.from = top, .to = end_of(top, loop.tile[0], last)};
    in_steps({}, {.number = whole}, loop.tile[1], [&](const Gp& left) {
      const Range columns{
          .from = left, .to = end_of(left, loop.tile[1], {.number = whole}), .step = lanes};
      over_positions(row, rows, loop, [&] {
        set_lanes(inside);
        over_positions(column, columns, loop, [&] { block(loop.body); });
        set_lanes(outside);
      });
    });
    if (whole == extent(column)) return;
    over_positions(row, rows, loop, [&] {
      over_positions(column, {.first = whole, .last = extent(column)}, loop,
                     [&] { block(loop.body); });
    });
  });
}

// ---- chunks of ordered reductions ----

/// The bodies of `count` ≤ 8 neighbouring positions, or vectors of them.
void KernelEmitter::neighbours(const Loop& loop, Reductions& reductions, std::int64_t count) {
  Position& position = positions_[loop.axes.back()];
  const std::int64_t first = position.number;
  for (std::int64_t k = 0; k < count; ++k) {
    const Scope scope(*this);
    position.number = first + k * reductions.terms_at_once();
    block(loop.body);
    reductions.add_neighbour(k);
  }
  position.number = first;
}

/// The whole chunks between `from` and `to`; where they end.
KernelEmitter::Bound KernelEmitter::chunks(const Loop& loop, Reductions& reductions,
                                           const Bound& from, const Bound& to) {
  constexpr std::int64_t terms = 64;
  Bound end{.number = from.number + (to.number - from.number) / terms * terms};
  if (!from.at && end.number == from.number) return end;
  if (from.at) {
    end.at = m_.copy(*to.at);
    cc_.sub(*end.at, *from.at);
    cc_.and_(*end.at, Imm(-terms));
    cc_.add(*end.at, *from.at);
  }
  const std::int64_t together = 8 * reductions.terms_at_once();
  // Over all positions in one loop where eight bodies are a chunk, else in one for each chunk.
  const bool is_one = together == terms;
  const auto add_all = [&] { neighbours(loop, reductions, 8); };
  const auto chunk = [&](const std::optional<Gp>& at) {
    reductions.begin_chunk();
    if (is_one) {
      add_all();
    } else {
      const Range range{.from = at, .to = m_.plus(*at, terms), .step = together};
      over_positions(loop.axes.back(), range, loop, add_all);
    }
    reductions.end_chunk();
  };
  const Range range{.from = from.at,
                    .first = from.number,
                    .to = end.at,
                    .last = end.number,
                    .step = terms,
                    .may_be_empty = from.at.has_value()};
  if (is_one) {
    over_positions(loop.axes.back(), range, loop, [&] { chunk(std::nullopt); });
    return end;
  }
  // The positions of a chunk have a loop of their own along the same axis.
  in_steps(from, end, terms, chunk);
  return end;
}

/// Iterations follow each other, eight accumulators take their terms in turn.
void KernelEmitter::chunk_loop(const Loop& loop) {
  Reductions reductions(*this, loop, Kind::chunks, 1);
  reductions.begin();
  const Scope scope(*this);
  hoist(loop);
  over_axes(loop, 0, loop.axes.size() - 1, [&] {
    const nest::Axis axis = loop.axes.back();
    const std::int64_t terms = extent(axis);
    // What is left for the last, incomplete chunk; all where there is but one.
    const std::int64_t whole = terms <= 64 ? 0 : terms / 64 * 64;
    chunks(loop, reductions, {.number = 0}, {.number = whole});
    if (whole == terms) return;
    reductions.begin_chunk();
    Range range;
    range.first = whole;
    range.last = whole + (terms - whole) / 8 * 8;
    range.step = 8;
    if (range.first < range.last)
      over_positions(axis, range, loop, [&] { neighbours(loop, reductions, 8); });
    if (range.last == terms) return;
    range.first = range.last;
    range.last = terms;
    over_positions(axis, range, loop,
                   [&] { neighbours(loop, reductions, range.last - range.first); });
  });
  reductions.end();
}

/// All but the last axis as they are; along the last one as many vectors as fit, then the rest.
void KernelEmitter::vector_loop(const Loop& loop, int lanes) {
  Reductions reductions(*this, loop, Kind::vectors, lanes);
  reductions.begin();
  const Scope scope(*this);
  set_lanes(lanes);
  hoist(loop);
  set_lanes(1);
  over_axes(loop, 0, loop.axes.size() - 1, [&] {
    const nest::Axis axis = loop.axes.back();
    const bool is_dynamic = loop.axes.size() == 1 && is_split(loop);
    const std::int64_t whole = extent(axis) / lanes * lanes;
    Range vectors;
    vectors.last = whole;
    vectors.step = lanes;
    std::optional<Gp> rest_from;
    if (is_dynamic) {
      // low + (high − low) / lanes · lanes
      const Gp count = m_.copy(high_);
      cc_.sub(count, low_);
      cc_.and_(count, Imm(-static_cast<std::int64_t>(lanes)));
      cc_.add(count, low_);
      rest_from = count;
      vectors.from = low_;
      vectors.to = count;
      vectors.may_be_empty = true;
    }
    set_lanes(lanes);
    const bool checks = has_checks(loop.body);
    if (adds_in_chunks(loop, lanes)) {
      const Bound end =
          chunks(loop, reductions, {vectors.from, vectors.first}, {vectors.to, vectors.last});
      vectors.from = end.at;
      vectors.first = end.number;
    }
    if (is_dynamic || vectors.first < vectors.last) {
      over_positions(axis, vectors, loop, [&] {
        if (checks) begin_checks(lanes);
        block(loop.body);
        reductions.add();
      });
    }
    set_lanes(1);
    const std::int64_t done =
        !is_dynamic && wants_shorter_vectors(loop) ? shorter_vectors(loop, lanes, whole) : whole;
    // Blocks but the last one are whole chunks of terms.
    const bool is_block = is_dynamic && kernel_.block > 0;
    if ((!is_dynamic || is_block) && done == extent(axis)) return;
    Range rest;
    rest.first = done;
    rest.last = extent(axis);
    if (is_dynamic) {
      rest.from = rest_from;
      rest.to = high_;
      rest.may_be_empty = true;
    }
    reductions.begin_rest();
    over_positions(axis, rest, loop, [&] {
      block(loop.body);
      reductions.add_rest();
    });
  });
  reductions.end();
}

/// What is left after whole vectors, from `at` on, by halves of them, quarters …; how far that is.
std::int64_t KernelEmitter::shorter_vectors(const Loop& loop, int lanes, std::int64_t at) {
  const nest::Axis axis = loop.axes.back();
  for (int fewer = lanes / 2; fewer > 1; fewer /= 2) {
    if (at + fewer > extent(axis)) continue;
    Range one;
    one.first = at;
    one.last = at + fewer;
    one.step = fewer;
    set_lanes(fewer);
    over_positions(axis, one, loop, [&] {
      if (has_checks(loop.body)) begin_checks(fewer);
      block(loop.body);
    });
    set_lanes(1);
    at += fewer;
  }
  return at;
}

/// Lanes before the first one that fails; none where another position failed before.
void KernelEmitter::begin_checks(int lanes) {
  first_failed_ = m_.gp(lanes);
  const Gp none = m_.gp(std::int64_t{0});
  cc_.cmp(asmjit::x86::qword_ptr(record_), Imm(0));
  cc_.cmovne(first_failed_, none);
}

// ---- before a loop ----

namespace {

void collect_known(const nest::Block& block, std::vector<bool>& is_inside,
                   std::vector<Value>& defined) {
  for (const nest::Statement& statement : block) {
    if (const auto* define = std::get_if<nest::Define>(&statement.is)) {
      is_inside[define->value] = true;
      defined.push_back(define->value);
    } else if (const auto* loop = std::get_if<Loop>(&statement.is)) {
      for (const nest::Reduction& reduction : loop->reductions) is_inside[reduction.result] = true;
      for (const nest::Carry& carry : loop->carries) is_inside[carry.state] = true;
      collect_known(loop->body, is_inside, defined);
    } else if (const auto* shortcut = std::get_if<nest::Shortcut>(&statement.is)) {
      collect_known(shortcut->attempt, is_inside, defined);
      collect_known(shortcut->quick, is_inside, defined);
      collect_known(shortcut->full, is_inside, defined);
    }
  }
}

}  // namespace

/// Splats of numbers that are known already, where vectors are computed from them.
void KernelEmitter::hoist(const Loop& loop) {
  if (lanes() == 1) return;
  std::vector<bool> is_inside(kernel_.nodes.size(), false);
  std::vector<Value> defined;
  for (const nest::Carry& carry : loop.carries) is_inside[carry.state] = true;
  collect_known(loop.body, is_inside, defined);
  for (const Value value : defined) {
    if (!is_vector(value)) continue;
    const Node& what = node(value);
    const std::size_t first = what.kind == Node::Kind::load ? what.operands.size() : 0;
    for (std::size_t i = first; i < what.operands.size(); ++i) {
      const Value operand = what.operands[i];
      const Node& of = node(operand);
      const bool is_known = of.kind != Node::Kind::constant && of.kind != Node::Kind::axis &&
                            !is_inside[operand] && !is_lazy(operand) && !varies(operand);
      if (is_known && !of.dtype.is_bool()) computed(operand);
    }
  }
}

// ---- carried values ----

/// As a state is held: a number, or a vector.
Operand KernelEmitter::as_state(Value state, Value value) {
  if (!is_vector(state)) return number(value);
  if (dtype(state).is_bool()) return mask(value, 1);
  return held_in_register(value);
}

void KernelEmitter::begin_states(const Loop& loop) {
  std::vector<Operand> states;
  for (const nest::Carry& carry : loop.carries) {
    const Operand initial = as_state(carry.state, carry.initial);
    const bool is_integer = initial.as<asmjit::x86::Reg>().isGp();
    const int count = is_vector(carry.state) ? lanes() : 1;
    const Operand state =
        is_integer ? Operand(m_.gp()) : Operand(m_.vec(shape(dtype(carry.state), count).bytes()));
    move(state, initial);
    states.push_back(state);
  }
  for (std::size_t i = 0; i < states.size(); ++i) values_[loop.carries[i].state] = states[i];
}

void KernelEmitter::advance_states(const Loop& loop) {
  // States that become each other do so at once.
  std::vector<Operand> next;
  for (const nest::Carry& carry : loop.carries) {
    Operand value = as_state(carry.state, carry.next);
    const bool is_state = std::any_of(
        loop.carries.begin(), loop.carries.end(),
        [&](const nest::Carry& other) { return values_[other.state].id() == value.id(); });
    if (is_state && loop.carries.size() > 1) {
      const Operand copy = value.as<asmjit::x86::Reg>().isGp()
                               ? Operand(m_.gp())
                               : Operand(m_.vec(static_cast<int>(value.as<Vec>().size())));
      move(copy, value);
      value = copy;
    }
    next.push_back(value);
  }
  for (std::size_t i = 0; i < next.size(); ++i) move(values_[loop.carries[i].state], next[i]);
}

}  // namespace hom::cpu::x86
