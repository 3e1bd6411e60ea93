// backends/cpu/scalar_rows.cc -- a row function for each scalar function and dtype
#include <hom/backends/cpu/scalar_rows.h>

#include <algorithm>

#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/scalar_gamma.h>
#include <hom/backends/cpu/scalar_math.h>
#include <hom/backends/cpu/scalar_special.h>
#include <hom/backends/cpu/vector_functions.h>
#include <hom/backends/nests/nest_functions.h>

namespace hom::cpu {
namespace {

using nest::Function;

// The pragmas below promise that iterations are independent. They are, also where the result
// overwrites an operand: it is then the same element that is read and written.

/// to[i] = F(a[i])
template <class F, class T>
void unary_row(const Pointers<2>& at, const std::array<std::int64_t, 2>& strides, std::int64_t n) {
  using Out = typename scalar::StoredResult<F, T, 1>::type;
  Out* to = reinterpret_cast<Out*>(at[0]);
  const T* a = reinterpret_cast<const T*>(at[1]);
  if (strides[0] == 1 && strides[1] == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::apply<F>(a[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * strides[0]] = scalar::apply<F>(a[i * strides[1]]);
  }
}

/// to[i] = F(a[i], b[i])
template <class F, class T>
void binary_row(const Pointers<3>& at, const std::array<std::int64_t, 3>& strides, std::int64_t n) {
  using Out = typename scalar::StoredResult<F, T, 2>::type;
  Out* to = reinterpret_cast<Out*>(at[0]);
  const T* a = reinterpret_cast<const T*>(at[1]);
  const T* b = reinterpret_cast<const T*>(at[2]);
  if (strides[0] == 1 && strides[1] == 1 && strides[2] == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::apply<F>(a[i], b[i]);
  } else if (strides[0] == 1 && strides[1] == 1 && strides[2] == 0) {
    const T second = *b;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::apply<F>(a[i], second);
  } else if (strides[0] == 1 && strides[1] == 0 && strides[2] == 1) {
    const T first = *a;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::apply<F>(first, b[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      to[i * strides[0]] = scalar::apply<F>(a[i * strides[1]], b[i * strides[2]]);
    }
  }
}

// ---- functions of backends/math/ ----

/// Elements that are strided or narrower go through memory that they are computed in.
constexpr std::int64_t stretch = 256;

template <class E, class T>
void gather(E* to, const T* from, std::int64_t stride, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::load(from[i * stride]);
}
template <class E, class T>
void spread(T* to, std::int64_t stride, const E* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i * stride] = static_cast<T>(from[i]);
}

template <Function function, class T>
void vector_unary_row(const Pointers<2>& at, const std::array<std::int64_t, 2>& strides,
                      std::int64_t n) {
  using E = scalar::Compute<T>;
  T* to = reinterpret_cast<T*>(at[0]);
  const T* a = reinterpret_cast<const T*>(at[1]);
  const auto& functions = *vector_functions().unary<E>(function);
  if constexpr (std::same_as<E, T>) {
    if (strides == std::array<std::int64_t, 2>{1, 1}) {
      functions.of_row(to, a, n);
      return;
    }
  }
  E x[stretch];
  for (std::int64_t i = 0; i < n; i += stretch) {
    const std::int64_t count = std::min(stretch, n - i);
    gather(x, a + i * strides[1], strides[1], count);
    functions.of_row(x, x, count);
    spread(to + i * strides[0], strides[0], x, count);
  }
}

template <Function function, class T>
void vector_binary_row(const Pointers<3>& at, const std::array<std::int64_t, 3>& strides,
                       std::int64_t n) {
  using E = scalar::Compute<T>;
  T* to = reinterpret_cast<T*>(at[0]);
  const T* a = reinterpret_cast<const T*>(at[1]);
  const T* b = reinterpret_cast<const T*>(at[2]);
  const auto& functions = *vector_functions().binary<E>(function);
  if constexpr (std::same_as<E, T>) {
    if (strides == std::array<std::int64_t, 3>{1, 1, 1}) {
      functions.of_row(to, a, b, n);
      return;
    }
  }
  E x[stretch];
  E y[stretch];
  for (std::int64_t i = 0; i < n; i += stretch) {
    const std::int64_t count = std::min(stretch, n - i);
    gather(x, a + i * strides[1], strides[1], count);
    gather(y, b + i * strides[2], strides[2], count);
    functions.of_row(x, x, y, count);
    spread(to + i * strides[0], strides[0], x, count);
  }
}

/// Whether F is one of backends/math/ on elements stored as T.
template <class F, class T>
constexpr bool is_of_math = scalar::Float<scalar::Compute<T>> && requires { F::function; };

template <class T>
void fma_row(const Pointers<4>& at, const std::array<std::int64_t, 4>& strides, std::int64_t n) {
  T* to = reinterpret_cast<T*>(at[0]);
  const T* a = reinterpret_cast<const T*>(at[1]);
  const T* b = reinterpret_cast<const T*>(at[2]);
  const T* c = reinterpret_cast<const T*>(at[3]);
  for (std::int64_t i = 0; i < n; ++i)
    to[i * strides[0]] = scalar::Fma{}(a[i * strides[1]], b[i * strides[2]], c[i * strides[3]]);
}

/// Rows of one arity, by function and dtype.
template <std::size_t N>
using Table = std::array<PerDtype<Row<N>>, nest::function_count>;

template <class F>
constexpr PerDtype<Row<2>> unary_rows() {
  return per_dtype<Row<2>>([]<class T>() -> Row<2> {
    if constexpr (is_of_math<F, T>) {
      return &vector_unary_row<F::function, T>;
    } else if constexpr (std::is_invocable_v<F, scalar::Compute<T>>) {
      return &unary_row<F, T>;
    } else {
      return nullptr;
    }
  });
}

template <class F>
constexpr PerDtype<Row<3>> binary_rows() {
  return per_dtype<Row<3>>([]<class T>() -> Row<3> {
    if constexpr (is_of_math<F, T>) {
      return &vector_binary_row<F::function, T>;
    } else if constexpr (std::is_invocable_v<F, scalar::Compute<T>, scalar::Compute<T>>) {
      return &binary_row<F, T>;
    } else {
      return nullptr;
    }
  });
}

constexpr Table<2> unary_table = [] {
  Table<2> table{};
  const auto add = [&]<class F>(Function function, F) {
    table[static_cast<std::size_t>(function)] = unary_rows<F>();
  };
  add(Function::neg, scalar::Neg{});
  add(Function::abs, scalar::Abs{});
  add(Function::sign, scalar::Sign{});
  add(Function::round, scalar::Round{});
  add(Function::floor, scalar::Floor{});
  add(Function::ceil, scalar::Ceil{});
  add(Function::sqrt, scalar::Sqrt{});
  add(Function::rsqrt, scalar::Rsqrt{});
  add(Function::exp, scalar::Exp{});
  add(Function::expm1, scalar::Expm1{});
  add(Function::log, scalar::Log{});
  add(Function::log1p, scalar::Log1p{});
  add(Function::sin, scalar::Sin{});
  add(Function::cos, scalar::Cos{});
  add(Function::tan, scalar::Tan{});
  add(Function::asin, scalar::Asin{});
  add(Function::acos, scalar::Acos{});
  add(Function::atan, scalar::Atan{});
  add(Function::sinh, scalar::Sinh{});
  add(Function::cosh, scalar::Cosh{});
  add(Function::tanh, scalar::Tanh{});
  add(Function::asinh, scalar::Asinh{});
  add(Function::acosh, scalar::Acosh{});
  add(Function::atanh, scalar::Atanh{});
  add(Function::logistic, scalar::Logistic{});
  add(Function::erf, scalar::Erf{});
  add(Function::erfc, scalar::Erfc{});
  add(Function::erfcx, scalar::Erfcx{});
  add(Function::erf_inv, scalar::ErfInv{});
  add(Function::erfc_inv, scalar::ErfcInv{});
  add(Function::lgamma, scalar::Lgamma{});
  add(Function::is_finite, scalar::IsFinite{});
  add(Function::not_, scalar::Not{});
  add(Function::far_sin, scalar::Far<Function::far_sin>{});
  add(Function::far_cos, scalar::Far<Function::far_cos>{});
  add(Function::far_tan, scalar::Far<Function::far_tan>{});
  return table;
}();

constexpr Table<3> binary_table = [] {
  Table<3> table{};
  const auto add = [&]<class F>(Function function, F) {
    table[static_cast<std::size_t>(function)] = binary_rows<F>();
  };
  add(Function::add, scalar::Add{});
  add(Function::sub, scalar::Sub{});
  add(Function::mul, scalar::Mul{});
  add(Function::div, scalar::Div{});
  add(Function::rem, scalar::Rem{});
  add(Function::pow, scalar::Pow{});
  add(Function::max, scalar::Max{});
  add(Function::min, scalar::Min{});
  add(Function::atan2, scalar::Atan2{});
  add(Function::scale, scalar::Scale{});
  add(Function::eq, scalar::Eq{});
  add(Function::ne, scalar::Ne{});
  add(Function::lt, scalar::Lt{});
  add(Function::le, scalar::Le{});
  add(Function::gt, scalar::Gt{});
  add(Function::ge, scalar::Ge{});
  add(Function::and_, scalar::And{});
  add(Function::or_, scalar::Or{});
  add(Function::xor_, scalar::Xor{});
  add(Function::shift_left, scalar::ShiftLeft{});
  add(Function::shift_right, scalar::ShiftRight{});
  return table;
}();

// ---- functions with a parameter ----

template <class T>
void polygamma_row(std::int64_t n, const Pointers<2>& at,
                   const std::array<std::int64_t, 2>& strides, std::int64_t size) {
  T* to = reinterpret_cast<T*>(at[0]);
  const T* x = reinterpret_cast<const T*>(at[1]);
  for (std::int64_t i = 0; i < size; ++i) {
    to[i * strides[0]] = static_cast<T>(scalar::Polygamma{}(n, scalar::load(x[i * strides[1]])));
  }
}

template <class T>
void log_gamma_slope_row(std::int64_t k, const Pointers<3>& at,
                         const std::array<std::int64_t, 3>& strides, std::int64_t size) {
  T* to = reinterpret_cast<T*>(at[0]);
  const T* alpha = reinterpret_cast<const T*>(at[1]);
  const T* t = reinterpret_cast<const T*>(at[2]);
  for (std::int64_t i = 0; i < size; ++i) {
    to[i * strides[0]] = static_cast<T>(scalar::LogGammaSlope{}(
        k, scalar::load(alpha[i * strides[1]]), scalar::load(t[i * strides[2]])));
  }
}

}  // namespace

Row<2> unary_row_of(Function function, Dtype dtype) {
  if (!nest::takes(function, dtype)) return nullptr;
  return unary_table[static_cast<std::size_t>(function)][static_cast<std::size_t>(dtype.id)];
}

Row<3> binary_row_of(Function function, Dtype dtype) {
  return binary_table[static_cast<std::size_t>(function)][static_cast<std::size_t>(dtype.id)];
}

Row<4> fma_row_of(Dtype dtype) {
  if (dtype == f32) return &fma_row<float>;
  return dtype == f64 ? &fma_row<double> : nullptr;
}

ParametricRow<2> polygamma_row_of(Dtype dtype) {
  return visit(dtype, []<class T>() -> ParametricRow<2> {
    if constexpr (scalar::Float<scalar::Compute<T>>) {
      return &polygamma_row<T>;
    } else {
      return nullptr;
    }
  });
}

ParametricRow<3> log_gamma_slope_row_of(Dtype dtype) {
  return visit(dtype, []<class T>() -> ParametricRow<3> {
    if constexpr (scalar::Float<scalar::Compute<T>>) {
      return &log_gamma_slope_row<T>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace hom::cpu
