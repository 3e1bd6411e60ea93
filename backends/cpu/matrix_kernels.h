// backends/cpu/matrix_kernels.h -- a few sums at once in registers, for vectors of any width
//
// Written once and compiled for three instruction sets. Each kernel adds the terms of a sum in the
// order that matrix_product.h states; `matrix_product.cc` prepares operands and calls them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <hom/backends/cpu/matrix_product.h>

namespace hom::cpu::matrix_kernels {

constexpr std::int64_t chunk = 256;
constexpr std::int64_t most_lanes = 8;
constexpr std::int64_t fewest_terms_in_lanes = 64;

template <class T, int bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes)));
};

/// part = the elements of a longer vector from `first` on.
template <class T, int first, class Vector, class Part>
[[gnu::always_inline]] inline void piece(const Vector& whole, Part& part) {
  if constexpr (sizeof(Vector) == sizeof(Part)) {
    part = whole;
  } else if constexpr (sizeof(Part) == 4 * sizeof(T)) {
    part = __builtin_shufflevector(whole, whole, first, first + 1, first + 2, first + 3);
  } else {
    part = __builtin_shufflevector(whole, whole, first, first + 1);
  }
}

/// One call of a tile kernel: the next chunk of the sums of a few rows and columns of the result.
template <class T>
struct Tile {
  const T* a;  ///< term k of row i at a[i·chunk + k]
  const T* b;  ///< term k of the columns, side by side, from b[k·b_stride]
  std::int64_t b_stride;
  std::int64_t terms, lanes;
  T* c;
  std::int64_t c_row_stride, c_column_stride;
  std::int64_t columns;  ///< those of the result; the tile's others are computed and dropped
  bool is_first, is_last;
};

/// A few sums of a row vector's products with columns whose terms lie side by side.
template <class T>
struct Columns {
  const T* x;
  const T* b;  ///< term k of column j at b[k + j·stride]
  std::int64_t stride;
  std::int64_t terms;
  T* c;
};

// Vectors never cross a function by value: that would depend on the ABI of the instruction set.

/// The shortest vector, and as many of them: a square of elements.
template <class T>
struct Square {
  using Vector = typename VectorOf<T, 16>::type;
  static constexpr int side = 16 / sizeof(T);
  Vector rows[side];

  [[gnu::always_inline]] void transpose() {
    if constexpr (side == 2) {
      const Vector first = __builtin_shufflevector(rows[0], rows[1], 0, 2);
      rows[1] = __builtin_shufflevector(rows[0], rows[1], 1, 3);
      rows[0] = first;
    } else {
      const Vector even_low = __builtin_shufflevector(rows[0], rows[2], 0, 4, 1, 5);
      const Vector even_high = __builtin_shufflevector(rows[0], rows[2], 2, 6, 3, 7);
      const Vector odd_low = __builtin_shufflevector(rows[1], rows[3], 0, 4, 1, 5);
      const Vector odd_high = __builtin_shufflevector(rows[1], rows[3], 2, 6, 3, 7);
      rows[0] = __builtin_shufflevector(even_low, odd_low, 0, 4, 1, 5);
      rows[1] = __builtin_shufflevector(even_low, odd_low, 2, 6, 3, 7);
      rows[2] = __builtin_shufflevector(even_high, odd_high, 0, 4, 1, 5);
      rows[3] = __builtin_shufflevector(even_high, odd_high, 2, 6, 3, 7);
    }
  }
};

