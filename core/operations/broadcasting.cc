// core/operations/broadcasting.cc -- one dtype and one shape for operands that meet
#include <hom/core/operations/broadcasting.h>

#include <algorithm>
#include <cmath>
#include <limits>

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
  if (!strong) return weak.value_or(f64);
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
  const LocationScope line(at);
  static_cast<void>(type.size());  // throws where it does not fit 64 bits
  const Invocation step{constant, attributes, {&type, 1}, at};
  return Tensor(current_executor().execute(step, {})[0].array_pointer(),
                LocationScope::current(at));
}

Attribute Operand::weak_value() const {
  if (dtype_.is_bool()) return {integer_ != 0};
  if (dtype_.is_float()) return {float_};
  if (dtype_.id == Dtype::Id::u64) return {static_cast<std::uint64_t>(integer_)};
  return {integer_};
}

namespace {
/// Whether T holds the number as it is; floats hold every number, rounded.
template <class T>
bool holds(const Attribute& number) {
  return std::visit(
      []<class Number>(const Number& value) {
        if constexpr (dtype_of<T>().is_float() || !Arithmetic<Number>) {
          return true;
        } else if constexpr (std::same_as<T, bool>) {
          return value == Number{0} || value == Number{1};
        } else if constexpr (std::same_as<Number, bool>) {
          return true;
        } else if constexpr (std::integral<Number>) {
          return std::in_range<T>(value);
        } else {
          // Both bounds are powers of two (or 0), and exact as doubles; NaN is outside.
          const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
          return value >= static_cast<double>(std::numeric_limits<T>::min()) && value < above &&
                 value == std::trunc(value);
        }
      },
      number.value);
}

Attribute checked_value(const Operand& operand, Dtype dtype) {
  const Attribute value = operand.weak_value();
  require_fits(value, dtype, operand.at());
  return value;
}
}  // namespace

bool fits(const Attribute& number, Dtype dtype) {
  return visit(dtype, [&]<class T>() { return holds<T>(number); });
}

void require_fits(const Attribute& number, Dtype dtype, const Location& at) {
  require(fits(number, dtype), at, [&] {
    const bool is_float = std::holds_alternative<double>(number.value);
    const std::string way_out =
        dtype.is_bool() ? "truth values are 0 and 1; compare, as in `x != 0`"
                        : "a C++ number adopts the dtype of the tensor it meets; convert the "
                          "tensor with astype(" +
                              std::string(is_float ? "f64" : "i64") + ") first";
    return Complaint{"the number " + to_string(number) + " does not fit " + to_string(dtype),
                     way_out};
  });
}

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

Tensor fitted(const std::string& operation, const std::string& role, const Operand& value,
              Dtype dtype) {
  require(value.is_weak() || promote(dtype, value.dtype()) == dtype, value.at(), [&] {
    return Complaint{operation + ": " + role + " of dtype " + to_string(value.dtype()) +
                         " does not fit a tensor of " + to_string(dtype),
                     "convert one of them with astype"};
  });
  return value.as(dtype);
}

void require_float(const char* operation, const Operand& x) {
  require(x.dtype().is_float(), x.at(), [&] {
    return Complaint{
        std::string(operation) + ": takes floats, got " + to_string(x.value().type(x.at())),
        "convert with astype(f32) or astype(f64)"};
  });
}

Tensor widened(const Operand& x) { return x.dtype().size() == 2 ? convert(x, f32) : x.value(); }

}  // namespace hom
