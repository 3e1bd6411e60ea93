// backends/cpu/routines/float_product.h -- one product of float matrices, by what computes it
// fastest
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <hom/backends/cpu/matrix_product.h>

namespace hom::cpu {

/// Products of matrices of the given extents, prepared once. f32 and f64.
template <class T>
class FloatProduct {
 public:
  virtual ~FloatProduct() = default;
  /// c = a·b, c row-major without gaps, of as many rows as were given or fewer. Of each operand one
  /// stride is 1.
  virtual void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c,
                        std::byte* scratch) const = 0;
  virtual std::int64_t scratch_bytes() const = 0;
  /// `Eigen`
  virtual std::string name() const = 0;
};

/// What is fastest for m·k × k·n.
template <class T>
std::unique_ptr<const FloatProduct<T>> float_product(std::int64_t m, std::int64_t k,
                                                     std::int64_t n);

}  // namespace hom::cpu
