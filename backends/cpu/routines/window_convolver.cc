// backends/cpu/routines/window_convolver.cc -- lines and runs of each phase, and who computes them
#include <hom/backends/cpu/routines/window_convolver.h>

#include <algorithm>

#include <hom/backends/cpu/routines/libraries.h>
#include <hom/backends/cpu/sharing.h>
#include <hom/backends/cpu/thread_pool.h>
#include <hom/backends/cpu/threads.h>

namespace hom::cpu {
namespace {

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Elements of images that are computed at once: they stay in the second-level cache.
constexpr std::int64_t block_bytes = 128 << 10;

bool is_preferred() {
  const std::vector<Library> libraries = preferred_libraries();
  return !libraries.empty() && libraries.front() == Library::hom;
}

/// The axis along which the rows of a line lie: the last, but for few outputs.
std::size_t line_axis(const ConvolutionPhase& phase) {
  std::size_t best = phase.axes.size() - 1;
  if (phase.axes[best].count >= 4) return best;
  for (std::size_t i = phase.axes.size(); i-- > 0;) {
    if (phase.axes[i].count > phase.axes[best].count) best = i;
  }
  return best;
}

}  // namespace

template <class T>
std::optional<WindowConvolver<T>> WindowConvolver<T>::for_sizes(const ConvolutionSizes& sizes) {
  const bool is_depthwise = sizes.in == 1 && sizes.out == 1 && sizes.groups > 1;
  if (is_depthwise || sizes.axes.empty() || !is_preferred()) return std::nullopt;
  const std::optional<FmaGemm<T>> gemm = fma_gemm<T>(sizes.out);
  if (!gemm) return std::nullopt;
  const std::vector<ConvolutionPhase> phases = convolution_phases(sizes);
  if (sizes.groups == 1 && phases.size() == 1 && phases[0].is_identity()) return std::nullopt;
  return WindowConvolver(sizes, *gemm);
}

template <class T>
WindowConvolver<T>::WindowConvolver(const ConvolutionSizes& sizes, const FmaGemm<T>& gemm)
    : sizes_(sizes),
      gemm_(gemm),
      x_size_(sizes.x_elements() * sizes.x_channels()),
      y_size_(sizes.y_elements() * sizes.y_channels()) {
  for (const ConvolutionPhase& phase : convolution_phases(sizes)) {
    if (phase.outputs.empty()) continue;
    phases_.push_back(phase_of(phase));
    const auto taps = static_cast<std::int64_t>(phase.taps.size());
    const std::int64_t elements = taps * sizes.in * sizes.y_channels();
    panel_bytes_ = std::max(panel_bytes_, aligned(elements * static_cast<std::int64_t>(sizeof(T))));
    own_bytes_ = std::max(own_bytes_, own_bytes(phases_.back()));
  }
}

// ---- preparation ----

template <class T>
typename WindowConvolver<T>::Phase WindowConvolver<T>::phase_of(
    const ConvolutionPhase& phase) const {
  Phase result;
  result.taps = phase.taps;
  result.is_padded = false;
  for (const PhaseAxis& along : phase.axes) {
    // Where no place of the kernel meets an output there are no terms, and nothing is read.
    const bool is_empty = phase.taps.empty();
    const auto [least, most] = std::minmax_element(along.elements.begin(), along.elements.end());
    const std::int64_t low = is_empty ? 0 : *least;
    const std::int64_t high = is_empty ? 0 : *most + along.stride * (along.count - 1) + 1;
    result.low.push_back(low);
    result.extents.push_back(high - low);
    if (low < 0 || high > along.extent) result.is_padded = true;
  }
  if (!result.is_padded) {
    for (std::size_t i = 0; i < phase.axes.size(); ++i) {
      result.low[i] = 0;
      result.extents[i] = phase.axes[i].extent;
    }
  }
  Shape strides(phase.axes.size());
  std::int64_t stride = sizes_.x_channels();
  for (std::size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= result.extents[i];
  }
  result.image = stride;
  find_lines(phase, strides, result);
  find_runs(phase, strides, result);
  return result;
}

template <class T>
void WindowConvolver<T>::find_lines(const ConvolutionPhase& phase, const Shape& strides,
                                    Phase& to) const {
  const std::size_t across = line_axis(phase);
  Shape y_strides(strides.size()), counts;
  std::int64_t stride = sizes_.y_channels();
  for (std::size_t i = strides.size(); i-- > 0;) {
    y_strides[i] = stride;
    stride *= sizes_.axes[i].count();
  }
  for (const PhaseAxis& along : phase.axes) counts.push_back(along.count);
  to.rows = counts[across];
  to.a_row = phase.axes[across].stride * strides[across];
  to.c_row = phase.axes[across].step * y_strides[across];
  counts[across] = 1;
  for_each_index(counts, [&](const Shape& index) {
    typename Phase::Line line{0, 0};
    for (std::size_t i = 0; i < index.size(); ++i) {
      const PhaseAxis& along = phase.axes[i];
      line.a += index[i] * along.stride * strides[i];
      line.c += (along.first + index[i] * along.step) * y_strides[i];
    }
    to.lines.push_back(line);
  });
}

template <class T>
void WindowConvolver<T>::find_runs(const ConvolutionPhase& phase, const Shape& strides,
                                   Phase& to) const {
  Shape counts;
  for (const PhaseAxis& along : phase.axes)
    counts.push_back(static_cast<std::int64_t>(along.taps.size()));
  const auto add = [&](std::int64_t offset, std::int64_t terms) {
    if (!to.runs.empty() && to.runs.back().offset + to.runs.back().terms == offset) {
      const std::int64_t more = std::min(TermRun::most_terms - to.runs.back().terms, terms);
      to.runs.back().terms += more;
      offset += more;
      terms -= more;
    }
    for (; terms > 0; terms -= TermRun::most_terms, offset += TermRun::most_terms)
      to.runs.push_back({offset, std::min(terms, TermRun::most_terms)});
  };
  for_each_index(counts, [&](const Shape& index) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t element = phase.axes[i].elements[static_cast<std::size_t>(index[i])];
      offset += (element - to.low[i]) * strides[i];
    }
    add(offset, sizes_.in);
  });
}

