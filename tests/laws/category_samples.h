// tests/laws/category_samples.h -- arrows of any category to test laws on, and when two are equal
#pragma once

#include <string>

#include <hom/categories/additive.h>
#include <hom/categories/begin.h>
#include <hom/categories/cont.h>
#include <hom/categories/dual.h>
#include <hom/categories/gad.h>
#include <hom/categories/interval.h>
#include <hom/categories/laws.h>
#include <hom/categories/matrices.h>
#include <hom/categories/product.h>
#include <hom/categories/programs.h>
#include <hom/categories/sparsity.h>
#include <hom/core/axes.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {

using namespace hom::categories;

/// A random program cut in three at random.
Chain random_chain(const RandomProgram& program, Choices& choices);

/// The matrix of a linear arrow, whatever it is made of.
inline Matrices::Arrow matrix_of(const Matrices&, const Matrices::Arrow& f) { return f; }
Matrices::Arrow matrix_of(const Additive& k, const Additive::Arrow& f);
Matrices::Arrow matrix_of(const Programs& k, const Programs::Arrow& f);
Matrices::Arrow transposed(const Matrices::Arrow& f);
template <class K>
Matrices::Arrow matrix_of(const Dual<K>& dual, const typename Dual<K>::Arrow& f) {
  return transposed(matrix_of(dual.k, f.reversed));
}
template <class K>
Matrices::Arrow matrix_of(const Cont<K>& cont, const typename Cont<K>::Arrow& f) {
  return matrix_of(cont.k, cont.at_identity(f));
}
template <class K>
Matrices::Arrow matrix_of(const Begin<K>& begin, const typename Begin<K>::Arrow& f) {
  return matrix_of(begin.k, begin.at_identity(f));
}

/// An arrow a → b of any category of linear arrows with coefficients drawn at random: each factor
/// of a is scaled, summed, repeated in the shape of the factor of b, and scaled again.
template <LinearCategory K>
typename K::Arrow random_linear(const K& k, const Environment& a, const Environment& b,
                                Choices& choices) {
  typename K::Arrow columns = zero(k, {}, b);
  for (const TensorType& x : a) {
    typename K::Arrow rows = k.project({x}, {});
    for (const TensorType& y : b) {
      const auto scaled = [&](const TensorType& type) {
        return k.scale(random_tensor(type, Domain::tame, choices));
      };
      const Operation sum = operation("reduce_sum", {{"axes", {iota_shape(x.shape.size())}}}, {x});
      const Operation repeat =
          operation("broadcast_in_dim", {{"shape", {y.shape}}, {"axes", {Shape{}}}}, {x.dtype[{}]});
      rows = k.fork(rows, k.compose(scaled(y), k.compose(k.primitive(repeat),
                                                         k.compose(k.primitive(sum), scaled(x)))));
    }
    columns = k.join(columns, rows);
  }
  return columns;
}

std::string difference(const Matrices::Arrow& got, const Matrices::Arrow& want);

/// Where two arrows with one domain differ, at or near a point of it; empty where they do not.
inline std::string differ(const Matrices&, const Matrices::Arrow& f, const Matrices::Arrow& g,
                          const Tensors&, Choices&) {
  return difference(f, g);
}
inline std::string differ(const Additive& k, const Additive::Arrow& f, const Additive::Arrow& g,
                          const Tensors&, Choices&) {
  return difference(matrix_of(k, f), matrix_of(k, g));
}
std::string differ(const Functions<Arrays>& c, const Functions<Arrays>::Arrow& f,
                   const Functions<Arrays>::Arrow& g, const Tensors& at, Choices& choices);
/// On a box around the point.
std::string differ(const Functions<Intervals>& c, const Functions<Intervals>::Arrow& f,
                   const Functions<Intervals>::Arrow& g, const Tensors& at, Choices& choices);
/// With each float element an input, and the others known.
std::string differ(const Functions<Sparsity>& c, const Functions<Sparsity>::Arrow& f,
                   const Functions<Sparsity>::Arrow& g, const Tensors& at, Choices& choices);
std::string differ(const Programs& c, const Programs::Arrow& f, const Programs::Arrow& g,
                   const Tensors& at, Choices& choices);
template <class K>
std::string differ(const Dual<K>& dual, const typename Dual<K>::Arrow& f,
                   const typename Dual<K>::Arrow& g, const Tensors& at, Choices& choices) {
  return differ(dual.k, f.reversed, g.reversed, at, choices);
}
template <class K>
std::string differ(const Cont<K>& cont, const typename Cont<K>::Arrow& f,
                   const typename Cont<K>::Arrow& g, const Tensors&, Choices& choices) {
  const typename K::Arrow h = random_linear(cont.k, f.codomain, cont.r, choices);
  return difference(matrix_of(cont.k, f.function(h)), matrix_of(cont.k, g.function(h)));
}
template <class K>
std::string differ(const Begin<K>& begin, const typename Begin<K>::Arrow& f,
                   const typename Begin<K>::Arrow& g, const Tensors&, Choices& choices) {
  const typename K::Arrow h = random_linear(begin.k, begin.r, f.domain, choices);
  return difference(matrix_of(begin.k, f.function(h)), matrix_of(begin.k, g.function(h)));
}
template <class K>
std::string differ(const GAD<K>& gad, const typename GAD<K>::Arrow& f,
                   const typename GAD<K>::Arrow& g, const Tensors& at, Choices& choices) {
  const auto [y, df] = f(at);
  const auto [z, dg] = g(at);
  if (std::string wrong = difference(y, z, 1e-9); !wrong.empty()) return "the values: " + wrong;
  std::string wrong = differ(gad.k, df, dg, floats_of(at), choices);
  return wrong.empty() ? "" : "the derivatives: " + wrong;
}
template <class C, class D>
std::string differ(const Product<C, D>& both, const typename Product<C, D>::Arrow& f,
                   const typename Product<C, D>::Arrow& g, const Tensors& at, Choices& choices) {
  std::string wrong = differ(both.c, f.first, g.first, at, choices);
  return wrong.empty() ? differ(both.d, f.second, g.second, at, choices) : wrong;
}

}  // namespace hom::laws
