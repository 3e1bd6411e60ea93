// core/npz.cc -- NumPy file headers, byte orders and the zip archive around them (libzip).
#include <hom/core/npz.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include <zip.h>

#include <hom/core/atomic_file.h>
#include <hom/core/error.h>

namespace hom {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kSuffix = ".npy";
constexpr std::string_view kTypes = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8";
constexpr std::size_t kMaxRank = 32;
// The longest name of a zip entry is 65535 bytes.
constexpr std::size_t kMaxName = 65535 - kSuffix.size();
// Deflate can't shrink data by more than about this; a larger claim is a broken or hostile archive.
constexpr std::uint64_t kMaxDeflateRatio = 1032;

// What a message is about: a file, or an entry of it.
struct Where {
  std::string path;
  std::string entry = {};

  [[noreturn]] void fail(const std::string& what) const {
    std::string message = path + ": ";
    if (!entry.empty()) message += "entry '" + entry + "': ";
    message += what;
    fail_with_file(std::move(message));
  }
};

// ---- element types and shapes ---------------------------------------------------------------

struct ElementType {
  char order;  // '<', '>' or '|', as written
  char kind;
  std::size_t size;

  std::string descr() const { return {size == 1 ? '|' : '<', kind, static_cast<char>('0' + size)}; }
};

ElementType parse_type(const Where& where, const std::string& descr) {
  const std::string_view text = descr;
  const bool prefixed = text.size() == 3 && (text[0] == '<' || text[0] == '>' || text[0] == '|');
  bool known = false;
  for (std::size_t i = 0; prefixed && i < kTypes.size(); i += 3) {
    known = known || kTypes.substr(i, 2) == text.substr(1);
  }
  // "|f4" would leave the byte order unsaid.
  if (known && text[0] == '|' && text[2] != '1') known = false;
  if (!known) {
    where.fail("unknown element type '" + descr + "'; the known ones are " + std::string(kTypes) +
               ", each after its byte order, as in '<f4'");
  }
  return {text[0], text[1], static_cast<std::size_t>(text[2] - '0')};
}

std::string show_shape(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

// The bytes of an array; refuses a negative extent and a size that no buffer can have. The product
// is checked over the nonzero extents too, so that (0, 2**62, 2**62) is refused as NumPy does.
std::size_t byte_count(const Where& where, const std::vector<std::int64_t>& shape,
                       std::size_t item_size) {
  if (shape.size() > kMaxRank) {
    where.fail("has " + std::to_string(shape.size()) + " dimensions; at most " +
               std::to_string(kMaxRank) + " are supported");
  }
  constexpr auto kMax = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  std::size_t bytes = item_size;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) where.fail("negative extent in shape " + show_shape(shape));
    if (extent == 0) {
      empty = true;
    } else if (static_cast<std::uint64_t>(extent) > kMax / bytes) {
      where.fail("shape " + show_shape(shape) + " of " + std::to_string(item_size) +
                 "-byte elements is too large");
    } else {
      bytes *= static_cast<std::size_t>(extent);
    }
  }
  return empty ? 0 : bytes;
}

// ---- headers --------------------------------------------------------------------------------

