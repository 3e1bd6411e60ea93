// backends/cpu/routines/eigen_gemm_sse2.cc -- Eigen's products for every x86-64
#define Eigen HomEigenSse2
#define HOM_EIGEN_GEMM eigen_gemm_sse2
#include <hom/backends/cpu/routines/eigen_gemm_body.inc>

namespace hom::cpu {
template EigenGemm<std::uint8_t> eigen_gemm_sse2();
template EigenGemm<std::uint32_t> eigen_gemm_sse2();
template EigenGemm<std::uint64_t> eigen_gemm_sse2();
}  // namespace hom::cpu
