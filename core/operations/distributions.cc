// core/operations/distributions.cc -- distributions: by inversion, by Gumbel's trick, by rejection
#include <hom/core/operations/distributions.h>

#include <limits>
#include <numbers>

#include <hom/core/capture.h>
#include <hom/core/loops.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/functions.h>
#include <hom/core/operations/indexing.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/operations/sorting.h>
#include <hom/core/operations/special.h>

namespace hom {
namespace {

void require_float_dtype(const char* operation, Dtype dtype, const Location& at) {
  require(dtype.is_float(), at, [&] {
    return Complaint{std::string(operation) + ": makes floats, not " + to_string(dtype),
                     "random_integers gives integers"};
  });
}

/// A parameter in the shape of what is drawn.
Tensor parameter(const char* operation, const char* name, const Operand& x, Dtype dtype,
                 const Shape& shape) {
  const Shape& own = x.shape();
  const std::size_t rank = shape.size();
  bool fits = own.size() <= rank;
  for (std::size_t i = 0; fits && i < own.size(); ++i) {
    const std::int64_t extent = own[own.size() - 1 - i];
    fits = extent == 1 || extent == shape[rank - 1 - i];
  }
  require(fits, x.at(), [&] {
    return Complaint{std::string(operation) + ": " + name + " is " + to_string(x.value().type()) +
                         " and does not broadcast to the shape " + to_string(shape) +
                         " that is drawn",
                     "each element has its own parameter: the shape that is drawn ends with that "
                     "of the parameter"};
  });
  return broadcast_to(x.as(dtype), shape);
}

/// The dtype that 16-bit floats are drawn in.
Dtype drawn(Dtype dtype) { return dtype.size() == 2 ? f32 : dtype; }

/// 2k + 1 for k = 0, …, 2^digits − 1 in f32 (23 digits) or f64 (52): odd numbers, exact, and
/// symmetric around 2^digits.
Tensor odd_numbers(const Key& key, const Shape& shape, Dtype dtype, const Location& at) {
  const Tensor bits = random_bits(key, shape, dtype == f64 ? u64 : u32, at);
  const Tensor k = dtype == f64 ? bits >> 12 : bits >> 9;
  return k.astype(dtype) * 2 + 1;
}

/// Between 0 and 1, never one of them: what logarithms take.
Tensor open_unit(const Key& key, const Shape& shape, Dtype dtype, const Location& at) {
  return odd_numbers(key, shape, dtype, at) * (dtype == f64 ? 0x1p-53 : 0x1p-24);
}

/// Between −1 and 1, never one of them nor 0.
Tensor symmetric_unit(const Key& key, const Shape& shape, Dtype dtype, const Location& at) {
  return odd_numbers(key, shape, dtype, at) * (dtype == f64 ? 0x1p-52 : 0x1p-23) - 1;
}

/// The dtype of what is drawn with a parameter: of a C++ number f32, as without a parameter.
Dtype dtype_for(const char* operation, const Operand& parameter) {
  if (parameter.is_weak()) return f32;
  require_float(operation, parameter);
  return parameter.dtype();
}

/// log x for x of the gamma distribution, α being f64 and constant.
Tensor log_gamma_by_rejection(const Key& key, const Tensor& alpha, const Location& at) {
  // Enough that no element is ever left: each is accepted with probability 0.95 at least.
  constexpr std::int64_t attempts = 64;
  const Shape shape = alpha.shape();
  const Tensor is_parameter = (alpha > 0) & is_finite(alpha);
  const Tensor is_small = alpha < 1;
  const std::vector<Key> keys = split(key, 2, at);
  const Tensor d = where(is_parameter, where(is_small, alpha + 1, alpha), 1) - 1.0 / 3;
  const Tensor c = rsqrt(9 * d);
  const auto attempt = [&](const Tensor& number, const Tensor& t, const Tensor& is_done) {
    const std::vector<Key> both = split(fold_in(keys[0], Operand(number, at)), 2, at);
    const Tensor z = normal(both[0], shape, f64, at);
    const Tensor root = 1 + c * z;
    const Tensor log_v = 3 * log(where(root > 0, root, 1));
    const Tensor limit = 0.5 * (z * z) + d * (1 - exp(log_v) + log_v);
    const Tensor accepted = (root > 0) & (log(open_unit(both[1], shape, f64, at)) < limit);
    return std::tuple{number + 1, where(is_done, t, log(d) + log_v), is_done | accepted};
  };
  const auto more = [&](const Tensor&, const Tensor&, const Tensor& is_done) {
    return ~all_of(is_done);
  };
  const std::tuple start{Tensor(std::int64_t{0}), zeros(shape, f64), ~is_parameter};
  const Tensor t = std::get<1>(while_loop(more, attempt, start, {.bound = attempts}, at));
  // x·u^(1/α) has the parameter α where x has α + 1.
  const Tensor u = open_unit(keys[1], shape, f64, at);
  const Tensor y = where(is_small, t + log(u) / alpha, t);
  const Tensor otherwise = where(alpha > 0, alpha, std::numeric_limits<double>::quiet_NaN());
  return where(is_parameter, y, otherwise);
}

/// t, with the derivative of a number that keeps its rank while α moves.
Tensor moving_with(const Tensor& alpha, const Tensor& t, const Location& at) {
  if (alpha.is_concrete()) return t;
  const auto number = [](const Tensor&, const Tensor& x) { return x; };
  const auto rule = [](const Tensor& a, const Tensor&, const Tensor& y, const Tensor& da,
                       const Tensor&) { return scale(log_gamma_slope(1, a, y), da); };
  const TensorType type = alpha.type();
  const auto primal = detail::capture_function(number, "log_gamma", at, type, type);
  const auto derivative = detail::capture_function(rule, "rule", at, type, type, type, type, type);
  return apply_one(primitive("custom_jvp"),
                   {{"program", {std::make_shared<const Program>(primal.program)}},
                    {"rule", {std::make_shared<const Program>(derivative.program)}},
                    {"arguments", {std::int64_t{2}}}},
                   {alpha, t}, at);
}

/// log x in f64, for parameters of any dtype.
Tensor log_gamma_of(const Key& key, const Tensor& alpha, const Location& at) {
  const Tensor wide = alpha.astype(f64);
  return moving_with(wide, log_gamma_by_rejection(key, stop_gradient(wide), at), at);
}

}  // namespace

Tensor normal(const Key& key, const Shape& shape, Dtype dtype, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require_float_dtype("normal", dtype, at);
  const Tensor u = symmetric_unit(key, shape, drawn(dtype), at);
  return (std::numbers::sqrt2 * erf_inv(u)).astype(dtype);
}

Tensor truncated_normal(const Key& key, const Shape& shape, const Operand& low, const Operand& high,
                        Dtype dtype) {
  const LocationScope line(LocationScope::current(high.at()));
  require_float_dtype("truncated_normal", dtype, high.at());
  // In f64, whose range holds the probabilities of tails down to 37 deviations.
  const Tensor from = parameter("truncated_normal", "low", low, f64, shape);
  const Tensor to = parameter("truncated_normal", "high", high, f64, shape);
  const Tensor u = open_unit(key, shape, f64, high.at());
  // The lower tail is the accurate one.
  const Tensor mirrored = from > 0;
  const Tensor start = where(mirrored, -to, from);
  const Tensor stop = where(mirrored, -from, to);
  const Tensor below = ndtr(start);
  const Tensor above = ndtr(stop);
  const Tensor inside = ndtri(below + u * (above - below));
  const Tensor x = maximum(minimum(inside, stop), start);
  return where(mirrored, -x, x).astype(dtype);
}

Tensor exponential(const Key& key, const Shape& shape, Dtype dtype, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require_float_dtype("exponential", dtype, at);
  return (-log(open_unit(key, shape, drawn(dtype), at))).astype(dtype);
}

Tensor gumbel(const Key& key, const Shape& shape, Dtype dtype, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require_float_dtype("gumbel", dtype, at);
  return (-log(-log(open_unit(key, shape, drawn(dtype), at)))).astype(dtype);
}

Tensor laplace(const Key& key, const Shape& shape, Dtype dtype, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require_float_dtype("laplace", dtype, at);
  const Tensor u = symmetric_unit(key, shape, drawn(dtype), at);
  return (-sign(u) * log1p(-abs(u))).astype(dtype);
}

Tensor bernoulli(const Key& key, const Operand& p, const Shape& shape) {
  const LocationScope line(LocationScope::current(p.at()));
  if (!p.is_weak()) require_float("bernoulli", p);
  const Tensor probability = parameter("bernoulli", "p", p, f64, shape);
  const Tensor u = random_bits(key, shape, u32, p.at()).astype(f64) * 0x1p-32;
  return u < probability;
}
Tensor bernoulli(const Key& key, const Operand& p) { return bernoulli(key, p, p.shape()); }

Tensor categorical(const Key& key, const Operand& logits, std::int64_t axis) {
  const LocationScope line(LocationScope::current(logits.at()));
  require_float("categorical", logits);
  const std::int64_t along =
      normal_axis("categorical", axis, signed_size(logits.shape()), logits.at());
  require(logits.shape()[static_cast<std::size_t>(along)] > 0, logits.at(), [&] {
    return Complaint{"categorical: axis " + std::to_string(along) + " of " +
                         to_string(logits.value().type()) + " is empty: nothing to choose from",
                     "logits have an element for each category"};
  });
  const Tensor noise = gumbel(key, logits.shape(), f64, logits.at());
  return argmax(logits.as(f64) + noise, along);
}

Tensor log_gamma(const Key& key, const Operand& alpha) {
  const LocationScope line(LocationScope::current(alpha.at()));
  const Dtype dtype = dtype_for("log_gamma", alpha);
  return log_gamma_of(key, alpha.as(dtype), alpha.at()).astype(dtype);
}

Tensor gamma(const Key& key, const Operand& alpha, const Shape& shape) {
  const LocationScope line(LocationScope::current(alpha.at()));
  const Dtype dtype = dtype_for("gamma", alpha);
  const Tensor each = parameter("gamma", "alpha", alpha, dtype, shape);
  return exp(log_gamma_of(key, each, alpha.at())).astype(dtype);
}
Tensor gamma(const Key& key, const Operand& alpha) { return gamma(key, alpha, alpha.shape()); }

Tensor beta(const Key& key, const Operand& a, const Operand& b) {
  const LocationScope line(LocationScope::current(b.at()));
  const Dtype dtype = promote(dtype_for("beta", a), dtype_for("beta", b));
  const Tensor first = a.as(a.is_weak() ? dtype : a.dtype()).astype(f64);
  const Tensor second = b.as(b.is_weak() ? dtype : b.dtype()).astype(f64);
  const Shape shape = broadcast_shapes("beta", {first.type(), second.type()}, b.at());
  const std::vector<Key> keys = split(key, 2, b.at());
  const Tensor x = log_gamma_of(keys[0], broadcast_to(first, shape), b.at());
  const Tensor y = log_gamma_of(keys[1], broadcast_to(second, shape), b.at());
  return logistic(x - y).astype(dtype);
}

Tensor dirichlet(const Key& key, const Operand& alpha) {
  const LocationScope line(LocationScope::current(alpha.at()));
  const Dtype dtype = dtype_for("dirichlet", alpha);
  require(!alpha.shape().empty(), alpha.at(), [] {
    return Complaint{"dirichlet: takes concentrations [..., n], one for each share, got a number"};
  });
  return softmax(log_gamma_of(key, alpha.as(dtype), alpha.at()), -1).astype(dtype);
}

Tensor random_integers(const Key& key, const Shape& shape, std::int64_t low, std::int64_t high,
                       Dtype dtype, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require(dtype.is_integer(), at, [&] {
    return Complaint{"random_integers: makes integers, not " + to_string(dtype),
                     "uniform gives floats"};
  });
  require(low < high, at, [&] {
    return Complaint{"random_integers: there are no integers from " + std::to_string(low) +
                         " to below " + std::to_string(high),
                     "the upper end is not included"};
  });
  require(fits({low}, dtype) && fits({high - 1}, dtype), at, [&] {
    return Complaint{"random_integers: " + to_string(dtype) + " does not hold the integers from " +
                         std::to_string(low) + " to below " + std::to_string(high),
                     "ask for a wider dtype, such as i64"};
  });
  const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const auto draw = [&](const Key& from) { return random_bits(from, shape, u64, at); };
  Tensor bits = draw(key);
  if (count > std::uint64_t{1} << 32) {
    // Those beyond the last whole multiple of the count are drawn again: at most every second one.
    const std::uint64_t surplus = (~count + 1) % count;  // 2⁶⁴ modulo the count
    const auto is_beyond = [&](const Tensor& x) {
      return surplus == 0 ? x != x : x > Operand(~surplus, at);
    };
    const auto again = [&](const Tensor& attempt, const Tensor& x) {
      const Tensor next = draw(fold_in(key, Operand(attempt, at)));
      return std::pair{attempt + 1, where(is_beyond(x), next, x)};
    };
    const auto more = [&](const Tensor&, const Tensor& x) { return any_of(is_beyond(x)); };
    bits = while_loop(more, again, std::pair{Tensor(std::int64_t{0}), bits}, {}, at).second;
  }
  return ((bits % Operand(count, at)).astype(i64) + low).astype(dtype);
}

Tensor permutation(const Key& key, std::int64_t n, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require(n >= 0, at,
          [&] { return Complaint{"permutation: of " + std::to_string(n) + " elements"}; });
  return argsort(random_bits(key, {n}, u64, at));
}

Tensor shuffle(const Key& key, const Operand& x, std::int64_t axis) {
  const LocationScope line(LocationScope::current(x.at()));
  const Shape shape = x.shape();
  const std::int64_t along = normal_axis("shuffle", axis, signed_size(shape), x.at());
  const std::int64_t n = shape[static_cast<std::size_t>(along)];
  return take(x, permutation(key, n, x.at()), along);
}

}  // namespace hom
