// backends/nests/nest.h -- the loop-nest IR: a kernel as scalar values, placed in loops
//
// A kernel computes some arrays from others. Its *values* are scalars in static single assignment,
// functions of the positions along its *axes*; its body places them in loops. Which value is
// computed where, which loop is the vectorised one and what is kept instead of computed again has
// been decided when a kernel exists (schedule.h): an emitter only spells what it finds.
//
// What values mean is what the eager kernels compute: each function rounds to its dtype, 16-bit
// floats are computed in f32 and rounded after each step, nothing is contracted, and reductions
// have the order of backends/cpu/ordered_sum.h. So executors agree bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hom/core/error.h>
#include <hom/core/object.h>

namespace hom::nest {

/// A value of a kernel: the index of its node.
using Value = std::uint32_t;
/// An axis of a kernel: the index of its extent.
using Axis = std::uint32_t;

/// Functions of scalars, called as the primitives that they are the meaning of (`scalar_math.h`,
/// `scalar_special.h`).
enum class Function : std::uint8_t {
  // one operand
  neg,
  abs,
  sign,
  round,
  floor,
  ceil,
  sqrt,
  rsqrt,
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  logistic,
  erf,
  erfc,
  erfcx,
  erf_inv,
  erfc_inv,
  lgamma,
  is_finite,
  not_,
  /// The parameter is n.
  polygamma,
  // two operands
  add,
  sub,
  mul,
  div,
  rem,
  pow,
  max,
  min,
  atan2,
  scale,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  and_,
  or_,
  xor_,
  shift_left,
  shift_right,
  /// The parameter is k.
  log_gamma_slope,
  // three operands
  select,
  // of f32 and f64 only, and no primitives: what `expanded` makes the others of
  /// a·b + c, rounded once.
  fma,
  /// sin, cos and tan beyond the reach of backends/math/trigonometric.h, 0 within; hardly ever is
  /// an
  /// operand beyond it.
  far_sin,
  far_cos,
  far_tan,
};
inline constexpr std::size_t function_count = static_cast<std::size_t>(Function::far_tan) + 1;

/// The name of the primitive that it is the meaning of: `add`, `not`.
std::string_view name_of(Function function);
/// The function of an elementwise primitive, if there is one.
std::optional<Function> function_named(std::string_view primitive);
/// Operands: 1, 2 or 3.
int arity_of(Function function);
/// What one evaluation costs, in additions: 1 for an addition, 4 for a division, 20 for an
/// exponential, 200 for a polygamma.
double cost_of(Function function);

/// One scalar value. Operands are earlier nodes; nodes that are equal are one node.
struct Node {
  enum class Kind : std::uint8_t {
    /// i64: the position along the axis `number`.
    axis,
    /// `number` holds the bits of an element of `dtype`, zero-extended (of the 16-bit floats: their
    /// 16 bits).
    constant,
    /// The element of buffer `number` at index operands[0] (i64, in elements). With operands[1]
    /// (bool): only where that holds,
    /// and zero elsewhere, where the index may be out of range.
    load,
    /// `function` of the operands; `number` is its parameter. Operands have one dtype; comparisons
    /// and is_finite give bool,
    /// select takes a bool first.
    apply,
    /// operands[0] as an element of `dtype`, as the primitives `convert` and `bitcast` do.
    convert,
    bitcast,
    /// i64 arithmetic of indices that does not overflow: a + b, a·number, ⌊a/number⌋, a mod number
    /// (a ≥ 0, number > 0).
    index_add,
    index_scale,
    index_quotient,
    index_remainder,
    /// The result of a reduction, and the state of a carried value: defined by the loop that they
    /// belong to. `number` makes
    /// them distinct.
    reduced,
    carried,
    /// i64: the number of the block that runs, low / `Kernel::block`.
    block,
  };

  Kind kind;
  Function function = Function::neg;
  Dtype dtype;
  SmallVector<Value, 3> operands = {};
  std::int64_t number = 0;
  /// The step of the program that it comes from, or `no_step`.
  std::uint32_t step = no_step;

