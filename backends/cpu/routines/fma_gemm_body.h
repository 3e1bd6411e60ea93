// backends/cpu/routines/fma_gemm_body.h -- the text of the fma_gemm_….cc, which differ in their
// vectors alone
//
// The includer defines `Simd<T>`, the vectors of its instruction set, and gives `HOM_FMA_GEMM` the
// name of the function that it defines.
//
// Sums of a tile, a few rows by a few vectors of columns, stay in registers while terms go by.
// Large operands are copied block by block, so that what tiles read lies close together: b in
// panels of two vectors of columns, a with its neighbours as they are.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <hom/backends/cpu/routines/fma_gemm.h>

namespace hom::cpu {
namespace {

constexpr std::int64_t most_terms = 512;

/// Columns of a panel of copied b.
template <class T>
constexpr std::int64_t panel_columns = 2 * Simd<T>::width;
/// Rows of a that are copied at once: they stay in the second-level cache.
template <class T>
constexpr std::int64_t block_rows = 1536 / sizeof(T);
/// Columns of b that are copied at once: they stay in the third-level cache.
template <class T>
constexpr std::int64_t block_columns = 8192 / sizeof(T);

constexpr std::int64_t rounded_up(std::int64_t x, std::int64_t to) {
  return (x + to - 1) / to * to;
}

// ---- tiles ----

/// A tile of the result, and the next block of terms of its sums.
template <class T>
struct Tile {
  const T* a;
  std::int64_t a_row, a_term;
  const T* b;
  std::int64_t b_term;
  std::int64_t terms;
  T* c;
  std::int64_t c_row;
  /// Of the last vector of columns.
  typename Simd<T>::Mask mask;
  bool is_first;
};

template <class T, int rows, int vectors, bool is_masked>
void add_terms(const Tile<T>& tile) {
  using S = Simd<T>;
  typename S::Vector sum[rows][vectors];
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) sum[i][v] = S::zero();
  }
  const auto load = [&](const T* from, int v) {
    if constexpr (is_masked) {
      if (v + 1 == vectors) return S::load(from + v * S::width, tile.mask);
    }
    return S::load(from + v * S::width);
  };
  const T* a = tile.a;
  const T* b = tile.b;
  const std::int64_t a_row = tile.a_row, a_term = tile.a_term, b_term = tile.b_term;
  for (std::int64_t k = tile.terms; k > 0; --k) {
    typename S::Vector right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = load(b, v);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const typename S::Vector left = S::broadcast(a + i * a_row);
      for (int v = 0; v < vectors; ++v) sum[i][v] = S::fused(left, right[v], sum[i][v]);
    }
    a += a_term;
    b += b_term;
  }
  T* c = tile.c;
  const std::int64_t c_row = tile.c_row;
  if (!tile.is_first) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      for (int v = 0; v < vectors; ++v) sum[i][v] = S::add(load(c + i * c_row, v), sum[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) {
      T* to = c + i * c_row + v * S::width;
      if constexpr (is_masked) {
        if (v + 1 == vectors) {
          S::store(to, sum[i][v], tile.mask);
          continue;
        }
      }
      S::store(to, sum[i][v]);
    }
  }
}

template <class T>
using TileKernel = void (*)(const Tile<T>&);
template <class T>
using KernelsByRows = std::array<TileKernel<T>, Simd<T>::most_rows>;

/// For 1, 2 … rows; null where the sums would not fit the registers.
template <class T, int vectors, bool is_masked>
constexpr KernelsByRows<T> kernels_by_rows = []<int... i>(std::integer_sequence<int, i...>) {
  const auto kernel = []<int rows>(std::integral_constant<int, rows>) -> TileKernel<T> {
    if constexpr (rows * vectors <= Simd<T>::most_sums) {
      return add_terms<T, rows, vectors, is_masked>;
    } else {
      return nullptr;
    }
  };
  return KernelsByRows<T>{kernel(std::integral_constant<int, i + 1>())...};
}(std::make_integer_sequence<int, Simd<T>::most_rows>());

/// The next panel of columns: as many vectors as `most`, a power of 2 up to 8, or what is left.
template <class T>
struct Panel {
  std::int64_t columns;
  const KernelsByRows<T>* kernels;
  typename Simd<T>::Mask mask;

