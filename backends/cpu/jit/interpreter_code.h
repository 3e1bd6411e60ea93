// backends/cpu/jit/interpreter_code.h -- a kernel as a list of instructions on scratch memory
//
// Scratch memory holds, from its start: constants, scalars and the counters of loops, reductions in
// progress, tiles, local buffers, and pointers to all buffers.
#pragma once

#include <vector>

#include <hom/backends/cpu/jit/code.h>
#include <hom/backends/cpu/jit/interpreter_memory.h>
#include <hom/backends/cpu/jit/interpreter_reductions.h>
#include <hom/backends/cpu/scalar_rows.h>

namespace hom::cpu {

/// Where a value lies: bytes from the start of the scratch memory. The stride counts elements: 0
/// for a scalar, 1 for a tile.
struct Place {
  std::uint32_t offset = 0;
  std::uint32_t stride = 0;
};

struct Instruction {
  enum class Kind : std::uint8_t {
    /// to = f(a …)
    unary,
    binary,
    ternary,
    polygamma,
    log_gamma_slope,
    /// to = a + b, a·number, ⌊a/number⌋, a mod number, of i64.
    index_add,
    index_scale,
    index_quotient,
    index_remainder,
    /// to = low / number
    block,
    /// to[lane] = a + lane·number
    positions,
    /// to[lane] = buffer[a + lane·number]
    load,
    /// to[lane] = buffer[a[lane] + lane·number] where b, which may be missing.
    gather,
    /// buffer[a + lane·number] = b[lane]
    store,
    /// buffer[a[lane] + lane·number] combined with b[lane] where c, which may be missing.
    scatter,
    /// Where a does not hold, failure `number` with b.
    check,
    /// Begins reduction `target` of the code, adds the terms a, and writes its results to `to`.
    begin_reduction,
    add_terms,
    finish_reduction,
    /// A loop, whose counter is at `to`: `number` iterations, or the part [low, high). It goes on
    /// after instruction `target`, its end, which goes back to the one after `target`, its begin.
    begin_loop,
    end_loop,
    begin_tiles,
    end_tiles,
  };

  Kind kind;
  /// Whether it works on all lanes of the tile, else on one.
  bool is_tile = false;
  /// Of `gather` and `scatter`: whether there is a condition.
  bool is_masked = false;
  /// Of loops: whether it counts down; whether it is the one that launches may split.
  bool is_reverse = false;
  bool is_split = false;
  /// Of loads and stores: bytes of an element.
  std::uint8_t element_bytes = 0;
  std::uint32_t buffer = 0;
  std::uint32_t target = 0;
  Place to = {};
  Place a = {};
  Place b = {};
  Place c = {};
  std::int64_t number = 0;
  union {
    Row<2> unary = nullptr;
    Row<3> binary;
    Row<4> ternary;
    ParametricRow<2> parametric;
    ParametricRow<3> parametric_binary;
    Gather gather;
    Scatter scatter;
  } call = {};
};

/// The counter of a loop, in scratch memory.
struct Counter {
  std::int64_t position;
  std::int64_t end;
};

/// A reduction and where it is in progress.
struct RunningReduction {
  ReductionFunctions functions;
  std::uint32_t offset;
};

struct InterpretedKernel {
  std::vector<Instruction> instructions;
  std::vector<RunningReduction> reductions;
  /// The bytes that scratch memory starts with.
  std::vector<std::byte> constants;
  /// Where local buffers start, in order.
  std::vector<std::uint32_t> locals;
  std::uint32_t argument_count = 0;
  /// Where the pointers to buffers are.
  std::uint32_t pointers = 0;
  std::uint32_t scratch_bytes = 0;
  /// Lanes of a tile.
  std::int64_t tile = 1;
};

/// `first_failure` is the number of the kernel's first failure among those of all kernels.
InterpretedKernel prepare(const nest::Kernel& kernel, std::int64_t first_failure);

/// Runs a kernel; `scratch` has `scratch_bytes`, and is aligned to 64 bytes.
void run(const InterpretedKernel& kernel, std::byte* scratch, std::byte* const* arguments,
         std::int64_t low, std::int64_t high, FailureRecord& record);

}  // namespace hom::cpu
