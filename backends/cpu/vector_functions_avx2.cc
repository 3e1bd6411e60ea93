// backends/cpu/vector_functions_avx2.cc -- by vectors of 32 bytes
#define HOM_VECTOR_BYTES 32
#define HOM_VECTOR_SET avx2
#include <hom/backends/cpu/vector_functions.inc>

namespace hom::cpu {

const VectorFunctions vector_functions_avx2{"avx2", &unary<float>, &unary<double>, &binary<float>,
                                            &binary<double>};

}  // namespace hom::cpu
