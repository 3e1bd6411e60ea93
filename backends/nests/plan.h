// backends/nests/plan.h -- a program as kernels and routines in order, on planned memory
//
// A plan is what is left of a program when everything is decided: buffers with their places,
// kernels (nest.h), routines of a backend (matrix products, factorizations …), and the order in
// which they run, with loops and branches in it. A backend turns it into one executable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <hom/backends/nests/nest.h>
#include <hom/core/tensor.h>

namespace hom::nest {

/// A buffer of a plan, row-major and aligned to 64 bytes.
///
/// Buffers may share memory where `plan_memory` found that they may: a kernel's arguments can be
/// the same memory, and a temporary may become a second buffer of an output's place and index.
struct PlannedBuffer {
  enum class Place : std::uint8_t {
    /// Input or output number `index` of the program.
    input,
    output,
    /// Tensor number `index` of `Plan::constants`.
    constant,
    /// In the arena.
    temporary,
  };
  TensorType type;
  Place place;
  std::uint32_t index = 0;
  /// Bytes from the start of the arena, where temporary; set by `plan_memory`.
  std::int64_t offset = 0;
  /// For readers: `x`, `v12`.
  std::string label = {};

  std::int64_t bytes() const { return type.size() * static_cast<std::int64_t>(type.dtype.size()); }
};

/// A loop of the plan, known by its number.
using LoopId = std::uint32_t;

/// An address: a place in a buffer, which moves with the iterations of the loops around.
struct Address {
  std::uint32_t buffer;
  /// Bytes from the start of the buffer.
  std::int64_t offset = 0;
  struct Move {
    LoopId loop;
    /// Bytes for each iteration, perhaps negative.
    std::int64_t stride;
  };
  SmallVector<Move, 2> moves = {};
};

/// An operand or result of a routine: elements of a buffer, strided. Strides count elements.
struct Layout {
  TensorType type;
  Shape strides;
};

/// What is not a loop nest: code that the backend brings, prepared for the types and layouts of one
/// step.
class Routine {
 public:
  virtual ~Routine() = default;
  /// Reads the operands and writes the results (row-major), which do not overlap the operands;
  /// `scratch` has `scratch_bytes()`. May be called by several threads at once. Throws `Error` for
  /// the user's mistakes.
  virtual void run(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
                   std::byte* scratch) const = 0;
  virtual std::int64_t scratch_bytes() const { return 0; }
  /// Whether `run_rows` computes some rows of the result alone.
  virtual bool has_rows() const { return false; }
  /// Rows [low, high) of the only result, whose leading axes are counted as one: all but the last.
  virtual void run_rows(std::span<const std::byte* const> operands, std::byte* result,
                        std::byte* scratch, std::int64_t low, std::int64_t high) const;
  /// Whether rows have the same bits whatever others are computed with them.
  virtual bool has_free_rows() const { return false; }
  /// Rows that are worth one call of `run_rows`, so that what follows finds them in the cache.
  virtual std::int64_t panel() const { return 1; }
  /// Equal parts of the rows of the result, each computed from parts of the operands.
  struct Slices {
    std::int64_t count;
    /// Of the result, in each part.
    std::int64_t rows;
    /// So many parts are worth one call of `run_rows`.
    std::int64_t unit;
    /// Of each operand: elements from what one part reads to what the next one reads, where that
    /// is all between; 0 where parts read elements anywhere.
    SmallVector<std::int64_t, 2> operands;
  };
  /// Of a routine that has rows: the batch of a product, or its rows. A part has the same bits
  /// whatever others are computed with it.
  virtual std::optional<Slices> slices() const { return std::nullopt; }
  /// What it is, for `explain`: `dot_general by Eigen`.
  virtual std::string describe() const = 0;
  virtual Work work() const = 0;
};

/// Runs a kernel.
struct Launch {
  std::uint32_t kernel;
  std::vector<Address> arguments;
  /// Positions along the axis that may be split for one of several threads at a time; 0 where that
  /// is not worth it (sharing.h). The same for any number of threads, and `Kernel::block` where the
  /// kernel has that.
  std::int64_t grain = 0;
  /// In the body of `Strips`: positions along that axis for each slice; else 0, which means all.
  std::int64_t positions = 0;
};

/// Runs a routine. With an epilogue, rows of the result are handed to a kernel as soon as they are
/// there.
struct Call {
  std::uint32_t routine;
  std::vector<Address> operands;
  std::vector<Address> results;
  /// A temporary of `scratch_bytes()`, where the routine needs any.
  std::optional<Address> scratch = {};
  std::optional<Launch> epilogue = {};
  /// Positions of the epilogue's first axis for each row.
  std::int64_t positions_per_row = 1;
  /// In the body of `Strips`: rows for each slice; else 0, which means all.
  std::int64_t rows = 0;
};

/// Copies bytes between places that do not overlap, or are the same.
struct Copy {
  Address to;
  Address from;
  std::int64_t bytes;
};

struct Instruction;
using Instructions = std::vector<Instruction>;

/// Runs the body `count` times; addresses move with loop `id`.
struct Repeat {
  LoopId id;
  std::int64_t count;
  Instructions body;
};

/// Runs the condition, then, while the bool at `predicate` holds, the body and the condition again:
/// the body at most `bound` times, if that is not negative.
struct While {
  Instructions condition;
  Address predicate;
  Instructions body;
  std::int64_t bound = -1;
};

/// Runs one of the two, as the bool at `predicate` says.
struct Branch {
  Address predicate;
  Instructions then;
  Instructions otherwise;
};

/// Runs a body of launches and calls for one strip after the other of an axis that all of them
/// share (strips.h). Strips depend on nothing that another one does, so several threads may run
/// them at once.
struct Strips {
  LoopId id;
  /// Slices of the axis, and how many of them make a strip; the last one may have fewer.
  std::int64_t slices;
  std::int64_t together;
  Instructions body;
  /// The temporary that strips use for what nobody else needs: one that runs beside others has its
  /// own.
  std::uint32_t memory;
  /// Strips that one of several threads takes at a time; 0 where that is not worth it.
  std::int64_t grain = 0;

