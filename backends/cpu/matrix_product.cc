// backends/cpu/matrix_product.cc -- operands brought to the kernels, shape by shape
//
// Vectors always run along an axis of the result, or (where a matrix meets a vector whose terms lie
// side by side) along the eight lanes; either way each sum is computed in the one order that the
// header fixes.
#include <hom/backends/cpu/matrix_product.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include <hom/backends/cpu/matrix_kernels.h>
#include <hom/core/tensor.h>

namespace hom::cpu {
namespace {

using namespace matrix_kernels;

std::int64_t lanes_for(std::int64_t terms) {
  return terms < fewest_terms_in_lanes ? 1 : most_lanes;
}

template <class T>
T one_nan(T x) {
  return x == x ? x : std::numeric_limits<T>::quiet_NaN();
}

/// Elements without initial values, the first at a multiple of the longest vector; a few of them
/// need no allocation.
template <class T>
class Workspace {
 public:
  explicit Workspace(std::int64_t size)
      : buffer_(size <= here ? 0 : static_cast<std::size_t>(size) * sizeof(T)),
        data_(size <= here ? local_ : reinterpret_cast<T*>(buffer_.data())) {}
  T* data() const { return data_; }

 private:
  static constexpr std::int64_t here = 16384 / sizeof(T);
  alignas(64) T local_[here];
  Buffer buffer_;
  T* data_;
};

// ---- a vector and a matrix ----

/// to[k + j·chunk] = from[k·stride + j·column_stride]
template <class T>
void gather(const T* from, std::int64_t stride, std::int64_t column_stride, std::int64_t terms,
            std::int64_t columns, T* to) {
  for (std::int64_t k = 0; k < terms; ++k) {
    for (std::int64_t j = 0; j < columns; ++j)
      to[k + j * chunk] = from[k * stride + j * column_stride];
  }
}

/// c += x·b with lanes; columns whose terms do not lie side by side are copied.
template <class T>
void add_columns(const Kernels<T>& kernels, const T* x, const MatrixView<T>& b, T* c) {
  T copy[chunk * (32 / sizeof(T))];
  for (std::int64_t j = 0; j < b.columns;) {
    const bool is_block = b.columns - j >= kernels.columns_at_once;
    const std::int64_t count = is_block ? kernels.columns_at_once : 1;
    for (std::int64_t k = 0; k < b.rows; k += chunk) {
      Columns<T> at{x + k, b.data + k * b.row_stride + j * b.column_stride, b.column_stride,
                    std::min(chunk, b.rows - k), c + j};
      if (b.row_stride != 1) {
        gather(at.b, b.row_stride, b.column_stride, at.terms, count, copy);
        at.b = copy;
        at.stride = chunk;
      }
      (is_block ? kernels.columns : kernels.column)(at);
    }
    j += count;
  }
}

/// c += x·b, the terms simply in order; a few columns at once, for their sums are chains of
/// additions.
template <class T>
void add_in_order(const T* x, const MatrixView<T>& b, T* c) {
  constexpr std::int64_t at_once = 8;
  std::int64_t j = 0;
  for (; j + at_once <= b.columns; j += at_once) {
    T sum[at_once] = {};
    for (std::int64_t k = 0; k < b.rows; ++k) {
      const T* row = b.data + k * b.row_stride + j * b.column_stride;
      for (std::int64_t i = 0; i < at_once; ++i) sum[i] += x[k] * row[i * b.column_stride];
    }
    for (std::int64_t i = 0; i < at_once; ++i) c[j + i] += sum[i];
  }
  for (; j < b.columns; ++j) {
    T sum = 0;
    for (std::int64_t k = 0; k < b.rows; ++k)
      sum += x[k] * b.data[k * b.row_stride + j * b.column_stride];
    c[j] += sum;
  }
}

/// c += x·b for as many columns as fill vectors, b with columns side by side. Returns their number.
template <class T>
std::int64_t add_strips(const Kernels<T>& kernels, const T* x, const MatrixView<T>& b,
                        std::int64_t lanes, T* c) {
  std::int64_t j = 0;
  for (std::int64_t k = 0; k < b.rows; k += chunk) {
    Tile<T> tile{x + k, nullptr, b.row_stride, std::min(chunk, b.rows - k), lanes, nullptr, 0, 1,
                 0,     false,   false};
    j = 0;
    const auto sweep = [&](auto kernel, std::int64_t columns) {
      tile.columns = columns;
      for (; j + columns <= b.columns; j += columns) {
        tile.b = b.data + k * b.row_stride + j;
        tile.c = c + j;
        kernel(tile);
      }
    };
    sweep(kernels.strip, strip_vectors * kernels.width);
    sweep(kernels.tile[0][0], kernels.width);
  }
  return j;
}

template <class T>
void multiply_vector(const Kernels<T>& kernels, const MatrixView<T>& x, MatrixView<T> b, T* c) {
  const bool is_run = x.column_stride == 1;
  const Workspace<T> copy(is_run ? 0 : b.rows);
  const T* row = is_run ? x.data : copy.data();
  if (!is_run) {
    for (std::int64_t k = 0; k < b.rows; ++k) copy.data()[k] = x.data[k * x.column_stride];
  }
  const std::int64_t lanes = lanes_for(b.rows);
  std::fill_n(c, b.columns, T{0});
  std::int64_t done = 0;
  if (b.column_stride == 1 && (b.row_stride != 1 || lanes == 1))
    done = add_strips(kernels, row, b, lanes, c);
  b.data += done * b.column_stride;
  b.columns -= done;
  if (lanes == 1) {
    add_in_order(row, b, c + done);
  } else {
    add_columns(kernels, row, b, c + done);
  }
  for (std::int64_t j = 0; j < done + b.columns; ++j) c[j] = one_nan(c[j]);
}

// ---- two matrices ----

/// to[i·to_stride + j] = from[i·row_stride + j·column_stride]
template <class T>
void pack(const MatrixView<T>& from, T* to, std::int64_t to_stride) {
  constexpr std::int64_t side = Square<T>::side;
  if (from.column_stride == 1) {
    const std::int64_t whole = from.columns / side * side;
    for (std::int64_t i = 0; i < from.rows; ++i) {
      const T* read = from.data + i * from.row_stride;
      T* write = to + i * to_stride;
      for (std::int64_t j = 0; j < whole; j += side) std::memcpy(write + j, read + j, 16);
      for (std::int64_t j = whole; j < from.columns; ++j) write[j] = read[j];
    }
    return;
  }
  // Blocks of rows, so that what is read and what is written both stay in the cache.
  constexpr std::int64_t block = 16;
  for (std::int64_t i0 = 0; i0 < from.rows; i0 += block) {
    const std::int64_t i1 = std::min(i0 + block, from.rows);
    const bool has_squares = from.row_stride == 1;
    const std::int64_t end_i = has_squares ? i0 + (i1 - i0) / side * side : i0;
    const std::int64_t end_j = has_squares ? from.columns / side * side : 0;
    for (std::int64_t j = 0; j < end_j; j += side) {
      for (std::int64_t i = i0; i < end_i; i += side) {
        Square<T> square;
        for (int q = 0; q < side; ++q)
          std::memcpy(&square.rows[q], from.data + i + (j + q) * from.column_stride, 16);
        square.transpose();
        for (int q = 0; q < side; ++q)
          std::memcpy(to + (i + q) * to_stride + j, &square.rows[q], 16);
      }
    }
    for (std::int64_t j = 0; j < from.columns; ++j) {
      for (std::int64_t i = j < end_j ? end_i : i0; i < i1; ++i)
        to[i * to_stride + j] = from.data[i * from.row_stride + j * from.column_stride];
    }
  }
}

/// Where the result is written: transposed where the operands changed places.
template <class T>
struct Target {
  T* data;
  std::int64_t row_stride, column_stride;
};

template <class T>
void multiply_matrices(const Kernels<T>& kernels, const MatrixView<T>& a, const MatrixView<T>& b,
                       const Target<T>& c) {
  // A block of a stays in the second-level cache, a panel of b in the first.
  constexpr std::int64_t row_block = 768 / sizeof(T), column_block = 4096 / sizeof(T);
  const std::int64_t terms_at_once = std::min(chunk, a.columns);
  const std::int64_t rows_at_once = std::min(row_block, a.rows);
  const std::int64_t panel = 2 * kernels.width;
  const std::int64_t columns_at_once =
      std::min(column_block, (b.columns + kernels.width - 1) / kernels.width * kernels.width);
  // Few rows do not repay a copy of b.
  const bool is_in_place = b.column_stride == 1 && a.rows <= 2 * kernels.max_rows;
  const Workspace<T> a_block(rows_at_once * chunk);
  const Workspace<T> b_block((is_in_place ? panel : columns_at_once) * terms_at_once);
  Tile<T> tile{};
  tile.lanes = lanes_for(a.columns);
  tile.c_row_stride = c.row_stride;
  tile.c_column_stride = c.column_stride;
  for (std::int64_t k = 0; k < a.columns; k += chunk) {
    const std::int64_t terms = tile.terms = std::min(chunk, a.columns - k);
    tile.is_first = k == 0;
    tile.is_last = k + terms == a.columns;
    for (std::int64_t j0 = 0; j0 < b.columns; j0 += column_block) {
      const std::int64_t columns = std::min(column_block, b.columns - j0);
      const auto panel_width = [&](std::int64_t j) {
        return columns - j > kernels.width ? panel : kernels.width;
      };
      const auto lies_ready = [&](std::int64_t j) {
        return is_in_place && columns - j >= panel_width(j);
      };
      const auto packed = [&](std::int64_t j) {
        return b_block.data() + (is_in_place ? 0 : j * terms);
      };
      const auto b_at = [&](std::int64_t j) {
        return b.data + k * b.row_stride + (j0 + j) * b.column_stride;
      };
      for (std::int64_t j = 0; j < columns; j += panel) {
        if (lies_ready(j)) continue;
        const std::int64_t width = panel_width(j), used = std::min(width, columns - j);
        pack({b_at(j), terms, used, b.row_stride, b.column_stride}, packed(j), width);
        if (used == width) continue;
        for (std::int64_t t = 0; t < terms; ++t)
          std::fill_n(packed(j) + t * width + used, width - used, T{0});
      }
      for (std::int64_t i0 = 0; i0 < a.rows; i0 += row_block) {
        const std::int64_t rows = std::min(row_block, a.rows - i0);
        pack({a.data + i0 * a.row_stride + k * a.column_stride, rows, terms, a.row_stride,
              a.column_stride},
             a_block.data(), chunk);
        for (std::int64_t j = 0; j < columns; j += panel) {
          const std::int64_t width = panel_width(j);
          tile.b = lies_ready(j) ? b_at(j) : packed(j);
          tile.b_stride = lies_ready(j) ? b.row_stride : width;
          tile.columns = std::min(width, columns - j);
          const auto& by_rows = kernels.tile[width == panel];
          // Tiles of about the same number of rows, none larger than the registers hold.
          std::int64_t tiles = (rows + kernels.max_rows - 1) / kernels.max_rows;
          for (std::int64_t i = 0; i < rows; --tiles) {
            const std::int64_t count = (rows - i + tiles - 1) / tiles;
            tile.a = a_block.data() + i * chunk;
            tile.c = c.data + (i0 + i) * c.row_stride + (j0 + j) * c.column_stride;
            by_rows[static_cast<std::size_t>(count - 1)](tile);
            i += count;
          }
        }
      }
    }
  }
}

/// So few terms that nothing is worth preparing.
template <class T>
void multiply_tiny(const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < b.columns; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < a.columns; ++k)
        sum += a.data[i * a.row_stride + k * a.column_stride] *
               b.data[k * b.row_stride + j * b.column_stride];
      *c++ = one_nan(sum);
    }
  }
}

