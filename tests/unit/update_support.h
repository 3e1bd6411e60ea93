// tests/unit/update_support.h -- every way to name elements of a tensor
#pragma once

#include <functional>

#include "transformation_support.h"

namespace hom::testing {

inline Tensor ints(const std::vector<std::int64_t>& values, const Shape& shape) {
  return tensor(values, shape);
}
inline Tensor ints(const std::vector<std::int64_t>& values) { return tensor(values); }
inline Tensor block() { return reshape(arange(24), {2, 3, 4}); }

/// One way to name elements of block(): `read` reads them, `update` combines values in.
struct Kind {
  std::string name;
  std::function<Tensor(const Tensor&, Bounds)> read;
  std::function<Tensor(const Tensor&, Combine, const Tensor&, Bounds)> update;
};

template <class... Indices>
Kind kind(std::string name, Indices... indices) {
  return {std::move(name),
          [=](const Tensor& x, Bounds bounds) { return x.at(indices...).get(bounds); },
          [=](const Tensor& x, Combine combine, const Tensor& v, Bounds bounds) {
            const Elements e = x.at(indices...);
            return combine == Combine::set   ? e.set(v, bounds)
                   : combine == Combine::add ? e.add(v, bounds)
                   : combine == Combine::mul ? e.mul(v, bounds)
                   : combine == Combine::min ? e.min(v, bounds)
                                             : e.max(v, bounds);
          }};
}

inline std::vector<Kind> inside_kinds() {
  const Tensor i = ints({1, 0});
  const Tensor j = ints({2, 0});
  const Tensor twice = ints({2, 0, 2, 2});
  const Tensor m = ints({0, 3, 1, 1}, {2, 2});
  return {
      kind("integer", 1),
      kind("negative integers", -1, -2, -4),
      kind("range", all, Range{1, 3}),
      kind("empty range", all, Range{2, 1}),
      kind("range of one", all, all, Range{3, 4}),
      kind("steps", Range{.step = -1}, Range{.step = 2}, Range{3, 0, -2}),
      kind("ellipsis", ellipsis),
      kind("ellipsis, integer", ellipsis, 2),
      kind("newaxis", newaxis, all, newaxis, 1),
      kind("scalar", Tensor(1)),
      kind("scalars", Tensor(1), Tensor(2), Tensor(3)),
      kind("scalar and range", Tensor(1), Range{1, 3}, 2),
      kind("scalar and steps", Tensor(0), Range{.step = 2}, Range{.step = -1}),
      kind("scalar in the middle", all, Tensor(2), newaxis),
      kind("list", i),
      kind("repeated", all, twice),
      kind("repeated, one element each", 0, twice, twice),
      kind("matrix", all, all, m),
      kind("two lists", i, j),
      kind("separated lists", i, all, j),
      kind("list and integer", 0, all, j),
      kind("list and ranges", Range{1, 2}, Range{.step = 2}, twice),
      kind("list and negative step", ints({1, 0, 1, 1}).astype(u8), Range{.step = -1}),
      kind("outer", expand_dims(i, 1), twice, Range{1, 3}),
      kind("list between new axes", newaxis, all, newaxis, j, newaxis, Range{2, 4}),
      kind("no positions", all, ints({})),
  };
}

inline std::vector<Kind> kinds_that_leave() {
  return {
      kind("scalar below", Tensor(-1)),
      kind("scalar above, range", all, Tensor(3), Range{1, 3}),
      kind("two scalars, one outside", Tensor(1), Tensor(100)),
      kind("list", all, ints({-5, 1, 3, 2})),
      kind("two lists", ints({2, 1, -1}), ints({0, 1, 1})),
      kind("list and steps", Range{.step = -1}, ints({1, 9}), Range{.step = 2}),
  };
}

inline constexpr Combine every_combine[] = {Combine::set, Combine::add, Combine::mul, Combine::min,
                                            Combine::max};

}  // namespace hom::testing