template <class T>
std::int64_t WindowConvolver<T>::images_at_once(const Phase& phase) const {
  const std::int64_t bytes = phase.image * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t fitting = block_bytes / std::max<std::int64_t>(bytes, 1);
  return std::clamp<std::int64_t>(fitting, 1, std::max<std::int64_t>(sizes_.batch, 1));
}

template <class T>
std::int64_t WindowConvolver<T>::own_bytes(const Phase& phase) const {
  const std::int64_t images = images_at_once(phase);
  const auto lines = static_cast<std::int64_t>(phase.lines.size()) * images;
  const std::int64_t line_bytes =
      lines * static_cast<std::int64_t>(sizeof(typename Windows<T>::Line));
  const std::int64_t copies = phase.is_padded ? images * phase.image : 0;
  return aligned(line_bytes) + aligned(copies * static_cast<std::int64_t>(sizeof(T)));
}

// ---- a run ----

template <class T>
typename WindowConvolver<T>::Share WindowConvolver<T>::share(const Phase& phase,
                                                             double estimated_ns) const {
  const auto lines = static_cast<std::int64_t>(phase.lines.size());
  const SharingLimits limits = sharing_limits();
  Share result{images_at_once(phase), lines};
  const int threads = is_in_chunk() ? 1 : hom::threads();
  if (threads == 1 || estimated_ns < limits.least_ns) return result;
  // Enough for an even share although some threads come late, none too short.
  const auto most = static_cast<std::int64_t>(estimated_ns / limits.chunk_ns);
  const std::int64_t wanted = std::min<std::int64_t>(4 * threads, std::max<std::int64_t>(most, 2));
  result.images = std::clamp<std::int64_t>(sizes_.batch / wanted, 1, result.images);
  const std::int64_t parts = (sizes_.batch + result.images - 1) / result.images;
  const std::int64_t down = std::clamp<std::int64_t>(wanted / parts, 1, lines);
  result.lines = (lines + down - 1) / down;
  return result;
}

template <class T>
void WindowConvolver<T>::run(const T* x, const T* kernel, T* y, std::byte* scratch) const {
  for (const Phase& phase : phases_) {
    const T* b = panels(phase, kernel, reinterpret_cast<T*>(scratch));
    const auto lines = static_cast<std::int64_t>(phase.lines.size());
    const double outputs = static_cast<double>(sizes_.batch * lines * phase.rows) *
                           static_cast<double>(sizes_.y_channels());
    const double terms = static_cast<double>(phase.taps.size()) * static_cast<double>(sizes_.in);
    const Share one = share(phase, 2 * outputs * terms * sizeof(T) / 240);
    const std::int64_t across = (sizes_.batch + one.images - 1) / one.images;
    const std::int64_t down = (lines + one.lines - 1) / one.lines;
    const auto run_part = [&](std::int64_t i, std::byte* own) {
      const std::int64_t image = i / down * one.images, line = i % down * one.lines;
      run_share(phase, x, b, y, image, std::min(one.images, sizes_.batch - image), line,
                std::min(one.lines, lines - line), own);
    };
    if (is_in_chunk() || hom::threads() == 1) {
      for (std::int64_t i = 0; i < across * down; ++i) run_part(i, scratch + panel_bytes_);
    } else {
      parallel_for(across * down, [&](std::int64_t i) { run_part(i, chunk_scratch(own_bytes_)); });
    }
  }
}

