// categories/syntax.h -- the category of syntax: an arrow is its own point-free expression
//
// After C. Elliott, Compiling to Categories (ICFP 2017), section 7. The slots of a program
// disappear; what is left are primitives, composition and products:
//
//     syntax([](Tensor x, Tensor y) { return cos(x + y * x); }, f64[{}], f64[{}])
//     cos . add . (exl △ mul . (exr △ exl))
//
// Expressions are normal with respect to
//
//     f . id = f = id . f          exl . (f △ g) = f          exl △ exr = id          const c . f =
//     const c (f . h) △ (g . h) = (f △ g) . h     where that shares the step h, and nothing outside
//     needs it
//
// Any other step that is used twice is a named arrow below `where`, `v7` where the text form has
// the slot v7. So every step is written once, and the length is linear in the program.
//
// Two factors are projected by `exl` and `exr`, n by `ex0` … and labelled fields by their label; a
// fork has as many parts as its step has operands. A product of one object is that object.
// Attributes are subscripts, called programs arrows of their name.
#pragma once

#include <concepts>
#include <string>

#include <hom/core/function.h>
#include <hom/core/program.h>

namespace hom {

struct SyntaxOptions {
  /// Forks nested deeper than this go on in a `where` arrow.
  int max_depth = 8;
};

/// The point-free expression of `program`, without a newline at its end.
std::string syntax(const Program& program, const SyntaxOptions& options = {});

/// The expression of a function at arguments.
HOM_READING(std::string, syntax, syntax)

}  // namespace hom
