// backends/cpu/jit/x86_reduction.h -- the reductions of a loop, in the order of
// backends/cpu/ordered_sum.h
//
// As emit_reduction.h: eight lanes, chunks of 64 terms, a counter of chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <hom/backends/cpu/jit/x86_kernel.h>

namespace hom::cpu::x86 {

class Reductions {
 public:
  enum class Kind {
    /// Iterations follow each other, of numbers or of several results side by side.
    sequence,
    /// The same with every iteration spelled out: at most 64 terms.
    unrolled,
    /// The same with the eight lanes of a chunk in registers.
    chunks,
    /// Several terms at once; their number is a multiple of 8 but for those of a single last axis.
    vectors,
  };

  Reductions(KernelEmitter& kernel, const nest::Loop& loop, Kind kind, int lanes);

  /// Before the loop.
  void begin();
  /// At the end of each iteration.
  void add();
  /// Before the terms of a chunk whose accumulators are registers, after the body of each of eight
  /// neighbouring positions or vectors of them, and after the chunk.
  std::int64_t terms_at_once() const { return kind_ == Kind::vectors ? lanes_ : 1; }
  void begin_chunk();
  void add_neighbour(std::int64_t which);
  void end_chunk();
  /// After the vectors of the only axis: what is left comes one by one, by add_rest().
  void begin_rest();
  void add_rest();
  /// After the loop.
  void end();

 private:
  /// Totals of chunks that become one at once.
  static constexpr std::int64_t few = 8;

  /// Totals of 2^k chunks, for each digit k of their number.
  struct Chunks {
    Mem pending;
    Gp count;
    /// Of loops in vectors: totals of chunks, up to eight, which become one at once; and where the
    /// next one is stored.
    Mem few = {};
    Gp next = {};
  };
  struct Accumulator {
    enum class Order : std::uint8_t { ordered, pairwise, free, place };
    const nest::Reduction* reduction;
    Order order;
    /// What terms are computed in; of places of bools i8.
    Dtype dtype;
    /// Of the accumulator; 1 where it is a number.
    int lanes;
    /// Ordered, in vectors: of the lanes 0 …, …, 7. Others: one.
    std::vector<Operand> groups = {};
    /// Of the terms after the vectors.
    Operand rest = {};
    /// Of places.
    Operand place = {};
    /// Eight lanes in memory.
    Mem lane = {};
    /// Ordered, spelled out: eight lanes.
    std::vector<Operand> spelled = {};
    /// Ordered: those of a chunk.
    std::vector<Operand> of_chunk = {};
    Chunks chunks = {};
    int bytes() const { return static_cast<int>(dtype.size()) * lanes; }
  };
  /// The number of a term.
  struct Position {
    std::optional<Gp> at;
    std::int64_t number = 0;
  };

  Accumulator accumulator(const nest::Reduction& reduction) const;
  Operand fresh(const Accumulator& of, int lanes) const;
  Operand identity(const Accumulator& of, int lanes) const;
  Operand term(const Accumulator& to) const;
  Operand combined(const Accumulator& of, int lanes, const Operand& a, const Operand& b) const;
  Operand fold(const Accumulator& of, int lanes, const Operand& whole) const;
  Operand fold_groups(const Accumulator& of, const std::vector<Operand>& groups) const;
  Operand fold_lanes(const Accumulator& of) const;
  Operand fold_eight(const Accumulator& of, int lanes, const std::vector<Operand>& eight) const;
  Operand fold_spelled(const Accumulator& of) const;
  std::vector<Operand> groups_in_order(const Accumulator& of) const;
  void fill_lanes(const Accumulator& of) const;
  /// lane[position mod 8]
  Mem lane_at(const Accumulator& of) const;
  Operand load(const Accumulator& of, const Mem& from, int lanes) const;
  void store(const Accumulator& of, const Mem& to, const Operand& what, int lanes) const;
  Position position() const;
  void begin(Accumulator& what);
  void add(Accumulator& to);
  void add_to_lane(Accumulator& to);
  void rotate(Accumulator& to);
  void add_place(Accumulator& to, bool in_vectors);
  void improve(Accumulator& to, int lanes, const Operand& term, const Operand& place);
  void add_to_few(const Accumulator& of, const Operand& part);
  /// Few totals in pairs, from number `first` on; a power of two of them.
  Operand few_as_one(const Accumulator& of, std::int64_t first, std::int64_t count) const;
  void empty_few(const Accumulator& of);
  /// The total of 2^digit chunks, whose number is a multiple of that so far.
  void add_chunk(const Accumulator& of, const Operand& part, int lanes, int digit = 0);
  /// Of so many chunks, where that is known.
  Operand total_of_chunks(const Accumulator& of, int lanes, std::int64_t chunks);
  Operand total_of_counted_chunks(const Accumulator& of, int lanes);
  /// Runs `finish` after the last term of a chunk.
  template <class Finish>
  void at_end_of_chunk(std::int64_t terms_at_once, Finish&& finish);
  void end(Accumulator& what);
  void result(const Accumulator& of, const Operand& computed, int lanes);

  KernelEmitter& k_;
  Machine& m_;
  const nest::Loop& loop_;
  Kind kind_;
  int lanes_;
  std::vector<Accumulator> accumulators_;
  std::int64_t terms_ = 1;
  std::int64_t chunks_;
  bool counts_ = false;
  /// Whether the loop runs from `low` to `high`, some of its terms only.
  bool is_in_blocks_ = false;
  Gp counter_;
  bool has_rest_ = false;
  std::int64_t added_ = 0;
  /// Whether whole chunks have their accumulators in registers.
  bool in_chunks_ = false;
};

}  // namespace hom::cpu::x86