template <class T, int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void tile_body(const Tile<T>& tile) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr std::int64_t width = bytes / sizeof(T);
  constexpr std::int64_t columns = width * vectors;
  const std::int64_t terms = tile.terms, lanes = tile.lanes;
  const std::int64_t b_step = tile.b_stride * lanes;
  const bool is_direct = tile.c_column_stride == 1 && tile.columns == columns;
  Vector total[rows][vectors];
  T outline[columns];
  if (tile.is_first) {
    for (int i = 0; i < rows; ++i) {
      for (int v = 0; v < vectors; ++v) total[i][v] = Vector{};
    }
  } else {
    for (int i = 0; i < rows; ++i) {
      const T* from = tile.c + i * tile.c_row_stride;
      if (!is_direct) {
        for (std::int64_t j = 0; j < columns; ++j)
          outline[j] = j < tile.columns ? from[j * tile.c_column_stride] : T{0};
        from = outline;
      }
      for (int v = 0; v < vectors; ++v) std::memcpy(&total[i][v], from + v * width, bytes);
    }
  }
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    Vector sum[rows][vectors];
    for (int i = 0; i < rows; ++i) {
      for (int v = 0; v < vectors; ++v) sum[i][v] = Vector{};
    }
    const T* a = tile.a + lane;
    const T* b = tile.b + lane * tile.b_stride;
    for (std::int64_t k = lane; k < terms; k += lanes) {
      Vector right[vectors];
      for (int v = 0; v < vectors; ++v) std::memcpy(&right[v], b + v * width, bytes);
      for (int i = 0; i < rows; ++i) {
        for (int v = 0; v < vectors; ++v) sum[i][v] += a[i * chunk] * right[v];
      }
      a += lanes;
      b += b_step;
    }
    for (int i = 0; i < rows; ++i) {
      for (int v = 0; v < vectors; ++v) total[i][v] += sum[i][v];
    }
  }
  for (int i = 0; i < rows; ++i) {
    if (tile.is_last) {
      for (int v = 0; v < vectors; ++v) {
        const Vector nan = Vector{} + std::numeric_limits<T>::quiet_NaN();
        total[i][v] = total[i][v] == total[i][v] ? total[i][v] : nan;
      }
    }
    T* to = tile.c + i * tile.c_row_stride;
    T* write = is_direct ? to : outline;
    for (int v = 0; v < vectors; ++v) std::memcpy(write + v * width, &total[i][v], bytes);
    if (!is_direct) {
      for (std::int64_t j = 0; j < tile.columns; ++j) to[j * tile.c_column_stride] = outline[j];
    }
  }
}

/// Vectors run along the lanes. Terms missing in the last eight are 0·0, which changes no sum: none
/// is −0.
template <class T, int bytes, int count>
[[gnu::always_inline]] inline void columns_body(const Columns<T>& at) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr int width = bytes / sizeof(T), vectors = most_lanes / width;
  constexpr int side = Square<T>::side;
  Vector sum[count][vectors];
  // Without a loop, of which g++ would make a call that clears memory instead of registers.
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    ((sum[i / vectors][i % vectors] = Vector{}), ...);
  }(std::make_integer_sequence<int, count * vectors>());
  // clang-format off
  const auto add_eight = [&](const T* x, const T* b, std::int64_t stride)
                             __attribute__((always_inline)) {
    for (int v = 0; v < vectors; ++v) {
      Vector left;
      std::memcpy(&left, x + v * width, bytes);
      for (int j = 0; j < count; ++j) {
        Vector right;
        std::memcpy(&right, b + j * stride + v * width, bytes);
        sum[j][v] += left * right;
      }
    }
  };
  // clang-format on
  const std::int64_t whole = at.terms / most_lanes * most_lanes;
  for (std::int64_t k = 0; k < whole; k += most_lanes) add_eight(at.x + k, at.b + k, at.stride);
  if (whole < at.terms) {
    T x[most_lanes] = {}, b[count][most_lanes] = {};
    for (std::int64_t k = whole; k < at.terms; ++k) {
      x[k - whole] = at.x[k];
      for (int j = 0; j < count; ++j) b[j][k - whole] = at.b[j * at.stride + k];
    }
    add_eight(x, b[0], most_lanes);
  }
  if constexpr (count % side == 0) {
    for (int j = 0; j < count; j += side) {
      typename Square<T>::Vector total;
      std::memcpy(&total, at.c + j, 16);
      const auto add_lanes = [&]<int l>(std::integral_constant<int, l>)
                                 __attribute__((always_inline)) {
                                   Square<T> square;
                                   for (int i = 0; i < side; ++i)
                                     piece<T, l % width>(sum[j + i][l / width], square.rows[i]);
                                   square.transpose();
                                   for (int i = 0; i < side; ++i) total += square.rows[i];
                                 };
      [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
        (add_lanes(std::integral_constant<int, l * side>()), ...);
      }(std::make_integer_sequence<int, most_lanes / side>());
      std::memcpy(at.c + j, &total, 16);
    }
  } else {
    for (int l = 0; l < most_lanes; ++l) {
      for (int j = 0; j < count; ++j) at.c[j] += sum[j][l / width][l % width];
    }
  }
}

