// backends/cpu/vector_rows_avx512.cc -- rows by vectors of 64 bytes
#define HOM_VECTOR_BYTES 64
#define HOM_VECTOR_SET avx512
#include <hom/backends/cpu/vector_rows.inc>

namespace hom::cpu {

const VectorRows vector_rows_avx512{&unary_of, &binary_of};

}  // namespace hom::cpu
