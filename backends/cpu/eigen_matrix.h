// backends/cpu/eigen_matrix.h -- Eigen's matrices for row-major elements, for .cc files of this
// folder
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

// Eigen under a name of our own: its inline functions depend on the flags they are compiled with,
// and a program that uses Eigen with other flags must not be linked with these.
#define Eigen HomEigen
#include <Eigen/Core>

namespace hom::cpu {

/// Column-major, as Eigen's factorizations like it, and aligned alike for every copy, so that bits
/// do not depend on where the elements came from.
template <class T>
using EigenMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using RowMajorMap =
    Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, Eigen::Unaligned>;

template <class T>
EigenMatrix<T> matrix_from(const T* a, std::int64_t m, std::int64_t n) {
  EigenMatrix<T> copy(m, n);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) copy(i, j) = a[i * n + j];
  }
  return copy;
}

template <class T, class Expression>
void write_to(T* to, const Expression& m) {
  RowMajorMap<T>(to, m.rows(), m.cols()) = m;
}

template <class T>
bool all_finite(const T* a, std::int64_t size) {
  return std::all_of(a, a + size, [](T x) { return std::isfinite(x); });
}

template <class T>
void fill_with_nan(T* to, std::int64_t size) {
  std::fill_n(to, size, std::numeric_limits<T>::quiet_NaN());
}

/// Whether the first component within a tenth of the largest is negative.
template <class Vector>
bool points_backwards(const Vector& v) {
  const auto threshold = v.cwiseAbs().maxCoeff() * static_cast<typename Vector::Scalar>(0.9);
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    if (std::abs(v[i]) >= threshold) return v[i] < 0;
  }
  return false;
}

}  // namespace hom::cpu
