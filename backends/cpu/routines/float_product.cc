// backends/cpu/routines/float_product.cc -- the libraries, called alike
#include <hom/backends/cpu/routines/float_product.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <type_traits>

#include <hom/backends/cpu/eigen_product.h>
#include <hom/backends/cpu/routines/eigen_gemm.h>
#include <hom/backends/cpu/routines/fma_gemm.h>
#include <hom/backends/cpu/routines/libraries.h>

namespace hom::cpu {
namespace {

/// Without a library, in the order of matrix_product.h.
template <class T>
class InOrder final : public FloatProduct<T> {
 public:
  void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::byte*) const override {
    a.columns == 1 ? multiply_outer(a, b, c) : hom::cpu::multiply(a, b, c);
  }
  bool has_rows() const override { return true; }
  std::int64_t scratch_bytes() const override { return 0; }
  std::string name() const override { return "Hom in order"; }
};

template <class T>
class ByHom final : public FloatProduct<T> {
 public:
  ByHom(const FmaGemm<T>& gemm, const MatrixView<T>& a, const MatrixView<T>& b)
      : gemm_(gemm), scratch_bytes_(gemm.scratch_bytes(a, b)) {}
  void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c,
                std::byte* scratch) const override {
    gemm_.multiply(a, b, c, b.columns, scratch);
  }
  bool has_parts() const override { return true; }
  void multiply_part(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t c_row,
                     std::byte* scratch) const override {
    gemm_.multiply(a, b, c, c_row, scratch);
  }
  void multiply_batch(const MatrixView<T>& a, const MatrixView<T>& b, T* c, const BatchSteps& batch,
                      std::byte* scratch) const override {
    gemm_.multiply_batch(a, b, c, b.columns, batch, scratch);
  }
  std::int64_t scratch_bytes() const override { return scratch_bytes_; }
  std::string name() const override { return std::string(name_of(Library::hom)); }

 private:
  FmaGemm<T> gemm_;
  std::int64_t scratch_bytes_;
};

template <class T>
class ByEigen final : public FloatProduct<T> {
 public:
  ByEigen(const MatrixView<T>& a, const MatrixView<T>& b)
      : gemm_(eigen_gemm<T>()), blocks_(gemm_.blocks(a.rows, a.columns, b.columns)) {}
  void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c,
                std::byte* scratch) const override {
    gemm_.multiply(a, b, c, blocks_, scratch);
  }
  std::int64_t scratch_bytes() const override { return eigen_scratch_bytes<T>(blocks_); }
  std::string name() const override { return std::string(name_of(Library::eigen)); }

 private:
  EigenGemm<T> gemm_;
  EigenBlocks blocks_;
};

// ---- libraries that know BLAS's matrices only ----

/// How BLAS sees a matrix: by rows, or the transpose of one by rows; rows do not overlap.
struct Leading {
  bool is_transposed;
  int row_stride;
};

template <class T>
std::optional<Leading> leading(const MatrixView<T>& m) {
  const auto fits = [](std::int64_t stride, std::int64_t row) {
    return stride >= row && stride <= INT_MAX;
  };
  if (m.column_stride == 1 && fits(m.row_stride, m.columns))
    return Leading{false, static_cast<int>(m.row_stride)};
  if (m.row_stride == 1 && fits(m.column_stride, m.rows))
    return Leading{true, static_cast<int>(m.column_stride)};
  return std::nullopt;
}

template <class T>
bool has_int_extents(const MatrixView<T>& a, const MatrixView<T>& b) {
  return std::max({a.rows, a.columns, b.columns}) <= INT_MAX;
}

template <class T>
class ByLibrary : public FloatProduct<T> {
 public:
  ByLibrary(Library library, Leading a, Leading b) : library_(library), a_(a), b_(b) {}
  std::int64_t scratch_bytes() const override { return 0; }
  std::string name() const override { return std::string(name_of(library_)); }

 protected:
  Library library_;
  Leading a_, b_;
};

template <class T>
class ByOpenBlas final : public ByLibrary<T> {
 public:
  ByOpenBlas(Leading a, Leading b) : ByLibrary<T>(Library::openblas, a, b) {}
  void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::byte*) const override {
    constexpr int by_rows = 101, as_it_is = 111, transposed = 112;
    const auto gemm = [] {
      if constexpr (std::is_same_v<T, float>) {
        return openblas()->sgemm;
      } else {
        return openblas()->dgemm;
      }
    }();
    const int n = static_cast<int>(b.columns);
    gemm(by_rows, this->a_.is_transposed ? transposed : as_it_is,
         this->b_.is_transposed ? transposed : as_it_is, static_cast<int>(a.rows), n,
         static_cast<int>(a.columns), T{1}, a.data, this->a_.row_stride, b.data,
         this->b_.row_stride, T{0}, c, n);
  }
};

