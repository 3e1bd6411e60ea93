// core/operations/subscripts.h -- the subscripts of einsum: read, checked, and put into an order
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hom/core/error.h>
#include <hom/core/object.h>

namespace hom {

/// What axes are called: the code of a letter, or 256 and more for an axis of the ellipsis, by its
/// distance from the last.
using Labels = std::vector<int>;

struct Subscripts {
  /// One label for each axis of each operand.
  std::vector<Labels> operands;
  Labels result;
  /// Of an axis of the ellipsis, the extent to which it broadcasts.
  std::map<int, std::int64_t> extents;
};

/// Throws `Error` where the text is no list of subscripts, or does not fit the operands.
Subscripts subscripts_of(std::string_view text, const std::vector<TensorType>& operands,
                         const Location& at);

bool contains(const Labels& labels, int label);
/// The labels of `a`, then those of `b` that are not in `a`.
Labels united(const Labels& a, const Labels& b);

/// Which two operands meet next: places in the list of operands, from which both are then taken
/// out, and to which the result is appended.
using ContractionOrder = std::vector<std::pair<std::size_t, std::size_t>>;

/// The order with the fewest multiplications for up to eight operands, else by the cheapest pair.
/// Labels of operands are distinct.
ContractionOrder contraction_order(const std::vector<Labels>& operands, const Labels& result,
                                   const std::map<int, std::int64_t>& extents);

}  // namespace hom