// The header of an .npy file (format 1.0), padded so that the data starts at a multiple of 64.
std::string make_header(const Where& where, const NumpyArray& array) {
  const ElementType type = parse_type(where, array.descr);
  if (type.order == '>') {
    where.fail("element type '" + array.descr +
               "' is big endian; arrays are written little endian");
  }
  const std::size_t bytes = byte_count(where, array.shape, type.size);
  if (bytes != array.data.size()) {
    where.fail("has " + std::to_string(array.data.size()) + " bytes of data, but shape " +
               show_shape(array.shape) + " of '" + array.descr + "' needs " +
               std::to_string(bytes));
  }
  std::string text = "{'descr': '" + type.descr() +
                     "', 'fortran_order': False, 'shape': " + show_shape(array.shape) + ", }";
  const std::size_t prefix = kMagic.size() + 4;
  text.append((64 - (prefix + text.size() + 1) % 64) % 64, ' ');
  text += '\n';

  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads the Python dictionary that an .npy header is: a few literals, never an expression.
class HeaderParser {
 public:
  HeaderParser(const Where& where, std::string_view text) : where_(where), text_(text) {}

  Header parse() {
    Header header;
    bool seen[3] = {false, false, false};
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      const int index = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (index < 0) malformed("unknown key '" + key + "'");
      if (seen[index]) malformed("key '" + key + "' is repeated");
      seen[index] = true;
      if (index == 0) {
        if (peek() == '[') where_.fail("structured element types are not supported");
        header.descr = quoted();
      } else if (index == 1) {
        header.fortran_order = boolean();
      } else {
        header.shape = tuple();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (peek() != '\0' || at_ != text_.size()) malformed("text after the dictionary");
    if (!seen[0]) malformed("'descr' is missing");
    if (!seen[1]) malformed("'fortran_order' is missing");
    if (!seen[2]) malformed("'shape' is missing");
    return header;
  }

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    where_.fail("malformed .npy header: " + what);
  }

  // The next character that isn't a space, or NUL at the end.
  char peek() {
    while (at_ < text_.size() && std::strchr(" \t\n\r", text_[at_]) && text_[at_] != '\0') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) {
      malformed(std::string("expected '") + c + "' at character " + std::to_string(at_));
    }
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') {
      malformed("expected a string at character " + std::to_string(at_));
    }
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) malformed("a string has no end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    malformed("'fortran_order' is neither True nor False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    bool comma = true;
    expect('(');
    while (!accept(')')) {
      if (!comma) malformed("expected ',' in 'shape'");
      peek();
      std::int64_t value = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (error == std::errc::result_out_of_range) malformed("an extent in 'shape' is too large");
      if (error != std::errc()) malformed("'shape' is not a tuple of integers");
      at_ += static_cast<std::size_t>(end - begin);
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote long integers
      values.push_back(value);
      comma = accept(',');
    }
    if (values.size() == 1 && !comma) malformed("'shape' is not a tuple of integers");
    return values;
  }

  const Where& where_;
  std::string_view text_;
  std::size_t at_ = 0;
};

// ---- reading --------------------------------------------------------------------------------

void swap_bytes(std::vector<std::byte>& data, std::size_t item_size) {
  for (std::size_t i = 0; i < data.size(); i += item_size) {
    std::reverse(data.data() + i, data.data() + i + item_size);
  }
}

