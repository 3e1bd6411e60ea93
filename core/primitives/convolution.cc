// core/primitives/convolution.cc -- conv_general, bilinear: its transposes are convolutions again
#include <hom/core/operations/convolution.h>

#include <algorithm>
#include <cmath>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>
#include <hom/core/windows.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

constexpr const char* spatial_lists[] = {"stride", "low", "high", "lhs_dilation", "rhs_dilation"};

void require_lists(const Typing& typing, std::size_t spatial) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  for (const char* list : spatial_lists) {
    const Shape& entries = typing.attributes.shape(list);
    const bool is_padding = std::string_view(list) == "low" || std::string_view(list) == "high";
    bool fits = entries.size() == spatial;
    for (std::int64_t n : entries) fits = fits && (is_padding ? -most : 1) <= n && n <= most;
    typing.require(fits, [&] {
      return Complaint{std::string("conv_general: ") + list + " " + to_string(entries) +
                           " needs one entry for each of " + std::to_string(spatial) +
                           " spatial axes" + (is_padding ? "" : ", 1 or more"),
                       "x is [batch, spatial..., channels]"};
    });
  }
}

std::vector<TensorType> convolution_type(const Typing& typing) {
  require_dtypes(typing);
  const TensorType& x = typing.operands[0];
  const TensorType& w = typing.operands[1];
  typing.require(x.rank() >= 2 && w.rank() == x.rank(), [&] {
    return Complaint{"conv_general: x " + to_string(x) + " and a kernel " + to_string(w) +
                         " differ in rank, or have no channels",
                     "x is [batch, spatial..., channels], the kernel [spatial..., channels of x / "
                     "groups, channels of the result]"};
  });
  const std::size_t spatial = x.shape.size() - 2;
  require_lists(typing, spatial);
  const std::int64_t groups = typing.attributes.integer("groups");
  const bool fits = groups > 0 && w.shape.back() % groups == 0 &&
                    static_cast<double>(w.shape[spatial]) * static_cast<double>(groups) ==
                        static_cast<double>(x.shape.back());
  typing.require(fits, [&] {
    return Complaint{"conv_general: channels of x " + to_string(x) + " and of a kernel " +
                     to_string(w) + " do not fit " + std::to_string(groups) + " groups"};
  });
  Shape shape{x.shape[0]};
  for (const ConvolutionAxis& axis : convolution_axes(typing.attributes, x.shape, w.shape)) {
    typing.require(axis.kernel > 0, [&] {
      return Complaint{"conv_general: the kernel " + to_string(w) +
                       " has a spatial axis without "
                       "elements"};
    });
    const double places = static_cast<double>(axis.extent) * static_cast<double>(axis.spacing) +
                          static_cast<double>(axis.kernel) * static_cast<double>(axis.dilation) +
                          static_cast<double>(std::abs(axis.low)) +
                          static_cast<double>(std::abs(axis.high));
    typing.require(places < 0x1p62,
                   [] { return Complaint{"conv_general: an extent does not fit 64 bits"}; });
    shape.push_back(axis.count());
  }
  shape.push_back(w.shape.back());
  return {x.dtype[shape]};
}

Convolution convolution_of(const Attributes& attributes) {
  return {attributes.shape("stride"),       attributes.shape("low"),
          attributes.shape("high"),         attributes.shape("lhs_dilation"),
          attributes.shape("rhs_dilation"), attributes.integer("groups")};
}

Convolution convolution_of(const std::vector<ConvolutionAxis>& axes, std::int64_t groups) {
  Convolution numbers{{}, {}, {}, {}, {}, groups};
  for (const ConvolutionAxis& axis : axes) {
    numbers.stride.push_back(axis.stride);
    numbers.low.push_back(axis.low);
    numbers.high.push_back(axis.high);
    numbers.lhs_dilation.push_back(axis.spacing);
    numbers.rhs_dilation.push_back(axis.dilation);
  }
  return numbers;
}

std::vector<Tensor> derivative_of_convolution(const Linearizing& at) {
  const Convolution c = convolution_of(at.attributes);
  Tensor tangent;
  if (!at.dx[0].is_empty()) tangent = conv_general(at.dx[0], at.x[1], c);
  if (!at.dx[1].is_empty()) {
    const Tensor other = conv_general(at.x[0], at.dx[1], c);
    tangent = tangent.is_empty() ? other : tangent + other;
  }
  return {tangent};
}

/// [b, s…, (g, i)] as [i, b, s…, g].
Tensor channels_in_front(const Tensor& x, std::int64_t groups) {
  Shape split = x.shape();
  const std::int64_t channels = split.back() / groups;
  split.back() = groups;
  split.push_back(channels);
  return move_axis(reshape(x, split), -1, 0);
}

