// backends/cpu/routines/eigen_gemm_body.h -- the text of the eigen_gemm_….cc, which differ in the
// instruction set alone
//
// The includer names Eigen (HomEigenAvx2 …), so that each instruction set has its own copies of
// Eigen's functions, and gives `HOM_EIGEN_GEMM` the name of the function that it defines.
#include <algorithm>

#include <Eigen/Core>

#include <hom/backends/cpu/routines/eigen_gemm.h>

namespace hom::cpu {
namespace {

/// Eigen's blocks in memory of the caller's. Eigen wants the result by columns, so that it computes
/// cᵀ = bᵀ·aᵀ: its rows are our columns.
template <class T>
class BlocksInScratch : public Eigen::internal::level3_blocking<T, T> {
 public:
  BlocksInScratch(const EigenBlocks& blocks, std::byte* scratch) {
    this->m_kc = blocks.terms;
    this->m_mc = blocks.columns;
    this->m_nc = blocks.rows;
    this->m_blockA = reinterpret_cast<T*>(scratch);
    const std::int64_t bytes = blocks.terms * blocks.columns * static_cast<std::int64_t>(sizeof(T));
    this->m_blockB = reinterpret_cast<T*>(scratch + (bytes + 63) / 64 * 64);
  }
};

template <class T>
EigenBlocks blocks_for(std::int64_t m, std::int64_t k, std::int64_t n) {
  Eigen::Index terms = k, columns = n, rows = m;
  Eigen::internal::computeProductBlockingSizes<T, T, 1>(terms, columns, rows, Eigen::Index{1});
  return {terms, rows, columns};
}

template <class T>
void multiply_blocks(const MatrixView<T>& a, const MatrixView<T>& b, T* c,
                     const EigenBlocks& blocks, std::byte* scratch) {
  std::fill_n(c, a.rows * b.columns, T{0});
  BlocksInScratch<T> blocking(blocks, scratch);
  const bool a_by_rows = a.column_stride == 1, b_by_rows = b.column_stride == 1;
  const auto run = [&]<int b_order, int a_order>() {
    Eigen::internal::general_matrix_matrix_product<
        Eigen::Index, T, b_order, false, T, a_order, false, Eigen::ColMajor,
        1>::run(b.columns, a.rows, a.columns, b.data, b_by_rows ? b.row_stride : b.column_stride,
                a.data, a_by_rows ? a.row_stride : a.column_stride, c, 1, b.columns, T{1},
                blocking);
  };
  // A row-major b is a column-major bᵀ.
  if (b_by_rows) {
    a_by_rows ? run.template operator()<Eigen::ColMajor, Eigen::ColMajor>()
              : run.template operator()<Eigen::ColMajor, Eigen::RowMajor>();
  } else {
    a_by_rows ? run.template operator()<Eigen::RowMajor, Eigen::ColMajor>()
              : run.template operator()<Eigen::RowMajor, Eigen::RowMajor>();
  }
}

}  // namespace

template <class T>
EigenGemm<T> HOM_EIGEN_GEMM() {
  return {blocks_for<T>, multiply_blocks<T>};
}
template EigenGemm<float> HOM_EIGEN_GEMM();
template EigenGemm<double> HOM_EIGEN_GEMM();

}  // namespace hom::cpu
