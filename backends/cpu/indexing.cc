// backends/cpu/indexing.cc -- `gather`, `scatter`, `dynamic_slice` and `dynamic_update_slice`
//
// The integers that say where are first turned into offsets of elements, all checked or clamped
// before anything is written; then elements move.
#include <algorithm>
#include <utility>

#include <hom/backends/cpu/complaints.h>
#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {
namespace {

using Integers = SmallVector<std::int64_t, 16>;

/// Where an index was out of range and is dropped.
constexpr std::int64_t nowhere = INT64_MIN;

enum class Mode : std::uint8_t { check, clip, drop };

Mode mode_of(const Invocation& step) {
  const std::string& name = step.attributes.string("mode");
  if (name == "check") return Mode::check;
  if (name == "clip") return Mode::clip;
  ensure(name == "drop", "an index mode is check, clip or drop");
  return Mode::drop;
}

/// The elements of an integer array in row-major order; what exceeds i64 becomes its largest value.
Integers read_integers(const Array& x) {
  Integers values(static_cast<std::size_t>(x.type.size()));
  if (values.empty()) return values;
  visit(x.type.dtype, [&]<class T>() {
    if constexpr (scalar::Integer<T>) {
      std::int64_t* to = values.data();
      const auto read = [&](const Pointers<1>& at, const std::array<std::int64_t, 1>& strides,
                            std::int64_t n) {
        const T* from = reinterpret_cast<const T*>(at[0]);
        for (std::int64_t i = 0; i < n; ++i) {
          const T value = from[i * strides[0]];
          *to++ = std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value) : INT64_MAX;
        }
      };
      for_each_row(merge_axes<1>(x.type.shape, {&x.strides}), {first_byte(x)}, {sizeof(T)}, read);
    }
  });
  return values;
}

/// What `gather` and `scatter` share: which elements each index tuple means.
struct Addressing {
  /// Offset of the first element of each tuple's slice, or `nowhere`.
  Integers offsets;
  /// The axes of a slice: strides in x, and in the row-major array of slices.
  AxisList<2> slice;
  std::int64_t slice_size = 1;
};

Addressing address(const Invocation& step, const Array& x, const Array& indices) {
  const Shape& axes = step.attributes.shape("axes");
  const Mode mode = mode_of(step);
  const auto k = static_cast<std::int64_t>(axes.size());
  std::int64_t tuples = 1;
  for (std::size_t i = 0; i + 1 < indices.type.shape.size(); ++i) tuples *= indices.type.shape[i];

  Addressing result;
  result.offsets.assign(static_cast<std::size_t>(tuples), 0);
  const Integers values = read_integers(indices);
  for (std::int64_t t = 0; t < tuples; ++t) {
    std::int64_t& offset = result.offsets[static_cast<std::size_t>(t)];
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t axis = axes[static_cast<std::size_t>(i)];
      const std::int64_t extent = x.type.shape[static_cast<std::size_t>(axis)];
      std::int64_t index = values[static_cast<std::size_t>(t * k + i)];
      if (index < 0 || index >= extent) {
        if (mode == Mode::check)
          fail(index_out_of_range(step.primitive.name, index, axis, x.type), step.at);
        if (mode == Mode::drop || extent == 0) {  // an empty axis has nothing to clamp to
          offset = nowhere;
          break;
        }
        index = index < 0 ? 0 : extent - 1;
      }
      offset += index * x.strides[static_cast<std::size_t>(axis)];
    }
  }

  Shape slice_shape;
  Shape slice_strides;
  for (std::size_t i = 0; i < x.type.shape.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end()) continue;
    slice_shape.push_back(x.type.shape[i]);
    slice_strides.push_back(x.strides[i]);
  }
  const Shape dense = row_major_strides(slice_shape);
  result.slice = merge_axes<2>(slice_shape, {&slice_strides, &dense});
  result.slice_size = element_count(slice_shape);
  return result;
}

/// Slices of one element: a plain loop.
template <class T>
void gather_elements(const std::byte* x, const Integers& offsets, std::byte* to) {
  const T* from = reinterpret_cast<const T*>(x);
  T* result = reinterpret_cast<T*>(to);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    result[i] = offsets[i] == nowhere ? T{} : from[offsets[i]];
}

