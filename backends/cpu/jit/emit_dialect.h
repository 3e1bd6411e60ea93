// backends/cpu/jit/emit_dialect.h -- what differs between the languages that kernels are printed in
//
// Loops, reductions and arithmetic are printed once (emit_kernel.h, emit_expression.h); C++ for
// processors and CUDA differ in what is here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::cpu {

class Dialect {
 public:
  virtual ~Dialect() = default;
  /// Bytes of a vector; 0 where a value is always one number.
  virtual int vector_bytes() const = 0;
  /// The head of the function of kernel `number`. Its parameters: the array of pointers
  /// `arguments`, the positions `low` and `high`, the `record` of failures.
  virtual std::string kernel_head(std::size_t number) const = 0;
  /// A call of a function on f32, f64 or (`pow`) integers that is more than a few instructions,
  /// giving `result`, a type; nothing where it is spelled by operators.
  virtual std::optional<std::string> call(nest::Function function, Dtype dtype,
                                          std::int64_t parameter, const std::string& result,
                                          const std::vector<std::string>& operands) const = 0;
  /// The same of a conversion between elements.
  virtual std::optional<std::string> call_conversion(Dtype from, Dtype to,
                                                     const std::string& result,
                                                     const std::string& operand) const = 0;
};

}  // namespace hom::cpu
