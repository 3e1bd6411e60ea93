// categories/element_reading.h -- many elements of several tensors, at places known beforehand
#pragma once

#include <cstdint>
#include <vector>

#include <hom/core/tensor.h>

namespace hom {

/// A tensor whose elements, row-major, have the places `first`, `first + 1`, …
struct PlacedTensor {
  Tensor tensor;
  std::int64_t first;
};

/// [places]: the element at each place, zero at −1. All tensors have the dtype, and no place twice.
/// Where places repeat with a period, each time further on by the same, the result is made of
/// slices, so that a compiled function stores elements where they are computed; otherwise it is a
/// gather.
Tensor elements_at(const std::vector<PlacedTensor>& tensors,
                   const std::vector<std::int64_t>& places, Dtype dtype);

}  // namespace hom
