// backends/cpu/jit/native_code.cc -- emit, find or compile, load
#include <hom/backends/cpu/jit/native_code.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include <hom/backends/cpu/jit/code_cache.h>
#include <hom/backends/cpu/jit/emit_cpp.h>
#include <hom/backends/cpu/jit/native_library.h>
#include <hom/backends/cpu/jit/system_compiler.h>
#include <hom/core/error.h>

namespace hom::cpu {
namespace {

/// Code of so many plans stays in memory without being used.
constexpr std::size_t most_libraries = 64;

NativeLibraries& libraries() {
  static NativeLibraries instance(most_libraries);
  return instance;
}

class NativeLibraryCode final : public Code {
 public:
  NativeLibraryCode(NativeLibraries::Library library, std::string description, CppPlan text)
      : library_(std::move(library)),
        description_(std::move(description)),
        text_(std::move(text)) {}

  void launch(std::size_t kernel, std::byte* const* arguments, std::int64_t low, std::int64_t high,
              FailureRecord& record) const override {
    library_->kernel(kernel)(arguments, low, high, &record);
  }
  PlanFunction plan() const override { return library_->plan(); }
  std::string describe() const override { return description_; }
  std::string source(std::size_t kernel) const override {
    return text_.comments[kernel] + text_.kernels[kernel];
  }

 private:
  NativeLibraries::Library library_;
  std::string description_;
  CppPlan text_;
};

/// Everything that the shared object depends on.
std::string key_of(const SystemCompiler& compiler, const Target& target,
                   const std::vector<std::string>& units) {
  std::string key = "hom native code 1\n" + compiler.identity + "\n";
  for (const std::string& flag : emission_flags()) key += flag + " ";
  for (const std::string& flag : target.flags) key += flag + " ";
  for (const std::string& unit : units) key += "\n" + std::to_string(unit.size()) + "\n" + unit;
  return key;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// Nothing where the file went away, or may not be loaded from there.
NativeLibraries::Library load(const std::optional<std::string>& path) {
  if (!path) return nullptr;
  try {
    return std::make_shared<const NativeLibrary>(*path);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

NativeCode native_code(const nest::Plan& plan, const Target& target) {
  NativeCode result;
  const auto compiler = find_system_compiler(&result.why_not);
  if (!compiler) return result;
  CppPlan text = emit_cpp(plan, target.vector_bytes);
  const std::vector<std::string> units = translation_units(
      text, target.vector_bytes, std::max(1u, std::thread::hardware_concurrency()));
  const std::string key = key_of(*compiler, target, units);

  const auto make = [&]() -> NativeLibraries::Library {
    const CodeCache cache = CodeCache::of_environment();
    if (auto library = load(cache.find(key))) {
      result.source = NativeCode::Source::disk;
      return library;
    }
    const TemporaryDirectory directory;
    const std::string object = compile_shared_object(*compiler, units, target.flags, directory);
    if (auto library = load(cache.keep(key, bytes_of(object)))) return library;
    // The file may go once it is loaded.
    return std::make_shared<const NativeLibrary>(object);
  };
  try {
    bool was_there = false;
    auto library = libraries().find_or_make(key, make, was_there);
    if (was_there) result.source = NativeCode::Source::memory;
    result.code = std::make_shared<NativeLibraryCode>(
        std::move(library), compiler->name + ", " + target.name, std::move(text));
  } catch (const Error& error) {
    result.why_not = error.what();
  }
  return result;
}

void forget_native_code() { libraries().clear(); }

}  // namespace hom::cpu
