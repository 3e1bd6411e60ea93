// core/operations/spatial.cc -- padding rules as numbers of places
#include <hom/core/operations/spatial.h>

#include <algorithm>

namespace hom {

Shape spatial_list(const std::string& operation, const char* what, const Shape& list,
                   std::size_t axes, std::int64_t otherwise, std::int64_t least,
                   const Location& at) {
  if (list.empty()) return Shape(axes, otherwise);
  require(list.size() == axes, at, [&] {
    return Complaint{operation + ": " + what + " " + to_string(list) + " has " +
                         std::to_string(list.size()) + " entries for " + std::to_string(axes) +
                         " spatial axes",
                     "lists have one entry for each spatial axis, such as height and width"};
  });
  // Larger numbers have no use, and sums of these fit 64 bits.
  constexpr std::int64_t most = std::int64_t{1} << 40;
  require(std::all_of(list.begin(), list.end(),
                      [&](std::int64_t n) { return least <= n && n <= most; }),
          at, [&] {
            return Complaint{operation + ": " + what + " " + to_string(list) +
                             " has an entry outside " + std::to_string(least) + " … 2⁴⁰"};
          });
  return list;
}

std::vector<WindowAxis> spatial_windows(const std::string& operation, const TensorType& x,
                                        std::int64_t first_axis, const Shape& size,
                                        const Shape& stride, const Shape& dilation,
                                        const Padding& padding, const Location& at) {
  const std::size_t n = size.size();
  const Shape sizes = spatial_list(operation, "the window", size, n, 1, 1, at);
  const Shape steps = spatial_list(operation, "stride", stride, n, 1, 1, at);
  const Shape spreads = spatial_list(operation, "dilation", dilation, n, 1, 1, at);
  const Shape low = spatial_list(operation, "padding", padding.low(), n, 0, 0, at);
  const Shape high = spatial_list(operation, "padding", padding.high(), n, 0, 0, at);
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t number = first_axis + static_cast<std::int64_t>(i);
    const std::int64_t extent = x.shape[static_cast<std::size_t>(number)];
    WindowAxis axis{extent, sizes[i], steps[i], spreads[i], low[i], high[i]};
    if (padding.rule() == Padding::Rule::same) {
      const std::int64_t count = (extent + axis.stride - 1) / axis.stride;
      const std::int64_t places =
          std::max<std::int64_t>((count - 1) * axis.stride + axis.span() - extent, 0);
      axis.low = count > 0 ? places / 2 : 0;
      axis.high = count > 0 ? places - axis.low : 0;
    }
    // An empty tensor has no windows, and that is no mistake.
    require(axis.count() > 0 || extent == 0, at, [&] {
      return Complaint{
          operation + ": a window of " + std::to_string(axis.span()) + " does not fit axis " +
              std::to_string(number) + " of " + to_string(x) +
              (axis.low + axis.high == 0
                   ? ""
                   : " with " + std::to_string(axis.low + axis.high) + " places of padding"),
          "pad, or take a smaller window"};
    });
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace hom
