// core/operations/convolution.cc -- options as the numbers of conv_general, and layouts
#include <hom/core/operations/convolution.h>

#include <algorithm>

#include <hom/core/axes.h>
#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/operations/spatial.h>

namespace hom {
namespace {

constexpr const char* layout =
    "x is [batch..., spatial..., channels], the kernel [spatial..., channels of x / groups, "
    "channels of the result]";

/// x as [batch, spatial…, channels] and the kernel as [spatial…, channels, channels], and the way
/// back.
class Canonical {
 public:
  Canonical(const char* operation, const Operand& x, const Operand& kernel, Channels channels)
      : channels_first_(channels == Channels::first) {
    const Operand* both[] = {&x, &kernel};
    const Dtype dtype = common_dtype(both);
    x_ = x.as(dtype);
    kernel_ = kernel.as(dtype);
    spatial_ = kernel_.rank() - 2;
    require(spatial_ > 0 && x_.rank() > spatial_, x.at(), [&] {
      return Complaint{std::string(operation) + ": a kernel " + to_string(kernel_.type()) +
                           " does not fit x " + to_string(x_.type()),
                       channels_first_ ? "x is [batch..., channels, spatial...], the kernel "
                                         "[channels of the result, channels of x / groups, "
                                         "spatial...]"
                                       : layout};
    });
    if (channels_first_) {
      x_ = move_axis(x_, -1 - spatial_, -1);
      kernel_ = move_axis(move_axis(kernel_, 0, -1), 0, -2);
    }
    const Shape shape = x_.shape();
    batch_ = Shape(shape.begin(), shape.end() - spatial_ - 1);
    if (batch_.size() == 1) return;
    Shape flat{element_count(batch_)};
    flat.insert(flat.end(), shape.end() - spatial_ - 1, shape.end());
    x_ = reshape(x_, flat);
  }

  const Tensor& x() const { return x_; }
  const Tensor& kernel() const { return kernel_; }
  std::int64_t spatial() const { return spatial_; }
  Shape kernel_extents() const {
    const Shape shape = kernel_.shape();
    return {shape.begin(), shape.end() - 2};
  }

  Tensor back(const Tensor& result) const {
    const Shape own = result.shape();
    Shape shape = batch_;
    shape.insert(shape.end(), own.begin() + 1, own.end());
    const Tensor y = reshape(result, shape);
    return channels_first_ ? move_axis(y, -1, -1 - spatial_) : y;
  }

 private:
  bool channels_first_;
  std::int64_t spatial_ = 0;
  Tensor x_;
  Tensor kernel_;
  Shape batch_;
};

void require_groups(const char* operation, std::int64_t groups, const Location& at) {
  require(groups > 0, at, [&] {
    return Complaint{std::string(operation) + ": " + std::to_string(groups) + " groups"};
  });
}

/// That groups divide the channels of the result of a convolution.
void require_divided(const char* operation, const Tensor& kernel, std::int64_t groups,
                     const Location& at) {
  require(kernel.extent(-1) % groups == 0, at, [&] {
    return Complaint{std::string(operation) + ": " + std::to_string(groups) +
                         " groups do not divide the " + std::to_string(kernel.extent(-1)) +
                         " channels of a kernel " + to_string(kernel.type()),
                     layout};
  });
}

}  // namespace

Tensor conv_general(const Operand& x, const Operand& kernel, const Convolution& convolution) {
  static const Primitive& p = primitive("conv_general");
  const Operand* both[] = {&x, &kernel};
  const Dtype dtype = common_dtype(both);
  const Tensor lhs = x.as(dtype);
  const Tensor rhs = kernel.as(dtype);
  return apply_one(p,
                   {{"stride", {convolution.stride}},
                    {"low", {convolution.low}},
                    {"high", {convolution.high}},
                    {"lhs_dilation", {convolution.lhs_dilation}},
                    {"rhs_dilation", {convolution.rhs_dilation}},
                    {"groups", {convolution.groups}}},
                   {lhs, rhs}, x.at());
}

namespace detail {
Tensor transposed_kernel(const Tensor& kernel, std::int64_t groups) {
  const Shape shape = kernel.shape();
  const std::int64_t spatial = signed_size(shape) - 2;
  const Tensor reversed = flip(kernel, iota_shape(static_cast<std::size_t>(spatial)));
  if (groups == 1) return swap_axes(reversed, -1, -2);
  const std::int64_t own = shape.begin()[spatial];
  const std::int64_t others = shape.begin()[spatial + 1] / groups;
  Shape split(shape.begin(), shape.begin() + spatial);
  Shape joined = split;
  for (std::int64_t n : {own, groups, others}) split.push_back(n);
  for (std::int64_t n : {others, groups * own}) joined.push_back(n);
  const Tensor parts = swap_axes(reshape(reversed, split), -1, -3);
  return reshape(parts, joined);
}
}  // namespace detail

Tensor conv(const Operand& x, const Operand& kernel, const ConvOptions& options) {
  const LocationScope line(LocationScope::current(x.at()));
  const Canonical canonical("conv", x, kernel, options.channels);
  const std::int64_t groups = options.groups;
  require_groups("conv", groups, x.at());
  const Tensor& lhs = canonical.x();
  const Tensor& rhs = canonical.kernel();
  require(lhs.extent(-1) == groups * rhs.extent(-2), x.at(), [&] {
    return Complaint{"conv: x " + to_string(x.value().type()) + " has " +
                         std::to_string(lhs.extent(-1)) + " channels, and a kernel " +
                         to_string(kernel.value().type()) + " takes " +
                         std::to_string(rhs.extent(-2)) +
                         (groups == 1 ? "" : " for each of " + std::to_string(groups) + " groups"),
                     options.channels == Channels::last
                         ? layout
                         : "x is [batch..., channels, spatial...], the kernel [channels of the "
                           "result, channels of x / groups, spatial...]"};
  });
  require_divided("conv", rhs, groups, x.at());
  Convolution numbers{{}, {}, {}, {}, {}, groups};
  for (const WindowAxis& axis :
       spatial_windows("conv", lhs.type(), 1, canonical.kernel_extents(), options.stride,
                       options.dilation, options.padding, x.at())) {
    numbers.stride.push_back(axis.stride);
    numbers.low.push_back(axis.low);
    numbers.high.push_back(axis.high);
    numbers.lhs_dilation.push_back(1);
    numbers.rhs_dilation.push_back(axis.dilation);
  }
  return canonical.back(conv_general(lhs, rhs, numbers));
}

namespace {

/// The extents of the result: given, or the smallest that a convolution takes to those of y.
Shape transposed_extents(const ConvTransposeOptions& options, const Shape& y, const Shape& kernel,
                         const Location& at) {
  const std::size_t n = kernel.size();
  if (!options.extents.empty())
    return spatial_list("conv_transpose", "extents", options.extents, n, 0, 0, at);
  const Shape stride = spatial_list("conv_transpose", "stride", options.stride, n, 1, 1, at);
  const Shape dilation = spatial_list("conv_transpose", "dilation", options.dilation, n, 1, 1, at);
  const Shape low = spatial_list("conv_transpose", "padding", options.padding.low(), n, 0, 0, at);
  const Shape high = spatial_list("conv_transpose", "padding", options.padding.high(), n, 0, 0, at);
  Shape extents;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t span = (kernel[i] - 1) * dilation[i] + 1;
    const bool same = options.padding.rule() == Padding::Rule::same;
    const std::int64_t all =
        same ? y[i + 1] * stride[i] : (y[i + 1] - 1) * stride[i] + span - low[i] - high[i];
    extents.push_back(y[i + 1] == 0 ? 0 : std::max<std::int64_t>(all, 0));
  }
  return extents;
}

}  // namespace

