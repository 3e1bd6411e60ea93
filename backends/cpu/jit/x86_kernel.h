// backends/cpu/jit/x86_kernel.h -- a kernel as machine code
//
// Follows emit_kernel.h statement by statement, with instructions in place of text. Numbers:
// integers, bools and the bits of 16-bit floats lie in integer registers, extended to 64 bits as
// their dtype says; f32 and f64 are vectors of one lane. Nothing is computed twice in a block, and
// what a loop needs of its surroundings (splats, pointers) is computed before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <hom/backends/cpu/jit/emit_forms.h>
#include <hom/backends/cpu/jit/x86_machine.h>

namespace hom::cpu::x86 {

class Reductions;

class KernelEmitter : public ValueForms {
 public:
  /// Vectors have at most `vector_bytes` (16, 32, 64). The record counts failures of all kernels of
  /// a plan: those of this one begin at `first_failure`.
  KernelEmitter(const nest::Kernel& kernel, asmjit::x86::Compiler& compiler, int vector_bytes,
                std::int64_t first_failure);

  /// Adds the function of the kernel.
  asmjit::FuncNode* emit();

 private:
  friend class Reductions;

  // ---- x86_kernel.cc: statements ----

  void arguments(asmjit::FuncNode* function);
  void block(const nest::Block& block);
  void place(const nest::Define& define);
  void place(const nest::Store& store);
  class WaitingStores;
  /// Four vectors that are columns of a matrix whose rows lie `along` elements apart, as rows.
  void store_rows(std::span<const nest::Store* const> columns, std::int64_t along,
                  bool begins_line);
  void place(const nest::Check& check);
  void place(const nest::Shortcut& shortcut);
  void store_number(const nest::Store& store);
  void store_vector(const nest::Store& store);
  void store_lanes(const nest::Store& store);
  void store_element(std::uint32_t buffer, nest::Combine combine, const Mem& to,
                     const Operand& number);
  void record_failure(std::int64_t number, const Gp& value);
  void check_lanes(const nest::Check& check, std::int64_t number);

  // ---- x86_loop.cc ----

  void place(const nest::Loop& loop);
  void plain_loop(const nest::Loop& loop);
  void unrolled_loop(const nest::Loop& loop);
  /// A position that is a number, or known when the kernel runs.
  struct Bound {
    std::optional<Gp> at = {};
    std::int64_t number = 0;
  };
  template <class Body>
  void in_steps(const Bound& from, const Bound& to, std::int64_t step, Body&& body);
  void tiled_loop(const nest::Loop& loop, int lanes);
  void chunk_loop(const nest::Loop& loop);
  Bound chunks(const nest::Loop& loop, Reductions& reductions, const Bound& from, const Bound& to);
  void neighbours(const nest::Loop& loop, Reductions& reductions, std::int64_t count);
  void vector_loop(const nest::Loop& loop, int lanes);
  std::int64_t shorter_vectors(const nest::Loop& loop, int lanes, std::int64_t at);
  void begin_checks(int lanes);
  /// Positions from, from + step, … along an axis, while they are below (or, downwards, not below)
  /// `to`.
  struct Range {
    /// A register, or null and a number.
    std::optional<Gp> from = {};
    std::int64_t first = 0;
    std::optional<Gp> to = {};
    std::int64_t last = 0;
    std::int64_t step = 1;
    /// Whether there may be no position.
    bool may_be_empty = false;
  };
  template <class Body>
  void over_positions(nest::Axis axis, const Range& range, const nest::Loop& loop, Body&& body);
  template <class Body>
  void over_axes(const nest::Loop& loop, std::size_t first, std::size_t count, Body&& body);
  void hoist(const nest::Loop& loop);
  void begin_states(const nest::Loop& loop);
  void advance_states(const nest::Loop& loop);
  Operand as_state(nest::Value state, nest::Value value);

  // ---- x86_values.cc: the forms of values ----

  /// An integer, bool or the bits of a 16-bit float as a number.
  Gp integer(nest::Value value);
  /// The same, or an immediate where it is a constant of 32 bits.
  Operand integer_or_immediate(nest::Value value);
  /// Any value as a number: `integer`, or a vector of one lane.
  Operand number(nest::Value value);
  /// A value in the lanes of the current loop: one, outside vectorised ones. Floats, or anything in
  /// a vectorised loop; a vector in a register or in memory.
  Operand held(nest::Value value);
  Vec held_in_register(nest::Value value);
  /// The same in the type to compute in.
  Operand computed(nest::Value value);
  /// A bool as a mask.
  Vec mask(nest::Value value, int bytes);
  /// What is an f32 or f64 as a vector of one lane.
  Vec float_number(nest::Value value);
  /// Jumps where a bool that is a number does not hold.
  void jump_unless(nest::Value condition, const Label& to);
  Vec decode(Dtype dtype, int lanes, const Operand& stored);
  Vec encode(Dtype dtype, int lanes, const Vec& computed);
  /// The same between an integer register and one lane.
  Vec decode_number(Dtype dtype, const Gp& bits);
  Gp encode_number(Dtype dtype, const Vec& computed);
  /// The bits of the lowest lane as an integer.
  Gp integer_in(Dtype dtype, const Vec& lowest);
  Gp extended(Dtype dtype, const Gp& what);

