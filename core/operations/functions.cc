// core/operations/functions.cc -- compositions of primitives
#include <hom/core/operations/functions.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/indexing.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/operations/special.h>

namespace hom {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The maximum to subtract before exp, as a constant: 0 where it is infinite or there are no
/// elements. The result does not depend on it, so it carries no derivative.
Tensor shift_of(const Tensor& x, const Axes& axes) {
  const Tensor largest = max_or(x, -infinity, axes, Keep::yes);
  return stop_gradient(where(is_finite(largest), largest, 0));
}

}  // namespace

// Steps that a composition records, and its errors, belong to the line of its caller: of the
// outermost composition, where they nest.

Tensor relu(const Operand& x) {
  const LocationScope line(LocationScope::current(x.at()));
  return where(x <= 0, 0, x);  // in this order, so that NaN stays
}

Tensor sigmoid(const Operand& x) {
  require_float("sigmoid", x);
  return logistic(x);
}

Tensor softplus(const Operand& x, double beta) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("softplus", x);
  // Each side is analytic where it is used; |x| would have a kink at 0 that only the first
  // derivative hides.
  const Tensor scaled = x * beta;
  const Tensor positive = scaled > 0;
  return (where(positive, scaled, 0) + log1p(exp(where(positive, -scaled, scaled)))) / beta;
}

Tensor log_sigmoid(const Operand& x) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("log_sigmoid", x);
  return -softplus(-x);
}

Tensor silu(const Operand& x) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("silu", x);
  return x * logistic(x);
}

Tensor gelu(const Operand& x) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("gelu", x);
  return x * ndtr(x);
}

Tensor square(const Operand& x) {
  const LocationScope line(LocationScope::current(x.at()));
  return x * x;
}

Tensor hypot(const Operand& x, const Operand& y) {
  const LocationScope line(LocationScope::current(y.at()));
  const auto [a, b] = harmonise<2>("hypot", {&x, &y}, y.at());
  require_float("hypot", a);
  const Tensor largest = maximum(abs(a), abs(b));
  const Tensor unit = stop_gradient(where((largest > 0) & is_finite(largest), largest, 1));
  return unit * norm(stack({a / unit, b / unit}), 0);
}

Tensor sinc(const Operand& x) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("sinc", x);
  const Tensor angle = x * std::numbers::pi;
  const Tensor near_zero = abs(angle) < 1;
  // Σ (−1)ᵏ u²ᵏ/(2k+1)!, exact to rounding below 1, and so are its derivatives; the other branch
  // never sees 0.
  const Tensor u = where(near_zero, angle, 0);
  const Tensor squared = u * u;
  Tensor series = zeros_like(u);
  for (int k = 10; k >= 0; --k)
    series = series * squared + (k % 2 ? -1.0 : 1.0) / std::tgamma(2.0 * k + 2.0);
  const Tensor safe = where(near_zero, 1, angle);
  return where(near_zero, series, sin(safe) / safe);
}

Tensor logsumexp(const Operand& x, const Axes& axes, Keep keep) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("logsumexp", x);
  const Tensor value = x.value();
  const Tensor shift = shift_of(value, axes);
  const Tensor total = log(sum(exp(value - shift), axes, Keep::yes)) + shift;
  return keep == Keep::yes ? total : reshape(total, sum(value, axes).shape());
}

Tensor logaddexp(const Operand& x, const Operand& y) {
  const LocationScope line(LocationScope::current(y.at()));
  const auto [a, b] = harmonise<2>("logaddexp", {&x, &y}, y.at());
  require_float("logaddexp", a);
  // Equal infinities differ by 0, where the subtraction would give NaN. Each side is analytic where
  // it is used.
  const Tensor infinite = (a == b) & !is_finite(a);
  const Tensor difference = where(infinite, 0, a) - where(infinite, 0, b);
  const Tensor larger = a > b;
  return where(larger, a, b) + log1p(exp(where(larger, -difference, difference)));
}

