// core/operations/places.cc -- NumPy's rules of indexing
#include <hom/core/operations/places.h>

#include <algorithm>

#include <hom/core/operations/broadcasting.h>

namespace hom {
namespace {

using Axis = Places::Axis;
using ResultAxis = Places::ResultAxis;

Axis range_of(const Range& range, std::int64_t extent, const Location& at) {
  require(range.step != 0, at, [] { return Complaint{"index: a range with step 0"}; });
  const std::int64_t lowest = range.step > 0 ? 0 : -1;
  const std::int64_t highest = range.step > 0 ? extent : extent - 1;
  const auto bound = [&](std::int64_t given, std::int64_t otherwise) {
    if (given == Range::end) return otherwise;
    return std::clamp(given < 0 ? given + extent : given, lowest, highest);
  };
  const std::int64_t first = bound(range.start, range.step > 0 ? lowest : highest);
  const std::int64_t last = bound(range.stop, range.step > 0 ? highest : lowest);
  const std::int64_t distance = range.step > 0 ? last - first : first - last;
  // Unsigned, because the lowest step has no opposite.
  const auto step_bits = static_cast<std::uint64_t>(range.step);
  const std::uint64_t stride = range.step > 0 ? step_bits : 0 - step_bits;
  const std::int64_t count =
      distance > 0
          ? 1 + static_cast<std::int64_t>(static_cast<std::uint64_t>(distance - 1) / stride)
          : 0;
  return {Axis::Kind::range, count ? first : 0, count, count > 1 ? range.step : 1};
}

Axis position_of(std::int64_t position, const TensorType& type, std::size_t axis,
                 const Location& at) {
  const std::int64_t extent = type.shape[axis];
  require(-extent <= position && position < extent, at, [&] {
    return Complaint{"index: " + std::to_string(position) + " is outside axis " +
                     std::to_string(axis) + " of " + to_string(type)};
  });
  return {Axis::Kind::position, position < 0 ? position + extent : position};
}

bool is_mask(const Index& index) {
  return index.kind() == Index::Kind::computed && index.positions().dtype(index.at()).is_bool();
}

/// The places of a mask, which is the only index.
Places masked(const TensorType& type, std::span<const Index> indices, const Location& at) {
  require(indices.size() == 1, at, [] {
    return Complaint{"index: a mask of truth values together with other indices",
                     "where(condition, a, b) chooses among elements"};
  });
  Places places;
  places.type = type;
  places.mask = &indices[0].positions();
  const TensorType mask = places.mask->type(at);
  require(mask.rank() <= type.rank() &&
              std::equal(mask.shape.begin(), mask.shape.end(), type.shape.begin()),
          at, [&] {
            return Complaint{"index: a mask " + to_string(mask) + " for " + to_string(type) +
                                 ": it needs the shape of x, or of its leading axes",
                             "broadcast_to(mask, shape) repeats a mask"};
          });
  return places;
}

/// Where the common axes of the positions stand in the result: in place of adjacent indices, which
/// have `before` axes before them, else in front.
std::size_t place_of_tuples(const SmallVector<std::size_t, 4>& index_numbers, std::size_t before) {
  for (std::size_t i = 1; i < index_numbers.size(); ++i) {
    if (index_numbers[i] != index_numbers[i - 1] + 1) return 0;
  }
  return before;
}

}  // namespace

Places places_of(const TensorType& type, std::span<const Index> indices, const Location& at) {
  Places places;
  places.type = type;
  std::int64_t consumed = 0;
  bool elided = false;
  SmallVector<TensorType, 4> position_types;
  for (const Index& each : indices) {
    if (is_mask(each)) return masked(type, indices, at);
    if (each.kind() == Index::Kind::computed) {
      position_types.push_back(each.positions().type(at));
      require(position_types.back().dtype.is_integer(), at, [&] {
        return Complaint{
            "index: positions " + to_string(position_types.back()) + " are not integers",
            "convert with astype(i64)"};
      });
    }
    consumed += each.kind() != Index::Kind::newaxis && each.kind() != Index::Kind::ellipsis;
    require(!elided || each.kind() != Index::Kind::ellipsis, at,
            [] { return Complaint{"index: more than one ellipsis"}; });
    elided = elided || each.kind() == Index::Kind::ellipsis;
  }
  require(consumed <= type.rank(), at, [&] {
    return Complaint{"index: " + std::to_string(consumed) + " indices for " + to_string(type) +
                     ", which has rank " + std::to_string(type.rank())};
  });
  places.is_computed = !position_types.empty();
  if (places.is_computed)
    places.tuples = broadcast_shapes("index", {position_types.data(), position_types.size()}, at);

  const auto take_range = [&](const Axis& range) {
    places.result.push_back(
        {ResultAxis::Kind::range, static_cast<std::int64_t>(places.axes.size())});
    places.axes.push_back(range);
  };
  const auto take_whole_axes = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      take_range({Axis::Kind::range, 0, type.shape[places.axes.size()]});
  };
  SmallVector<std::size_t, 4> tuple_indices;
  std::size_t before_tuples = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Index& each = indices[i];
    const std::size_t axis = places.axes.size();
    switch (each.kind()) {
      case Index::Kind::newaxis:
        places.result.push_back({ResultAxis::Kind::newaxis});
        break;
      case Index::Kind::ellipsis:
        take_whole_axes(type.rank() - consumed);
        break;
      case Index::Kind::range:
        take_range(range_of(each.range(), type.shape[axis], at));
        break;
      case Index::Kind::at:
      case Index::Kind::computed:
        if (tuple_indices.empty()) before_tuples = places.result.size();
        tuple_indices.push_back(i);
        places.axes.push_back(each.kind() == Index::Kind::at
                                  ? position_of(each.range().start, type, axis, at)
                                  : Axis{Axis::Kind::computed, 0, 1, 1, &each.positions()});
        break;
      case Index::Kind::absent:
        ensure(false, "absent indices are no indices");
    }
  }
  take_whole_axes(type.rank() - static_cast<std::int64_t>(places.axes.size()));
  if (places.tuples.empty()) return places;
  SmallVector<ResultAxis, 4> tuple_axes;
  for (std::size_t i = 0; i < places.tuples.size(); ++i)
    tuple_axes.push_back({ResultAxis::Kind::tuple, static_cast<std::int64_t>(i)});
  const auto place = static_cast<std::ptrdiff_t>(place_of_tuples(tuple_indices, before_tuples));
  places.result.insert(places.result.begin() + place, tuple_axes.begin(), tuple_axes.end());
  return places;
}

Shape Places::shape() const {
  Shape shape;
  for (const ResultAxis& each : result) {
    const auto axis = static_cast<std::size_t>(each.axis);
    shape.push_back(each.kind == ResultAxis::Kind::tuple   ? tuples[axis]
                    : each.kind == ResultAxis::Kind::range ? axes[axis].count
                                                           : 1);
  }
  return shape;
}

}  // namespace hom
