// core/atomic_file.h -- files that appear under their name only when they are complete
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

namespace hom {

/// What the system says about an error number.
std::string system_message(int code);

/// Throws `Error`. Names and headers come from files, so bytes that would end the message, or hide
/// it, are shown as `?`.
[[noreturn]] void fail_with_file(std::string message);

/// A file that is written beside `path` and takes its name only on commit(): on an error an older
/// file of that name is left as it was. Throws `Error`, naming the file, where it cannot be
/// written.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& temporary() const { return temporary_; }

  /// Replaces the temporary file's contents.
  void write(std::initializer_list<std::pair<const void*, std::size_t>> parts);
  /// Flushes the temporary file to the disk, then renames it.
  void commit();

 private:
  [[noreturn]] void fail(int code) const;

  std::string path_;
  std::string temporary_;
  bool committed_ = false;
};

}  // namespace hom
