// tests/gradbench/hello.h -- the square of a number, and its derivative
#pragma once

#include <hom/hom.h>

namespace hom::gradbench {

inline constexpr auto square_of = [](const Tensor& x) { return x * x; };
/// d/dx x²
inline const auto double_of = grad(square_of);

}  // namespace hom::gradbench
