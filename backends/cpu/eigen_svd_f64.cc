// backends/cpu/eigen_svd_f64.cc -- singular values and vectors in f64: a unit of its own, for it
// compiles long
#include <hom/backends/cpu/eigen_svd.h>

namespace hom::cpu {

template void factor_svd(const double*, std::int64_t, std::int64_t, double*, double*, double*);

}  // namespace hom::cpu
