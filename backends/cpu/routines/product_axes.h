// backends/cpu/routines/product_axes.h -- the axes of a contraction as those of matrix products
#pragma once

#include <cstdint>

#include <hom/backends/nests/plan.h>
#include <hom/core/attribute.h>

namespace hom::cpu {

/// c[β, i, j] = Σₖ a[β, i, k]·b[β, k, j], for each index β of a batch; c row-major. Operands
/// whose axes cannot be walked with one stride each, or have no neighbours side by side, are copied
/// beforehand: one stride of each matrix
/// that products read is 1.
struct ProductAxes {
  /// One operand as a matrix for each index of the batch; strides count elements.
  struct Side {
    std::int64_t row_stride = 1, column_stride = 1;
    /// As `batch`.
    Shape batch_strides;
    /// Whether these are strides in a copy: the elements of `shape`, which lie with `strides` in
    /// the operand, in row-major order.
    bool is_copied = false;
    Shape shape, strides;

    std::int64_t copied_elements() const { return element_count(shape); }
    /// Elements from one matrix of rows × columns to the next, in the order of the batch, where
    /// each keeps to the elements between; else 0.
    std::int64_t batch_slice(const Shape& batch, std::int64_t rows, std::int64_t columns) const;
  };

  std::int64_t m = 1, k = 1, n = 1;
  Shape batch;
  Side a, b;

  std::int64_t batch_size() const { return element_count(batch); }
};

/// The axes of `dot_general` with these attributes. With `copies_all` operands are copied, and
/// terms in the order of the attributes; else copies are made where they must, and the order of the
/// contracted axes is free.
ProductAxes product_axes(const Attributes& attributes, const nest::Layout& a, const nest::Layout& b,
                         bool copies_all);

}  // namespace hom::cpu
