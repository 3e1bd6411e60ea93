// categories/check_slopes.h -- slopes by differences, and how well a rule's slope fits them
#pragma once

#include <cstdint>
#include <vector>

#include <hom/categories/check_derivatives.h>

namespace hom::checking {

using Numbers = std::vector<double>;

/// What differences and modes are good for in a dtype.
struct Precision {
  /// The distance from 1 to the next number.
  double epsilon;
  /// The distance from 0 to the next number.
  double least;
  /// Relative, of differences and of the adjoint identity.
  double tolerance;
  double adjoint_tolerance;
};
/// That of the coarsest float in a program and in those inside it; f64 where there is none.
Precision coarsest_precision(const Program& program);

/// Numbers between 1/2 and 1 with random signs: SplitMix64 (G. Steele et al., "Fast splittable
/// pseudorandom number generators", 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double signed_half_to_one() {
    const std::uint64_t random = bits();
    const double size = 0.5 + 0.5 * static_cast<double>(random >> 11) * 0x1p-53;
    return (random & 1) != 0 ? size : -size;
  }
  Numbers numbers(std::size_t count) {
    Numbers all(count);
    for (double& each : all) each = signed_half_to_one();
    return all;
  }

 private:
  std::uint64_t state_;
};

double dot(const Numbers& a, const Numbers& b);
double dot_of_sizes(const Numbers& a, const Numbers& b);
double largest(const Numbers& a);

/// One number of f at x, and at x ± h v for two steps h, of which the second is a quarter.
struct Samples {
  double middle;
  double plus;
  double minus;
  double plus_near;
  double minus_near;
};

struct Slopes {
  double differences;
  double left;
  double right;
  /// What the differences may be off by.
  double uncertainty;
  /// Slopes from both sides that stay apart, by as much or (at a jump, or by noise) by more.
  bool has_kink;
  bool by_as_much;
};

/// `magnitude` is the size of the numbers that are rounded.
Slopes slopes_of(const Samples& at, double step, double magnitude, const Precision& precision);

/// How well a slope by a rule fits to differences; `typical` is the size that slopes have. Fills in
/// the numbers of `check`.
Agreement judge(double rule, const Slopes& slopes, double typical, double tolerance,
                DerivativeCheck& check);

}  // namespace hom::checking
