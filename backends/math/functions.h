// backends/math/functions.h -- all functions of this folder, and their list
//
// Included after the number types that they are to be made for: what these offer (number.h) is
// found where the types are declared.
#pragma once

#include <hom/backends/math/error_function.h>
#include <hom/backends/math/exponential.h>
#include <hom/backends/math/logarithm.h>
#include <hom/backends/math/power.h>
#include <hom/backends/math/trigonometric.h>

/// F(name) for each function of one number, of two, and of two by rows only: what is rare in `rem`
/// is another function of two numbers, not one of kernels.
// The formatter never comes to an end here.
// clang-format off
#define HOM_MATH_UNARY(F)                                                                  \
  F(exp) F(expm1) F(log) F(log1p) F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh)     \
  F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(logistic) F(erf) F(erfc)
// clang-format on
#define HOM_MATH_BINARY(F) F(pow) F(atan2)
#define HOM_MATH_BINARY_ROWS(F) F(rem)
