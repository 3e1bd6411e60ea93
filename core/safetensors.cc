// core/safetensors.cc -- the JSON header and its checks, and the bytes behind it
#include <hom/core/safetensors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include <hom/core/atomic_file.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/parameters.h>

namespace hom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* metadata_name = "__metadata__";
/// The format's own limit.
constexpr std::uint64_t longest_header = 100'000'000;

const std::vector<std::pair<std::string, Dtype>>& element_types() {
  static const std::vector<std::pair<std::string, Dtype>> list{
      {"BOOL", bool_}, {"I8", i8},   {"I32", i32},   {"I64", i64}, {"U8", u8},  {"U32", u32},
      {"U64", u64},    {"F16", f16}, {"BF16", bf16}, {"F32", f32}, {"F64", f64}};
  return list;
}

/// A file, or a tensor of it, to complain about.
struct Place {
  std::string path;
  std::string tensor = {};

  [[noreturn]] void fail(const std::string& what) const {
    fail_with_file(path + ": " + (tensor.empty() ? "" : "tensor `" + tensor + "`: ") + what);
  }
  void require(bool ok, const std::string& what) const {
    if (!ok) fail(what);
  }
};

std::uint64_t little_endian(const unsigned char* bytes) {
  std::uint64_t value = 0;
  for (int i = 8; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

/// A whole number that is not negative.
std::int64_t count(const Place& place, const Json& value, const char* what) {
  place.require(value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX,
                std::string(what) + " " + value.dump() + " is not a whole number of 0 or more");
  return value.get<std::int64_t>();
}

Json parsed_header(const Place& file, const std::string& text) {
  std::set<std::string> names;
  std::string twice;
  const auto look = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth == 1 && event == Json::parse_event_t::key &&
        !names.insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  Json header;
  try {
    header = Json::parse(text, look);
  } catch (const Json::exception& error) {
    file.fail(std::string("the header is not JSON: ") + error.what());
  }
  file.require(header.is_object(), "the header is not a JSON object");
  file.require(twice.empty(), "the header names the tensor `" + twice + "` twice");
  return header;
}

struct Entry {
  std::string name;
  TensorType type;
  std::int64_t begin;
  std::int64_t end;
};

Entry entry_of(const Place& place, const Json& description, std::int64_t size) {
  place.require(description.is_object() && description.contains("dtype") &&
                    description.contains("shape") && description.contains("data_offsets"),
                "its description has not dtype, shape and data_offsets");
  Entry entry{place.tensor, {}, 0, 0};
  const Json& dtype = description["dtype"];
  const auto known = std::find_if(element_types().begin(), element_types().end(),
                                  [&](const auto& type) { return Json(type.first) == dtype; });
  place.require(known != element_types().end(), "its dtype is " + dtype.dump() +
                                                    "; Hom has BOOL I8 I32 I64 U8 U32 U64 F16 BF16 "
                                                    "F32 F64");
  entry.type.dtype = known->second;
  const Json& shape = description["shape"];
  place.require(shape.is_array(), "its shape " + shape.dump() + " is not a list");
  std::int64_t bytes = static_cast<std::int64_t>(entry.type.dtype.size());
  for (const Json& extent : shape) {
    entry.type.shape.push_back(count(place, extent, "the extent"));
    place.require(!__builtin_mul_overflow(bytes, entry.type.shape.back(), &bytes),
                  "its shape " + shape.dump() + " has more bytes than 64 bits count");
  }
  const Json& offsets = description["data_offsets"];
  place.require(offsets.is_array() && offsets.size() == 2,
                "its data_offsets " + offsets.dump() + " are not a begin and an end");
  entry.begin = count(place, offsets[0], "the offset");
  entry.end = count(place, offsets[1], "the offset");
  place.require(entry.begin <= entry.end, "its data_offsets " + offsets.dump() + " run backwards");
  place.require(entry.end <= size, "its data_offsets " + offsets.dump() + " reach beyond the " +
                                       std::to_string(size) + " bytes of data");
  place.require(entry.end - entry.begin == bytes, "its data_offsets " + offsets.dump() + " hold " +
                                                      std::to_string(entry.end - entry.begin) +
                                                      " bytes, and " + to_string(entry.type) +
                                                      " takes " + std::to_string(bytes));
  return entry;
}

/// The bytes belong to one tensor each.
void require_no_gaps(const Place& file, std::vector<Entry> entries, std::int64_t size) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::int64_t reached = 0;
  for (const Entry& entry : entries) {
    Place{file.path, entry.name}.require(
        entry.begin == reached, entry.begin < reached
                                    ? "its bytes overlap those of another tensor"
                                    : "there are bytes before it that belong to no tensor");
    reached = entry.end;
  }
  file.require(reached == size,
               "the last " + std::to_string(size - reached) + " bytes belong to no tensor");
}

Tensor tensor_of(const Entry& entry, const char* data) {
  const char* bytes = data + entry.begin;
  // Any byte but 0 is true.
  if (entry.type.dtype.is_bool()) return tensor_from_bytes(bytes, u8[entry.type.shape]) != 0;
  return tensor_from_bytes(bytes, entry.type);
}

}  // namespace

