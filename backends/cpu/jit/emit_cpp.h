// backends/cpu/jit/emit_cpp.h -- a plan as C++ text
//
// The text includes no header and uses vector extensions that g++ and clang have. It has one
// function for each kernel, and one for the whole plan; what they share is cpp_prelude(). So it
// compiles soon, and reads well enough to be shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hom/backends/nests/plan.h>

namespace hom::cpu {

struct CppPlan {
  /// The function of each kernel.
  std::vector<std::string> kernels;
  /// For readers: what each kernel computes and the lines that it comes from, as comments. Apart,
  /// so that equal kernels have equal texts.
  std::vector<std::string> comments;
  /// hom_plan
  std::string plan;
};

/// Prints a plan for vectors of `vector_bytes` (16, 32 or 64).
CppPlan emit_cpp(const nest::Plan& plan, int vector_bytes);

/// One kernel of a plan, with its comment, for readers.
std::string emit_cpp_kernel(const nest::Plan& plan, std::size_t number, int vector_bytes);

/// The text in translation units of about equal length, at most `most` and as few as have more than
/// `shortest` characters each. The first has `hom_plan`, `hom_set_functions(table)` and the array
/// `hom_kernels` of the functions of all kernels.
std::vector<std::string> translation_units(const CppPlan& text, int vector_bytes, std::size_t most,
                                           std::size_t shortest = 40000);

}  // namespace hom::cpu
