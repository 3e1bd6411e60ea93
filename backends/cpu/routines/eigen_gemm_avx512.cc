// backends/cpu/routines/eigen_gemm_avx512.cc -- Eigen's products for processors with AVX-512
//
// Compiled for them by the flags in BUILD.
#define Eigen HomEigenAvx512
#define HOM_EIGEN_GEMM eigen_gemm_avx512
#include <hom/backends/cpu/routines/eigen_gemm_body.inc>
