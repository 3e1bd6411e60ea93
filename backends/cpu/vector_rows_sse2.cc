// backends/cpu/vector_rows_sse2.cc -- rows by vectors of 16 bytes
#define HOM_VECTOR_BYTES 16
#define HOM_VECTOR_SET sse2
#include <hom/backends/cpu/vector_rows.inc>

namespace hom::cpu {

const VectorRows vector_rows_sse2{&unary_of, &binary_of};

}  // namespace hom::cpu
