// backends/cpu/eigen_eigh.cc -- eigenvalues and eigenvectors of symmetric matrices

#include <hom/backends/cpu/eigen_matrix.h>
#include <hom/backends/cpu/orthogonal_factors.h>

// Eigen under a name of our own: its inline functions depend on the flags they are compiled with,
// and a program that uses Eigen with other flags must not be linked with these.
#define Eigen HomEigen
#include <Eigen/Eigenvalues>

namespace hom::cpu {

template <class T>
void factor_eigh(const T* a, std::int64_t n, T* w, T* v) {
  if (n == 0) return;
  EigenMatrix<T> symmetric(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) symmetric(i, j) = a[i * n + j] / 2 + a[j * n + i] / 2;
  }
  Eigen::SelfAdjointEigenSolver<EigenMatrix<T>> solver(n);
  const bool finite = all_finite(a, n * n);
  if (finite) solver.compute(symmetric);
  if (!finite || solver.info() != Eigen::Success) {
    fill_with_nan(w, n);
    fill_with_nan(v, n * n);
    return;
  }
  EigenMatrix<T> vectors = solver.eigenvectors();
  for (std::int64_t j = 0; j < n; ++j) {
    if (points_backwards(vectors.col(j))) vectors.col(j) = -vectors.col(j);
  }
  write_to(w, solver.eigenvalues());
  write_to(v, vectors);
}

template void factor_eigh(const float*, std::int64_t, float*, float*);
template void factor_eigh(const double*, std::int64_t, double*, double*);

}  // namespace hom::cpu