// The elements of `data`, whose first extent varies fastest, with the last varying fastest.
std::vector<std::byte> to_c_order(const std::vector<std::byte>& data,
                                  const std::vector<std::int64_t>& shape, std::size_t item_size) {
  std::vector<std::byte> out(data.size());
  std::vector<std::size_t> stride(shape.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  std::size_t step = item_size;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    stride[d] = step;
    step *= static_cast<std::size_t>(shape[d]);
  }
  std::size_t from = 0;
  for (std::size_t to = 0; to < out.size(); to += item_size) {
    std::memcpy(out.data() + to, data.data() + from, item_size);
    for (std::size_t d = shape.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * static_cast<std::size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return out;
}

// The bytes of an .npy file, wherever they come from.
class Source {
 public:
  virtual ~Source() = default;
  // Reads exactly `size` bytes, or throws.
  virtual void read(void* to, std::size_t size) = 0;
};

// Reads an .npy file of `size` bytes.
NumpyArray read_array(const Where& where, Source& source, std::uint64_t size) {
  std::uint64_t left = size;
  const auto take = [&](void* to, std::uint64_t bytes) {
    if (bytes > left) {
      where.fail("truncated: the .npy header ends after " + std::to_string(size) + " bytes");
    }
    source.read(to, static_cast<std::size_t>(bytes));
    left -= bytes;
  };

  unsigned char start[8] = {};
  take(start, std::min<std::uint64_t>(left, sizeof(start)));
  if (std::memcmp(start, kMagic.data(), kMagic.size()) != 0) {
    where.fail("not an .npy file: it doesn't start with \\x93NUMPY");
  }
  if (size < sizeof(start)) take(start, sizeof(start));
  const int major = start[6];
  const int minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    where.fail("unknown .npy format version " + std::to_string(major) + "." +
               std::to_string(minor));
  }
  unsigned char length[4] = {};
  take(length, major == 1 ? 2 : 4);
  const std::uint64_t header_size =
      length[0] | length[1] << 8 | length[2] << 16 | static_cast<std::uint64_t>(length[3]) << 24;
  if (header_size > left) {
    where.fail("truncated: the .npy header has " + std::to_string(header_size) +
               " bytes, but only " + std::to_string(left) + " follow");
  }
  std::string text(static_cast<std::size_t>(header_size), '\0');
  take(text.data(), header_size);

  Header header = HeaderParser(where, text).parse();
  const ElementType type = parse_type(where, header.descr);
  const std::size_t bytes = byte_count(where, header.shape, type.size);
  if (bytes != left) {
    where.fail((bytes > left ? "truncated: " : "bytes left over: ") + std::string("shape ") +
               show_shape(header.shape) + " of '" + header.descr + "' needs " +
               std::to_string(bytes) + " bytes of data, but " + std::to_string(left) + " follow");
  }
  NumpyArray array;
  array.descr = type.descr();
  array.shape = std::move(header.shape);
  array.data.resize(bytes);
  take(array.data.data(), bytes);
  if (type.order == '>' && type.size > 1) swap_bytes(array.data, type.size);
  if (header.fortran_order && array.shape.size() > 1 && bytes > 0) {
    array.data = to_c_order(array.data, array.shape, type.size);
  }
  return array;
}

class FileSource : public Source {
 public:
  explicit FileSource(const Where& where) : where_(where), file_(where.path, std::ios::binary) {
    if (!file_) where_.fail("can't be opened: " + system_message(errno));
  }
  void read(void* to, std::size_t size) override {
    if (size > 0 && !file_.read(static_cast<char*>(to), static_cast<std::streamsize>(size))) {
      where_.fail("can't be read: " + system_message(errno));
    }
  }

 private:
  const Where& where_;
  std::ifstream file_;
};

class ZipSource : public Source {
 public:
  ZipSource(const Where& where, zip_t* archive, zip_uint64_t index)
      : where_(where), file_(zip_fopen_index(archive, index, 0)) {
    if (!file_) where_.fail(std::string("can't be opened: ") + zip_strerror(archive));
  }
  ZipSource(const ZipSource&) = delete;
  ZipSource& operator=(const ZipSource&) = delete;
  ~ZipSource() override { zip_fclose(file_); }

  void read(void* to, std::size_t size) override {
    auto* at = static_cast<char*>(to);
    while (size > 0) {
      const zip_int64_t got = zip_fread(file_, at, size);
      if (got < 0) fail();
      if (got == 0) where_.fail("truncated: its data ends early");
      at += got;
      size -= static_cast<std::size_t>(got);
    }
  }

  // libzip compares the checksum when it meets the end of the data, so go there.
  void finish() {
    char extra = 0;
    const zip_int64_t got = zip_fread(file_, &extra, 1);
    if (got < 0) fail();
    if (got > 0) where_.fail("has more data than the archive says");
  }

 private:
  [[noreturn]] void fail() const {
    where_.fail(std::string("can't be read: ") + zip_file_strerror(file_));
  }

  const Where& where_;
  zip_file_t* file_;
};

std::string zip_message(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string message = zip_error_strerror(&error);
  zip_error_fini(&error);
  return message;
}

struct DiscardZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using ZipArchive = std::unique_ptr<zip_t, DiscardZip>;

std::uint64_t file_size(const Where& where) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(where.path, error);
  if (error) where.fail("can't be opened: " + system_message(error.value()));
  return size;
}

}  // namespace

void write_npy(const std::string& path, const NumpyArray& array) {
  const Where where{path};
  const std::string header = make_header(where, array);
  AtomicFile file(path);
  file.write({{header.data(), header.size()}, {array.data.data(), array.data.size()}});
  file.commit();
}

NumpyArray read_npy(const std::string& path) {
  const Where where{path};
  const std::uint64_t size = file_size(where);
  FileSource source(where);
  return read_array(where, source, size);
}

