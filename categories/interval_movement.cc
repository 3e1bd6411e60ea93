// categories/interval_movement.cc -- rules for what moves elements: done once on their numbers
//
// A primitive that moves elements of any dtype moves their numbers as well. So the executor says
// where each element of the result comes from, and the rule fetches its interval from there.
#include <algorithm>
#include <limits>

#include <hom/categories/interval_rule.h>

namespace hom::categories {
namespace {

/// 0 of the data: what a read outside the tensor gives where that is not an error.
constexpr std::int64_t outside = 0;

/// The elements of several tensors, numbered from 1.
class Numbered {
 public:
  Tensor number(const IntervalTensor& x) {
    std::vector<std::int64_t> numbers;
    for (const Interval& element : x.elements()) {
      all_.push_back(element);
      numbers.push_back(static_cast<std::int64_t>(all_.size()));
    }
    return tensor(numbers, x.type().shape);
  }
  Interval interval(std::int64_t number) const {
    return number == outside ? Interval{0, 0, false} : all_[static_cast<std::size_t>(number - 1)];
  }
  IntervalTensor fetch(const Tensor& numbers, const TensorType& type) const {
    std::vector<Interval> elements;
    for (std::int64_t number : numbers.to_vector<std::int64_t>())
      elements.push_back(interval(number));
    return {type, std::move(elements)};
  }

 private:
  std::vector<Interval> all_;
};

/// Every element may be any of these.
IntervalTensor everywhere(const TensorType& type, const Interval& element) {
  return {type, std::vector<Interval>(static_cast<std::size_t>(type.size()), element)};
}

/// A primitive all of whose operands are data.
IntervalTensor moved(const Operation& operation, std::span<const IntervalTensor> x) {
  Numbered numbered;
  Tensors operands;
  for (const IntervalTensor& operand : x) operands.push_back(numbered.number(operand));
  return numbered.fetch(operation(operands)[0], operation.results[0]);
}

/// gather and dynamic_slice: data, then places.
IntervalTensor read_at(const Operation& operation, std::span<const IntervalTensor> x) {
  if (x[1].exact().is_empty()) {
    Interval any = hull_of(x[0]);
    // What lies outside may read as 0.
    if (operation.is("gather")) any = hull(any, {0, 0, false});
    return everywhere(operation.results[0], any);
  }
  Numbered numbered;
  const Tensor numbers = numbered.number(x[0]);
  return numbered.fetch(operation(Tensors{numbers, x[1].exact()})[0], operation.results[0]);
}

/// Written elements combined one by one, by what `combine` says.
IntervalTensor combined(const Operation& operation, const IntervalTensor& base,
                        const IntervalTensor& updates, const Tensor& places) {
  const std::string& combine = operation.attributes.string("combine");
  const Dtype dtype = base.type().dtype;
  const IntervalArithmetic arithmetic(dtype.is_float() ? dtype : f64);
  std::vector<std::vector<Interval>> terms;
  for (const Interval& element : base.elements()) terms.push_back({element});
  std::size_t next = 0;
  for (std::int64_t place : places.to_vector<std::int64_t>()) {
    if (place != outside)
      terms[static_cast<std::size_t>(place - 1)].push_back(updates.elements()[next]);
    ++next;
  }
  std::vector<Interval> elements;
  for (const std::vector<Interval>& list : terms) {
    IntervalArithmetic::Sum sum(arithmetic);
    Interval result = list[0];
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (combine == "add") {
        sum.add(list[i]);
      } else if (i > 0) {
        result =
            combine == "max" ? arithmetic.max(result, list[i]) : arithmetic.min(result, list[i]);
      }
    }
    if (combine == "add" && list.size() == 2)
      result = arithmetic.add(list[0], list[1]);
    else if (combine == "add" && list.size() > 2)
      result = sum.result();
    // Products in another order round otherwise.
    if (combine == "mul" && list.size() > 1)
      result = list.size() == 2 ? arithmetic.mul(list[0], list[1]) : anything(dtype);
    elements.push_back(dtype.is_float() ? result : wrapped(result, dtype));
  }
  return {base.type(), std::move(elements)};
}

/// Writes with the places known: `set` moves elements; the others combine where they meet.
IntervalTensor write_at(const Operation& operation, const IntervalTensor& base,
                        const IntervalTensor& updates, const Tensors& places,
                        const std::function<Tensor(const Tensor& numbers)>& read) {
  Numbered numbered;
  const Tensor own = numbered.number(base);
  if (operation.attributes.string("combine") != "set")
    return combined(operation, base, updates, read(own));
  Tensors operands{own};
  const Tensor others = numbered.number(updates);
  if (operation.is("scatter")) {
    operands = {own, places[0], others};
  } else {
    operands.push_back(others);
    operands.insert(operands.end(), places.begin(), places.end());
  }
  return numbered.fetch(operation(operands)[0], operation.results[0]);
}

IntervalTensor written_anywhere(const Operation& operation, const IntervalTensor& base,
                                const IntervalTensor& updates) {
  if (operation.attributes.string("combine") != "set") return anything(operation.results[0]);
  const Interval update = hull_of(updates);
  std::vector<Interval> elements;
  for (const Interval& element : base.elements()) elements.push_back(hull(element, update));
  return {base.type(), std::move(elements)};
}

IntervalTensor scatter_rule(const Operation& operation, std::span<const IntervalTensor> x) {
  if (x[1].exact().is_empty()) return written_anywhere(operation, x[0], x[2]);
  return write_at(operation, x[0], x[2], {x[1].exact()}, [&](const Tensor& numbers) {
    const Operation read = categories::operation("gather",
                                                 {{"axes", {operation.attributes.shape("axes")}},
                                                  {"mode", {operation.attributes.string("mode")}}},
                                                 {numbers.type(), x[1].type()}, {}, operation.at);
    return read(Tensors{numbers, x[1].exact()})[0];
  });
}

IntervalTensor update_rule(const Operation& operation, std::span<const IntervalTensor> x) {
  return write_at(operation, x[0], x[1], {}, [&](const Tensor& numbers) {
    const Operation read = categories::operation("slice",
                                                 {{"start", {operation.attributes.shape("start")}},
                                                  {"size", {x[1].type().shape}},
                                                  {"step", {operation.attributes.shape("step")}}},
                                                 {numbers.type()}, {}, operation.at);
    return read(Tensors{numbers})[0];
  });
}

IntervalTensor dynamic_update_rule(const Operation& operation, std::span<const IntervalTensor> x) {
  if (x[2].exact().is_empty()) return written_anywhere(operation, x[0], x[1]);
  return write_at(operation, x[0], x[1], {x[2].exact()}, [&](const Tensor& numbers) {
    const Operation read = categories::operation(
        "dynamic_slice",
        {{"size", {x[1].type().shape}}, {"mode", {operation.attributes.string("mode")}}},
        {numbers.type(), x[2].type()}, {}, operation.at);
    return read(Tensors{numbers, x[2].exact()})[0];
  });
}

}  // namespace

void add_movement_intervals(IntervalRules& rules) {
  for (const char* name : {"broadcast_in_dim", "reshape", "transpose", "slice", "pad", "concat"})
    rules[name] = moved;
  rules["gather"] = read_at;
  rules["dynamic_slice"] = read_at;
  rules["scatter"] = scatter_rule;
  rules["update_slice"] = update_rule;
  rules["dynamic_update_slice"] = dynamic_update_rule;
}

}  // namespace hom::categories