  /// Values that are known by other names, forgotten at the end of a block.
  /// `places`: the lanes of an index, in memory.
  enum class Form : std::uint8_t { integer, held, computed, mask1, mask2, mask4, mask8, places };
  template <class Make>
  Operand remembered(nest::Value value, Form form, Make&& make);
  class Scope;
  void forget(std::size_t values, std::size_t pointers);

  // ---- x86_address.cc ----

  /// Σ factor·term + constant, where a term is an axis or another value.
  struct Linear {
    struct Term {
      bool is_axis;
      std::uint32_t number;
      std::int64_t factor;
      bool operator==(const Term&) const = default;
    };
    std::vector<Term> terms;
    std::int64_t constant = 0;
  };
  /// A term times something, as a register.
  struct Moving {
    Gp at;
    std::int64_t factor;
    std::int64_t key;
  };
  void find_linear();
  Linear linear_of(nest::Value value) const;
  /// Whether an index is never computed for itself.
  bool is_lazy(nest::Value value) const { return linear_[value].has_value(); }
  /// Whether a vector is an index and a constant: computed only where an address does not do.
  bool is_offset(nest::Value value) const {
    const nest::Node& what = node(value);
    return what.kind == nest::Node::Kind::index_add &&
           node(what.operands[1]).kind == nest::Node::Kind::constant;
  }
  /// A vector of indices as lanes in memory and a constant that is added to each.
  struct Places {
    Mem lanes;
    std::int64_t constant;
  };
  Places places_of(nest::Value index);
  Gp lazy_number(nest::Value value);
  /// Terms that are not constant, outer axes first; the others are added to `constant`.
  std::vector<Moving> moving(const Linear& linear, std::int64_t& constant);
  Mem address(std::uint32_t buffer, nest::Value index);
  Gp pointer(std::uint32_t buffer, std::span<const Moving> terms);
  /// Pointers into buffers that a loop along an axis moves from iteration to iteration.
  struct Induction {
    Gp pointer;
    std::int64_t step;
  };
  std::vector<Induction> begin_pointers(nest::Axis axis, const Range& range, const Gp& position,
                                        const nest::Loop& loop);
  void collect_accesses(const nest::Block& block,
                        std::vector<std::pair<std::uint32_t, nest::Value>>& to) const;

  // ---- x86_load.cc ----

  Operand load_number(const nest::Node& load);
  Operand load_element(std::uint32_t buffer, const Mem& from);
  Vec load_vector(const nest::Node& load);
  Vec load_each(const nest::Node& load, std::optional<nest::Value> where);

  // ---- x86_expression.cc ----

  void define(nest::Value value);
  Operand number_definition(nest::Value value);
  Vec vector_definition(nest::Value value);
  Vec apply_vector(nest::Value value);
  Operand apply_number(nest::Value value);
  Vec logic(const nest::Node& apply);
  Vec select_vector(const nest::Node& apply);
  Operand select_number(const nest::Node& apply);
  Vec test_masks(nest::Function function, const Vec& a, const Vec& b, int bytes);
  Vec convert_vector(nest::Value value);
  Operand convert_number(nest::Value value);
  Vec bitcast_vector(nest::Value value);
  Operand bitcast_number(nest::Value value);
  Vec index_vector(const nest::Node& index);
  Gp index_number(const nest::Node& index);
  Gp index_part(const Gp& a, std::int64_t number, bool wants_remainder);

  // ---- x86_functions.cc: on vectors, of one lane too ----

  Vec arithmetic(const nest::Node& apply, Dtype in, int lanes, std::span<const Operand> operands);
  Vec float_arithmetic(nest::Function function, Dtype in, int lanes, const Vec& a,
                       const Operand& b);
  Vec integer_arithmetic(nest::Function function, Dtype in, int lanes, const Vec& a,
                         const Operand& b);
  Vec extreme(bool is_maximum, Dtype in, int lanes, const Vec& a, const Operand& b);
  Vec combined(nest::Combine combine, Dtype in, int lanes, const Vec& a, const Operand& b);
  Vec call_far(int entry, Dtype in, int lanes, const Operand& operand);
  Vec fused(Dtype in, int lanes, std::span<const Operand> operands);
  Vec is_finite(Dtype in, int lanes, const Vec& a);
  Vec call_host(int entry, std::optional<std::int64_t> parameter, Dtype from, Dtype to, int lanes,
                std::span<const Operand> operands);

  // ---- x86_numbers.cc: integers one by one ----

  Gp integer_function(nest::Function function, Dtype dtype, const Gp& a, const Operand& b);
  Gp quotient(Dtype dtype, const Gp& a, const Operand& b, bool wants_remainder);
  Gp integer_test(nest::Function function, Dtype dtype, const Gp& a, const Operand& b);
  Gp integer_extreme(bool is_maximum, Dtype dtype, const Gp& a, const Operand& b);
  Gp combined_integer(nest::Combine combine, Dtype dtype, const Gp& a, const Operand& b);
  /// Elements as numbers: integers in integer registers, floats as one lane.
  Operand combined_number(nest::Combine combine, Dtype dtype, const Operand& a, const Operand& b);

