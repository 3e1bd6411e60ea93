// backends/cpu/jit/x86_reduction_steps.cc -- terms, folds, chunks and places of reductions
#include <bit>

#include <hom/backends/cpu/jit/reduction_identity.h>
#include <hom/backends/cpu/jit/x86_reduction.h>

namespace hom::cpu::x86 {

using nest::Combine;

/// A register for an accumulator: an integer is one in an integer register where it is a number.
Operand Reductions::fresh(const Accumulator& of, int lanes) const {
  if (lanes == 1 && !of.dtype.is_float()) return m_.gp();
  return m_.vec(static_cast<int>(of.dtype.size()) * lanes);
}

Operand Reductions::identity(const Accumulator& of, int lanes) const {
  const Combine combine = of.reduction->combine;
  std::int64_t bits = visit(of.dtype, [&]<class T>() -> std::int64_t {
    if constexpr (sizeof(T) == 2) {
      return 0;  // computed in f32
    } else {
      return identity_bits<T>(combine);
    }
  });
  if (lanes == 1 && !of.dtype.is_float()) return m_.gp(bits);
  if (of.dtype.is_bool()) bits = combine == Combine::and_ ? -1 : 0;
  return m_.splat(bits, {static_cast<int>(of.dtype.size()), lanes});
}

/// In the form of the accumulator; of places in vectors, as a vector.
Operand Reductions::term(const Accumulator& to) const {
  const nest::Value value = to.reduction->term;
  const Dtype dtype = k_.dtype(value);
  const bool as_vector = k_.lanes() > 1 && (to.lanes > 1 || kind_ == Kind::vectors);
  const bool is_place = to.order == Accumulator::Order::place;
  if (dtype.is_bool()) {
    if (!as_vector) return k_.integer(value);
    const Vec mask = k_.mask(value, 1);
    return is_place ? Operand(m_.result(X86::kIdVpabsb, k_.lanes(), mask)) : Operand(mask);
  }
  if (as_vector) return k_.computed(value);
  if (dtype.is_float() && dtype.size() == 2) return k_.decode_number(dtype, k_.integer(value));
  return k_.number(value);
}

Operand Reductions::combined(const Accumulator& of, int lanes, const Operand& a,
                             const Operand& b) const {
  if (lanes == 1 && !of.dtype.is_float())
    return k_.combined_integer(of.reduction->combine, of.dtype, a.as<Gp>(), b);
  return k_.combined(of.reduction->combine, of.dtype, lanes, a.as<Vec>(), b);
}

// ---- folds ----

/// All lanes as one: the halves, then their halves.
Operand Reductions::fold(const Accumulator& of, int lanes, const Operand& whole) const {
  Vec rest = whole.as<Vec>();
  for (; lanes > 1; lanes /= 2) {
    const Lanes shape{static_cast<int>(of.dtype.size()), lanes};
    const Vec upper = m_.upper_half(shape, rest);
    const Vec lower = Machine::part(rest, shape.bytes() / 2);
    rest = k_.combined(of.reduction->combine, of.dtype, lanes / 2, lower, upper);
  }
  if (of.dtype.is_float()) return rest;
  const Gp number = k_.integer_in(of.dtype, rest);
  if (of.dtype.is_bool()) k_.cc_.and_(number.r32(), Imm(1));
  return number;
}

Operand Reductions::fold_groups(const Accumulator& of, const std::vector<Operand>& groups) const {
  const auto both = [&](std::size_t a, std::size_t b) {
    return combined(of, of.lanes, groups[a], groups[b]);
  };
  if (groups.size() == 1) return fold(of, of.lanes, groups[0]);
  if (groups.size() == 2) return fold(of, of.lanes, both(0, 1));
  return fold(of, of.lanes, combined(of, of.lanes, both(0, 2), both(1, 3)));
}

Operand Reductions::fold_lanes(const Accumulator& of) const {
  const int lanes = kind_ == Kind::vectors ? 1 : of.lanes;
  const int bytes = static_cast<int>(of.dtype.size()) * lanes;
  std::vector<Operand> eight;
  for (int l = 0; l < 8; ++l) eight.push_back(load(of, Machine::at(of.lane, l * bytes), lanes));
  return fold_eight(of, lanes, eight);
}

Operand Reductions::fold_eight(const Accumulator& of, int lanes,
                               const std::vector<Operand>& eight) const {
  const auto both = [&](const Operand& a, const Operand& b) { return combined(of, lanes, a, b); };
  const auto pair = [&](std::size_t l) { return both(eight[l], eight[l + 4]); };
  const Operand even = both(pair(0), pair(2));
  return both(even, both(pair(1), pair(3)));
}

/// The fold of the lanes that have a term. A sum starts from +0 all the same, which turns −0 into
/// 0.
Operand Reductions::fold_spelled(const Accumulator& of) const {
  std::vector<Operand> parts(of.spelled.begin(),
                             of.spelled.begin() + std::min<std::int64_t>(terms_, 8));
  for (std::size_t half = 4; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half && l + half < parts.size(); ++l)
      parts[l] = combined(of, of.lanes, parts[l], parts[l + half]);
    parts.resize(std::min(parts.size(), half));
  }
  if (of.reduction->combine == Combine::sum)
    return combined(of, of.lanes, parts[0], identity(of, of.lanes));
  return parts[0];
}

