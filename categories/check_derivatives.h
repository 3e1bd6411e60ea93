// categories/check_derivatives.h -- a function's derivatives against each other and against
// differences
//
//     const DerivativeReport report = check_derivatives(f, x, y);
//     if (!report.ok()) std::cout << report;
//
// For rules of one's own (custom_jvp, custom_vjp, a primitive), and for whoever doubts ours. At one
// point it compares forward mode, reverse mode and central differences, for each leaf of the result
// and each leaf of the arguments:
//
// - J v by forward mode with (f(x + hv) − f(x − hv)) / 2h, along random directions v;
// - Jᵀw by reverse mode with the same differences of ⟨w, f⟩, for single elements of the argument;
// - ⟨w, J v⟩ with ⟨Jᵀw, v⟩, which are one number (the adjoint identity).
//
// Where they part, the steps of the program are checked one by one at the values that they have in
// the run, and the first whose own rule disagrees is named with its line (a `stop_gradient` too,
// whose rule is no derivative on purpose). Differences with two steps and from both sides tell a
// kink, where there is no derivative, and noise from a wrong rule. In 16-bit floats they tell
// little else than noise: check in f32, or better in f64.
#pragma once

#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <hom/core/function.h>

namespace hom {

struct CheckOptions {
  /// Directions and cotangents are random, and the same for the same seed.
  std::uint64_t seed = 0;
  /// How many directions in each leaf of the arguments.
  int directions = 2;
  /// How many elements of each leaf of the arguments are moved alone.
  std::int64_t elements = 8;
  /// Also check the derivatives of the gradients.
  bool second_order = false;
  /// Relative; 0 is by the coarsest float dtype in the program: 10⁻⁶ in f64, 2·10⁻³ in f32, 0.05 in
  /// f16, 0.2 in bf16. What differences cannot tell is allowed on top.
  double tolerance = 0;
};

/// From the best to the worst.
enum class Agreement {
  agrees,
  /// Differences are too coarse here to say: noise, strong curvature, or values that are not
  /// finite.
  unclear,
  /// The slopes from both sides stay apart with a smaller step: there is no derivative to compare
  /// with.
  kink,
  parts
};

/// One leaf of the result by one leaf of the arguments, at the element where it agrees least.
struct DerivativeCheck {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  std::string result;
  std::string argument;
  Agreement agreement = Agreement::agrees;
  /// The element of the result along a random direction, or that of the argument which moves alone
  /// (against a random cotangent of the result); empty with `of_adjoint`: ⟨w, J v⟩ itself.
  bool of_result = true;
  bool of_adjoint = false;
  Shape index;
  /// One number by each method; NaN where a method gives none.
  double forward = none;
  double reverse = none;
  double differences = none;
  /// The slopes from below and above, with the smaller step.
  double left = none;
  double right = none;
  /// The largest deviation of a mode from the differences (or of the modes), and what is allowed.
  double deviation = 0;
  double allowed = 0;
};

/// A step whose own rule disagrees with differences of that step alone.
struct WrongRule {
  std::string primitive;
  Location line;
  /// The `named` function that it stands in, or empty.
  std::string scope;
  std::vector<DerivativeCheck> checks;
};

struct DerivativeReport {
  /// One for each pair of leaves; those of second derivatives have results like `gradient in x`.
  std::vector<DerivativeCheck> checks;
  /// Where checks part: the first step whose rule does.
  std::optional<WrongRule> wrong_rule;
  /// Modes that are not there, with the reason.
  std::vector<std::string> notes;

  /// Whether nothing parts. Kinks and what is unclear are no mistakes.
  bool ok() const;
  bool has(Agreement agreement) const;
};

std::string to_string(const DerivativeReport& report);
std::ostream& operator<<(std::ostream& out, const DerivativeReport& report);

/// The same for a program at these inputs, in all its float inputs. The paths name the outputs.
/// Throws where no input or no output is a float, and where a step has no derivative.
DerivativeReport check_derivatives(const Program& program, const std::vector<Tensor>& inputs,
                                   const std::vector<std::string>& output_paths,
                                   const CheckOptions& options = {},
                                   const Location& at = Location::current());

namespace detail {
template <class F, class... Args>
DerivativeReport check_derivatives_of(const F& f, const CheckOptions& options, const Location& at,
                                      const Args&... args) {
  if constexpr (is_capturable<F, Args...>()) {
    const auto captured = capture_function(f, "", at, args...);
    return check_derivatives(captured.program, inputs_of(captured, args...),
                             leaf_paths(captured.skeleton, "result"), options, at);
  } else {
    return {};
  }
}
}  // namespace detail

/// Checks f at these arguments: any products of tensors, with results in any product. Float leaves
/// vary, others stay. Overloads rather than a pack, so that an error names the line of the call.
template <class F, ProductType A>
  requires(!std::derived_from<F, Program>)
DerivativeReport check_derivatives(const F& f, const A& a, const CheckOptions& options = {},
                                   const Location& at = Location::current()) {
  return detail::check_derivatives_of(f, options, at, a);
}
template <class F, ProductType A, ProductType B>
  requires(!std::derived_from<F, Program>)
DerivativeReport check_derivatives(const F& f, const A& a, const B& b,
                                   const CheckOptions& options = {},
                                   const Location& at = Location::current()) {
  return detail::check_derivatives_of(f, options, at, a, b);
}
template <class F, ProductType A, ProductType B, ProductType C>
  requires(!std::derived_from<F, Program>)
DerivativeReport check_derivatives(const F& f, const A& a, const B& b, const C& c,
                                   const CheckOptions& options = {},
                                   const Location& at = Location::current()) {
  return detail::check_derivatives_of(f, options, at, a, b, c);
}
template <class F, ProductType A, ProductType B, ProductType C, ProductType D>
  requires(!std::derived_from<F, Program>)
DerivativeReport check_derivatives(const F& f, const A& a, const B& b, const C& c, const D& d,
                                   const CheckOptions& options = {},
                                   const Location& at = Location::current()) {
  return detail::check_derivatives_of(f, options, at, a, b, c, d);
}
template <class F, ProductType A, ProductType B, ProductType C, ProductType D, ProductType E>
  requires(!std::derived_from<F, Program>)
DerivativeReport check_derivatives(const F& f, const A& a, const B& b, const C& c, const D& d,
                                   const E& e, const CheckOptions& options = {},
                                   const Location& at = Location::current()) {
  return detail::check_derivatives_of(f, options, at, a, b, c, d, e);
}

}  // namespace hom
