// categories/matrices.cc -- blocks, products, and the matrix of a primitive from its values on the
// basis
#include <hom/categories/matrices.h>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom::categories {
namespace {

Matrices::Arrow zeros_between(const Environment& a, const Environment& b) {
  Matrices::Arrow f{a, b, dimension(b), dimension(a), {}};
  f.entries.resize(static_cast<std::size_t>(f.rows * f.columns));
  return f;
}

/// Where each factor starts.
std::vector<std::int64_t> offsets(const Environment& a) {
  std::vector<std::int64_t> starts;
  std::int64_t next = 0;
  for (const TensorType& type : a) {
    starts.push_back(next);
    next += type.size();
  }
  return starts;
}

/// Writes `block` into `f` with its first entry at (row, column).
void place(Matrices::Arrow& f, const Matrices::Arrow& block, std::int64_t row,
           std::int64_t column) {
  for (std::int64_t i = 0; i < block.rows; ++i) {
    for (std::int64_t j = 0; j < block.columns; ++j) f.at(row + i, column + j) = block.at(i, j);
  }
}

Matrices::Arrow transposed(const Matrices::Arrow& f) {
  Matrices::Arrow t = zeros_between(f.codomain, f.domain);
  for (std::int64_t i = 0; i < f.rows; ++i) {
    for (std::int64_t j = 0; j < f.columns; ++j) t.at(j, i) = f.at(i, j);
  }
  return t;
}

Matrices::Arrow diagonal(const Tensor& factor, bool inverted) {
  const Environment a{factor.type()};
  Matrices::Arrow f = zeros_between(a, a);
  std::int64_t i = 0;
  for (double value : factor.to_vector()) {
    f.at(i, i) = inverted ? 1 / value : value;
    ++i;
  }
  return f;
}

/// Column j is the operation's value on the j-th basis vector.
Matrices::Arrow from_basis(const Operation& operation) {
  const Environment domain = operation.domain();
  Matrices::Arrow f = zeros_between(domain, operation.codomain());
  Tensors point;
  for (const TensorType& type : domain) point.push_back(zeros(type));
  std::int64_t column = 0;
  for (Tensor& factor : point) {
    const Tensor zero = factor;
    const TensorType type = factor.type();
    for (std::int64_t k = 0; k < type.size(); ++k, ++column) {
      std::vector<double> basis(static_cast<std::size_t>(type.size()));
      basis[static_cast<std::size_t>(k)] = 1;
      factor = tensor(basis, type.shape).astype(type.dtype);
      std::int64_t row = 0;
      for (const Tensor& result : operation(point)) {
        for (double value : result.to_vector()) f.at(row++, column) = value;
      }
    }
    factor = zero;
  }
  return f;
}

}  // namespace

std::int64_t dimension(const Environment& a) {
  std::int64_t sum = 0;
  for (const TensorType& type : a) sum += type.size();
  return sum;
}

Matrices::Arrow Matrices::id(const Environment& a) const { return project(a, range(0, a.size())); }

Matrices::Arrow Matrices::compose(const Arrow& g, const Arrow& f) const {
  ensure(f.codomain == g.domain, "compose: the codomain of f is the domain of g");
  Arrow h = zeros_between(f.domain, g.codomain);
  for (std::int64_t i = 0; i < g.rows; ++i) {
    for (std::int64_t k = 0; k < g.columns; ++k) {
      const double factor = g.at(i, k);
      if (factor == 0) continue;
      for (std::int64_t j = 0; j < f.columns; ++j) {
        if (f.at(k, j) != 0) h.at(i, j) += factor * f.at(k, j);
      }
    }
  }
  return h;
}

Matrices::Arrow Matrices::fork(const Arrow& f, const Arrow& g) const {
  ensure(f.domain == g.domain, "fork: f and g have one domain");
  Arrow both = zeros_between(f.domain, product(f.codomain, g.codomain));
  place(both, f, 0, 0);
  place(both, g, f.rows, 0);
  return both;
}

Matrices::Arrow Matrices::join(const Arrow& f, const Arrow& g) const {
  ensure(f.codomain == g.codomain, "join: f and g have one codomain");
  Arrow both = zeros_between(product(f.domain, g.domain), f.codomain);
  place(both, f, 0, 0);
  place(both, g, 0, f.columns);
  return both;
}

Matrices::Arrow Matrices::project(const Environment& a, const Positions& positions) const {
  Arrow f = zeros_between(a, factors(a, positions));
  const std::vector<std::int64_t> starts = offsets(a);
  std::int64_t row = 0;
  for (std::size_t position : positions) {
    for (std::int64_t k = 0; k < a[position].size(); ++k) f.at(row++, starts[position] + k) = 1;
  }
  return f;
}

Matrices::Arrow Matrices::inject(const Environment& a, const Positions& positions) const {
  return transposed(project(a, positions));
}

Matrices::Arrow Matrices::scale(const Tensor& factor) const { return diagonal(factor, false); }

Matrices::Arrow Matrices::primitive(const Operation& operation) const {
  if (const std::string reason = why_not_linear(operation); !reason.empty())
    fail_operation(name(), operation, reason);
  const Environment& b = operation.codomain();
  const bool both_vary = operation.types.size() == 2 && operation.varying().size() == 2;
  if (operation.is("neg")) return scale(full(b[0].shape, -1, b[0].dtype));
  if (operation.is("add") && both_vary) return join(id(b), id(b));
  if (operation.is("sub") && both_vary) return join(id(b), scale(full(b[0].shape, -1, b[0].dtype)));
  if (operation.is("mul")) return scale(operation.known[operation.varies(0) ? 1 : 0]);
  if (operation.is("div")) return diagonal(operation.known[1], true);
  return from_basis(operation);
}

Tensor to_tensor(const Matrices::Arrow& matrix) {
  return tensor(matrix.entries, Shape{matrix.rows, matrix.columns});
}

Tensors operator*(const Matrices::Arrow& matrix, const Tensors& x) {
  std::vector<double> flat;
  for (const Tensor& factor : x) {
    for (double value : factor.to_vector()) flat.push_back(value);
  }
  ensure(static_cast<std::int64_t>(flat.size()) == matrix.columns,
         "a matrix takes as many elements as it has columns");
  Tensors results;
  std::int64_t row = 0;
  for (const TensorType& type : matrix.codomain) {
    std::vector<double> sums;
    for (std::int64_t k = 0; k < type.size(); ++k, ++row) {
      double sum = 0;
      for (std::int64_t j = 0; j < matrix.columns; ++j) {
        if (matrix.at(row, j) != 0) sum += matrix.at(row, j) * flat[static_cast<std::size_t>(j)];
      }
      sums.push_back(sum);
    }
    results.push_back(tensor(sums, type.shape).astype(type.dtype));
  }
  return results;
}

}  // namespace hom::categories
