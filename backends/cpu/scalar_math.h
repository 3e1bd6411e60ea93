// backends/cpu/scalar_math.h -- the one definition of every scalar function
//
// Eager and compiled kernels use the same functors, so that they agree bit for bit. A functor
// accepts exactly the compute types that its primitive has kernels for: `Sin` takes floats, `Add`
// numbers, `And` bool and integers. None of them has undefined behaviour for any argument.
#pragma once

#include <cmath>
#include <type_traits>

#include <hom/backends/cpu/scalar_logic.h>
#include <hom/backends/cpu/scalar_type.h>
#include <hom/backends/nests/nest.h>

namespace hom::scalar {

// ---- unary, numbers ----

struct Neg {
  template <Number T>
  T operator()(T x) const {
    if constexpr (Integer<T>) {
      return static_cast<T>(0 - modular(x));
    } else {
      return -x;
    }
  }
};
struct Abs {
  template <Number T>
  T operator()(T x) const {
    if constexpr (Float<T>) {
      return std::fabs(x);
    } else {
      return x < T{0} ? Neg{}(x) : x;
    }
  }
};
/// −1, 0 or 1; NaN and ±0 are returned as they are.
struct Sign {
  template <Number T>
  T operator()(T x) const {
    if constexpr (std::is_unsigned_v<T>) {
      return x != T{0} ? T{1} : T{0};
    } else {
      return x > T{0} ? T{1} : x < T{0} ? T{-1} : x;
    }
  }
};

// ---- unary, floats ----

/// Half to even, in the default rounding mode, which Hom never changes.
struct Round {
  template <Float T>
  T operator()(T x) const {
    return std::nearbyint(x);
  }
};
struct Floor {
  template <Float T>
  T operator()(T x) const {
    return std::floor(x);
  }
};
struct Ceil {
  template <Float T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};
struct Sqrt {
  template <Float T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct Rsqrt {
  template <Float T>
  T operator()(T x) const {
    return T{1} / std::sqrt(x);
  }
};

// ---- functions of backends/math/ ----

/// By the instructions of this processor (vector_functions.h). Every instruction set gives the
/// same.
float evaluate(nest::Function function, float x);
double evaluate(nest::Function function, double x);
float evaluate(nest::Function function, float a, float b);
double evaluate(nest::Function function, double a, double b);

template <nest::Function named>
struct UnaryOfMath {
  /// Rows of it are computed several elements at once.
  static constexpr nest::Function function = named;
  template <Float T>
  T operator()(T x) const {
    return evaluate(function, x);
  }
};
using Exp = UnaryOfMath<nest::Function::exp>;
using Expm1 = UnaryOfMath<nest::Function::expm1>;
using Log = UnaryOfMath<nest::Function::log>;
using Log1p = UnaryOfMath<nest::Function::log1p>;
using Sin = UnaryOfMath<nest::Function::sin>;
using Cos = UnaryOfMath<nest::Function::cos>;
using Tan = UnaryOfMath<nest::Function::tan>;
using Asin = UnaryOfMath<nest::Function::asin>;
using Acos = UnaryOfMath<nest::Function::acos>;
using Atan = UnaryOfMath<nest::Function::atan>;
using Sinh = UnaryOfMath<nest::Function::sinh>;
using Cosh = UnaryOfMath<nest::Function::cosh>;
using Tanh = UnaryOfMath<nest::Function::tanh>;
using Asinh = UnaryOfMath<nest::Function::asinh>;
using Acosh = UnaryOfMath<nest::Function::acosh>;
using Atanh = UnaryOfMath<nest::Function::atanh>;
using Logistic = UnaryOfMath<nest::Function::logistic>;
using Erf = UnaryOfMath<nest::Function::erf>;
using Erfc = UnaryOfMath<nest::Function::erfc>;

/// What the host's library has for angles beyond `math::largest_angle`, 0 for others.
template <nest::Function function>
struct Far {
  template <Float T>
  T operator()(T x) const {
    if (!(std::fabs(x) > static_cast<T>(sizeof(T) == 4 ? 0x1p17 : 0x1p30))) return T{0};
    switch (function) {
      case nest::Function::far_sin:
        return std::sin(x);
      case nest::Function::far_cos:
        return std::cos(x);
      default:
        return std::tan(x);
    }
  }
};

// ---- ternary, floats ----

/// a·b + c, rounded once.
struct Fma {
  template <Float T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};

// ---- binary, numbers ----

struct Add {
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) {
      return static_cast<T>(modular(a) + modular(b));
    } else {
      return a + b;
    }
  }
};
struct Sub {
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) {
      return static_cast<T>(modular(a) - modular(b));
    } else {
      return a - b;
    }
  }
};
struct Mul {
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) {
      return static_cast<T>(modular(a) * modular(b));
    } else {
      return a * b;
    }
  }
};
/// Floats: IEEE. Integers: the floor of the quotient; x/0 = 0; the smallest integer over −1 wraps.
struct Div {
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>) {
      return a / b;
    } else {
      if (b == T{0}) return T{0};
      if constexpr (std::is_unsigned_v<T>) {
        return static_cast<T>(a / b);
      } else {
        if (b == T{-1}) return Neg{}(a);
        const T quotient = static_cast<T>(a / b);
        const bool inexact = static_cast<T>(a % b) != T{0};
        return static_cast<T>(quotient - (inexact && (a < T{0}) != (b < T{0}) ? 1 : 0));
      }
    }
  }
};
/// The remainder with the sign of the divisor, as NumPy's: zero takes that sign too. Integers: x
/// rem 0 = x, so that always q·b + r == a; floats: x rem 0 = NaN.
struct Rem {
  static constexpr nest::Function function = nest::Function::rem;
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>) {
      return evaluate(function, a, b);
    } else {
      if (b == T{0}) return a;
      if constexpr (std::is_unsigned_v<T>) {
        return static_cast<T>(a % b);
      } else {
        if (b == T{-1}) return T{0};
        const T r = static_cast<T>(a % b);
        return static_cast<T>(r != T{0} && (r < T{0}) != (b < T{0}) ? r + b : r);
      }
    }
  }
};
/// The larger one, the first of equals; NaN if either is.
struct Max {
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>) {
      return ((a >= b) | (a != a)) ? a : b;
    } else {
      return a >= b ? a : b;
    }
  }
};
/// The smaller one, the first of equals; NaN if either is.
struct Min {
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>) {
      return ((a <= b) | (a != a)) ? a : b;
    } else {
      return a <= b ? a : b;
    }
  }
};
/// Floats: as std::pow has it. Integers wrap, 0⁰ = 1. A negative integer exponent is an error that
/// the kernel raises beforehand; here it counts as the exponent 0.
struct Pow {
  static constexpr nest::Function function = nest::Function::pow;
  template <Number T>
  T operator()(T base, T exponent) const {
    if constexpr (Float<T>) {
      return evaluate(function, base, exponent);
    } else {
      T result{1};
      for (T left = exponent; left > T{0}; left = static_cast<T>(left >> 1)) {
        if (left & T{1}) result = Mul{}(result, base);
        base = Mul{}(base, base);
      }
      return result;
    }
  }
};

// ---- binary, floats ----

struct Atan2 {
  static constexpr nest::Function function = nest::Function::atan2;
  template <Float T>
  T operator()(T y, T x) const {
    return evaluate(function, y, x);
  }
};
/// The product, or +0 where it is NaN and a factor is zero: what is multiplied by exactly 0 is
/// gone, even if it was infinite or NaN, so the coefficient of a branch not taken never reaches a
/// gradient. Scaling by a finite factor is multiplication, bit for bit.
struct Scale {
  template <Float T>
  T operator()(T a, T b) const {
    const T product = a * b;
    return ((product != product) & ((a == T{0}) | (b == T{0}))) ? T{0} : product;
  }
};

}  // namespace hom::scalar