// ---- lanes in memory ----

void Reductions::fill_lanes(const Accumulator& of) const {
  const Operand none = m_.in_register(identity(of, of.lanes), of.bytes());
  for (int l = 0; l < 8; ++l) store(of, Machine::at(of.lane, l * of.bytes()), none, of.lanes);
}

Mem Reductions::lane_at(const Accumulator& of) const {
  const int bytes = static_cast<int>(of.dtype.size()) * (kind_ == Kind::vectors ? 1 : of.lanes);
  const Position now = position();
  if (!now.at) return Machine::at(of.lane, (now.number & 7) * bytes, bytes);
  const Gp offset = m_.gp();
  k_.cc_.mov(offset.r32(), now.at->r32());
  k_.cc_.and_(offset.r32(), Imm(7));
  k_.cc_.shl(offset.r32(), Imm(std::countr_zero(static_cast<unsigned>(bytes))));
  const Gp base = m_.gp();
  k_.cc_.lea(base, of.lane);
  return asmjit::x86::ptr(base, offset, 0, 0, static_cast<std::uint32_t>(bytes));
}

Operand Reductions::load(const Accumulator& of, const Mem& from, int lanes) const {
  return m_.load(from, static_cast<int>(of.dtype.size()) * lanes);
}

void Reductions::store(const Accumulator& of, const Mem& to, const Operand& what, int lanes) const {
  m_.store(to, what.as<Vec>(), static_cast<int>(of.dtype.size()) * lanes);
}

// ---- chunks ----

/// So that what carries, and is hard to foresee, happens less often.
void Reductions::add_to_few(const Accumulator& of, const Operand& part) {
  asmjit::x86::Compiler& cc = k_.cc_;
  const int bytes = static_cast<int>(of.dtype.size());
  store(of, asmjit::x86::ptr(of.chunks.next, 0, static_cast<std::uint32_t>(bytes)), part, 1);
  cc.add(of.chunks.next, Imm(bytes));
  const Gp end = m_.gp();
  cc.lea(end, Machine::at(of.chunks.few, few * bytes));
  const Label goes_on = cc.newLabel();
  cc.cmp(of.chunks.next, end);
  cc.jne(goes_on);
  add_chunk(of, few_as_one(of, 0, few), 1, std::countr_zero(static_cast<std::uint64_t>(few)));
  cc.lea(of.chunks.next, of.chunks.few);
  cc.bind(goes_on);
}

Operand Reductions::few_as_one(const Accumulator& of, std::int64_t first,
                               std::int64_t count) const {
  std::vector<Operand> totals;
  for (std::int64_t i = 0; i < count; ++i)
    totals.push_back(
        load(of, Machine::at(of.chunks.few, (first + i) * static_cast<int>(of.dtype.size())), 1));
  for (; totals.size() > 1; totals.resize(totals.size() / 2)) {
    for (std::size_t i = 0; 2 * i < totals.size(); ++i)
      totals[i] = combined(of, 1, totals[2 * i], totals[2 * i + 1]);
  }
  return totals[0];
}

