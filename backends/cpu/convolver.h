// backends/cpu/convolver.h -- a convolution as matrix products of patches and the kernel
//
// Every output is one sum over the kernel's places in row-major order, and over the channels of its
// group within each place. Padding is terms of 0; the gaps of lhs_dilation are no terms.
//
// Of a phase, the patches of some outputs are written as rows of a matrix, which is multiplied by
// those rows of the kernel. A kernel of one place needs no copy, and one channel in each group
// (depthwise) goes along the channels.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <hom/backends/cpu/convolution_phases.h>
#include <hom/backends/cpu/matrix_product.h>
#include <hom/core/object.h>

namespace hom::cpu {

/// A convolution of given extents, prepared once. Computes in `T` on elements stored as `Stored`;
/// x, the kernel and y are row-major.
template <class T, class Stored>
class Convolver {
 public:
  explicit Convolver(ConvolutionSizes sizes)
      : sizes_(std::move(sizes)),
        phases_(convolution_phases(sizes_)),
        x_elements_(sizes_.x_elements()),
        y_elements_(sizes_.y_elements()) {
    const std::int64_t kernel = sizes_.places() * kernel_columns();
    if (is_widened) wide_kernel_ = aligned(kernel);
    for (const ConvolutionPhase& phase : phases_) {
      if (!has_whole_kernel(phase)) phase_kernel_ = aligned(kernel);
      if (is_depthwise()) {
        patches_ = std::max(patches_, aligned(sizes_.groups) * 2);
        products_ = std::max(products_, aligned(sizes_.groups * most_lanes));
      } else if (!is_matrix_product(phase)) {
        patches_ = std::max(patches_, aligned(rows_at_once(phase) * terms(phase)));
        products_ = std::max(products_, aligned(rows_at_once(phase) * sizes_.out));
      }
    }
  }

  /// Elements of T that a run needs.
  std::int64_t scratch_elements() const {
    return wide_kernel_ + phase_kernel_ + patches_ + products_;
  }
  std::size_t phase_count() const { return phases_.size(); }
  /// Whether a phase is matrix products, and of how many rows, terms and columns at most.
  bool has_products(std::size_t number) const {
    return terms(phases_[number]) > 0 && !is_depthwise() && !phases_[number].outputs.empty();
  }
  std::int64_t product_rows(std::size_t number) const {
    const ConvolutionPhase& phase = phases_[number];
    return is_matrix_product(phase) ? rows(phase) : rows_at_once(phase);
  }
  std::int64_t product_terms(std::size_t number) const { return terms(phases_[number]); }

  /// `multiply(phase, a, b, c)` computes the products of phase number `phase`, c = a·b.
  template <class Multiply>
  void run(const Stored* x, const Stored* kernel, Stored* y, T* scratch,
           const Multiply& multiply) const {
    const T* wide = nullptr;
    if constexpr (is_widened) {
      std::copy_n(kernel, sizes_.places() * kernel_columns(), scratch);
      wide = scratch;
    } else {
      wide = reinterpret_cast<const T*>(kernel);
    }
    for (std::size_t number = 0; number < phases_.size(); ++number) {
      const ConvolutionPhase& phase = phases_[number];
      if (terms(phase) == 0) {
        fill_zeros(phase, y);
        continue;
      }
      const T* weights = kernel_of(phase, wide, scratch + wide_kernel_);
      T* patches = scratch + wide_kernel_ + phase_kernel_;
      if (is_depthwise()) {
        run_depthwise(phase, x, weights, y, patches);
      } else {
        const auto product = [&](const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
          multiply(number, a, b, c);
        };
        if (is_matrix_product(phase)) {
          multiply_all(phase, x, weights, y, product);
        } else {
          multiply_patches(phase, x, weights, y, patches, product);
        }
      }
    }
  }

 private:
  static constexpr bool is_widened = sizeof(T) != sizeof(Stored);
  /// Elements of a block of patches: it stays in the second-level cache.
  static constexpr std::int64_t block_elements = 1 << 16;
  static constexpr std::int64_t most_lanes = 8;

  /// Elements, to a multiple of 64 bytes.
  static std::int64_t aligned(std::int64_t elements) {
    constexpr std::int64_t unit = 64 / sizeof(T);
    return (elements + unit - 1) / unit * unit;
  }

  /// Elements of the kernel at one place.
  std::int64_t kernel_columns() const { return sizes_.in * sizes_.y_channels(); }
  bool is_depthwise() const { return sizes_.in == 1 && sizes_.out == 1 && sizes_.groups > 1; }
  std::int64_t rows(const ConvolutionPhase& phase) const {
    return sizes_.batch * static_cast<std::int64_t>(phase.outputs.size());
  }
  std::int64_t terms(const ConvolutionPhase& phase) const {
    return static_cast<std::int64_t>(phase.taps.size()) * sizes_.in;
  }
  /// Few rows would not repay that the product arranges the kernel for each block.
  std::int64_t rows_at_once(const ConvolutionPhase& phase) const {
    const std::int64_t fitting = block_elements / std::max<std::int64_t>(terms(phase), 1);
    return std::min(std::max<std::int64_t>(fitting, 16), rows(phase));
  }
  bool has_whole_kernel(const ConvolutionPhase& phase) const {
    return sizes_.places() == static_cast<std::int64_t>(phase.taps.size());
  }
  bool is_matrix_product(const ConvolutionPhase& phase) const {
    return !is_widened && sizes_.groups == 1 && phase.is_identity();
  }

