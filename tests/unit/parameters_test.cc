// tests/unit/parameters_test.cc -- products of tensors saved to .npz and loaded again
#include <hom/core/parameters.h>

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

struct Layer {
  BOOST_HANA_DEFINE_STRUCT(Layer, (Tensor, weight), (Tensor, bias), (int, width));
};
struct Model {
  BOOST_HANA_DEFINE_STRUCT(Model, (std::vector<Layer>, layers), (Tensor, step));
};

std::string path(const char* name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder ? folder : std::filesystem::temp_directory_path().c_str()) + "/" + name;
}

Model model() {
  return {{{tensor({{1.5f, -2.f}, {0.f, 4.f}}), tensor({1.f, 2.f}), 2},
           {tensor({{3.f}}), zeros({0}, f32), 1}},
          Tensor(7)};
}

std::string failure(const std::string& file, const Model& example) {
  try {
    load_npz(file, example);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Parameters, a_model_loads_as_it_was_saved) {
  const std::string file = path("model.npz");
  const Model saved = model();
  save_npz(file, saved);
  const auto arrays = read_npz(file);
  ASSERT_EQ(arrays.size(), 5u);
  EXPECT_EQ(arrays[0].first, "layers[0].weight");
  EXPECT_EQ(arrays[0].second.descr, "<f4");
  EXPECT_EQ(arrays[4].first, "step");
  const Model loaded = load_npz(file, saved);
  ASSERT_EQ(loaded.layers.size(), 2u);
  EXPECT_EQ(loaded.layers[1].width, 1);
  const std::vector<Tensor> before = leaves(saved);
  const std::vector<Tensor> after = leaves(loaded);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(array_equal(before[i], after[i])) << i;
}

TEST(Parameters, every_dtype_and_every_layout_loads_exactly) {
  for (Dtype dtype : all_dtypes) {
    const Tensor x = convert(tensor({{0., 1., 2.}, {3., 0., 1.}}), dtype);
    for (const Tensor& view : {x, x.T(), flip(x, {1}), x(1), x(all, Range{1, 3}),
                               broadcast_to(x(0, 1), {2, 2}), x(all, Range{0, 0})}) {
      const std::string file = path("view.npz");
      save_npz(file, view);
      EXPECT_TRUE(array_equal(load_npz(file, view), view)) << to_string(dtype) << to_string(view);
    }
  }
}

TEST(Parameters, another_structure_is_refused_by_name) {
  const std::string file = path("mismatch.npz");
  save_npz(file, model());
  Model other = model();
  other.layers[0].bias = zeros({3}, f32);
  EXPECT_NE(failure(file, other).find("array `layers[0].bias`: holds <f4[2], not f32[3]"),
            std::string::npos)
      << failure(file, other);
  other = model();
  other.step = Tensor(1.0);
  EXPECT_NE(failure(file, other).find("array `step`"), std::string::npos) << failure(file, other);
  other = model();
  other.layers.pop_back();
  EXPECT_NE(failure(file, other).find("holds 5 arrays"), std::string::npos) << failure(file, other);
  other.layers = {model().layers[0], model().layers[1], model().layers[1]};
  EXPECT_NE(failure(file, other).find("has no array `layers[2].weight`"), std::string::npos)
      << failure(file, other);
}

}  // namespace
}  // namespace hom
