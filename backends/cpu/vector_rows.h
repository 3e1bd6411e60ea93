// backends/cpu/vector_rows.h -- the functions of backends/math/ on rows, by the vectors of this
// processor
#pragma once

#include <hom/backends/cpu/loops.h>
#include <hom/backends/nests/nest.h>

namespace hom::cpu {

/// Rows as in scalar_rows.h; null where backends/math/ has no such function of `dtype`. An element
/// of the result depends on its operands alone, whatever the vectors.
Row<2> vector_unary_row_of(nest::Function function, Dtype dtype);
Row<3> vector_binary_row_of(nest::Function function, Dtype dtype);

/// Rows for one instruction set.
struct VectorRows {
  Row<2> (*unary)(nest::Function function, Dtype dtype);
  Row<3> (*binary)(nest::Function function, Dtype dtype);
};
extern const VectorRows vector_rows_sse2;
extern const VectorRows vector_rows_avx2;
extern const VectorRows vector_rows_avx512;

/// All that this processor can run, narrowest first: for tests.
SmallVector<const VectorRows*, 3> host_vector_rows();

}  // namespace hom::cpu
