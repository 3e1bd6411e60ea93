// core/parameters.h -- products of tensors in .npz files: save what was trained, load it again,
// read it in NumPy
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <hom/core/npz.h>
#include <hom/core/product.h>

namespace hom {

/// The array of a concrete tensor. bf16, which NumPy lacks, widens to f32, and loads back exactly.
NumpyArray to_numpy(const Tensor& x);
/// A tensor of dtype `dtype` from an array that holds exactly such elements (f32 for bf16). Throws,
/// naming `what`.
Tensor from_numpy(const NumpyArray& array, const TensorType& expected, const std::string& what);

namespace detail {
/// The name of a leaf in a file; one at the root has an empty path, which no entry may have.
std::string entry_name(const std::string& path);
std::vector<Tensor> load_leaves(const std::string& path, const std::vector<std::string>& names,
                                const std::vector<TensorType>& types);
void save_leaves(const std::string& path, const std::vector<std::string>& names,
                 const std::vector<Tensor>& tensors);
}  // namespace detail

/// Writes the leaves of a product, each under its path without the root: `hidden.weight`,
/// `layers[0].bias`.
template <ProductType T>
void save_npz(const std::string& path, const T& product) {
  detail::save_leaves(path, leaf_paths(product, ""), leaves(product));
}

/// A product like `example`, with the leaves that `save_npz` wrote. Throws where one is missing,
/// surplus, or of another dtype or shape, naming the file and the leaf.
template <ProductType T>
TensorsOf<T> load_npz(const std::string& path, const T& example) {
  std::vector<TensorType> types;
  for (const Tensor& leaf : leaves(example)) types.push_back(leaf.type());
  return with_leaves(example, detail::load_leaves(path, leaf_paths(example, ""), types));
}

}  // namespace hom
