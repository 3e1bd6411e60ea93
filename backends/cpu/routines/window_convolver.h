// backends/cpu/routines/window_convolver.h -- a convolution as products of windows, without patches
//
// The patches of outputs along one axis are rows that overlap in the image, and each is a few runs
// of neighbours in it: a product reads them where they are (`multiply_windows` of fma_gemm.h). An
// image whose windows reach into padding is first copied with zeros around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <hom/backends/cpu/convolution_phases.h>
#include <hom/backends/cpu/routines/fma_gemm.h>

namespace hom::cpu {

/// A convolution of given extents, prepared once; x, the kernel and y are row-major. f32 and f64.
/// Each output is a sum over the kernel's places in row-major order, and the channels of its group
/// within each, split as `multiply_windows` does; bits depend on no number of threads.
template <class T>
class WindowConvolver {
 public:
  /// None where a matrix product needs no patches, for one channel in each group, and on processors
  /// without fused multiply-adds.
  static std::optional<WindowConvolver> for_sizes(const ConvolutionSizes& sizes);

  /// Aligned to 64 bytes.
  std::int64_t scratch_bytes() const { return panel_bytes_ + own_bytes_; }
  void run(const T* x, const T* kernel, T* y, std::byte* scratch) const;

 private:
  /// Outputs that meet the same places of the kernel, in one element of the batch.
  struct Phase {
    /// Places of the kernel, counted in row-major order; their terms in an image.
    std::vector<std::int64_t> taps;
    std::vector<TermRun> runs;
    /// Where lines of outputs begin in an image and in y.
    struct Line {
      std::int64_t a, c;
    };
    std::vector<Line> lines;
    /// Of each line.
    std::int64_t rows, a_row, c_row;
    /// The part of x that windows reach: along each axis from `low` on, `extents` elements.
    Shape low, extents;
    bool is_padded;
    /// Elements of that part with its channels, or of x.
    std::int64_t image;
  };
  /// Elements of the batch and lines of a phase that are computed at once.
  struct Share {
    std::int64_t images, lines;
  };

  WindowConvolver(const ConvolutionSizes& sizes, const FmaGemm<T>& gemm);
  Phase phase_of(const ConvolutionPhase& phase) const;
  void find_lines(const ConvolutionPhase& phase, const Shape& strides, Phase& to) const;
  void find_runs(const ConvolutionPhase& phase, const Shape& strides, Phase& to) const;
  /// How many images a thread takes at once, so that they stay in the second-level cache.
  std::int64_t images_at_once(const Phase& phase) const;
  Share share(const Phase& phase, double estimated_ns) const;
  std::int64_t own_bytes(const Phase& phase) const;

  const T* panels(const Phase& phase, const T* kernel, T* to) const;
  void run_share(const Phase& phase, const T* x, const T* panels, T* y, std::int64_t first_image,
                 std::int64_t images, std::int64_t first_line, std::int64_t lines,
                 std::byte* own) const;
  void copy_image(const Phase& phase, const T* x, T* to) const;

  ConvolutionSizes sizes_;
  FmaGemm<T> gemm_;
  std::int64_t x_size_, y_size_;
  std::vector<Phase> phases_;
  /// Bytes of the kernel in panels, and of what each thread has for itself.
  std::int64_t panel_bytes_ = 0, own_bytes_ = 0;
};

}  // namespace hom::cpu