class ByOneDnn final : public ByLibrary<float> {
 public:
  ByOneDnn(Leading a, Leading b) : ByLibrary<float>(Library::onednn, a, b) {}
  void multiply(const MatrixView<float>& a, const MatrixView<float>& b, float* c,
                std::byte*) const override {
    const OneDnn& library = *onednn();
    // Of this thread alone.
    const int threads = library.get_threads();
    if (threads != 1) library.set_threads(1);
    library.sgemm(a_.is_transposed ? 'T' : 'N', b_.is_transposed ? 'T' : 'N', a.rows, b.columns,
                  a.columns, 1, a.data, a_.row_stride, b.data, b_.row_stride, 0, c, b.columns);
    if (threads != 1) library.set_threads(threads);
  }
};

/// A kernel for all rows; panels of other heights have kernels of their own, looked up.
template <class T>
class ByLibxsmm final : public ByLibrary<T> {
 public:
  ByLibxsmm(Leading a, Leading b, std::int64_t rows, Libxsmm::Kernel<T> kernel)
      : ByLibrary<T>(Library::libxsmm, a, b), rows_(rows), kernel_(kernel) {}

  /// Null where libxsmm has none.
  static Libxsmm::Kernel<T> kernel_for(std::int64_t m, std::int64_t k, std::int64_t n, Leading a,
                                       Leading b) {
    // By columns it is cᵀ = bᵀ·aᵀ.
    const T alpha = 1, beta = 0;
    const int flags = 0, c = static_cast<int>(n);
    const auto dispatch = [] {
      if constexpr (std::is_same_v<T, float>) {
        return libxsmm()->smmdispatch;
      } else {
        return libxsmm()->dmmdispatch;
      }
    }();
    return dispatch(static_cast<int>(n), static_cast<int>(m), static_cast<int>(k), &b.row_stride,
                    &a.row_stride, &c, &alpha, &beta, &flags, nullptr);
  }
  void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::byte*) const override {
    const Libxsmm::Kernel<T> kernel =
        a.rows == rows_ ? kernel_ : kernel_for(a.rows, a.columns, b.columns, this->a_, this->b_);
    kernel(b.data, a.data, c);
  }

 private:
  std::int64_t rows_;
  Libxsmm::Kernel<T> kernel_;
};

/// By this library, where it is there and takes such operands.
template <class T>
std::unique_ptr<const FloatProduct<T>> product_by(Library library, const MatrixView<T>& a,
                                                  const MatrixView<T>& b) {
  if (library == Library::hom) {
    const std::optional<FmaGemm<T>> gemm = fma_gemm<T>(b.columns);
    return gemm ? std::make_unique<ByHom<T>>(*gemm, a, b) : nullptr;
  }
  if (library == Library::eigen) return std::make_unique<ByEigen<T>>(a, b);
  const std::optional<Leading> left = leading(a), right = leading(b);
  if (!left || !right || !has_int_extents(a, b)) return nullptr;
  if (library == Library::openblas && openblas())
    return std::make_unique<ByOpenBlas<T>>(*left, *right);
  if constexpr (std::is_same_v<T, float>) {
    if (library == Library::onednn && onednn()) return std::make_unique<ByOneDnn>(*left, *right);
  }
  if (library == Library::libxsmm && libxsmm() && !left->is_transposed && !right->is_transposed) {
    // Kernels are unrolled, and meant for small matrices.
    if (std::max({a.rows, a.columns, b.columns}) > 128) return nullptr;
    const auto kernel = ByLibxsmm<T>::kernel_for(a.rows, a.columns, b.columns, *left, *right);
    if (kernel) return std::make_unique<ByLibxsmm<T>>(*left, *right, a.rows, kernel);
  }
  return nullptr;
}

}  // namespace

template <class T>
std::unique_ptr<const FloatProduct<T>> float_product(const MatrixView<T>& a,
                                                     const MatrixView<T>& b) {
  const bool is_of_vectors = a.rows == 1 || a.columns == 1 || b.columns == 1;
  if (!is_of_vectors) {
    for (const Library library : preferred_libraries()) {
      if (auto product = product_by(library, a, b)) return product;
    }
  }
  return std::make_unique<InOrder<T>>();
}

template std::unique_ptr<const FloatProduct<float>> float_product(const MatrixView<float>&,
                                                                  const MatrixView<float>&);
template std::unique_ptr<const FloatProduct<double>> float_product(const MatrixView<double>&,
                                                                   const MatrixView<double>&);

}  // namespace hom::cpu
