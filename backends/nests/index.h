// backends/nests/index.h -- where a slot's elements are in the loops of a group: symbolic indices,
// pushed through views
#pragma once

#include <functional>
#include <optional>

#include <hom/backends/nests/values.h>
#include <hom/core/program.h>

namespace hom::nest {

/// The index along one axis of a slot.
struct Entry {
  enum class Kind : std::uint8_t {
    /// Axes of the group, as one number in row-major order.
    axes,
    /// A short axis: each position is a value of its own.
    unrolled,
    /// 0, along an axis of extent 1.
    unit,
    /// One position of an unrolled axis.
    constant,
    /// Not yet known: an axis along which a value is repeated.
    free,
  };
  Kind kind = Kind::unit;
  SmallVector<Axis, 2> axes = {};
  std::int64_t position = 0;

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// One entry for each axis of a slot.
using Index = SmallVector<Entry, 4>;

/// Which axes of a shape are unrolled: short ones, innermost first, beside enough other elements or
/// none.
SmallVector<bool, 4> unrolled_axes(const Shape& shape);

/// The axes that an index mentions.
AxisSet axes_of(const Index& index);

/// Extents of a group's axes, and a way to split one: `split(axis, inner)` makes `axis` the outer
/// part and returns the inner.
struct AxisTable {
  const std::vector<std::int64_t>& extents;
  /// Null where axes cannot be split.
  std::function<std::optional<Axis>(Axis axis, std::int64_t inner)> split = {};
};

/// The index at which a view reads its operand, for the result's index, or nothing where that is
/// not an index of this kind (a slice along a loop). Of `concat` and `pad` along unrolled axes see
/// `part_read`.
std::optional<Index> index_read(const Step& view, const TensorType& operand,
                                const TensorType& result, const Index& at, const AxisTable& table);

/// What a `concat` or `pad` along unrolled axes reads at an index: one of its operands, there.
/// Nothing: the index is not a constant where it would have to be.
struct PartRead {
  std::size_t operand;
  Index at;
};
std::optional<PartRead> part_read(const Program& program, const Step& step, const Index& at);

/// The result's index where the operand's is known; entries of repeated axes are free.
std::optional<Index> index_shown(const Step& view, const TensorType& operand,
                                 const TensorType& result, const Index& at, const AxisTable& table);

/// All indices with constants in place of unrolled entries.
std::vector<Index> instances_of(const Index& index, const Shape& shape);

}  // namespace hom::nest