template <class T, int rows, int vectors>
void tile_sse2(const Tile<T>& tile) {
  tile_body<T, 16, rows, vectors>(tile);
}
template <class T, int rows, int vectors>
[[gnu::target("avx2")]] void tile_avx2(const Tile<T>& tile) {
  tile_body<T, 32, rows, vectors>(tile);
}
template <class T, int rows, int vectors>
[[gnu::target("avx512f")]] void tile_avx512(const Tile<T>& tile) {
  tile_body<T, 64, rows, vectors>(tile);
}
template <class T, int count>
void columns_sse2(const Columns<T>& at) {
  columns_body<T, 16, count>(at);
}
template <class T, int count>
[[gnu::target("avx2")]] void columns_avx2(const Columns<T>& at) {
  columns_body<T, 32, count>(at);
}

constexpr int most_rows = 8;
constexpr int strip_vectors = 8;

/// The kernels compiled for one width of vectors.
template <class T>
struct Kernels {
  using TileKernel = void (*)(const Tile<T>&);
  using ColumnsKernel = void (*)(const Columns<T>&);
  std::int64_t width;     ///< elements of a vector
  std::int64_t max_rows;  ///< of a tile, so that its sums fit the registers
  /// By rows − 1; one vector of columns, or two.
  std::array<std::array<TileKernel, most_rows>, 2> tile;
  /// One row, `strip_vectors` vectors of columns.
  TileKernel strip;
  /// `columns_at_once` columns, or one.
  std::int64_t columns_at_once;
  ColumnsKernel columns, column;
};

// Sixteen registers hold 6·2 sums beside their operands; AVX-512 has thirty-two.

template <class T>
const Kernels<T>& kernels_of(VectorWidth width) {
  constexpr int size = sizeof(T);
  static constexpr Kernels<T> sse2 = []<int... i>(std::integer_sequence<int, i...>) {
    return Kernels<T>{16 / size,
                      6,
                      {{{tile_sse2<T, i + 1, 1>...}, {tile_sse2<T, i + 1, 2>...}}},
                      tile_sse2<T, 1, strip_vectors>,
                      16 / size,
                      columns_sse2<T, 16 / size>,
                      columns_sse2<T, 1>};
  }(std::make_integer_sequence<int, 6>());
  static constexpr Kernels<T> avx2 = []<int... i>(std::integer_sequence<int, i...>) {
    return Kernels<T>{32 / size,
                      6,
                      {{{tile_avx2<T, i + 1, 1>...}, {tile_avx2<T, i + 1, 2>...}}},
                      tile_avx2<T, 1, strip_vectors>,
                      32 / size,
                      columns_avx2<T, 32 / size>,
                      columns_avx2<T, 1>};
  }(std::make_integer_sequence<int, 6>());
  static constexpr Kernels<T> avx512 = []<int... i>(std::integer_sequence<int, i...>) {
    return Kernels<T>{64 / size,
                      8,
                      {{{tile_avx512<T, i + 1, 1>...}, {tile_avx512<T, i + 1, 2>...}}},
                      tile_avx512<T, 1, strip_vectors>,
                      32 / size,
                      columns_avx2<T, 32 / size>,
                      columns_avx2<T, 1>};
  }(std::make_integer_sequence<int, 8>());
  switch (width) {
    case VectorWidth::avx512:
      return avx512;
    case VectorWidth::avx2:
      return avx2;
    case VectorWidth::sse2:
      break;
  }
  return sse2;
}

}  // namespace hom::cpu::matrix_kernels
