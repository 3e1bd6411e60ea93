// backends/cpu/contraction.cc -- `dot_general` as a batch of matrix products
//
// Each operand is seen as a stack of matrices, transposes as strides. The bits of a product depend
// on the elements and the extents alone, never on how operands lie in memory: floats are added in
// the order of matrix_product.h, 16-bit floats after widening them to f32, with one rounding at the
// end; integers wrap, in any order. Where no order matters, eigen_product.h takes over.
#include <algorithm>
#include <cstring>
#include <vector>

#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/eigen_product.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/matrix_product.h>
#include <hom/backends/cpu/registration.h>
#include <hom/backends/cpu/shared_rows.h>

namespace hom::cpu {
namespace {

/// Some axes of an array, in order.
struct Part {
  Shape shape;
  Shape strides;

  void add(const Array& x, std::int64_t axis) {
    shape.push_back(x.type.shape[static_cast<std::size_t>(axis)]);
    strides.push_back(x.strides[static_cast<std::size_t>(axis)]);
  }
  std::int64_t size() const { return element_count(shape); }
};

Part part_of(const Array& x, const Shape& axes) {
  Part part;
  for (const std::int64_t axis : axes) part.add(x, axis);
  return part;
}

/// The axes in neither list.
Part rest_of(const Array& x, const Shape& a, const Shape& b) {
  Part part;
  for (std::int64_t axis = 0; axis < x.type.rank(); ++axis) {
    const bool is_taken = std::find(a.begin(), a.end(), axis) != a.end() ||
                          std::find(b.begin(), b.end(), axis) != b.end();
    if (!is_taken) part.add(x, axis);
  }
  return part;
}

/// A matrix of each batch: strides in elements; the batch's own axes are apart.
template <class T>
struct Matrices {
  const T* data;
  std::int64_t rows, columns;
  std::int64_t row_stride, column_stride;
  Part batch;
};

/// Whether the part can be walked with one stride, and which: 1 where it has at most one element.
bool has_one_stride(const Part& part, std::int64_t& stride) {
  const AxisList<1> axes = merge_axes<1>(part.shape, {&part.strides});
  stride = axes.empty() ? 1 : axes[0].strides[0];
  return axes.size() <= 1;
}

/// `x` as matrices of `T`: a view of its elements where possible, else of a copy that `storage`
/// keeps.
template <class T, class Stored>
Matrices<T> matrices_of(const Array& x, const Part& batch, const Part& rows, const Part& columns,
                        std::vector<T>& storage) {
  Matrices<T> m{nullptr, rows.size(), columns.size(), 0, 0, batch};
  if constexpr (sizeof(T) == sizeof(Stored)) {
    m.data = reinterpret_cast<const T*>(first_byte(x));
    if (has_one_stride(rows, m.row_stride) && has_one_stride(columns, m.column_stride)) return m;
  }
  Part all = batch;
  for (const Part* part : {&rows, &columns}) {
    all.shape.insert(all.shape.end(), part->shape.begin(), part->shape.end());
    all.strides.insert(all.strides.end(), part->strides.begin(), part->strides.end());
  }
  const Shape dense = row_major_strides(all.shape);
  storage.resize(static_cast<std::size_t>(x.type.size()));
  const auto widen = [](const Pointers<2>& at, const std::array<std::int64_t, 2>& strides,
                        std::int64_t n) {
    T* to = reinterpret_cast<T*>(at[0]);
    const Stored* from = reinterpret_cast<const Stored*>(at[1]);
    for (std::int64_t i = 0; i < n; ++i) to[i * strides[0]] = static_cast<T>(from[i * strides[1]]);
  };
  AxisList<2> axes = merge_axes<2>(all.shape, {&dense, &all.strides});
  prefer_long_rows(axes);
  for_each_row(axes, {reinterpret_cast<std::byte*>(storage.data()), first_byte(x)},
               {sizeof(T), sizeof(Stored)}, widen);
  m.data = storage.data();
  m.row_stride = m.columns;
  m.column_stride = 1;
  m.batch.strides = row_major_strides(batch.shape);
  for (std::int64_t& stride : m.batch.strides) stride *= m.rows * m.columns;
  return m;
}

/// c = a·b for one batch, c row-major without gaps.
template <class T>
void multiply_batch(const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  if constexpr (scalar::Integer<T>) {
    multiply_integers(a, b, c);
  } else if (a.columns == 1) {
    multiply_outer(a, b, c);
  } else {
    multiply(a, b, c);
  }
}

/// Rows of large products by several threads: a row of a product is the product of the row.
template <class T>
void multiply_shared(const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  // So many products take about the time of one element of an elementwise loop.
  constexpr std::int64_t products = 16;
  const std::int64_t grain = shared_grain(a.rows, a.columns * b.columns / products, 48);
  parallel_ranges(a.rows, grain, [&](std::int64_t low, std::int64_t high) {
    MatrixView<T> rows = a;
    rows.data += low * a.row_stride;
    rows.rows = high - low;
    multiply_batch<T>(rows, b, c + low * b.columns);
  });
}

template <class T>
void multiply_batches(const Matrices<T>& a, const Matrices<T>& b, T* c) {
  for_each_offset(merge_axes<2>(a.batch.shape, {&a.batch.strides, &b.batch.strides}), 0,
                  [&](const std::array<std::int64_t, 2>& offsets) {
                    multiply_shared<T>(
                        {a.data + offsets[0], a.rows, a.columns, a.row_stride, a.column_stride},
                        {b.data + offsets[1], b.rows, b.columns, b.row_stride, b.column_stride}, c);
                    c += a.rows * b.columns;
                  });
}

/// Computes in `T` on elements stored as `Stored`.
template <class T, class Stored>
void contract(const Array& lhs, const Array& rhs, const Attributes& attributes, Array& result) {
  const Shape& lhs_contract = attributes.shape("lhs_contract");
  const Shape& rhs_contract = attributes.shape("rhs_contract");
  const Shape& lhs_batch = attributes.shape("lhs_batch");
  const Shape& rhs_batch = attributes.shape("rhs_batch");
  std::vector<T> lhs_storage;
  std::vector<T> rhs_storage;
  const Matrices<T> a =
      matrices_of<T, Stored>(lhs, part_of(lhs, lhs_batch), rest_of(lhs, lhs_contract, lhs_batch),
                             part_of(lhs, lhs_contract), lhs_storage);
  const Matrices<T> b =
      matrices_of<T, Stored>(rhs, part_of(rhs, rhs_batch), part_of(rhs, rhs_contract),
                             rest_of(rhs, rhs_contract, rhs_batch), rhs_storage);
  if constexpr (sizeof(T) == sizeof(Stored)) {
    multiply_batches(a, b, reinterpret_cast<T*>(first_byte(result)));
  } else {
    std::vector<T> wide(static_cast<std::size_t>(result.type.size()));
    multiply_batches(a, b, wide.data());
    Stored* to = result.data<Stored>();
    for (const T& value : wide) *to++ = static_cast<Stored>(value);
  }
}

TensorList dot_general_kernel(const Invocation& step, TensorList operands) {
  const Array& a = array_of(operands[0]);
  const Array& b = array_of(operands[1]);
  auto result = Array::allocate(step.result_types[0]);
  if (result->type.size() == 0) return list_of(std::move(result));
  if (a.type.size() == 0) {  // an empty sum
    std::memset(first_byte(*result), 0,
                static_cast<std::size_t>(result->type.size()) * a.type.dtype.size());
    return list_of(std::move(result));
  }
  switch (a.type.dtype.id) {
    case Dtype::Id::i8:
    case Dtype::Id::u8:
      contract<std::uint8_t, std::uint8_t>(a, b, step.attributes, *result);
      break;
    case Dtype::Id::i32:
    case Dtype::Id::u32:
      contract<std::uint32_t, std::uint32_t>(a, b, step.attributes, *result);
      break;
    case Dtype::Id::i64:
    case Dtype::Id::u64:
      contract<std::uint64_t, std::uint64_t>(a, b, step.attributes, *result);
      break;
    case Dtype::Id::f16:
      contract<float, float16>(a, b, step.attributes, *result);
      break;
    case Dtype::Id::bf16:
      contract<float, bfloat16>(a, b, step.attributes, *result);
      break;
    case Dtype::Id::f32:
      contract<float, float>(a, b, step.attributes, *result);
      break;
    case Dtype::Id::f64:
      contract<double, double>(a, b, step.attributes, *result);
      break;
    case Dtype::Id::boolean:
      fail(Complaint{"dot_general: no CPU kernel for bool", "convert to an integer dtype first"},
           step.at);
  }
  return list_of(std::move(result));
}

}  // namespace

void add_contraction_kernels(KernelTable& table) { table.add("dot_general", dot_general_kernel); }

}  // namespace hom::cpu
