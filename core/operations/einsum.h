// core/operations/einsum.h -- sums of products by subscripts, as NumPy's einsum
//
//     einsum("ij,jk->ik", a, b)      the matrix product
//     einsum("bqd,bkd->bqk", q, k)   the scores of attention
//     einsum("ii", a)                the trace
//     einsum("...ij->...ji", a)      matrices transposed, under any leading axes
//
// One letter names each axis of an operand. Axes with one letter go together and have one extent;
// letters that the result does not name are summed over.
// - Without `->` the result has the letters that occur once, in the order of ASCII, after the axes
//   of the ellipsis.
// - A letter twice in one operand takes the diagonal. Twice in the result it is an error, as in
//   NumPy.
// - `...` names the axes that are left over, counted from the last; they broadcast (extents are
//   equal or 1). Letters do not: an extent of 1 that meets another is more often a mistake.
//
// It is a composition: diagonals are views, axes of one operand are summed first, and every pair of
// operands meets in one `dot_general`, or in `mul` where nothing is summed. More than two operands
// are contracted pair by pair in the order with the fewest multiplications (found exactly for up to
// eight operands; beyond, the cheapest pair is next); ties go from left to right. 16-bit floats are
// rounded once.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include <hom/core/tensor.h>

namespace hom {

/// The sum of products that the subscripts name; dtypes promote, integers wrap. bool has no sums,
/// so it is only moved. Throws, naming the subscript and the operands, for subscripts that do not
/// fit the operands.
Tensor einsum(std::string_view subscripts, const Operand& a);
Tensor einsum(std::string_view subscripts, const Operand& a, const Operand& b);
Tensor einsum(std::string_view subscripts, const Operand& a, const Operand& b, const Operand& c);
Tensor einsum(std::string_view subscripts, const Operand& a, const Operand& b, const Operand& c,
              const Operand& d);
/// Any number of operands.
Tensor einsum(std::string_view subscripts, std::initializer_list<Operand> operands);
Tensor einsum(std::string_view subscripts, std::span<const Tensor> operands,
              const Location& at = Location::current());

}  // namespace hom
