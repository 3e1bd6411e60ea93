// backends/cpu/jit/native_library.cc -- dlopen, and a map that forgets
#include <hom/backends/cpu/jit/native_library.h>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>

#include <hom/backends/cpu/jit/native_functions.h>
#include <hom/core/error.h>

namespace hom::cpu {

NativeLibrary::NativeLibrary(const std::string& path)
    : handle_(dlopen(path.c_str(), RTLD_LOCAL | RTLD_NOW), dlclose) {
  if (!handle_) throw Error(std::string("compiled code can't be loaded: ") + dlerror());
  const auto set_functions = reinterpret_cast<void (*)(void* const*)>(symbol("hom_set_functions"));
  kernels_ = reinterpret_cast<const KernelFunction*>(symbol("hom_kernels"));
  plan_ = reinterpret_cast<PlanFunction>(symbol("hom_plan"));
  set_functions(native_functions());
}

NativeLibrary::~NativeLibrary() = default;

void* NativeLibrary::symbol(const char* name) const {
  void* address = dlsym(handle_.get(), name);
  if (address == nullptr) throw Error(std::string("compiled code has no ") + name);
  return address;
}

NativeLibraries::Library NativeLibraries::find_or_make(const std::string& key,
                                                       const std::function<Library()>& make,
                                                       bool& was_there) {
  std::promise<Library> promise;
  {
    std::unique_lock lock(mutex_);
    const auto [at, is_new] = entries_.try_emplace(key);
    at->second.used = ++clock_;
    was_there = !is_new;
    if (was_there) {
      const std::shared_future<Library> library = at->second.library;
      lock.unlock();
      return library.get();
    }
    at->second.library = promise.get_future().share();
    make_room();
  }
  try {
    Library library = make();
    promise.set_value(library);
    return library;
  } catch (...) {
    promise.set_exception(std::current_exception());
    const std::lock_guard lock(mutex_);
    entries_.erase(key);
    throw;
  }
}

void NativeLibraries::clear() {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const auto& entry) { return is_made(entry.second); });
}

bool NativeLibraries::is_made(const Entry& entry) {
  return entry.library.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void NativeLibraries::make_room() {
  while (entries_.size() > most_) {
    auto oldest = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (is_made(at->second) &&
          (oldest == entries_.end() || at->second.used < oldest->second.used))
        oldest = at;
    }
    if (oldest == entries_.end()) return;
    entries_.erase(oldest);
  }
}

}  // namespace hom::cpu
