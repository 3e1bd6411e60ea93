// core/operations/places.h -- which elements of a tensor the indices of x(i…) mean
#pragma once

#include <span>

#include <hom/core/axes.h>
#include <hom/core/operations/indexing.h>

namespace hom {

/// The elements of a tensor that indices mean, axis by axis, and how they are arranged in x(i…).
struct Places {
  struct Axis {
    enum class Kind { range, position, computed } kind = Kind::range;
    /// Of a range: start + i·step for i < count; step is 1 where count < 2. Of a position: start.
    std::int64_t start = 0;
    std::int64_t count = 1;
    std::int64_t step = 1;
    /// An integer tensor, where computed: that of the index, which outlives this.
    const Tensor* positions = nullptr;

    bool is_whole(std::int64_t extent) const {
      return kind == Kind::range && start == 0 && step == 1 && count == extent;
    }
  };
  /// An axis of x(i…): one of the common shape of the positions, an axis of x, or a new one.
  struct ResultAxis {
    enum class Kind { tuple, range, newaxis } kind;
    /// Of the common shape, or of x.
    std::int64_t axis = 0;
  };

  TensorType type;
  /// One for each axis of x.
  SmallVector<Axis, 4> axes;
  SmallVector<ResultAxis, 4> result;
  /// Whether there are tensors of positions; written positions count among them then.
  bool is_computed = false;
  /// The shape to which the tensors of positions broadcast.
  Shape tuples;
  /// A mask of truth values over leading axes, instead of all that; or null.
  const Tensor* mask = nullptr;

  /// The shape of x(i…).
  Shape shape() const;
};

/// Throws for more indices than axes, written positions outside, a step of 0, more than one
/// ellipsis, positions that are no integers or do not broadcast, and a mask of another shape.
/// Refers to the indices.
Places places_of(const TensorType& type, std::span<const Index> indices, const Location& at);

}  // namespace hom
