// backends/cpu/routines/eigen_gemm_avx2.cc -- Eigen's products for processors with AVX2 and FMA
//
// Compiled for them by the flags in BUILD.
#define Eigen HomEigenAvx2
#define HOM_EIGEN_GEMM eigen_gemm_avx2
#include <hom/backends/cpu/routines/eigen_gemm_body.inc>
