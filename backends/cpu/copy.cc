// backends/cpu/copy.cc -- moving elements between strided regions
#include <hom/backends/cpu/copy.h>

#include <algorithm>

#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/shared_rows.h>

namespace hom::cpu {
namespace {

/// Elements of a transposed array are copied in tiles of this many rows and columns, which stay in
/// cache.
constexpr std::int64_t tile = 32;

template <class T>
void copy_row_of(const Pointers<2>& at, const std::array<std::int64_t, 2>& strides,
                 std::int64_t n) {
  T* to = reinterpret_cast<T*>(at[0]);
  const T* from = reinterpret_cast<const T*>(at[1]);
  if (strides[0] == 1 && strides[1] == 1) {
    std::copy_n(from, n, to);
  } else if (strides[0] == 1 && strides[1] == 0) {
    std::fill_n(to, n, *from);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * strides[0]] = from[i * strides[1]];
  }
}

/// to[i] = F(to[i], from[i])
template <class F, class T>
void combine_row_of(const Pointers<2>& at, const std::array<std::int64_t, 2>& strides,
                    std::int64_t n) {
  T* to = reinterpret_cast<T*>(at[0]);
  const T* from = reinterpret_cast<const T*>(at[1]);
  if (strides[0] == 1 && strides[1] == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::apply<F>(to[i], from[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      T& element = to[i * strides[0]];
      element = scalar::apply<F>(element, from[i * strides[1]]);
    }
  }
}

template <class F>
Row<2> combine_row_with(Dtype dtype, const Invocation& step) {
  static constexpr PerDtype<Row<2>> rows = per_dtype<Row<2>>([]<class T>() -> Row<2> {
    if constexpr (std::is_invocable_v<F, scalar::Compute<T>, scalar::Compute<T>>) {
      return &combine_row_of<F, T>;
    } else {
      return nullptr;
    }
  });
  return entry_for(rows, dtype, step);
}

bool is_transposed(const AxisList<2>& axes) {
  if (axes.size() < 2) return false;
  const auto magnitude = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
  return axes[0].extent > tile && axes[1].extent > tile &&
         magnitude(axes[1].strides[1]) < magnitude(axes[0].strides[1]) && axes[1].strides[1] != 0;
}

/// Walks the two innermost axes tile by tile.
void move_tiles(Row<2> row, const AxisList<2>& axes, const Region& to, const Region& from,
                std::int64_t size) {
  // Strips of tiles.
  const auto move = [&](const std::array<std::int64_t, 2>& offsets, std::int64_t low,
                        std::int64_t high) {
    for (std::int64_t i = low; i < high; i += tile) {
      for (std::int64_t j = 0; j < axes[0].extent; j += tile) {
        const AxisList<2> part{{std::min(tile, axes[0].extent - j), axes[0].strides},
                               {std::min(tile, high - i), axes[1].strides}};
        const auto offset = [&](std::size_t k) {
          return (offsets[k] + i * axes[1].strides[k] + j * axes[0].strides[k]) * size;
        };
        for_each_row(part, {to.data + offset(0), from.data + offset(1)}, {size, size}, row);
      }
    }
  };
  for_each_offset(axes, 2, [&](const std::array<std::int64_t, 2>& offsets) {
    parallel_ranges(axes[1].extent, shared_grain(axes[1].extent, axes[0].extent, tile),
                    [&](std::int64_t low, std::int64_t high) { move(offsets, low, high); });
  });
}

}  // namespace

Combination combination_named(std::string_view name) {
  if (name == "set") return Combination::set;
  if (name == "add") return Combination::add;
  if (name == "mul") return Combination::mul;
  if (name == "min") return Combination::min;
  ensure(name == "max", "an update combines by set, add, mul, min or max");
  return Combination::max;
}

Row<2> copy_row(Dtype dtype) {
  return visit_storage(dtype, []<class T>() -> Row<2> { return &copy_row_of<T>; });
}

Row<2> combine_row(Combination combine, Dtype dtype, const Invocation& step) {
  switch (combine) {
    case Combination::set:
      break;
    case Combination::add:
      return combine_row_with<scalar::Add>(dtype, step);
    case Combination::mul:
      return combine_row_with<scalar::Mul>(dtype, step);
    case Combination::min:
      return combine_row_with<scalar::Min>(dtype, step);
    case Combination::max:
      return combine_row_with<scalar::Max>(dtype, step);
  }
  return copy_row(dtype);
}

void move_elements(Row<2> row, Dtype dtype, const Shape& shape, const Region& to,
                   const Region& from) {
  AxisList<2> axes = merge_axes<2>(shape, {&to.strides, &from.strides});
  const auto size = static_cast<std::int64_t>(dtype.size());
  if (is_transposed(axes)) {
    move_tiles(row, axes, to, from, size);
  } else {
    prefer_long_rows(axes);
    for_each_row_shared(axes, {to.data, from.data}, {size, size}, row);
  }
}

void copy_elements(Dtype dtype, const Shape& shape, const Region& to, const Region& from) {
  move_elements(copy_row(dtype), dtype, shape, to, from);
}

void fill(Array& array, const std::byte* value) {
  visit_storage(array.type.dtype, [&]<class T>() {
    if (array.type.size() == 0) return;
    std::fill_n(array.data<T>(), array.type.size(), *reinterpret_cast<const T*>(value));
  });
}

std::shared_ptr<Array> row_major_copy(const Array& x) {
  auto copy = Array::allocate(x.type);
  copy_elements(x.type.dtype, x.type.shape, region_of(*copy), region_of(x));
  return copy;
}

Region subregion(const Array& x, const Shape& start, const Shape& step) {
  Region region = region_of(x);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    offset += start[i] * x.strides[i];
    region.strides[i] = x.strides[i] * step[i];
  }
  if (region.data != nullptr)
    region.data += offset * static_cast<std::int64_t>(x.type.dtype.size());
  return region;
}

std::shared_ptr<Array> writable(Tensor x) {
  const Array& array = array_of(x);
  if (is_sole_owner(x) && is_injective(array.type.shape, array.strides)) {
    return std::const_pointer_cast<Array>(x.array_pointer());
  }
  return row_major_copy(array);
}

}  // namespace hom::cpu
