// backends/cpu/dense_factors.cc -- triangular systems, Cholesky and LU, by blocks
#include <hom/backends/cpu/dense_factors.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace hom::cpu {
namespace {

/// Columns that are worked on at once, one by one; what they do to the others is a product.
constexpr std::int64_t block = 32;

/// to −= a·b, with `product` as the place of a·b; rows of `to` are `stride` apart.
template <class T>
void subtract_product(const MatrixView<T>& a, const MatrixView<T>& b, T* to, std::int64_t stride,
                      std::vector<T>& product) {
  if (a.rows == 0 || a.columns == 0 || b.columns == 0) return;
  product.resize(static_cast<std::size_t>(a.rows * b.columns));
  multiply(a, b, product.data());
  const T* from = product.data();
  for (std::int64_t i = 0; i < a.rows; ++i, to += stride, from += b.columns) {
    for (std::int64_t j = 0; j < b.columns; ++j) to[j] -= from[j];
  }
}

/// Rows first … last − 1 of b against the triangle in the same rows and columns of a.
template <class T>
void solve_block(const MatrixView<T>& a, bool lower, bool unit, std::int64_t first,
                 std::int64_t last, T* b, std::int64_t m) {
  const auto at = [&](std::int64_t i, std::int64_t k) {
    return a.data[i * a.row_stride + k * a.column_stride];
  };
  for (std::int64_t step = 0; step < last - first; ++step) {
    const std::int64_t i = lower ? first + step : last - 1 - step;
    T* row = b + i * m;
    const std::int64_t end = lower ? i : last;
    for (std::int64_t k = lower ? first : i + 1; k < end; ++k) {
      const T factor = at(i, k);
      const T* other = b + k * m;
      for (std::int64_t j = 0; j < m; ++j) row[j] -= factor * other[j];
    }
    if (unit) continue;
    const T pivot = at(i, i);
    for (std::int64_t j = 0; j < m; ++j) row[j] /= pivot;
  }
}

/// Panel `first` … `last` − 1 of the columns of an LU factorization, from row `first` on. Whole
/// rows change places.
template <class T>
int factor_panel(T* a, std::int64_t m, std::int64_t n, std::int64_t first, std::int64_t last,
                 std::int64_t* permutation) {
  int sign = 1;
  for (std::int64_t j = first; j < std::min(last, m); ++j) {
    std::int64_t best = j;
    for (std::int64_t i = j + 1; i < m; ++i) {
      const T size = std::abs(a[i * n + j]);
      const T most = std::abs(a[best * n + j]);
      if (size > most || (size != size && most == most)) best = i;
    }
    if (best != j) {
      std::swap_ranges(a + j * n, a + (j + 1) * n, a + best * n);
      std::swap(permutation[j], permutation[best]);
      sign = -sign;
    }
    const T* row = a + j * n;
    if (row[j] == 0) continue;  // and so is all that stands below
    for (std::int64_t i = j + 1; i < m; ++i) {
      T* other = a + i * n;
      const T factor = other[j] /= row[j];
      for (std::int64_t k = j + 1; k < last; ++k) other[k] -= factor * row[k];
    }
  }
  return sign;
}

}  // namespace

template <class T>
void solve_triangular(const MatrixView<T>& a, bool lower, bool unit, T* b, std::int64_t m) {
  const std::int64_t n = a.rows;
  std::vector<T> product;
  const auto part = [&](std::int64_t i0, std::int64_t i1, std::int64_t k0, std::int64_t k1) {
    return MatrixView<T>{a.data + i0 * a.row_stride + k0 * a.column_stride, i1 - i0, k1 - k0,
                         a.row_stride, a.column_stride};
  };
  const std::int64_t blocks = (n + block - 1) / block;
  for (std::int64_t step = 0; step < blocks; ++step) {
    const std::int64_t first = (lower ? step : blocks - 1 - step) * block;
    const std::int64_t last = std::min(first + block, n);
    const std::int64_t known = lower ? 0 : last;
    const std::int64_t end = lower ? first : n;
    subtract_product(part(first, last, known, end),
                     MatrixView<T>{b + known * m, end - known, m, m, 1}, b + first * m, m, product);
    solve_block(a, lower, unit, first, last, b, m);
  }
}

template <class T>
bool factor_cholesky(T* a, std::int64_t n) {
  std::vector<T> product;
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t last = std::min(first + block, n);
    subtract_product(MatrixView<T>{a + first * n, n - first, first, n, 1},
                     MatrixView<T>{a + first * n, first, last - first, 1, n}, a + first * n + first,
                     n, product);
    for (std::int64_t j = first; j < last; ++j) {
      const T* row = a + j * n;
      for (std::int64_t i = j; i < n; ++i) {
        T* other = a + i * n;
        T sum = other[j];
        for (std::int64_t k = first; k < j; ++k) sum -= other[k] * row[k];
        if (i == j) {
          if (!(sum > 0)) return false;
          other[j] = std::sqrt(sum);
        } else {
          other[j] = sum / row[j];
        }
      }
    }
  }
  return true;
}

template <class T>
int factor_lu(T* a, std::int64_t m, std::int64_t n, std::int64_t* permutation) {
  std::iota(permutation, permutation + m, std::int64_t{0});
  int sign = 1;
  std::vector<T> product;
  for (std::int64_t first = 0; first < std::min(m, n); first += block) {
    const std::int64_t last = std::min({first + block, m, n});
    sign *= factor_panel(a, m, n, first, last, permutation);
    // Rows of U beside the panel, then what is left.
    for (std::int64_t i = first; i < last; ++i) {
      for (std::int64_t k = first; k < i; ++k) {
        const T factor = a[i * n + k];
        for (std::int64_t j = last; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      }
    }
    subtract_product(MatrixView<T>{a + last * n + first, m - last, last - first, n, 1},
                     MatrixView<T>{a + first * n + last, last - first, n - last, n, 1},
                     a + last * n + last, n, product);
  }
  return sign;
}

template void solve_triangular(const MatrixView<float>&, bool, bool, float*, std::int64_t);
template void solve_triangular(const MatrixView<double>&, bool, bool, double*, std::int64_t);
template bool factor_cholesky(float*, std::int64_t);
template bool factor_cholesky(double*, std::int64_t);
template int factor_lu(float*, std::int64_t, std::int64_t, std::int64_t*);
template int factor_lu(double*, std::int64_t, std::int64_t, std::int64_t*);

}  // namespace hom::cpu
