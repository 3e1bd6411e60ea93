// core/primitives/spectra.cc -- eigh, svd
//
// Vectors have no derivative where their values are equal (within rounding errors): they may turn
// among themselves, and the turn, which would be divided by the gap, is taken to be 0. So all is
// finite, and first derivatives are right of functions of the values alone that treat equal ones
// alike, and of what a group of vectors spans. Those of functions of both, like v·diag(f(w))·vᵀ,
// and second derivatives miss the part within a group.
#include <algorithm>

#include <hom/core/primitives/matrices.h>

namespace hom {
namespace {

using namespace matrices;

std::vector<Tensor> derivative_of_eigh(const Linearizing& at) {
  const Tensor& w = at.y[0];
  const Tensor& v = at.y[1];
  const std::int64_t n = columns_of(v.shape());
  if (v.size() == 0) return {Tensor(), Tensor()};
  const Tensor right = matmul(symmetrised(at.dx[0]), v);
  const Tensor seen = matmul(transposed(v), right);
  const Tensor least = expand_dims(roundings_of(w, n), -1);
  const Tensor of_columns = expand_dims(w, -2);
  const Tensor gap = of_columns - expand_dims(w, -1);
  return {diagonal(seen), matmul(v, scale(reciprocal_above(least, gap), seen))};
}

/// With p = uᵀ·da·v, the turns uᵀ·du and vᵀ·dv are the sum and the difference of
/// (p + pᵀ)/2(sⱼ − sᵢ) and (p − pᵀ)/2(sⱼ + sᵢ), of which only the first is undefined for equal
/// values: u·vᵀ has its derivative all the same. The turn out of the space of u or v, or among
/// vectors whose value is 0, is taken to be 0 where it would be divided by that value.
std::vector<Tensor> derivative_of_svd(const Linearizing& at) {
  const Tensor& u = at.y[0];
  const Tensor& s = at.y[1];
  const Tensor v = transposed(at.y[2]);
  const Shape shape = at.x[0].shape();
  const std::int64_t m = rows_of(shape);
  const std::int64_t n = columns_of(shape);
  const std::int64_t k = std::min(m, n);
  if (at.x[0].size() == 0) return {Tensor(), Tensor(), Tensor()};
  const Tensor da_v = matmul(at.dx[0], v);
  const Tensor p = matmul(transposed(u), da_v);
  const Tensor half = 0.5 * p;
  const Tensor back = transposed(half);
  const Tensor least = roundings_of(s, std::max(m, n));
  const Tensor of_columns = expand_dims(s, -2);
  const Tensor of_rows = expand_dims(s, -1);
  const auto divided = [&](const Tensor& x, const Tensor& by) {
    return scale(reciprocal_above(expand_dims(least, -1), by), x);
  };
  const Tensor even = half + back;
  const Tensor symmetric = divided(even, of_columns - of_rows);
  const Tensor odd = half - back;
  const Tensor skew = divided(odd, of_columns + of_rows);
  Tensor du = matmul(u, symmetric + skew);
  Tensor dv = matmul(v, symmetric - skew);
  const Tensor inverse = reciprocal_above(least, s);
  const auto across = [&](const Tensor& basis, const Tensor& moved) {
    const Tensor inside = matmul(basis, matmul(transposed(basis), moved));
    const Tensor outside = moved - inside;
    return scale(expand_dims(inverse, -2), outside);
  };
  if (m > k) du = du + across(u, da_v);
  if (n > k) dv = dv + across(v, matmul(transposed(at.dx[0]), u));
  return {du, diagonal(p), transposed(dv)};
}

}  // namespace

void add_spectrum_primitives(PrimitiveTable& table) {
  table.add({.name = "eigh",
             .dtypes = matrices::dtypes,
             .type =
                 [](const Typing& typing) {
                   require_dtypes(typing);
                   require_square(typing);
                   const TensorType& a = typing.operands[0];
                   return std::vector{vectors_of(a, rows_of(a.shape)), a};
                 },
             .derivative = derivative_of_eigh,
             .batch = batch_elementwise,
             .cost_factor = 44,
             .shapes = "[…, n, n] → [… n], [… n, n]",
             .formula = "diagonal p, v·(pᵢⱼ/(wⱼ − wᵢ)); p = vᵀ·(da + daᵀ)/2·v"});
  table.add({.name = "svd",
             .dtypes = matrices::dtypes,
             .type =
                 [](const Typing& typing) {
                   require_dtypes(typing);
                   require_matrices(typing);
                   const TensorType& a = typing.operands[0];
                   const std::int64_t m = rows_of(a.shape);
                   const std::int64_t n = columns_of(a.shape);
                   const std::int64_t k = std::min(m, n);
                   return std::vector{matrices_of(a, m, k), vectors_of(a, k), matrices_of(a, k, n)};
                 },
             .derivative = derivative_of_svd,
             .batch = batch_elementwise,
             .cost_factor = 80,
             .shapes = "[…, m, n] → [… m, k], [… k], [… k, n], k = min(m, n)",
             .formula = "diagonal p and the turns of u and v; p = uᵀ·da·v"});
}

}  // namespace hom
