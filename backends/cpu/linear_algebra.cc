// backends/cpu/linear_algebra.cc -- factorizations and solvers, one matrix of a batch after another
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <hom/backends/cpu/dense_factors.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/orthogonal_factors.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {
namespace {

std::int64_t rows_of(const TensorType& type) { return type.shape[type.shape.size() - 2]; }
std::int64_t columns_of(const TensorType& type) { return type.shape.back(); }

/// How many matrices there are.
std::int64_t count_of(const TensorType& type) {
  return element_count(Shape(type.shape.begin(), type.shape.end() - 2));
}

/// f for the dtype of the first operand.
template <class F>
void for_dtype(const TensorList& operands, const F& f) {
  if (operands[0].dtype() == f32) {
    f.template operator()<float>();
  } else {
    f.template operator()<double>();
  }
}

/// New arrays for the results.
TensorList new_results(const Invocation& step) {
  TensorList results;
  for (const TensorType& type : step.result_types)
    results.push_back(Tensor(std::shared_ptr<const Array>(Array::allocate(type))));
  return results;
}

/// The elements of a new array.
template <class T>
T* elements_of(const Tensor& x) {
  return x.array().data<T>();
}

/// Result 0 as a copy of an operand, to be worked on in place.
template <class T>
T* copied(const Tensor& from, const Tensor& to) {
  const Tensor x = row_major(from);
  std::copy_n(elements_of<T>(x), x.size(), elements_of<T>(to));
  return elements_of<T>(to);
}

template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

// ---- cholesky, triangular_solve, lu, lu_solve ----

TensorList cholesky_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  for_dtype(operands, [&]<class T>() {
    const TensorType& type = step.result_types[0];
    const std::int64_t n = rows_of(type);
    T* a = copied<T>(operands[0], results[0]);
    for (std::int64_t count = count_of(type); count > 0; --count, a += n * n) {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < i; ++j) a[i * n + j] = a[i * n + j] / 2 + a[j * n + i] / 2;
      }
      if (factor_cholesky(a, n)) {
        for (std::int64_t i = 0; i < n; ++i) std::fill_n(a + i * n + i + 1, n - i - 1, T{0});
      } else {
        std::fill_n(a, n * n, not_a_number<T>);
      }
    }
  });
  return results;
}

TensorList triangular_solve_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  const bool transposed = step.attributes.boolean("transposed");
  const bool lower = step.attributes.boolean("lower") != transposed;
  const bool unit = step.attributes.boolean("unit");
  for_dtype(operands, [&]<class T>() {
    const TensorType& type = step.result_types[0];
    const std::int64_t n = rows_of(type);
    const std::int64_t m = columns_of(type);
    if (type.size() == 0) return;
    const Tensor matrices = row_major(operands[0]);
    const T* a = elements_of<T>(matrices);
    T* b = copied<T>(operands[1], results[0]);
    for (std::int64_t count = count_of(type); count > 0; --count, a += n * n, b += n * m) {
      solve_triangular(MatrixView<T>{a, n, n, transposed ? 1 : n, transposed ? n : 1}, lower, unit,
                       b, m);
    }
  });
  return results;
}

TensorList lu_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  for_dtype(operands, [&]<class T>() {
    const TensorType& type = step.result_types[0];
    const std::int64_t m = rows_of(type);
    const std::int64_t n = columns_of(type);
    T* a = copied<T>(operands[0], results[0]);
    auto* permutation = elements_of<std::int64_t>(results[1]);
    for (std::int64_t count = count_of(type); count > 0; --count, a += m * n, permutation += m)
      factor_lu(a, m, n, permutation);
  });
  return results;
}