  Stored* output(const ConvolutionPhase& phase, std::int64_t row, Stored* y) const {
    const auto per_batch = static_cast<std::int64_t>(phase.outputs.size());
    const std::int64_t number =
        row / per_batch * y_elements_ + phase.outputs[static_cast<std::size_t>(row % per_batch)];
    return y + number * sizes_.y_channels();
  }

  void fill_zeros(const ConvolutionPhase& phase, Stored* y) const {
    for (std::int64_t row = 0; row < rows(phase); ++row)
      std::fill_n(output(phase, row, y), sizes_.y_channels(), static_cast<Stored>(T{0}));
  }

  /// The kernel's rows for the places of the phase: itself, where these are all.
  const T* kernel_of(const ConvolutionPhase& phase, const T* kernel, T* copy) const {
    if (has_whole_kernel(phase)) return kernel;
    const std::int64_t size = kernel_columns();
    for (std::size_t t = 0; t < phase.taps.size(); ++t)
      std::copy_n(kernel + phase.taps[t] * size, size, copy + static_cast<std::int64_t>(t) * size);
    return copy;
  }

  template <class Product>
  void multiply_all(const ConvolutionPhase& phase, const Stored* x, const T* kernel, Stored* y,
                    const Product& product) const {
    const std::int64_t in = sizes_.in;
    const std::int64_t out = sizes_.out;
    product(MatrixView<T>{reinterpret_cast<const T*>(x), rows(phase), in, in, 1},
            MatrixView<T>{kernel, in, out, out, 1}, reinterpret_cast<T*>(y));
  }

  template <class Product>
  void multiply_patches(const ConvolutionPhase& phase, const Stored* x, const T* kernel, Stored* y,
                        T* patches, const Product& product) const {
    const std::int64_t at_once = rows_at_once(phase);
    const std::int64_t width = terms(phase);
    const std::int64_t out = sizes_.out;
    T* products = patches + patches_;
    for (std::int64_t group = 0; group < sizes_.groups; ++group) {
      const MatrixView<T> weights{kernel + group * out, width, out, sizes_.y_channels(), 1};
      for (std::int64_t first = 0; first < rows(phase); first += at_once) {
        const std::int64_t count = std::min(at_once, rows(phase) - first);
        for (std::int64_t r = 0; r < count; ++r)
          write_patch(phase, first + r, group, x, patches + r * width);
        product(MatrixView<T>{patches, count, width, width, 1}, weights, products);
        for (std::int64_t r = 0; r < count; ++r) {
          Stored* to = output(phase, first + r, y) + group * out;
          const T* from = products + r * out;
          for (std::int64_t c = 0; c < out; ++c) to[c] = static_cast<Stored>(from[c]);
        }
      }
    }
  }

  /// The elements of x that a row meets: places in row-major order, the channels of the group in
  /// each.
  void write_patch(const ConvolutionPhase& phase, std::int64_t row, std::int64_t group,
                   const Stored* x, T* to) const {
    const auto per_batch = static_cast<std::int64_t>(phase.outputs.size());
    const std::size_t axes = phase.axes.size();
    x += row / per_batch * x_elements_ * sizes_.x_channels() + group * sizes_.in;
    if (axes == 0) return copy(x, sizes_.in, to);
    write_places(phase, 0, 0, true,
                 phase.positions.data() + row % per_batch * static_cast<std::int64_t>(axes), x, to);
  }

  T* write_places(const ConvolutionPhase& phase, std::size_t axis, std::int64_t element,
                  bool inside, const std::int64_t* position, const Stored* x, T* to) const {
    const PhaseAxis& along = phase.axes[axis];
    const bool is_last = axis + 1 == phase.axes.size();
    if (is_last && inside && sizes_.groups == 1 && phase.tap_step > 0)
      return write_run(phase, along, element, position[axis], x, to);
    for (const std::int64_t place : along.elements) {
      const std::int64_t i = place + position[axis];
      const bool fits = inside && 0 <= i && i < along.extent;
      const std::int64_t next = element * along.extent + i;
      if (!is_last) {
        to = write_places(phase, axis + 1, next, fits, position, x, to);
      } else {
        if (fits) {
          copy(x + next * sizes_.x_channels(), sizes_.in, to);
        } else {
          std::fill_n(to, sizes_.in, T{0});
        }
        to += sizes_.in;
      }
    }
    return to;
  }

