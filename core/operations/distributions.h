// core/operations/distributions.h -- random numbers of common distributions, as pure functions of a
// key
//
// Element i depends on the key, the parameters of element i, and i alone. Functions with parameters
// draw one number for each of them, or for each element of a shape to which they broadcast.
// Numbers are f32 unless a dtype is asked for, or a parameter is a tensor of another one; 16-bit
// floats are drawn in 32 bits and rounded. Derivatives with respect to parameters are those of the
// numbers drawn, at fixed bits (pathwise). docs/random.md says what is exact.
#pragma once

#include <cstdint>

#include <hom/core/operations/random.h>

namespace hom {

/// Standard normal numbers, by inversion of the distribution function; |x| < 5.2 for f32, 8.3 for
/// f64. Others are mean + deviation · normal(…). Throws for a dtype that is not a float, as do the
/// functions down to `laplace`.
Tensor normal(const Key& key, const Shape& shape, Dtype dtype = f32,
              const Location& at = Location::current());
/// Standard normal numbers under the condition that they lie in low … high, also far out in a tail.
/// Bounds are numbers or tensors that broadcast to the shape.
Tensor truncated_normal(const Key& key, const Shape& shape, const Operand& low, const Operand& high,
                        Dtype dtype = f32);
/// Of density e⁻ˣ: positive, at most 17 for f32, 37 for f64.
Tensor exponential(const Key& key, const Shape& shape, Dtype dtype = f32,
                   const Location& at = Location::current());
/// −log(−log u): the noise that `categorical` adds. Always finite.
Tensor gumbel(const Key& key, const Shape& shape, Dtype dtype = f32,
              const Location& at = Location::current());
/// Of density e^−|x|/2.
Tensor laplace(const Key& key, const Shape& shape, Dtype dtype = f32,
               const Location& at = Location::current());

/// true with probability p: 0 never, 1 always; exact to 2⁻³². bool, of p's shape or the given one.
Tensor bernoulli(const Key& key, const Operand& p);
Tensor bernoulli(const Key& key, const Operand& p, const Shape& shape);
/// Positions along an axis, as i64, with probability softmax(logits): [..., n, ...] → [..., ...].
/// A logit of −∞ is never drawn. Throws for integers, for no elements, and for an axis outside.
/// Many draws of one distribution are those of logits that are broadcast.
Tensor categorical(const Key& key, const Operand& logits, std::int64_t axis = -1);

/// Numbers of density x^(α−1)e⁻ˣ/Γ(α), of α's shape or the given one, by G. Marsaglia and W. Tsang,
/// "A simple method for generating gamma variables" (2000). NaN unless α > 0. Differentiable in α
/// to any order, though numbers are rejected: by the derivative of the distribution function (M.
/// Figurnov et al., "Implicit reparameterization gradients", 2018).
Tensor gamma(const Key& key, const Operand& alpha);
Tensor gamma(const Key& key, const Operand& alpha, const Shape& shape);
/// log gamma(…), which does not underflow where α is small.
Tensor log_gamma(const Key& key, const Operand& alpha);
/// Numbers between 0 and 1 of density ~ x^(a−1)(1 − x)^(b−1); of the shape to which a and b
/// broadcast.
Tensor beta(const Key& key, const Operand& a, const Operand& b);
/// Positive numbers that sum to 1 along the last axis, with concentrations alpha […, n]. Throws for
/// rank 0.
Tensor dirichlet(const Key& key, const Operand& alpha);

/// Integers low, …, high − 1, all equally often: exactly where there are more than 2³² of them,
/// else to less than 2⁻³² relative. Throws unless low < high and the dtype is one of integers that
/// holds them. All values of a dtype are those of `random_bits`.
Tensor random_integers(const Key& key, const Shape& shape, std::int64_t low, std::int64_t high,
                       Dtype dtype = i64, const Location& at = Location::current());
/// 0, 1, …, n − 1 in random order, as i64. Throws for a negative n.
Tensor permutation(const Key& key, std::int64_t n, const Location& at = Location::current());
/// The slices of x along an axis in random order; the same order everywhere.
Tensor shuffle(const Key& key, const Operand& x, std::int64_t axis = 0);

}  // namespace hom
