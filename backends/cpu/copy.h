// backends/cpu/copy.h -- moving elements between strided regions: set, or combined
#pragma once

#include <string_view>

#include <hom/backends/cpu/arrays.h>
#include <hom/backends/cpu/loops.h>

namespace hom::cpu {

/// As `visit`, for work that only moves elements: integers of one size are the same to it, bool is
/// u8.
template <class F>
decltype(auto) visit_storage(Dtype dtype, F&& f) {
  switch (dtype.id) {
    case Dtype::Id::boolean:
    case Dtype::Id::i8:
    case Dtype::Id::u8:
      return f.template operator()<std::uint8_t>();
    case Dtype::Id::i32:
    case Dtype::Id::u32:
      return f.template operator()<std::uint32_t>();
    case Dtype::Id::i64:
    case Dtype::Id::u64:
      return f.template operator()<std::uint64_t>();
    case Dtype::Id::f16:
      return f.template operator()<float16>();
    case Dtype::Id::bf16:
      return f.template operator()<bfloat16>();
    case Dtype::Id::f32:
      return f.template operator()<float>();
    case Dtype::Id::f64:
      break;
  }
  return f.template operator()<double>();
}

/// Part of an array: the element at index 0…0, and the strides in elements.
struct Region {
  std::byte* data;
  Shape strides;
};

inline Region region_of(const Array& array) { return Region{first_byte(array), array.strides}; }

/// How updates meet the elements that are there.
enum class Combination : std::uint8_t { set, add, mul, min, max };
/// `"set"`, `"add"`, `"mul"`, `"min"`, `"max"`; throws `Bug` for another name.
Combination combination_named(std::string_view name);

/// to = from for a row of elements of `dtype`.
Row<2> copy_row(Dtype dtype);
/// to = combine(to, from); throws `Error` where the dtype has no such combination.
Row<2> combine_row(Combination combine, Dtype dtype, const Invocation& step);

/// Runs `row` over two regions of one shape and dtype that do not overlap.
void move_elements(Row<2> row, Dtype dtype, const Shape& shape, const Region& to,
                   const Region& from);
void copy_elements(Dtype dtype, const Shape& shape, const Region& to, const Region& from);

/// Sets all of a new row-major array to the element at `value`.
void fill(Array& array, const std::byte* value);

/// A new row-major array with the elements of `x`.
std::shared_ptr<Array> row_major_copy(const Array& x);

/// The region start + i·step along each axis of an array.
Region subregion(const Array& x, const Shape& start, const Shape& step);

/// `x` as something to write into: its own array if it is the sole owner of elements that do not
/// overlap, else a row-major copy. Takes `x` away from its list.
std::shared_ptr<Array> writable(Tensor x);

}  // namespace hom::cpu
