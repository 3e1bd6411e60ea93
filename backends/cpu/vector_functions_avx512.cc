// backends/cpu/vector_functions_avx512.cc -- by vectors of 64 bytes
#define HOM_VECTOR_BYTES 64
#define HOM_VECTOR_SET avx512
#include <hom/backends/cpu/vector_functions.inc>

namespace hom::cpu {

const VectorFunctions vector_functions_avx512{"avx512", &unary<float>, &unary<double>,
                                              &binary<float>, &binary<double>};

}  // namespace hom::cpu
