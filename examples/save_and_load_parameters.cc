// examples/save_and_load_parameters.cc -- parameters in an .npz file, which NumPy reads too, and in
// a .safetensors file, which PyTorch and JAX users exchange
#include <cstdio>
#include <iostream>
#include <vector>

#include <hom/hom.h>

using namespace hom;

struct Affine {
  BOOST_HANA_DEFINE_STRUCT(Affine, (Tensor, weight), (Tensor, bias));
};
struct Model {
  BOOST_HANA_DEFINE_STRUCT(Model, (std::vector<Affine>, layers), (Tensor, steps));
};

Model initial_model(std::uint64_t seed) {
  const std::vector<Key> keys = split(key(seed), 2);
  return {{{uniform(keys[0], {2, 3}, -1, 1), zeros({3}, f32)},
           {uniform(keys[1], {3, 1}, -1, 1), zeros({1}, f32)}},
          Tensor(0)};
}

int main() {
  const Model model = initial_model(7);
  const std::string path = "model.npz";
  save_npz(path, model);

  // Leaves are named by their path, as numpy.load(path).files shows them.
  for (const auto& [name, array] : read_npz(path)) std::cout << name << " " << array.descr << "\n";

  // Loading takes an example of the structure, and refuses other leaves, dtypes and shapes.
  const Model loaded = load_npz(path, initial_model(8));
  const bool same = array_equal(model.layers[0].weight, loaded.layers[0].weight);
  std::cout << "loaded " << leaves(loaded).size() << " tensors, " << (same ? "equal" : "other")
            << "\n";
  try {
    load_npz(path, Model{{model.layers[0]}, model.steps});
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
  std::remove(path.c_str());

  const std::string exchanged = "model.safetensors";
  save_safetensors(exchanged, model);
  for (const auto& [name, x] : read_safetensors(exchanged).tensors)
    std::cout << name << " " << to_string(x.type()) << "\n";
  std::remove(exchanged.c_str());
}
