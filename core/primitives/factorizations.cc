// core/primitives/factorizations.cc -- cholesky, lu, qr
//
// Derivatives exist where the factors are unique: of a positive definite matrix, of one whose
// leading columns are independent. Elsewhere they are infinite or NaN.
#include <algorithm>

#include <hom/core/operations/indexing.h>
#include <hom/core/primitives/matrices.h>

namespace hom {
namespace {

using namespace matrices;

/// a = l·lᵀ, so l⁻¹·da·l⁻ᵀ = p + pᵀ with p = l⁻¹·dl lower triangular. `da` is symmetrised, as a
/// was (I. Murray, "Differentiation of the Cholesky decomposition", 2016).
std::vector<Tensor> derivative_of_cholesky(const Linearizing& at) {
  const Tensor& l = at.y[0];
  const Tensor half = triangular_solve(l, symmetrised(at.dx[0]));
  const Tensor whole = triangular_solve(l, transposed(half));
  const Shape shape = l.shape();
  const Diagonals places = diagonals_of(rows_of(shape));
  const Tensor below = places.offset < 0;
  const Tensor not_below = where(places.on, 0.5, 0.0);
  const Tensor weight = where(below, 1.0, not_below).astype(l.dtype());
  return {matmul(l, scale(broadcast_to(weight, shape), whole))};
}

/// Rows of x in the order of the permutation.
Tensor permuted(const Tensor& x, const Tensor& permutation) {
  const Shape shape = x.shape();
  const std::int64_t m = rows_of(shape);
  const std::int64_t count = element_count(batch_of(shape));
  const Tensor first = m * iota(i64[{count, m}], 0);
  const Tensor places = ravel(reshape(permutation, {count, m}) + first);
  const Tensor rows = reshape(x, {count * m, columns_of(shape)});
  return reshape(take(rows, places, 0, Bounds::clip), shape);
}

/// Of the leading square, f = l⁻¹·pda·u⁻¹ = l⁻¹·dl + du·u⁻¹, the parts below and above the
/// diagonal; further rows of l are pa·u⁻¹, further columns of u are l⁻¹·pa.
std::vector<Tensor> derivative_of_lu(const Linearizing& at) {
  const Tensor& packed = at.y[0];
  const Shape shape = packed.shape();
  if (packed.size() == 0) return {Tensor(), Tensor()};
  const std::int64_t m = rows_of(shape);
  const std::int64_t n = columns_of(shape);
  const std::int64_t k = std::min(m, n);
  const Range leading{0, k};
  const Range further{k};
  const auto rows = [&](const Tensor& x) { return m > k ? x(ellipsis, leading, all) : x; };
  const auto columns = [&](const Tensor& x) { return n > k ? x(ellipsis, leading) : x; };
  const Tensor square = columns(rows(packed));
  const Tensor lower = tril(square, -1);
  const Tensor upper = triu(square);
  const Tensor moved = permuted(at.dx[0], at.y[1]);
  const Tensor left = triangular_solve(lower, rows(moved), {.unit = true});
  const Tensor f = divided_by_upper(columns(left), upper);
  const Tensor below = tril(f, -1);
  const Tensor above = triu(f);
  const Tensor of_lower = below + matmul(lower, below);
  const Tensor tangent = of_lower + matmul(above, upper);
  if (m > k) {
    const Tensor divided = divided_by_upper(moved(ellipsis, further, all), upper);
    const Tensor rest = divided - matmul(packed(ellipsis, further, all), above);
    return {concat({tangent, rest}, -2), Tensor()};
  }
  if (n > k) {
    const Tensor seen = left(ellipsis, further);
    const Tensor rest = seen - matmul(below, packed(ellipsis, further));
    return {concat({tangent, rest}, -1), Tensor()};
  }
  return {tangent, Tensor()};
}

/// Of the first k = min(m, n) columns, c = qᵀ·da·r⁻¹ = qᵀ·dq + dr·r⁻¹, a skew and an upper
/// triangular matrix; the further columns of r are qᵀ·a.
std::vector<Tensor> derivative_of_qr(const Linearizing& at) {
  const Tensor& q = at.y[0];
  const Tensor& r = at.y[1];
  const std::int64_t k = columns_of(q.shape());
  const bool is_wide = columns_of(r.shape()) > k;
  const auto leading = [&](const Tensor& x) { return is_wide ? x(ellipsis, Range{0, k}) : x; };
  const auto further = [&](const Tensor& x) { return x(ellipsis, Range{k}); };
  const Tensor square = leading(r);
  const Tensor divided = divided_by_upper(leading(at.dx[0]), square);
  const Tensor c = matmul(transposed(q), divided);
  const Tensor below = tril(c, -1);
  const Tensor skew = below - transposed(below);
  const Tensor rest = c - skew;
  const Tensor dq = divided - matmul(q, rest);
  const Tensor dr = matmul(triu(rest), square);
  if (!is_wide) return {dq, dr};
  const Tensor by_q = matmul(transposed(dq), further(at.x[0]));
  const Tensor by_a = matmul(transposed(q), further(at.dx[0]));
  return {dq, concat({dr, by_q + by_a}, -1)};
}

}  // namespace

void add_factorization_primitives(PrimitiveTable& table) {
  table.add({.name = "cholesky",
             .dtypes = matrices::dtypes,
             .type =
                 [](const Typing& typing) {
                   require_dtypes(typing);
                   require_square(typing);
                   return std::vector{typing.operands[0]};
                 },
             .derivative = derivative_of_cholesky,
             .batch = batch_elementwise,
             .cost_factor = 30,
             .shapes = "[…, n, n] → [… n, n]",
             .formula = "y·Φ(y⁻¹·(da + daᵀ)/2·y⁻ᵀ), Φ the lower triangle with half the diagonal"});
  table.add({.name = "lu",
             .dtypes = matrices::dtypes,
             .type =
                 [](const Typing& typing) {
                   require_dtypes(typing);
                   require_matrices(typing);
                   const TensorType& a = typing.operands[0];
                   return std::vector{a, i64[vectors_of(a, rows_of(a.shape)).shape]};
                 },
             .derivative = derivative_of_lu,
             .batch = batch_elementwise,
             .cost_factor = 60,
             .shapes = "[…, m, n] → [… m, n], i64 [… m]",
             .formula = "l·(w below) + (w above)·u, w = l⁻¹·da[permutation]·u⁻¹"});
  table.add(
      {.name = "qr",
       .dtypes = matrices::dtypes,
       .type =
           [](const Typing& typing) {
             require_dtypes(typing);
             require_matrices(typing);
             const TensorType& a = typing.operands[0];
             const std::int64_t m = rows_of(a.shape);
             const std::int64_t n = columns_of(a.shape);
             const std::int64_t k = std::min(m, n);
             return std::vector{matrices_of(a, m, k), matrices_of(a, k, n)};
           },
       .derivative = derivative_of_qr,
       .batch = batch_elementwise,
       .cost_factor = 48,
       .shapes = "[…, m, n] → [… m, k], [… k, n], k = min(m, n)",
       .formula = "da·r⁻¹ − q·w, w·r; w the upper triangle of c + (c below)ᵀ, c = qᵀ·da·r⁻¹"});
}

}  // namespace hom
