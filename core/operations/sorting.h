// core/operations/sorting.h -- elements by size: sort, top_k, quantiles, search
//
// Of every dtype, along one axis, which counts from the end where negative and is the last unless
// named; an axis outside the rank is an `Error`. Sorts are stable: equal elements, −0 and +0 among
// them, keep their order. NaN counts as larger than every number: it is last in ascending order and
// first in descending order, so that the first of `top_k` is what `max` and `argmax` find.
// Gradients follow the elements to their new places.
#pragma once

#include <cstdint>
#include <utility>

#include <boost/hana/define_struct.hpp>

#include <hom/core/operations/reductions.h>
#include <hom/core/tensor.h>

namespace hom {

enum class Order : bool { ascending, descending };

/// The elements in order: [shape] → [shape].
Tensor sort(const Operand& x, std::int64_t axis = -1, Order order = Order::ascending);
/// Where they come from, as i64: take_along_axis(x, argsort(x, a), a) is sort(x, a).
Tensor argsort(const Operand& x, std::int64_t axis = -1, Order order = Order::ascending);
/// (keys in order, values moved along with them). Throws where shapes differ.
std::pair<Tensor, Tensor> sort_by_key(const Operand& keys, const Operand& values,
                                      std::int64_t axis = -1, Order order = Order::ascending);

/// Elements and their i64 positions along the axis.
struct TopK {
  BOOST_HANA_DEFINE_STRUCT(TopK, (Tensor, values), (Tensor, indices));
};
/// The k largest elements along an axis, in descending order; of equal ones the first. [..., n,
/// ...] → [..., k, ...] twice. Throws unless 0 ≤ k ≤ n.
TopK top_k(const Operand& x, std::int64_t k, std::int64_t axis = -1);

/// x rearranged so that position `kth` holds what it holds in `sort`, with no larger elements
/// before and no smaller ones behind it; what the order of these is may change. `argpartition` says
/// where elements come from. A negative `kth` counts from the end; one outside is an `Error`.
Tensor partition(const Operand& x, std::int64_t kth, std::int64_t axis = -1);
Tensor argpartition(const Operand& x, std::int64_t kth, std::int64_t axis = -1);

/// The element at the fraction q of the sorted ones, between two of them by linear interpolation;
/// NaN where one of them is. Takes floats, over axes as reductions do. Throws for q outside 0 … 1,
/// and for no elements.
Tensor quantile(const Operand& x, double q, const Axes& axes = {}, Keep keep = Keep::no);
/// The middle one, or the mean of the two in the middle.
Tensor median(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no);

enum class Side : bool { left, right };
/// How many elements of `sorted`, an ascending vector, are less than each value (Side::right: or
/// equal to it), as i64: where to insert it. In ⌈log₂ n⌉ steps; dtypes promote. Throws where
/// `sorted` is no vector.
Tensor searchsorted(const Operand& sorted, const Operand& values, Side side = Side::left);

}  // namespace hom
