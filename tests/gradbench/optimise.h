// tests/gradbench/optimise.h -- gradient descent as a loop, and derivatives by either mode: what
// the nested evals share
#pragma once

#include <string>

#include <hom/hom.h>

namespace hom::gradbench {

/// Outer and inner derivative by forward (f) or reverse (r) mode.
struct Modes {
  const char* name;
  Mode outer;
  Mode inner;
};
inline constexpr Modes all_modes[] = {{"ff", Mode::forward, Mode::forward},
                                      {"fr", Mode::forward, Mode::reverse},
                                      {"rf", Mode::reverse, Mode::forward},
                                      {"rr", Mode::reverse, Mode::reverse}};

/// Where gradient descent is.
struct Descent {
  BOOST_HANA_DEFINE_STRUCT(Descent, (Tensor, x), (Tensor, value), (Tensor, gradient),
                           /// Steps taken since the rate changed, i64 [].
                           (Tensor, taken), (Tensor, rate), (Tensor, done));
};

/// The place of a minimum of f near x, by the rule of the spec; the gradient of f in the mode. At
/// most `bound` rounds, so that reverse mode can go through it.
template <class F>
Tensor argmin(const F& f, const Tensor& start, Mode mode, std::int64_t bound) {
  constexpr double enough = 1e-5;
  const auto slope = jacobian(f, mode);
  const auto round = [&](const Descent& d) {
    const Tensor next = d.x - d.rate * d.gradient;
    const Tensor doubles = d.taken == 10;
    const Tensor done = norm(d.gradient) <= enough || (!doubles && norm(d.x - next) <= enough);
    const auto stay = [&](const Descent& at) {
      Descent same = at;
      same.done = done;
      same.rate = where(done, at.rate, 2.0 * at.rate);
      same.taken = zeros_like(at.taken);
      return same;
    };
    const auto move = [&](const Descent& at) {
      const Tensor value = f(next);
      const auto accept = [&](const Descent& from) {
        return Descent{next, value, slope(next), from.taken + 1, from.rate, from.done};
      };
      const auto reject = [&](const Descent& from) {
        return Descent{from.x,          from.value, from.gradient, zeros_like(from.taken),
                       from.rate / 2.0, from.done};
      };
      return cond(value < at.value, accept, reject, at);
    };
    return cond(done || doubles, stay, move, d);
  };
  const auto goes_on = [](const Descent& d) { return !d.done; };
  const Descent first{start,          f(start),       slope(start), full({}, 0, i64),
                      full({}, 1e-5), full({}, false)};
  return while_loop(goes_on, round, first, {.bound = bound}).x;
}

/// The same rule on plain numbers, with the gradient given.
template <class Value, class Slope>
std::vector<double> argmin_by_hand(const Value& f, const Slope& gradient, std::vector<double> x,
                                   int* rounds = nullptr) {
  const auto length = [](const std::vector<double>& v) {
    double total = 0;
    for (double e : v) total += e * e;
    return std::sqrt(total);
  };
  double value = f(x);
  std::vector<double> g = gradient(x);
  double rate = 1e-5;
  for (int taken = 0;; rounds ? ++*rounds : 0) {
    if (length(g) <= 1e-5) return x;
    if (taken == 10) {
      rate *= 2;
      taken = 0;
      continue;
    }
    std::vector<double> next = x;
    std::vector<double> moved = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      next[i] = x[i] - rate * g[i];
      moved[i] = x[i] - next[i];
    }
    if (length(moved) <= 1e-5) return x;
    if (const double there = f(next); there < value) {
      x = next;
      value = there;
      g = gradient(x);
      ++taken;
    } else {
      rate /= 2;
      taken = 0;
    }
  }
}

}  // namespace hom::gradbench
