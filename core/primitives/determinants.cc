// core/primitives/determinants.cc -- determinant, cofactor, pinv: functions of a matrix whose
// derivatives are right where those of its factors do not exist
#include <hom/core/primitives/matrices.h>

namespace hom {
namespace {

using namespace matrices;

/// Σ cofactor·da (C. Jacobi, 1841).
std::vector<Tensor> derivative_of_determinant(const Linearizing& at) {
  if (at.x[0].size() == 0) return {Tensor()};
  return {sum(scale(cofactor(at.x[0]), at.dx[0]), {-2, -1})};
}

/// Element (i, j) is the product of all sₖ but sᵢ and sⱼ, by those before and after j.
Tensor products_of_others(const Tensor& s, const Tensor& is_diagonal) {
  const Tensor factors = where(is_diagonal, 1, expand_dims(s, -2));
  const Tensor one = ones_like(factors(ellipsis, Range{0, 1}));
  const Tensor up_to = cumprod(factors, -1);
  const Tensor before = concat({one, up_to(ellipsis, Range{0, -1})}, -1);
  const Tensor from = cumprod(factors, -1, true);
  const Tensor after = concat({from(ellipsis, Range{1}), one}, -1);
  return before * after;
}

/// For a = u·diag s·vᵀ and b = uᵀ·da·v, cofactors are det u·det v·u·diag(Πₖ≠ᵢ sₖ)·vᵀ, and their
/// derivative is that of a diagonal matrix: without a division, so that it holds whatever the rank
/// and however many values are equal.
std::vector<Tensor> derivative_of_cofactor(const Linearizing& at) {
  const std::int64_t n = columns_of(at.x[0].shape());
  if (n < 2 || at.x[0].size() == 0) return {Tensor()};
  const Svd factors = svd(at.x[0]);
  const Tensor u = factors.u;
  const Tensor ut = transposed(u);
  const Tensor v = transposed(factors.vt);
  const Tensor sign_of_u = sign(determinant(u));
  const Tensor handed = sign_of_u * sign(determinant(v));
  const Tensor b = matmul(matmul(ut, at.dx[0]), v);
  const Tensor is_diagonal = diagonals_of(n).on;
  const Tensor pairs = where(is_diagonal, 0, products_of_others(factors.s, is_diagonal));
  const Tensor on_diagonal = matmul(pairs, expand_dims(diagonal(b), -1));
  const Tensor off_diagonal = -scale(pairs, transposed(b));
  const Tensor inside = where(is_diagonal, on_diagonal, off_diagonal);
  const Tensor whole = matmul(matmul(u, inside), factors.vt);
  return {expand_dims(expand_dims(handed, -1), -1) * whole};
}

/// −p·da·p + p·pᵀ·daᵀ·(1 − a·p) + (1 − p·a)·daᵀ·pᵀ·p, for a rank that does not change (G. Golub
/// and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems
/// whose variables separate", 1973). Products are associated by which side of a is shorter.
std::vector<Tensor> derivative_of_pinv(const Linearizing& at) {
  const Tensor& a = at.x[0];
  const Tensor& p = at.y[0];
  const bool is_tall = rows_of(a.shape()) >= columns_of(a.shape());
  const Tensor back = transposed(at.dx[0]);
  const Tensor pt = transposed(p);
  const auto product = [&](const Tensor& x, const Tensor& y, const Tensor& z) {
    return is_tall ? matmul(matmul(x, y), z) : matmul(x, matmul(y, z));
  };
  const Tensor straight = product(p, at.dx[0], p);
  const Tensor left = product(p, pt, back - product(back, a, p));
  const Tensor moved = product(back, pt, p);
  const Tensor right = moved - product(p, a, moved);
  return {left + right - straight};
}

std::vector<TensorType> square_type(const Typing& typing) {
  require_dtypes(typing);
  require_square(typing);
  return {typing.operands[0]};
}

}  // namespace

void add_determinant_primitives(PrimitiveTable& table) {
  table.add({.name = "determinant",
             .dtypes = matrices::dtypes,
             .type =
                 [](const Typing& typing) {
                   const TensorType a = square_type(typing)[0];
                   return std::vector{a.dtype[batch_of(a.shape)]};
                 },
             .derivative = derivative_of_determinant,
             .batch = batch_elementwise,
             .cost_factor = 10,
             .shapes = "[…, n, n] → […]",
             .formula = "Σ cofactor(a)·da"});
  table.add({.name = "cofactor",
             .dtypes = matrices::dtypes,
             .type = square_type,
             .derivative = derivative_of_cofactor,
             .batch = batch_elementwise,
             .cost_factor = 60,
             .shapes = "[…, n, n] → [… n, n]",
             .formula = "that of the cofactors of diag s, for a = u·diag s·vᵀ"});
  table.add({.name = "pinv",
             .attributes = {{"cutoff", AttributeSpec::Kind::number}},
             .dtypes = matrices::dtypes,
             .type =
                 [](const Typing& typing) {
                   require_dtypes(typing);
                   require_matrices(typing);
                   const TensorType& a = typing.operands[0];
                   return std::vector{matrices_of(a, columns_of(a.shape), rows_of(a.shape))};
                 },
             .derivative = derivative_of_pinv,
             .batch = batch_elementwise,
             .cost_factor = 36,
             .shapes = "[…, m, n] → [… n, m]",
             .formula = "−y·da·y + y·yᵀ·daᵀ·(1 − a·y) + (1 − y·a)·daᵀ·yᵀ·y"});
}

}  // namespace hom