  // ---- x86_convert.cc ----

  Vec convert(Dtype from, Dtype to, int lanes, const Vec& computed);
  Vec to_float(Dtype from, Dtype to, int lanes, const Vec& what);
  Vec to_integer(Dtype from, Dtype to, int lanes, const Vec& what);
  Vec wide_to_float(Dtype from, Dtype to, int lanes, const Vec& what);
  Gp float_to_integer(Dtype from, Dtype to, const Vec& number);
  Vec integer_to_float(Dtype from, Dtype to, const Gp& number);

  /// Reusable memory of 64 bytes for lanes.
  Mem scratch(std::size_t which);
  /// f(memory of operand i's lane …) for each lane, through memory.
  template <class F>
  Vec by_lanes(int lanes, Dtype from, Dtype to, std::span<const Operand> operands, F&& f);
  template <class F>
  void over_lanes(int lanes, F&& f);

  static Lanes shape(Dtype dtype, int lanes) { return {static_cast<int>(dtype.size()), lanes}; }
  void move(const Operand& to, const Operand& from);

  Machine m_;
  asmjit::x86::Compiler& cc_;
  int vector_bytes_;
  std::int64_t first_failure_;

  Gp low_;
  Gp high_;
  Gp record_;
  Gp first_failed_;
  std::vector<Gp> buffers_;
  std::vector<std::optional<Mem>> locals_;

  /// `number`, or, where that is not constant, `at` + `number`.
  struct Position {
    bool is_open = false;
    bool is_constant = false;
    std::int64_t number = 0;
    Gp at = {};
    int depth = 0;
  };
  std::vector<Position> positions_;
  int depth_ = 0;
  std::vector<Operand> values_;
  std::vector<std::optional<Linear>> linear_;

  std::unordered_map<std::uint64_t, Operand> remembered_;
  std::vector<std::uint64_t> remembered_keys_;
  std::map<std::vector<std::int64_t>, Gp> pointers_;
  std::vector<std::vector<std::int64_t>> pointer_keys_;
  std::vector<Mem> scratch_;
  /// Whether functions of the host are called.
  bool calls_ = false;
};

/// Forgets at its end what was remembered since it began.
class KernelEmitter::Scope {
 public:
  explicit Scope(KernelEmitter& emitter)
      : emitter_(emitter),
        values_(emitter.remembered_keys_.size()),
        pointers_(emitter.pointer_keys_.size()) {}
  ~Scope() { emitter_.forget(values_, pointers_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  KernelEmitter& emitter_;
  std::size_t values_;
  std::size_t pointers_;
};

template <class Make>
Operand KernelEmitter::remembered(nest::Value value, Form form, Make&& make) {
  const std::uint64_t key = (static_cast<std::uint64_t>(value) << 16) |
                            (static_cast<std::uint64_t>(form) << 8) |
                            static_cast<std::uint64_t>(lanes());
  if (const auto found = remembered_.find(key); found != remembered_.end()) return found->second;
  const Operand made = make();
  remembered_.emplace(key, made);
  remembered_keys_.push_back(key);
  return made;
}

template <class F>
void KernelEmitter::over_lanes(int lanes, F&& f) {
  if (lanes <= 4) {
    for (int l = 0; l < lanes; ++l) f(std::optional<Gp>(), l);
    return;
  }
  const Gp lane = m_.gp(std::int64_t{0});
  const Label next = cc_.newLabel();
  cc_.bind(next);
  f(std::optional<Gp>(lane), 0);
  cc_.inc(lane);
  cc_.cmp(lane, Imm(lanes));
  cc_.jl(next);
}

/// Lane l of what lies in a slot.
inline Mem lane_of(Machine& m, const Mem& slot, int size, const std::optional<Gp>& lane, int l) {
  if (!lane) return Machine::at(slot, static_cast<std::int64_t>(size) * l, size);
  const Gp base = m.gp();
  m.cc.lea(base, slot);
  std::uint32_t shift = 0;
  while ((1 << shift) < size) ++shift;
  return asmjit::x86::ptr(base, *lane, shift, 0, static_cast<std::uint32_t>(size));
}

template <class F>
Vec KernelEmitter::by_lanes(int lanes, Dtype from, Dtype to, std::span<const Operand> operands,
                            F&& f) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const int bytes = shape(from, lanes).bytes();
    m_.store(scratch(i), m_.in_register(operands[i], bytes), bytes);
  }
  const Mem result = scratch(operands.size());
  over_lanes(lanes, [&](const std::optional<Gp>& lane, int l) {
    std::vector<Mem> places;
    for (std::size_t i = 0; i < operands.size(); ++i)
      places.push_back(lane_of(m_, scratch(i), static_cast<int>(from.size()), lane, l));
    f(places, lane_of(m_, result, static_cast<int>(to.size()), lane, l));
  });
  return m_.load(result, shape(to, lanes).bytes());
}

}  // namespace hom::cpu::x86
