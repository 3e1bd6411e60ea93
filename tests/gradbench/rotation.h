// tests/gradbench/rotation.h -- rotations by an axis times an angle (O. Rodrigues, 1840)
#pragma once

#include <hom/hom.h>

namespace hom::gradbench {

/// a × b along the last axis, of extent 3.
inline Tensor cross_product(const Tensor& a, const Tensor& b) {
  const Tensor a1 = roll(a, -1, -1);
  const Tensor b2 = roll(b, -2, -1);
  const Tensor a2 = roll(a, -2, -1);
  const Tensor b1 = roll(b, -1, -1);
  return a1 * b2 - a2 * b1;
}

/// x [3] rotated about r [3] by |r|; at r = 0 to first order, x + r × x.
inline Tensor rotated(const Tensor& r, const Tensor& x) {
  const Tensor square_angle = sum(square(r));
  const Tensor turns = square_angle > 0.0;
  const Tensor angle = sqrt(where(turns, square_angle, 1.0));
  const Tensor axis = r / angle;
  const Tensor turned = x * cos(angle) + cross_product(axis, x) * sin(angle) +
                        axis * dot(axis, x) * (1.0 - cos(angle));
  return where(turns, turned, x + cross_product(r, x));
}

}  // namespace hom::gradbench