/// Operands: a, which only the derivative reads, its packed factors, the permutation, and b. A
/// position outside reads 0 and writes nothing, and equal ones add, so that both directions are
/// adjoint whatever the positions are.
TensorList lu_solve_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  const bool transposed = step.attributes.boolean("transposed");
  for_dtype(operands, [&]<class T>() {
    const TensorType& type = step.result_types[0];
    const std::int64_t n = rows_of(type);
    const std::int64_t m = columns_of(type);
    if (type.size() == 0) return;
    const std::array<Tensor, 3> x{row_major(operands[1]), row_major(operands[2]),
                                  row_major(operands[3])};
    const T* a = elements_of<T>(x[0]);
    const auto* permutation = elements_of<std::int64_t>(x[1]);
    const T* b = elements_of<T>(x[2]);
    T* to = elements_of<T>(results[0]);
    std::fill_n(to, type.size(), T{0});
    std::vector<T> permuted(static_cast<std::size_t>(n * m));
    for (std::int64_t count = count_of(type); count > 0; --count) {
      const auto is_inside = [&](std::int64_t i) {
        return 0 <= permutation[i] && permutation[i] < n;
      };
      if (transposed) {
        const MatrixView<T> columns{a, n, n, 1, n};
        std::copy_n(b, n * m, permuted.data());
        solve_triangular(columns, true, false, permuted.data(), m);
        solve_triangular(columns, false, true, permuted.data(), m);
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; is_inside(i) && j < m; ++j)
            to[permutation[i] * m + j] += permuted[static_cast<std::size_t>(i * m + j)];
        }
      } else {
        for (std::int64_t i = 0; i < n; ++i) {
          if (is_inside(i)) std::copy_n(b + permutation[i] * m, m, to + i * m);
        }
        const MatrixView<T> rows{a, n, n, n, 1};
        solve_triangular(rows, true, true, to, m);
        solve_triangular(rows, false, false, to, m);
      }
      a += n * n;
      permutation += n;
      b += n * m;
      to += n * m;
    }
  });
  return results;
}

// ---- qr, eigh, svd ----

TensorList qr_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  for_dtype(operands, [&]<class T>() {
    const Tensor x = row_major(operands[0]);
    const std::int64_t m = rows_of(x.type());
    const std::int64_t n = columns_of(x.type());
    const std::int64_t k = std::min(m, n);
    const T* a = elements_of<T>(x);
    T* q = elements_of<T>(results[0]);
    T* r = elements_of<T>(results[1]);
    for (std::int64_t count = count_of(x.type()); count > 0; --count) {
      factor_qr(a, m, n, q, r);
      a += m * n;
      q += m * k;
      r += k * n;
    }
  });
  return results;
}

TensorList eigh_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  for_dtype(operands, [&]<class T>() {
    const Tensor x = row_major(operands[0]);
    const std::int64_t n = rows_of(x.type());
    const T* a = elements_of<T>(x);
    T* w = elements_of<T>(results[0]);
    T* v = elements_of<T>(results[1]);
    for (std::int64_t count = count_of(x.type()); count > 0; --count) {
      factor_eigh(a, n, w, v);
      a += n * n;
      w += n;
      v += n * n;
    }
  });
  return results;
}

TensorList svd_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  for_dtype(operands, [&]<class T>() {
    const Tensor x = row_major(operands[0]);
    const std::int64_t m = rows_of(x.type());
    const std::int64_t n = columns_of(x.type());
    const std::int64_t k = std::min(m, n);
    const T* a = elements_of<T>(x);
    T* u = elements_of<T>(results[0]);
    T* s = elements_of<T>(results[1]);
    T* vt = elements_of<T>(results[2]);
    for (std::int64_t count = count_of(x.type()); count > 0; --count) {
      factor_svd(a, m, n, u, s, vt);
      a += m * n;
      u += m * k;
      s += k;
      vt += k * n;
    }
  });
  return results;
}

// ---- determinant, cofactor, pseudoinverse ----

/// The determinant of an n×n matrix, which is overwritten.
template <class T>
T determinant_of(T* a, std::int64_t n, std::vector<std::int64_t>& permutation) {
  permutation.resize(static_cast<std::size_t>(n));
  T product = static_cast<T>(factor_lu(a, n, n, permutation.data()));
  for (std::int64_t i = 0; i < n; ++i) product *= a[i * n + i];
  return product;
}

TensorList determinant_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  for_dtype(operands, [&]<class T>() {
    const Tensor x = copy(operands[0]);
    const std::int64_t n = rows_of(x.type());
    T* a = elements_of<T>(x);
    T* to = elements_of<T>(results[0]);
    std::vector<std::int64_t> permutation;
    for (std::int64_t count = count_of(x.type()); count > 0; --count, a += n * n)
      *to++ = determinant_of(a, n, permutation);
  });
  return results;
}