/// w̄[k, i, (g, o)] = Σ x·ȳ over the batch and all outputs: a convolution with ȳ for its kernel, for
/// which the batch is one more spatial axis, so that ȳ may stay as it lies.
Tensor pulled_to_kernel(const Tensor& x, const Tensor& ct, std::vector<ConvolutionAxis> axes,
                        std::int64_t groups) {
  axes.insert(axes.begin(), ConvolutionAxis{.extent = ct.extent(0)});
  for (ConvolutionAxis& axis : axes) axis = axis.onto_kernel();
  Shape outputs = ct.shape();
  outputs.insert(outputs.end() - 1, 1);
  const Tensor channels = channels_in_front(x, groups);
  const Tensor kernel = reshape(ct, outputs);
  const Tensor sums = conv_general(channels, kernel, convolution_of(axes, groups));
  Shape shape = sums.shape();
  shape.erase(shape.begin() + 1);
  return move_axis(reshape(sums, shape), 0, -2);
}

void transpose_convolution(const Transposing& at) {
  if (at.linear[0] && at.linear[1]) at.not_linear("both x and the kernel depend on the input");
  const std::size_t operand = at.linear[0] ? 0 : 1;
  const Tensor& ct = at.ct[0];
  if (ct.size() == 0) {  // no output: a kernel made of none has no place along an axis
    at.add(operand, zeros(at.types[operand]));
    return;
  }
  const std::int64_t groups = at.attributes.integer("groups");
  std::vector<ConvolutionAxis> axes =
      convolution_axes(at.attributes, at.types[0].shape, at.types[1].shape);
  if (operand == 0) {
    for (ConvolutionAxis& axis : axes) axis = axis.transposed();
    const Tensor kernel = detail::transposed_kernel(at.x[1], groups);
    at.add(0, conv_general(ct, kernel, convolution_of(axes, groups)));
    return;
  }
  at.add(1, pulled_to_kernel(at.x[0], ct, std::move(axes), groups));
}

/// The last axis [(g, c)] with lanes n from axis 0 put between the groups and their channels:
/// [(g, n, c)]. With `outside`, before the groups: [(n, g, c)].
Tensor lanes_among_channels(const Tensor& x, std::int64_t groups, bool outside) {
  Shape split = x.shape();
  const std::int64_t lanes = split[0];
  const std::int64_t channels = split.back();
  split.back() = groups;
  split.push_back(channels / groups);
  const std::int64_t rank = signed_size(split);
  const Tensor parts = move_axis(reshape(x, split), 0, outside ? rank - 3 : rank - 2);
  Shape joined(split.begin() + 1, split.end() - 2);
  joined.push_back(lanes * channels);
  return reshape(parts, joined);
}

/// The way back, to lanes in front.
Tensor lanes_from_channels(const Tensor& y, std::int64_t lanes, std::int64_t groups, bool outside) {
  const Shape own = y.shape();
  const std::int64_t channels = own.back() / lanes / groups;
  Shape split(own.begin(), own.end() - 1);
  Shape joined = with_lanes(lanes, split);
  joined.push_back(groups * channels);
  const std::int64_t rank = signed_size(split) + 3;
  for (std::int64_t n : outside ? Shape{lanes, groups, channels} : Shape{groups, lanes, channels})
    split.push_back(n);
  return reshape(move_axis(reshape(y, split), outside ? rank - 3 : rank - 2, 0), joined);
}

/// Lanes of x are more of the batch, those of the kernel more channels of the result, and those of
/// both more groups.
std::vector<Tensor> batch_convolution(const Batching& at) {
  Convolution c = convolution_of(at.attributes);
  const std::int64_t groups = c.groups;
  if (at.size == 0) {
    TensorType type = at.result_types[0];
    type.shape = with_lanes(0, type.shape);
    return {zeros(type)};
  }
  if (!at.batched[1]) {
    const Shape shape = at.x[0].shape();
    Shape flat(shape.begin() + 1, shape.end());
    flat[0] *= at.size;
    const Tensor y = conv_general(reshape(at.x[0], flat), at.x[1], c);
    return {reshape(y, with_lanes(at.size, at.result_types[0].shape))};
  }
  const bool both = at.batched[0];
  const Tensor kernel = lanes_among_channels(at.x[1], groups, both);
  const Tensor x = both ? lanes_among_channels(at.x[0], groups, true) : at.x[0];
  if (both) c.groups *= at.size;
  const Tensor y = conv_general(x, kernel, c);
  return {lanes_from_channels(y, at.size, groups, both)};
}

}  // namespace

void add_convolution_primitives(PrimitiveTable& table) {
  Primitive convolution{.name = "conv_general",
                        .min_operands = 2,
                        .max_operands = 2,
                        .dtypes = numbers,
                        .type = convolution_type,
                        .derivative = derivative_of_convolution,
                        .transpose = transpose_convolution,
                        .batch = batch_convolution,
                        .cost_factor = 14,
                        .shapes = "[b, s…, g·i], [k…, i, g·o] → [b, s′…, g·o]",
                        .formula = "conv(dx, w) + conv(x, dw)"};
  for (const char* list : spatial_lists) convolution.attributes.push_back({list, Kind::shape});
  convolution.attributes.push_back({"groups", Kind::integer});
  table.add(std::move(convolution));
}

}  // namespace hom
