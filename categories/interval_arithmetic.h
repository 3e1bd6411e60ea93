// categories/interval_arithmetic.h -- arithmetic of single intervals, rounded outwards
//
// An operation on intervals encloses what the operation gives at every choice of numbers from them:
// the exact real result, and the result that the CPU kernel computes in the dtype. Ends of
// + − × ÷ √ are rounded in the right direction by testing the rounding error (with TwoSum, or a
// fused multiply-add), so that they move only where the result is inexact. The functions of libm
// are trusted to 4 units in the last place (documented by glibc: at most 3), in f64 for f64, else
// in f32. 16-bit floats compute in f32.
//
// Monotone functions take the ends; sin and cos look for extremes inside; a product takes four
// products of ends; a quotient by an interval that contains 0 is the whole line. Zero has no sign
// here, so that −0 counts as 0.
//
// IEEE 1788-2015; S. M. Rump, "Verification methods" (2010), sections 2, 5; R. E. Moore, "Interval
// Analysis" (1966).
#pragma once

#include <string>

#include <hom/core/dtype.h>

namespace hom {

/// The numbers from `lo` to `hi`, both included, infinities too; empty where lo > hi. Of bools 0 is
/// false, 1 true, and [0, 1] both.
struct Interval {
  double lo = 0;
  double hi = 0;
  /// Whether the result may be NaN as well, as that of √ on [−1, 1]; where it is nothing else, the
  /// interval is empty.
  bool may_be_nan = false;

  bool is_empty() const { return !(lo <= hi); }
  bool is_point() const { return lo == hi && !may_be_nan; }
  /// NaN is contained where it may be the result.
  bool contains(double x) const { return x != x ? may_be_nan : lo <= x && x <= hi; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// `[0.0, 1.0]`, `[0.0, 1.0] or NaN`, `NaN`
std::string to_string(const Interval& x);
/// The smallest interval around both.
Interval hull(const Interval& a, const Interval& b);

namespace categories {

/// The arithmetic of one dtype of floats.
class IntervalArithmetic {
 public:
  explicit IntervalArithmetic(Dtype dtype) : dtype_(dtype) {}

  /// The ends, rounded outwards to numbers of the dtype.
  Interval outward(double lo, double hi, bool may_be_nan) const;

  Interval neg(const Interval& x) const;
  Interval abs(const Interval& x) const;
  Interval add(const Interval& x, const Interval& y) const;
  Interval sub(const Interval& x, const Interval& y) const;
  /// With 0·∞ = NaN, or (scale) 0.
  Interval mul(const Interval& x, const Interval& y, bool scale = false) const;
  Interval div(const Interval& x, const Interval& y) const;
  /// The remainder with the divisor's sign.
  Interval rem(const Interval& x, const Interval& y) const;
  /// x·x, which is not negative.
  Interval square(const Interval& x) const;
  Interval pow(const Interval& x, const Interval& y) const;
  Interval atan2(const Interval& y, const Interval& x) const;
  Interval max(const Interval& x, const Interval& y) const;
  Interval min(const Interval& x, const Interval& y) const;
  Interval sqrt(const Interval& x) const;
  Interval rsqrt(const Interval& x) const;
  Interval sin(const Interval& x) const;
  Interval cos(const Interval& x) const;
  Interval tan(const Interval& x) const;
  Interval cosh(const Interval& x) const;
  Interval sign(const Interval& x) const;

  /// A function that rises (or falls) from `from` to `to`, is NaN outside, and has values between
  /// `least` and `most`; computed to 4 units in the last place, unless exact.
  struct Monotone {
    double (*function)(double);
    double from;
    double to;
    double least;
    double most;
    bool rises = true;
    bool exact = false;
  };
  Interval monotone(const Interval& x, const Monotone& f) const;

  /// Sums of any terms in any order, each partial sum rounded in the dtype.
  class Sum {
   public:
    explicit Sum(const IntervalArithmetic& arithmetic) : arithmetic_(arithmetic) {}
    void add(const Interval& term);
    /// One product of a contraction, which may be rounded before it is added.
    void add_product(const Interval& x, const Interval& y);
    Interval result() const;

   private:
    const IntervalArithmetic& arithmetic_;
    double lo_ = 0;
    double hi_ = 0;
    double magnitude_ = 0;
    std::int64_t terms_ = 0;
    bool products_ = false;
    bool may_be_nan_ = false;
    bool is_empty_ = false;
  };

 private:
  /// Half a unit in the last place, relative: of results, and of what functions are computed in.
  double rounding_error() const;
  double function_error() const;
  double largest() const;
  Interval wave(const Interval& x, double (*function)(double), double crest) const;
  double below(double value) const;
  double above(double value) const;

  Dtype dtype_;
};

}  // namespace categories
}  // namespace hom
