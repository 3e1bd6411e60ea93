// backends/cpu/jit/emit_kernel.h -- a kernel as one function: its loops, stores and checks
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hom/backends/cpu/jit/emit_expression.h>
#include <hom/backends/cpu/jit/emit_reduction.h>
#include <hom/backends/cpu/jit/emit_writer.h>

namespace hom::cpu {

/// Prints one kernel.
class KernelPrinter {
 public:
  /// The record counts failures of all kernels: those of this one begin at `first_failure`.
  KernelPrinter(const nest::Kernel& kernel, const Dialect& dialect, std::int64_t first_failure);

  /// The function for kernel `number` of its plan.
  std::string print(std::size_t number);

 private:
  // emit_kernel.cc
  void arguments();
  void block(const nest::Block& block);
  void place(const nest::Define& define);
  void place(const nest::Store& store);
  void place(const nest::Check& check);
  void place(const nest::Shortcut& shortcut);
  void store_vector(const nest::Store& store);
  std::string combined_with(const nest::Store& store, const std::string& there,
                            const std::string& value, Dtype dtype) const;

  // emit_loop.cc
  void place(const nest::Loop& loop);
  void plain_loop(const nest::Loop& loop);
  void unrolled_loop(const nest::Loop& loop);
  void tiled_loop(const nest::Loop& loop, int lanes);
  void chunk_loop(const nest::Loop& loop);
  void chunks(const nest::Loop& loop, ReductionPrinter& reductions, const std::string& from,
              const std::string& to);
  void neighbours(const nest::Loop& loop, ReductionPrinter& reductions, const std::string& from,
                  std::int64_t count);
  void vector_loop(const nest::Loop& loop, int lanes);
  std::int64_t shorter_vectors(const nest::Loop& loop, int lanes, std::int64_t at);
  void declare_states(const nest::Loop& loop);
  void advance_states(const nest::Loop& loop);
  /// As a state is held: a number, or a vector.
  std::string as_state(nest::Value state, nest::Value value) const;
  void open_positions(nest::Axis axis, const std::string& from, const std::string& to,
                      std::int64_t step);
  void open_axis(const nest::Loop& loop, std::size_t which);

  const nest::Kernel& kernel_;
  ExpressionPrinter values_;
  const Dialect& dialect_;
  Writer out_;
  std::int64_t first_failure_;
};

}  // namespace hom::cpu
