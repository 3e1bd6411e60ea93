// backends/cpu/routines/product_axes.cc -- merging axes, or copying what does not merge
#include <hom/backends/cpu/routines/product_axes.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace hom::cpu {
namespace {

/// Some axes of an operand, in order.
struct Part {
  Shape shape, strides;

  void add(const nest::Layout& x, std::int64_t axis) {
    shape.push_back(x.type.shape[static_cast<std::size_t>(axis)]);
    strides.push_back(x.strides[static_cast<std::size_t>(axis)]);
  }
  std::int64_t size() const { return element_count(shape); }
};

Part part_of(const nest::Layout& x, const Shape& axes) {
  Part part;
  for (const std::int64_t axis : axes) part.add(x, axis);
  return part;
}

/// The axes in neither list.
Shape axes_besides(const nest::Layout& x, const Shape& a, const Shape& b) {
  Shape rest;
  for (std::int64_t axis = 0; axis < x.type.rank(); ++axis) {
    const bool is_taken = std::find(a.begin(), a.end(), axis) != a.end() ||
                          std::find(b.begin(), b.end(), axis) != b.end();
    if (!is_taken) rest.push_back(axis);
  }
  return rest;
}

/// The stride with which the part is walked as one axis, if there is one: 1 where it has at most
/// one element.
std::optional<std::int64_t> one_stride(const Shape& shape, const Shape& strides) {
  std::int64_t stride = 1, extent = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (extent == 1) {
      stride = strides[i];
    } else if (strides[i] != stride * extent) {
      return std::nullopt;
    }
    extent *= shape[i];
  }
  return stride;
}

std::optional<std::int64_t> one_stride(const Part& part) {
  return one_stride(part.shape, part.strides);
}

/// The axes of a batch that both operands walk as one, without those of extent 1.
void merge_batch(Shape& shape, Shape& a, Shape& b) {
  Shape merged, a_strides, b_strides;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (!merged.empty() && a_strides.back() == a[i] * shape[i] &&
        b_strides.back() == b[i] * shape[i]) {
      merged.back() *= shape[i];
      a_strides.back() = a[i];
      b_strides.back() = b[i];
      continue;
    }
    merged.push_back(shape[i]);
    a_strides.push_back(a[i]);
    b_strides.push_back(b[i]);
  }
  shape = merged;
  a = a_strides;
  b = b_strides;
}

/// The least distance between neighbours along an axis of more than one element.
std::int64_t nearest(const Part& part) {
  std::int64_t least = INT64_MAX;
  for (std::size_t i = 0; i < part.shape.size(); ++i) {
    const std::int64_t distance = std::abs(part.strides[i]);
    if (part.shape[i] > 1 && distance > 0) least = std::min(least, distance);
  }
  return least;
}

/// Rows and columns of one operand for the products, by its own strides or those of a copy.
ProductAxes::Side side_of(const Part& batch, const Part& rows, const Part& columns,
                          bool copies_all) {
  ProductAxes::Side side;
  const std::optional<std::int64_t> row_stride = one_stride(rows);
  const std::optional<std::int64_t> column_stride = one_stride(columns);
  // Without neighbours side by side no library takes it. Of a single row or column, the axis of one
  // element has stride 1.
  const bool has_neighbours = row_stride == 1 || column_stride == 1;
  if (row_stride && column_stride && has_neighbours && !copies_all) {
    side.row_stride = *row_stride;
    side.column_stride = *column_stride;
    side.batch_strides = batch.strides;
    return side;
  }
  side.is_copied = true;
  // What is repeated is copied once.
  for (std::size_t i = 0; i < batch.shape.size(); ++i) {
    side.shape.push_back(batch.strides[i] == 0 ? std::min<std::int64_t>(batch.shape[i], 1)
                                               : batch.shape[i]);
    side.strides.push_back(batch.strides[i]);
  }
  // Neighbours stay neighbours.
  const bool is_transposed = nearest(rows) < nearest(columns);
  for (const Part* part : {is_transposed ? &columns : &rows, is_transposed ? &rows : &columns}) {
    side.shape.insert(side.shape.end(), part->shape.begin(), part->shape.end());
    side.strides.insert(side.strides.end(), part->strides.begin(), part->strides.end());
  }
  side.row_stride = is_transposed ? 1 : columns.size();
  side.column_stride = is_transposed ? rows.size() : 1;
  std::int64_t stride = rows.size() * columns.size();
  side.batch_strides = Shape(batch.shape.size(), 0);
  for (std::size_t i = batch.shape.size(); i-- > 0;) {
    if (batch.strides[i] != 0) side.batch_strides[i] = stride;
    stride *= side.shape[i];
  }
  return side;
}

