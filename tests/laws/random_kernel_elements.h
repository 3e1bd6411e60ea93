// tests/laws/random_kernel_elements.h -- what kernels do to single elements, as bits
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::laws {

/// An element's bits, zero-extended, as in constants.
using Bits = std::uint64_t;

template <Element T>
T element(Bits bits) {
  if constexpr (std::same_as<T, bool>) {
    return bits != 0;
  } else {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &bits, sizeof(T));
    return std::bit_cast<T>(bytes);
  }
}

template <Element T>
Bits bits_of(T value) {
  Bits bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// The function of a node of kind `apply`; `dtype` is that of the last operand.
Bits apply(const nest::Node& node, Dtype dtype, Bits a, Bits b, Bits c);
Bits convert(Dtype to, Dtype from, Bits a);
/// All terms as one; `pairwise`: they are totals of blocks.
Bits reduce(nest::Combine combine, Dtype dtype, const std::vector<Bits>& terms,
            bool pairwise = false);
/// What a store leaves where `old` was.
Bits combine_elements(nest::Combine combine, Dtype dtype, Bits old, Bits value);

}  // namespace hom::laws