TensorList gather_kernel(const Invocation& step, TensorList operands) {
  const Array& x = array_of(operands[0]);
  const Addressing where = address(step, x, array_of(operands[1]));
  auto result = Array::allocate(step.result_types[0]);
  if (result->type.size() == 0) return list_of(std::move(result));
  const std::byte* from = first_byte(x);
  std::byte* to = first_byte(*result);
  const auto size = static_cast<std::int64_t>(x.type.dtype.size());
  if (where.slice_size == 1) {
    visit_storage(x.type.dtype, [&]<class T>() { gather_elements<T>(from, where.offsets, to); });
    return list_of(std::move(result));
  }
  const Row<2> row = copy_row(x.type.dtype);
  const auto copy = [row](const Pointers<2>& at, const std::array<std::int64_t, 2>& strides,
                          std::int64_t n) { row({at[1], at[0]}, {strides[1], strides[0]}, n); };
  const std::int64_t slice_bytes = where.slice_size * size;
  for (const std::int64_t offset : where.offsets) {
    if (offset == nowhere) {
      std::fill_n(to, slice_bytes, std::byte{0});
    } else {
      for_each_row(where.slice, {const_cast<std::byte*>(from) + offset * size, to}, {size, size},
                   copy);
    }
    to += slice_bytes;
  }
  return list_of(std::move(result));
}

TensorList scatter_kernel(const Invocation& step, TensorList operands) {
  const Dtype dtype = step.result_types[0].dtype;
  const Row<2> row = combine_row(combination_named(step.attributes.string("combine")), dtype, step);
  auto result = writable(std::move(operands[0]));
  const Addressing where = address(step, *result, array_of(operands[1]));
  if (result->type.size() == 0 ||
      where.slice_size * static_cast<std::int64_t>(where.offsets.size()) == 0) {
    return list_of(std::move(result));
  }
  // Slices of the updates are walked row by row; a copy makes them dense where they are not.
  const Array& given = array_of(operands[2]);
  const std::shared_ptr<Array> copy =
      is_row_major(given.type.shape, given.strides) ? nullptr : row_major_copy(given);
  std::byte* update = first_byte(copy ? *copy : given);
  std::byte* to = first_byte(*result);
  const auto size = static_cast<std::int64_t>(dtype.size());
  for (const std::int64_t offset : where.offsets) {
    if (offset != nowhere)
      for_each_row(where.slice, {to + offset * size, update}, {size, size}, row);
    update += where.slice_size * size;
  }
  return list_of(std::move(result));
}

/// The start of a window of `size` in `x`, checked or moved inside.
Shape window_start(const Invocation& step, const Array& x, const Array& start, const Shape& size) {
  const Mode mode = mode_of(step);
  const Integers values = read_integers(start);
  Shape result(values.begin(), values.end());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t last = x.type.shape[i] - size[i];
    if (result[i] >= 0 && result[i] <= last) continue;
    if (mode == Mode::check) {
      fail(window_out_of_range(step.primitive.name, size[i], result[i],
                               static_cast<std::int64_t>(i), x.type.shape[i]),
           step.at);
    }
    result[i] = result[i] < 0 ? 0 : last;
  }
  return result;
}

TensorList dynamic_slice_kernel(const Invocation& step, TensorList operands) {
  const Array& x = array_of(operands[0]);
  const TensorType& type = step.result_types[0];
  const Shape start = window_start(step, x, array_of(operands[1]), type.shape);
  auto result = Array::allocate(type);
  if (type.size() > 0) {
    const Shape ones(start.size(), 1);
    copy_elements(type.dtype, type.shape, region_of(*result), subregion(x, start, ones));
  }
  return list_of(std::move(result));
}

TensorList dynamic_update_slice_kernel(const Invocation& step, TensorList operands) {
  const TensorType& type = step.result_types[0];
  const Row<2> row =
      combine_row(combination_named(step.attributes.string("combine")), type.dtype, step);
  const Array& update = array_of(operands[1]);
  const Shape start =
      window_start(step, array_of(operands[0]), array_of(operands[2]), update.type.shape);
  auto result = writable(std::move(operands[0]));
  if (update.type.size() > 0) {
    const Shape ones(start.size(), 1);
    move_elements(row, type.dtype, update.type.shape, subregion(*result, start, ones),
                  region_of(update));
  }
  return list_of(std::move(result));
}

}  // namespace

void add_indexing_kernels(KernelTable& table) {
  table.add("gather", gather_kernel);
  table.add("scatter", scatter_kernel);
  table.add("dynamic_slice", dynamic_slice_kernel);
  table.add("dynamic_update_slice", dynamic_update_slice_kernel);
}

}  // namespace hom::cpu