/// The contracted axes in the order in which fewest elements need copying: that of the attributes,
/// or the one in which an operand has them in memory.
std::pair<Shape, Shape> contracted_in_order(const Attributes& attributes, const nest::Layout& a,
                                            const nest::Layout& b) {
  const Shape& lhs = attributes.shape("lhs_contract");
  const Shape& rhs = attributes.shape("rhs_contract");
  std::vector<std::size_t> given(lhs.size());
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = i;
  const auto sorted = [&](const nest::Layout& x, const Shape& axes) {
    std::vector<std::size_t> order = given;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
      return std::abs(x.strides[static_cast<std::size_t>(axes[i])]) >
             std::abs(x.strides[static_cast<std::size_t>(axes[j])]);
    });
    return order;
  };
  std::pair<Shape, Shape> best;
  std::int64_t least = INT64_MAX;
  for (const std::vector<std::size_t>& order : {given, sorted(a, lhs), sorted(b, rhs)}) {
    std::pair<Shape, Shape> axes;
    for (const std::size_t i : order) {
      axes.first.push_back(lhs[i]);
      axes.second.push_back(rhs[i]);
    }
    const std::int64_t copied = (one_stride(part_of(a, axes.first)) ? 0 : a.type.size()) +
                                (one_stride(part_of(b, axes.second)) ? 0 : b.type.size());
    if (copied < least) {
      least = copied;
      best = axes;
    }
  }
  return best;
}

/// A batch in which one operand is always the same is one product of more rows or columns, where
/// the other operand walks the batch and these as one axis.
void fold_batch(ProductAxes& axes) {
  if (axes.batch.size() != 1) return;
  const auto walks_on = [](std::int64_t batch_stride, std::int64_t stride, std::int64_t extent) {
    return extent == 1 || batch_stride == stride * extent;
  };
  // A single row may get another stride; it must not take neighbours away from the matrix.
  const auto stays_dense = [](std::int64_t extent, std::int64_t batch_stride, std::int64_t other) {
    return extent > 1 || other == 1 || batch_stride == 1;
  };
  if (axes.b.batch_strides[0] == 0 &&
      walks_on(axes.a.batch_strides[0], axes.a.row_stride, axes.m) &&
      stays_dense(axes.m, axes.a.batch_strides[0], axes.a.column_stride)) {
    if (axes.m == 1) axes.a.row_stride = axes.a.batch_strides[0];
    axes.m *= axes.batch[0];
  } else if (axes.m == 1 && axes.a.batch_strides[0] == 0 &&
             walks_on(axes.b.batch_strides[0], axes.b.column_stride, axes.n) &&
             stays_dense(axes.n, axes.b.batch_strides[0], axes.b.row_stride)) {
    if (axes.n == 1) axes.b.column_stride = axes.b.batch_strides[0];
    axes.n *= axes.batch[0];
  } else {
    return;
  }
  axes.batch.clear();
  axes.a.batch_strides.clear();
  axes.b.batch_strides.clear();
}

}  // namespace

std::int64_t ProductAxes::Side::batch_slice(const Shape& batch, std::int64_t rows,
                                            std::int64_t columns) const {
  const std::optional<std::int64_t> stride = one_stride(batch, batch_strides);
  if (!stride || row_stride < 0 || column_stride < 0) return 0;
  const std::int64_t last = (rows - 1) * row_stride + (columns - 1) * column_stride;
  return last < *stride ? *stride : 0;
}

ProductAxes product_axes(const Attributes& attributes, const nest::Layout& a, const nest::Layout& b,
                         bool copies_all) {
  const auto [lhs_contract, rhs_contract] =
      copies_all ? std::pair{attributes.shape("lhs_contract"), attributes.shape("rhs_contract")}
                 : contracted_in_order(attributes, a, b);
  const Shape& lhs_batch = attributes.shape("lhs_batch");
  const Shape& rhs_batch = attributes.shape("rhs_batch");
  const Part a_batch = part_of(a, lhs_batch), b_batch = part_of(b, rhs_batch);
  const Part rows = part_of(a, axes_besides(a, lhs_batch, lhs_contract));
  const Part columns = part_of(b, axes_besides(b, rhs_batch, rhs_contract));
  const Part a_terms = part_of(a, lhs_contract), b_terms = part_of(b, rhs_contract);
  ProductAxes axes;
  axes.m = rows.size();
  axes.k = a_terms.size();
  axes.n = columns.size();
  axes.batch = a_batch.shape;
  axes.a = side_of(a_batch, rows, a_terms, copies_all);
  axes.b = side_of(b_batch, b_terms, columns, copies_all);
  merge_batch(axes.batch, axes.a.batch_strides, axes.b.batch_strides);
  fold_batch(axes);
  return axes;
}

}  // namespace hom::cpu
