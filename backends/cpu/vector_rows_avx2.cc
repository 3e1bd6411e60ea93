// backends/cpu/vector_rows_avx2.cc -- rows by vectors of 32 bytes
#define HOM_VECTOR_BYTES 32
#define HOM_VECTOR_SET avx2
#include <hom/backends/cpu/vector_rows.inc>

namespace hom::cpu {

const VectorRows vector_rows_avx2{&unary_of, &binary_of};

}  // namespace hom::cpu