Tensor logcumsumexp(const Operand& x, std::int64_t axis) {
  const LocationScope line(LocationScope::current(x.at()));
  Tensor all = x.value();
  const Shape shape = all.shape();
  const auto along =
      static_cast<std::size_t>(normal_axis("logcumsumexp", axis, all.rank(), x.at()));
  const auto part = [&](std::int64_t start, std::int64_t size) {
    Shape starts(shape.size(), 0);
    Shape sizes = shape;
    starts[along] = start;
    sizes[along] = size;
    return slice(all, starts, sizes, Shape(shape.size(), 1));
  };
  for (std::int64_t distance = 1; distance < shape[along]; distance *= 2) {
    const std::int64_t rest = shape[along] - distance;
    all = concat({part(0, distance), logaddexp(part(0, rest), part(distance, rest))}, axis);
  }
  return all;
}

Tensor softmax(const Operand& x, std::int64_t axis) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("softmax", x);
  const Tensor value = x.value();
  const Tensor weight = exp(value - shift_of(value, axis));
  return weight / sum(weight, axis, Keep::yes);
}

Tensor log_softmax(const Operand& x, std::int64_t axis) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("log_softmax", x);
  const Tensor value = x.value();
  // Shifted first: the logarithm of the sum would drown in a large maximum.
  const Tensor shifted = value - shift_of(value, axis);
  return shifted - log(sum(exp(shifted), axis, Keep::yes));
}

Tensor cross_entropy(const Operand& logits, const Operand& labels) {
  const LocationScope line(LocationScope::current(logits.at()));
  const TensorType type = logits.value().type();
  const TensorType label_type = labels.value().type();
  Shape examples = type.shape;
  if (!examples.empty()) examples.pop_back();
  const bool fits =
      type.rank() >= 1 && label_type.shape == (label_type.dtype.is_float() ? type.shape : examples);
  require(fits, logits.at(), [&] {
    return Complaint{
        "cross_entropy: logits " + to_string(type) + " and labels " + to_string(label_type) +
            " do not fit",
        "logits are [..., classes]; labels are integers [...], or probabilities [..., classes]"};
  });
  const Tensor log_probability = log_softmax(logits, -1);
  if (label_type.dtype.is_float()) return -mean(sum(labels * log_probability, -1));
  return -mean(take_along_axis(log_probability, expand_dims(labels, -1), -1));
}

Tensor mean_squared_error(const Operand& x, const Operand& y) {
  const LocationScope line(LocationScope::current(y.at()));
  return mean(square(x - y));
}

namespace {
Tensor normalised(const Operand& operand, std::int64_t axis, double epsilon) {
  const Tensor x = widened(operand);
  const Tensor deviation = x - mean(x, axis, Keep::yes);
  return convert(deviation * rsqrt(mean(deviation * deviation, axis, Keep::yes) + epsilon),
                 operand.dtype());
}
}  // namespace

Tensor layer_norm(const Operand& x, std::int64_t axis, double epsilon) {
  const LocationScope line(LocationScope::current(x.at()));
  return normalised(x, axis, epsilon);
}

Tensor batch_norm(const Operand& x, double epsilon) {
  const LocationScope line(LocationScope::current(x.at()));
  return normalised(x, 0, epsilon);
}

namespace {
Tensor scores(const Operand& queries, const Operand& keys, const Operand& v) {
  const Tensor q = queries.value();
  const Tensor k = keys.value();
  require(q.rank() >= 2 && k.rank() >= 2 && v.value().rank() >= 2, v.at(), [&] {
    return Complaint{"attention: takes tensors of rank 2 or more, got q " + to_string(q.type()) +
                         ", k " + to_string(k.type()) + ", v " + to_string(v.value().type()),
                     "q is [..., n, d], k [..., m, d] and v [..., m, e]"};
  });
  const double depth = static_cast<double>(q.extent(-1));
  return matmul(q, swap_axes(k, -1, -2)) * (1 / std::sqrt(depth));
}
}  // namespace

Tensor attention(const Operand& q, const Operand& k, const Operand& v) {
  const LocationScope line(LocationScope::current(v.at()));
  return matmul(softmax(scores(q, k, v)), v);
}

Tensor attention(const Operand& q, const Operand& k, const Operand& v, const Operand& mask) {
  const LocationScope line(LocationScope::current(v.at()));
  const Tensor score = scores(q, k, v);
  const Tensor kept = broadcast_to(mask, score.shape());
  const Tensor any = any_of(kept, -1, Keep::yes);
  // A row without entries attends to everything for the softmax's sake, and its result is dropped.
  const Tensor weight = softmax(where(kept | !any, score, -infinity));
  return where(any, matmul(weight, v), 0);
}

}  // namespace hom