  Panel(std::int64_t left, std::int64_t most) {
    constexpr std::int64_t width = Simd<T>::width;
    std::int64_t vectors = most;
    while (vectors > 2 && vectors * width > left) vectors /= 2;
    if (vectors == 2 && left <= width) vectors = 1;
    columns = std::min(vectors * width, left);
    const std::int64_t last = columns - (vectors - 1) * width;
    mask = Simd<T>::mask(last);
    const bool is_masked = last < width;
    kernels = vectors == 8   ? &kernels_by_rows<T, 8, false>
              : vectors == 4 ? &kernels_by_rows<T, 4, false>
              : vectors == 2
                  ? is_masked ? &kernels_by_rows<T, 2, true> : &kernels_by_rows<T, 2, false>
              : is_masked ? &kernels_by_rows<T, 1, true>
                          : &kernels_by_rows<T, 1, false>;
  }
};

// ---- blocks ----

/// Where the elements of a block of b lie: panels may be apart from each other.
template <class T>
struct Right {
  const T* data;
  std::int64_t term;
  /// Whether panels of `panel_columns` follow each other.
  bool is_copy;
};

/// c (+)= a·b for a block of terms, tile by tile.
template <class T>
void multiply_block(const MatrixView<T>& a, const Right<T>& b, std::int64_t columns, T* c,
                    std::int64_t c_row, bool is_first) {
  constexpr std::int64_t most_rows = Simd<T>::most_rows;
  Tile<T> tile;
  tile.a_row = a.row_stride;
  tile.a_term = a.column_stride;
  tile.b_term = b.term;
  tile.terms = a.columns;
  tile.c_row = c_row;
  tile.is_first = is_first;
  // Tiles of about the same number of rows.
  const std::int64_t tiles = (a.rows + most_rows - 1) / most_rows;
  const std::int64_t rows = tiles == 1 ? a.rows : (a.rows + tiles - 1) / tiles;
  std::int64_t most_vectors = 2;
  while (!b.is_copy && most_vectors < 8 && 2 * most_vectors * rows <= Simd<T>::most_sums)
    most_vectors *= 2;
  const auto run = [&](const Panel<T>& panel, std::int64_t i, std::int64_t j) {
    const std::int64_t count = std::min(rows, a.rows - i);
    tile.mask = panel.mask;
    tile.a = a.data + i * a.row_stride;
    tile.b = b.data + (b.is_copy ? j * a.columns : j);
    tile.c = c + i * c_row + j;
    (*panel.kernels)[static_cast<std::size_t>(count - 1)](tile);
  };
  // Rows of the result one after the other, where all of b stays in the first-level cache
  // meanwhile.
  if (a.columns * columns * static_cast<std::int64_t>(sizeof(T)) <= (48 << 10)) {
    for (std::int64_t i = 0; i < a.rows; i += rows) {
      for (std::int64_t j = 0; j < columns;) {
        const Panel<T> panel(columns - j, most_vectors);
        run(panel, i, j);
        j += panel.columns;
      }
    }
    return;
  }
  for (std::int64_t j = 0; j < columns;) {
    const Panel<T> panel(columns - j, most_vectors);
    for (std::int64_t i = 0; i < a.rows; i += rows) run(panel, i, j);
    j += panel.columns;
  }
}

/// to[i·to_stride + j] = from[i·row_stride + j·column_stride]
template <class T>
void copy_matrix(const MatrixView<T>& from, T* to, std::int64_t to_stride) {
  if (from.column_stride == 1 && from.columns == panel_columns<T>) {
    for (std::int64_t i = 0; i < from.rows; ++i) {
      const T* read = from.data + i * from.row_stride;
      T* write = to + i * to_stride;
      Simd<T>::store(write, Simd<T>::load(read));
      Simd<T>::store(write + Simd<T>::width, Simd<T>::load(read + Simd<T>::width));
    }
    return;
  }
  if (from.column_stride == 1) {
    for (std::int64_t i = 0; i < from.rows; ++i)
      std::copy_n(from.data + i * from.row_stride, from.columns, to + i * to_stride);
    return;
  }
  // Blocks of rows, so that what is read and what is written both stay in the cache.
  constexpr std::int64_t block = 16;
  for (std::int64_t i0 = 0; i0 < from.rows; i0 += block) {
    const std::int64_t end = std::min(i0 + block, from.rows);
    for (std::int64_t j = 0; j < from.columns; ++j) {
      const T* read = from.data + j * from.column_stride;
      for (std::int64_t i = i0; i < end; ++i) to[i * to_stride + j] = read[i * from.row_stride];
    }
  }
}

/// What is copied, and how much memory that takes.
template <class T>
struct Copies {
  bool a, b;
  std::int64_t a_bytes = 0, b_bytes = 0;

