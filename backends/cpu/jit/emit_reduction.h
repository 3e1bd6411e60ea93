// backends/cpu/jit/emit_reduction.h -- the reductions of a loop, in the order of
// backends/cpu/ordered_sum.h
//
// Terms of floats go to eight lanes, chunks of 64 and a counter of chunks, in one of three forms:
// in vectors along the vector axis, for W results side by side in a loop along another axis, and
// for one result alone. Where no order changes a bit (integers, bools) there is one accumulator.
// Places of extremes are found one term after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hom/backends/cpu/jit/emit_expression.h>
#include <hom/backends/cpu/jit/emit_writer.h>

namespace hom::cpu {

class ReductionPrinter {
 public:
  enum class Form {
    /// A loop whose iterations follow each other, of numbers or W results side by side.
    sequence,
    /// The same with every iteration spelled out: at most 64 terms.
    unrolled,
    /// The same with the eight lanes of a chunk in registers.
    chunks,
    /// W terms at once; their number is a multiple of 8 but for those of a single last axis.
    vectors,
  };

  /// `lanes`: of the loop where its form is `vectors`.
  ReductionPrinter(const nest::Kernel& kernel, const nest::Loop& loop, Form form, int lanes,
                   ExpressionPrinter& values, Writer& out);

  /// Before the loop.
  void begin();
  /// At the end of each iteration: the term, or the W terms, of this one.
  void add();
  /// Before the terms of a chunk whose accumulators are registers, after the body of each of eight
  /// neighbouring positions or vectors of them, and after the chunk.
  void begin_chunk();
  void add_neighbour(std::int64_t which);
  void end_chunk();
  std::int64_t terms_at_once() const { return form_ == Form::vectors ? lanes_ : 1; }
  /// After the vectors of the only axis: what is left comes one by one, by add_rest().
  void begin_rest();
  void add_rest();
  /// After the loop.
  void end();

 private:
  struct Accumulator {
    enum class Kind { ordered, pairwise, free, place };
    const nest::Reduction* reduction;
    Kind kind;
    /// What terms are computed in; of places of bools i8.
    Dtype dtype;
    bool is_vector;
    /// Of the accumulator.
    std::string type;
    std::string name;
  };

  Accumulator accumulator(const nest::Reduction& reduction) const;
  std::string term(const Accumulator& to) const;
  std::string identity(const Accumulator& of) const;
  std::string number_identity(const Accumulator& of) const;
  std::string combined(const Accumulator& of, const std::string& a, const std::string& b) const;
  void begin(const Accumulator& what);
  void add(const Accumulator& to);
  void add_to_lane(const Accumulator& to);
  void rotate(const Accumulator& to);
  void finish_chunk(const Accumulator& of, const std::string& lanes);
  std::string unrolled_tree(const Accumulator& of) const;
  std::string groups(const Accumulator& of) const;
  /// Accumulators of a chunk, and what they are together.
  std::int64_t chunk_accumulators() const;
  std::string of_chunk(const Accumulator& of, std::int64_t which) const;
  std::string folded_chunk(const Accumulator& of) const;
  void end(const Accumulator& what);

  const nest::Kernel& kernel_;
  const nest::Loop& loop_;
  Form form_;
  int lanes_;
  ExpressionPrinter& values_;
  Writer& out_;
  std::vector<Accumulator> accumulators_;
  /// Terms of one result, and chunks of them.
  std::int64_t terms_ = 1;
  std::int64_t chunks_;
  /// The number of the term, or the first of the W terms, of an iteration.
  std::string position_;
  bool counts_ = false;
  bool has_rest_ = false;
  /// Whether whole chunks have their accumulators in registers.
  bool in_chunks_ = false;
  /// Iterations that were spelled out.
  std::int64_t added_ = 0;
};

}  // namespace hom::cpu
