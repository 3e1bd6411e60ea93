// backends/cpu/scalar_logic.h -- scalar functions on bits: comparisons, logic, shifts
#pragma once

#include <cmath>
#include <limits>

#include <hom/backends/cpu/scalar_type.h>

namespace hom::scalar {

// ---- tests ----

struct IsFinite {
  template <Float T>
  bool operator()(T x) const {
    return std::fabs(x) <= std::numeric_limits<T>::max();
  }
};
struct Eq {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Lt {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Ge {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};

// ---- bits ----

struct Not {
  template <Logical T>
  T operator()(T x) const {
    if constexpr (std::same_as<T, bool>) {
      return !x;
    } else {
      return static_cast<T>(~x);
    }
  }
};

struct And {
  template <Logical T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <Logical T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <Logical T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

/// Whether `amount` is in 0 … width − 1.
template <Integer T>
constexpr bool is_proper_shift(T amount) {
  return modular(amount) <
         static_cast<unsigned>(std::numeric_limits<std::make_unsigned_t<T>>::digits);
}
/// 0 for an amount that is negative or at least the width.
struct ShiftLeft {
  template <Integer T>
  T operator()(T a, T amount) const {
    return is_proper_shift(amount) ? static_cast<T>(modular(a) << amount) : T{0};
  }
};
/// Arithmetic for signed integers; an amount that is negative or at least the width leaves the
/// sign.
struct ShiftRight {
  template <Integer T>
  T operator()(T a, T amount) const {
    if (is_proper_shift(amount)) return static_cast<T>(a >> amount);
    return a < T{0} ? static_cast<T>(-1) : T{0};
  }
};

}  // namespace hom::scalar