  Copies(std::int64_t m, std::int64_t k, std::int64_t n, bool b_by_rows) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t terms = std::min(k, most_terms);
    // Vectors of b must lie side by side; a copy pays where many rows read it from far away.
    b = !b_by_rows || (m > 3 * Simd<T>::most_rows && terms * n * size > (320 << 10));
    // Rows far apart meet in the same lines of the cache.
    a = m * k * size > (1 << 20) && n >= 256;
    if (a) a_bytes = rounded_up(block_rows<T> * a_stride(terms) * size, 64);
    if (b) b_bytes = rounded_up(std::min(n, block_columns<T>), panel_columns<T>) * terms * size;
  }
  /// Of copied rows: neighbours in other lines of the cache.
  static std::int64_t a_stride(std::int64_t terms) { return rounded_up(terms, 16) + 16; }
};

template <class T>
std::int64_t bytes_of_scratch(std::int64_t m, std::int64_t k, std::int64_t n, bool b_by_rows) {
  const Copies<T> copies(m, k, n, b_by_rows);
  return copies.a_bytes + rounded_up(copies.b_bytes, 64);
}

/// A block of a where it is, or copied with its neighbours.
template <class T>
MatrixView<T> copied(const MatrixView<T>& a, T* to) {
  if (a.row_stride == 1 && a.column_stride != 1) {
    const std::int64_t stride = rounded_up(a.rows, 16);
    copy_matrix<T>({a.data, a.columns, a.rows, a.column_stride, 1}, to, stride);
    return {to, a.rows, a.columns, 1, stride};
  }
  const std::int64_t stride = Copies<T>::a_stride(a.columns);
  copy_matrix(a, to, stride);
  return {to, a.rows, a.columns, stride, 1};
}

template <class T>
void multiply_copies(const Copies<T>& copies, const MatrixView<T>& a, const MatrixView<T>& b, T* c,
                     std::byte* scratch) {
  T* a_copy = reinterpret_cast<T*>(scratch);
  T* b_copy = reinterpret_cast<T*>(scratch + copies.a_bytes);
  const std::int64_t m = a.rows, k = a.columns, n = b.columns;
  const std::int64_t blocks = (k + most_terms - 1) / most_terms;
  const std::int64_t block_terms = (k + blocks - 1) / blocks;
  const std::int64_t column_block = copies.b ? block_columns<T> : n;
  const std::int64_t row_block = copies.a ? block_rows<T> : m;
  for (std::int64_t j0 = 0; j0 < n; j0 += column_block) {
    const std::int64_t columns = std::min(column_block, n - j0);
    for (std::int64_t k0 = 0; k0 < k; k0 += block_terms) {
      const std::int64_t terms = std::min(block_terms, k - k0);
      const T* b_block = b.data + k0 * b.row_stride + j0 * b.column_stride;
      Right<T> right{b_block, b.row_stride, copies.b};
      if (copies.b) {
        for (std::int64_t j = 0; j < columns; j += panel_columns<T>) {
          copy_matrix<T>({b_block + j * b.column_stride, terms,
                          std::min(panel_columns<T>, columns - j), b.row_stride, b.column_stride},
                         b_copy + j * terms, panel_columns<T>);
        }
        right = {b_copy, panel_columns<T>, true};
      }
      for (std::int64_t i0 = 0; i0 < m; i0 += row_block) {
        MatrixView<T> left{a.data + i0 * a.row_stride + k0 * a.column_stride,
                           std::min(row_block, m - i0), terms, a.row_stride, a.column_stride};
        if (copies.a) left = copied(left, a_copy);
        multiply_block(left, right, columns, c + i0 * n + j0, n, k0 == 0);
      }
    }
  }
}

template <class T>
void multiply_matrices(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::byte* scratch) {
  const Copies<T> copies(a.rows, a.columns, b.columns, b.column_stride == 1);
  if (copies.a || copies.b || a.columns > most_terms)
    return multiply_copies(copies, a, b, c, scratch);
  multiply_block<T>(a, {b.data, b.row_stride, false}, b.columns, c, b.columns, true);
}

}  // namespace

template <class T>
FmaGemm<T> HOM_FMA_GEMM() {
  return {bytes_of_scratch<T>, multiply_matrices<T>};
}
template FmaGemm<float> HOM_FMA_GEMM();
template FmaGemm<double> HOM_FMA_GEMM();

}  // namespace hom::cpu
