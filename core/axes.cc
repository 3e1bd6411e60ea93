// core/axes.cc -- lists of axes: counted from the end, and checked
#include <hom/core/axes.h>

#include <algorithm>
#include <numeric>

#include <hom/core/object.h>

namespace hom {

std::int64_t normal_axis(const std::string& operation, std::int64_t axis, std::int64_t rank,
                         const Location& at) {
  require(-rank <= axis && axis < rank, at, [&] {
    return Complaint{operation + ": axis " + std::to_string(axis) + " of a tensor of rank " +
                         std::to_string(rank),
                     "axes go from 0 to rank − 1, or from −rank to −1 counted from the end"};
  });
  return axis < 0 ? axis + rank : axis;
}

Shape normal_axes(const std::string& operation, const Shape& axes, std::int64_t rank,
                  const Location& at) {
  Shape normal;
  for (std::int64_t axis : axes) normal.push_back(normal_axis(operation, axis, rank, at));
  std::sort(normal.begin(), normal.end());
  require(std::adjacent_find(normal.begin(), normal.end()) == normal.end(), at, [&] {
    return Complaint{operation + ": axes " + to_string(axes) + " name an axis twice"};
  });
  return normal;
}

Shape iota_shape(std::size_t count, std::int64_t first) {
  Shape list(count);
  std::iota(list.begin(), list.end(), first);
  return list;
}

bool contains(const Shape& list, std::int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Shape axes_without(std::size_t rank, const Shape& axes) {
  Shape kept;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis) {
    if (!contains(axes, axis)) kept.push_back(axis);
  }
  return kept;
}

}  // namespace hom
