// backends/cpu/jit/x86_reduction.cc -- accumulators: before, in and after their loop
#include <hom/backends/cpu/jit/x86_reduction.h>

#include <algorithm>
#include <bit>

namespace hom::cpu::x86 {

using nest::Combine;

namespace {

constexpr std::int64_t order_lanes = 8;
constexpr std::int64_t chunk = 64;

}  // namespace

Reductions::Reductions(KernelEmitter& kernel, const nest::Loop& loop, Kind kind, int lanes)
    : k_(kernel), m_(kernel.m_), loop_(loop), kind_(kind), lanes_(lanes) {
  terms_ = kernel.iterations(loop);
  chunks_ = (terms_ + chunk - 1) / chunk;
  // One axis that counts up counts the terms.
  const auto longer = std::count_if(loop.axes.begin(), loop.axes.end(),
                                    [&](nest::Axis a) { return kernel.extent(a) > 1; });
  const bool is_simple =
      !loop.reverse && (longer == 0 || (longer == 1 && kernel.extent(loop.axes.back()) > 1));
  // In blocks, terms count from where the block starts.
  is_in_blocks_ = kernel.kernel_.block > 0 && kernel.is_split(loop);
  counts_ = (!is_simple || is_in_blocks_) && kind != Kind::unrolled && !loop.reductions.empty();
  in_chunks_ =
      kind == Kind::chunks || (kind == Kind::vectors && kernel.adds_in_chunks(loop, lanes));
  has_rest_ = kind == Kind::vectors && kernel.extent(loop.axes.back()) % lanes != 0;
}

Reductions::Accumulator Reductions::accumulator(const nest::Reduction& reduction) const {
  using Order = Accumulator::Order;
  const Dtype term = k_.dtype(reduction.term);
  const Order order = reduction.combine >= Combine::argmax ? Order::place
                      : !term.is_float()                   ? Order::free
                      : reduction.pairwise                 ? Order::pairwise
                                                           : Order::ordered;
  const bool is_place = order == Order::place;
  const bool is_vector = kind_ == Kind::vectors ? !is_place : k_.is_vector(reduction.result);
  const int lanes = !is_vector ? 1 : kind_ == Kind::vectors ? lanes_ : k_.lanes();
  return {&reduction, order, is_place && term.is_bool() ? i8 : ValueForms::computing(term), lanes};
}

Reductions::Position Reductions::position() const {
  if (kind_ == Kind::unrolled) return {std::nullopt, added_};
  if (counts_) return {counter_, 0};
  const KernelEmitter::Position& at = k_.positions_[loop_.axes.back()];
  if (at.is_constant) return {std::nullopt, at.number};
  return {at.at, 0};
}

void Reductions::begin() {
  for (const nest::Reduction& reduction : loop_.reductions)
    accumulators_.push_back(accumulator(reduction));
  for (Accumulator& what : accumulators_) begin(what);
  if (counts_) counter_ = m_.gp(std::int64_t{0});
}

void Reductions::begin(Accumulator& what) {
  using Order = Accumulator::Order;
  const auto start = [&](int lanes) {
    const Operand to = fresh(what, lanes);
    k_.move(to, identity(what, lanes));
    return to;
  };
  if (what.order == Order::place) {
    what.groups.push_back(start(what.lanes));
    if (what.lanes == 1) {
      what.place = m_.gp(std::int64_t{0});
    } else {
      what.place = m_.zero(8 * what.lanes);
    }
    return;
  }
  if (what.order == Order::free) {
    what.groups.push_back(start(what.lanes));
    if (has_rest_) what.rest = start(1);
    return;
  }
  if (what.order == Order::pairwise) {
    ensure(kind_ != Kind::vectors, "what is combined in pairs comes one by one");
    what.chunks.pending =
        m_.slot(std::bit_width(static_cast<std::uint64_t>(terms_)) * what.bytes());
    what.chunks.count = m_.gp(std::int64_t{0});
    return;
  }
  if (kind_ == Kind::vectors) {
    for (std::int64_t g = 0; g < order_lanes / lanes_; ++g)
      what.groups.push_back(start(what.lanes));
    if (has_rest_) what.lane = m_.slot(order_lanes * static_cast<std::int64_t>(what.dtype.size()));
  } else if (kind_ == Kind::unrolled) {
    what.spelled.resize(order_lanes);
  } else if (kind_ == Kind::sequence) {
    what.lane = m_.slot(order_lanes * what.bytes());
    fill_lanes(what);
  }
  if (chunks_ > 1) {
    const int bytes = kind_ == Kind::vectors ? static_cast<int>(what.dtype.size()) : what.bytes();
    what.chunks.pending = m_.slot(std::bit_width(static_cast<std::uint64_t>(chunks_)) * bytes);
    what.chunks.count = m_.gp(std::int64_t{0});
    if (in_chunks_ && kind_ == Kind::vectors) {
      what.chunks.few = m_.slot(few * bytes);
      what.chunks.next = m_.gp();
      k_.cc_.lea(what.chunks.next, what.chunks.few);
    }
  }
}

void Reductions::add() {
  for (Accumulator& to : accumulators_) add(to);
  if (counts_) k_.cc_.add(counter_, Imm(kind_ == Kind::vectors ? lanes_ : 1));
  ++added_;
}

void Reductions::add(Accumulator& to) {
  using Order = Accumulator::Order;
  if (to.order == Order::place) return add_place(to, kind_ == Kind::vectors);
  if (to.order == Order::free) {
    k_.move(to.groups[0], combined(to, to.lanes, to.groups[0], term(to)));
  } else if (to.order == Order::pairwise) {
    add_chunk(to, m_.in_register(term(to), to.bytes()), to.lanes);
  } else if (kind_ == Kind::vectors) {
    rotate(to);
  } else {
    add_to_lane(to);
  }
}

template <class Finish>
void Reductions::at_end_of_chunk(std::int64_t terms_at_once, Finish&& finish) {
  const Position now = position();
  const std::int64_t last = chunk - terms_at_once;
  if (!now.at) {
    if ((now.number & (chunk - 1)) == last) finish();
    return;
  }
  const Label goes_on = k_.cc_.newLabel();
  const Gp in_chunk = m_.gp();
  k_.cc_.mov(in_chunk.r32(), now.at->r32());
  k_.cc_.and_(in_chunk.r32(), Imm(chunk - 1));
  k_.cc_.cmp(in_chunk.r32(), Imm(last));
  k_.cc_.jne(goes_on);
  {
    const KernelEmitter::Scope scope(k_);
    finish();
  }
  k_.cc_.bind(goes_on);
}

void Reductions::add_to_lane(Accumulator& to) {
  if (kind_ == Kind::unrolled) {
    Operand& lane = to.spelled[static_cast<std::size_t>(added_ % order_lanes)];
    const Operand here = term(to);
    if (added_ >= order_lanes) {
      lane = combined(to, to.lanes, lane, here);
      return;
    }
    // A copy, for states change.
    lane = fresh(to, to.lanes);
    if (here.isMem()) {
      m_.op(X86::kIdVmovups, lane, here);
    } else {
      k_.move(lane, here);
    }
    return;
  }
  const Mem lane = lane_at(to);
  store(to, lane, combined(to, to.lanes, load(to, lane, to.lanes), term(to)), to.lanes);
  if (chunks_ == 1) return;
  at_end_of_chunk(1, [&] {
    add_chunk(to, fold_lanes(to), to.lanes);
    fill_lanes(to);
  });
}

/// The accumulator that is due comes first and goes last, so that one text serves all of them.
void Reductions::rotate(Accumulator& to) {
  const std::size_t count = to.groups.size();
  const Operand next = combined(to, to.lanes, to.groups[0], term(to));
  for (std::size_t g = 0; g + 1 < count; ++g) k_.move(to.groups[g], to.groups[g + 1]);
  k_.move(to.groups[count - 1], next);
  if (chunks_ == 1 || in_chunks_) return;
  at_end_of_chunk(lanes_, [&] {
    add_chunk(to, fold_groups(to, to.groups), 1);
    for (const Operand& group : to.groups) k_.move(group, identity(to, to.lanes));
  });
}

void Reductions::begin_chunk() {
  for (Accumulator& of : accumulators_) {
    if (of.order != Accumulator::Order::ordered) continue;
    const auto count =
        static_cast<std::size_t>(kind_ == Kind::chunks ? order_lanes : order_lanes / lanes_);
    while (of.of_chunk.size() < count) of.of_chunk.push_back(fresh(of, of.lanes));
    for (const Operand& one : of.of_chunk) k_.move(one, identity(of, of.lanes));
  }
}

void Reductions::add_neighbour(std::int64_t which) {
  for (Accumulator& to : accumulators_) {
    if (to.order == Accumulator::Order::free) {
      add(to);
    } else {
      const Operand& there = to.of_chunk[static_cast<std::size_t>(which) % to.of_chunk.size()];
      k_.move(there, combined(to, to.lanes, there, term(to)));
    }
  }
}

void Reductions::end_chunk() {
  for (Accumulator& of : accumulators_) {
    if (of.order != Accumulator::Order::ordered) continue;
    if (kind_ == Kind::chunks) {
      add_chunk(of, fold_eight(of, of.lanes, of.of_chunk), of.lanes);
    } else {
      add_to_few(of, fold_groups(of, of.of_chunk));
    }
  }
  if (counts_) k_.cc_.add(counter_, Imm(chunk));
}

/// The accumulators of lanes 0 …, …, 7, as they stand after the last vector.
std::vector<Operand> Reductions::groups_in_order(const Accumulator& of) const {
  const auto count = static_cast<std::int64_t>(of.groups.size());
  const std::int64_t vectors = k_.extent(loop_.axes.back()) / lanes_;
  std::vector<Operand> all;
  for (std::int64_t g = 0; g < count; ++g)
    all.push_back(of.groups[static_cast<std::size_t>(((g - vectors) % count + count) % count)]);
  return all;
}

void Reductions::begin_rest() {
  using Order = Accumulator::Order;
  for (const Accumulator& of : accumulators_) {
    if (of.order != Order::ordered) continue;
    const std::vector<Operand> groups = groups_in_order(of);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      m_.store(Machine::at(of.lane, static_cast<std::int64_t>(g) * of.bytes()), groups[g].as<Vec>(),
               of.bytes());
    }
  }
}