  /// All channels of places that are equally far apart: in one run where they are neighbours.
  T* write_run(const ConvolutionPhase& phase, const PhaseAxis& along, std::int64_t element,
               std::int64_t position, const Stored* x, T* to) const {
    const auto places = static_cast<std::int64_t>(along.elements.size());
    const std::int64_t start = along.elements[0] + position;
    const std::int64_t step = phase.tap_step;
    const auto first_from = [&](std::int64_t i) {
      const std::int64_t distance = i - start;
      return distance <= 0 ? 0 : std::min((distance + step - 1) / step, places);
    };
    const std::int64_t first = first_from(0);
    const std::int64_t last = std::max(first_from(along.extent), first);
    const std::int64_t in = sizes_.in;
    std::fill_n(to, first * in, T{0});
    if (first < last) {
      const Stored* from = x + (element * along.extent + start + first * step) * in;
      if (step == 1) {
        copy(from, (last - first) * in, to + first * in);
      } else if (in == 1) {
        for (std::int64_t t = first; t < last; ++t)
          to[t] = static_cast<T>(from[(t - first) * step]);
      } else {
        for (std::int64_t t = first; t < last; ++t)
          copy(from + (t - first) * step * in, in, to + t * in);
      }
    }
    std::fill_n(to + last * in, (places - last) * in, T{0});
    return to + places * in;
  }

  static void copy(const Stored* from, std::int64_t n, T* to) {
    if constexpr (!is_widened) {
      const T* same = reinterpret_cast<const T*>(from);
      if (n < 8) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = same[i];
      } else {
        std::memcpy(to, same, static_cast<std::size_t>(n) * sizeof(T));
      }
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
    }
  }

  /// One channel in each group: all channels side by side, the places in the order of
  /// matrix_product.h.
  void run_depthwise(const ConvolutionPhase& phase, const Stored* all, const T* kernel, Stored* y,
                     T* scratch) const {
    constexpr std::size_t chunk = 256;
    const std::int64_t channels = sizes_.groups;
    const std::size_t lanes = phase.taps.size() < 64 ? 1 : most_lanes;
    T* totals = scratch;
    Stored* zeros = reinterpret_cast<Stored*>(scratch + aligned(channels));
    T* sums = scratch + patches_;
    const std::int64_t sum_count = channels * static_cast<std::int64_t>(lanes);
    std::fill_n(zeros, channels, static_cast<Stored>(T{0}));
    const auto add_lanes = [&] {
      const T* sum = sums;
      for (std::size_t lane = 0; lane < lanes; ++lane, sum += channels) {
#pragma omp simd
        for (std::int64_t c = 0; c < channels; ++c) totals[c] = static_cast<T>(totals[c] + sum[c]);
      }
      std::fill_n(sums, sum_count, T{0});
    };
    const auto per_batch = static_cast<std::int64_t>(phase.outputs.size());
    Shape counts;
    for (const PhaseAxis& along : phase.axes)
      counts.push_back(static_cast<std::int64_t>(along.taps.size()));
    for (std::int64_t row = 0; row < rows(phase); ++row) {
      const Stored* x = all + row / per_batch * x_elements_ * channels;
      const std::int64_t* position =
          phase.positions.data() + row % per_batch * static_cast<std::int64_t>(phase.axes.size());
      std::fill_n(sums, sum_count, T{0});
      std::fill_n(totals, channels, T{0});
      std::size_t number = 0;
      for_each_index(counts, [&](const Shape& index) {
        const Stored* from = x;
        std::int64_t element = 0;
        for (std::size_t i = 0; i < index.size(); ++i) {
          const PhaseAxis& along = phase.axes[i];
          const std::int64_t place =
              along.elements[static_cast<std::size_t>(index[i])] + position[i];
          if (place < 0 || place >= along.extent) from = nullptr;
          element = element * along.extent + place;
        }
        from = from ? from + element * channels : zeros;
        const T* weights = kernel + static_cast<std::int64_t>(number) * channels;
        T* sum = sums + static_cast<std::int64_t>(number % chunk % lanes) * channels;
#pragma omp simd
        for (std::int64_t c = 0; c < channels; ++c)
          sum[c] = static_cast<T>(sum[c] + static_cast<T>(static_cast<T>(from[c]) * weights[c]));
        if (++number % chunk == 0) add_lanes();
      });
      add_lanes();
      Stored* to = output(phase, row, y);
      for (std::int64_t c = 0; c < channels; ++c) to[c] = static_cast<Stored>(one_nan(totals[c]));
    }
  }

  /// A NaN is always the same NaN, as of matrix_product.h.
  static T one_nan(T x) { return x == x ? x : std::numeric_limits<T>::quiet_NaN(); }

  ConvolutionSizes sizes_;
  std::vector<ConvolutionPhase> phases_;
  std::int64_t x_elements_, y_elements_;
  /// Elements of each part of the scratch memory.
  std::int64_t wide_kernel_ = 0, phase_kernel_ = 0, patches_ = 0, products_ = 0;
};

}  // namespace hom::cpu
