// backends/cpu/jit/code_cache.cc -- files of code: written, verified, removed
#include <hom/backends/cpu/jit/code_cache.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

#include <dirent.h>

namespace hom::cpu {
namespace {

constexpr std::int64_t default_bytes = std::int64_t{256} << 20;
constexpr std::string_view prefix = "hom-";
constexpr std::string_view suffix = ".so";
constexpr std::string_view temporary_mark = ".tmp-";
/// A temporary file as old as this belongs to a process that is gone.
constexpr std::time_t abandoned_seconds = 3600;

/// Multiplies and folds words of eight bytes: fast, and every bit of the text counts.
std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  std::uint64_t state = seed ^ (text.size() * factor);
  const auto mix = [&](std::uint64_t word) {
    state = (state ^ word) * factor;
    state ^= state >> 29;
    state *= 0xbf58476d1ce4e5b9u;
    state ^= state >> 32;
  };
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), 8);
    mix(word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, text.data(), text.size());
  mix(rest);
  return state;
}

/// What stands at the end of an entry.
struct Trailer {
  std::uint64_t object_bytes;
  std::uint64_t key_bytes;
  /// Of the object, then the key.
  std::uint64_t checksum;
  std::array<char, 8> magic;
};
constexpr std::array<char, 8> magic{'h', 'o', 'm', 'c', 'o', 'd', 'e', '1'};

Trailer trailer_of(std::string_view object, std::string_view key) {
  return {object.size(), key.size(), hash_of(key, hash_of(object, 1)), magic};
}

/// An open file, closed at the end.
class File {
 public:
  File(const std::string& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(number_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  /// All bytes, at most `most`.
  std::optional<std::string> read(std::size_t most) const {
    std::string bytes(most, '\0');
    std::size_t size = 0;
    while (size < most) {
      const ssize_t count = ::read(number_, bytes.data() + size, most - size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return std::nullopt;
      if (count == 0) break;
      size += static_cast<std::size_t>(count);
    }
    bytes.resize(size);
    return bytes;
  }

 private:
  int number_;
};

enum class Verdict { good, other_key, broken };

Verdict verdict_on(std::string_view bytes, std::string_view key) {
  Trailer trailer;
  if (bytes.size() < sizeof trailer) return Verdict::broken;
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof trailer, sizeof trailer);
  bytes.remove_suffix(sizeof trailer);
  if (trailer.magic != magic || trailer.object_bytes > bytes.size() ||
      trailer.key_bytes != bytes.size() - trailer.object_bytes)
    return Verdict::broken;
  const std::string_view object = bytes.substr(0, trailer.object_bytes);
  const std::string_view kept_key = bytes.substr(trailer.object_bytes);
  if (trailer.checksum != trailer_of(object, kept_key).checksum) return Verdict::broken;
  return kept_key == key ? Verdict::good : Verdict::other_key;
}

bool is_entry(std::string_view name) {
  return name.starts_with(prefix) && name.ends_with(suffix) &&
         name.size() == prefix.size() + 32 + suffix.size();
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

CodeCache::CodeCache(std::string directory, std::int64_t most_bytes)
    : directory_(std::move(directory)), most_bytes_(most_bytes) {}

CodeCache CodeCache::of_environment() {
  std::string directory = environment("HOM_CACHE_DIR");
  if (directory.empty()) {
    const std::string caches = environment("XDG_CACHE_HOME");
    const std::string home = environment("HOME");
    // Relative paths there are to be ignored, says the XDG specification.
    if (caches.starts_with('/')) {
      directory = caches + "/hom";
    } else if (home.starts_with('/')) {
      directory = home + "/.cache/hom";
    }
  }
  std::int64_t bytes = default_bytes;
  const std::string wanted = environment("HOM_CACHE_BYTES");
  if (!wanted.empty()) {
    char* end = nullptr;
    const long long number = std::strtoll(wanted.c_str(), &end, 10);
    if (*end == '\0' && number >= 0) bytes = number;
  }
  return {std::move(directory), bytes};
}

std::string CodeCache::path_of(std::string_view key) const {
  std::array<char, 33> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash_of(key, 2)),
                static_cast<unsigned long long>(hash_of(key, 3)));
  return directory_ + "/" + std::string(prefix) + digits.data() + std::string(suffix);
}

std::optional<std::string> CodeCache::find(std::string_view key) const {
  if (directory_.empty()) return std::nullopt;
  const std::string path = path_of(key);
  const File file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat status;
  if (!file.is_open() || fstat(file.number(), &status) != 0) return std::nullopt;
  // Code is run: only what this user, or root, wrote and nobody else can write to.
  const bool is_own = status.st_uid == geteuid() || status.st_uid == 0;
  if (!S_ISREG(status.st_mode) || !is_own || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return std::nullopt;
  const auto bytes = file.read(static_cast<std::size_t>(status.st_size));
  if (!bytes) return std::nullopt;
  const Verdict verdict = verdict_on(*bytes, key);
  if (verdict == Verdict::broken) unlink(path.c_str());
  if (verdict != Verdict::good) return std::nullopt;
  futimens(file.number(), nullptr);
  return path;
}

std::optional<std::string> CodeCache::keep(std::string_view key, std::string_view object) const {
  static std::atomic<unsigned> counter{0};
  const auto entry_bytes = static_cast<std::int64_t>(object.size() + key.size() + sizeof(Trailer));
  if (directory_.empty() || entry_bytes > most_bytes_) return std::nullopt;
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) return std::nullopt;
  const std::string path = path_of(key);
  const std::string temporary = path + std::string(temporary_mark) + std::to_string(getpid()) +
                                "-" + std::to_string(counter++);
  const Trailer trailer = trailer_of(object, key);
  bool is_written = false;
  {
    const File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (!file.is_open()) return std::nullopt;
    is_written = file.write(object) && file.write(key) &&
                 file.write({reinterpret_cast<const char*>(&trailer), sizeof trailer});
  }
  if (!is_written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    unlink(temporary.c_str());
    return std::nullopt;
  }
  make_room();
  return path;
}

void CodeCache::remove(std::string_view key) const {
  if (!directory_.empty()) unlink(path_of(key).c_str());
}

void CodeCache::make_room() const {
  struct Entry {
    std::string path;
    std::int64_t bytes;
    timespec used;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  DIR* directory = opendir(directory_.c_str());
  if (directory == nullptr) return;
  while (const dirent* item = readdir(directory)) {
    const std::string_view name = item->d_name;
    const std::size_t mark = name.find(temporary_mark);
    const bool is_temporary = mark != std::string_view::npos && is_entry(name.substr(0, mark));
    if (!is_temporary && !is_entry(name)) continue;
    std::string path = directory_ + "/" + std::string(name);
    struct stat status;
    if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (is_temporary) {
      if (std::time(nullptr) - status.st_mtim.tv_sec > abandoned_seconds) unlink(path.c_str());
      continue;
    }
    total += status.st_size;
    entries.push_back({std::move(path), status.st_size, status.st_mtim});
  }
  closedir(directory);
  if (total <= most_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                          : a.used.tv_nsec < b.used.tv_nsec;
  });
  // The newest one stays: it is about to be loaded.
  for (std::size_t i = 0; i + 1 < entries.size() && total > most_bytes_; ++i) {
    if (unlink(entries[i].path.c_str()) == 0) total -= entries[i].bytes;
  }
}

}  // namespace hom::cpu
