// backends/cpu/eigen_product.cc -- Eigen or a plain loop, by extents
#include <hom/backends/cpu/eigen_product.h>

#include <algorithm>
#include <limits>
#include <type_traits>

// Eigen under a name of our own: its inline functions depend on the flags they are compiled with,
// and a program that uses Eigen with other flags must not be linked with these.
#define Eigen HomEigen
#include <Eigen/Core>

#include <hom/core/tensor.h>

namespace hom::cpu {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Rows = Eigen::Map<const Matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class T>
using Columns = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, Eigen::Unaligned,
                           Eigen::OuterStride<>>;
template <class T>
using Strided =
    Eigen::Map<const Matrix<T>, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// A copy without gaps.
template <class T>
class Copy {
 public:
  explicit Copy(const MatrixView<T>& m)
      : buffer_(static_cast<std::size_t>(m.rows * m.columns) * sizeof(T)),
        view_{reinterpret_cast<const T*>(buffer_.data()), m.rows, m.columns, m.columns, 1} {
    Eigen::Map<Matrix<T>>(reinterpret_cast<T*>(buffer_.data()), m.rows, m.columns) =
        Strided<T>(m.data, m.rows, m.columns, {m.row_stride, m.column_stride});
  }
  const MatrixView<T>& view() const { return view_; }

 private:
  Buffer buffer_;
  MatrixView<T> view_;
};

// ---- integers ----

/// Calls f with the elements as Eigen's products take them: one of the strides is 1.
template <class T, class F>
void visit(const MatrixView<T>& m, const F& f) {
  if (m.column_stride == 1) {
    f(Rows<T>(m.data, m.rows, m.columns, Eigen::OuterStride<>(m.row_stride)));
  } else if (m.row_stride == 1) {
    f(Columns<T>(m.data, m.rows, m.columns, Eigen::OuterStride<>(m.column_stride)));
  } else {
    visit(Copy<T>(m).view(), f);
  }
}

template <class T>
bool is_for_eigen(const MatrixView<T>& a, const MatrixView<T>& b) {
  if (a.columns < 8 || a.rows * a.columns * b.columns < 4096) return false;
  if (sizeof(T) == 8 || b.columns < 16) return true;
  // The loop needs rows of b without gaps, and for one row of a it would not repay copying them.
  return a.rows == 1 && b.column_stride != 1;
}

/// to (+)= the sum of factors[k·stride] times row k of the rows.
template <int terms, bool is_first, class T>
void add_rows(const T* factors, std::int64_t stride, const T* rows, std::int64_t row_stride, T* to,
              std::int64_t n) {
  T factor[terms];
  for (int k = 0; k < terms; ++k) factor[k] = factors[k * stride];
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    T sum = is_first ? T{0} : to[j];
    for (int k = 0; k < terms; ++k)
      sum = static_cast<T>(sum + factor[k] * rows[k * row_stride + j]);
    to[j] = sum;
  }
}

/// For b with rows without gaps.
template <class T>
void multiply_by_rows(const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  for (std::int64_t i = 0; i < a.rows; ++i, c += b.columns) {
    std::int64_t k = 0;
    const auto add = [&]<int terms>(std::integral_constant<int, terms>) {
      const auto add_to = k == 0 ? add_rows<terms, true, T> : add_rows<terms, false, T>;
      add_to(a.data + i * a.row_stride + k * a.column_stride, a.column_stride,
             b.data + k * b.row_stride, b.row_stride, c, b.columns);
      k += terms;
    };
    while (k + 4 <= a.columns) add(std::integral_constant<int, 4>());
    while (k < a.columns) add(std::integral_constant<int, 1>());
  }
}

}  // namespace

template <class T>
void multiply_integers(const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  if (a.columns == 0) {
    std::fill_n(c, a.rows * b.columns, T{0});
  } else if (is_for_eigen(a, b)) {
    Eigen::Map<Matrix<T>> result(c, a.rows, b.columns);
    visit(a, [&](const auto& lhs) {
      visit(b, [&](const auto& rhs) { result.noalias() = lhs * rhs; });
    });
  } else if (b.column_stride == 1) {
    multiply_by_rows(a, b, c);
  } else {
    multiply_by_rows(a, Copy<T>(b).view(), c);
  }
}

template void multiply_integers(const MatrixView<std::uint8_t>&, const MatrixView<std::uint8_t>&,
                                std::uint8_t*);
template void multiply_integers(const MatrixView<std::uint32_t>&, const MatrixView<std::uint32_t>&,
                                std::uint32_t*);
template void multiply_integers(const MatrixView<std::uint64_t>&, const MatrixView<std::uint64_t>&,
                                std::uint64_t*);

// ---- floats ----

template <class T>
void multiply_outer(const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  using Row = Eigen::Array<T, 1, Eigen::Dynamic>;
  using Strides = Eigen::InnerStride<>;
  const std::int64_t m = a.rows, n = b.columns;
  if (n == 1 && m > 1)  // one long row instead of many short ones
    return multiply_outer<T>({b.data, 1, 1, 1, 1}, {a.data, 1, m, 1, a.row_stride}, c);
  const Eigen::Map<const Row, Eigen::Unaligned, Strides> factors(a.data, m, Strides(a.row_stride));
  Buffer copy(b.column_stride == 1 ? 0 : static_cast<std::size_t>(n) * sizeof(T));
  const T* side_by_side = b.data;
  if (b.column_stride != 1) {
    T* to = reinterpret_cast<T*>(copy.data());
    Eigen::Map<Row>(to, n) =
        Eigen::Map<const Row, Eigen::Unaligned, Strides>(b.data, n, Strides(b.column_stride));
    side_by_side = to;
  }
  const Eigen::Map<const Row> row(side_by_side, n);
  // x·0 is 0 unless x is an infinity or NaN; products of other numbers are never NaN.
  const bool is_large = m * n >= 4096;
  if (is_large && (factors * T{0}).sum() == 0 && (row * T{0}).sum() == 0) {
    for (std::int64_t i = 0; i < m; ++i)
      Eigen::Map<Row>(c + i * n, n) = row * factors[i] + T{0};  // no sum is −0
    return;
  }
  for (std::int64_t i = 0; i < m; ++i, c += n) {
    const T factor = factors[i];
    const T* from = row.data();
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      const T sum = 0 + factor * from[j];
      c[j] = sum == sum ? sum : std::numeric_limits<T>::quiet_NaN();
    }
  }
}

template void multiply_outer(const MatrixView<float>&, const MatrixView<float>&, float*);
template void multiply_outer(const MatrixView<double>&, const MatrixView<double>&, double*);

}  // namespace hom::cpu
