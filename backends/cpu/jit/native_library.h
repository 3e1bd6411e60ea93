// backends/cpu/jit/native_library.h -- compiled code, loaded, and kept while it may be wanted again
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <hom/backends/cpu/jit/code.h>

namespace hom::cpu {

/// A loaded shared object of emitted code.
class NativeLibrary {
 public:
  /// Throws `Error` where the file cannot be loaded.
  explicit NativeLibrary(const std::string& path);
  ~NativeLibrary();
  NativeLibrary(const NativeLibrary&) = delete;
  NativeLibrary& operator=(const NativeLibrary&) = delete;

  KernelFunction kernel(std::size_t number) const { return kernels_[number]; }
  PlanFunction plan() const { return plan_; }

 private:
  void* symbol(const char* name) const;

  /// Closes the object when the constructor throws, too.
  std::unique_ptr<void, int (*)(void*)> handle_;
  const KernelFunction* kernels_ = nullptr;
  PlanFunction plan_ = nullptr;
};

/// Libraries by their keys, those that were used last. Threads that want the same one at once wait
/// for the first of them to make it.
class NativeLibraries {
 public:
  using Library = std::shared_ptr<const NativeLibrary>;

  explicit NativeLibraries(std::size_t most) : most_(most) {}

  /// The library with this key; `make` is called where there is none, and `was_there` tells. Throws
  /// what `make` throws, and remembers nothing then.
  Library find_or_make(const std::string& key, const std::function<Library()>& make,
                       bool& was_there);
  /// Forgets all that are not being made.
  void clear();

 private:
  struct Entry {
    std::shared_future<Library> library;
    std::uint64_t used;
  };

  static bool is_made(const Entry& entry);
  void make_room();

  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::uint64_t clock_ = 0;
  std::size_t most_;
};

}  // namespace hom::cpu
