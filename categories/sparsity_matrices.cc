// categories/sparsity_matrices.cc -- rules for functions of matrices, each of a batch for itself
#include <hom/categories/sparsity_rule.h>
#include <hom/core/axes.h>
#include <hom/core/operations/shaping.h>

namespace hom::categories {
namespace {

/// For each matrix of a batch the union over its last `count` axes, in the shape of a result whose
/// first axes are those of the batch.
Tensor of_whole(IndexSets& sets, const Dependences& x, std::size_t count, const Shape& result) {
  const std::size_t rank = x.type.shape.size();
  const std::size_t batch = rank - count;
  const Tensor all = united_over(sets, x.sets, iota_shape(count, static_cast<std::int64_t>(batch)));
  return broadcast_in_dim(all, result, iota_shape(batch));
}

/// Every element of every result on all of its matrix.
std::vector<Tensor> whole_matrix(IndexSets& sets, const Operation& step,
                                 std::span<const Dependences> x) {
  std::vector<Tensor> results;
  for (const TensorType& type : step.results)
    results.push_back(of_whole(sets, x[0], 2, type.shape));
  return results;
}

/// Each column of a solution on its column of the right side, the last operand, and on the matrix.
/// (Pivots are integers, which depend on nothing.)
Tensor solution(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  const Shape& shape = step.results[0].shape;
  Tensor all;
  if (const Dependences& right = x.back(); !right.sets.is_empty()) {
    const std::int64_t rows = signed_size(shape) - 2;
    const Tensor columns = united_over(sets, right.sets, {rows});
    all = broadcast_in_dim(columns, shape, axes_without(shape.size(), {rows}));
  }
  for (const Dependences& matrix : x.first(x.size() - 1)) {
    if (!matrix.sets.is_empty()) all = united(sets, all, of_whole(sets, matrix, 2, shape));
  }
  return all;
}

}  // namespace

void add_matrix_sparsity(SparsityRules& rules) {
  for (const char* name :
       {"cholesky", "cofactor", "determinant", "eigh", "lu", "pinv", "qr", "svd"})
    rules[name] = whole_matrix;
  rules["triangular_solve"] = solution;
  rules["lu_solve"] = solution;
}

}  // namespace hom::categories
