// core/atomic_file.cc -- a temporary file beside the one that is written, and a rename
#include <hom/core/atomic_file.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include <hom/core/error.h>

namespace hom {

std::string system_message(int code) { return std::generic_category().message(code); }

void fail_with_file(std::string message) {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  throw Error(message);
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  static std::atomic<unsigned> counter{0};
  int file = -1;
  do {
    temporary_ = path_ + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
    file = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) fail(errno);
  close(file);
}

AtomicFile::~AtomicFile() {
  if (!committed_) unlink(temporary_.c_str());
}

void AtomicFile::write(std::initializer_list<std::pair<const void*, std::size_t>> parts) {
  std::ofstream file(temporary_, std::ios::binary | std::ios::trunc);
  for (const auto& [data, size] : parts) {
    if (size > 0) file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  file.close();
  if (!file) fail(errno);
}

void AtomicFile::commit() {
  const int file = open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  int error = file < 0 ? errno : 0;
  // Some file systems can't flush and say EINVAL.
  if (file >= 0 && fsync(file) != 0 && errno != EINVAL) error = errno;
  if (file >= 0) close(file);
  if (error == 0 && std::rename(temporary_.c_str(), path_.c_str()) != 0) error = errno;
  if (error != 0) fail(error);
  committed_ = true;
}

void AtomicFile::fail(int code) const {
  fail_with_file(path_ + ": can't be written: " + system_message(code));
}

}  // namespace hom
