// core/text.h -- the versioned text form of programs, and its reader
//
//     hom 1
//     program @twice(x: f64[]) -> f64[] {
//       v1: f64[] = add(x, x)
//       return v1
//     }
//     forward(x: f64[], p: (weight: f64[2], bias: f64[2])) -> f64[2] {
//       v3: f64[] = call(x) {program = @twice}
//       v4: f64[2] = broadcast_in_dim(v3) {shape = [2], axes = []}
//       v5: f64[2] = mul(v4, p.weight)
//       return v5
//     }
//
// The last definition is the program; those before it are the programs in attributes, each once and
// before its use. The header gives the name (where there is one), the domain and the codomain;
// inputs are called by their path in the domain (`p.weight`, `x0` for a nameless first
// argument), and a line `inputs a: f64[], …` says so where they are called otherwise. Every result
// is written with its type. Values of attributes:
//
//     true  -3  7u  0.5  -0.0  1e+300  inf  -nan  nan(0x7ff8000000000001)  "text\n"  f32  [2, 3]
//     {1, "list"}  @twice
//
// `@name` is a program of that name, `@name.1` another of the same name, `@0` one without; `#`
// starts a comment. Tensors from the closure are written as `captured {index = 0, …}`: by type and
// position, never by content.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include <hom/core/function.h>
#include <hom/core/primitive.h>

namespace hom {

/// What `to_text` adds for a reader; comments are not read back.
struct TextOptions {
  /// The user's line of each step, as a comment: `# train.cc:23, in `forward``.
  bool lines = false;
};

/// The text form of `program`, of linear length. `parse_program` gives back an equal program with
/// the same names, domain and codomain, for `captured_tensors(program)`.
std::string to_text(const Program& program, const TextOptions& options = {});

/// The tensors that stand for the `captured` steps of the text of `program`, in order: those of the
/// programs in attributes first, as they are printed.
std::vector<Tensor> captured_tensors(const Program& program);

/// Reads the text form. Types are derived again and compared with the text; steps are kept as they
/// stand, except those that no output needs. Throws `Error` with line and column, and with what was
/// expected there: for another version, unknown primitives, slots, attributes or dtypes, what does
/// not type, and captured tensors that do not fit.
Program parse_program(std::string_view text, const std::vector<Tensor>& captured = {},
                      const PrimitiveTable& primitives = standard_primitives(),
                      const Location& at = Location::current());

/// The text form of a function at arguments.
HOM_READING(std::string, text, to_text)

}  // namespace hom
