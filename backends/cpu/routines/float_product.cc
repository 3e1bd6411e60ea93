// backends/cpu/routines/float_product.cc -- the choice by extents
#include <hom/backends/cpu/routines/float_product.h>

#include <hom/backends/cpu/eigen_product.h>
#include <hom/backends/cpu/routines/eigen_gemm.h>

namespace hom::cpu {
namespace {

template <class T>
class ByEigen final : public FloatProduct<T> {
 public:
  ByEigen(std::int64_t m, std::int64_t k, std::int64_t n)
      : gemm_(eigen_gemm<T>()), blocks_(gemm_.blocks(m, k, n)) {}
  void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c,
                std::byte* scratch) const override {
    gemm_.multiply(a, b, c, blocks_, scratch);
  }
  std::int64_t scratch_bytes() const override { return eigen_scratch_bytes<T>(blocks_); }
  std::string name() const override { return "Eigen"; }

 private:
  const EigenGemm<T>& gemm_;
  EigenBlocks blocks_;
};

/// In the order of matrix_product.h.
template <class T>
class InOrder final : public FloatProduct<T> {
 public:
  void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::byte*) const override {
    a.columns == 1 ? multiply_outer(a, b, c) : hom::cpu::multiply(a, b, c);
  }
  std::int64_t scratch_bytes() const override { return 0; }
  std::string name() const override { return "Hom"; }
};

}  // namespace

template <class T>
std::unique_ptr<const FloatProduct<T>> float_product(std::int64_t m, std::int64_t k,
                                                     std::int64_t n) {
  if (m == 1 || k == 1 || n == 1 || m * k * n < 4096) return std::make_unique<InOrder<T>>();
  return std::make_unique<ByEigen<T>>(m, k, n);
}

template std::unique_ptr<const FloatProduct<float>> float_product(std::int64_t, std::int64_t,
                                                                  std::int64_t);
template std::unique_ptr<const FloatProduct<double>> float_product(std::int64_t, std::int64_t,
                                                                   std::int64_t);

}  // namespace hom::cpu