Safetensors read_safetensors(const std::string& path) {
  const Place file{path};
  std::error_code error;
  const std::uint64_t length = std::filesystem::file_size(path, error);
  if (error) file.fail("can't be opened: " + system_message(error.value()));
  std::ifstream stream(path, std::ios::binary);
  unsigned char prefix[8];
  file.require(length >= sizeof prefix, "is too short for a safetensors file");
  file.require(!!stream.read(reinterpret_cast<char*>(prefix), sizeof prefix), "can't be read");
  const std::uint64_t header_length = little_endian(prefix);
  file.require(header_length <= length - sizeof prefix && header_length <= longest_header,
               "the header claims " + std::to_string(header_length) + " bytes, and the file has " +
                   std::to_string(length - sizeof prefix) + " after its length");
  std::string text(header_length, ' ');
  std::string data(length - sizeof prefix - header_length, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  file.require(!!stream.read(data.data(), static_cast<std::streamsize>(data.size())),
               "can't be read");

  Safetensors result;
  std::vector<Entry> entries;
  const auto size = static_cast<std::int64_t>(data.size());
  const Json header = parsed_header(file, text);
  for (const auto& [name, description] : header.items()) {
    if (name != metadata_name) {
      entries.push_back(entry_of({path, name}, description, size));
      continue;
    }
    file.require(description.is_object(), "its metadata are not a JSON object");
    for (const auto& [key, value] : description.items()) {
      file.require(value.is_string(), "its metadata `" + key + "` are not a string");
      result.metadata[key] = value.get<std::string>();
    }
  }
  require_no_gaps(file, entries, size);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  for (const Entry& entry : entries)
    result.tensors.emplace_back(entry.name, tensor_of(entry, data.data()));
  return result;
}

void write_safetensors(const std::string& path, const Safetensors& file) {
  const Place place{path};
  Json header = Json::object();
  if (!file.metadata.empty()) header[metadata_name] = file.metadata;
  std::string data;
  for (const auto& [name, tensor] : file.tensors) {
    place.require(!name.empty() && name != metadata_name,
                  "a tensor can't be called `" + name + "`");
    place.require(!header.contains(name), "the name `" + name + "` is there twice");
    const Tensor stored = row_major(tensor);
    const TensorType& type = stored.array().type;
    const auto known = std::find_if(element_types().begin(), element_types().end(),
                                    [&](const auto& entry) { return entry.second == type.dtype; });
    const auto width = static_cast<std::int64_t>(type.dtype.size());
    const std::size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(stored.array().buffer->data() +
                                              stored.array().offset * width),
                static_cast<std::size_t>(type.size() * width));
    header[name] = {{"dtype", known->first},
                    {"shape", std::vector<std::int64_t>(type.shape.begin(), type.shape.end())},
                    {"data_offsets", {begin, data.size()}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& error) {
    place.fail(std::string("a name or metadata can't be written as JSON: ") + error.what());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  unsigned char prefix[8];
  for (int i = 0; i < 8; ++i) prefix[i] = static_cast<unsigned char>(text.size() >> (8 * i));
  AtomicFile out(path);
  out.write({{prefix, sizeof prefix}, {text.data(), text.size()}, {data.data(), data.size()}});
  out.commit();
}

namespace detail {

void save_safetensors_leaves(const std::string& path, const std::vector<std::string>& names,
                             const std::vector<Tensor>& tensors) {
  Safetensors file;
  for (std::size_t i = 0; i < names.size(); ++i)
    file.tensors.emplace_back(entry_name(names[i]), tensors[i]);
  write_safetensors(path, file);
}

std::vector<Tensor> load_safetensors_leaves(const std::string& path,
                                            const std::vector<std::string>& names,
                                            const std::vector<TensorType>& types) {
  const Safetensors file = read_safetensors(path);
  const std::string hint = "\n  hint: was it saved from this structure?";
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = entry_name(names[i]);
    const auto found = std::find_if(file.tensors.begin(), file.tensors.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (found == file.tensors.end()) throw Error(path + ": has no tensor `" + name + "`" + hint);
    if (found->second.type() != types[i])
      throw Error(path + ": tensor `" + name + "` is " + to_string(found->second.type()) +
                  ", not " + to_string(types[i]) + hint);
    tensors.push_back(found->second);
  }
  if (file.tensors.size() != names.size())
    throw Error(path + ": holds " + std::to_string(file.tensors.size()) +
                " tensors, and the example has " + std::to_string(names.size()) + " leaves" + hint);
  return tensors;
}

}  // namespace detail
}  // namespace hom
