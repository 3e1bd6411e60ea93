// categories/sparsity_movement.cc -- rules for what moves elements: done on the sets themselves
//
// A primitive that moves elements of any dtype moves the numbers of sets as well, so the executor
// says what each element of the result depends on. At unknown positions it is what may be there.
#include <algorithm>
#include <numeric>
#include <utility>

#include <hom/categories/sparsity_rule.h>
#include <hom/core/axes.h>
#include <hom/core/executor.h>
#include <hom/core/operations/shaping.h>

namespace hom::categories {
namespace {

/// Axes along which a window may move, as it does not fill them.
Shape free_axes(const Shape& whole, const Shape& window) {
  Shape axes;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (window[i] != whole[i]) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

/// What is the same along `axes` of a shape, where it is given without them.
Tensor spread(const Tensor& sets, const Shape& shape, const Shape& axes) {
  return broadcast_in_dim(sets, shape, axes_without(shape.size(), axes));
}

/// The axes of gather's result that come from x, in order; indices have the others.
Shape axes_from_data(const Shape& result, std::size_t count) {
  Shape axes = iota_shape(count, static_cast<std::int64_t>(result.size() - count));
  return axes;
}

Tensor gather_sparsity(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  if (!x[1].known.is_empty()) return executed(step, {x[0].sets, x[1].known}, u32);
  const Tensor any = united_over(sets, x[0].sets, step.attributes.shape("axes"));
  const Shape& shape = step.results[0].shape;
  return broadcast_in_dim(any, shape, axes_from_data(shape, any.shape().size()));
}

Tensor dynamic_slice_sparsity(IndexSets& sets, const Operation& step,
                              std::span<const Dependences> x) {
  if (!x[1].known.is_empty()) return executed(step, {x[0].sets, x[1].known}, u32);
  const Shape& window = step.results[0].shape;
  const Shape axes = free_axes(x[0].type.shape, window);
  return spread(united_over(sets, x[0].sets, axes), window, axes);
}

/// Numbers 1, 2, … of the elements, for a read to tell which ones it takes; 0 is none.
Tensor numbered(const Shape& shape) {
  const auto numbers = Array::allocate(i64[shape]);
  std::iota(numbers->data<std::int64_t>(), numbers->data<std::int64_t>() + numbers->type.size(), 1);
  return Tensor(numbers);
}

/// Updates combined into what is there, each at the number in `places`, i64 of their shape.
Tensor combined(IndexSets& sets, const Tensor& base, const Tensor& updates, const Tensor& places) {
  const Tensor own = row_major(base);
  const Tensor more = row_major(updates);
  const std::vector<std::int64_t> to = places.to_vector<std::int64_t>();
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (to[k] != 0 && ids(more)[k] != IndexSets::none) order.push_back(k);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair{to[a], a} < std::pair{to[b], b};
  });
  SetTensor result(base.shape());
  for (std::int64_t k = 0; k < result.size(); ++k)
    result[k] = ids(own)[static_cast<std::size_t>(k)];
  std::vector<IndexSets::Id> list;
  for (std::size_t k = 0; k < order.size();) {
    const std::int64_t place = to[order[k]] - 1;
    list.assign(1, result[place]);
    for (; k < order.size() && to[order[k]] - 1 == place; ++k) list.push_back(ids(more)[order[k]]);
    result[place] = sets.unite(list);
  }
  return result.tensor();
}

/// Everything goes where its key goes, or, where that is not known, anywhere along the axis.
std::vector<Tensor> sort_sparsity(IndexSets& sets, const Operation& step,
                                  std::span<const Dependences> x) {
  if (!x[0].known.is_empty()) {
    TensorList operands{x[0].known};
    std::vector<TensorType> types{x[0].type};
    for (const Dependences& moved : x.subspan(1)) {
      operands.push_back(sets_of(moved));
      types.push_back(u32[moved.type.shape]);
    }
    const TensorList sorted =
        execute({*step.primitive, step.attributes, types, step.at}, std::move(operands));
    std::vector<Tensor> results(sorted.begin(), sorted.end());
    results[0] = Tensor();
    return results;
  }
  const Shape axis{step.attributes.integer("axis")};
  std::vector<Tensor> results;
  for (const Dependences& moved : x) {
    results.push_back(moved.sets.is_empty()
                          ? Tensor()
                          : spread(united_over(sets, moved.sets, axis), moved.type.shape, axis));
  }
  return results;
}

bool sets_elements(const Operation& step) { return step.attributes.string("combine") == "set"; }

Tensor scatter_sparsity(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  const Tensor base = sets_of(x[0]);
  const Tensor updates = sets_of(x[2]);
  const Shape& axes = step.attributes.shape("axes");
  if (x[1].known.is_empty()) {
    const Shape& shape = x[0].type.shape;
    const std::size_t kept = shape.size() - axes.size();
    const std::size_t rank = x[2].type.shape.size();
    const Tensor any = united_over(sets, updates, iota_shape(rank - kept));
    return united(sets, base, spread(any, shape, axes));
  }
  if (sets_elements(step)) return executed(step, {base, x[1].known, updates}, u32);
  const Operation read =
      operation("gather", {{"axes", {axes}}, {"mode", {step.attributes.string("mode")}}},
                {i64[x[0].type.shape], x[1].type}, {}, step.at);
  return combined(sets, base, updates,
                  executed(read, {numbered(x[0].type.shape), x[1].known}, i64));
}

Tensor update_slice_sparsity(IndexSets& sets, const Operation& step,
                             std::span<const Dependences> x) {
  const Tensor base = sets_of(x[0]);
  const Tensor update = sets_of(x[1]);
  if (sets_elements(step)) return executed(step, {base, update}, u32);
  const Operation read = operation("slice",
                                   {{"start", {step.attributes.shape("start")}},
                                    {"size", {x[1].type.shape}},
                                    {"step", {step.attributes.shape("step")}}},
                                   {i64[x[0].type.shape]}, {}, step.at);
  return combined(sets, base, update, executed(read, {numbered(x[0].type.shape)}, i64));
}

Tensor dynamic_update_slice_sparsity(IndexSets& sets, const Operation& step,
                                     std::span<const Dependences> x) {
  const Tensor base = sets_of(x[0]);
  const Tensor update = sets_of(x[1]);
  const Shape& shape = x[0].type.shape;
  if (x[2].known.is_empty()) {
    const Shape axes = free_axes(shape, x[1].type.shape);
    return united(sets, base, spread(united_over(sets, update, axes), shape, axes));
  }
  if (sets_elements(step)) return executed(step, {base, update, x[2].known}, u32);
  const Operation read = operation(
      "dynamic_slice", {{"size", {x[1].type.shape}}, {"mode", {step.attributes.string("mode")}}},
      {i64[shape], x[2].type}, {}, step.at);
  return combined(sets, base, update, executed(read, {numbered(shape), x[2].known}, i64));
}

}  // namespace

Tensor moved_sparsity(IndexSets&, const Operation& step, std::span<const Dependences> x) {
  TensorList operands;
  for (const Dependences& operand : x) operands.push_back(sets_of(operand));
  return executed(step, std::move(operands), u32);
}

void add_movement_sparsity(SparsityRules& rules) {
  for (const char* name : {"broadcast_in_dim", "reshape", "transpose", "slice", "pad", "concat"})
    rules[name] = moved_sparsity;
  rules["gather"] = gather_sparsity;
  rules["dynamic_slice"] = dynamic_slice_sparsity;
  rules["scatter"] = scatter_sparsity;
  rules["sort"] = sort_sparsity;
  rules["update_slice"] = update_slice_sparsity;
  rules["dynamic_update_slice"] = dynamic_update_slice_sparsity;
}

}  // namespace hom::categories
