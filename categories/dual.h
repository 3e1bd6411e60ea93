// categories/dual.h -- the dual of a category of linear arrows: everything runs backwards
//
// An arrow a → b of Dual k is an arrow b → a of k, its transpose. Products and coproducts change
// places:
//
//     id           = id                        exl, exr, dup  = inl, inr, jam
//     g ∘ f        = f ∘ g                     inl, inr, jam  = exl, exr, dup
//     f △ g        = f ▽ g                     f ▽ g          = f △ g
//     scale s      = scale s
//
// and so do the primitives: the dual of a sum over axes is a broadcast, that of a slice writes into
// zeros, that of a matrix product is the product with the transposed matrix. Those rules that a
// student should see are written out (`dual_operation`); the others take the transpose rule of the
// primitive, from the table.
//
// GAD (Dual k) is reverse mode.
//
// C. Elliott, "The Simple Essence of Automatic Differentiation" (2018), section "Gradients and
// duality".
#pragma once

#include <optional>

#include <hom/categories/linear.h>

namespace hom::categories {

/// The dual of an operation with one operand that varies, as one operation the other way, where it
/// is one.
std::optional<Operation> dual_operation(const Operation& operation);
/// The dual of any linear operation as a program, by the transpose rule of its primitive.
Program dual_program(const Operation& operation);

template <LinearCategory K>
struct Dual {
  K k = {};

  struct Arrow {
    /// From the codomain to the domain.
    typename K::Arrow reversed;
  };

  std::string name() const { return "the dual of " + k.name(); }
  std::string lacks(const Primitive& primitive) const { return lacks_linear(primitive); }
  Environment domain(const Arrow& f) const { return k.codomain(f.reversed); }
  Environment codomain(const Arrow& f) const { return k.domain(f.reversed); }

  Arrow id(const Environment& a) const { return {k.id(a)}; }
  Arrow compose(const Arrow& g, const Arrow& f) const {
    return {k.compose(f.reversed, g.reversed)};
  }
  Arrow fork(const Arrow& f, const Arrow& g) const { return {k.join(f.reversed, g.reversed)}; }
  Arrow join(const Arrow& f, const Arrow& g) const { return {k.fork(f.reversed, g.reversed)}; }
  Arrow project(const Environment& a, const Positions& positions) const {
    return {k.inject(a, positions)};
  }
  Arrow inject(const Environment& a, const Positions& positions) const {
    return {k.project(a, positions)};
  }
  Arrow scale(const Tensor& factor) const { return {k.scale(factor)}; }

  Arrow primitive(const Operation& operation) const {
    if (const std::string reason = why_not_linear(operation); !reason.empty())
      fail_operation(name(), operation, reason);
    const Environment& b = operation.codomain();
    const Positions varying = operation.varying();
    if (operation.is("add") && varying.size() == 2) return {k.fork(k.id(b), k.id(b))};
    if (operation.is("sub") && varying.size() == 2)
      return {k.fork(k.id(b), k.primitive(categories::operation("neg", {}, b)))};
    if (operation.is("mul")) return scale(operation.known[operation.varies(0) ? 1 : 0]);
    if (const std::optional<Operation> dual = dual_operation(operation))
      return {k.primitive(*dual)};
    return {read_linear(k, dual_program(operation))};
  }
};

}  // namespace hom::categories