/// The kernel as a matrix for each group, terms by channels of y: itself, where it is that.
template <class T>
const T* WindowConvolver<T>::panels(const Phase& phase, const T* kernel, T* to) const {
  const std::int64_t in = sizes_.in, out = sizes_.out, channels = sizes_.y_channels();
  const auto taps = static_cast<std::int64_t>(phase.taps.size());
  const bool is_whole = taps == sizes_.places();
  if (is_whole && sizes_.groups == 1 && gemm_.panel_columns(phase.rows, out) == out) return kernel;
  T* const panels = to;
  for (std::int64_t group = 0; group < sizes_.groups; ++group) {
    const T* from = kernel + group * out;
    if (is_whole) {
      gemm_.write_panels({from, taps * in, out, channels, 1}, phase.rows, to);
      to += taps * in * out;
      continue;
    }
    // Panel by panel, and in each the places that the phase meets.
    for (std::int64_t j = 0; j < out;) {
      const std::int64_t columns = gemm_.panel_columns(phase.rows, out - j);
      for (const std::int64_t tap : phase.taps) {
        for (std::int64_t i = 0; i < in; ++i, to += columns)
          std::copy_n(from + (tap * in + i) * channels + j, columns, to);
      }
      j += columns;
    }
  }
  return panels;
}

template <class T>
void WindowConvolver<T>::run_share(const Phase& phase, const T* x, const T* panels, T* y,
                                   std::int64_t first_image, std::int64_t images,
                                   std::int64_t first_line, std::int64_t lines,
                                   std::byte* own) const {
  using Line = typename Windows<T>::Line;
  Line* const all = reinterpret_cast<Line*>(own);
  const auto count = static_cast<std::size_t>(images * lines);
  const T* first = x + first_image * x_size_;
  std::int64_t image_size = x_size_;
  if (phase.is_padded) {
    const std::int64_t most_lines =
        static_cast<std::int64_t>(phase.lines.size()) * images_at_once(phase);
    T* copies =
        reinterpret_cast<T*>(own + aligned(most_lines * static_cast<std::int64_t>(sizeof(Line))));
    for (std::int64_t i = 0; i < images; ++i)
      copy_image(phase, first + i * x_size_, copies + i * phase.image);
    first = copies;
    image_size = phase.image;
  }
  const std::int64_t group_panels =
      static_cast<std::int64_t>(phase.taps.size()) * sizes_.in * sizes_.out;
  for (std::int64_t group = 0; group < sizes_.groups; ++group) {
    Line* to = all;
    for (std::int64_t i = 0; i < images; ++i) {
      for (std::int64_t l = first_line; l < first_line + lines; ++l) {
        const auto& line = phase.lines[static_cast<std::size_t>(l)];
        *to++ = {first + i * image_size + line.a + group * sizes_.in,
                 y + (first_image + i) * y_size_ + line.c + group * sizes_.out};
      }
    }
    gemm_.multiply_windows({{all, count}, phase.rows, phase.a_row, phase.c_row, phase.runs},
                           panels + group * group_panels, sizes_.out);
  }
}

/// The part of an image that windows reach, with zeros where there is none.
template <class T>
void WindowConvolver<T>::copy_image(const Phase& phase, const T* x, T* to) const {
  const std::size_t last = phase.extents.size() - 1;
  const std::int64_t channels = sizes_.x_channels();
  const std::int64_t low = phase.low[last], extent = sizes_.axes[last].extent;
  const std::int64_t size = phase.extents[last];
  // Elements [begin, end) of a row are there.
  const std::int64_t begin = std::clamp<std::int64_t>(-low, 0, size);
  const std::int64_t end = std::clamp<std::int64_t>(extent - low, begin, size);
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < last; ++i) rows *= phase.extents[i];
  for (std::int64_t number = 0; number < rows; ++number) {
    // Which row of x that is, if any.
    std::int64_t row = 0, row_step = 1, rest = number;
    bool is_inside = true;
    for (std::size_t i = last; i-- > 0; rest /= phase.extents[i]) {
      const std::int64_t position = phase.low[i] + rest % phase.extents[i];
      is_inside = is_inside && 0 <= position && position < sizes_.axes[i].extent;
      row += position * row_step;
      row_step *= sizes_.axes[i].extent;
    }
    T* const row_end = to + size * channels;
    if (is_inside) {
      to = std::fill_n(to, begin * channels, T{0});
      to = std::copy_n(x + (row * extent + low + begin) * channels, (end - begin) * channels, to);
    }
    std::fill(to, row_end, T{0});
    to = row_end;
  }
}

template class WindowConvolver<float>;
template class WindowConvolver<double>;

}  // namespace hom::cpu
