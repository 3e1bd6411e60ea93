// core/windows.cc -- the elements of windows, one by one
#include <hom/core/windows.h>

namespace hom {

std::int64_t WindowAxis::empty_window() const {
  for (std::int64_t o = 0; o < count(); ++o) {
    // The first element that is not before the axis.
    const std::int64_t start = position(o, 0);
    const std::int64_t k = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    if (k >= window || !contains(position(o, k))) return o;
  }
  return -1;
}

// x̄[p] = Σ ȳ[o]·w[k] over p·spacing = o·stride + k·dilation − low. With k′ = kernel − 1 − k that is
// a convolution of ȳ, whose elements lie at o·stride.
ConvolutionAxis ConvolutionAxis::transposed() const {
  ConvolutionAxis back;
  back.extent = count();
  back.kernel = kernel;
  back.stride = spacing;
  back.spacing = stride;
  back.dilation = dilation;
  back.low = span() - 1 - low;
  back.high = spread() + span() - 1 - back.spread() - back.low;
  return back;
}

// w̄[k] = Σ x[p]·ȳ[o] over the same: outputs are a kernel with `stride` between its elements.
ConvolutionAxis ConvolutionAxis::onto_kernel() const {
  ConvolutionAxis onto;
  onto.extent = extent;
  onto.kernel = count();
  onto.stride = dilation;
  onto.spacing = spacing;
  onto.dilation = stride;
  onto.low = low;
  onto.high = span() - 1 + onto.span() - spread() - low;
  return onto;
}

std::vector<ConvolutionAxis> convolution_axes(const Attributes& attributes, const Shape& x,
                                              const Shape& kernel) {
  std::vector<ConvolutionAxis> axes;
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    axes.push_back({x[i + 1], kernel[i], attributes.shape("stride")[i], attributes.shape("low")[i],
                    attributes.shape("high")[i], attributes.shape("lhs_dilation")[i],
                    attributes.shape("rhs_dilation")[i]});
  }
  return axes;
}

std::vector<WindowAxis> window_axes(const Attributes& attributes, const Shape& shape) {
  const Shape& window = attributes.shape("window");
  const Shape& stride = attributes.shape("stride");
  const Shape& dilation = attributes.shape("dilation");
  const Shape& low = attributes.shape("low");
  const Shape& high = attributes.shape("high");
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < shape.size(); ++i)
    axes.push_back({shape[i], window[i], stride[i], dilation[i], low[i], high[i]});
  return axes;
}

std::vector<std::vector<std::size_t>> window_elements(const std::vector<WindowAxis>& axes) {
  // Axis by axis: windows and elements of all axes so far, then one axis more.
  std::vector<std::vector<std::size_t>> all{{0}};
  for (const WindowAxis& axis : axes) {
    std::vector<std::vector<std::size_t>> longer;
    for (const std::vector<std::size_t>& before : all) {
      for (std::int64_t o = 0; o < axis.count(); ++o) {
        std::vector<std::size_t> elements;
        for (std::size_t element : before) {
          for (std::int64_t k = 0; k < axis.window; ++k) {
            const std::int64_t position = axis.position(o, k);
            if (axis.contains(position))
              elements.push_back(element * static_cast<std::size_t>(axis.extent) +
                                 static_cast<std::size_t>(position));
          }
        }
        longer.push_back(std::move(elements));
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace hom
