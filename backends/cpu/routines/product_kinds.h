// backends/cpu/routines/product_kinds.h -- which products compute elements of each dtype
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include <hom/backends/cpu/eigen_product.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/routines/eigen_gemm.h>
#include <hom/backends/cpu/routines/float_product.h>

namespace hom::cpu {

/// 16-bit floats, widened, as the eager executor computes them.
class WidenedProduct {
 public:
  WidenedProduct(const MatrixView<float>&, const MatrixView<float>&) {}
  void multiply(const MatrixView<float>& a, const MatrixView<float>& b, float* c,
                std::byte*) const {
    a.columns == 1 ? multiply_outer(a, b, c) : hom::cpu::multiply(a, b, c);
  }
  bool has_parts() const { return false; }
  void multiply_part(const MatrixView<float>& a, const MatrixView<float>& b, float* c,
                     std::int64_t /*c_row*/, std::byte* scratch) const {
    multiply(a, b, c, scratch);
  }
  /// Rows are products of their own.
  bool has_rows() const { return true; }
  std::int64_t scratch_bytes() const { return 0; }
  std::string name() const { return "Hom in order"; }
};

/// Integers wrap, in any order: by Eigen, or by rows where those are faster (eigen_product.h).
template <class T>
class IntegerProduct {
 public:
  IntegerProduct(const MatrixView<T>& a, const MatrixView<T>& b)
      : gemm_(eigen_gemm_sse2<T>()),
        blocks_(gemm_.blocks(a.rows, a.columns, b.columns)),
        is_for_eigen_(a.columns >= 8 && a.rows * a.columns * b.columns >= 4096 &&
                      (sizeof(T) == 8 || b.columns < 16 || b.column_stride != 1)) {}
  void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::byte* scratch) const {
    is_for_eigen_ ? gemm_.multiply(a, b, c, blocks_, scratch) : multiply_integers(a, b, c);
  }
  bool has_parts() const { return false; }
  void multiply_part(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t /*c_row*/,
                     std::byte* scratch) const {
    multiply(a, b, c, scratch);
  }
  bool has_rows() const { return true; }
  std::int64_t scratch_bytes() const { return is_for_eigen_ ? eigen_scratch_bytes<T>(blocks_) : 0; }
  std::string name() const { return is_for_eigen_ ? "Eigen" : "Hom"; }

 private:
  EigenGemm<T> gemm_;
  EigenBlocks blocks_;
  bool is_for_eigen_;
};

template <class T>
class FastestProduct {
 public:
  FastestProduct(const MatrixView<T>& a, const MatrixView<T>& b)
      : product_(float_product<T>(a, b)) {}
  void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::byte* scratch) const {
    product_->multiply(a, b, c, scratch);
  }
  bool has_parts() const { return product_->has_parts(); }
  void multiply_part(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t c_row,
                     std::byte* scratch) const {
    product_->multiply_part(a, b, c, c_row, scratch);
  }
  void multiply_batch(const MatrixView<T>& a, const MatrixView<T>& b, T* c, const BatchSteps& batch,
                      std::byte* scratch) const {
    product_->multiply_batch(a, b, c, batch, scratch);
  }
  bool has_rows() const { return product_->has_rows(); }
  std::int64_t scratch_bytes() const { return product_->scratch_bytes(); }
  std::string name() const { return product_->name(); }

 private:
  std::unique_ptr<const FloatProduct<T>> product_;
};

/// Products prepared for operands of given extents and strides, computed in `T` on elements stored
/// as `Stored`: constructed from both operands, then as `FloatProduct`.
template <class T, class Stored>
using ProductOf = std::conditional_t<
    scalar::Integer<T>, IntegerProduct<T>,
    std::conditional_t<std::is_same_v<T, Stored>, FastestProduct<T>, WidenedProduct>>;

/// Calls f.template operator()<T, Stored>() for elements of the dtype; fails on the step for bool.
template <class F>
auto visit_products(Dtype dtype, const Invocation& step, F&& f) {
  switch (dtype.id) {
    case Dtype::Id::i8:
    case Dtype::Id::u8:
      return f.template operator()<std::uint8_t, std::uint8_t>();
    case Dtype::Id::i32:
    case Dtype::Id::u32:
      return f.template operator()<std::uint32_t, std::uint32_t>();
    case Dtype::Id::i64:
    case Dtype::Id::u64:
      return f.template operator()<std::uint64_t, std::uint64_t>();
    case Dtype::Id::f16:
      return f.template operator()<float, float16>();
    case Dtype::Id::bf16:
      return f.template operator()<float, bfloat16>();
    case Dtype::Id::f32:
      return f.template operator()<float, float>();
    case Dtype::Id::f64:
      return f.template operator()<double, double>();
    case Dtype::Id::boolean:
      break;
  }
  fail(Complaint{step.primitive.name + ": no CPU kernel for bool",
                 "convert to an integer dtype first"},
       step.at);
}

}  // namespace hom::cpu
