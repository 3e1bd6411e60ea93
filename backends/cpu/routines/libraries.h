// backends/cpu/routines/libraries.h -- which libraries may compute matrix products
//
// Hom's own products and Eigen's are part of Hom. The others are looked for when the program runs
// and nothing is linked with them; Debian has the shared libraries of OpenBLAS (`libopenblas0-…`)
// and oneDNN (`libdnnl2`).
//
// The variable HOM_LIBRARIES names libraries in order of preference, `onednn,hom`; each product is
// given to the first that is there and takes it. Without it that is Hom's own, then Eigen's on
// processors without fused multiply-adds: by tests/benchmarks/contractions.cc no other is more than
// a few percent faster, but for libxsmm below 16³, and the others allocate memory when they are
// called. `none` leaves the products of the eager executor, in its order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hom::cpu {

enum class Library : std::uint8_t { hom, eigen, openblas, onednn, libxsmm };

/// As HOM_LIBRARIES has it: `hom`.
std::string_view key_of(Library library);
/// As people write it: `OpenBLAS`.
std::string_view name_of(Library library);

/// In order of preference, by HOM_LIBRARIES now. Throws `Error` for a name that it does not know.
std::vector<Library> preferred_libraries();

/// The functions of OpenBLAS. Null where it is not installed, or where the program itself has
/// loaded it and lets it use several threads: the number is one for the whole process.
struct OpenBlas {
  void (*sgemm)(int order, int a_transposed, int b_transposed, int m, int n, int k, float alpha,
                const float* a, int a_row, const float* b, int b_row, float beta, float* c,
                int c_row);
  void (*dgemm)(int order, int a_transposed, int b_transposed, int m, int n, int k, double alpha,
                const double* a, int a_row, const double* b, int b_row, double beta, double* c,
                int c_row);
};
const OpenBlas* openblas();

/// The functions of oneDNN, and of the OpenMP that it uses. Null where it is not installed.
struct OneDnn {
  int (*sgemm)(char a_transposed, char b_transposed, std::int64_t m, std::int64_t n, std::int64_t k,
               float alpha, const float* a, std::int64_t a_row, const float* b, std::int64_t b_row,
               float beta, float* c, std::int64_t c_row);
  /// Of the calling thread.
  int (*get_threads)();
  void (*set_threads)(int count);
};
const OneDnn* onednn();

/// The functions of libxsmm that make kernels. Matrices are by columns. Null where it is not
/// installed.
struct Libxsmm {
  template <class T>
  using Kernel = void (*)(const T* a, const T* b, T* c, ...);
  template <class T>
  using Dispatch = Kernel<T> (*)(int m, int n, int k, const int* a_column, const int* b_column,
                                 const int* c_column, const T* alpha, const T* beta,
                                 const int* flags, const int* prefetch);
  Dispatch<float> smmdispatch;
  Dispatch<double> dmmdispatch;
};
const Libxsmm* libxsmm();

}  // namespace hom::cpu
