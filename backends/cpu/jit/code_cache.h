// backends/cpu/jit/code_cache.h -- compiled code on disk, found by what it was compiled from
//
// An entry is one file: a shared object, then its whole key and a checksum. The file's name is a
// hash of the key; the key itself tells entries of one hash apart. Files appear under their name
// complete or not at all, and are read as a whole before they are loaded, so that processes may
// share a directory, and whatever else lies or breaks there does no harm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hom::cpu {

class CodeCache {
 public:
  /// Entries of together at most so many bytes; an empty directory is none: nothing is found or
  /// kept.
  CodeCache(std::string directory, std::int64_t most_bytes);

  /// $HOM_CACHE_DIR, else $XDG_CACHE_HOME/hom, else ~/.cache/hom, else none; $HOM_CACHE_BYTES, else
  /// 256 MiB. The environment is read at each call.
  static CodeCache of_environment();

  /// The file of the shared object with this key, used now. An entry that is broken, that others
  /// may write to, or of another key is none; a broken one is removed.
  std::optional<std::string> find(std::string_view key) const;
  /// Keeps a shared object, and removes what was not used for longest where there is too much. The
  /// file, or nothing where it cannot be kept.
  std::optional<std::string> keep(std::string_view key, std::string_view object) const;
  /// Removes an entry, whatever is in it.
  void remove(std::string_view key) const;

  const std::string& directory() const { return directory_; }

 private:
  std::string path_of(std::string_view key) const;
  void make_room() const;

  std::string directory_;
  std::int64_t most_bytes_;
};

}  // namespace hom::cpu
