// tests/unit/safetensors_test.cc -- tensors in .safetensors files, and files that are not
#include <hom/core/safetensors.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

std::string path(const char* name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder ? folder : std::filesystem::temp_directory_path().c_str()) + "/" + name;
}

/// A file by hand: the length of the header (or what it claims), the header, the data.
std::string file_of(const std::string& header, const std::string& data,
                    std::optional<std::uint64_t> claimed = std::nullopt) {
  const std::string name = path("by_hand.safetensors");
  std::ofstream file(name, std::ios::binary);
  const std::uint64_t length = claimed.value_or(header.size());
  for (int i = 0; i < 8; ++i) file.put(static_cast<char>(length >> (8 * i)));
  file << header << data;
  return name;
}

std::string failure(const std::string& header, const std::string& data,
                    std::optional<std::uint64_t> claimed = std::nullopt) {
  try {
    read_safetensors(file_of(header, data, claimed));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Safetensors, reads_a_file_written_by_hand) {
  // Two floats, 1 and −2, after three bytes; as the format says, not as write_safetensors does.
  const std::string data("\x01\x02\x03\x00\x00\x80\x3f\x00\x00\x00\xc0", 11);
  const Safetensors file = read_safetensors(file_of(
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[3,11]},)"
      R"("ids":{"dtype":"U8","shape":[1,3],"data_offsets":[0,3]}}   )",
      data));
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.metadata.at("format"), "pt");
  EXPECT_EQ(file.tensors[0].first, "ids");
  EXPECT_TRUE(array_equal(file.tensors[0].second, tensor({{1, 2, 3}}).astype(u8)));
  EXPECT_EQ(file.tensors[1].first, "w");
  EXPECT_TRUE(array_equal(file.tensors[1].second, tensor({1.f, -2.f})));
}

TEST(Safetensors, every_dtype_and_shape_comes_back_bit_for_bit) {
  Safetensors written{{}, {{"epoch", "7"}}};
  const std::vector<Shape> shapes{{}, {0}, {1}, {2, 3}, {2, 0, 4}};
  for (Dtype dtype : all_dtypes) {
    for (const Shape& shape : shapes) {
      const Tensor x = (arange(element_count(shape), f64) - 0.5).astype(dtype);
      written.tensors.emplace_back(std::string(dtype.name()) + to_string(shape), reshape(x, shape));
    }
  }
  // A view whose elements are not in row-major order.
  written.tensors.emplace_back("turned", transpose(tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}})));
  const std::string name = path("every.safetensors");
  write_safetensors(name, written);
  const Safetensors read = read_safetensors(name);
  EXPECT_EQ(read.metadata, written.metadata);
  ASSERT_EQ(read.tensors.size(), written.tensors.size());
  std::map<std::string, Tensor> by_name(read.tensors.begin(), read.tensors.end());
  for (const auto& [key, x] : written.tensors) {
    EXPECT_EQ(by_name.at(key).type(), x.type()) << key;
    EXPECT_TRUE(array_equal(by_name.at(key), x)) << key;
  }
}

TEST(Safetensors, the_header_is_as_long_as_it_says_and_aligned) {
  const std::string name = path("aligned.safetensors");
  write_safetensors(name, {{{"x", tensor({1.0})}}});
  std::ifstream file(name, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[0]));
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + length + 8);
  EXPECT_EQ(bytes[8], '{');
  EXPECT_SAYS(bytes, R"("x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]})");
}

struct Layer {
  BOOST_HANA_DEFINE_STRUCT(Layer, (Tensor, weight), (Tensor, bias));
};

