// backends/optimise/axes_of_views.h -- how the axes of views correspond
#pragma once

#include <optional>

#include <hom/core/dtype.h>

namespace hom::optimiser {

inline std::size_t place(std::int64_t axis) { return static_cast<std::size_t>(axis); }

/// Axes with an extent other than 1.
Shape long_axes(const Shape& shape);
/// Whether two shapes differ in axes of extent 1 only.
bool differ_in_ones(const Shape& a, const Shape& b);
/// For `from` and `to` that differ in ones: for each axis of `from` its axis in `to`, −1 for ones.
Shape corresponding_axes(const Shape& from, const Shape& to);
/// Ascending places below `rank` for axes of which some have one already, and the others, marked by
/// −1, may go anywhere; nothing where there is no room.
std::optional<Shape> fitted_axes(const Shape& wanted, std::int64_t rank);
/// Where each axis goes: the permutation backwards.
Shape inverse_of(const Shape& permutation);
bool is_identity(const Shape& permutation);
bool ascends(const Shape& axes);
/// The entries of a list at these places.
Shape at_places(const Shape& list, const Shape& places);

}  // namespace hom::optimiser