template <class T>
MatrixView<T> transposed(const MatrixView<T>& m) {
  return {m.data, m.columns, m.rows, m.column_stride, m.row_stride};
}

VectorWidth widest() {
  static const VectorWidth width = vector_widths().back();
  return width;
}

}  // namespace

std::vector<VectorWidth> vector_widths() {
  std::vector<VectorWidth> widths{VectorWidth::sse2};
  if (__builtin_cpu_supports("avx2")) widths.push_back(VectorWidth::avx2);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f"))
    widths.push_back(VectorWidth::avx512);
  return widths;
}

template <class T>
void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, VectorWidth width) {
  const std::int64_t m = a.rows, n = b.columns;
  if (m * n * a.columns < fewest_terms_in_lanes) return multiply_tiny(a, b, c);
  // Vectors that would be half empty may as well be half as long.
  for (const std::int64_t longest = std::max(m, n); width != VectorWidth::sse2;) {
    if (2 * longest > kernels_of<T>(width).width) break;
    width = static_cast<VectorWidth>(static_cast<int>(width) - 1);
  }
  const Kernels<T>& kernels = kernels_of<T>(width);
  if (m == 1) {
    multiply_vector(kernels, a, b, c);
  } else if (n == 1) {
    multiply_vector(kernels, transposed(b), transposed(a), c);
  } else {
    // Vectors run along the axis that fills them better.
    const auto padded = [&](std::int64_t extent) {
      return (extent + kernels.width - 1) / kernels.width * kernels.width;
    };
    if (8 * n * padded(m) < 7 * m * padded(n)) {
      multiply_matrices<T>(kernels, transposed(b), transposed(a), {c, 1, n});
    } else {
      multiply_matrices<T>(kernels, a, b, {c, n, 1});
    }
  }
}

template <class T>
void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  multiply(a, b, c, widest());
}

template void multiply(const MatrixView<float>&, const MatrixView<float>&, float*);
template void multiply(const MatrixView<double>&, const MatrixView<double>&, double*);
template void multiply(const MatrixView<float>&, const MatrixView<float>&, float*, VectorWidth);
template void multiply(const MatrixView<double>&, const MatrixView<double>&, double*, VectorWidth);

}  // namespace hom::cpu