/// At the end.
void Reductions::empty_few(const Accumulator& of) {
  if (!is_in_blocks_) {
    std::int64_t first = 0;
    for (std::int64_t count = few / 2; count > 0; count /= 2) {
      if ((chunks_ & count) == 0) continue;
      add_chunk(of, few_as_one(of, first, count), 1,
                std::countr_zero(static_cast<std::uint64_t>(count)));
      first += count;
    }
    return;
  }
  asmjit::x86::Compiler& cc = k_.cc_;
  const int bytes = static_cast<int>(of.dtype.size());
  const Gp from = m_.gp();
  cc.lea(from, of.chunks.few);
  const Label next = cc.newLabel();
  const Label done = cc.newLabel();
  cc.bind(next);
  cc.cmp(from, of.chunks.next);
  cc.jge(done);
  add_chunk(of, m_.load(asmjit::x86::ptr(from, 0, static_cast<std::uint32_t>(bytes)), bytes), 1);
  cc.add(from, Imm(bytes));
  cc.jmp(next);
  cc.bind(done);
}

/// Carries as in adding 1 to the number of chunks.
void Reductions::add_chunk(const Accumulator& of, const Operand& part, int lanes, int first_digit) {
  asmjit::x86::Compiler& cc = k_.cc_;
  const int bytes = static_cast<int>(of.dtype.size()) * lanes;
  const Vec sum = m_.vec(bytes);
  k_.move(sum, part);
  const Gp digit = m_.gp();
  cc.lea(digit, Machine::at(of.chunks.pending, static_cast<std::int64_t>(first_digit) * bytes));
  const Gp rest = m_.copy(of.chunks.count);
  if (first_digit > 0) cc.shr(rest, Imm(first_digit));
  const Label next = cc.newLabel();
  const Label done = cc.newLabel();
  const Mem there = asmjit::x86::ptr(digit, 0, static_cast<std::uint32_t>(bytes));
  cc.bind(next);
  cc.test(rest.r32(), Imm(1));
  cc.jz(done);
  k_.move(sum, combined(of, lanes, load(of, there, lanes), sum));
  cc.add(digit, Imm(bytes));
  cc.shr(rest, Imm(1));
  cc.jmp(next);
  cc.bind(done);
  store(of, there, sum, lanes);
  cc.add(of.chunks.count, Imm(std::int64_t{1} << first_digit));
}

Operand Reductions::total_of_chunks(const Accumulator& of, int lanes, std::int64_t chunks) {
  const int bytes = static_cast<int>(of.dtype.size()) * lanes;
  std::optional<Vec> sum;
  for (std::uint64_t digit = 0; chunks >> digit != 0; ++digit) {
    if ((chunks >> digit & 1) == 0) continue;
    const Mem at = Machine::at(of.chunks.pending, static_cast<std::int64_t>(digit) * bytes);
    const Vec part = load(of, at, lanes).as<Vec>();
    sum = sum ? combined(of, lanes, part, *sum).as<Vec>() : part;
  }
  return *sum;
}

/// From the lowest digit that is set upwards; at least one is.
Operand Reductions::total_of_counted_chunks(const Accumulator& of, int lanes) {
  asmjit::x86::Compiler& cc = k_.cc_;
  const int bytes = static_cast<int>(of.dtype.size()) * lanes;
  const Gp rest = m_.copy(of.chunks.count);
  const Gp digit = m_.gp();
  cc.lea(digit, of.chunks.pending);
  const Label lowest = cc.newLabel();
  const Label found = cc.newLabel();
  const Label next = cc.newLabel();
  const Label done = cc.newLabel();
  const Mem there = asmjit::x86::ptr(digit, 0, static_cast<std::uint32_t>(bytes));
  cc.bind(lowest);
  cc.test(rest.r32(), Imm(1));
  cc.jnz(found);
  cc.add(digit, Imm(bytes));
  cc.shr(rest, Imm(1));
  cc.jmp(lowest);
  cc.bind(found);
  const Vec sum = m_.vec(bytes);
  k_.move(sum, load(of, there, lanes));
  cc.bind(next);
  cc.shr(rest, Imm(1));
  cc.jz(done);
  cc.add(digit, Imm(bytes));
  cc.test(rest.r32(), Imm(1));
  cc.jz(next);
  k_.move(sum, combined(of, lanes, load(of, there, lanes), sum));
  cc.jmp(next);
  cc.bind(done);
  return sum;
}

