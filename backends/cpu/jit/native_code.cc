// backends/cpu/jit/native_code.cc -- emit, compile, load
#include <hom/backends/cpu/jit/native_code.h>

#include <dlfcn.h>

#include <thread>

#include <hom/backends/cpu/jit/emit_cpp.h>
#include <hom/backends/cpu/jit/native_functions.h>
#include <hom/backends/cpu/jit/system_compiler.h>
#include <hom/core/error.h>

namespace hom::cpu {
namespace {

using KernelFunction = void (*)(std::byte* const* arguments, std::int64_t low, std::int64_t high,
                                FailureRecord* record);

/// A loaded shared object.
class Library {
 public:
  /// Throws `Error` where it cannot be loaded.
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_LOCAL | RTLD_NOW)) {
    if (handle_ == nullptr) throw Error(std::string("compiled code can't be loaded: ") + dlerror());
    const auto set_functions =
        reinterpret_cast<void (*)(void* const*)>(symbol("hom_set_functions"));
    set_functions(native_functions());
    kernels_ = reinterpret_cast<const KernelFunction*>(symbol("hom_kernels"));
    plan_ = reinterpret_cast<PlanFunction>(symbol("hom_plan"));
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  KernelFunction kernel(std::size_t number) const { return kernels_[number]; }
  PlanFunction plan() const { return plan_; }

 private:
  void* symbol(const char* name) {
    void* address = dlsym(handle_, name);
    if (address == nullptr) {
      dlclose(handle_);
      throw Error(std::string("compiled code has no ") + name);
    }
    return address;
  }

  void* handle_;
  const KernelFunction* kernels_ = nullptr;
  PlanFunction plan_ = nullptr;
};

class LibraryCode final : public Code {
 public:
  LibraryCode(std::shared_ptr<const Library> library, std::string description, CppPlan text)
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
  std::shared_ptr<const Library> library_;
  std::string description_;
  CppPlan text_;
};

}  // namespace

NativeCode native_code(const nest::Plan& plan, const Target& target) {
  NativeCode result;
  const auto compiler = find_system_compiler(&result.why_not);
  if (!compiler) return result;
  CppPlan text = emit_cpp(plan, target.vector_bytes);
  const std::vector<std::string> units = translation_units(
      text, target.vector_bytes, std::max(1u, std::thread::hardware_concurrency()));
  try {
    const TemporaryDirectory directory;
    auto library = std::make_shared<const Library>(
        compile_shared_object(*compiler, units, target.flags, directory));
    result.code = std::make_shared<LibraryCode>(
        std::move(library), compiler->name + ", " + target.name, std::move(text));
  } catch (const Error& error) {
    result.why_not = error.what();
  }
  return result;
}

}  // namespace hom::cpu
