// categories/check_slopes.cc -- differences with two steps, extrapolated, with what they may be off
// by
#include <hom/categories/check_slopes.h>

#include <algorithm>
#include <cmath>

namespace hom::checking {
namespace {

Precision precision_of(Dtype dtype) {
  if (dtype == f16) return {0x1p-10, 0x1p-24, 0.05, 0.05};
  if (dtype == bf16) return {0x1p-7, 0x1p-133, 0.2, 0.2};
  if (dtype == f32) return {0x1p-23, 0x1p-149, 2e-3, 1e-3};
  return {0x1p-52, 0x1p-1074, 1e-6, 1e-9};
}

}  // namespace

Precision coarsest_precision(const Program& program) {
  Precision coarsest = precision_of(f64);
  for (Slot slot = 0; slot < program.slot_count(); ++slot) {
    const Dtype dtype = program.type(slot).dtype;
    if (dtype.is_float() && precision_of(dtype).epsilon > coarsest.epsilon)
      coarsest = precision_of(dtype);
  }
  for (std::size_t s = 0; s < program.step_count(); ++s) {
    for (const auto& [name, attribute] : program.step(s).attributes) {
      const auto* inner = std::get_if<ProgramPtr>(&attribute.value);
      if (inner == nullptr) continue;
      const Precision precision = coarsest_precision(**inner);
      if (precision.epsilon > coarsest.epsilon) coarsest = precision;
    }
  }
  return coarsest;
}

double dot(const Numbers& a, const Numbers& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}
double dot_of_sizes(const Numbers& a, const Numbers& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += std::abs(a[i] * b[i]);
  return total;
}
double largest(const Numbers& a) {
  double most = 0;
  for (double each : a) most = std::max(most, std::abs(each));
  return most;
}

Slopes slopes_of(const Samples& at, double step, double magnitude, const Precision& precision) {
  const double near_step = step / 4;
  const double far = (at.plus - at.minus) / (2 * step);
  const double near = (at.plus_near - at.minus_near) / (2 * near_step);
  const double noise = 4 * (precision.epsilon * magnitude + precision.least) / near_step;
  // Richardson's extrapolation removes the error of order h².
  const double differences = (16 * near - far) / 15;
  const double left = (at.middle - at.minus_near) / near_step;
  const double right = (at.plus_near - at.middle) / near_step;
  // Of a smooth function the gap falls to a quarter, with the step; at a kink it stays.
  const double gap = std::abs((at.plus - at.middle) / step - (at.middle - at.minus) / step);
  const double near_gap = std::abs(right - left);
  const bool has_kink =
      near_gap > 0.6 * gap &&
      near_gap > 4 * noise + precision.tolerance * std::max(std::abs(left), std::abs(right));
  // Rounding inside the function shows in the difference of both, which is not much smaller.
  const double uncertainty = noise + 3 * std::abs(near - far);
  return {differences, left, right, uncertainty, has_kink, near_gap < 1.7 * gap};
}

Agreement judge(double rule, const Slopes& slopes, double typical, double tolerance,
                DerivativeCheck& check) {
  check.differences = slopes.differences;
  check.left = slopes.left;
  check.right = slopes.right;
  check.deviation = std::abs(rule - slopes.differences);
  const double size = std::max(std::abs(rule), std::abs(slopes.differences));
  const double tight = tolerance * std::max(size, 1e-3 * typical);
  check.allowed = tight + slopes.uncertainty;
  if (!std::isfinite(slopes.differences)) return Agreement::unclear;
  if (check.deviation <= tight) {
    // Where a rule gives the middle of both slopes, a kink is told by its size alone.
    const double gap = std::abs(slopes.right - slopes.left);
    const bool clear = gap > 0.05 * std::max(std::abs(slopes.left), std::abs(slopes.right));
    return slopes.has_kink && slopes.by_as_much && clear ? Agreement::kink : Agreement::agrees;
  }
  if (slopes.has_kink) return Agreement::kink;
  if (!(check.deviation <= check.allowed)) return Agreement::parts;
  return check.allowed > 0.5 * size && size > 1e-3 * typical ? Agreement::unclear
                                                             : Agreement::agrees;
}

}  // namespace hom::checking
