// backends/cpu/vector_functions_sse2.cc -- by vectors of 16 bytes
#define HOM_VECTOR_BYTES 16
#define HOM_VECTOR_SET sse2
#include <hom/backends/cpu/vector_functions.inc>

namespace hom::cpu {

const VectorFunctions vector_functions_sse2{"sse2", &unary<float>, &unary<double>, &binary<float>,
                                            &binary<double>};

}  // namespace hom::cpu
