// examples/digits/data.cc -- parsing the digits' CSV lines (zlib), and shuffling.
#include <hom/examples/digits/data.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <memory>
#include <numeric>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <zlib.h>

#include <hom/core/error.h>

namespace hom {
namespace {

constexpr int kMaxInk = 16;

struct CloseGz {
  void operator()(gzFile file) const { gzclose_r(file); }
};

[[noreturn]] void fail_at(const std::string& path, std::int64_t line, const std::string& what) {
  throw Error(path + ":" + std::to_string(line) + ": " + what);
}

// The uncompressed text of a file. On damage it throws, naming the line that it had come to.
std::string read_text(const std::string& path) {
  errno = 0;
  const std::unique_ptr<gzFile_s, CloseGz> file(gzopen(path.c_str(), "rb"));
  if (!file) {
    throw Error(path + ": can't be opened: " + std::generic_category().message(errno));
  }
  std::string text;
  char buffer[1 << 16];
  while (true) {
    errno = 0;
    const int got = gzread(file.get(), buffer, sizeof(buffer));
    int code = Z_OK;
    const std::string message = gzerror(file.get(), &code);
    // A file that is cut off is only told of by the code.
    if (got >= 0) text.append(buffer, static_cast<std::size_t>(got));
    if (code == Z_ERRNO) {
      throw Error(path + ": can't be read: " + std::generic_category().message(errno));
    }
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      const auto line = 1 + std::count(text.begin(), text.end(), '\n');
      fail_at(path, line, code == Z_BUF_ERROR ? "the file is cut off" : "damaged: " + message);
    }
    if (got == 0) return text;
  }
}

// Takes an integer from 0 to `most` off the front of `rest`.
int take(const std::string& path, std::int64_t line, int field, std::string_view& rest, int most) {
  const std::string_view text = rest.substr(0, rest.find(','));
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most) {
    fail_at(path, line,
            "field " + std::to_string(field) + " is '" + std::string(text.substr(0, 20)) +
                "', not an integer from 0 to " + std::to_string(most));
  }
  rest.remove_prefix(std::min(rest.size(), text.size() + 1));
  return value;
}

void append(const Digits& from, std::int64_t index, Digits& to) {
  const auto begin = from.pixels.begin() + index * kDigitPixels;
  to.pixels.insert(to.pixels.end(), begin, begin + kDigitPixels);
  to.labels.push_back(from.labels[static_cast<std::size_t>(index)]);
  ++to.count;
}

}  // namespace

Digits read_digits(const std::string& path) {
  const std::string text = read_text(path);
  Digits digits;
  std::int64_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    ++line;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view rest = std::string_view(text).substr(at, end - at);
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    const auto fields = 1 + std::count(rest.begin(), rest.end(), ',');
    if (fields != kDigitPixels + 1) {
      fail_at(path, line,
              "has " + std::to_string(fields) + " fields, not " + std::to_string(kDigitPixels + 1));
    }
    for (int i = 0; i < kDigitPixels; ++i) {
      const int ink = take(path, line, i + 1, rest, kMaxInk);
      digits.pixels.push_back(static_cast<float>(ink) / kMaxInk);
    }
    digits.labels.push_back(take(path, line, kDigitPixels + 1, rest, kDigitClasses - 1));
    ++digits.count;
    at = end + 1;
  }
  if (digits.count == 0) fail_at(path, 1, "the file has no digits");
  return digits;
}

void shuffle_split(const Digits& all, std::int64_t test_count, std::uint64_t seed, Digits* train,
                   Digits* test) {
  if (all.count < 0 || all.labels.size() != static_cast<std::size_t>(all.count) ||
      all.pixels.size() != static_cast<std::size_t>(all.count * kDigitPixels)) {
    throw Error("shuffle_split: " + std::to_string(all.count) + " digits with " +
                std::to_string(all.labels.size()) + " labels and " +
                std::to_string(all.pixels.size()) + " pixels");
  }
  if (test_count < 0 || test_count > all.count) {
    throw Error("shuffle_split: a test part of " + std::to_string(test_count) + " out of " +
                std::to_string(all.count) + " digits");
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(all.count));
  std::iota(order.begin(), order.end(), 0);
  // The standard fixes the engine's numbers, but not std::shuffle()'s or a distribution's use of
  // them. Numbers past the last multiple of the range are drawn again, so that all are as likely.
  std::mt19937_64 random(seed);
  for (std::uint64_t i = order.size(); i > 1; --i) {
    const std::uint64_t limit = std::mt19937_64::max() - std::mt19937_64::max() % i;
    std::uint64_t number = random();
    while (number >= limit) number = random();
    std::swap(order[i - 1], order[number % i]);
  }
  Digits parts[2];
  for (std::int64_t i = 0; i < all.count; ++i) {
    append(all, order[static_cast<std::size_t>(i)], parts[i < test_count ? 0 : 1]);
  }
  *train = std::move(parts[1]);
  *test = std::move(parts[0]);
}

}  // namespace hom
