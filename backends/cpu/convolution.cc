// backends/cpu/convolution.cc -- `conv_general` as matrix products of patches and the kernel
//
// Every output is one sum over the kernel's places in row-major order, and over the channels of its
// group within each place; in the order of matrix_product.h for floats, with one rounding at the
// end for 16 bits; integers wrap. Padding is terms of 0; the gaps of lhs_dilation are no terms.
//
// Outputs that meet the same places of the kernel are a phase: without gaps there is one. Of a
// phase, the patches of some outputs are written as rows of a matrix, which is multiplied by those
// rows of the kernel. A kernel of one place needs no copy, and one channel in each group
// (depthwise) goes along the channels.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include <hom/backends/cpu/eigen_product.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/matrix_product.h>
#include <hom/backends/cpu/registration.h>
#include <hom/core/windows.h>

namespace hom::cpu {
namespace {

/// Along one axis, the outputs first, first + step, … and what all of them meet.
struct Phase {
  std::int64_t first, step, count;
  /// From output to output of the phase, in elements of x.
  std::int64_t stride;
  /// Places of the kernel, and the elements of x that the first output meets there (maybe outside).
  std::vector<std::int64_t> taps, elements;
  std::int64_t extent;

  /// From place to place of each output, in elements; 0 where they are not equally far apart.
  std::int64_t tap_step() const {
    const std::int64_t step = elements.size() > 1 ? elements[1] - elements[0] : 1;
    for (std::size_t t = 1; t < elements.size(); ++t) {
      if (elements[t] != elements[t - 1] + step) return 0;
    }
    return step;
  }
};

std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::vector<Phase> phases_of(const ConvolutionAxis& axis) {
  const std::int64_t step = axis.spacing / std::gcd(axis.stride, axis.spacing);
  std::vector<Phase> phases;
  for (std::int64_t first = 0; first < std::min(step, axis.count()); ++first) {
    Phase phase{first,
                step,
                (axis.count() - first + step - 1) / step,
                step * axis.stride / axis.spacing,
                {},
                {},
                axis.extent};
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const std::int64_t place = first * axis.stride + k * axis.dilation - axis.low;
      if (place % axis.spacing != 0) continue;
      phase.taps.push_back(k);
      phase.elements.push_back(floored(place, axis.spacing));
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

/// Calls f(index) for each index below the extents, in row-major order.
template <class F>
void for_each_index(const std::vector<std::int64_t>& extents, F&& f) {
  for (const std::int64_t extent : extents) {
    if (extent == 0) return;
  }
  std::vector<std::int64_t> index(extents.size(), 0);
  while (true) {
    f(index);
    std::size_t d = extents.size();
    for (; d > 0; --d) {
      if (++index[d - 1] < extents[d - 1]) break;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

struct Sizes {
  std::int64_t batch, groups;
  /// Channels of x and of y in each group.
  std::int64_t in, out;
  std::vector<ConvolutionAxis> axes;

  std::int64_t x_channels() const { return groups * in; }
  std::int64_t y_channels() const { return groups * out; }
};

/// c = a·b for floats or unsigned integers.
template <class T>
void product(const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  if constexpr (scalar::Integer<T>) {
    multiply_integers(a, b, c);
  } else if (a.columns == 1) {
    multiply_outer(a, b, c);
  } else {
    multiply(a, b, c);
  }
}

/// Computes in `T` on elements stored as `Stored`; x, the kernel and y are row-major.
template <class T, class Stored>
class Convolver {
 public:
  Convolver(const Sizes& sizes, const Stored* x, const Stored* kernel, Stored* y)
      : sizes_(sizes), x_(x), y_(y) {
    std::int64_t places = 1;
    for (const ConvolutionAxis& axis : sizes.axes) places *= axis.kernel;
    if constexpr (sizeof(T) == sizeof(Stored)) {
      kernel_ = reinterpret_cast<const T*>(kernel);
    } else {
      wide_kernel_.assign(kernel, kernel + places * sizes.in * sizes.y_channels());
      kernel_ = wide_kernel_.data();
    }
    std::vector<std::int64_t> counts;
    for (const ConvolutionAxis& axis : sizes.axes) {
      phases_.push_back(phases_of(axis));
      counts.push_back(static_cast<std::int64_t>(phases_.back().size()));
    }
    for_each_index(counts, [&](const std::vector<std::int64_t>& index) {
      std::vector<const Phase*> phase;
      for (std::size_t i = 0; i < index.size(); ++i)
        phase.push_back(&phases_[i][static_cast<std::size_t>(index[i])]);
      run(phase);
    });
  }

 private:
  /// Elements of a block of patches: it stays in the second-level cache.
  static constexpr std::int64_t block_elements = 1 << 16;

  void run(const std::vector<const Phase*>& phase) {
    find_taps(phase);
    find_rows(phase);
    if (taps_.empty()) return fill_zeros();
    const std::int64_t terms = static_cast<std::int64_t>(taps_.size()) * sizes_.in;
    if (terms == 0) return fill_zeros();
    if (sizes_.in == 1 && sizes_.out == 1 && sizes_.groups > 1) return run_depthwise(phase);
    const T* kernel = kernel_of_phase();
    if (is_matrix_product(phase)) return multiply_all(kernel);
    // Few rows would not repay that the product arranges the kernel for each block.
    const std::int64_t at_once =
        std::min(std::max<std::int64_t>(block_elements / terms, 16), rows());
    patches_.resize(static_cast<std::size_t>(at_once * terms));
    for (std::int64_t group = 0; group < sizes_.groups; ++group) {
      for (std::int64_t first = 0; first < rows(); first += at_once) {
        const std::int64_t count = std::min(at_once, rows() - first);
        for (std::int64_t r = 0; r < count; ++r)
          write_patch(phase, first + r, group, patches_.data() + r * terms);
        multiply_block(kernel, terms, group, first, count);
      }
    }
  }

  /// The places of the kernel that the phase meets, as numbers of the whole kernel's places.
  void find_taps(const std::vector<const Phase*>& phase) {
    std::vector<std::int64_t> counts;
    for (const Phase* along : phase)
      counts.push_back(static_cast<std::int64_t>(along->taps.size()));
    taps_.clear();
    tap_step_ = phase.empty() ? 0 : phase.back()->tap_step();
    for_each_index(counts, [&](const std::vector<std::int64_t>& index) {
      std::int64_t tap = 0;
      for (std::size_t i = 0; i < index.size(); ++i) {
        tap = tap * sizes_.axes[i].kernel + phase[i]->taps[static_cast<std::size_t>(index[i])];
      }
      taps_.push_back(tap);
    });
  }

  /// The outputs of the phase in one element of the batch: their number in y, and what they meet.
  void find_rows(const std::vector<const Phase*>& phase) {
    std::vector<std::int64_t> counts;
    for (const Phase* along : phase) counts.push_back(along->count);
    outputs_.clear();
    positions_.clear();
    all_outputs_ = 1;
    all_elements_ = 1;
    for (const ConvolutionAxis& axis : sizes_.axes) {
      all_outputs_ *= axis.count();
      all_elements_ *= axis.extent;
    }
    for_each_index(counts, [&](const std::vector<std::int64_t>& index) {
      std::int64_t output = 0;
      for (std::size_t i = 0; i < index.size(); ++i) {
        output = output * sizes_.axes[i].count() + phase[i]->first + index[i] * phase[i]->step;
        positions_.push_back(index[i] * phase[i]->stride);
      }
      outputs_.push_back(output);
    });
  }

  std::int64_t rows() const { return sizes_.batch * static_cast<std::int64_t>(outputs_.size()); }
  Stored* output(std::int64_t row) const {
    const auto per_batch = static_cast<std::int64_t>(outputs_.size());
    const std::int64_t number =
        row / per_batch * all_outputs_ + outputs_[static_cast<std::size_t>(row % per_batch)];
    return y_ + number * sizes_.y_channels();
  }

  void fill_zeros() {
    for (std::int64_t row = 0; row < rows(); ++row)
      std::fill_n(output(row), sizes_.y_channels(), static_cast<Stored>(T{0}));
  }

  /// The kernel's rows for the places of the phase: itself, where these are all.
  const T* kernel_of_phase() {
    std::int64_t places = 1;
    for (const ConvolutionAxis& axis : sizes_.axes) places *= axis.kernel;
    if (places == static_cast<std::int64_t>(taps_.size())) return kernel_;
    const std::int64_t size = sizes_.in * sizes_.y_channels();
    phase_kernel_.resize(taps_.size() * static_cast<std::size_t>(size));
    for (std::size_t t = 0; t < taps_.size(); ++t) {
      std::copy_n(kernel_ + taps_[t] * size, size,
                  phase_kernel_.data() + static_cast<std::int64_t>(t) * size);
    }
    return phase_kernel_.data();
  }

  /// Whether the patches are x as it lies there.
  bool is_matrix_product(const std::vector<const Phase*>& phase) const {
    if (sizeof(T) != sizeof(Stored) || sizes_.groups != 1 || taps_.size() != 1) return false;
    for (std::size_t i = 0; i < phase.size(); ++i) {
      if (phase[i]->stride != 1 || phase[i]->step != 1 || phase[i]->elements[0] != 0 ||
          phase[i]->count != phase[i]->extent)
        return false;
    }
    return true;
  }

  void multiply_all(const T* kernel) {
    const std::int64_t in = sizes_.in;
    const std::int64_t out = sizes_.out;
    product<T>({reinterpret_cast<const T*>(x_), rows(), in, in, 1}, {kernel, in, out, out, 1},
               reinterpret_cast<T*>(y_));
  }

  /// The elements of x that a row meets: places in row-major order, the channels of the group in
  /// each.
  void write_patch(const std::vector<const Phase*>& phase, std::int64_t row, std::int64_t group,
                   T* to) const {
    const auto per_batch = static_cast<std::int64_t>(outputs_.size());
    const std::size_t axes = phase.size();
    const Stored* x =
        x_ + row / per_batch * all_elements_ * sizes_.x_channels() + group * sizes_.in;
    if (axes == 0) return copy(x, sizes_.in, to);
    write_places(phase, 0, 0, true,
                 positions_.data() + row % per_batch * static_cast<std::int64_t>(axes), x, to);
  }

  T* write_places(const std::vector<const Phase*>& phase, std::size_t axis, std::int64_t element,
                  bool inside, const std::int64_t* position, const Stored* x, T* to) const {
    const Phase& along = *phase[axis];
    const bool is_last = axis + 1 == phase.size();
    if (is_last && inside && sizes_.groups == 1 && tap_step_ > 0)
      return write_run(along, element, position[axis], x, to);
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
  T* write_run(const Phase& along, std::int64_t element, std::int64_t position, const Stored* x,
               T* to) const {
    const auto places = static_cast<std::int64_t>(along.elements.size());
    const std::int64_t start = along.elements[0] + position;
    const std::int64_t step = tap_step_;
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
    if constexpr (sizeof(T) == sizeof(Stored)) {
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

  void multiply_block(const T* kernel, std::int64_t terms, std::int64_t group, std::int64_t first,
                      std::int64_t count) {
    const std::int64_t channels = sizes_.y_channels();
    const MatrixView<T> weights{kernel + group * sizes_.out, terms, sizes_.out, channels, 1};
    const MatrixView<T> rows{patches_.data(), count, terms, terms, 1};
    products_.resize(static_cast<std::size_t>(count * sizes_.out));
    product<T>(rows, weights, products_.data());
    for (std::int64_t r = 0; r < count; ++r) {
      Stored* to = output(first + r) + group * sizes_.out;
      const T* from = products_.data() + r * sizes_.out;
      for (std::int64_t c = 0; c < sizes_.out; ++c) to[c] = static_cast<Stored>(from[c]);
    }
  }

  /// One channel in each group: all channels side by side, the places in the order of
  /// matrix_product.h.
  void run_depthwise(const std::vector<const Phase*>& phase) {
    constexpr std::size_t chunk = 256;
    const std::int64_t channels = sizes_.groups;
    const std::size_t lanes = taps_.size() < 64 ? 1 : 8;
    const std::vector<Stored> zeros(static_cast<std::size_t>(channels), static_cast<Stored>(T{0}));
    std::vector<T> totals(static_cast<std::size_t>(channels));
    std::vector<T> sums(static_cast<std::size_t>(channels) * lanes);
    const auto add_lanes = [&] {
      T* sum = sums.data();
      for (std::size_t lane = 0; lane < lanes; ++lane, sum += channels) {
#pragma omp simd
        for (std::int64_t c = 0; c < channels; ++c) {
          totals[static_cast<std::size_t>(c)] =
              static_cast<T>(totals[static_cast<std::size_t>(c)] + sum[c]);
        }
      }
      std::fill(sums.begin(), sums.end(), T{0});
    };
    const auto per_batch = static_cast<std::int64_t>(outputs_.size());
    std::vector<std::int64_t> counts;
    for (const Phase* along : phase)
      counts.push_back(static_cast<std::int64_t>(along->taps.size()));
    for (std::int64_t row = 0; row < rows(); ++row) {
      const Stored* x = x_ + row / per_batch * all_elements_ * channels;
      const std::int64_t* position =
          positions_.data() + row % per_batch * static_cast<std::int64_t>(phase.size());
      std::fill(sums.begin(), sums.end(), T{0});
      std::fill(totals.begin(), totals.end(), T{0});
      std::size_t number = 0;
      for_each_index(counts, [&](const std::vector<std::int64_t>& index) {
        const Stored* from = x;
        std::int64_t element = 0;
        for (std::size_t i = 0; i < index.size(); ++i) {
          const std::int64_t place =
              phase[i]->elements[static_cast<std::size_t>(index[i])] + position[i];
          if (place < 0 || place >= phase[i]->extent) from = nullptr;
          element = element * phase[i]->extent + place;
        }
        from = from ? from + element * channels : zeros.data();
        const T* weights = kernel_ + taps_[number] * channels;
        T* sum = sums.data() + static_cast<std::int64_t>(number % chunk % lanes) * channels;
#pragma omp simd
        for (std::int64_t c = 0; c < channels; ++c)
          sum[c] = static_cast<T>(sum[c] + static_cast<T>(static_cast<T>(from[c]) * weights[c]));
        if (++number % chunk == 0) add_lanes();
      });
      add_lanes();
      Stored* to = output(row);
      for (std::int64_t c = 0; c < channels; ++c)
        to[c] = static_cast<Stored>(one_nan(totals[static_cast<std::size_t>(c)]));
    }
  }

  /// A NaN is always the same NaN, as of matrix_product.h.
  static T one_nan(T x) { return x == x ? x : std::numeric_limits<T>::quiet_NaN(); }

  const Sizes& sizes_;
  const Stored* x_;
  Stored* y_;
  const T* kernel_;
  std::vector<T> wide_kernel_;
  std::vector<std::vector<Phase>> phases_;
  // Of the phase that is being computed:
  std::vector<std::int64_t> taps_;
  std::int64_t tap_step_ = 0;
  std::vector<std::int64_t> outputs_;
  std::vector<std::int64_t> positions_;
  std::int64_t all_outputs_ = 1;
  std::int64_t all_elements_ = 1;
  std::vector<T> phase_kernel_;
  std::vector<T> patches_;
  std::vector<T> products_;
};

template <class T, class Stored>
void convolve(const Sizes& sizes, const Array& x, const Array& kernel, Array& y) {
  Convolver<T, Stored>(sizes, x.data<Stored>(), kernel.data<Stored>(), y.data<Stored>());
}

TensorList conv_general_kernel(const Invocation& step, TensorList operands) {
  auto result = Array::allocate(step.result_types[0]);
  const TensorType& type = result->type;
  if (type.size() == 0) return list_of(std::move(result));
  const Tensor x = row_major(operands[0]);
  const Tensor kernel = row_major(operands[1]);
  const Shape shape = x.shape();
  if (x.size() == 0 || kernel.size() == 0) {  // empty sums, or all padding with nothing in it
    std::memset(first_byte(*result), 0, static_cast<std::size_t>(type.size()) * type.dtype.size());
    return list_of(std::move(result));
  }
  const std::int64_t groups = step.attributes.integer("groups");
  const Sizes sizes{shape[0], groups, shape.back() / groups, type.shape.back() / groups,
                    convolution_axes(step.attributes, shape, kernel.shape())};
  const Array& a = array_of(x);
  const Array& b = array_of(kernel);
  switch (type.dtype.id) {
    case Dtype::Id::i8:
    case Dtype::Id::u8:
      convolve<std::uint8_t, std::uint8_t>(sizes, a, b, *result);
      break;
    case Dtype::Id::i32:
    case Dtype::Id::u32:
      convolve<std::uint32_t, std::uint32_t>(sizes, a, b, *result);
      break;
    case Dtype::Id::i64:
    case Dtype::Id::u64:
      convolve<std::uint64_t, std::uint64_t>(sizes, a, b, *result);
      break;
    case Dtype::Id::f16:
      convolve<float, float16>(sizes, a, b, *result);
      break;
    case Dtype::Id::bf16:
      convolve<float, bfloat16>(sizes, a, b, *result);
      break;
    case Dtype::Id::f32:
      convolve<float, float>(sizes, a, b, *result);
      break;
    case Dtype::Id::f64:
      convolve<double, double>(sizes, a, b, *result);
      break;
    case Dtype::Id::boolean:
      fail(Complaint{"conv_general: no CPU kernel for bool", "convert to an integer dtype first"},
           step.at);
  }
  return list_of(std::move(result));
}

}  // namespace

void add_convolution_kernels(KernelTable& table) { table.add("conv_general", conv_general_kernel); }

}  // namespace hom::cpu
