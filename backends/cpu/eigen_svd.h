// backends/cpu/eigen_svd.h -- singular values by divide and conquer, compiled once for each dtype
#pragma once

#include <hom/backends/cpu/eigen_matrix.h>
#include <hom/backends/cpu/orthogonal_factors.h>

// Eigen under a name of our own: its inline functions depend on the flags they are compiled with,
// and a program that uses Eigen with other flags must not be linked with these.
#define Eigen HomEigen
#include <Eigen/SVD>

namespace hom::cpu {

template <class T>
void factor_svd(const T* a, std::int64_t m, std::int64_t n, T* u, T* s, T* vt) {
  const std::int64_t k = std::min(m, n);
  if (k == 0) return;
  const auto give_nan = [&] {
    fill_with_nan(u, m * k);
    fill_with_nan(s, k);
    fill_with_nan(vt, k * n);
  };
  if (!all_finite(a, m * n)) return give_nan();
  const Eigen::BDCSVD<EigenMatrix<T>> solver(matrix_from(a, m, n),
                                             Eigen::ComputeThinU | Eigen::ComputeThinV);
  if (solver.info() != Eigen::Success) return give_nan();
  EigenMatrix<T> left = solver.matrixU();
  EigenMatrix<T> right = solver.matrixV();
  for (std::int64_t j = 0; j < k; ++j) {
    if (!points_backwards(left.col(j))) continue;
    left.col(j) = -left.col(j);
    right.col(j) = -right.col(j);
  }
  write_to(u, left);
  write_to(s, solver.singularValues());
  write_to(vt, right.transpose());
}

}  // namespace hom::cpu
