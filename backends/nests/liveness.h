// backends/nests/liveness.h -- when the buffers of a plan hold what is still needed
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hom/backends/nests/plan.h>

namespace hom::nest {

/// Positions in the text of a plan, in order: instructions without others inside, predicates, and
/// the begin and the end of each loop. Inputs are there at 0.
using Position = std::uint32_t;

/// An inclusive range of positions.
struct Segment {
  Position begin;
  Position end;
};
/// Ascending and disjoint. Neighbours may follow without a gap: what is held changes between them.
using Segments = SmallVector<Segment, 2>;

/// The union of both.
Segments united(const Segments& a, const Segments& b);

/// What an instruction does to a buffer.
struct Access {
  std::uint32_t buffer;
  Position position;
  bool reads = false;
  bool writes = false;
  /// All of the buffer, from its start, in every iteration.
  bool whole = false;
};

/// The accesses of a plan and the segments in which each buffer is live: from where it is written
/// to where that is read for the last time.
///
/// What is used in a loop and defined outside, or in strips, lives through the loop; a buffer that
/// each iteration writes before it reads it lives inside. A copy to the whole of a buffer ends what
/// it held before, back to its last use: so a loop's carry is not live between its last use in an
/// iteration and the copy of its next value.
class Liveness {
 public:
  explicit Liveness(const Plan& plan);

  const Segments& segments(std::uint32_t buffer) const { return segments_[buffer]; }
  /// The accesses of the instruction at a position.
  std::span<const Access> accesses(Position position) const;
  /// The instruction at a position; null at the others.
  const Instruction* instruction(Position position) const { return instructions_[position]; }
  /// The last position; outputs are read there.
  Position end() const { return static_cast<Position>(instructions_.size() - 1); }

 private:
  /// The plan, the body of a loop, or one way of a branch.
  struct Scope {
    std::uint32_t parent;
    std::uint32_t depth;
    bool is_loop = false;
    /// Of a loop of the plan.
    LoopId id = no_loop;
    Position begin;
    Position end = 0;
    /// Where the condition of a `While` is over.
    Position condition_end = 0;
  };
  static constexpr LoopId no_loop = UINT32_MAX;

  void walk(const Instructions& instructions, std::uint32_t scope);
  Position start(const Instruction* instruction, std::uint32_t scope);
  void add(const Address& address, std::int64_t bytes, bool reads, bool writes);
  void add(const Launch& launch);
  std::uint32_t open(std::uint32_t parent);
  void find_segments();
  void find_segments(std::uint32_t buffer, std::span<const std::uint32_t> accesses);
  std::uint32_t loop_around(std::uint32_t scope) const;
  std::uint32_t common(std::uint32_t a, std::uint32_t b) const;
  /// The scope right inside `outer` that contains `inner`, or `inner` itself where that is `outer`.
  std::uint32_t child_of(std::uint32_t outer, std::uint32_t inner) const;

  const Plan& plan_;
  /// The strips that are walked.
  LoopId strips_ = no_loop;
  std::vector<Scope> scopes_;
  std::vector<const Instruction*> instructions_;
  /// By position.
  std::vector<std::uint32_t> scope_of_;
  std::vector<std::uint32_t> first_access_;
  std::vector<Access> accesses_;
  /// For each access, the loops that its address moves with.
  std::vector<SmallVector<LoopId, 1>> moves_;
  std::vector<Segments> segments_;
};

}  // namespace hom::nest
