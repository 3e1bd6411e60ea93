// core/operations/functions.h -- named functions that are compositions of primitives: activations,
// losses, norms
//
// All of them are right at their singular points and for huge arguments, in values and in
// derivatives of any order. They take floats and keep the dtype, unless they say otherwise; an
// integer or bool tensor is an `Error` that says astype. Operands of two promote and broadcast.
#pragma once

#include <hom/core/operations/reductions.h>
#include <hom/core/tensor.h>

namespace hom {

/// x where positive, else 0; the derivative at 0 is 0. Takes integers too. [shape] → [shape], as do
/// all functions down to `square`.
Tensor relu(const Operand& x);
/// The logistic function 1/(1 + e⁻ˣ) under its other name.
Tensor sigmoid(const Operand& x);
/// log σ(x), without overflow.
Tensor log_sigmoid(const Operand& x);
/// log(1 + e^(βx))/β, without overflow; β is not 0.
Tensor softplus(const Operand& x, double beta = 1);
/// x·σ(x)
Tensor silu(const Operand& x);
/// x·Φ(x) with the normal distribution function Φ, accurate in its tail.
Tensor gelu(const Operand& x);
/// √(x² + y²), without overflow; the gradient at (0, 0) is 0. Throws where shapes do not broadcast.
Tensor hypot(const Operand& x, const Operand& y);
/// sin(πx)/(πx), 1 at 0.
Tensor sinc(const Operand& x);
/// x·x; takes integers too, which wrap.
Tensor square(const Operand& x);

/// log Σ eˣ over axes, without overflow; −∞ of no elements. Throws for an axis outside the rank.
Tensor logsumexp(const Operand& x, const Axes& axes = {}, Keep keep = Keep::no);
/// log(eˣ + eʸ), without overflow. Throws where shapes do not broadcast.
Tensor logaddexp(const Operand& x, const Operand& y);
/// Running logsumexp along an axis: [shape] → [shape], in O(log n) steps. Throws for an axis
/// outside the rank.
Tensor logcumsumexp(const Operand& x, std::int64_t axis);
/// eˣ/Σ eˣ along an axis: [shape] → [shape]. A slice that is −∞ throughout gives NaN. Throws for an
/// axis outside the rank, and so for rank 0.
Tensor softmax(const Operand& x, std::int64_t axis = -1);
/// x − log Σ eˣ along an axis, accurate where softmax rounds to 0 or 1. Errors as of softmax.
Tensor log_softmax(const Operand& x, std::int64_t axis = -1);

/// Mean over all examples of −log softmax(logits) at the label. `logits` is […, classes]; `labels`
/// is either integers […], or probabilities […, classes]. A scalar. Throws for labels of another
/// shape, and, when it runs, for a label outside 0 … classes − 1.
Tensor cross_entropy(const Operand& logits, const Operand& labels);
/// Mean of (x − y)² over every element: a scalar. Throws where shapes do not broadcast.
Tensor mean_squared_error(const Operand& x, const Operand& y);

/// (x − mean)/√(variance + ε) over an axis: [shape] → [shape]; 16-bit floats are computed in 32
/// bits. Throws for an axis outside the rank.
Tensor layer_norm(const Operand& x, std::int64_t axis = -1, double epsilon = 1e-5);
/// The same over the first axis: every feature over the batch. Where the variance overflows the
/// result is 0.
Tensor batch_norm(const Operand& x, double epsilon = 1e-5);

/// softmax(q·kᵀ/√d)·v for q […, n, d], k […, m, d], v […, m, e]. `mask`, bool broadcast to […, n,
/// m], keeps what is true; a row without any true entry gives 0, and no gradient. The result is […,
/// n, e]. Throws for a rank below 2, for extents that do not fit, and for a mask that does not
/// broadcast.
Tensor attention(const Operand& q, const Operand& k, const Operand& v);
Tensor attention(const Operand& q, const Operand& k, const Operand& v, const Operand& mask);

}  // namespace hom