Tensor conv_transpose(const Operand& y, const Operand& kernel,
                      const ConvTransposeOptions& options) {
  const LocationScope line(LocationScope::current(y.at()));
  const Canonical canonical("conv_transpose", y, kernel, options.channels);
  const std::int64_t groups = options.groups;
  require_groups("conv_transpose", groups, y.at());
  const Tensor& ct = canonical.x();
  const Tensor& rhs = canonical.kernel();
  require(ct.extent(-1) == rhs.extent(-1), y.at(), [&] {
    return Complaint{"conv_transpose: y " + to_string(y.value().type()) + " has " +
                         std::to_string(ct.extent(-1)) + " channels, and a kernel " +
                         to_string(kernel.value().type()) + " made " +
                         std::to_string(rhs.extent(-1)),
                     "the kernel is that of the convolution: [spatial..., channels of the result / "
                     "groups, channels of y]"};
  });
  require_divided("conv_transpose", rhs, groups, y.at());
  const Shape window = canonical.kernel_extents();
  TensorType x = ct.type();
  const Shape extents = transposed_extents(options, x.shape, window, y.at());
  std::copy(extents.begin(), extents.end(), x.shape.begin() + 1);
  const std::vector<WindowAxis> axes = spatial_windows(
      "conv_transpose", x, 1, window, options.stride, options.dilation, options.padding, y.at());
  Convolution numbers{{}, {}, {}, {}, {}, groups};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const WindowAxis& axis = axes[i];
    const std::int64_t n = ct.extent(static_cast<std::int64_t>(i) + 1);
    require(axis.count() == n, y.at(), [&] {
      return Complaint{"conv_transpose: a convolution of extent " + std::to_string(axis.extent) +
                           " makes " + std::to_string(axis.count()) + " along axis " +
                           std::to_string(i) + " of the spatial ones, not " + std::to_string(n) +
                           " as in " + to_string(y.value().type()),
                       "extents are those of the result, one for each spatial axis"};
    });
    const ConvolutionAxis back = ConvolutionAxis{axis.extent, axis.window, axis.stride,  axis.low,
                                                 axis.high,   1,           axis.dilation}
                                     .transposed();
    numbers.stride.push_back(back.stride);
    numbers.low.push_back(back.low);
    numbers.high.push_back(back.high);
    numbers.lhs_dilation.push_back(back.spacing);
    numbers.rhs_dilation.push_back(back.dilation);
  }
  const Tensor turned = detail::transposed_kernel(rhs, groups);
  return canonical.back(conv_general(ct, turned, numbers));
}

}  // namespace hom