void write_npz(const std::string& path,
               const std::vector<std::pair<std::string, NumpyArray>>& arrays) {
  const Where where{path};
  std::vector<std::string> headers;  // libzip reads them, and the arrays, when it closes
  std::unordered_set<std::string> names;
  headers.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    const Where entry{path, name};
    if (name.empty()) where.fail("an entry's name is empty");
    if (name.size() > kMaxName) where.fail("an entry's name has over 65531 bytes");
    if (name.find('\0') != std::string::npos) entry.fail("the name has a NUL byte");
    if (!names.insert(name).second) entry.fail("the name is repeated");
    headers.push_back(make_header(entry, array));
  }

  AtomicFile file(path);
  if (arrays.empty()) {
    // libzip would remove an archive without entries; it is this end record and 18 zero bytes.
    constexpr char kEmptyArchive[22] = {'P', 'K', 5, 6};
    file.write({{kEmptyArchive, sizeof(kEmptyArchive)}});
    file.commit();
    return;
  }

  int code = 0;
  ZipArchive archive(zip_open(file.temporary().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!archive) where.fail("can't be written: " + zip_message(code));
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto& [name, array] = arrays[i];
    const Where entry{path, name};
    // libzip takes bytes without const but only reads them.
    const zip_buffer_fragment_t parts[2] = {
        {reinterpret_cast<zip_uint8_t*>(headers[i].data()), headers[i].size()},
        {reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(array.data.data())),
         array.data.size()}};
    zip_source_t* source =
        zip_source_buffer_fragment(archive.get(), parts, array.data.empty() ? 1 : 2, 0);
    if (!source) entry.fail(std::string("can't be added: ") + zip_strerror(archive.get()));
    const zip_int64_t index = zip_file_add(archive.get(), (name + std::string(kSuffix)).c_str(),
                                           source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      entry.fail(std::string("can't be added: ") + zip_strerror(archive.get()));
    }
    constexpr zip_uint16_t kTime = 0;
    constexpr zip_uint16_t kDate = 1 << 5 | 1;  // 1980-01-01, the first that a zip file can say
    const auto at = static_cast<zip_uint64_t>(index);
    if (zip_set_file_compression(archive.get(), at, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive.get(), at, kTime, kDate, 0) != 0) {
      entry.fail(std::string("can't be added: ") + zip_strerror(archive.get()));
    }
  }
  if (zip_close(archive.get()) != 0) {
    where.fail(std::string("can't be written: ") + zip_strerror(archive.get()));
  }
  [[maybe_unused]] const zip_t* freed = archive.release();  // by zip_close()
  file.commit();
}

std::vector<std::pair<std::string, NumpyArray>> read_npz(const std::string& path) {
  const Where where{path};
  const std::uint64_t archive_size = file_size(where);
  int code = 0;
  const ZipArchive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) where.fail("not an .npz archive: " + zip_message(code));

  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  std::vector<std::pair<std::string, NumpyArray>> arrays;
  std::unordered_set<std::string> names;
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t info;
    if (zip_stat_index(archive.get(), index, 0, &info) != 0) {
      where.fail("entry " + std::to_string(i) + ": " + zip_strerror(archive.get()));
    }
    std::string name = info.name;
    if (!name.ends_with(kSuffix) || name.size() == kSuffix.size()) {
      where.fail("entry '" + name + "' is not a named .npy file");
    }
    name.resize(name.size() - kSuffix.size());
    const Where entry{path, name};
    if (!names.insert(name).second) entry.fail("the name is repeated");
    if (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE) {
      entry.fail("unknown compression method " + std::to_string(info.comp_method));
    }
    // Don't believe a size that this file can't hold: memory is set aside for it below.
    if (info.comp_size > archive_size || info.size / kMaxDeflateRatio > info.comp_size) {
      entry.fail("truncated: it claims " + std::to_string(info.size) + " bytes from " +
                 std::to_string(info.comp_size) + " in a file of " + std::to_string(archive_size));
    }
    ZipSource source(entry, archive.get(), index);
    arrays.emplace_back(name, read_array(entry, source, info.size));
    source.finish();
  }
  return arrays;
}

}  // namespace hom
