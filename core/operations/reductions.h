// core/operations/reductions.h -- sums, extremes and their running versions, and contractions
//
// `Axes{}` without a list means every axis. Negative axes count from the end. Reduced axes are
// dropped unless `keep` is asked for: [a, b, c] over axis 1 is [a, c], or [a, 1, c]. An axis
// outside the rank, or named twice, is an `Error`. Results have x's dtype, unless said otherwise;
// integers wrap.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>

#include <hom/core/tensor.h>

namespace hom {

/// Axes to reduce: all of them by default, one, or a list.
struct Axes {
  std::optional<Shape> list;

  Axes() = default;
  Axes(std::int64_t axis) : list(Shape{axis}) {}  // NOLINT(google-explicit-constructor)
  Axes(int axis) : list(Shape{axis}) {}           // NOLINT(google-explicit-constructor)
  Axes(std::initializer_list<std::int64_t> axes) : list(Shape(axes)) {}
  Axes(const Shape& axes) : list(axes) {}  // NOLINT(google-explicit-constructor)
};
/// Whether reduced axes stay, with extent 1.
enum class Keep : bool { no, yes };

/// The sum; of numbers: bool is an `Error` (astype first). Sums are blocked: 10⁶ equal f32 terms
/// are exact to 1e-6; 16-bit floats accumulate in 32 bits. Of no elements: 0.
Tensor sum(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no);
/// The product; of numbers. Of no elements: 1. The gradient is right where elements are 0.
Tensor prod(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no);
/// The largest element; of numbers; NaN wins; the gradient is shared equally among ties. No
/// elements: an error that names the axis.
Tensor max(const Operand& x, const Axes& axes, Keep keep = Keep::no);
Tensor min(const Operand& x, const Axes& axes, Keep keep = Keep::no);
Tensor max(const Operand& x);
Tensor min(const Operand& x);
// Two tensors: a hint, because max and min reduce one.
template <std::same_as<Tensor> X, std::same_as<Tensor> Y>
Tensor max(const X& x, const Y&) {
  static_assert(!std::same_as<X, Tensor>,
                "hom: max(x, axis) is the largest element of one tensor along an axis; maximum(x, "
                "y) is the larger of two, element by element");
  return x;
}
template <std::same_as<Tensor> X, std::same_as<Tensor> Y>
Tensor min(const X& x, const Y&) {
  static_assert(!std::same_as<X, Tensor>,
                "hom: min(x, axis) is the smallest element of one tensor along an axis; minimum(x, "
                "y) is the smaller of two, element by element");
  return x;
}
/// The largest element or `initial`, which is also the value of no elements. `initial` adopts x's
/// dtype: a C++ number has to fit it, a tensor of a wider dtype is an `Error`.
Tensor max_or(const Operand& x, const Operand& initial, const Axes& axes = {},
              Keep keep = Keep::no);
Tensor min_or(const Operand& x, const Operand& initial, const Axes& axes = {},
              Keep keep = Keep::no);
/// bool: whether every (some) element is true; takes bool only. Of no elements: true (false).
Tensor all_of(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no);
Tensor any_of(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no);
/// Arithmetic mean; takes floats, as do variance, standard_deviation and norm. Of no elements: NaN.
Tensor mean(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no);
/// Mean squared deviation from the mean, divided by n − `ddof`.
Tensor variance(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no,
                std::int64_t ddof = 0);
/// √variance; the gradient is 0 where the variance is 0.
Tensor standard_deviation(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no,
                          std::int64_t ddof = 0);
/// Euclidean (Frobenius) norm √Σx²; the gradient is 0 at 0; of no elements 0.
Tensor norm(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no);
/// i64 position of the first largest (smallest) element along an axis, of any dtype; the first NaN
/// wins. No elements: an error.
Tensor argmax(const Operand& x, std::int64_t axis, Keep keep = Keep::no);
Tensor argmin(const Operand& x, std::int64_t axis, Keep keep = Keep::no);

/// Running sums, products and extremes along an axis, from its start or (reverse) from its end;
/// inclusive: [shape] → [shape], of numbers. Throws for an axis outside the rank.
Tensor cumsum(const Operand& x, std::int64_t axis = 0, bool reverse = false);
Tensor cumprod(const Operand& x, std::int64_t axis = 0, bool reverse = false);
Tensor cummax(const Operand& x, std::int64_t axis = 0, bool reverse = false);
Tensor cummin(const Operand& x, std::int64_t axis = 0, bool reverse = false);

/// How dot_general pairs axes.
struct Contraction {
  Shape lhs_contract;
  Shape rhs_contract;
  Shape lhs_batch;
  Shape rhs_batch;
};
/// Sum of products over paired axes; the result's axes are batch, then lhs free, then rhs free. The
/// error of an element is at most K·ε·Σ|xᵢyᵢ| for K terms. 16-bit floats accumulate in 32 bits.
/// Takes numbers; dtypes promote. Throws where paired extents differ, or an axis is paired twice.
Tensor dot_general(const Operand& x, const Operand& y, const Contraction& contraction);
/// [m, k] · [k, n] → [m, n]; vectors on either side, and leading batch axes, which broadcast.
/// Dtypes promote. Throws for rank 0, and where k differs.
Tensor matmul(const Operand& x, const Operand& y);
/// Inner product of two vectors: [n] · [n] → []. Throws for other shapes.
Tensor dot(const Operand& x, const Operand& y);
/// [m] ⊗ [n] → [m, n]. Throws for other ranks.
Tensor outer(const Operand& x, const Operand& y);

}  // namespace hom
