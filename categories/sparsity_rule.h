// categories/sparsity_rule.h -- what the rules of the category of sparsity patterns share
#pragma once

#include <hom/categories/sparsity.h>

namespace hom::categories {

/// Functions of one element at a time.
void add_elementwise_sparsity(SparsityRules& rules);
/// Views, rearrangements, reads and writes.
void add_movement_sparsity(SparsityRules& rules);
/// Reductions, running reductions and contractions.
void add_reduction_sparsity(SparsityRules& rules);
/// Sliding windows and convolutions.
void add_window_sparsity(SparsityRules& rules);
/// Functions of matrices.
void add_matrix_sparsity(SparsityRules& rules);

/// One set for each element of a shape, to be filled.
class SetTensor {
 public:
  explicit SetTensor(const Shape& shape);
  IndexSets::Id& operator[](std::int64_t i) { return ids_[i]; }
  std::int64_t size() const { return array_->type.size(); }
  /// The tensor; this must not be used any more.
  Tensor tensor() { return Tensor(std::move(array_)); }

 private:
  std::shared_ptr<Array> array_;
  IndexSets::Id* ids_;
};

/// The empty set everywhere.
Tensor empty_sets(const Shape& shape);
/// The sets of an operand, empty ones where it has none.
Tensor sets_of(const Dependences& x);
/// The ids in row-major order; valid as long as the tensor, which has to be row-major.
std::span<const IndexSets::Id> ids(const Tensor& row_major_sets);

/// The step on other operands at once, though a program may be being captured.
Tensor executed(const Operation& step, TensorList operands, Dtype result);
/// The union over axes, which are dropped.
Tensor united_over(IndexSets& sets, const Tensor& of, const Shape& axes);
/// The unions of two tensors of one shape, either of which may be empty.
Tensor united(IndexSets& sets, const Tensor& a, const Tensor& b);

}  // namespace hom::categories
