// core/parameters.cc -- tensors as NumPy arrays
#include <hom/core/parameters.h>

#include <algorithm>

#include <hom/core/operations/elementwise.h>

namespace hom {
namespace {

std::string descr_of(Dtype dtype) {
  switch (dtype.id) {
    case Dtype::Id::boolean:
      return "|b1";
    case Dtype::Id::i8:
      return "|i1";
    case Dtype::Id::i32:
      return "<i4";
    case Dtype::Id::i64:
      return "<i8";
    case Dtype::Id::u8:
      return "|u1";
    case Dtype::Id::u32:
      return "<u4";
    case Dtype::Id::u64:
      return "<u8";
    case Dtype::Id::f16:
      return "<f2";
    case Dtype::Id::bf16:
    case Dtype::Id::f32:
      return "<f4";
    case Dtype::Id::f64:
      break;
  }
  return "<f8";
}

}  // namespace

NumpyArray to_numpy(const Tensor& x) {
  const Tensor stored = row_major(x.dtype() == bf16 ? convert(x, f32) : x);
  const Array& array = stored.array();
  NumpyArray result{
      descr_of(array.type.dtype), {array.type.shape.begin(), array.type.shape.end()}, {}};
  const auto size = static_cast<std::int64_t>(array.type.dtype.size());
  const std::byte* first = array.buffer->data() + array.offset * size;
  result.data.assign(first, first + array.type.size() * size);
  return result;
}

Tensor from_numpy(const NumpyArray& array, const TensorType& expected, const std::string& what) {
  const bool same_shape = std::equal(array.shape.begin(), array.shape.end(), expected.shape.begin(),
                                     expected.shape.end());
  if (array.descr != descr_of(expected.dtype) || !same_shape) {
    throw Error(what + ": holds " + array.descr +
                to_string(Shape(array.shape.begin(), array.shape.end())) + ", not " +
                to_string(expected) +
                "\n  hint: the example passed to load_npz has the structure that was saved");
  }
  // Any byte but 0 is true, as NumPy reads it.
  if (expected.dtype.is_bool())
    return tensor_from_bytes(array.data.data(), u8[expected.shape]) != 0;
  if (expected.dtype != bf16) return tensor_from_bytes(array.data.data(), expected);
  return convert(tensor_from_bytes(array.data.data(), f32[expected.shape]), bf16);
}

namespace detail {

std::string entry_name(const std::string& path) {
  const std::string name = path.starts_with(".") ? path.substr(1) : path;
  return name.empty() ? "value" : name;
}

void save_leaves(const std::string& path, const std::vector<std::string>& names,
                 const std::vector<Tensor>& tensors) {
  std::vector<std::pair<std::string, NumpyArray>> arrays;
  for (std::size_t i = 0; i < names.size(); ++i)
    arrays.emplace_back(entry_name(names[i]), to_numpy(tensors[i]));
  write_npz(path, arrays);
}

std::vector<Tensor> load_leaves(const std::string& path, const std::vector<std::string>& names,
                                const std::vector<TensorType>& types) {
  const auto arrays = read_npz(path);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = entry_name(names[i]);
    const auto found = std::find_if(arrays.begin(), arrays.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (found == arrays.end())
      throw Error(path + ": has no array `" + name +
                  "`\n  hint: was it saved from this structure?");
    tensors.push_back(from_numpy(found->second, types[i], path + ": array `" + name + "`"));
  }
  if (arrays.size() != names.size()) {
    throw Error(path + ": holds " + std::to_string(arrays.size()) +
                " arrays, and the example has " + std::to_string(names.size()) +
                " leaves\n  hint: was it saved from this structure?");
  }
  return tensors;
}

}  // namespace detail
}  // namespace hom