TEST(Safetensors, a_product_comes_back_and_another_structure_is_refused) {
  const std::vector<Layer> model{{tensor({{1.5f, -2.f}}), tensor({0.5f})},
                                 {tensor({{3.f}}), zeros({0}, f32)}};
  const std::string name = path("model.safetensors");
  save_safetensors(name, model);
  const std::vector<Layer> loaded = load_safetensors(name, model);
  EXPECT_TRUE(array_equal(loaded[0].weight, model[0].weight));
  EXPECT_TRUE(array_equal(loaded[1].bias, model[1].bias));
  const auto refused = [&](const std::vector<Layer>& example) {
    try {
      load_safetensors(name, example);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_SAYS(refused({model[0]}), "holds 4 tensors, and the example has 2 leaves");
  EXPECT_SAYS(refused({model[0], {tensor({1.f}), model[1].bias}}),
              "tensor `[1].weight` is f32[1, 1], not f32[1]");
  EXPECT_SAYS(refused({model[0], model[1], model[1]}), "has no tensor `[2].weight`");
}

// mlx#3327, #460, #3611: files that claim more than they hold.
TEST(Safetensors, offsets_that_do_not_fit_are_errors) {
  const auto with = [](const std::string& shape, const std::string& offsets) {
    return failure(
        R"({"w":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", "abcd");
  };
  EXPECT_EQ(with("[1]", "[0,4]"), "no error");
  EXPECT_SAYS(with("[1000,1000]", "[0,4]"), "f32[1000, 1000] takes 4000000");
  EXPECT_SAYS(with("[1]", "[4,0]"), "run backwards");
  EXPECT_SAYS(with("[1]", "[0,4,8]"), "are not a begin and an end");
  EXPECT_SAYS(with("[1]", "[0]"), "are not a begin and an end");
  EXPECT_SAYS(with("[1]", "[4,8]"), "reach beyond the 4 bytes of data");
  EXPECT_SAYS(with("[1]", "[-4,0]"), "is not a whole number");
  EXPECT_SAYS(with("[1]", "[0.0,4.0]"), "is not a whole number");
  EXPECT_SAYS(with("[-1]", "[0,4]"), "the extent -1 is not a whole number");
  EXPECT_SAYS(with("[4294967296,4294967296]", "[0,4]"), "more bytes than 64 bits count");
  EXPECT_SAYS(with("1", "[0,4]"), "is not a list");
  EXPECT_SAYS(with("[0]", "[0,0]"), "the last 4 bytes belong to no tensor");
  const auto two = [](const char* first, const char* second) {
    return failure(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + std::string(first) +
                       R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}",
                   "abcd");
  };
  EXPECT_EQ(two("[2,4]", "[0,2]"), "no error");
  EXPECT_SAYS(two("[0,2]", "[1,3]"), "tensor `b`: its bytes overlap");
  EXPECT_SAYS(two("[0,2]", "[0,2]"), "overlap");
}

TEST(Safetensors, headers_that_are_none_are_errors) {
  EXPECT_SAYS(failure("{}", "", 3), "the header claims 3 bytes, and the file has 2");
  EXPECT_SAYS(failure("{}", "", UINT64_MAX), "the header claims 18446744073709551615 bytes");
  EXPECT_SAYS(failure("{]", ""), "the header is not JSON");
  EXPECT_SAYS(failure("[]", ""), "the header is not a JSON object");
  EXPECT_SAYS(failure(R"({"w":1})", ""), "tensor `w`: its description has not dtype");
  EXPECT_SAYS(failure(R"({"w":{"dtype":"F8_E4M3","shape":[0],"data_offsets":[0,0]}})", ""),
              "its dtype is \"F8_E4M3\"; Hom has BOOL");
  const std::string w = R"("w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_SAYS(failure("{" + w + "," + w + "}", ""), "names the tensor `w` twice");
  EXPECT_SAYS(failure(R"({"__metadata__":{"a":1}})", ""), "its metadata `a` are not a string");
  EXPECT_EQ(failure("{}", ""), "no error");
  std::ofstream(path("short.safetensors")) << "abc";
  EXPECT_THROW(read_safetensors(path("short.safetensors")), Error);
  EXPECT_THROW(read_safetensors(path("nowhere.safetensors")), Error);
}

TEST(Safetensors, names_that_cannot_be_written_are_errors) {
  const Tensor x = tensor({1.0});
  const std::string name = path("names.safetensors");
  EXPECT_THROW(write_safetensors(name, {{{"", x}}}), Error);
  EXPECT_THROW(write_safetensors(name, {{{"__metadata__", x}}}), Error);
  EXPECT_THROW(write_safetensors(name, {{{"x", x}, {"x", x}}}), Error);
  EXPECT_THROW(write_safetensors(name, {{{"\xff", x}}}), Error);
  EXPECT_FALSE(std::filesystem::exists(name));
  EXPECT_THROW(write_safetensors(path("no/such/folder"), {{{"x", x}}}), Error);
}

}  // namespace
}  // namespace hom