  std::int64_t count() const { return (slices + together - 1) / together; }
};

struct Instruction {
  std::variant<Launch, Call, Copy, Repeat, While, Branch, Strips> is;
  /// The step of the program that it comes from (the last one of a kernel).
  std::uint32_t step = Node::no_step;
};

/// Where a kernel or routine comes from, for `explain` and errors.
struct Origin {
  std::string primitive;
  Location at;
  std::string scope;
  /// Type of the first operand, for errors about indices.
  TensorType operand = {};
  /// Extents of the window of a dynamic_slice or dynamic_update_slice, for the same.
  Shape window = {};
};

struct Plan {
  std::vector<PlannedBuffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<std::shared_ptr<const Routine>> routines;
  Instructions body;
  LoopId loop_count = 0;

  std::size_t input_count = 0;
  /// For each output of the program, its buffer. An output that is an input, a constant or another
  /// output is their buffer.
  std::vector<std::uint32_t> outputs;
  std::vector<TensorType> output_types;
  /// Tensors of the closure, row-major.
  std::vector<Tensor> constants;
  /// What `step` of nodes, failures and instructions counts, the steps of programs inside included.
  std::vector<Origin> origins;

  /// Set by `plan_memory`.
  std::int64_t arena_bytes = 0;
  /// The most bytes that temporaries need at once: what no plan can go below, in this order of
  /// instructions.
  std::int64_t live_bytes = 0;
  /// For each output, the number of the input whose memory it may take where the caller donates it,
  /// or `not_donated`.
  std::vector<std::uint32_t> donations;
  static constexpr std::uint32_t not_donated = UINT32_MAX;
};

/// Readable text: buffers, then instructions, kernels by name.
std::string to_string(const Plan& plan);

}  // namespace hom::nest
