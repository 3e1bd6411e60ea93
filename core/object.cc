// core/object.cc -- dtypes, shapes and objects
#include <hom/core/object.h>

#include <hom/core/error.h>

namespace hom {
namespace {

struct DtypeRow {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<DtypeRow, 11> dtype_rows{{{"bool", 1},
                                               {"i8", 1},
                                               {"i32", 4},
                                               {"i64", 8},
                                               {"u8", 1},
                                               {"u32", 4},
                                               {"u64", 8},
                                               {"f16", 2},
                                               {"bf16", 2},
                                               {"f32", 4},
                                               {"f64", 8}}};

const DtypeRow& row(Dtype dtype) { return dtype_rows[static_cast<std::size_t>(dtype.id)]; }

Dtype signed_of_size(std::size_t bytes) { return bytes <= 1 ? i8 : bytes <= 4 ? i32 : i64; }

}  // namespace

std::size_t Dtype::size() const { return row(*this).size; }
std::string_view Dtype::name() const { return row(*this).name; }
TensorType Dtype::operator[](Shape shape) const { return TensorType{*this, std::move(shape)}; }

Dtype dtype_named(std::string_view name) {
  for (Dtype dtype : all_dtypes) {
    if (dtype.name() == name) return dtype;
  }
  throw Error("unknown dtype `" + std::string(name) +
              "`\n  hint: the dtypes are bool, i8, i32, i64, u8, u32, u64, f16, bf16, f32, f64");
}

Dtype promote(Dtype a, Dtype b) {
  if (a == b || b.is_bool()) return a;
  if (a.is_bool()) return b;
  if (a.is_float() && b.is_float())
    return a.size() != b.size() ? (a.size() > b.size() ? a : b) : f32;
  if (a.is_float()) return a;
  if (b.is_float()) return b;
  if (a.is_signed_integer() == b.is_signed_integer()) return a.size() > b.size() ? a : b;
  const Dtype with_sign = a.is_signed_integer() ? a : b;
  const Dtype without = a.is_signed_integer() ? b : a;
  // One size up holds every value of the unsigned operand.
  return with_sign.size() > without.size() ? with_sign : signed_of_size(2 * without.size());
}

Dtype promote_weak(Dtype tensor, Dtype number) {
  if (tensor.is_float() || number.is_bool()) return tensor;
  if (number.is_float() || tensor.is_bool()) return number;
  return tensor;
}

std::int64_t TensorType::size() const { return element_count(shape); }

Object::Object(TensorType type) : tensor(std::move(type)), is_tensor(true) {}

Object Object::product(std::vector<Factor> factors) {
  Object object;
  object.factors = std::move(factors);
  return object;
}

std::vector<TensorType> Object::leaves() const {
  if (is_tensor) return {tensor};
  std::vector<TensorType> all;
  for (const Factor& factor : factors) {
    for (TensorType& leaf : factor.object.leaves()) all.push_back(std::move(leaf));
  }
  return all;
}

std::int64_t Object::leaf_count() const {
  if (is_tensor) return 1;
  std::int64_t count = 0;
  for (const Factor& factor : factors) count += factor.object.leaf_count();
  return count;
}

bool operator==(const Object& a, const Object& b) {
  if (a.is_tensor != b.is_tensor || a.factors.size() != b.factors.size()) return false;
  if (a.is_tensor) return a.tensor == b.tensor;
  for (std::size_t i = 0; i < a.factors.size(); ++i) {
    if (a.factors[i].label != b.factors[i].label || a.factors[i].object != b.factors[i].object)
      return false;
  }
  return true;
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool overflows = false;
  for (std::int64_t extent : shape) {
    // A zero later on makes the product 0 whatever came before.
    if (extent == 0) return 0;
    overflows = overflows || __builtin_mul_overflow(count, extent, &count);
  }
  if (overflows) {
    fail({"a tensor of shape " + to_string(shape) + " has more elements than 64 bits count"}, {});
  }
  return count;
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    // Beside an empty axis the strides of a tensor mean nothing, and must not overflow.
    stride = shape[axis] == 0 ? 0 : stride * shape[axis];
  }
  return strides;
}

std::string to_string(Dtype dtype) { return std::string(dtype.name()); }

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

std::string to_string(const TensorType& type) {
  return to_string(type.dtype) + to_string(type.shape);
}

std::string to_string(const Object& object) {
  if (object.is_tensor) return to_string(object.tensor);
  std::string text = "(";
  for (const Object::Factor& factor : object.factors) {
    if (text.size() > 1) text += ", ";
    if (!factor.label.empty()) text += factor.label + ": ";
    text += to_string(factor.object);
  }
  return text + ")";
}

}  // namespace hom