// ---- places ----

/// The first extreme and its place; the first NaN is the most extreme of all.
void Reductions::improve(Accumulator& to, int lanes, const Operand& term, const Operand& place) {
  asmjit::x86::Compiler& cc = k_.cc_;
  const bool is_maximum = to.reduction->combine == Combine::argmax;
  const Operand& best = to.groups[0];
  if (lanes == 1) {
    const Label keep = cc.newLabel();
    if (to.dtype.is_float()) {
      const Vec x = term.as<Vec>();
      const Vec is_better = m_.compare(to.dtype, 1, is_maximum ? Test::gt : Test::lt, x, best);
      const Vec is_first_nan =
          m_.and_not(m_.compare(to.dtype, 1, Test::unordered, best.as<Vec>(), best),
                     m_.compare(to.dtype, 1, Test::unordered, x, x), 16);
      const Gp bit = k_.integer_in(i32, m_.or_(is_better, is_first_nan, 16));
      cc.test(bit.r32(), bit.r32());
      cc.jz(keep);
    } else {
      cc.cmp(term.as<Gp>(), best.as<Gp>());
      const bool is_unsigned = to.dtype == u64;
      if (is_maximum) {
        is_unsigned ? cc.jbe(keep) : cc.jle(keep);
      } else {
        is_unsigned ? cc.jae(keep) : cc.jge(keep);
      }
    }
    k_.move(best, term);
    if (place.isImm()) {
      cc.mov(to.place.as<Gp>(), place.as<Imm>());
    } else {
      k_.move(to.place, place);
    }
    cc.bind(keep);
    return;
  }
  const int bytes = to.bytes();
  const Vec x = m_.in_register(term, bytes);
  Vec is_better = m_.compare(to.dtype, lanes, is_maximum ? Test::gt : Test::lt, x, best);
  if (to.dtype.is_float()) {
    is_better =
        m_.or_(is_better,
               m_.and_not(m_.compare(to.dtype, lanes, Test::unordered, best.as<Vec>(), best),
                          m_.compare(to.dtype, lanes, Test::unordered, x, x), bytes),
               bytes);
  }
  const int size = static_cast<int>(to.dtype.size());
  k_.move(best, m_.select({size, lanes}, is_better, x, best.as<Vec>()));
  const Vec wide = size == 8 ? is_better : m_.widen(lanes, size, 8, true, is_better);
  const Vec number = place.isImm()
                         ? m_.in_register(m_.splat(place.as<Imm>().value(), {8, lanes}), 8 * lanes)
                         : m_.broadcast({8, lanes}, place.as<Gp>());
  k_.move(to.place, m_.select({8, lanes}, wide, number, to.place.as<Vec>()));
}

void Reductions::add_place(Accumulator& to, bool in_vectors) {
  const Position now = position();
  const Operand here = now.at ? Operand(*now.at) : Operand(Imm(now.number));
  if (!in_vectors || k_.lanes() == 1) return improve(to, to.lanes, term(to), here);
  // Several terms of one result, one after the other.
  const Lanes shape{static_cast<int>(to.dtype.size()), lanes_};
  const Vec terms = m_.in_register(term(to), shape.bytes());
  const Mem memory = k_.scratch(0);
  m_.store(memory, terms, shape.bytes());
  k_.over_lanes(lanes_, [&](const std::optional<Gp>& lane, int l) {
    const Mem place = lane_of(m_, memory, shape.size, lane, l);
    const Operand one =
        to.dtype.is_float()
            ? Operand(m_.load(place, shape.size))
            : Operand(m_.load_integer(place, shape.size, to.dtype.is_signed_integer()));
    Operand at = here;
    if (lane) {
      at = now.at ? m_.add(*now.at, *lane) : m_.plus(*lane, now.number);
    } else if (l > 0) {
      at = now.at ? Operand(m_.plus(*now.at, l)) : Operand(Imm(now.number + l));
    }
    improve(to, 1, one, at);
  });
}

}  // namespace hom::cpu::x86