  static constexpr std::uint32_t no_step = UINT32_MAX;
};

/// How terms become one, and how a store meets what is there. `set` is for stores only, the places
/// for reductions only.
enum class Combine : std::uint8_t {
  set,
  sum,
  prod,
  max,
  min,
  and_,
  or_,
  /// The place (i64, counted along the loop's axes as one) of the first largest or smallest term;
  /// the first NaN is the most extreme of all.
  argmax,
  argmin,
};
std::string_view name_of(Combine combine);

struct Statement;
/// Statements in order.
using Block = std::vector<Statement>;

/// Computes a value at this place. It is known to the rest of the block and to the loops in it. A
/// value that is wanted in two loops may be computed in each.
struct Define {
  Value value;
};

/// buffer[index] = combine(buffer[index], value), where `when` holds.
struct Store {
  std::uint32_t buffer;
  Value index;
  Value value;
  Combine combine = Combine::set;
  std::optional<Value> when = {};
};

/// Where `ok` does not hold, the kernel goes on and its executable raises: number `failure` of the
/// kernel's failures, the first one with the value (i64) of `offending`.
struct Check {
  Value ok;
  Value offending;
  std::uint32_t failure;
};

/// The terms of all iterations as one, in the order of ordered_sum.h: term number i is that of
/// iteration i, all axes of the loop counted as one in row-major order. 16-bit floats accumulate in
/// f32 and round once, at the end.
///
/// Terms may be results of blocks: a reduction of many terms is done by several threads in two
/// stages. A kernel with `Kernel::block` reduces each block of its terms, a power of two times 64
/// of them, in the order of ordered_sum.h; a second one combines the blocks' results with
/// `pairwise`: no lanes and no chunks, each term is a digit of the binary counter as the total of a
/// chunk is. The last block may be incomplete. That is the same tree as in one stage, so the same
/// bits.
struct Reduction {
  Combine combine;
  /// Computed in the body.
  Value term;
  /// Known after the loop.
  Value result;
  /// In kernels without vector axis, and not for places. Where no order changes a bit (integers,
  /// bools) it means nothing. A single term is the result.
  bool pairwise = false;
};

/// A value that goes from each iteration to the next: `state` is `initial` in the first, later what
/// `next` was in the one before. After the loop `state` is the last `next`.
struct Carry {
  Value state;
  Value initial;
  Value next;
};

/// Runs the body for each position along the axes, the last of them fastest. Without carries,
/// iterations are independent but for reductions, and stores of different iterations do not meet
/// unless they combine.
struct Loop {
  SmallVector<Axis, 4> axes;
  std::vector<Reduction> reductions = {};
  std::vector<Carry> carries = {};
  /// The last axis counts down: position extent − 1 comes first.
  bool reverse = false;
  /// Of a loop of two axes whose iterations have no order (no reductions, carries or checks, and no
  /// store that combines): positions may come in tiles of so many along each axis, row-major inside
  /// a tile. A matter of speed alone. Along the last axis a multiple of 64. Empty where they come
  /// one row after the other.
  SmallVector<std::int64_t, 2> tile = {};
  Block body;
};

/// Two ways to the same stores. `full` is right always. `quick` is right, and cheaper, where
/// `holds` (bool), known after the definitions in `attempt`; an executor may run it where that
/// holds for all positions that it computes at once, and may as well not look at it. Blocks store
/// and define only; what they define is known to nobody else, but for `attempt`'s values in
/// `quick`.
struct Shortcut {
  Block attempt = {};
  Value holds = 0;
  Block quick = {};
  Block full = {};

  // Out of line: of inlined moves g++ 12 says wrongly that they read what is not initialised.
  Shortcut();
  Shortcut(const Shortcut&);
  Shortcut(Shortcut&&) noexcept;
  Shortcut& operator=(const Shortcut&);
  Shortcut& operator=(Shortcut&&) noexcept;
  ~Shortcut();
};

struct Statement {
  std::variant<Define, Store, Check, Shortcut, Loop> is;
};

/// An array that a kernel reads or writes: one that it is given, or one of its own.
struct Buffer {
  Dtype dtype;
  /// How many elements it has at least.
  std::int64_t elements;
  bool is_read = false;
  bool is_written = false;
  /// Scratch memory of a single run, not an argument; small. Arguments come first.
  bool is_local = false;
  /// For readers: `x`, `v12`.
  std::string label = {};
};

/// What a failed check means.
struct Failure {
  /// The step of the program whose operand was wrong.
  std::uint32_t step;
  /// Which of its axes.
  std::int64_t axis;
};

/// A kernel. Runs on the pointers of its arguments, for the positions [low, high) along the first
/// axis of `split`.
struct Kernel {
  std::string name;
  std::vector<Buffer> buffers;
  /// Extents of the axes; all at least 1.
  std::vector<std::int64_t> axes;
  std::vector<Node> nodes;
  Block body;
  std::vector<Failure> failures;
  /// Iterations along this axis are done several at once, where it is the last axis of a loop.
  /// Values that depend on it are then vectors.
  std::optional<Axis> vector_axis;
  /// Whether the body is one loop without reductions and carries, perhaps after definitions, whose
  /// first axis may be split: into parts for several threads, or panels that follow a matrix
  /// product.
  bool is_splittable = false;
  /// If not 0, the kernel is splittable, and its loop may have reductions: one run is for the
  /// positions of one block, [k·block, min((k + 1)·block, extent)). Definitions and stores may
  /// follow the loop; results of the reductions are then those of this block's terms, of which
  /// `block` positions make a power of two times 64. The place of an extreme counts from the start
  /// of the block.
  std::int64_t block = 0;

  std::int64_t argument_count() const;
};

/// The loop whose first axis may be split, or null.
const Loop* split_loop(const Kernel& kernel);

/// For each value, whether it depends on the vector axis: through operands; a reduction's result
/// does where its term does, unless the loop is along that axis; a state where its initial or next
/// value does.
std::vector<bool> vector_values(const Kernel& kernel);

/// What one run of a kernel does, at least: elements loaded and stored count once for each
/// execution of their statement.
struct Work {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
};
/// Work of all iterations. A buffer's bytes count at most once as read and once as written: what a
/// perfect cache would move.
Work work_of(const Kernel& kernel);

/// Readable text, for `explain` and tests.
std::string to_string(const Kernel& kernel);

/// Throws `Bug` where the kernel is not well-formed: an operand that is not known where it is used,
/// wrong dtypes or operand counts, an axis without a loop, a vector axis that is not the last of
/// its loops, an unknown buffer.
void verify(const Kernel& kernel);

}  // namespace hom::nest
