// categories/category.h -- what a category is: the operations that its author writes, and nothing
// else
//
// An object is an environment, a list of tensor types; × is concatenation and the unit is the empty
// list. So products are associative on the nose, and the reassociations of the papers disappear.
// A program is a composite of arrows `id △ (op ∘ projections)`; `read` (categories/read.h) reads it
// in any category that models `Cartesian`. To add one, write a struct with
//
//     name()                     "matrices": for errors and tables
//     Arrow                      what an arrow a → b is
//     domain(f), codomain(f)     its objects
//     id(a)                      a → a
//     compose(g, f)              g ∘ f
//     fork(f, g)                 f △ g : a → b × c
//     project(a, positions)      a → the factors at these positions, in this order
//     primitive(operation)       its arrow for one step
//     lacks(primitive)           why it has no arrow for a primitive; empty where it has one
//
// and instantiate the laws of tests/laws/category_laws.h:
//
//     f ∘ id = f = id ∘ f                  (h ∘ g) ∘ f = h ∘ (g ∘ f)
//     exl ∘ (f △ g) = f                    exr ∘ (f △ g) = g
//     exl △ exr = id                       (f △ g) ∘ h = (f ∘ h) △ (g ∘ h)
//     read (g ∘ f) = read g ∘ read f       for every program that is a composite
//
// `project` is exl, exr, dup, the swap and the arrow to the unit at once: dup is project(a, {0, 0})
// where a is one tensor. A category that chooses between branches at run time has `cond` as well;
// one of linear arrows has `join`, `inject` and `scale` (categories/linear.h). Values of a category
// may carry what it depends on, such as the category that it is built on.
//
// C. Elliott, "Compiling to Categories" (2017), sections 3 and 6; "The Simple Essence of Automatic
// Differentiation" (2018), sections 4.1–4.3.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <vector>

#include <hom/core/primitive.h>

namespace hom::categories {

/// An object: the types of a list of tensors.
using Environment = std::vector<TensorType>;
/// Factors of an object, by number.
using Positions = std::vector<std::size_t>;
using Tensors = std::vector<Tensor>;

/// One step as an arrow to be read: a primitive with its attributes, from operands to results.
///
/// `known` holds the operands that are fixed, which only the reading of linear programs has (a
/// residual, an index): the arrow is then the section from the others, such as x ↦ 3·x.
struct Operation {
  const Primitive* primitive = nullptr;
  Attributes attributes = {};
  /// All operands, known ones included.
  std::vector<TensorType> types = {};
  /// For each operand its value where it is known, else an empty tensor.
  Tensors known = {};
  /// For each operand the first one that is the same slot: x·x is a square, and x − x is 0.
  Positions same_as = {};
  std::vector<TensorType> results = {};
  /// The tensor from the closure, of a `captured` step.
  Tensor captured = {};
  /// The user's line, and the innermost `named` function.
  Location at = {};
  std::string scope = {};

  bool is(std::string_view name) const { return primitive->name == name; }
  /// Whether the operand is an argument of the arrow.
  bool varies(std::size_t operand) const { return known[operand].is_empty(); }
  /// The positions of the operands that vary, and their types.
  Positions varying() const;
  Environment domain() const;
  const Environment& codomain() const { return results; }

  /// Its meaning: results for the operands that vary. On symbols it records the step.
  Tensors operator()(std::span<const Tensor> arguments) const;
};

/// A step of a program, with nothing known.
Operation operation_of(const Program& program, const Step& step);
/// A primitive by name; `known` is empty, or one tensor for each operand. Throws `Error` where the
/// operands do not fit.
Operation operation(std::string_view primitive, Attributes attributes,
                    std::vector<TensorType> types, Tensors known = {},
                    const Location& at = Location::current());

/// The factors of `a` at `positions`.
Environment factors(const Environment& a, const Positions& positions);
/// a × b
Environment product(const Environment& a, const Environment& b);
/// start, start + 1, …, start + count − 1
Positions range(std::size_t start, std::size_t count);
/// All factors of a, and all of them again: what dup projects and jam injects.
Positions twice(const Environment& a);
/// `(f64[], f64[3])`
std::string to_string(const Environment& a);

/// A category with products that reads programs.
template <class C>
concept Cartesian =
    requires(const C& c, const typename C::Arrow& f, const Environment& a,
             const Positions& positions, const Operation& operation, const Primitive& primitive) {
      { c.name() } -> std::convertible_to<std::string>;
      { c.domain(f) } -> std::convertible_to<Environment>;
      { c.codomain(f) } -> std::convertible_to<Environment>;
      { c.id(a) } -> std::same_as<typename C::Arrow>;
      { c.compose(f, f) } -> std::same_as<typename C::Arrow>;
      { c.fork(f, f) } -> std::same_as<typename C::Arrow>;
      { c.project(a, positions) } -> std::same_as<typename C::Arrow>;
      { c.primitive(operation) } -> std::same_as<typename C::Arrow>;
      { c.lacks(primitive) } -> std::convertible_to<std::string>;
    };

/// One that chooses between two arrows a → b by a predicate: cond(f, g) : bool[] × a → b.
template <class C>
concept Conditional = Cartesian<C> && requires(const C& c, const typename C::Arrow& f) {
  { c.cond(f, f) } -> std::same_as<typename C::Arrow>;
};

// Derived arrows.

/// f × g = (f ∘ exl) △ (g ∘ exr)
template <Cartesian C>
typename C::Arrow cross(const C& c, const typename C::Arrow& f, const typename C::Arrow& g) {
  const Environment a = c.domain(f);
  const Environment b = c.domain(g);
  const Environment both = product(a, b);
  return c.fork(c.compose(f, c.project(both, range(0, a.size()))),
                c.compose(g, c.project(both, range(a.size(), b.size()))));
}
/// a × b → a
template <Cartesian C>
typename C::Arrow exl(const C& c, const Environment& a, const Environment& b) {
  return c.project(product(a, b), range(0, a.size()));
}
/// a × b → b
template <Cartesian C>
typename C::Arrow exr(const C& c, const Environment& a, const Environment& b) {
  return c.project(product(a, b), range(a.size(), b.size()));
}
/// a → a × a
template <Cartesian C>
typename C::Arrow dup(const C& c, const Environment& a) {
  return c.project(a, twice(a));
}

/// Throws `Error` at the user's line: the category has no arrow for the operation, because …
[[noreturn]] void fail_operation(const std::string& category, const Operation& operation,
                                 const std::string& reason);

/// Which primitives a category has: their names, and for the others the reason, as lines of
/// Markdown. What the documentation shows.
using Lacks = std::function<std::string(const Primitive&)>;
std::string list_primitives(const Lacks& lacks);
template <Cartesian C>
std::string list_primitives(const C& c) {
  return list_primitives([&](const Primitive& p) { return c.lacks(p); });
}

}  // namespace hom::categories
