// core/operations/complex.h -- complex numbers as a pair of tensors
//
// Not a dtype but a product, so that every function of tensors, derivative and batch applies to
// them: a gradient has the parts ∂f/∂re and ∂f/∂im. Parts promote and broadcast as tensors do;
// where shapes do not fit, the error names them, and the line on which an operand was made.
#pragma once

#include <boost/hana/define_struct.hpp>

#include <hom/core/tensor.h>

namespace hom {

struct Complex {
  BOOST_HANA_DEFINE_STRUCT(Complex, (Tensor, re), (Tensor, im));
};

Complex operator-(const Complex& x);
Complex operator+(const Complex& x, const Complex& y);
Complex operator-(const Complex& x, const Complex& y);
Complex operator*(const Complex& x, const Complex& y);
/// x·ȳ/|y|²
Complex operator/(const Complex& x, const Complex& y);
/// Both parts times (over) real numbers.
Complex operator*(const Complex& x, const Operand& factor);
Complex operator*(const Operand& factor, const Complex& x);
Complex operator/(const Complex& x, const Operand& divisor);

/// re − i·im
Complex conj(const Complex& x);
/// √(re² + im²), without overflow; the gradient at 0 is 0.
Tensor abs(const Complex& x);
/// re² + im²
Tensor abs_squared(const Complex& x);
/// The angle in −π … π.
Tensor angle(const Complex& x);
/// e^re·(cos im + i·sin im)
Complex exp(const Complex& x);

}  // namespace hom
