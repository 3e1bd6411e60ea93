// core/safetensors.h -- tensors in .safetensors files, as PyTorch and JAX users exchange models
//
// A file is the length of its header (8 bytes, little endian), the header in JSON, and the elements
// of all tensors in row-major order, one tensor after the other. Nothing in it is code.
//
// https://huggingface.co/docs/safetensors
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <hom/core/product.h>

namespace hom {

/// Tensors by name, in the order of the file, and what else is said of them.
struct Safetensors {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::map<std::string, std::string> metadata = {};
};

/// Reads every tensor of a file; every dtype of Hom is read as it is, bf16 too. Throws `Error`,
/// naming the file and the tensor, where the file is missing or no such file: a header that is
/// longer than the file, is not JSON, names a tensor twice, or an element type that Hom does not
/// have (16-bit integers, 8-bit floats); offsets that are not two, run backwards or beyond the end,
/// overlap, leave gaps, or do not fit the shape.
Safetensors read_safetensors(const std::string& path);

/// Writes concrete tensors; the file appears under its name only when it is complete. Throws
/// `Error` for a name that is empty, repeated or `__metadata__`, and where the file can't be
/// written.
void write_safetensors(const std::string& path, const Safetensors& file);

namespace detail {
std::vector<Tensor> load_safetensors_leaves(const std::string& path,
                                            const std::vector<std::string>& names,
                                            const std::vector<TensorType>& types);
void save_safetensors_leaves(const std::string& path, const std::vector<std::string>& names,
                             const std::vector<Tensor>& tensors);
}  // namespace detail

/// Writes the leaves of a product, named by their paths as `save_npz` does: `layers[0].bias`.
template <ProductType T>
void save_safetensors(const std::string& path, const T& product) {
  detail::save_safetensors_leaves(path, leaf_paths(product, ""), leaves(product));
}

/// A product like `example`, with the leaves of the file. Throws where one is missing, surplus, or
/// of another dtype or shape, naming the file and the leaf.
template <ProductType T>
TensorsOf<T> load_safetensors(const std::string& path, const T& example) {
  std::vector<TensorType> types;
  for (const Tensor& leaf : leaves(example)) types.push_back(leaf.type());
  return with_leaves(example,
                     detail::load_safetensors_leaves(path, leaf_paths(example, ""), types));
}

}  // namespace hom