/// det u · det v · u·diag(Πⱼ≠ᵢ sⱼ)·vᵀ: the matrix of cofactors whatever the rank, for a = u·diag
/// s·vᵀ.
template <class T>
void cofactors_of(const T* a, std::int64_t n, T* to) {
  if (n == 1) {
    *to = *a == *a ? 1 : not_a_number<T>;
    return;
  }
  if (n == 2) {
    const T all[] = {a[3], -a[2], -a[1], a[0]};
    std::copy_n(all, 4, to);
    return;
  }
  const auto size = static_cast<std::size_t>(n * n);
  std::vector<T> u(size);
  std::vector<T> vt(size);
  std::vector<T> s(static_cast<std::size_t>(n));
  factor_svd(a, n, n, u.data(), s.data(), vt.data());
  std::vector<std::int64_t> permutation;
  std::vector<T> spare = u;
  T sign = determinant_of(spare.data(), n, permutation);
  spare = vt;
  sign = std::copysign(T{1}, sign * determinant_of(spare.data(), n, permutation));
  for (std::int64_t i = 0; i < n; ++i) {
    T others = sign;
    for (std::int64_t j = 0; j < n; ++j) {
      if (j != i) others *= s[static_cast<std::size_t>(j)];
    }
    for (std::int64_t j = 0; j < n; ++j) vt[static_cast<std::size_t>(i * n + j)] *= others;
  }
  multiply(MatrixView<T>{u.data(), n, n, n, 1}, MatrixView<T>{vt.data(), n, n, n, 1}, to);
}

TensorList cofactor_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  for_dtype(operands, [&]<class T>() {
    const Tensor x = row_major(operands[0]);
    const std::int64_t n = rows_of(x.type());
    if (x.size() == 0) return;
    const T* a = elements_of<T>(x);
    T* to = elements_of<T>(results[0]);
    for (std::int64_t count = count_of(x.type()); count > 0; --count, a += n * n, to += n * n)
      cofactors_of(a, n, to);
  });
  return results;
}

/// v·diag(1/s)·uᵀ, without the singular values that are at most `cutoff` times the largest.
template <class T>
void pseudoinverse_of(const T* a, std::int64_t m, std::int64_t n, double cutoff, T* to) {
  const std::int64_t k = std::min(m, n);
  std::vector<T> u(static_cast<std::size_t>(m * k));
  std::vector<T> s(static_cast<std::size_t>(k));
  std::vector<T> vt(static_cast<std::size_t>(k * n));
  factor_svd(a, m, n, u.data(), s.data(), vt.data());
  for (std::int64_t i = 0; i < k; ++i) {
    const T size = s[static_cast<std::size_t>(i)];
    const bool is_kept = !(size <= static_cast<T>(cutoff) * s[0]);  // NaN stays
    const T factor = is_kept ? 1 / size : 0;
    for (std::int64_t j = 0; j < n; ++j) vt[static_cast<std::size_t>(i * n + j)] *= factor;
  }
  multiply(MatrixView<T>{vt.data(), n, k, 1, n}, MatrixView<T>{u.data(), k, m, 1, k}, to);
}

TensorList pseudoinverse_kernel(const Invocation& step, TensorList operands) {
  TensorList results = new_results(step);
  const double cutoff = number<double>(step.attributes.get("cutoff"));
  for_dtype(operands, [&]<class T>() {
    const Tensor x = row_major(operands[0]);
    const std::int64_t m = rows_of(x.type());
    const std::int64_t n = columns_of(x.type());
    if (x.size() == 0) return;
    const T* a = elements_of<T>(x);
    T* to = elements_of<T>(results[0]);
    for (std::int64_t count = count_of(x.type()); count > 0; --count, a += m * n, to += m * n)
      pseudoinverse_of(a, m, n, cutoff, to);
  });
  return results;
}

}  // namespace

void add_linear_algebra_kernels(KernelTable& table) {
  table.add("cholesky", cholesky_kernel);
  table.add("triangular_solve", triangular_solve_kernel);
  table.add("lu", lu_kernel);
  table.add("lu_solve", lu_solve_kernel);
  table.add("qr", qr_kernel);
  table.add("eigh", eigh_kernel);
  table.add("svd", svd_kernel);
  table.add("determinant", determinant_kernel);
  table.add("cofactor", cofactor_kernel);
  table.add("pinv", pseudoinverse_kernel);
}

}  // namespace hom::cpu
