// backends/cpu/jit/interpreter_memory.h -- rows of elements at computed indices
#pragma once

#include <hom/backends/nests/nest.h>

namespace hom::cpu {

/// An index for each lane: index[lane·stride] + lane·step.
struct Indices {
  const std::int64_t* index;
  std::int64_t stride;
  std::int64_t step;

  std::int64_t operator[](std::int64_t lane) const { return index[lane * stride] + lane * step; }
};

/// Where to do something: when[lane·stride]; everywhere if null.
struct Mask {
  const bool* when;
  std::int64_t stride;

  bool operator[](std::int64_t lane) const { return when[lane * stride]; }
};

/// to[lane] = from[indices[lane]] where the mask holds, else zero.
using Gather = void (*)(const std::byte* from, const Indices& indices, const Mask& mask,
                        std::byte* to, std::int64_t lanes);
Gather gather_of(Dtype dtype);

/// to[indices[lane]] = combine(to[indices[lane]], values[lane·stride]) where the mask holds, lane
/// by lane in order.
using Scatter = void (*)(std::byte* to, const Indices& indices, const Mask& mask,
                         const std::byte* values, std::int64_t stride, std::int64_t lanes);
/// Throws `Bug` where elements of `dtype` do not combine so.
Scatter scatter_of(nest::Combine combine, Dtype dtype);

}  // namespace hom::cpu
