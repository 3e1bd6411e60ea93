// core/operations/broadcasting.cc -- one dtype and one shape for operands that meet
#include <hom/core/operations/broadcasting.h>

#include <algorithm>

#include <hom/core/capture.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {

Dtype common_dtype(std::span<const Operand* const> operands) {
  std::optional<Dtype> strong;
  std::optional<Dtype> weak;
  for (const Operand* operand : operands) {
    std::optional<Dtype>& so_far = operand->is_weak() ? weak : strong;
    so_far = so_far ? promote(*so_far, operand->dtype()) : operand->dtype();
  }
  if (!strong) return *weak;
  return weak ? promote_weak(*strong, *weak) : *strong;
}

Shape broadcast_shapes(const std::string& operation, std::span<const TensorType> types,
                       const Location& at) {
  std::size_t rank = 0;
  for (const TensorType& type : types) rank = std::max(rank, type.shape.size());
  Shape shape(rank, 1);
  for (const TensorType& type : types) {
    const std::size_t lead = rank - type.shape.size();
    for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
      const std::int64_t extent = type.shape[axis];
      std::int64_t& common = shape[lead + axis];
      if (common == 1) common = extent;
      require(extent == 1 || extent == common, at, [&] {
        std::string all;
        for (const TensorType& each : types) all += (all.empty() ? "" : " and ") + to_string(each);
        const auto from_end =
            static_cast<std::int64_t>(axis) - static_cast<std::int64_t>(type.shape.size());
        return Complaint{operation + ": shapes do not broadcast: " + all + " (axis " +
                             std::to_string(from_end) + ": " + std::to_string(common) + " ≠ " +
                             std::to_string(extent) + ")",
                         "extents must be equal or 1, counted from the last axis; expand_dims and "
                         "reshape add axes"};
      });
    }
  }
  return shape;
}

Attribute rounded(const Attribute& value, Dtype dtype) {
  return visit(dtype, [&]<class T>() -> Attribute {
    const T element = number<T>(value);
    if constexpr (std::same_as<T, bool>) {
      return {element};
    } else if constexpr (dtype_of<T>().is_float()) {
      return {static_cast<double>(element)};
    } else if constexpr (std::same_as<T, std::uint64_t>) {
      return {element};
    } else {
      return {static_cast<std::int64_t>(element)};
    }
  });
}

Tensor literal(const Attribute& value, const TensorType& type, bool recorded, const Location& at) {
  static const Primitive& constant = standard_primitives().find("constant");
  const Attributes attributes{
      {"value", rounded(value, type.dtype)}, {"dtype", {type.dtype}}, {"shape", {type.shape}}};
  if (recorded) return apply_one(constant, attributes, {}, at);
  const Invocation step{constant, attributes, {&type, 1}, at};
  return current_executor().execute(step, {})[0];
}

Attribute Operand::weak_value() const {
  if (dtype_.is_bool()) return {integer_ != 0};
  if (dtype_.is_float()) return {float_};
  if (dtype_.id == Dtype::Id::u64) return {static_cast<std::uint64_t>(integer_)};
  return {integer_};
}

namespace {
Attribute checked_value(const Operand& operand, Dtype dtype) {
  const Attribute value = operand.weak_value();
  const bool fits = !dtype.is_integer() || visit(dtype, [&]<class T>() {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      if (const auto* integer = std::get_if<std::int64_t>(&value.value))
        return std::in_range<T>(*integer);
      if (const auto* integer = std::get_if<std::uint64_t>(&value.value))
        return std::in_range<T>(*integer);
    }
    return true;
  });
  require(fits, operand.at(), [&] {
    return Complaint{"the number " + to_string(value) + " does not fit " + to_string(dtype),
                     "a C++ number adopts the dtype of the tensor it meets; convert the tensor "
                     "with astype(i64) first"};
  });
  return value;
}
}  // namespace

Tensor Operand::as(Dtype dtype) const {
  if (!is_weak()) return convert(*this, dtype);
  return literal(checked_value(*this, dtype), dtype[{}], Capture::current() != nullptr, at_);
}

void harmonise(const std::string& operation, std::span<const Operand* const> operands,
               std::span<Tensor> out, const Location& at) {
  const Dtype dtype = common_dtype(operands);
  SmallVector<TensorType, 3> types;
  bool any_symbol = false;
  bool any_tensor = false;
  for (const Operand* operand : operands) {
    if (operand->is_weak()) continue;
    types.push_back(operand->tensor().type(operand->at()));
    any_tensor = true;
    any_symbol = any_symbol || operand->tensor().is_symbolic();
  }
  const Shape shape = types.size() == 1
                          ? types[0].shape
                          : broadcast_shapes(operation, {types.data(), types.size()}, at);
  const bool recorded = any_symbol || (!any_tensor && Capture::current());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = *operands[i];
    if (operand.is_weak()) {
      out[i] =
          literal(checked_value(operand, dtype), TensorType{dtype, shape}, recorded, operand.at());
    } else {
      out[i] = broadcast_to(Operand(convert(operand, dtype), operand.at()), shape);
    }
  }
}

std::int64_t normal_axis(const std::string& operation, std::int64_t axis, std::int64_t rank,
                         const Location& at) {
  require(-rank <= axis && axis < rank, at, [&] {
    return Complaint{operation + ": axis " + std::to_string(axis) + " of a tensor of rank " +
                         std::to_string(rank),
                     "axes go from 0 to rank − 1, or from −rank to −1 counted from the end"};
  });
  return axis < 0 ? axis + rank : axis;
}

Shape normal_axes(const std::string& operation, const Shape& axes, std::int64_t rank,
                  const Location& at) {
  Shape normal;
  for (std::int64_t axis : axes) normal.push_back(normal_axis(operation, axis, rank, at));
  std::sort(normal.begin(), normal.end());
  require(std::adjacent_find(normal.begin(), normal.end()) == normal.end(), at, [&] {
    return Complaint{operation + ": axes " + to_string(axes) + " name an axis twice"};
  });
  return normal;
}

}  // namespace hom