void Reductions::add_rest() {
  using Order = Accumulator::Order;
  for (Accumulator& to : accumulators_) {
    switch (to.order) {
      case Order::place:
        add_place(to, false);
        break;
      case Order::pairwise:
        add(to);
        break;
      case Order::free:
        k_.move(to.rest, combined(to, 1, to.rest, term(to)));
        break;
      case Order::ordered: {
        const Mem lane = lane_at(to);
        store(to, lane, combined(to, 1, load(to, lane, 1), term(to)), 1);
        break;
      }
    }
  }
  if (counts_) k_.cc_.inc(counter_);
}

void Reductions::end() {
  for (Accumulator& what : accumulators_) end(what);
}

void Reductions::end(Accumulator& what) {
  using Order = Accumulator::Order;
  if (what.order == Order::place) {
    k_.values_[what.reduction->result] = what.place;
    return;
  }
  if (what.order == Order::free) {
    if (kind_ != Kind::vectors) return result(what, what.groups[0], what.lanes);
    const Operand all = fold(what, what.lanes, what.groups[0]);
    return result(what, has_rest_ ? combined(what, 1, all, what.rest) : all, 1);
  }
  if (what.order == Order::pairwise)
    return result(what, total_of_chunks(what, what.lanes, terms_), what.lanes);
  if (kind_ == Kind::unrolled) return result(what, fold_spelled(what), what.lanes);
  const bool is_one = kind_ == Kind::vectors;
  const int lanes = is_one ? 1 : what.lanes;
  if (chunks_ == 1 || terms_ % chunk != 0) {
    const Operand part = kind_ == Kind::chunks  ? fold_eight(what, lanes, what.of_chunk)
                         : is_one && !has_rest_ ? fold_groups(what, groups_in_order(what))
                                                : fold_lanes(what);
    if (chunks_ == 1) return result(what, part, lanes);
    if (in_chunks_ && is_one) {
      add_to_few(what, part);
    } else {
      add_chunk(what, part, lanes);
    }
  }
  if (in_chunks_ && is_one) empty_few(what);
  result(
      what,
      is_in_blocks_ ? total_of_counted_chunks(what, lanes) : total_of_chunks(what, lanes, chunks_),
      lanes);
}

/// As the result's dtype is stored.
void Reductions::result(const Accumulator& of, const Operand& computed, int lanes) {
  const nest::Value value = of.reduction->result;
  const Dtype dtype = k_.dtype(value);
  if (dtype != of.dtype && dtype.is_float()) {
    k_.values_[value] = lanes == 1 && !k_.is_vector(value)
                            ? Operand(k_.encode_number(dtype, computed.as<Vec>()))
                            : Operand(k_.encode(dtype, lanes, computed.as<Vec>()));
    return;
  }
  k_.values_[value] = computed;
}

}  // namespace hom::cpu::x86
