// categories/matrices.h -- linear maps as dense matrices of f64
//
// An arrow a → b is the matrix of the map from the elements of all tensors of a, one after the
// other in row-major order, to those of b. Composition is the matrix product, and the rest is
// blocks:
//
//     f △ g = [f]      f ▽ g = [f g]      exl = [1 0]      inl = [1]      scale s = diag s
//             [g]                                               [0]
//
// A primitive is the matrix whose columns are its values on the basis; neg, add, sub and products
// with a known factor are written out. Entries are exact numbers of the primitive's dtype. A zero
// entry annihilates, so that 0·∞ = 0 as with `scale`.
//
// C. Elliott, "The Simple Essence of Automatic Differentiation" (2018), sections "Matrices" and
// "Extracting a data representation".
#pragma once

#include <hom/categories/linear.h>

namespace hom::categories {

struct Matrices {
  struct Arrow {
    Environment domain;
    Environment codomain;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    /// Row-major: rows × columns.
    std::vector<double> entries;

    double& at(std::int64_t row, std::int64_t column) {
      return entries[static_cast<std::size_t>(row * columns + column)];
    }
    double at(std::int64_t row, std::int64_t column) const {
      return entries[static_cast<std::size_t>(row * columns + column)];
    }
  };

  std::string name() const { return "matrices"; }
  std::string lacks(const Primitive& primitive) const { return lacks_linear(primitive); }
  const Environment& domain(const Arrow& f) const { return f.domain; }
  const Environment& codomain(const Arrow& f) const { return f.codomain; }

  Arrow id(const Environment& a) const;
  Arrow compose(const Arrow& g, const Arrow& f) const;
  Arrow fork(const Arrow& f, const Arrow& g) const;
  Arrow project(const Environment& a, const Positions& positions) const;
  Arrow join(const Arrow& f, const Arrow& g) const;
  Arrow inject(const Environment& a, const Positions& positions) const;
  Arrow scale(const Tensor& factor) const;
  Arrow primitive(const Operation& operation) const;
};

/// The number of elements of all tensors of an object: its dimension.
std::int64_t dimension(const Environment& a);
/// The matrix as f64[rows, columns].
Tensor to_tensor(const Matrices::Arrow& matrix);
/// Its product with a vector: tensors of the domain to tensors of the codomain.
Tensors operator*(const Matrices::Arrow& matrix, const Tensors& x);

}  // namespace hom::categories
