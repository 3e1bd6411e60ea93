// backends/cpu/eigen_qr.cc -- QR by Householder reflections

#include <hom/backends/cpu/eigen_matrix.h>
#include <hom/backends/cpu/orthogonal_factors.h>

// Eigen under a name of our own: its inline functions depend on the flags they are compiled with,
// and a program that uses Eigen with other flags must not be linked with these.
#define Eigen HomEigen
#include <Eigen/QR>

namespace hom::cpu {

template <class T>
void factor_qr(const T* a, std::int64_t m, std::int64_t n, T* q, T* r) {
  const std::int64_t k = std::min(m, n);
  if (k == 0) return;
  if (!all_finite(a, m * n)) {
    fill_with_nan(q, m * k);
    fill_with_nan(r, k * n);
    return;
  }
  const Eigen::HouseholderQR<EigenMatrix<T>> factors(matrix_from(a, m, n));
  EigenMatrix<T> orthogonal = factors.householderQ() * EigenMatrix<T>::Identity(m, k);
  EigenMatrix<T> upper =
      factors.matrixQR().topRows(k).template triangularView<Eigen::Upper>().toDenseMatrix();
  for (std::int64_t i = 0; i < k; ++i) {
    if (!(upper(i, i) < 0)) continue;
    upper.row(i) = -upper.row(i);
    orthogonal.col(i) = -orthogonal.col(i);
  }
  write_to(q, orthogonal);
  write_to(r, upper);
}

template void factor_qr(const float*, std::int64_t, std::int64_t, float*, float*);
template void factor_qr(const double*, std::int64_t, std::int64_t, double*, double*);

}  // namespace hom::cpu
