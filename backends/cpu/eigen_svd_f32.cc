// backends/cpu/eigen_svd_f32.cc -- singular values and vectors in f32: a unit of its own, for it
// compiles long
#include <hom/backends/cpu/eigen_svd.h>

namespace hom::cpu {

template void factor_svd(const float*, std::int64_t, std::int64_t, float*, float*, float*);

}  // namespace hom::cpu
