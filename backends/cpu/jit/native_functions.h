// backends/cpu/jit/native_functions.h -- functions of the library that emitted code calls
//
// Whatever is more than a few instructions is not spelled again: emitted code calls the functors of
// scalar_math.h and scalar_special.h through a table, one number or one vector at a time, so that
// eager and compiled code share one definition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <hom/backends/nests/nest.h>

namespace hom::cpu {

/// Entries of one half of the table: functions of numbers come first, those of vectors after them.
int native_function_count();

/// The entry of a function on `dtype` (f32, f64; of `pow` integers too), if it is one that is
/// called.
std::optional<int> native_function(nest::Function function, Dtype dtype);
/// The entry that converts elements, if that is called: from f64 and wide integers to 16-bit
/// floats.
std::optional<int> native_conversion(Dtype from, Dtype to);
/// `exp_f32`, `f64_to_f16`
std::string native_function_name(int entry);

/// The table. Of a function of numbers the type is T(T), T(T, T), or with a parameter first
/// T(int64, T), T(int64, T, T); of vectors void(int64 parameter, T* results, const T* operands …,
/// int64 count), likewise. 16-bit floats are given by their bits.
void* const* native_functions();

}  // namespace hom::cpu
