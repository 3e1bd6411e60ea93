// core/operations/linear_algebra.cc -- steps of factorizations, and solvers and determinants of
// them
#include <hom/core/operations/linear_algebra.h>

#include <algorithm>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

TensorList applied(const char* name, const Operand& a) {
  return apply(primitive(name), {}, std::array{a.value()}, a.at());
}

/// A matrix and right sides of one dtype and one batch.
struct System {
  Tensor a;
  Tensor b;
  bool is_vector;

  /// The solution in the shape in which the right side came.
  Tensor solution(const Tensor& x) const { return is_vector ? squeeze(x, {-1}) : x; }
};

/// Whether NumPy's broadcasting takes both to one shape.
bool broadcast(const Shape& a, const Shape& b) {
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const std::int64_t m = a[a.size() - i];
    const std::int64_t n = b[b.size() - i];
    if (m != n && m != 1 && n != 1) return false;
  }
  return true;
}

System system_of(const char* name, const Operand& a, const Operand& b) {
  const TensorType left = a.value().type(a.at());
  const TensorType right = b.value().type(b.at());
  const bool is_vector = right.rank() == 1;
  const std::int64_t rows = right.rank() == 0 ? -1
                            : is_vector       ? right.shape[0]
                                              : right.shape[right.shape.size() - 2];
  const bool is_square = left.rank() >= 2 && left.shape.back() == left.shape[left.shape.size() - 2];
  require(is_square, b.at(), [&] {
    return Complaint{std::string(name) + ": takes square matrices […, n, n], got " +
                         to_string(left) + " with the right side " + to_string(right),
                     "lstsq takes matrices of other shapes"};
  });
  require(rows == left.shape.back(), b.at(), [&] {
    return Complaint{std::string(name) + ": the right side " + to_string(right) +
                         " does not have the rows of the matrix " + to_string(left),
                     "it is a vector [n], or columns […, n, m]; expand_dims(b, -1) makes a batch "
                     "of vectors columns"};
  });
  const Dtype dtype = common_dtype(std::array{&a, &b});
  require(dtype == f32 || dtype == f64, b.at(), [&] {
    return Complaint{std::string(name) + ": takes f32 or f64, got " + to_string(left) + " and " +
                         to_string(right),
                     "convert with astype"};
  });
  System system{a.as(dtype), b.as(dtype), is_vector};
  if (is_vector) system.b = expand_dims(system.b, -1);
  const Shape columns = system.b.shape();
  const Shape batch_of_a(left.shape.begin(), left.shape.end() - 2);
  const Shape batch_of_b(columns.begin(), columns.end() - 2);
  require(broadcast(batch_of_a, batch_of_b), b.at(), [&] {
    return Complaint{std::string(name) + ": the batches of the matrix " + to_string(left) +
                         " and of the right side " + to_string(right) + " do not broadcast",
                     "extents in front of the last two axes must be equal or 1, counted from the "
                     "last"};
  });
  const Shape batch = broadcast_shapes(name, {dtype[batch_of_a], dtype[batch_of_b]}, b.at());
  const auto spread = [&](const Tensor& x) {
    Shape shape = batch;
    const Shape own = x.shape();
    shape.insert(shape.end(), own.end() - 2, own.end());
    return shape == own ? x : broadcast_to(x, shape);
  };
  system.a = spread(system.a);
  system.b = spread(system.b);
  return system;
}

/// −1 where the permutation is odd, else 1: whether the pairs out of order are.
Tensor sign_of(const Tensor& permutation, Dtype dtype) {
  const std::int64_t n = permutation.shape().back();
  const TensorType square = i64[{n, n}];
  const Tensor row = iota(square, 0);
  const Tensor comes_before = row < iota(square, 1);
  const Tensor own = expand_dims(permutation, -1);
  const Tensor is_larger = own > expand_dims(permutation, -2);
  const Tensor pairs = sum((is_larger & comes_before).astype(i64), {-2, -1});
  return (1 - 2 * (pairs % 2)).astype(dtype);
}

}  // namespace

Tensor cholesky(const Operand& a, Triangle triangle) {
  const LocationScope line(LocationScope::current(a.at()));
  const Tensor lower = applied("cholesky", a)[0];
  return triangle == Triangle::lower ? lower : swap_axes(lower, -2, -1);
}

Tensor triangular_solve(const Operand& a, const Operand& b, const TriangularSolve& options) {
  const LocationScope line(LocationScope::current(b.at()));
  const System system = system_of("triangular_solve", a, b);
  const Attributes attributes{
      {"lower", {options.lower}}, {"transposed", {options.transposed}}, {"unit", {options.unit}}};
  return system.solution(
      apply_one(primitive("triangular_solve"), attributes, {system.a, system.b}, b.at()));
}

Lu lu(const Operand& a) {
  const TensorList factors = applied("lu", a);
  return {factors[0], factors[1]};
}

Qr qr(const Operand& a) {
  const TensorList factors = applied("qr", a);
  return {factors[0], factors[1]};
}

Eigh eigh(const Operand& a) {
  const TensorList factors = applied("eigh", a);
  return {factors[0], factors[1]};
}

Tensor eigvalsh(const Operand& a) { return applied("eigh", a)[0]; }

Svd svd(const Operand& a) {
  const TensorList factors = applied("svd", a);
  return {factors[0], factors[1], factors[2]};
}

Tensor singular_values(const Operand& a) { return applied("svd", a)[1]; }

Tensor solve(const Operand& a, const Operand& b) {
  const LocationScope line(LocationScope::current(b.at()));
  const System system = system_of("solve", a, b);
  // How the factors vary is left to lu_solve, which knows the matrix.
  const Lu factors = lu(stop_gradient(system.a));
  return system.solution(apply_one(primitive("lu_solve"), {{"transposed", {false}}},
                                   {system.a, factors.packed, factors.permutation, system.b},
                                   b.at()));
}

Tensor inverse(const Operand& a) {
  const LocationScope line(LocationScope::current(a.at()));
  const TensorType type = a.value().type(a.at());
  const bool is_square = type.rank() >= 2 && type.shape.back() == type.shape[type.shape.size() - 2];
  require(is_square, a.at(), [&] {
    return Complaint{"inverse: takes square matrices […, n, n], got " + to_string(type),
                     "pinv takes matrices of other shapes"};
  });
  return solve(a, eye(type.shape.back(), type.dtype));
}

Tensor determinant(const Operand& a) { return applied("determinant", a)[0]; }

Tensor cofactor(const Operand& a) { return applied("cofactor", a)[0]; }

LogDeterminant slogdet(const Operand& a) {
  const LocationScope line(LocationScope::current(a.at()));
  const TensorType type = a.value().type(a.at());
  const bool is_square = type.rank() >= 2 && type.shape.back() == type.shape[type.shape.size() - 2];
  require(is_square, a.at(), [&] {
    return Complaint{"slogdet: takes square matrices […, n, n], got " + to_string(type)};
  });
  const Lu factors = lu(a);
  const Tensor pivots = diagonal(factors.packed);
  const Tensor sign_of_pivots = prod(sign(pivots), -1);
  return {sign_of(factors.permutation, type.dtype) * sign_of_pivots, sum(log(abs(pivots)), -1)};
}

}  // namespace hom
