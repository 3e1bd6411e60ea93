// core/operations/pooling.cc -- pooling as windows over the spatial axes
#include <hom/core/operations/pooling.h>

#include <hom/core/axes.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/operations/spatial.h>
#include <hom/core/operations/windows.h>

namespace hom {
namespace {

struct Pool {
  std::int64_t first_axis;
  std::vector<WindowAxis> axes;
};

/// A last window that would begin in the padding after the axis is none.
void add_partial_window(WindowAxis& axis) {
  const std::int64_t rest = axis.low + axis.extent + axis.high - axis.span();
  const std::int64_t missing = (axis.stride - rest % axis.stride) % axis.stride;
  const std::int64_t begin = (axis.count() - 1) * axis.stride + axis.stride;
  if (axis.extent > 0 && missing > 0 && begin < axis.extent + axis.low) axis.high += missing;
}

Pool pool_of(const char* operation, const Operand& x, const Shape& window,
             const PoolOptions& options) {
  const TensorType type = x.value().type(x.at());
  const std::int64_t spatial = signed_size(window);
  require(spatial > 0 && spatial < type.rank(), x.at(), [&] {
    return Complaint{std::string(operation) + ": a window " + to_string(window) +
                         " does not slide over " + to_string(type),
                     "x is [batch..., spatial..., channels], with one entry of the window for each "
                     "spatial axis"};
  });
  const std::int64_t channels = options.channels == Channels::last ? 1 : 0;
  const std::int64_t first = type.rank() - spatial - channels;
  Pool pool{first, spatial_windows(operation, type, first, window,
                                   options.stride.empty() ? window : options.stride,
                                   options.dilation, options.padding, x.at())};
  return pool;
}

void require_elements(const char* operation, const Operand& x, const Pool& pool, const char* hint) {
  for (std::size_t i = 0; i < pool.axes.size(); ++i) {
    const std::int64_t empty = pool.axes[i].empty_window();
    require(empty < 0, x.at(), [&] {
      return Complaint{std::string(operation) + ": window " + std::to_string(empty) +
                           " along axis " +
                           std::to_string(pool.first_axis + static_cast<std::int64_t>(i)) + " of " +
                           to_string(x.value().type(x.at())) + " has only padding",
                       hint};
    });
  }
}

/// Windows for all axes of a tensor whose spatial ones start at `first`.
Windows windows_of(const std::vector<WindowAxis>& axes, std::int64_t first, std::int64_t rank) {
  const auto n = static_cast<std::size_t>(rank);
  Windows all{Shape(n, 1), Shape(n, 1), Shape(n, 1), Shape(n, 0), Shape(n, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(first) + i;
    all.window[at] = axes[i].window;
    all.stride[at] = axes[i].stride;
    all.dilation[at] = axes[i].dilation;
    all.low[at] = axes[i].low;
    all.high[at] = axes[i].high;
  }
  return all;
}

Tensor extreme_pool(const char* operation, Tensor (*extreme)(const Operand&, const Windows&),
                    const Operand& x, const Shape& window, const PoolOptions& options) {
  Pool pool = pool_of(operation, x, window, options);
  if (options.partial_windows) {
    for (WindowAxis& axis : pool.axes) add_partial_window(axis);
  }
  require_elements(operation, x, pool, "pad by less than a window reaches");
  return extreme(x, windows_of(pool.axes, pool.first_axis, signed_size(x.shape())));
}

/// How many elements each window has, [spatial…]: sums of ones, over the padding too where that
/// counts.
Tensor counts(const Pool& pool, const std::vector<WindowAxis>& without_partial, Dtype dtype,
              bool count_padding, const Location& at) {
  std::vector<WindowAxis> axes = pool.axes;
  Shape shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (count_padding) {
      axes[i].extent += axes[i].low + without_partial[i].high;
      axes[i].high -= without_partial[i].high;
      axes[i].low = 0;
    }
    shape.push_back(axes[i].extent);
  }
  return window_sum(Operand(ones(shape, dtype, at), at), windows_of(axes, 0, signed_size(shape)));
}

}  // namespace

Tensor max_pool(const Operand& x, const Shape& window, const PoolOptions& options) {
  return extreme_pool("max_pool", window_max, x, window, options);
}
Tensor min_pool(const Operand& x, const Shape& window, const PoolOptions& options) {
  return extreme_pool("min_pool", window_min, x, window, options);
}

Tensor avg_pool(const Operand& x, const Shape& window, const PoolOptions& options) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("avg_pool", x);
  Pool pool = pool_of("avg_pool", x, window, options);
  const std::vector<WindowAxis> without_partial = pool.axes;
  if (options.partial_windows) {
    for (WindowAxis& axis : pool.axes) add_partial_window(axis);
  }
  if (!options.count_padding)
    require_elements("avg_pool", x, pool,
                     "pad by less than a window reaches, or count the padding as zeros");
  const Tensor wide = widened(x);
  const Tensor total = window_sum(wide, windows_of(pool.axes, pool.first_axis, wide.rank()));
  const Tensor count = counts(pool, without_partial, wide.dtype(), options.count_padding, x.at());
  Shape aligned = count.shape();
  if (options.channels == Channels::last) aligned.push_back(1);
  return convert(total / reshape(count, aligned), x.dtype());
}

}  // namespace hom
