// core/operations/windows.cc -- windows as steps
#include <hom/core/operations/windows.h>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>

namespace hom {
namespace {

Tensor windowed(const Primitive& p, const Operand& x, const Windows& windows) {
  const std::size_t rank = x.shape().size();
  const auto list = [&](const Shape& given, std::int64_t otherwise) {
    return given.empty() ? Shape(rank, otherwise) : given;
  };
  return apply_one(p,
                   {{"window", {windows.window}},
                    {"stride", {list(windows.stride, 1)}},
                    {"dilation", {list(windows.dilation, 1)}},
                    {"low", {list(windows.low, 0)}},
                    {"high", {list(windows.high, 0)}}},
                   {x.value()}, x.at());
}

}  // namespace

Tensor window_sum(const Operand& x, const Windows& windows) {
  static const Primitive& p = primitive("window_sum");
  return windowed(p, x, windows);
}
Tensor window_max(const Operand& x, const Windows& windows) {
  static const Primitive& p = primitive("window_max");
  return windowed(p, x, windows);
}
Tensor window_min(const Operand& x, const Windows& windows) {
  static const Primitive& p = primitive("window_min");
  return windowed(p, x, windows);
}

}  // namespace hom
