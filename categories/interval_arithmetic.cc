// categories/interval_arithmetic.cc -- directed rounding by tests of the error, and where functions
// have their extremes
#include <hom/categories/interval_arithmetic.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <hom/core/attribute.h>

namespace hom {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr Interval only_nan{inf, -inf, true};

double down(double x) { return std::nextafter(x, -inf); }
double up(double x) { return std::nextafter(x, inf); }

/// The rounded result, moved down where `error` = exact − rounded is negative. An overflow to ∞ is
/// a large number.
double rounded_down(double rounded, double error, bool exact_infinity) {
  if (std::isinf(rounded)) {
    return exact_infinity || rounded < 0 ? rounded : std::numeric_limits<double>::max();
  }
  return error < 0 ? down(rounded) : rounded;
}
double rounded_up(double rounded, double error, bool exact_infinity) {
  return -rounded_down(-rounded, -error, exact_infinity);
}

/// exact − rounded for a sum (D. E. Knuth, TwoSum).
double sum_error(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return (a - (s - t)) + (b - t);
}

double add_down(double a, double b) {
  return rounded_down(a + b, sum_error(a, b), std::isinf(a) || std::isinf(b));
}
double add_up(double a, double b) {
  return rounded_up(a + b, sum_error(a, b), std::isinf(a) || std::isinf(b));
}

/// Below this the error of a product may vanish, so that its sign is not known.
constexpr double safe_product = 0x1p-960;

double mul_down(double a, double b) {
  const double p = a * b;
  if (a == 0 || b == 0) return 0;
  const bool infinite = std::isinf(a) || std::isinf(b);
  if (std::abs(p) < safe_product) return p > 0 ? std::max(0.0, down(p)) : down(p);
  return rounded_down(p, infinite ? 0 : std::fma(a, b, -p), infinite);
}
double mul_up(double a, double b) { return -mul_down(-a, b); }

double div_down(double a, double b) {
  const double q = a / b;
  if (a == 0 || std::isinf(a)) return q;
  if (std::isinf(b)) return a * b < 0 ? -0x1p-1074 : 0;
  if (std::abs(q) < safe_product || std::abs(a) < safe_product)
    return (a < 0) == (b < 0) ? std::max(0.0, down(q)) : down(q);
  // a − q·b has the sign of (a/b − q)·b.
  const double remainder = std::isinf(q) ? 0 : std::fma(-q, b, a);
  return rounded_down(q, b > 0 ? remainder : -remainder, false);
}
double div_up(double a, double b) { return -div_down(-a, b); }

double sqrt_down(double x) {
  const double r = std::sqrt(x);
  if (x == 0 || std::isinf(x)) return r;
  return x < safe_product ? down(r) : rounded_down(r, std::fma(-r, r, x), false);
}
double sqrt_up(double x) {
  const double r = std::sqrt(x);
  if (x == 0 || std::isinf(x)) return r;
  return x < safe_product ? up(r) : rounded_up(r, std::fma(-r, r, x), false);
}

/// The next number of type T at or below x, or above.
template <class T>
double round_to(double x, double towards) {
  const T nearest = convert_element<T>(x);
  const auto value = convert_element<double>(nearest);
  if (x != x || value == x || (towards < 0 ? value < x : value > x)) return value;
  if constexpr (std::same_as<T, double>) {
    return value;
  } else if constexpr (std::same_as<T, float>) {
    return std::nextafter(nearest, static_cast<float>(towards));
  } else {
    // 16 bits: steps that double until they lead to the next number, which they cannot pass.
    constexpr bool half = std::same_as<T, float16>;
    if (std::isinf(value)) return std::copysign(half ? 65504.0 : 0x1.fep127, value);
    double step = std::max(half ? 0x1p-25 : 0x1p-134, std::abs(value) * (half ? 0x1p-12 : 0x1p-9));
    for (;; step *= 2) {
      const double moved = value + (towards < 0 ? -step : step);
      const auto next = convert_element<double>(convert_element<T>(moved));
      if (next != value) return next;
    }
  }
}

double round_towards(double x, Dtype dtype, double towards) {
  return visit(dtype, [&]<class T>() -> double {
    if constexpr (dtype_of<T>().is_float()) {
      return round_to<T>(x, towards);
    } else {
      return x;
    }
  });
}

}  // namespace

