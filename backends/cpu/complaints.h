// backends/cpu/complaints.h -- what executors say of values that a step refuses when it runs
//
// Eager kernels raise at once, compiled code after the run: the text is the same.
#pragma once

#include <cstdint>
#include <string>

#include <hom/core/error.h>
#include <hom/core/object.h>

namespace hom::cpu {

/// `gather` and `scatter` with `Bounds::check`. Axes are told with the type, because those of a
/// batched step count the lanes in front too.
inline Complaint index_out_of_range(const std::string& primitive, std::int64_t index,
                                    std::int64_t axis, const TensorType& type) {
  return {primitive + ": index " + std::to_string(index) + " is out of range on axis " +
              std::to_string(axis) + " of " + to_string(type),
          "indices count from 0 and are never negative; Bounds::clip clamps them. (take and "
          "take_along_axis gather; vmap puts lanes in front.)"};
}

/// `dynamic_slice` and `dynamic_update_slice` with `Bounds::check`: a window of `size` along an
/// axis of `extent`.
inline Complaint window_out_of_range(const std::string& primitive, std::int64_t size,
                                     std::int64_t start, std::int64_t axis, std::int64_t extent) {
  return {primitive + ": a window of " + std::to_string(size) + " that starts at index " +
              std::to_string(start) + " is out of range on axis " + std::to_string(axis) +
              ", whose extent is " + std::to_string(extent),
          "the start may be 0 … " + std::to_string(extent - size) +
              "; Bounds::clip moves the window inside"};
}

/// `pow` of integers.
inline Complaint negative_exponent(std::int64_t exponent) {
  return {"pow: the integer exponent " + std::to_string(exponent) + " is negative",
          "convert the base to a float dtype first; integer powers are integers"};
}

}  // namespace hom::cpu
