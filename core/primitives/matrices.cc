// core/primitives/matrices.cc -- parts of rules of primitives on matrices
#include <hom/core/primitives/matrices.h>

#include <limits>

namespace hom::matrices {

void require_matrices(const Typing& typing, std::size_t operand) {
  const TensorType& x = typing.operands[operand];
  typing.require(x.rank() >= 2, [&] {
    return Complaint{
        typing.primitive.name + ": takes a matrix, or a batch of them, got " + to_string(x),
        "the matrix is the last two axes; expand_dims adds one"};
  });
}

void require_square(const Typing& typing, std::size_t operand) {
  require_matrices(typing, operand);
  const TensorType& x = typing.operands[operand];
  typing.require(rows_of(x.shape) == columns_of(x.shape), [&] {
    return Complaint{typing.primitive.name + ": takes square matrices, got " + to_string(x)};
  });
}

void require_right_side(const Typing& typing, std::size_t right) {
  require_matrices(typing, right);
  const TensorType& a = typing.operands[0];
  const TensorType& b = typing.operands[right];
  const bool fits = batch_of(a.shape) == batch_of(b.shape) && rows_of(a.shape) == rows_of(b.shape);
  typing.require(fits, [&] {
    return Complaint{typing.primitive.name + ": the right side " + to_string(b) +
                     " does not fit the matrix " + to_string(a)};
  });
}

Shape batch_of(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

TensorType matrices_of(const TensorType& type, std::int64_t rows, std::int64_t columns) {
  Shape shape = batch_of(type.shape);
  shape.push_back(rows);
  shape.push_back(columns);
  return type.dtype[shape];
}

TensorType vectors_of(const TensorType& type, std::int64_t size) {
  Shape shape = batch_of(type.shape);
  shape.push_back(size);
  return type.dtype[shape];
}

Tensor divided_by_upper(const Tensor& x, const Tensor& u) {
  const TriangularSolve by_transpose{.lower = false, .transposed = true};
  return transposed(triangular_solve(u, transposed(x), by_transpose));
}

Diagonals diagonals_of(std::int64_t n) {
  const TensorType square = i64[{n, n}];
  const Tensor row = iota(square, 0);
  const Tensor offset = iota(square, 1) - row;
  return {offset, offset == 0};
}

Tensor reciprocal_above(const Tensor& least, const Tensor& x) {
  const Tensor none = abs(x) <= least;
  return where(none, 0, 1 / where(none, 1, x));
}

Tensor roundings_of(const Tensor& values, std::int64_t extent) {
  const double epsilon = values.dtype() == f32 ? std::numeric_limits<float>::epsilon()
                                               : std::numeric_limits<double>::epsilon();
  const Tensor largest = stop_gradient(max(abs(values), -1, Keep::yes));
  return largest * (epsilon * static_cast<double>(extent));
}

Tensor solved_for_lanes(const Batching& at) {
  const std::size_t right = at.x.size() - 1;
  const Tensor lanes_last = move_axis(at.x[right], 0, -1);
  const Shape spread = lanes_last.shape();
  Shape columns(spread.begin(), spread.end() - 2);
  columns.push_back(spread[spread.size() - 2] * spread.back());
  std::vector<Tensor> operands(at.x.begin(), at.x.end());
  operands[right] = reshape(lanes_last, columns);
  const Tensor solved = applied(at, operands)[0];
  return move_axis(reshape(solved, spread), -1, 0);
}

}  // namespace hom::matrices