std::string to_string(const Interval& x) {
  if (x.is_empty()) return x.may_be_nan ? "NaN" : "empty";
  return "[" + to_string(x.lo) + ", " + to_string(x.hi) + "]" + (x.may_be_nan ? " or NaN" : "");
}

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.may_be_nan || b.may_be_nan};
}

namespace categories {

double IntervalArithmetic::rounding_error() const {
  return dtype_ == f64 ? 0x1p-53 : dtype_ == f32 ? 0x1p-24 : dtype_ == f16 ? 0x1p-11 : 0x1p-8;
}

double IntervalArithmetic::function_error() const { return dtype_ == f64 ? 0x1p-50 : 0x1p-21; }

double IntervalArithmetic::largest() const {
  return dtype_ == f64   ? std::numeric_limits<double>::max()
         : dtype_ == f16 ? 65504.0
                         : static_cast<double>(std::numeric_limits<float>::max());
}

/// What a function may give, or be, for a computed value: relative errors, and the smallest number
/// where it underflows.
double IntervalArithmetic::below(double value) const {
  if (std::isinf(value)) return value > 0 ? largest() : value;
  return down(value - std::abs(value) * function_error() - (dtype_ == f64 ? 0x1p-1072 : 0x1p-147));
}
double IntervalArithmetic::above(double value) const { return -below(-value); }

Interval IntervalArithmetic::outward(double lo, double hi, bool may_be_nan) const {
  if (!(lo <= hi)) return {inf, -inf, may_be_nan};
  return {round_towards(lo, dtype_, -inf), round_towards(hi, dtype_, inf), may_be_nan};
}

Interval IntervalArithmetic::neg(const Interval& x) const {
  if (x.is_empty()) return x;
  return {-x.hi, -x.lo, x.may_be_nan};
}

Interval IntervalArithmetic::abs(const Interval& x) const {
  if (x.is_empty() || x.lo >= 0) return x;
  if (x.hi <= 0) return neg(x);
  return {0, std::max(-x.lo, x.hi), x.may_be_nan};
}

Interval IntervalArithmetic::add(const Interval& x, const Interval& y) const {
  if (x.is_empty() || y.is_empty()) return only_nan;
  const bool opposite = (x.lo == -inf && y.hi == inf) || (x.hi == inf && y.lo == -inf);
  const bool nan = x.may_be_nan || y.may_be_nan || opposite;
  // ∞ − ∞ at one end: the other sums of it are not bounded on that side either.
  const double lo = x.lo == -inf || y.lo == -inf ? -inf : add_down(x.lo, y.lo);
  const double hi = x.hi == inf || y.hi == inf ? inf : add_up(x.hi, y.hi);
  return outward(lo, hi, nan);
}

Interval IntervalArithmetic::sub(const Interval& x, const Interval& y) const {
  return add(x, neg(y));
}

Interval IntervalArithmetic::mul(const Interval& x, const Interval& y, bool scale) const {
  if (x.is_empty() || y.is_empty()) {
    // NaN · 0 is 0 for scale.
    return scale && (x.contains(0) || y.contains(0)) ? Interval{0, 0, true} : only_nan;
  }
  const auto infinite = [](const Interval& v) { return v.lo == -inf || v.hi == inf; };
  const bool undefined = (x.contains(0) && infinite(y)) || (y.contains(0) && infinite(x));
  double lo = inf;
  double hi = -inf;
  for (double a : {x.lo, x.hi}) {
    for (double b : {y.lo, y.hi}) {
      lo = std::min(lo, mul_down(a, b));
      hi = std::max(hi, mul_up(a, b));
    }
  }
  const bool nan = x.may_be_nan || y.may_be_nan;
  if (scale && nan && (x.may_be_nan ? y : x).contains(0)) {
    lo = std::min(lo, 0.0);
    hi = std::max(hi, 0.0);
  }
  return outward(lo, hi, nan || (undefined && !scale));
}

Interval IntervalArithmetic::square(const Interval& x) const {
  const Interval size = abs(x);
  if (size.is_empty()) return size;
  return outward(mul_down(size.lo, size.lo), mul_up(size.hi, size.hi), x.may_be_nan);
}

Interval IntervalArithmetic::div(const Interval& x, const Interval& y) const {
  if (x.is_empty() || y.is_empty()) return only_nan;
  const auto infinite = [](const Interval& v) { return v.lo == -inf || v.hi == inf; };
  const bool nan = x.may_be_nan || y.may_be_nan || (x.contains(0) && y.contains(0)) ||
                   (infinite(x) && infinite(y));
  if (y.contains(0)) return {-inf, inf, nan};
  double lo = inf;
  double hi = -inf;
  for (double a : {x.lo, x.hi}) {
    for (double b : {y.lo, y.hi}) {
      if (std::isinf(a) && std::isinf(b)) {
        // Between 0 and ∞, whichever grows faster.
        lo = std::min(lo, (a > 0) == (b > 0) ? 0 : -inf);
        hi = std::max(hi, (a > 0) == (b > 0) ? inf : 0);
        continue;
      }
      lo = std::min(lo, div_down(a, b));
      hi = std::max(hi, div_up(a, b));
    }
  }
  return outward(lo, hi, nan);
}

Interval IntervalArithmetic::rem(const Interval& x, const Interval& y) const {
  if (x.is_empty() || y.is_empty()) return only_nan;
  const bool nan = x.may_be_nan || y.may_be_nan || y.contains(0) || x.lo == -inf || x.hi == inf;
  if (0 <= x.lo && x.hi < y.lo) return {x.lo, x.hi, nan};
  return {std::min(0.0, y.lo), std::max(0.0, y.hi), nan};
}

Interval IntervalArithmetic::pow(const Interval& x, const Interval& y) const {
  // x⁰ = 1 and 1ʸ = 1 even of NaN.
  if (x.is_empty() || y.is_empty()) return {1, 1, true};
  const bool nan = x.may_be_nan || y.may_be_nan;
  const auto corner = [](double a, double b) { return std::pow(a, b); };
  const auto between = [&](double lo, double hi, bool undefined) {
    Interval result = outward(below(lo), above(hi), nan || undefined);
    if (lo >= 0) result.lo = std::max(result.lo, 0.0);
    return nan ? hull(result, {1, 1, true}) : result;
  };
  const bool whole = y.lo == y.hi && std::trunc(y.lo) == y.lo && std::isfinite(y.lo);
  const double largest_size = std::max(std::abs(x.lo), std::abs(x.hi));
  if (whole) {
    const bool even = std::fmod(y.lo, 2) == 0;
    if (y.lo == 0) return {1, 1, y.may_be_nan};
    if (y.lo == 2 && !nan) return square(x);
    if (y.lo < 0 && x.contains(0)) {
      return even ? between(corner(largest_size, y.lo), inf, false) : Interval{-inf, inf, nan};
    }
    if (even) {
      const double smallest_size = x.contains(0) ? 0 : std::min(std::abs(x.lo), std::abs(x.hi));
      const double a = corner(smallest_size, y.lo);
      const double b = corner(largest_size, y.lo);
      return between(std::min(a, b), std::max(a, b), false);
    }
    const double a = corner(x.lo, y.lo);
    const double b = corner(x.hi, y.lo);
    return between(std::min(a, b), std::max(a, b), false);
  }
  const double smallest_size = x.lo > 0 ? x.lo : 0;
  if (x.lo <= 0 && y.lo < 0) return {-inf, inf, true};
  double lo = inf;
  double hi = -inf;
  for (double a : {smallest_size, x.lo > 0 ? x.hi : largest_size}) {
    for (double b : {y.lo, y.hi}) {
      lo = std::min(lo, corner(a, b));
      hi = std::max(hi, corner(a, b));
    }
  }
  if (x.lo >= 0) return between(lo, hi, false);
  return between(-hi, hi, true);
}

Interval IntervalArithmetic::atan2(const Interval& y, const Interval& x) const {
  if (x.is_empty() || y.is_empty()) return only_nan;
  const bool nan = x.may_be_nan || y.may_be_nan;
  // The cut is the negative axis; 0 has two signs there.
  if (x.lo <= 0 && y.contains(0))
    return outward(below(-std::numbers::pi), above(std::numbers::pi), nan);
  double lo = inf;
  double hi = -inf;
  for (double a : {y.lo, y.hi}) {
    for (double b : {x.lo, x.hi}) {
      lo = std::min(lo, std::atan2(a, b));
      hi = std::max(hi, std::atan2(a, b));
    }
  }
  return outward(below(lo), above(hi), nan);
}

Interval IntervalArithmetic::max(const Interval& x, const Interval& y) const {
  if (x.is_empty() || y.is_empty()) return only_nan;
  return {std::max(x.lo, y.lo), std::max(x.hi, y.hi), x.may_be_nan || y.may_be_nan};
}
Interval IntervalArithmetic::min(const Interval& x, const Interval& y) const {
  return neg(max(neg(x), neg(y)));
}

Interval IntervalArithmetic::sqrt(const Interval& x) const {
  const bool nan = x.may_be_nan || x.lo < 0;
  if (x.is_empty() || x.hi < 0) return only_nan;
  return outward(sqrt_down(std::max(x.lo, 0.0)), sqrt_up(x.hi), nan);
}

Interval IntervalArithmetic::rsqrt(const Interval& x) const {
  const bool nan = x.may_be_nan || x.lo < 0;
  if (x.is_empty() || x.hi < 0) return only_nan;
  // 1/√−0 = −∞
  if (x.lo <= 0) return {-inf, inf, nan};
  const double lo = x.hi == inf ? 0 : below(1 / std::sqrt(x.hi));
  return outward(std::max(lo, 0.0), above(1 / std::sqrt(x.lo)), nan);
}

namespace {

constexpr double turn = 2 * std::numbers::pi;

/// Whether phase + k·period lies in the interval for some whole k, or nearly.
bool reaches(const Interval& x, double phase, double period) {
  const double first = (x.lo - phase) / period;
  const double last = (x.hi - phase) / period;
  const double slack = 1e-14 * (1 + std::abs(first) + std::abs(last));
  return std::ceil(first - slack) <= last + slack;
}

/// Beyond this the slack would hide whole turns.
bool is_far(const Interval& x) { return std::max(std::abs(x.lo), std::abs(x.hi)) > 0x1p40; }

}  // namespace

/// sin, or cos, whose maximum is at `crest` and whose minimum half a turn from it.
Interval IntervalArithmetic::wave(const Interval& x, double (*function)(double),
                                  double crest) const {
  if (x.is_empty()) return only_nan;
  const bool nan = x.may_be_nan || x.lo == -inf || x.hi == inf;
  if (!(x.hi - x.lo < turn) || is_far(x)) return {-1, 1, nan};
  const double a = function(x.lo);
  const double b = function(x.hi);
  if (x.lo == 0 && x.hi == 0) return {a, a, nan};
  const double hi = reaches(x, crest, turn) ? 1 : std::min(1.0, above(std::max(a, b)));
  const double lo = reaches(x, crest + turn / 2, turn) ? -1 : std::max(-1.0, below(std::min(a, b)));
  return outward(lo, hi, nan);
}

Interval IntervalArithmetic::sin(const Interval& x) const { return wave(x, std::sin, turn / 4); }
Interval IntervalArithmetic::cos(const Interval& x) const { return wave(x, std::cos, 0); }

Interval IntervalArithmetic::tan(const Interval& x) const {
  if (x.is_empty()) return only_nan;
  const bool nan = x.may_be_nan || x.lo == -inf || x.hi == inf;
  if (reaches(x, turn / 4, turn / 2) || is_far(x)) return {-inf, inf, nan};
  if (x.lo == 0 && x.hi == 0) return {0, 0, nan};
  return outward(below(std::tan(x.lo)), above(std::tan(x.hi)), nan);
}

Interval IntervalArithmetic::cosh(const Interval& x) const {
  const Interval size = abs(x);
  if (size.is_empty()) return only_nan;
  return outward(std::max(1.0, below(std::cosh(size.lo))), above(std::cosh(size.hi)), x.may_be_nan);
}

Interval IntervalArithmetic::sign(const Interval& x) const {
  if (x.is_empty()) return only_nan;
  const auto of = [](double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; };
  return {of(x.lo), of(x.hi), x.may_be_nan};
}

Interval IntervalArithmetic::monotone(const Interval& x, const Monotone& f) const {
  if (x.is_empty() || x.hi < f.from || x.lo > f.to) return only_nan;
  const bool nan = x.may_be_nan || x.lo < f.from || x.hi > f.to;
  const double first = std::max(x.lo, f.from);
  const double last = std::min(x.hi, f.to);
  double lo = f.function(f.rises ? first : last);
  double hi = f.function(f.rises ? last : first);
  if (!f.exact) {
    // f 0 = 0 is exact; elsewhere 0 may be a small number, and ∞ a large one unless it is the end.
    const auto at_end = [&](double at, double value) {
      return (at == 0 && value == 0) ||
             (std::isinf(value) && (std::isinf(at) || at == f.from || at == f.to));
    };
    if (!at_end(f.rises ? first : last, lo)) lo = below(lo);
    if (!at_end(f.rises ? last : first, hi)) hi = above(hi);
  }
  return outward(std::max(lo, f.least), std::min(hi, f.most), nan);
}

void IntervalArithmetic::Sum::add(const Interval& term) {
  may_be_nan_ = may_be_nan_ || term.may_be_nan;
  is_empty_ = is_empty_ || term.is_empty();
  if (term.is_empty()) return;
  lo_ = term.lo == -inf || lo_ == -inf ? -inf : add_down(lo_, term.lo);
  hi_ = term.hi == inf || hi_ == inf ? inf : add_up(hi_, term.hi);
  magnitude_ = add_up(magnitude_, std::max(std::abs(term.lo), std::abs(term.hi)));
  ++terms_;
}

void IntervalArithmetic::Sum::add_product(const Interval& x, const Interval& y) {
  add(IntervalArithmetic(f64).mul(x, y));
  products_ = true;
}

/// Every order of n terms has an error of at most (n − 1)·u/(1 − (n − 1)·u) · Σ|xᵢ|, and one more u
/// for products (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2).
Interval IntervalArithmetic::Sum::result() const {
  if (is_empty_) return only_nan;
  const double roundings =
      static_cast<double>(terms_ - (products_ ? 0 : 1)) * arithmetic_.rounding_error();
  if (terms_ == 0) return {0, 0, may_be_nan_};
  double error = 0;
  if (roundings > 0)
    error = roundings < 0.5 ? mul_up(up(roundings / (1 - roundings)), magnitude_) : inf;
  // Products that underflow; sums do not.
  if (products_ && magnitude_ > 0)
    error = add_up(
        error, static_cast<double>(terms_) * (arithmetic_.dtype_ == f64 ? 0x1p-1074 : 0x1p-149));
  if (!(add_up(magnitude_, error) <= arithmetic_.largest())) {
    // A partial sum may overflow, to ∞ of either sign where terms have both.
    return {lo_ >= 0 ? 0 : -inf, hi_ <= 0 ? 0 : inf,
            may_be_nan_ || !(lo_ >= 0 || hi_ <= 0) || magnitude_ == inf};
  }
  return arithmetic_.outward(add_down(lo_, -error), add_up(hi_, error), may_be_nan_);
}

}  // namespace categories
}  // namespace hom
