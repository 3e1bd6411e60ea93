// backends/optimise/axes_of_views.cc -- how the axes of views correspond
#include <hom/backends/optimise/axes_of_views.h>

namespace hom::optimiser {

Shape long_axes(const Shape& shape) {
  Shape axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

bool differ_in_ones(const Shape& a, const Shape& b) {
  return at_places(a, long_axes(a)) == at_places(b, long_axes(b));
}

Shape corresponding_axes(const Shape& from, const Shape& to) {
  const Shape targets = long_axes(to);
  Shape axes(from.size(), -1);
  std::size_t next = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) axes[i] = targets[next++];
  }
  return axes;
}

std::optional<Shape> fitted_axes(const Shape& wanted, std::int64_t rank) {
  Shape axes = wanted;
  std::int64_t previous = -1;
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis = previous + 1;
    if (axis <= previous || axis >= rank) return std::nullopt;
    previous = axis;
  }
  return axes;
}

Shape inverse_of(const Shape& permutation) {
  Shape inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[place(permutation[i])] = static_cast<std::int64_t>(i);
  return inverse;
}

bool is_identity(const Shape& permutation) {
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

bool ascends(const Shape& axes) {
  for (std::size_t i = 1; i < axes.size(); ++i) {
    if (axes[i - 1] >= axes[i]) return false;
  }
  return true;
}

Shape at_places(const Shape& list, const Shape& places) {
  Shape entries;
  for (std::int64_t axis : places) entries.push_back(list[place(axis)]);
  return entries;
}

}  // namespace hom::optimiser
